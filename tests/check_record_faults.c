/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "tests/launched.h"
#include "tests/make_host.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* `buildbeat record` with obstacles: the build continues. */

static const char *const unwritable[] = {
	"-o /dev/null/stats", "-o /proc/stats", "-o file", "-n taken",
};

TEST_EACH(cannot_record, unwritable)
{
	launched_expect(6, "out\n", "buildbeat: nothing is recorded: ",
			": >file; mkdir -p stats/taken; "
			RECORD "%s -- sh -c 'echo out; exit 6'", unwritable[_i]);
}

TEST(removed_midway)
{
	launched_expect(6, "out\n", "the recording is incomplete",
			RECORD "-n one --interval 10 -- "
			"sh -c 'rm -rf stats; sleep 0.1; echo out; exit 6'");
}

/* Only as root: in a user namespace root's directories have no owner and are not trusted. */
TEST(full_disk)
{
	struct run r;

	SKIP_IF(geteuid());
	support_run(&r, support_tmpdir(), "mkdir small; unshare -rm sh -c '"
		    "mount -t tmpfs -o size=16k none small || exit 77; "
		    BUILDBEAT " record --no-git -o small -n one --interval 10 --per-core -- "
		    "sh -c \"dd if=/dev/zero of=small/fill bs=4k 2>/dev/null; sleep 0.3; "
		    "echo out; exit 6\"; e=$?; head -n 1 small/one/build; exit $e'");
	SKIP_IF(r.status == 77 || strstr(r.err.data, "unshare"));
	ck_assert_int_eq(r.status, 6);
	ck_assert_str_eq(r.out.data, "out\nbuildbeat build 1\n");
	launched_reported(&r, "the recording is incomplete");
}

/* Also for root, whom no mode stops. */
TEST(read_only)
{
	struct run r;

	SKIP_IF(geteuid());
	support_run(&r, support_tmpdir(), "mkdir sealed; unshare -rm sh -c '"
		    "mount -t tmpfs -o ro none sealed || exit 77; "
		    BUILDBEAT " record --no-git -o sealed sh -c \"echo out; exit 6\"'");
	SKIP_IF(r.status == 77 || strstr(r.err.data, "unshare"));
	ck_assert_int_eq(r.status, 6);
	ck_assert_str_eq(r.out.data, "out\n");
	launched_reported(&r, "buildbeat: nothing is recorded: ");
	launched_reported(&r, ": Read-only file system");
}

static const int file_limits[] = { 4, 5, 6, 7, 8, 10, 12, 16, 24, 40, 100, 201, 300 };

TEST_EACH(few_files, file_limits)
{
	struct run r;

	support_run(&r, support_tmpdir(), "exec 3<&- 4<&- 5<&- 6<&- 7<&- 8<&- 9<&-; "
		    "ulimit -n %d; " RECORD
		    "-- sh -c 'echo out; exit 6'", file_limits[_i]);
	ck_assert_int_eq(r.status, 6);
	ck_assert_str_eq(r.out.data, "out\n");
	if (r.err.len)
		ck_assert_ptr_eq(strchr(r.err.data, '\n'), r.err.data + r.err.len - 1);
}

/* Neither make nor the launcher ends by a limit of file sizes. The smaller limits are
 * reached at the start of the recording, the larger ones by a make. */
static const struct { int blocks; const char *said; } size_limits[] = {
	{ 0, "nothing is recorded: " }, { 1, "" }, { 8, "File too large" }, { 64, "File too large" },
};

TEST_EACH(file_size_limit, size_limits)
{
	SKIP_IF(!make_host_can());
	launched_expect(6, "0\n", size_limits[_i].said,
			"echo 'all: $(shell seq 700)\n%%:; @true' >Makefile; "
			"ulimit -f %d; " RECORD "--compress zstd -n one -- sh -c 'make; echo $?; exit 6'",
			size_limits[_i].blocks);
}

TEST_MAIN(record_faults);
