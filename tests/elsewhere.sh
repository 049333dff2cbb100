#!/bin/sh
# SPDX-License-Identifier: MIT
# The demo and every test on another release of Debian, in a clean root:
#   tests/elsewhere.sh RELEASE [ARCH]             such as trixie, or bookworm arm64
#   tests/elsewhere.sh RELEASE ARCH COMMAND...    something else, in the root that the last run left:
#   tests/elsewhere.sh trixie amd64 make -C build check TESTS=tests/check_fsck
# It needs root, mmdebstrap and, for another ARCH, qemu-user-static. See tests/root.sh for the
# variables ROOTS and MIRROR.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
[ $# -ge 1 ] || {
	sed -n '3,8s/^# \{0,1\}//p' "$0"
	exit 2
}
. "$top/tests/root.sh"

release=$1
arch=${2-$machine}
root=$ROOTS/$release-$arch
shift $(($# < 2 ? $# : 2))
emulate "$arch"
if [ $# -gt 0 ]; then
	sources_to "$root"
	in_root "$root" "$@"
	exit
fi
make_root "$root" "$release" "$arch"
sources_to "$root"
in_root "$root" sh -euc './quickstart demo && ./quickstart check'
echo "$release $arch: the demo and all tests succeeded, in $root"
