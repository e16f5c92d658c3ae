#!/bin/sh
# Starts a program that is not installed, so that the shell ends as it does then.
./the-agent-that-nobody-installed
exit $?
