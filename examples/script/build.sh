#!/bin/sh
# SPDX-License-Identifier: MIT
# A build that is a script, with other builds inside it:
#	buildbeat record -- ./build.sh
set -e
cd "$(dirname "$0")"
top=$PWD

rm -rf out
mkdir out
cp -r ../make out/index
printf 'rule copy\n  command = cp $in $out\nbuild readme.txt: copy index/Makefile\n' > out/build.ninja

make -C out/index/lib -j2
(cd out/index/src && make)
ninja -C out
cc -O2 -Iout/index/lib -c out/index/src/ixquery.c -o out/again.o
cc -o out/again out/again.o out/index/lib/libix.a
echo "built in $top/out"
