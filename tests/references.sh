#!/bin/sh
# SPDX-License-Identifier: MIT
# Files, tests and pages that HACKING, README and the pages name exist: see tests/references.py.
: "${srcdir:=$(dirname "$0")/..}"
command -v python3 >/dev/null || exit 77
exec python3 -B "$srcdir/tests/references.py" "$srcdir"
