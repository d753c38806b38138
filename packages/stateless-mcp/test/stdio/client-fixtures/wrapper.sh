# As package runners do it: stays in between, and has a process of its own for the server.
"$@"
exit $?
