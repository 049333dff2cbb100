#!/bin/sh
# SPDX-License-Identifier: MIT
# The plugin and the preloaded object, built against musl, record hosts that musl loads them into.
# MUSL_MAKE: a GNU make that was built with musl-gcc, to try that too. Run in the build directory.
: "${srcdir:=$(dirname "$0")/..}"
command -v musl-gcc >/dev/null || {
	echo "skipped: musl-gcc is not installed"
	exit 77
}
build=$(pwd)
top=$(cd "$srcdir" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() {
	echo "$*"
	exit 1
}

# The same rules in an empty directory; configure does not look for musl's libraries.
cd "$tmp" || exit 1
unset MAKEFILES MAKEFLAGS MFLAGS LD_PRELOAD
make -s -f "$build/Makefile" srcdir="$top" top_srcdir="$top" abs_srcdir="$top" VPATH="$top" \
	CC="$(command -v ccache) musl-gcc" CPPFLAGS="-I$build" CFLAGS=-O1 SANITIZE= \
	plugin/buildbeat.so plugin/buildbeat-preload.so >log 2>&1 || fail "$(cat log)"
for object in plugin/buildbeat.so plugin/buildbeat-preload.so; do
	needed=$(readelf -d $object | sed -n '/NEEDED/s/.*\[\(.*\)\]/\1/p')
	[ "$needed" = libc.so ] || fail "$object needs $needed"
done

# A host that loads the plugin itself.
musl-gcc -I"$top/plugin" "$top/examples/host/host.c" -o host || exit 1
BUILDBEAT_PLUGIN=$tmp/plugin/buildbeat.so ./host 'echo one' 'exit 3' >out
[ "$(cat out)" = one ] || fail "the host printed $(cat out)"
grep -q "^done.*	0	" buildstats/latest/tasks.log || fail "no task ended with 0"
grep -q "^fail	[0-9]*	[^	]*	3	" buildstats/latest/tasks.log || fail "no task failed with 3"

# A program that the other object is preloaded into.
printf '#include <stdio.h>\nint main(int n, char **v) { return n == 2 ? puts(v[1]) < 0 : 1; }\n' >a.c
musl-gcc a.c -o ninja || exit 1
[ "$(LD_PRELOAD=$tmp/plugin/buildbeat-preload.so ./ninja two 2>&1)" = two ] || fail "LD_PRELOAD harms"

if [ -z "${MUSL_MAKE-}" ]; then
	echo "not tried with make: MUSL_MAKE is not set"
	exit 0
fi
# shellcheck disable=SC2016
printf 'all: sub\n\t@exit 3\nsub:\n\t+@$(MAKE) -s -f sub.mk\n' >Makefile
printf 'all:\n\t@echo three\n' >sub.mk
rm -rf buildstats
"$build/buildbeat" record --plugin "$tmp/plugin/buildbeat.so" -- "$MUSL_MAKE" >out 2>err
[ $? = 2 ] || fail "$(cat err)"
[ "$(cat out)" = three ] || fail "make printed $(cat out)"
[ "$(grep -c ^open buildstats/latest/tasks.log)" = 2 ] || fail "$(cat buildstats/latest/tasks.log)"
[ "$(grep -c ^close buildstats/latest/tasks.log)" = 2 ] || fail "$(cat buildstats/latest/tasks.log)"
grep -q "^fail	[0-9]*	[^	]*	3	" buildstats/latest/tasks.log || fail "no task failed with 3"
