#!/bin/sh
# SPDX-License-Identifier: MIT
# What `make install` installs is what debian/*.install packages, without libtool's files; what
# `make uninstall` leaves is not ours. Run in the build directory.
: "${srcdir:=$(dirname "$0")/..}"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
status=0
complain() {
	echo "$*"
	status=1
}
quiet_make() {
	make -s "$@" DESTDIR="$tmp/root" prefix=/usr libdir=/usr/lib/triplet sysconfdir=/etc >"$tmp/log" 2>&1 || {
		cat "$tmp/log"
		exit 1
	}
}
# other people's: a directory of theirs that is empty, a file of theirs in one of ours
mkdir -p "$tmp/root/usr/share/theirs" "$tmp/root/usr/lib/triplet/buildbeat"
: >"$tmp/root/usr/lib/triplet/buildbeat/theirs"
quiet_make install
(cd "$tmp/root" && find . -type f ! -name theirs | cut -c3- | LC_ALL=C sort) >"$tmp/installed"
[ -x "$tmp/root/usr/bin/buildbeat" ] || complain "no program was installed"
grep -E '\.(la|a|o)$' "$tmp/installed" && complain "these files are not for users"

# Every file belongs to one package, and every line of a package matches a file.
while read -r file; do
	owners=0
	for list in "$srcdir"/debian/*.install; do
		while read -r pattern; do
			# shellcheck disable=SC2254
			case $file in
			$pattern | $pattern/*) owners=$((owners + 1)) ;;
			esac
		done <"$list"
	done
	[ $owners = 1 ] || complain "$file is in $owners lines of debian/*.install"
done <"$tmp/installed"
cat "$srcdir"/debian/*.install | while read -r pattern; do
	# shellcheck disable=SC2086
	(cd "$tmp/root" && ls -d $pattern >/dev/null) || echo "$pattern"
done >"$tmp/unmatched"
[ ! -s "$tmp/unmatched" ] || complain "debian/*.install: no such file: $(cat "$tmp/unmatched")"

for example in "$srcdir"/examples/*/; do
	grep -qx "examples/$(basename "$example")" "$srcdir/debian/buildbeat.examples" ||
		complain "debian/buildbeat.examples: examples/$(basename "$example") is missing"
done

quiet_make uninstall
(cd "$tmp/root" && find . -type f ! -name theirs) >"$tmp/left"
[ ! -s "$tmp/left" ] || complain "make uninstall leaves $(cat "$tmp/left")"
(cd "$tmp/root" && find . -type d -name '*buildbeat*') >"$tmp/left"
[ "$(cat "$tmp/left")" = ./usr/lib/triplet/buildbeat ] ||
	complain "make uninstall leaves these directories, or removed another's: $(cat "$tmp/left")"
[ -f "$tmp/root/usr/lib/triplet/buildbeat/theirs" ] || complain "make uninstall removed a foreign file"
[ -d "$tmp/root/usr/share/theirs" ] || complain "make uninstall removed a foreign directory"

version=$(sed -n 's/^AC_INIT(\[buildbeat\], \[\(.*\)\],.*/\1/p' "$srcdir/configure.ac")
packaged=$(sed -n '1s/^buildbeat (\([^)]*\)).*/\1/p' "$srcdir/debian/changelog")
[ "$version" = "$packaged" ] ||
	complain "configure.ac has version '$version', debian/changelog '$packaged'"
for package in $(sed -n 's/^ \([a-z0-9-]*-dev\)\( .*\)\{0,1\},$/\1/p' "$srcdir/debian/control"); do
	case $(sed -n 's/^need_to_build=//p' "$srcdir/quickstart") in
	*" $package "*) ;;
	*) complain "debian/control builds with $package, quickstart does not install it" ;;
	esac
done
sed -n 's/^on_[a-z]*="\(.*\)"$/\1/p' "$srcdir/quickstart" >"$tmp/names"
[ "$(wc -l <"$tmp/names")" = 4 ] || complain "quickstart: its lines on_NAME are not as expected"
while read -r names; do
	grep -qF "\`$names\`" "$srcdir/README.md" || complain "README.md has not the names of quickstart: $names"
done <"$tmp/names"
exit $status
