#!/bin/sh
# SPDX-License-Identifier: MIT
# Failing builds of many kinds: all outputs give the same first error. See tests/first_error.py. Run in the
# build directory.
: "${srcdir:=$(dirname "$0")/..}"
command -v make >/dev/null && command -v gcc >/dev/null && command -v python3 >/dev/null || exit 77
grep -q '^SANITIZE = .*sanitize=' Makefile && exit 77	# make cannot load the plugin then
exec python3 -B "$srcdir/tests/first_error.py" ./buildbeat
