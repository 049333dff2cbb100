#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the Debian packages with their tests in a clean root, installs them in another one,
# records a build with what was installed, and removes and purges them:
#   tests/package.sh RELEASE [ARCH]     such as bookworm or trixie
# See tests/elsewhere.sh for what it needs. The roots are removed if it succeeds.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
[ $# = 1 ] || [ $# = 2 ] || {
	sed -n '3,6s/^# \{0,1\}//p' "$0"
	exit 2
}
. "$top/tests/root.sh"

arch=${2-$machine}
builder=$ROOTS/$1-$arch-builder
user=$ROOTS/$1-$arch-user
emulate "$arch"

make_root "$builder" "$1" "$arch"
sources_to "$builder"
in_root "$builder" sh -euc '
	apt-get update -q
	apt-get install -q -y --no-install-recommends dpkg-dev fakeroot >/dev/null
	apt-get build-dep -q -y --no-install-recommends ./ >/dev/null
	dpkg-buildpackage -us -uc -b'

make_root "$user" "$1" "$arch"
mkdir "$user/src"
cp "$builder"/buildbeat_*.deb "$builder"/libbuildbeat-dev_*.deb "$user/src"
# shellcheck disable=SC2016
in_root "$user" sh -euc '
	apt-get update -q
	apt-get install -q -y --no-install-recommends gcc libc6-dev pkg-config >/dev/null
	# with what it recommends: gnuplot and make
	apt-get install -q -y ./*.deb >/dev/null
	buildbeat doctor
	cp -r /usr/share/doc/buildbeat/examples /tmp/examples
	cd /tmp/examples/make
	buildbeat record -- make -j2 WORDS=100000 >/tmp/build.log
	buildbeat show
	buildbeat chart
	test -s buildstats/latest/bootchart.svg
	test -s buildstats/latest/cpu.svg
	gcc $(pkg-config --cflags buildbeat) ../host/host.c -o /tmp/host
	/tmp/host "exit 0"
	apt-get remove -q -y buildbeat libbuildbeat-dev >/dev/null
	test ! -e /usr/bin/buildbeat
	dpkg --purge buildbeat libbuildbeat-dev	# apt does not know them any more
	left=$(find / -xdev \( -path /src -o -path /tmp -o -path /proc -o -path /sys \) -prune -o \
		-name "*buildbeat*" -print | grep -v "^/var/\(log\|cache\)/" || true)
	if [ -n "$left" ]; then
		echo "the package leaves $left"
		exit 1
	fi'
rm -rf "$builder" "$user"
echo "$1 $arch: the packages were built, tested, installed, used, removed and purged"
