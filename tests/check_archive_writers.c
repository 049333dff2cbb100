/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "tests/made_build.h"
#include "tests/paths.h"
#include "tests/support.h"

#include <dirent.h>
#include <time.h>

/* Many processes write one archive; writers are killed; the disk is full. */

#define TASKS 12
#define FSCK TOP_BUILDDIR "/buildbeat archive --fsck --repo %s"
#define GENERATOR TOP_BUILDDIR "/tests/gen_archive"

/* The start of the first build of gen_archive. */
#define FIRST_S 1767232800

/* Runs a shell command in a process group of its own. */
static pid_t start(const char *command)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		setpgid(0, 0);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	setpgid(pid, pid);
	return pid;
}

static int end_of(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

static const char *add_builds(size_t first, size_t end)
{
	return support_path("exec " GENERATOR " --tasks %d --series " MADE_REF " --first %zu "
			    "--builds %zu %s", TASKS, first, end, made_repo());
}

static void check_build(struct archive *a, const struct build *build, unsigned number)
{
	struct error err = { 0 };
	RELEASED(values, f);

	ck_assert_msg(!archive_values(a, build->id, &f, &err), "%s: %s", err.path, err.message);
	ck_assert_uint_eq(f.n_tasks, TASKS);
	ck_assert_int_eq(f.start_s, FIRST_S + (int64_t)number * 86400);
	ck_assert_ptr_nonnull(f.column[COLUMN_WALL_US]);
}

/* The numbers of the builds, which are runs "made-N". Returns 0 without a repository. */
static size_t read_runs(unsigned *number, size_t max)
{
	struct builds builds = BUILDS_INIT;
	struct archive *a;
	struct error err = { 0 };
	int r = archive_open(&a, made_repo(), ARCHIVE_READ, &err);
	size_t n;

	if (!r)
		r = archive_builds(a, MADE_REF, 0, &builds, &err);
	ck_assert_msg(!r || r == -ENOENT, "%s: %s", err.path, err.message);
	n = builds.n;
	ck_assert_uint_le(n, max);
	for (size_t i = 0; i < n; i++) {
		number[i] = (unsigned)strtoul(builds.build[i].run + strlen("made-"), NULL, 10);
		check_build(a, &builds.build[i], number[i]);
	}
	builds_release(&builds);
	archive_close(a);
	return n;
}

static void run_all(const char *command)
{
	support_expect(NULL, 0, NULL, NULL, "%s", command);
}

/* Many at once */

#define BUILDERS 8
#define BUILDS_EACH 4

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* What git does to the repository meanwhile, again and again. */
static const char *const maintenance[] = {
	NULL,
	"git repack -q -a -d && git pack-refs --all && git prune-packed -q",
	"git gc -q --prune=now",
	"git repack -q -a -d",
	"git prune --expire=now",
	"git -c gc.pruneExpire=now -c gc.auto=1 maintenance run --quiet",
	"git maintenance run --quiet --task=loose-objects --task=incremental-repack",
	"git gc -q --prune=now & git repack -q -a -d & git prune --expire=now; wait",
};

TEST_EACH(eight_builders_lose_no_build, maintenance)
{
	unsigned number[BUILDERS * BUILDS_EACH];
	pid_t builder[BUILDERS], keeper = 0;

	for (size_t i = 0; i < BUILDERS; i++)
		builder[i] = start(add_builds(i * BUILDS_EACH, (i + 1) * BUILDS_EACH));
	if (maintenance[_i])
		keeper = start(support_path("exec 2>/dev/null; %s until_true \"cd %s\"; "
					    "until test -e enough || ! test -e HEAD; do %s; done",
					    support_poll, made_repo(), maintenance[_i]));
	for (int i = 0; i < BUILDERS; i++)
		ck_assert_int_eq(end_of(builder[i]), 0);
	if (keeper) {	/* not killed: git may have removed a pack that its multi-pack-index still has */
		support_writes(support_path("%s/enough", made_repo()), "");
		end_of(keeper);
	}
	ck_assert_uint_eq(read_runs(number, BUILDERS * BUILDS_EACH), BUILDERS * BUILDS_EACH);
	qsort(number, BUILDERS * BUILDS_EACH, sizeof *number, by_number);
	for (unsigned i = 0; i < BUILDERS * BUILDS_EACH; i++)
		ck_assert_uint_eq(number[i], i);
	made_fsck();
}

TEST(one_run_is_one_build)
{
	pid_t builder[BUILDERS];
	unsigned number[BUILDERS];

	for (int i = 0; i < BUILDERS; i++)
		builder[i] = start(add_builds(3, 4));
	for (int i = 0; i < BUILDERS; i++)
		ck_assert_int_eq(end_of(builder[i]), 0);
	ck_assert_uint_eq(read_runs(number, BUILDERS), 1);
	ck_assert_uint_eq(number[0], 3);
}

/* A concurrent reader sees whole builds only. */
TEST(readers_see_whole_builds)
{
	unsigned number[BUILDS_EACH * 4];
	size_t before = 0, n;
	int status = 0;
	pid_t builder, ended;

	builder = start(add_builds(0, BUILDS_EACH * 4));
	do {
		ended = waitpid(builder, &status, WNOHANG);
		n = read_runs(number, BUILDS_EACH * 4);
		ck_assert_uint_ge(n, before);
		before = n;
	} while (!ended);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(n, BUILDS_EACH * 4);
}

/* Killed */

#define KILLS 24
#define KILLED_BUILDS 5000

static const char *lock(void)
{
	return support_path("%s/refs/heads/" MADE_REF ".lock", made_repo());
}

/* Whether the directory of packs has a file whose name ends with this. */
static bool has_file(void *end)
{
	DIR *dir = opendir(support_path("%s/objects/pack", made_repo()));
	const char *dot;
	struct dirent *d;
	bool has = false;

	while (dir && !has && (d = readdir(dir))) {
		dot = strrchr(d->d_name, '.');
		has = dot && !strcmp(dot, end);
	}
	if (dir)
		closedir(dir);
	return has;
}

/* Each writer is killed while it has such a file. The next one removes what is left. */
TEST(killed_writers_leave_whole_builds)
{
	static char ends[][6] = { ".keep", ".new", ".pack", ".idx" };
	static unsigned number[KILLED_BUILDS];
	size_t n = 0;

	for (unsigned i = 0; i < KILLS; i++) {
		pid_t pid = start(add_builds(n, KILLED_BUILDS));

		support_wait_until(has_file, ends[i % ARRAY_SIZE(ends)], "the writer is writing");
		kill(pid, SIGKILL);
		end_of(pid);
		n = read_runs(number, KILLED_BUILDS);
	}
	run_all(add_builds(n, n + 1));
	ck_assert_uint_eq(read_runs(number, KILLED_BUILDS), n + 1);
	for (unsigned i = 0; i < n; i++)
		ck_assert_uint_eq(number[i], i);
	ck_assert(!has_file(ends[0]) && !has_file(ends[1]));
	made_fsck();
}

/* Build 32 joins the small packs, and leaves no lock that stops git's maintenance. */
TEST(small_packs_are_joined)
{
	static const char packs[] = "cd %s/objects && test $(ls pack/*.idx | wc -l) %s && test ! -e maintenance.lock";
	unsigned number[32];

	run_all(add_builds(0, 31));
	run_all(support_path(packs, made_repo(), "= 31"));
	run_all(add_builds(31, 32));
	run_all(support_path(packs, made_repo(), "= 1"));
	ck_assert_uint_eq(read_runs(number, ARRAY_SIZE(number)), 32);
	made_fsck();
}

/* A lock of git, made age_s seconds ago. */
static void make_lock(int age_s)
{
	struct timespec old[2] = { { time(NULL) - age_s, 0 }, { time(NULL) - age_s, 0 } };

	support_writes(lock(), "");
	ck_assert_int_eq(utimensat(AT_FDCWD, lock(), old, 0), 0);
}

/* Without a note it is git's, which has one for milliseconds. */
TEST(foreign_lock_is_removed)
{
	unsigned number[2];

	run_all(add_builds(0, 1));
	make_lock(60);
	support_expect(NULL, 1, NULL, NULL, FSCK " | grep 'x86_64.lock: a lock that is [67]. s old'; "
		       "exec " FSCK, made_repo(), made_repo());
	run_all(add_builds(1, 2));
	ck_assert_uint_eq(read_runs(number, 2), 2);
	ck_assert(!support_exists(lock()));
	support_expect(NULL, 0, "0 problems\n", NULL, FSCK " --repair", made_repo());
}

/* Locks that are not of references; what --repair leaves is no success. */
TEST(lock_of_maintenance_remains)
{
	const char *held = support_path("%s/objects/maintenance.lock", made_repo());
	struct run r;

	run_all(add_builds(0, 1));
	support_writes(held, "");
	support_expect(NULL, 0, "0 problems\n", NULL, FSCK, made_repo());
	support_run(&r, NULL, FSCK " --repair", made_repo());
	ck_assert_int_eq(r.status, 1);
	ck_assert_msg(strstr(r.out.data, "maintenance.lock: a lock that is 1") &&
		      strstr(r.out.data, "not removed, because whoever made it may still run; try again") &&
		      strstr(r.out.data, "0 problems; 1 lock remains\n"), "%s", r.out.data);
	ck_assert(support_exists(held));
	support_expect(NULL, 0, NULL, NULL, "touch -d '11 minutes ago' %s && " FSCK " --repair", held,
		       made_repo());
	ck_assert(!support_exists(held));
}

/* What is no file is not removed: the message names it. */
TEST(lock_that_cannot_be_removed)
{
	run_all(add_builds(0, 1));
	ck_assert_int_eq(mkdir(lock(), 0777), 0);
	support_expect(NULL, 2, NULL, "x86_64.lock is there for more than 12 s: a program that changes "
		       "the repository runs, or was killed", "%s", add_builds(1, 2));
	ck_assert(support_exists(lock()));
}

TEST(old_lock_is_removed)
{
	unsigned number[2];

	run_all(add_builds(0, 1));
	make_lock(601);
	run_all(add_builds(1, 2));
	ck_assert_uint_eq(read_runs(number, 2), 2);
}

/* The note of a killed owner, and one of a stranger with other names. */
static const struct { const char *note; bool removed; } notes[] = {
	{ "refs/heads/o/p/q", true }, { "refs/heads/other/main/x86_64", false },
	{ "refs/heads/../../keep", false }, { "../keep", false }, { "/keep", false }, { "*", true },
};

TEST_EACH(note_of_a_killed_owner, notes)
{
	const char *keep = support_path("%s/keep.lock", made_repo());
	const char *noted = support_path("%s/refs/heads/o/p/q.lock", made_repo());

	run_all(add_builds(0, 1));
	run_all(support_path("mkdir -p $(dirname %s) && touch -d '1 minute ago' %s %s", noted, noted, keep));
	support_writes(support_path("%s/buildbeat-refs", made_repo()), notes[_i].note);
	run_all(add_builds(1, 2));
	ck_assert_int_eq(support_exists(noted), !notes[_i].removed);
	ck_assert(support_exists(keep));
}

/* In a stranger's repository the file can be a link to one of ours. */
TEST_LOOP(note_is_no_link, 2)
{
	const char *ours = support_path("%s/ours", support_tmpdir());

	run_all(add_builds(0, 1));
	support_writes(ours, "text");
	run_all(support_path("cd %s && rm -f buildbeat-refs && %s %s buildbeat-refs", made_repo(),
			     _i ? "ln" : "ln -s", ours));
	run_all(add_builds(1, 2));
	ck_assert_str_eq(support_text(ours), "text");
}

/* The size limit of a file, in blocks of 512 bytes. */
static const int blocks[] = { 0, 1, 8, 20 };

TEST_EACH(full_disk_is_reported, blocks)
{
	unsigned number[2];

	run_all(add_builds(0, 1));
	support_expect(NULL, 2, NULL, "File too large",
		       "trap '' XFSZ; ulimit -f %d; exec " GENERATOR " --tasks 20000 --series "
		       MADE_REF " --first 1 --builds 2 %s", blocks[_i], made_repo());
	ck_assert_uint_eq(read_runs(number, 2), 1);
	/* half-written packs are deleted */
	run_all(support_path("cd %s/objects/pack && test $(ls | wc -l) = 2 && ls *.pack && ls *.idx", made_repo()));
	run_all(add_builds(1, 2));
	ck_assert_uint_eq(read_runs(number, 2), 2);
	made_fsck();
}

TEST(read_only_archive_is_reported)
{
	unsigned number[2];

	run_all(add_builds(0, 1));
	SKIP_IF(!geteuid());		/* can write anywhere */
	run_all(support_path("chmod -R a-w %s", made_repo()));
	support_expect(NULL, 2, NULL, "Permission denied", "%s", add_builds(1, 2));
	ck_assert_uint_eq(read_runs(number, 2), 1);
}

TEST_PROGRAM(archive_writers)
{
	made_environment();
	return support_main();
}
