# Leaves a server behind that holds on to its streams, as some launchers do.
"$@" <&0 &
exit "${LAUNCHER_EXIT_CODE:-0}"
