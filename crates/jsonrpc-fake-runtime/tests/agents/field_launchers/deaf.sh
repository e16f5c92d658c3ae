#!/bin/sh
# The same, and does not end when it is asked to.
trap '' TERM
echo $$ >launcher.pid
"$@"
exit $?
