#!/bin/sh
# SPDX-License-Identifier: MIT
# One night: bring the sources up to date, build them, keep the build's figures, tell what
# became slower or hungrier than it was, write the report. For cron, which mails what is
# said:
#
#	30 2 * * *  SOURCE=$HOME/app REPO=$HOME/nights.git REPORT=$HOME/nightly nightly.sh
#
# The settings, from the environment:
#
#	SOURCE   the source tree, built where it is; its buildbeat.yaml says what counts as a
#	         difference
#	REPO     the archive: a directory, or the URL of a git repository that several
#	         builders share
#	REPORT   where index.html and check.xml go
#	HOST, BRANCH
#	         names of the series, where they are not those of this machine and of what
#	         is checked out: HOST=farm where several equal machines take turns
#	PREPARE  makes the tree ready; not measured
#	BUILD    what is measured
#
# The exit status: 0 nothing is worse, 1 something is, 2 the archive or a setting is not as
# it should be, 4 the sources could not be brought up to date or built.
set -eu

: "${SOURCE:?is not set: the source tree}" "${REPO:?is not set: the archive}"
: "${REPORT:?is not set: where the report goes}"
: "${PREPARE:=git pull -q --ff-only && make -s clean}"
: "${BUILD:=make -j$(nproc)}"

night=$(mktemp -d)
trap 'rm -rf "$night"' EXIT
trap 'exit 2' HUP INT TERM

give_up() {
	echo "nightly: $2" >&2
	exit "$1"
}

cd "$SOURCE" || give_up 4 "there is no source tree"
mkdir -p "$REPORT" || give_up 2 "the report has no place"

sh -c "$PREPARE" || give_up 4 "cannot prepare: $PREPARE"

# A build that failed is half a build, and no measure of others.
buildbeat record -o "$night" -n night -- sh -c "$BUILD" >"$night/log" 2>&1 || {
	tail -n 50 "$night/log" >&2
	[ -d "$night/night" ] || give_up 2 "nothing is recorded"
	give_up 4 "the build failed: $BUILD"
}

kept=$(buildbeat archive --repo "$REPO" ${HOST:+--host "$HOST"} ${BRANCH:+--branch "$BRANCH"} \
	"$night/night") || give_up 2 "the night is not kept"
series=${kept%% *}

status=0
buildbeat check --repo "$REPO" --ref "$series" --junit -o "$REPORT/check.xml" || status=$?
buildbeat report --repo "$REPO" --ref "$series" --source . -o "$REPORT" ||
	give_up 2 "there is no report"
exit $status
