#!/bin/sh
# SPDX-License-Identifier: MIT
# The texts for people are plain English: see tests/english.py, "Words" in HACKING.md, and
# "tests/english.sh FILE..." for the findings in these files.
: "${srcdir:=$(dirname "$0")/..}"
command -v python3 >/dev/null || exit 77
exec python3 -B "$srcdir/tests/english.py" "$srcdir" "$@"
