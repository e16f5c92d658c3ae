#!/bin/sh
# Starts the agent as an ordinary child, as many launchers do, and stays above it.
echo $$ >launcher.pid
"$@"
exit $?
