# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# For scripts that work in a clean root of another release of Debian, made by mmdebstrap: they
# read this file. Nothing is left on this machine except the root: its mounts are in a namespace
# of their own, its processes are killed, and an emulator is unregistered.
#   ROOTS   directory of the roots (default: /var/tmp/buildbeat-roots)
#   MIRROR  Debian's mirror (default: the one that this machine's apt uses, or mmdebstrap's)
: "${ROOTS:=/var/tmp/buildbeat-roots}"
# shellcheck disable=SC2016
: "${MIRROR=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' \
	'Label: Debian' 2>/dev/null | head -n 1)}"
mkdir -p "$ROOTS"
binfmt=/proc/sys/fs/binfmt_misc
machine=$(dpkg --print-architecture)
roots=		# of which processes may run
registered=
mounted=

fail() {
	echo "$(basename "$0"): $*" >&2
	exit 2
}

[ "$(id -u)" = 0 ] || fail "chroot needs root"
command -v mmdebstrap >/dev/null || fail "mmdebstrap is missing: apt-get install mmdebstrap"

# The processes of the roots end, also those that left their session.
end_processes() {
	for root in $roots; do
		for process in /proc/[0-9]*; do
			# shellcheck disable=SC3013
			[ ! "$process/root" -ef "$root" ] || kill -9 "${process#/proc/}" 2>/dev/null || true
		done
	done
}

leave() {
	end_processes
	[ -z "$registered" ] || echo -1 >"$binfmt/$registered"
	[ -z "$mounted" ] || umount "$binfmt"
}
trap leave EXIT
trap 'exit 130' INT TERM HUP

# emulate ARCH: the kernel runs programs of arm64 with qemu's emulator of processes
emulate() {
	case $machine/$1 in
	"$1/$1" | amd64/i386) return ;;
	*/arm64) cpu=aarch64 ;;
	*/armhf) cpu=arm ;;
	*/riscv64) cpu=riscv64 ;;
	*) fail "no emulator of $1 is known here" ;;
	esac
	if [ ! -f "$binfmt/register" ]; then
		mount -t binfmt_misc binfmt_misc "$binfmt"
		mounted=yes
	fi
	[ ! -f "$binfmt/qemu-$cpu" ] || return 0
	[ -f "/usr/lib/binfmt.d/qemu-$cpu.conf" ] ||
		fail "the emulator of $1 is missing: apt-get install qemu-user-static"
	cat "/usr/lib/binfmt.d/qemu-$cpu.conf" >"$binfmt/register"
	registered=qemu-$cpu
}

# make_root ROOT RELEASE ARCH: anew, with apt and what Debian calls essential
make_root() {
	exec 8>"$1.lock"
	flock -n 8 || fail "$1 is in use"
	rm -rf "$1"
	apt-config dump Acquire | grep -E '^Acquire::(https?|Check)' >"$1.apt" || true
	# shellcheck disable=SC2086
	mmdebstrap --quiet --variant=apt --mode=root --arch="$3" --aptopt="$1.apt" \
		--include=ca-certificates "$2" "$1" ${MIRROR:+"$MIRROR"}
	rm "$1.apt"
	exec 8>&-
	printf '127.0.0.1 localhost\n::1 localhost\n' >"$1/etc/hosts"
}

# sources_to ROOT: the sources, as git would add them, in /src there
sources_to() {
	mkdir -p "$1/src"
	# shellcheck disable=SC2154
	(cd "$top" && git ls-files -z -co --exclude-standard |
		tar --null --no-recursion --ignore-failed-read -T - -cf -) | tar -C "$1/src" --no-same-owner -xf -
}

# in_root ROOT COMMAND [ARGUMENT...]: in /src there, and what it started ends with it
in_root() {
	exec 8>"$1.lock"
	flock -n 8 || fail "$1 is in use"
	roots="$roots $1"
	result=0
	# shellcheck disable=SC2016
	unshare --mount --propagation private sh -euc '
		root=$1
		shift
		mount --bind "$root" "$root"	# so that tests can unshare mounts
		mount -t proc proc "$root/proc"
		mount --rbind /sys "$root/sys"
		mount --rbind /dev "$root/dev"
		exec chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
			HOME=/root TERM="${TERM-dumb}" DEBIAN_FRONTEND=noninteractive ${http_proxy:+"http_proxy=$http_proxy"} \
			${https_proxy:+"https_proxy=$https_proxy"} \
			sh -euc "cd /src && exec \"\$@\"" sh "$@"' sh "$@" </dev/null 8>&- || result=$?
	end_processes
	exec 8>&-
	return $result
}
