/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/clock.h"
#include "command/redact.h"
#include "recording/event.h"
#include "recording/layout.h"
#include "recording/recording.h"
#include "recording/store.h"
#include "recording/store_create.h"
#include "recording/store_join.h"
#include "tests/recorded.h"
#include "tests/support.h"

#include <limits.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

/* A directory of its own below the temporary one. */
static const char *fresh(const char *name)
{
	static char path[2048];

	snprintf(path, sizeof path, "%s/%s", support_tmpdir(), name);
	return path;
}

static void append_task(struct store *s, uint64_t seq, const char *name)
{
	struct event_task t = { -1, false, -1, NULL, name, NULL, NULL };
	RELEASED(buf, b = BUF_INIT);

	event_add_start(&b, store_now_us(s), s->inst, seq, &t);
	store_append(s, &b);
	ck_assert_uint_eq(b.len, 0);
}

static size_t tasks_in(const char *path)
{
	struct recording rec = RECORDING_INIT;
	struct error err;
	size_t n;

	ck_assert_msg(recording_read(&rec, path, NULL, &err) == 0, "%s", err.message);
	n = rec.n_tasks;
	recording_release(&rec);
	return n;
}

static const char *const paths[] = {
	"plain", "with blanks  two", "100%", "%20", "caf\xc3\xa9", "new\nline", "tab\there",
	"\xff\xfe", "quote'\"", "a/deep/er", "-dash", "#hash", "$dollar", "back\\slash",
};

TEST_GROUP("store");

/* Created, joined by directory, by ticket and by environment; all write the same file. */
TEST_EACH(odd_paths, paths)
{
	struct store s, by_dir, by_ticket;
	struct error err = { 0 };
	RELEASED(buf, line = BUF_INIT);
	const char *base = fresh(paths[_i]);
	const char *ticket;

	ck_assert_msg(store_create(&s, base, "rec", &err) == 0, "%s", err.message);
	ck_assert_str_eq(s.path + strlen(s.path) - 4, "/rec");
	ck_assert_int_eq(store_join_dir(&by_dir, s.path, &err), 0);
	ck_assert_int_eq(by_dir.start_ns, s.start_ns);
	ck_assert_str_eq(by_dir.path, s.path);
	s.flags = STORE_TASK_IO;
	store_add_ticket_line(&line, &s);
	ck_assert_ptr_eq(strstr(line.data, "\n# pids "), strchr(line.data, 10));
	ck_assert_uint_eq(by_dir.pidspace, s.pidspace);
	ck_assert(!by_dir.inner);
	ticket = support_path("%s/buildbeat.mk", support_tmpdir());
	support_write(ticket, line.data, line.len);
	ck_assert_int_eq(store_join_ticket(&by_ticket, ticket), 0);
	ck_assert_str_eq(by_ticket.path, s.path);
	ck_assert_int_eq(by_ticket.start_ns, s.start_ns);
	ck_assert_uint_eq(by_ticket.flags, STORE_TASK_IO);
	ck_assert_uint_eq(by_ticket.pidspace, s.pidspace);
	append_task(&s, 1, "one");
	append_task(&by_dir, 2, "two");
	append_task(&by_ticket, 3, "three");
	ck_assert_uint_eq(tasks_in(s.path), 3);
	store_close(&by_ticket);
	setenv("MAKEFILES", support_path("%s other.mk", ticket), 1);
	ck_assert_int_eq(store_join_env(&by_ticket), 0);
	ck_assert_str_eq(by_ticket.path, s.path);
	store_close(&by_ticket);
	store_close(&by_dir);
	store_close(&s);
	ck_assert_int_eq(s.tasks_fd, -1);
}

TEST(names)
{
	struct store s, again;
	struct error err = { 0 };
	char first[PATH_MAX], link[64];
	struct stat st;
	ssize_t n;

	ck_assert_int_eq(store_create(&s, fresh("base"), "rec", &err), 0);
	ck_assert_int_eq(store_create(&again, fresh("base"), "rec", &err), -EEXIST);
	ck_assert_ptr_nonnull(strstr(err.path, "/base/rec"));
	store_close(&s);
	ck_assert_int_eq(store_create(&s, fresh("base"), NULL, &err), 0);
	strcpy(first, s.path);
	store_close(&s);
	/* Usually in the same second: a number is added; otherwise a later time. Never the
	 * same name. */
	ck_assert_int_eq(store_create(&s, fresh("base"), NULL, &err), 0);
	ck_assert_str_ne(s.path, first);
	n = readlink(support_path("%s/latest", fresh("base")), link, sizeof link - 1);
	ck_assert_int_gt(n, 0);
	link[n] = '\0';
	ck_assert_str_eq(strrchr(s.path, '/') + 1, link);
	ck_assert_int_eq(stat(support_path("%s/latest/build", fresh("base")), &st), 0);
	store_close(&s);
	/* A file named latest that is no link stays. */
	ck_assert_int_eq(mkdir(fresh("other"), 0777), 0);
	ck_assert_int_eq(mkdir(support_path("%s/latest", fresh("other")), 0777), 0);
	ck_assert_int_eq(store_create(&s, fresh("other"), "rec", &err), 0);
	ck_assert_int_eq(lstat(support_path("%s/latest", fresh("other")), &st), 0);
	ck_assert(S_ISDIR(st.st_mode));
	store_close(&s);
}

/* A relative base is below the working directory, and is reported as absolute. */
TEST(relative)
{
	struct store s;

	ck_assert_int_eq(chdir(support_tmpdir()), 0);
	ck_assert_int_eq(store_create(&s, NULL, "rec", NULL), 0);
	ck_assert_str_eq(s.path, support_path("%s/buildstats/rec", support_tmpdir()));
	store_close(&s);
	ck_assert_int_eq(chdir("/"), 0);
}

TEST(cannot_create)
{
	struct store s;
	struct error err = { 0 };
	char path[3 * PATH_MAX];

	support_writes(fresh("file"), "x");
	ck_assert_int_eq(store_create(&s, fresh("file"), "rec", &err), -ENOTDIR);
	ck_assert_int_eq(store_create(&s, "/proc/nowhere", "rec", &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.path, "/proc/nowhere"));
	memset(path, 'x', sizeof path - 1);
	path[0] = '/';
	path[sizeof path - 1] = '\0';
	ck_assert_int_eq(store_create(&s, path, "rec", &err), -ENAMETOOLONG);
	ck_assert_int_eq(store_join_dir(&s, fresh("nothing"), &err), -ENOENT);
	ck_assert_int_eq(mkdir(fresh("empty"), 0777), 0);
	ck_assert_int_eq(store_join_dir(&s, fresh("empty"), &err), -ENOENT);
	support_writes(support_path("%s/build", fresh("empty")), "buildbeat build 1\nstart_mono_ns: x\n");
	ck_assert_int_eq(store_join_dir(&s, fresh("empty"), &err), -EINVAL);
	SKIP_IF(geteuid() == 0);
	ck_assert_int_eq(mkdir(fresh("sealed"), 0555), 0);
	ck_assert_int_eq(store_create(&s, fresh("sealed"), "rec", &err), -EACCES);
	ck_assert_str_eq(err.message, "cannot make the recording: Permission denied");
}

static const char *const tickets[] = {
	"", "# buildbeat ticket 1 5 0 /tmp", "# buildbeat ticket 2 5 0 /tmp\n",
	"# buildbeat ticket 1 x 0 /tmp\n", "# buildbeat ticket 1 5 0 tmp\n",
	"# buildbeat ticket 1 5 0 /tmp%0\n", "# buildbeat ticket 1 5 0 /tmp%00\n",
	"# buildbeat ticket 1 5 0 /tmp%zz\n", "# buildbeat ticket 1 5 0 \n", "\0\1\2", "include x\n",
};

TEST_EACH(bad_tickets, tickets)
{
	struct store s;
	const char *ticket = support_path("%s/buildbeat.mk", support_tmpdir());

	support_writes(ticket, tickets[_i]);
	ck_assert_int_eq(store_join_ticket(&s, ticket), -EINVAL);
	ck_assert_int_eq(s.tasks_fd, -1);
}

TEST(no_ticket)
{
	static const struct { const char *makefiles; size_t len; } cases[] = {
		{ "/x/buildbeat.mk", 15 }, { "/x/buildbeat.mk a.mk", 15 }, { "a.mk /x/buildbeat.mk", 0 },
		{ "", 0 }, { " /x/buildbeat.mk", 0 }, { "buildbeat.mk", 0 }, { "/xbuildbeat.mk", 0 },
		{ "/x/buildbeat.mk.old", 0 },
	};
	struct store s;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t len = 0;
		const char *found = store_ticket_path(cases[i].makefiles, &len);

		ck_assert_msg(!found == !cases[i].len && len == cases[i].len, "%s", cases[i].makefiles);
	}
	ck_assert_ptr_null(store_ticket_path(NULL, NULL));
	unsetenv("MAKEFILES");
	ck_assert_int_eq(store_join_env(&s), -ENOENT);
	setenv("MAKEFILES", "/nonexistent/buildbeat.mk", 1);
	ck_assert_int_eq(store_join_env(&s), -ENOENT);
}

static rlim_t set_limit(int what, rlim_t to)
{
	struct rlimit limit;
	rlim_t before;

	ck_assert(!getrlimit(what, &limit));
	before = limit.rlim_cur;
	limit.rlim_cur = to;
	ck_assert(!setrlimit(what, &limit));
	return before;
}

/* 40 or more if possible, lower otherwise; always close-on-exec. */
TEST_LOOP(descriptors, 4)
{
	static const struct { rlim_t limit; int floor; } cases[] = {
		{ 256, 40 }, { 64, 40 }, { 32, 10 }, { 10, 3 },
	};
	struct store s;
	struct error err;
	rlim_t before;
	int r;

	ck_assert_int_eq(mkdir(fresh("b"), 0777), 0);
	for (int fd = 3; fd < 20; fd++)
		close(fd);
	before = set_limit(RLIMIT_NOFILE, cases[_i].limit);
	r = store_create(&s, fresh("b"), "rec", &err);
	ck_assert_msg(r == 0, "%s", err.message);
	ck_assert_int_ge(s.tasks_fd, cases[_i].floor);
	ck_assert_int_ge(s.dir_fd, cases[_i].floor);
	ck_assert(fcntl(s.tasks_fd, F_GETFD) & FD_CLOEXEC);
	ck_assert(fcntl(s.dir_fd, F_GETFD) & FD_CLOEXEC);
	append_task(&s, 1, "one");
	ck_assert_int_eq(s.error, 0);
	store_close(&s);
	set_limit(RLIMIT_NOFILE, before);
}

/* No free descriptor: an error, and no open file. */
TEST(no_descriptors)
{
	struct store s;
	struct error err;
	rlim_t before;

	for (int fd = 3; fd < 20; fd++)
		close(fd);
	support_tmpdir();
	before = set_limit(RLIMIT_NOFILE, 4);
	ck_assert_int_eq(store_create(&s, fresh("b"), "rec", &err), -EMFILE);
	ck_assert_int_eq(s.tasks_fd, -1);
	ck_assert_int_eq(s.dir_fd, -1);
	set_limit(RLIMIT_NOFILE, before);
}

/* The directory is removed during the build: writing does no harm. */
TEST(removed)
{
	struct store s;
	struct buf b = BUF_INIT;
	struct run run;

	ck_assert_int_eq(store_create(&s, fresh("b"), "rec", NULL), 0);
	support_run(&run, NULL, "rm -rf '%s'", s.path);
	append_task(&s, 1, "one");
	store_add_build(&b, "status", "0");
	ck_assert_int_eq(store_append_build(&s, &b), -ENOENT);
	buf_release(&b);
	store_close(&s);
}

/* A full disk: earlier lines are readable, lost ones counted. In a mount namespace, so that
 * nothing is left behind. */
TEST(disk_full)
{
	struct lost lost;
	struct store s;
	size_t n;

	SKIP_IF(unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		mkdir(fresh("tiny"), 0777) || mount("none", fresh("tiny"), "tmpfs", 0, "size=64k"));
	ck_assert_int_eq(store_create(&s, fresh("tiny"), "rec", NULL), 0);
	for (uint64_t i = 1; i <= 5000; i++)
		append_task(&s, i, "a name to fill the disk with, line by line, until no more fits");
	ck_assert_int_eq(s.error, 0);
	ck_assert_int_eq(store_error(&s), -ENOSPC);
	n = tasks_in(s.path);
	ck_assert_uint_gt(n, 100);
	ck_assert_uint_lt(n, 5000);
	store_tell_lost(&s);
	ck_assert_int_eq(lost_read(&lost, s.dir_fd), 0);
	ck_assert_uint_eq(n + lost.tasks, 5000);
	store_close(&s);
	ck_assert_int_eq(store_create(&s, fresh("tiny"), "none", NULL), -ENOSPC);
	ck_assert_int_eq(access(fresh("tiny/none"), F_OK), -1);
	ck_assert_int_eq(access(fresh("tiny/rec/build"), F_OK), 0);
	ck_assert_int_eq(umount(fresh("tiny")), 0);
}

/* Of several lines at once, those that fit stay, and each of the others is counted. */
TEST(part_of_lines_fits)
{
	struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY }, limit = { 1 << 30, RLIM_INFINITY };
	struct event_task t = { -1, false, -1, NULL, "task", NULL, NULL };
	RELEASED(recording, rec = RECORDING_INIT);
	RELEASED(buf, b = BUF_INIT);
	struct store s;
	struct stat st;

	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_eq(store_create(&s, fresh("limited"), "rec", NULL), 0);
	ck_assert_int_eq(fstat(s.tasks_fd, &st), 0);
	for (uint64_t i = 1; i <= 9; i++) {
		event_add_start(&b, store_now_us(&s), s.inst, i, &t);
		if (i == 2)
			limit.rlim_cur = (rlim_t)st.st_size + b.len + 3;
	}
	setrlimit(RLIMIT_FSIZE, &limit);
	store_append(&s, &b);
	setrlimit(RLIMIT_FSIZE, &all);
	store_close(&s);
	recorded_open(&rec, s.path, NULL);
	ck_assert_uint_eq(rec.n_tasks, 2);
	ck_assert_uint_eq(rec.lost.tasks, 7);
	ck_assert_uint_eq(rec.lost.lines, 7);
	ck_assert_int_eq(rec.lost.reason, -EFBIG);
}

/* A file that reached the limit of the process is an error before a line is lost. */
TEST(file_is_full)
{
	struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY }, limit = { 1 << 30, RLIM_INFINITY };
	int error[2];
	struct store s;
	struct stat st;

	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_eq(store_create(&s, fresh("limited"), "rec", NULL), 0);
	append_task(&s, 1, "one");
	ck_assert_int_eq(fstat(s.tasks_fd, &st), 0);
	/* Check writes to a file, too */
	for (rlim_t more = 0; more < 2; more++) {
		limit.rlim_cur = (rlim_t)st.st_size + more;
		setrlimit(RLIMIT_FSIZE, &limit);
		error[more] = store_error(&s);
		setrlimit(RLIMIT_FSIZE, &all);
	}
	ck_assert_int_eq(error[0], -EFBIG);
	ck_assert_int_eq(error[1], 0);
	store_close(&s);
}

TEST(base_is_made)
{
	struct error err = { 0 };
	struct stat st;

	umask(077);
	ck_assert_int_eq(store_make_base("", STORE_ACCESS_USER, &err), 0);
	ck_assert_int_eq(store_make_base(fresh("a/b"), STORE_ACCESS_GROUP, &err), 0);
	ck_assert_int_eq(stat(fresh("a/b"), &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0750);
	ck_assert_int_eq(store_make_base(fresh("a/b"), STORE_ACCESS_ALL, &err), 0);
	support_writes(fresh("file"), "");
	ck_assert_int_lt(store_make_base(fresh("file/b"), STORE_ACCESS_USER, &err), 0);
}

/* The patterns for secrets are in the recording, for the processes that join it. */
TEST(patterns_are_kept)
{
	static const char *const pattern[] = { "zebra*" };
	struct store s;

	ck_assert_int_eq(store_create(&s, fresh("plain"), "rec", NULL), 0);
	ck_assert_ptr_null(strstr(support_text(support_path("%s/build", s.path)), "redact"));
	store_close(&s);
	redact_set(pattern, 1);
	ck_assert_int_eq(store_create(&s, fresh("own"), "rec", NULL), 0);
	ck_assert_ptr_nonnull(strstr(support_text(support_path("%s/build", s.path)),
				     "\nredact: zebra*\n"));
	store_close(&s);
}

/* The names in the base, where a failed beginning could leave files. */
static void list(struct buf *b, const char *dir)
{
	struct run run;

	support_run(&run, NULL, "cd '%s' && ls -A && readlink latest && ls latest/", dir);
	ck_assert_msg(!run.status, "%s", run.err.data);
	buf_init(b);
	buf_add(b, run.out.data, run.out.len);
}

static const struct { int what; rlim_t limit; int r; } failures[] = {
	{ RLIMIT_FSIZE, 0, -EFBIG },		/* the first byte of build */
	{ RLIMIT_FSIZE, 30, -EFBIG },		/* in its middle */
	{ RLIMIT_NOFILE, 3, -EMFILE },		/* the directory */
	{ RLIMIT_NOFILE, 4, -EMFILE },		/* tasks.log */
	{ RLIMIT_NOFILE, 5, -EMFILE },		/* build */
};

/* No step of a beginning leaves half a recording, and latest is still the recording before. */
TEST_EACH(nothing_left, failures)
{
	RELEASED(buf, before, after);
	struct error err = { 0 };
	struct store s;
	rlim_t limit;

	for (int fd = 3; fd < 20; fd++)
		close(fd);
	ck_assert_int_eq(store_create(&s, fresh("base"), "good", &err), 0);
	store_close(&s);
	list(&before, fresh("base"));
	limit = set_limit(failures[_i].what, failures[_i].limit);
	ck_assert_int_eq(store_create(&s, fresh("base"), "bad", &err), failures[_i].r);
	set_limit(failures[_i].what, limit);
	ck_assert_ptr_nonnull(strstr(err.path, "/base/bad"));
	list(&after, fresh("base"));
	ck_assert_str_eq(buf_str(&after), buf_str(&before));
}

/* latest names a recording once it has begun, not once its directory exists. */
/* A line that did not fit into its buffer is lost, and no other one. */
static const struct { const char *before; uint64_t lines, tasks; } too_long[] = {
	{ "", 1, 0 },
	{ "note\t1\ta\tx\n", 2, 0 },
	{ "start\t1\ta.1\n", 2, 1 },
	{ "start\t1\ta.1\t", 1, 1 },
	{ "note\t1\ta\tx\nstart\t1\ta.1\t", 2, 1 },
};

TEST_EACH(line_too_long, too_long)
{
	struct buf said = BUF_INIT, b;
	struct error err;
	struct lost lost;
	struct store s;
	char text[64];

	ck_assert_int_eq(store_create(&s, fresh("base"), "rec", &err), 0);
	append_task(&s, 1, "before");
	buf_init_fixed(&b, text, sizeof text);
	buf_adds(&b, too_long[_i].before);
	buf_adds(&b, "much too long: 0123456789 0123456789 0123456789 0123456789 0123456789\n");
	ck_assert_int_eq(buf_error(&b), -ENOBUFS);
	store_append(&s, &b);
	ck_assert_int_eq(buf_error(&b), 0);
	ck_assert_int_eq(store_error(&s), -ENOBUFS);
	append_task(&s, 2, "after");
	ck_assert_uint_eq(tasks_in(s.path), 2);
	ck_assert_int_eq(lost_read(&lost, s.dir_fd), 0);
	ck_assert_uint_eq(lost.lines, too_long[_i].lines);
	ck_assert_uint_eq(lost.tasks, too_long[_i].tasks);
	ck_assert_int_eq(lost.reason, -ENOBUFS);
	lost_add_text(&said, &lost);
	ck_assert_ptr_nonnull(strstr(buf_str(&said), " lost (a line is too long)"));
	buf_release(&said);
	store_close(&s);
}

/* After an error other than a lack of room, lines are only counted. */
TEST(other_error)
{
	RELEASED(recording, rec = RECORDING_INIT);
	struct lost lost;
	struct error err;
	struct store s;
	int fd;

	ck_assert_int_eq(store_create(&s, fresh("base"), "rec", &err), 0);
	append_task(&s, 1, "before");
	fd = s.tasks_fd;
	s.tasks_fd = open("/dev/null", O_RDONLY);
	for (uint64_t i = 2; i < 12; i++)
		append_task(&s, i, "lost");
	ck_assert_int_eq(store_error(&s), -EBADF);
	ck_assert_int_eq(lost_read(&lost, s.dir_fd), 0);
	ck_assert_uint_eq(lost.tasks, 1);	/* the first is reported at once */
	close(s.tasks_fd);
	s.tasks_fd = fd;
	append_task(&s, 12, "lost");
	store_close(&s);
	recorded_open(&rec, s.path, NULL);
	ck_assert_uint_eq(rec.n_tasks, 1);
	ck_assert_uint_eq(rec.lost.tasks, 11);
	ck_assert_int_eq(rec.lost.reason, -EBADF);
}

TEST(abandoned)
{
	RELEASED(buf, before, after);
	struct error err = { 0 };
	struct store s;

	ck_assert_int_eq(store_create(&s, fresh("base"), "good", &err), 0);
	store_close(&s);
	list(&before, fresh("base"));
	ck_assert_int_eq(store_create_for(&s, STORE_ACCESS_ALL, fresh("base"), "bad", &err), 0);
	append_task(&s, 1, "one");
	store_abandon(&s);
	list(&after, fresh("base"));
	ck_assert_str_eq(buf_str(&after), buf_str(&before));
}

static void take_names(int64_t wall_ns)
{
	RELEASED(buf, b = BUF_INIT);
	size_t len;

	clock_add_name(&b, wall_ns);
	len = b.len;
	for (int i = 1; i < 1000; i++) {
		buf_cut(&b, len);
		if (i > 1)
			buf_addf(&b, "-%d", i);
		ck_assert(!mkdir(buf_str(&b), 0755) || errno == EEXIST);
	}
}

TEST_GROUP("names");

/* All names of a second are taken: an error, not the directory of another. On a slow machine
 * the second may end before: then again. */
TEST(taken)
{
	struct error err = { 0 };
	struct store s;
	struct run run;
	int r = 0;

	ck_assert(!mkdir(fresh("base"), 0755) && !chdir(fresh("base")));
	for (int i = 0; i < 50 && !r; i++) {
		for (int64_t ahead = 0; ahead < 3; ahead++)
			take_names(clock_wall_ns() + ahead * 1000000000);
		r = store_create_for(&s, STORE_ACCESS_USER, fresh("base"), NULL, &err);
		if (!r)
			store_abandon(&s);
	}
	ck_assert_int_eq(r, -EEXIST);
	ck_assert_str_eq(strrchr(err.path, '-'), "-999");
	support_run(&run, NULL, "cd '%s' && find . -type f -o -type l", fresh("base"));
	ck_assert_str_eq(buf_str(&run.out), "");
	ck_assert(!chdir("/"));
}

TEST_MAIN(store);
