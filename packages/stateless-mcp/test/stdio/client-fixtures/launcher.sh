# Leaves a server behind that holds on to its streams, as some launchers do.
"$@" <&0 &
while [ ! -e "$PID_FILE" ]; do sleep 0.05; done
