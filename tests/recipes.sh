#!/bin/sh
# SPDX-License-Identifier: MIT
# The recipes of buildbeat-ci(7) and README run as written: see tests/recipes.py. Run in the build directory.
: "${srcdir:=$(dirname "$0")/..}"
command -v git >/dev/null && python3 -c 'import yaml' 2>/dev/null || exit 77
grep -q '^SANITIZE = .*sanitize=' Makefile && exit 77	# make cannot load the plugin then
exec python3 -B "$srcdir/tests/recipes.py" "$srcdir"
