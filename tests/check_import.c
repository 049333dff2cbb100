/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "recording/recording.h"
#include "tests/paths.h"
#include "tests/support.h"

#include <dirent.h>

#define BUILDBEAT TOP_BUILDDIR "/buildbeat "
#define GENUINE TOP_SRCDIR "/tests/data/oe/genuine"
#define PROFILE TOP_SRCDIR "/tests/data/convert/bazel/profile.json"
#define NESTED TOP_SRCDIR "/tests/data/recordings/nested"

/* The names in a directory, hidden ones too. */
static size_t count_entries(const char *path)
{
	DIR *dir = opendir(path);
	size_t n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n > 2 ? n - 2 : 0;
}

/* Other ways to read the same recording. */
TEST(shows_the_same)
{
	support_expect(support_tmpdir(), 0, support_path("%s/st/one\noe\n%s/st/two\n", support_tmpdir(),
						  support_tmpdir()), "",
		       BUILDBEAT "import -o st -n one " GENUINE " && "
		       BUILDBEAT "export --to oe -o oe st/one && "
		       BUILDBEAT "import -o st --from oe --name two oe && "
		       "for i in " GENUINE " st/one oe st/two; do "
		       BUILDBEAT "show --json --tasks $i | grep -v '\"recording\"' >shown && "
		       "{ [ -e first ] || cp shown first; } && cmp first shown || exit; done");
	ck_assert(recording_is_here(support_path("%s/st/latest", support_tmpdir()), NULL));
}

/* The name is the time of the build; the place is the directory of recordings. */
TEST(by_itself)
{
	struct run r;

	support_run(&r, support_tmpdir(), BUILDBEAT "import " GENUINE " && " BUILDBEAT
		    "import " GENUINE " && ls buildstats && " BUILDBEAT "export --to oe && "
		    "ls -d 2*");
	ck_assert_msg(!r.status, "%s", r.err.data);
	ck_assert_ptr_nonnull(strstr(r.out.data, "\n20261121042511\n20261121042511-2\nlatest\n"
				     "20261121042511-2.oe\n20261121042511-2.oe\n"));
}

static const struct { const char *command, *told; } wrong[] = {
	{ "import", "too few operands" },
	{ "import nowhere", "nowhere: No such file or directory" },
	{ "import empty", "empty: not a recording, and not a file that another tool writes about a build; the formats are bazel, " },
	{ "import .", ".: not a recording, and not a directory that another tool writes" },
	{ "import --from oe empty", "empty: not a buildstats directory" },
	{ "import --from oe nowhere", "nowhere: No such file or directory" },
	{ "import /dev/null", "/dev/null: a pipe can be read only once: name its format" },
	{ "import --from oe .", ".: not a buildstats directory" },
	{ "import --from oe " GENUINE " " GENUINE, "one path at a time" },
	{ "import --from nothing empty", "expected " },
	{ "import " NESTED, "this is already a recording" },
	{ "import -n a/b " GENUINE, "expected a name" },
	{ "import -n ../x " GENUINE, "expected a name" },
	{ "import -o empty " GENUINE, "empty" },
	{ "import --into " NESTED " --from oe " GENUINE, "oe cannot be added to" },
	{ "export", "--to" },
	{ "export --to nothing " NESTED, "expected " },
	{ "export --to oe nowhere", "no such recording" },
	{ "export --to oe empty", "empty: not a recording" },
	{ "export --to oe -o empty " NESTED, "empty: already exists" },
	{ "export --to oe -o . " NESTED, ".: already exists" },
	{ "export --to oe -o empty/x " NESTED, "empty" },
};

TEST_EACH(what_is_wrong, wrong)
{
	struct run r;

	support_run(&r, support_tmpdir(), ": >empty; " BUILDBEAT "%s", wrong[_i].command);
	ck_assert_int_eq(r.status, 2);
	ck_assert_str_eq(r.out.data, "");
	ck_assert_msg(strstr(r.err.data, wrong[_i].told), "%s: %s", wrong[_i].command, r.err.data);
	ck_assert_uint_eq(count_entries(support_tmpdir()), 1);
}

/* The configured conversion of a finished recording; after a failed and a killed command. */
TEST(layouts)
{
	support_expect(support_tmpdir(), ANY_STATUS, "buildstats:\nboth\nlatest\noe\n\nbuildstats/oe:\nbuild_stats\n"
		       "buildstats/both/build\nbuildstats/both/oe/build_stats\n"
		       "buildstats/oe/build_stats:Exit status: 1\n"
		       "buildstats/both/oe/build_stats:Exit status: 137\n1\n", NULL,
		       BUILDBEAT "record --no-git -n oe --layout oe false; "
		       "echo 'layout: both' >buildbeat.yaml; "
		       BUILDBEAT "record --no-git -n both sh -c 'kill -9 $$'; "
		       "ls buildstats buildstats/oe | grep -v reduced; ls -d buildstats/both/oe/build_stats "
		       "buildstats/both/build; grep Exit buildstats/oe/build_stats "
		       "buildstats/both/oe/build_stats; ls -A buildstats | grep '^[.]'; "
		       BUILDBEAT "list | grep -c exit");
}

/* A file is copied unchanged; its charts go into the current directory. */
TEST(a_file_is_a_recording)
{
	support_expect(support_tmpdir(), 0, "./bootchart.svg\noe\nbootchart.svg\noe\n", NULL,
		       BUILDBEAT "show --top 1 " PROFILE " >/dev/null && "
		       BUILDBEAT "chart --only bootchart " PROFILE " && "
		       BUILDBEAT "export --to oe -o oe " PROFILE " && ls");
}

/* A file system too small for all. */
static void on_full_disk(struct run *r, const char *command)
{
	support_run(r, support_tmpdir(), "unshare -m sh -c 'mkdir full && "
		    "mount -t tmpfs -o size=64k,nr_inodes=200 tmpfs full && cd full || exit 77; "
		    "%s; s=$?; ls -A; exit $s' 2>err; s=$?; cat err >&2; exit $s", command);
}

static const char *const full[] = {
	BUILDBEAT "import -o . " GENUINE, BUILDBEAT "export --to oe -o x " NESTED,
	BUILDBEAT "export --to oe -o x " GENUINE,
};

TEST_EACH(full_disk, full)
{
	struct run r;
	struct buf what = BUF_INIT;

	/* All of the room, except a page. */
	buf_adds(&what, "dd if=/dev/zero of=fill bs=4k count=14 2>/dev/null; ");
	buf_adds(&what, full[_i]);
	on_full_disk(&r, buf_str(&what));
	buf_release(&what);
	SKIP_IF(r.status == 77 || strstr(r.err.data, "unshare: ") || strstr(r.err.data, "mount: "));
	ck_assert_int_eq(r.status, 2);
	ck_assert_str_eq(r.out.data, "fill\n");
	ck_assert_msg(strstr(r.err.data, "No space left on device"), "%s", r.err.data);
}

/* Interrupted at any time: nothing or everything is left. */
TEST(interrupted)
{
	support_expect(support_tmpdir(), ANY_STATUS, "", "",
		       "try() { " BUILDBEAT "show --json $1 | "
		       "grep -v '\"recording\"'; }; try " GENUINE " >want; mkdir st; "
		       "for ms in 001 003 005 008 012 020 030; do "
		       "timeout -s INT 0.$ms " BUILDBEAT "import -o st " GENUINE "; "
		       "timeout -s TERM 0.$ms " BUILDBEAT "export --to oe -o oe$ms " GENUINE "; "
		       "done >/dev/null 2>&1; ls -A . st | grep '^[.].*[.]'; "
		       "for i in st/2* oe*; do [ ! -e $i ] || try $i | cmp - want; done");
}

TEST_MAIN(import);
