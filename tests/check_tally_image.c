/* SPDX-License-Identifier: MIT */
/*
 * The file with the tallies of a host: what hosts tallied that were killed, replaced themselves,
 * exited without a close() or had a full disk, and files with any content.
 */
#include "plugin/buildbeat_plugin.h"
#include "recording/tally.h"
#include "recording/tally_image.h"
#include "tests/make_host.h"
#include "tests/recorded.h"
#include "tests/support.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

static const struct buildbeat_api *api;
static char dir[4096];

static void setup(void)
{
	api = make_host_api();
	snprintf(dir, sizeof dir, "%s/recordings/one", support_tmpdir());
}

static void tally(uint32_t where, int n)
{
	struct buildbeat_run run;

	for (int i = 0; i < n; i++) {
		api->tally_started(&run, where);
		api->tally_finished(&run);
	}
}

static bool has_tallies(void *data)
{
	struct tally_table t = TALLY_TABLE_INIT;
	size_t n_live = 0;
	bool all;

	all = !tally_read_live(&t, dir, -1, NULL, &n_live, NULL) && n_live == 1 && t.n_rows == 1 &&
	      t.row[0].count == *(uint64_t *)data;
	tally_release(&t);
	return all;
}

static size_t n_images(void)
{
	struct run r;

	support_run(&r, dir, "ls | grep -c '^tally-.*mem$'");
	return (size_t)atoi(r.out.data);
}

static uint64_t counted(const struct tally_table *t)
{
	uint64_t n = 0;

	for (size_t i = 0; i < t->n_rows; i++)
		n += t->row[i].death == TALLY_STILL_ALIVE ? 0 : t->row[i].count;
	return n;
}

/* What is in the recording, without a host that runs. */
static void check_unfinished(uint64_t count, bool incomplete)
{
	struct tally_table t = TALLY_TABLE_INIT;
	size_t n_live = 1;

	ck_assert_int_eq(tally_read_live(&t, dir, -1, NULL, &n_live, NULL), 0);
	ck_assert_uint_eq(n_live, 0);
	ck_assert_uint_eq(counted(&t), count);
	ck_assert_uint_eq(t.n_processes, 1);
	ck_assert(t.process[0].unfinished);
	ck_assert_int_eq(t.process[0].incomplete, incomplete);
	tally_release(&t);
	ck_assert_int_eq(tally_read(&t, dir, -1, INT64_MAX, NULL, NULL), 0);
	ck_assert_uint_eq(counted(&t), count);
	tally_release(&t);
}

TEST_GROUP_WITH("tally_image", setup, NULL);

/* A host that hangs is read, and one that was killed has lost nothing. */
TEST(killed)
{
	uint64_t all = 300;
	pid_t pid = fork();

	if (!pid) {
		struct buildbeat_session *s = make_host_open(api, dir, 0);

		make_host_tally(api, s, BUILDBEAT_TALLY_ACTIVE);
		tally(make_host_location(api, 1), 100);
		api->tally_phase(s, "");
		tally(make_host_location(api, 1), 200);
		for (;;)
			pause();
	}
	support_wait_until(has_tallies, &all, "tallies of the host");
	kill(pid, SIGSTOP);
	ck_assert(has_tallies(&all));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ck_assert_uint_eq(n_images(), 1);
	check_unfinished(300, false);
}

/* Ways to end without a close(): exec() keeps the process, and the others are those of C. */
static void end_in_a_way(int way)
{
	switch (way) {
	case 0:
		execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
		_exit(1);
	case 1:
		exit(7);
	case 2:
		_exit(7);
	default:
		signal(SIGSEGV, SIG_DFL);	/* a sanitizer has a handler */
		raise(SIGSEGV);
	}
}

TEST_LOOP(not_closed, 4)
{
	struct rlimit none = { 0, 0 };
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		struct buildbeat_session *s = make_host_open(api, dir, 0);
		pid_t child;

		setrlimit(RLIMIT_CORE, &none);
		make_host_tally(api, s, BUILDBEAT_TALLY_ACTIVE);
		tally(make_host_location(api, 1), 1000);
		api->tally_location(&(struct buildbeat_place){ sizeof(struct buildbeat_place), 1,
			"login --password=Xq7secret", "API_TOKEN=Xq7secret", 0, 0 });
		api->tally_thread("-u a:b --token=Xq7secret");
		tally(make_host_location(api, 1), 0);
		child = fork();		/* has nothing of it, and ends first */
		if (!child)
			_exit(0);
		waitpid(child, NULL, 0);
		tally(make_host_location(api, 1), 1);
		end_in_a_way(_i);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(_i == 3 ? WIFSIGNALED(status) : WEXITSTATUS(status) == 7);
	check_unfinished(1001, false);
	support_expect(dir, 1, "", "", "grep -rl Xq7secret .");
}

/* Processes of one host that forks have one file, and what they tally is there once. */
TEST(forks_killed)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		struct buildbeat_session *s = make_host_open(api, dir, 0) ? make_host_open(api, dir, BUILDBEAT_FORKS) : NULL;

		make_host_tally(api, s, BUILDBEAT_TALLY_ACTIVE);
		tally(make_host_location(api, 1), 10);
		for (int i = 0; i < 3; i++) {
			pid_t child = fork();

			if (!child) {
				tally(make_host_location(api, 1), 100);
				_exit(0);
			}
			waitpid(child, NULL, 0);
		}
		raise(SIGKILL);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_uint_eq(n_images(), 1);
	check_unfinished(310, false);
}

/* Without room for a file, or with lines that were lost. */
TEST_LOOP(no_room_for_a_file, 2)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		struct buildbeat_session *s = make_host_open(api, dir, 0);

		if (_i == 0)		/* the name is taken: there is no file */
			support_run(&(struct run){ 0 }, dir, "touch tally-%s.mem", api->instance(s));
		make_host_tally(api, s, BUILDBEAT_TALLY_ACTIVE);
		tally(make_host_location(api, 1), 5);
		api->tally_phase(s, "one");
		if (_i == 1)		/* no line can be written */
			support_run(&(struct run){ 0 }, dir, "rm tally.log && mkdir tally.log");
		tally(make_host_location(api, 1), 2);
		if (_i == 1)
			api->close(s);
		raise(SIGKILL);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (_i == 1)
		support_run(&(struct run){ 0 }, dir, "rmdir tally.log");
	ck_assert_uint_eq(n_images(), 1);
	check_unfinished(_i == 0 ? 5 : 7, _i == 0);
}

struct several {
	size_t n_live;
	uint64_t count;
};

static bool all_are_read(void *data)
{
	const struct several *expected = data;
	struct tally_table t = TALLY_TABLE_INIT;
	size_t n_live = 0;
	bool all = !tally_read_live(&t, dir, -1, NULL, &n_live, NULL) && n_live == expected->n_live &&
		   counted(&t) == expected->count;

	tally_release(&t);
	return all;
}

/* Hosts whose tallies are in memory only are all read while they run, also after one that lives on
 * behind its close(). */
TEST(several_without_a_file)
{
	struct several expected[] = { { 0, 1 }, { 1, 11 }, { 2, 111 } };
	pid_t pid[3];

	for (int i = 0, n = 1; i < 3; i++, n *= 10) {
		pid[i] = fork();
		if (!pid[i]) {
			struct buildbeat_session *s = make_host_open(api, dir, 0);

			support_run(&(struct run){ 0 }, dir, "touch tally-%s.mem", api->instance(s));
			make_host_tally(api, s, BUILDBEAT_TALLY_ACTIVE);
			tally(make_host_location(api, 1), n);
			if (!i)
				api->close(s);
			for (;;)
				pause();
		}
		support_wait_until(all_are_read, &expected[i], "tallies of the hosts");
	}
	for (int i = 0; i < 3; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
}

#define FULL_RUNS 5000

/* A host whose image does not fit, and that is killed: what there was no room for is counted. */
static int on_a_full_disk(const char *size)
{
	struct tally_table t = TALLY_TABLE_INIT;
	char base[PATH_MAX];
	int status = 0;
	uint64_t n;
	pid_t pid;

	snprintf(base, sizeof base, "%s/recordings", support_tmpdir());
	SKIP_PROGRAM_IF(unshare(CLONE_NEWNS) ||
		mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) || mkdir(base, 0700) ||
		mount("none", base, "tmpfs", 0, size));
	pid = fork();
	if (!pid) {
		struct buildbeat_session *s = make_host_open(api, dir, 0);

		make_host_tally(api, s, BUILDBEAT_TALLY_ACTIVE);
		for (int i = 0; i < FULL_RUNS; i++)
			tally(make_host_location(api, i), 1);
		api->tally_phase(s, "end");
		raise(SIGKILL);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		return 2;
	if (tally_read(&t, dir, -1, INT64_MAX, NULL, NULL))
		return 3;
	n = counted(&t) + (t.n_processes == 1 ? t.process[0].n_lost : 0);
	tally_release(&t);
	return n == FULL_RUNS ? 0 : 4;
}

static const char *const disk_sizes[] = { "size=240k", "size=400k", "size=700k", "size=20m" };

TEST_EACH(full_disk, disk_sizes)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid)
		_exit(on_a_full_disk(disk_sizes[_i]));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	/* 77: not allowed to mount */
	ck_assert(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77);
}

/* Any damage to the file: the reader ends well. */
TEST_LOOP(damaged_file, 4)
{
	uint64_t state = (uint64_t)_i + 1;
	char path[PATH_MAX];
	int status = 0;
	RELEASED(buf, image);
	pid_t pid = fork();

	if (!pid) {
		struct buildbeat_session *s = make_host_open(api, dir, 0);

		make_host_tally(api, s, BUILDBEAT_TALLY_ACTIVE);
		for (int i = 1; i < 200; i++)
			tally(make_host_location(api, i), 1);
		raise(SIGKILL);
	}
	waitpid(pid, &status, 0);
	support_run(&(struct run){ 0 }, dir, "mv tally-*.mem a.mem; cp a.mem b; chmod 600 b");
	snprintf(path, sizeof path, "%s/a.mem", dir);
	support_read(&image, path);
	for (int i = 0; i < 60; i++) {
		struct tally_table t = TALLY_TABLE_INIT;
		char name[INSTANCE_ID_MAX];

		snprintf(name, sizeof name, "%s", image.data + offsetof(struct tally_head, inst));
		for (int k = 0; k < 8; k++)
			image.data[sizeof(struct tally_head) * (k > 0) + random_below(&state,
				image.len - sizeof(struct tally_head))] = (char)random_below(&state, 256);
		memcpy(image.data, TALLY_MAGIC, sizeof TALLY_MAGIC);
		memcpy(image.data + offsetof(struct tally_head, inst), name, sizeof name);
		snprintf(path, sizeof path, "%s/tally-%s.mem", dir, name);
		support_write(path, image.data, i % 3 ? image.len : random_below(&state, image.len));
		ck_assert_int_eq(tally_read(&t, dir, -1, INT64_MAX, NULL, NULL), 0);
		tally_release(&t);
	}
}

/* Removed when tally.log has all of it. */
TEST(closed)
{
	struct tally_table t = TALLY_TABLE_INIT;
	struct buildbeat_session *s = make_host_open(api, dir, 0);

	make_host_tally(api, s, BUILDBEAT_TALLY_ACTIVE);
	tally(make_host_location(api, 1), 10);
	ck_assert_uint_eq(n_images(), 1);
	api->close(s);
	ck_assert_uint_eq(n_images(), 0);
	ck_assert_int_eq(tally_read(&t, dir, -1, INT64_MAX, NULL, NULL), 0);
	ck_assert_uint_eq(counted(&t), 10);
	ck_assert(!t.process[0].unfinished);
	tally_release(&t);
	/* a second session of the process has no file, and says so */
	s = make_host_open(api, dir, 0);
	make_host_tally(api, s, BUILDBEAT_TALLY_ACTIVE);
	tally(make_host_location(api, 1), 1);
	ck_assert_uint_eq(n_images(), 0);
	support_expect(dir, 0, "1\n", "", "grep -c '^host.*\tmemory$' tally.log");
	api->close(s);
	ck_assert_int_eq(tally_read(&t, dir, -1, INT64_MAX, NULL, NULL), 0);
	ck_assert_uint_eq(counted(&t), 11);
	ck_assert(!t.process[1].unfinished);
	tally_release(&t);
}

TEST_MAIN(tally_image);
