#include "made_build.h"
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Archives that are written by many at once, by some who are killed, and where there is no
 * room. */

#define TASKS 12

static const char *repo(void)
{
	return support_path("%s/nights.git", support_tmpdir());
}

static pid_t start(void (*work)(int number), int number)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		work(number);
		_exit(0);
	}
	return pid;
}

static int end_of(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

/* The numbers of the nights, which are runs "night-N". */
static size_t read_runs(unsigned *number, size_t max)
{
	struct archive *a = made_archive(repo());
	struct nights nights;
	struct error err = { 0 };
	int r = archive_nights(a, MADE_REF, 0, &nights, &err);
	size_t n = nights.n;

	ck_assert_msg(!r, "%s: %s", err.path, err.message);
	ck_assert_uint_le(n, max);
	for (size_t i = 0; i < n; i++) {
		struct figures f, same;

		number[i] = (unsigned)strtoul(nights.night[i].run + strlen("night-"), NULL, 10);
		made_build(&same, number[i], TASKS, number[i]);
		ck_assert_int_eq(archive_figures(a, nights.night[i].id, &f, &err), 0);
		ck_assert_uint_eq(f.n_tasks, TASKS);
		for (size_t t = 0; t < TASKS; t++)
			ck_assert_str_eq(f.task[t].name, same.task[t].name);
		ck_assert_int_eq(f.total[TOTAL_USER_US], same.total[TOTAL_USER_US]);
		figures_release(&same);
		figures_release(&f);
	}
	nights_release(&nights);
	archive_close(a);
	return n;
}

static void check_fsck(void)
{
	struct run r;

	support_run(&r, repo(), "git fsck --strict --no-dangling --no-progress");
	ck_assert_msg(!r.status && !strstr(r.err.data, "error"), "%s", r.err.data);
	support_run_release(&r);
}

static void add_night(struct archive *a, unsigned night)
{
	struct figures f;

	made_build(&f, night, TASKS, night);
	made_add(a, &f, night);
	figures_release(&f);
}

/* Many at once */

#define BUILDERS 8
#define NIGHTS_EACH 5

/* Of a child a failed assertion is an abort. */
static void build_nights(int number)
{
	struct archive *a = made_archive(repo());

	for (int i = 0; i < NIGHTS_EACH; i++)
		add_night(a, (unsigned)(number * NIGHTS_EACH + i));
	archive_close(a);
}

static void pack(int number)
{
	struct run r;

	(void)number;
	for (;;) {
		support_run(&r, NULL, "cd %s && git repack -q -a -d && git pack-refs --all && "
			    "git prune-packed -q", repo());
		support_run_release(&r);
	}
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

START_TEST(eight_builders_lose_nothing)
{
	unsigned number[BUILDERS * NIGHTS_EACH];
	pid_t builder[BUILDERS], packer = 0;

	for (int i = 0; i < BUILDERS; i++)
		builder[i] = start(build_nights, i);
	if (_i)
		packer = start(pack, 0);
	for (int i = 0; i < BUILDERS; i++)
		ck_assert_int_eq(end_of(builder[i]), 0);
	if (packer) {
		kill(packer, SIGTERM);
		end_of(packer);
	}
	ck_assert_uint_eq(read_runs(number, BUILDERS * NIGHTS_EACH), BUILDERS * NIGHTS_EACH);
	qsort(number, BUILDERS * NIGHTS_EACH, sizeof *number, by_number);
	for (unsigned i = 0; i < BUILDERS * NIGHTS_EACH; i++)
		ck_assert_uint_eq(number[i], i);
	check_fsck();
}
END_TEST

/* All of them have the same recording. */
static void build_same(int number)
{
	struct archive *a = made_archive(repo());
	struct archive_night night;
	char id[ARCHIVE_ID_SIZE];
	struct error err = { 0 };
	struct figures f;
	bool added;

	(void)number;
	made_build(&f, 3, TASKS, 3);
	night = (struct archive_night){ .figures = &f, .run = "night-3" };
	ck_assert_int_eq(archive_add(a, MADE_REF, &night, id, &added, &err), 0);
	figures_release(&f);
	archive_close(a);
}

START_TEST(one_run_is_one_night)
{
	pid_t builder[BUILDERS];
	unsigned number[BUILDERS];

	for (int i = 0; i < BUILDERS; i++)
		builder[i] = start(build_same, i);
	for (int i = 0; i < BUILDERS; i++)
		ck_assert_int_eq(end_of(builder[i]), 0);
	ck_assert_uint_eq(read_runs(number, BUILDERS), 1);
	ck_assert_uint_eq(number[0], 3);
}
END_TEST

/* Those that read meanwhile see whole nights only. */
START_TEST(readers_see_whole_nights)
{
	unsigned number[BUILDERS * NIGHTS_EACH];
	struct archive *a = made_archive(repo());
	size_t before = 0, n;
	pid_t builder;

	add_night(a, 1000);
	archive_close(a);
	builder = start(build_nights, 0);
	do {
		n = read_runs(number, BUILDERS * NIGHTS_EACH);
		ck_assert_uint_ge(n, before);
		before = n;
	} while (n < NIGHTS_EACH + 1);
	ck_assert_int_eq(end_of(builder), 0);
}
END_TEST

/* Killed */

#define KILLS 40
#define KILLED_NIGHTS 2000

static const char *lock(void)
{
	return support_path("%s/refs/heads/" MADE_REF ".lock", repo());
}

static void build_on(int number)
{
	struct archive *a = made_archive(repo());
	unsigned night = (unsigned)number;

	for (;;)
		add_night(a, night++);
}

static int add_to_locked(struct error *err)
{
	struct archive *a = made_archive(repo());
	struct archive_night night;
	char id[ARCHIVE_ID_SIZE];
	struct figures f;
	bool added;
	int r;

	made_build(&f, 0, TASKS, 0);
	night = (struct archive_night){ .figures = &f, .run = "locked out" };
	r = archive_add(a, MADE_REF, &night, id, &added, err);
	ck_assert(!added);
	figures_release(&f);
	archive_close(a);
	return r;
}

/* A lock that is left is told of by its name; without it all goes on. */
static void check_lock(void)
{
	struct timespec old[2] = { { 1600000000, 0 }, { 1600000000, 0 } };
	struct error err = { 0 };

	ck_assert_int_eq(utimensat(AT_FDCWD, lock(), old, 0), 0);
	ck_assert_int_eq(add_to_locked(&err), -EBUSY);
	ck_assert_msg(strstr(err.message, "refs/heads/" MADE_REF ".lock is there") &&
		      strstr(err.message, "remove it"), "%s", err.message);
	ck_assert_int_eq(unlink(lock()), 0);
}

START_TEST(killed_writers_leave_whole_nights)
{
	static unsigned number[KILLED_NIGHTS];
	struct archive *a;
	size_t n = 0;

	for (int i = 0; i < KILLS; i++) {
		struct timespec nap = { 0, (3 + i * 7 % 41) * 1000000 + i * 12345 };
		pid_t pid = start(build_on, (int)n);

		nanosleep(&nap, NULL);
		kill(pid, SIGKILL);
		end_of(pid);
		if (support_exists(lock()))
			check_lock();
		if (support_exists(support_path("%s/refs/heads/" MADE_REF, repo())))
			n = read_runs(number, KILLED_NIGHTS);
	}
	a = made_archive(repo());
	add_night(a, (unsigned)n);
	archive_close(a);
	ck_assert_uint_eq(read_runs(number, KILLED_NIGHTS), n + 1);
	for (unsigned i = 0; i < n; i++)
		ck_assert_uint_eq(number[i], i);
	check_fsck();
}
END_TEST

START_TEST(stale_lock_is_told)
{
	unsigned number[2];
	struct archive *a = made_archive(repo());

	add_night(a, 0);
	archive_close(a);
	support_writes(lock(), "");
	check_lock();
	a = made_archive(repo());
	add_night(a, 1);
	archive_close(a);
	ck_assert_uint_eq(read_runs(number, 2), 2);
}
END_TEST

/* No room */

static const rlim_t room[] = { 0, 10, 100, 300, 1000, 3000 };

/* The exit status is whether that is told. */
static void build_without_room(int number)
{
	struct rlimit limit = { room[number], room[number] };
	struct error err = { 0 };
	int r;

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	r = add_to_locked(&err);
	_exit(r < 0 && strstr(err.message, "File too large") && !strcmp(err.path, repo()));
}

START_TEST(no_room_is_told)
{
	unsigned number[3];
	struct archive *a = made_archive(repo());
	struct figures f;

	add_night(a, 0);
	made_build(&f, 1, TASKS, 1);
	archive_close(a);
	ck_assert_int_eq(WEXITSTATUS(end_of(start(build_without_room, _i))), 1);
	ck_assert_uint_eq(read_runs(number, 3), 1);
	a = made_archive(repo());
	add_night(a, 1);
	archive_close(a);
	ck_assert_uint_eq(read_runs(number, 3), 2);
	figures_release(&f);
	check_fsck();
}
END_TEST

START_TEST(read_only_is_told)
{
	struct archive *a = made_archive(repo());
	struct error err = { 0 };
	unsigned number[2];
	struct run r;

	add_night(a, 0);
	archive_close(a);
	if (!geteuid())
		return;		/* who may write anywhere */
	support_run(&r, NULL, "chmod -R a-w %s", repo());
	support_run_release(&r);
	ck_assert_int_lt(add_to_locked(&err), 0);
	ck_assert_msg(strstr(err.message, "Permission denied") != NULL, "%s", err.message);
	ck_assert_uint_eq(read_runs(number, 2), 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("archive_writers");
	TCase *tc = tcase_create("writers");

	made_environment();
	tcase_set_timeout(tc, 300);
	tcase_add_loop_test(tc, eight_builders_lose_nothing, 0, 2);
	tcase_add_test(tc, one_run_is_one_night);
	tcase_add_test(tc, readers_see_whole_nights);
	tcase_add_test(tc, killed_writers_leave_whole_nights);
	tcase_add_test(tc, stale_lock_is_told);
	tcase_add_loop_test(tc, no_room_is_told, 0, sizeof room / sizeof *room);
	tcase_add_test(tc, read_only_is_told);
	suite_add_tcase(s, tc);
	return support_main(s);
}
