#!/bin/sh
# SPDX-License-Identifier: MIT
# The awk programs of buildbeat-recording(5), as in the page, on its own
# samples and on a recording of our own writing; and of buildbeat-inspection(5).
page=${srcdir:-.}/man/buildbeat-recording.5
top=$(pwd)
dir=$(mktemp -d /tmp/buildbeat-test-XXXXXX) || exit 99
trap 'rm -rf "$dir"' EXIT
status=0

# The literal block after the comment `example NAME'.
example() {
	awk -v name="$1" '
	$0 == ".\\\" example " name { found = 1; next }
	found && /^\.Ed/ { exit }
	found && !/^\.Bd/ { gsub(/\\e/, "\\"); print }' "$page"
}

# The literal block whose first line begins so.
sample() {
	awk -v first="$1" '
	index($0, first) == 1 { found = 1 }
	found && /^\.Ed/ { exit }
	found { gsub(/\\e/, "\\"); print }' "$page"
}

same() {
	[ "$2" = "$3" ] && return
	printf '%s: is\n%s\nnot\n%s\n' "$1" "$2" "$3"
	status=1
}

cd "$dir" || exit 99
case $page in /*) ;; *) page=$top/$page ;; esac
example slowest > slowest.sh
example levels > levels.sh
sample 'buildbeat tasks 1' > tasks.log
sample 'buildbeat proc_stat 1' > proc_stat.log
same slowest "$(sh slowest.sh)" '0.047 done hello.o'
same levels "$(sh levels.sh)" '0 4 1 2
1000 107 23 1
4000 195 23 2
7042 292 35 2

60000 293 35 2
61000 294 35 2'

# Our own reader and theirs agree on a made-up build.
"$top"/tests/gen_recording "$dir"/rec/x 300 400 5 || exit 99
cd rec/x || exit 99
same lines "$(sh ../../slowest.sh | wc -l | tr -d ' ')" 10
grep -q '^!' proc_stat.log && status=1
same last "$(sh ../../levels.sh | tail -n 1 | cut -d' ' -f1)" 399000

page=${page%recording.5}inspection.5
example sums > sums.sh
sample 'buildbeat inspection maps 1' | tr -s ' ' > maps.log
same sums "$(sh sums.sh)" '2.1e-05 1676
1.00043 2504
2.00013 2512'
exit $status
