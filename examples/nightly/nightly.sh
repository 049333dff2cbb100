#!/bin/sh
# SPDX-License-Identifier: MIT
# A nightly build: update the sources, build them, store the recording in an archive, check
# it for regressions, write a report. For cron, which mails the output:
#
#	30 2 * * *  SOURCE=$HOME/app REPO=$HOME/builds.git REPORT=$HOME/nightly nightly.sh
#
# Settings, from the environment:
#
#	SOURCE   the source tree, built in place; thresholds are in its buildbeat.yaml
#	REPO     the archive: a directory, or the URL of a git repository that several
#	         builders share
#	REPORT   the directory for index.html and check.xml
#	HOST, BRANCH
#	         names of the series (default: this machine and the checked-out branch);
#	         HOST=farm if several equal machines take turns
#	PREPARE  the command that prepares the tree; not recorded
#	BUILD    the command that is recorded
#
# Exit status: 0 no regression, 1 a regression, 2 a wrong archive or setting, 4 the sources
# could not be updated or built.
set -eu

: "${SOURCE:?is not set (the source tree)}" "${REPO:?is not set (the archive)}"
: "${REPORT:?is not set (the directory for the report)}"
: "${PREPARE:=git pull -q --ff-only && make -s clean}"
: "${BUILD:=make -j$(nproc)}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM

give_up() {
	echo "nightly: $2" >&2
	exit "$1"
}

cd "$SOURCE" || give_up 4 "cannot enter the source tree $SOURCE"
mkdir -p "$REPORT" || give_up 2 "cannot create $REPORT"

sh -c "$PREPARE" || give_up 4 "cannot prepare: $PREPARE"

# The values of a failed build cannot be compared.
buildbeat record -o "$work" -n build -- sh -c "$BUILD" >"$work/log" 2>&1 || {
	tail -n 50 "$work/log" >&2
	[ -d "$work/build" ] || give_up 2 "there is no recording"
	give_up 4 "the build failed: $BUILD"
}

stored=$(buildbeat archive --repo "$REPO" ${HOST:+--host "$HOST"} ${BRANCH:+--branch "$BRANCH"} \
	"$work/build") || give_up 2 "cannot store the build in $REPO"
series=${stored%% *}

status=0
buildbeat check --repo "$REPO" --ref "$series" --junit -o "$REPORT/check.xml" || status=$?
buildbeat report --repo "$REPO" --ref "$series" --source . -o "$REPORT" ||
	give_up 2 "cannot write the report"
exit $status
