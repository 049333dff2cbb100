#!/bin/sh
# SPDX-License-Identifier: MIT
# The rules that tests/house.py lists; run in the build directory.
: "${srcdir:=.}"
command -v python3 >/dev/null || exit 77
exec python3 -B "$srcdir/tests/house.py" "$srcdir"
