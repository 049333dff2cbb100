#!/bin/sh
# SPDX-License-Identifier: MIT
# No include goes upward or around: each room may include itself and the rooms that the
# table in HACKING.md ("The rooms") lists for it. Run in the build directory.
: "${srcdir:=.}"
cd "$srcdir" || exit 1
awk '
FILENAME == "HACKING.md" {
	if (/^## The rooms/) table = 1
	else if (/^## /) table = 0
	else if (table && $1 ~ /^[a-z]+\/$/ && split($0, part, /  +/) >= 3) {
		room = substr($1, 1, length($1) - 1)
		allowed[room] = " " room " " part[3] " "
	}
	next
}
/^#include "/ {
	split(FILENAME, at, "/"); split($2, to, /["\/]/)
	if (at[1] in allowed && index(allowed[at[1]], " all ") == 0 && index(allowed[at[1]], " " to[2] " ") == 0) {
		print FILENAME ":" FNR ": " $0 ": HACKING.md does not allow " at[1] "/ to include " to[2] "/"
		bad = 1
	}
	seen[at[1]] = 1
}
END {
	for (room in seen)
		if (!(room in allowed)) { print room "/: not in the table of HACKING.md"; bad = 1 }
	exit bad
}' HACKING.md $(find base recording command sampler symbols heap inspect plugin convert analyse rerun write render trace stats compare archive report send launch bisect live cli -name '*.[ch]')
