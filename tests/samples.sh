#!/bin/sh
# SPDX-License-Identifier: MIT
# Sample outputs in README and the pages, and the pictures in examples/make, are what the
# commands print and draw: see tests/samples.py. Run in the build directory.
: "${srcdir:=$(dirname "$0")/..}"
# with a sanitizer the objects for build tools cannot be loaded, and record says so
grep -qs '^SANITIZE = .' Makefile && exit 77
command -v python3 >/dev/null && command -v git >/dev/null || exit 77
exec python3 -B "$srcdir/tests/samples.py" "$srcdir"
