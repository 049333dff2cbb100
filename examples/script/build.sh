#!/bin/sh
# SPDX-License-Identifier: MIT
# A build that is a script, with other builds inside it. Its phases are spans:
#	buildbeat record -- ./build.sh
set -e
cd "$(dirname "$0")"
top=$PWD

# The script also works without buildbeat: the spans are not recorded then.
span()
{
	if command -v buildbeat >/dev/null; then
		buildbeat span "$@"
	elif test "$2" = --; then
		shift 2
		"$@"
	fi
}

span begin prepare
rm -rf out
mkdir out
cp -r ../make out/index
printf 'rule copy\n  command = cp $in $out\nbuild readme.txt: copy index/Makefile\n' > out/build.ninja
span end prepare

span library -- make -C out/index/lib -j2
span begin programs
(cd out/index/src && make)
span begin readme
ninja -C out
span end readme
cc -O2 -Iout/index/lib -c out/index/src/ixquery.c -o out/again.o
cc -o out/again out/again.o out/index/lib/libix.a
span end programs
echo "built in $top/out"
