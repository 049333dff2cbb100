#!/bin/sh
# SPDX-License-Identifier: MIT
# Every fuzz target takes its corpus without a finding.
status=0
for target in $FUZZ_TARGETS; do
	name=${target##*/fuzz_}
	corpus=${srcdir:-.}/tests/corpus/$name
	# libFuzzer runs files given by name once each, and does not write.
	./"$target" "$corpus"/* || { echo "$target: failed on its corpus"; status=1; }
done
exit $status
