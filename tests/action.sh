#!/bin/sh
# SPDX-License-Identifier: MIT
# action.yml, for GitHub, records good and failing builds: see tests/action.py. Run in the build
# directory.
: "${srcdir:=$(dirname "$0")/..}"
command -v bash >/dev/null && command -v git >/dev/null && python3 -c 'import yaml' 2>/dev/null || exit 77
grep -q '^SANITIZE = .*sanitize=' Makefile && exit 77	# make cannot load the plugin then
exec python3 -B "$srcdir/tests/action.py" "$srcdir"
