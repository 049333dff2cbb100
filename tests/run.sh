#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs one test program for `make check`. If it fails, what failed is also printed at once, to
# descriptor 9, which is the terminal: the log of a machine that is gone cannot be read.
# A program makes its own environment (tests/support.c); a script gets one here.
case $1 in
*.sh)
	set -- env -i PATH="$PATH" HOME="$HOME" LANG=C.UTF-8 ${srcdir:+"srcdir=$srcdir"} \
		${TMPDIR:+"TMPDIR=$TMPDIR"} ${UPDATE_GOLDEN:+"UPDATE_GOLDEN=$UPDATE_GOLDEN"} "$@"
	;;
esac
said=$("$@" 2>&1 9>&-)
status=$?
printf '%s\n' "$said"
case $status in
0 | 77) ;;
*) printf '%s\n' "$said" | grep -E ':[FE]:|Sanitizer|Assert' | head -n 20 >&9 ;;
esac
exit $status
