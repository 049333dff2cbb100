/* SPDX-License-Identifier: MIT */
/* Background tasks, with real children. */
#include "base/file.h"
#include "convert/json_reader.h"
#include "live/job.h"
#include "tests/hostile.h"
#include "tests/support.h"

#include <poll.h>
#include <sched.h>
#include <sys/mount.h>

static struct catalogue catalogue;
static struct jobs *jobs;
static struct json_document doc;

/* The programs run this script; a recording with a name that a shell would not like. */
#define RECORDING "a b;$(touch hacked)'\"\n--output=x"

static void begin_with(const char *script)
{
	const char *dir = support_tmpdir();
	struct error err = { .message = "" };

	setenv("XDG_RUNTIME_DIR", support_path("%s/run", dir), 1);
	ck_assert(!mkdir(support_path("%s/run", dir), 0700));
	ck_assert(!mkdir(support_path("%s/stats", dir), 0755));
	ck_assert(!mkdir(support_path("%s/stats/" RECORDING, dir), 0755));
	support_writes(support_path("%s/stats/" RECORDING "/build", dir),
		       "buildbeat build 1\nstart_wall_ns: 1\nstart_mono_ns: 1\ncwd: /src\nend_us: 2\n");
	support_writes(support_path("%s/stats/" RECORDING "/tasks.log", dir), "buildbeat tasks 1\n");
	support_writes(support_path("%s/tool", dir), script);
	ck_assert(!chmod(support_path("%s/tool", dir), 0755));
	ck_assert_msg(!catalogue_open(&catalogue, support_path("%s/stats", dir), &err), "%s", err.message);
	ck_assert(!job_new(&jobs, support_path("%s/tool", dir), support_path("%s/tool", dir)));
}

static void end(void)
{
	job_free(jobs);
	jobs = NULL;
	catalogue_release(&catalogue);
	if (doc.root)
		json_document_release(&doc);
	doc.root = NULL;
	unsetenv("XDG_RUNTIME_DIR");
	support_cleanup();
}

static unsigned post(const char *body)
{
	struct error err = { .message = "" };
	unsigned id = 0;

	ck_assert_msg(!job_post(jobs, &catalogue, body, strlen(body), &id, &err), "%s", err.message);
	return id;
}

static const struct json_value *get(unsigned id)
{
	struct buf text = BUF_INIT;
	struct error err;
	struct json j;

	json_init(&j, &text, true);
	ck_assert(!job_get(jobs, id, &j, &err));
	if (doc.root)
		json_document_release(&doc);
	ck_assert(!json_read_text(&doc, text.data, text.len, NULL, 1, &err));
	buf_release(&text);
	return doc.root;
}

static bool has_ended(void *id)
{
	return strcmp(json_member_text(get(*(unsigned *)id), "state"), "running") != 0;
}

static const struct json_value *wait_for(unsigned id)
{
	support_wait_until(has_ended, &id, "a task ends");
	return doc.root;
}

static void ends_as(unsigned id, const char *state, const char *message)
{
	const struct json_value *root = wait_for(id);

	ck_assert_str_eq(json_member_text(root, "state"), state);
	ck_assert_str_eq(json_member_text(root, "message"), message);
	ck_assert_int_eq(json_member_number(root, "percent", 0, -1), 100);
}

/* A chart is the simplest task. */
#define CHART "{\"do\":\"chart\"}"

static bool is_there(void *path)
{
	return support_exists(path);
}

/* The number that a child wrote into a file of its task's directory. */
static pid_t child_of(const char *file)
{
	char path[256];

	snprintf(path, sizeof path, "%s/%s", support_tmpdir(), file);
	support_wait_until(is_there, path, "a child runs");
	return atoi(support_text(path));
}

static bool is_gone(void *pid)
{
	return kill(*(pid_t *)pid, 0) && errno == ESRCH;
}

/* What a request asks for */

TEST_GROUP_WITH("job", NULL, end);

TEST(bad_requests)
{
	static const struct { const char *body, *message; } rows[] = {
		{ "", "" }, { "[]", "\"do\"" }, { "7", "\"do\"" }, { "{}", "\"do\"" },
		{ "{\"do\":\"rm\"}", "one of inspect, chart, report, stack" },
		{ "{\"do\":7}", "one of" }, { "{\"do\":\"chart\\u0000\"}", "one of" },
		{ "{\"do\":\"chart\",\"format\":\"term\"}", "one of svg, png, pdf" },
		{ "{\"do\":\"chart\",\"chart\":\"--keep\"}", "one of cpu" },
		{ "{\"do\":\"chart\",\"chart\":\"bootchart\",\"format\":\"png\"}", "always SVG" },
		{ "{\"do\":\"chart\",\"rec\":\"../x\"}", "no such recording" },
		{ "{\"do\":\"chart\",\"rec\":7}", "the id of a recording" },
		{ "{\"do\":\"inspect\"}", "\"pid\"" },
		{ "{\"do\":\"inspect\",\"pid\":1}", "\"start\"" },
		{ "{\"do\":\"inspect\",\"pid\":\"1;ls\",\"start\":1}", "\"pid\"" },
		{ "{\"do\":\"inspect\",\"pid\":-4,\"start\":1}", "\"pid\"" },
		{ "{\"do\":\"inspect\",\"pid\":1e300,\"start\":1}", "\"pid\"" },
		{ "{\"do\":\"inspect\",\"pid\":1,\"start\":123456789012}", "process 1 has ended" },
		{ "{\"do\":\"inspect\",\"pid\":0,\"start\":1}", "\"pid\"" },
		{ "{\"do\":\"inspect\",\"follow\":7}", "\"follow\"" },
		{ "{\"do\":\"inspect\",\"follow\":\"\"}", "\"pid\"" },
		{ "{\"do\":\"inspect\",\"follow\":\"cc1,heap\"}", "file name of a program" },
		{ "{\"do\":\"inspect\",\"follow\":\"/bin/sh\"}", "file name of a program" },
		{ "{\"do\":\"inspect\",\"follow\":\"a\\nb\"}", "\"follow\"" },
		{ "{\"do\":\"stack\",\"pid\":99999999,\"start\":1}", "has ended" },
		{ "{\"do\":\"report\"}", "made of an archive" },
		{ "{\"do\":\"ack\"}", "only an archive" },
		{ "{\"do\":\"accept\",\"reason\":\"a\\nb\"}", "\"reason\" must be a line" },
		{ "{\"do\":\"accept\",\"task\":7}", "\"task\" must be a line" },
		{ "{\"do\":\"chart\"} x", "" },
	};
	struct error err = { .message = "" };
	unsigned id = 0;
	int r;

	begin_with("#!/bin/sh\n");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		r = job_post(jobs, &catalogue, rows[i].body, strlen(rows[i].body), &id, &err);
		ck_assert_msg(r == -EINVAL || r == -ESTALE, "%s: %d", rows[i].body, r);
		ck_assert_msg(strstr(err.message, rows[i].message) && *err.message, "%s: %s",
			      rows[i].body, err.message);
	}
	ck_assert_uint_eq(id, 0);
}

/* Each argument is one word, whatever is in it, and nothing is a shell's. */
TEST(arguments)
{
	struct reply out = { .status = 200 };
	struct error err;
	struct buf expected = BUF_INIT;
	unsigned id;

	begin_with("#!/bin/sh\nfor word; do printf '%s\\0' \"$word\"; done >cpu.svg\n"
		   "test -z \"$(ls /proc/self/fd | grep -v '^[0-3]$')\" || exit 9\n");
	id = post(CHART);
	ends_as(id, "done", "Done.");
	ck_assert(!job_result(jobs, id, &out, &err));
	ck_assert_str_eq(out.type, "image/svg+xml");
	static const char words[] = "chart\0--only=cpu\0--format=svg\0--output=.\0--";
	buf_add(&expected, words, sizeof words);
	buf_addf(&expected, "%s/stats/%s", support_tmpdir(), RECORDING);
	buf_addc(&expected, '\0');
	ck_assert_uint_eq(out.body.len, expected.len);
	ck_assert(!memcmp(out.body.data, expected.data, expected.len));
	buf_release(&expected);
	buf_release(&out.body);
}

/* Progress */

TEST(progress)
{
	static const struct { unsigned percent; const char *message; } rows[] = {
		{ 1, "Started." }, { 1, "note" }, { 20, "Dumped" }, { 20, "back" }, { 99, "nearly" },
		{ 100, "Done." },
	};
	const struct json_value *line;
	unsigned id;

	begin_with("#!/bin/sh\nprintf 'note\\n 20 %%  Dumped\\n  7 %%  back\\n100 %%  nearly\\n"
		   "truncated' >&2\n");
	id = post(CHART);
	line = json_member(wait_for(id), "progress")->first;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++, line = line->next) {
		int64_t percent;

		ck_assert_ptr_nonnull(line);
		ck_assert(json_number(line->first, 0, &percent));
		ck_assert_int_eq(percent, rows[i].percent);
		ck_assert_str_eq(json_text(line->first->next), rows[i].message);
	}
	ck_assert_ptr_null(line);
}

TEST_LOOP(failures, 3)
{
	static const struct { const char *script, *message; } rows[] = {
		{ "exit 3", "Failed with code 3." }, { "kill -9 $$", "Failed: killed by signal 9." },
		{ "kill -11 $$", "Failed: killed by signal 11." },
	};
	struct reply out = { .status = 200 };
	struct error err;
	char script[80];
	unsigned id;

	snprintf(script, sizeof script, "#!/bin/sh\n%s\n", rows[_i].script);
	begin_with(script);
	id = post(CHART);
	ends_as(id, "failed", rows[_i].message);
	ck_assert_int_eq(job_result(jobs, id, &out, &err), -ENOENT);
}

TEST(missing_program)
{
	begin_with("#!/nowhere/sh\n");
	ends_as(post(CHART), "failed", "Failed with code 127.");
}

/* Ending */

static void begin_sleeping(void)
{
	char script[PATH_MAX];

	snprintf(script, sizeof script, "#!/bin/sh\ncd '%s'\nsleep 1000 &\necho $! >i; mv i inner\n"
		 "echo $$ >o; mv o outer\nwait\n", support_tmpdir());
	begin_with(script);
}

TEST(cancelled)
{
	struct error err;
	unsigned id;
	pid_t inner, outer;
	struct json j;
	RELEASED(buf, text = BUF_INIT);

	begin_sleeping();
	id = post(CHART);
	outer = child_of("outer");
	inner = child_of("inner");
	ck_assert(!job_delete(jobs, id, &err));
	ends_as(id, "cancelled", "Cancelled.");
	support_wait_until(is_gone, &outer, "the child ends");
	support_wait_until(is_gone, &inner, "the child's child ends");
	/* the second time it is forgotten */
	ck_assert(!job_delete(jobs, id, &err));
	json_init(&j, &text, true);
	ck_assert_int_eq(job_get(jobs, id, &j, &err), -ESTALE);
	ck_assert_int_eq(job_delete(jobs, id, &err), -ESTALE);
}

TEST(unknown)
{
	struct reply out = { .status = 200 };
	struct error err;

	begin_with("#!/bin/sh\n");
	ck_assert_int_eq(job_result(jobs, 1, &out, &err), -ESTALE);
	ck_assert_int_eq(job_delete(jobs, 7, &err), -ESTALE);
	ck_assert(!job_delete(jobs, 0, &err));
}

TEST(not_too_many)
{
	struct error err;
	unsigned id[JOB_RUNNING_MAX], more;

	begin_sleeping();
	for (size_t i = 0; i < JOB_RUNNING_MAX; i++)
		id[i] = post(CHART);
	ck_assert_int_eq(job_post(jobs, &catalogue, CHART, strlen(CHART), &more, &err), -EBUSY);
	ck_assert(!job_delete(jobs, 0, &err));
	for (size_t i = 0; i < JOB_RUNNING_MAX; i++)
		ends_as(id[i], "cancelled", "Cancelled.");
	post(CHART);
}

TEST(few_are_kept)
{
	struct error err;
	struct json j;
	RELEASED(buf, text = BUF_INIT);
	unsigned id = 0;

	begin_with("#!/bin/sh\n");
	for (int i = 0; i < JOB_KEPT_MAX + 3; i++) {
		id = post(CHART);
		wait_for(id);
	}
	json_init(&j, &text, true);
	ck_assert_int_eq(job_get(jobs, 1, &j, &err), -ESTALE);
	ck_assert_int_eq(job_get(jobs, id, &j, &err), 0);
}

/* The descriptor wakes the server, so a child is not a zombie until somebody asks. */
TEST(reaped)
{
	struct pollfd poll_fd;
	siginfo_t info;

	begin_with("#!/bin/sh\n");
	post(CHART);
	while (!waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT)) {
		poll_fd = (struct pollfd){ .fd = job_fd(jobs), .events = POLLIN };
		ck_assert_int_eq(poll(&poll_fd, 1, 60000), 1);
		job_run(jobs);
	}
	ck_assert_int_eq(errno, ECHILD);
	/* and then it sleeps */
	poll_fd = (struct pollfd){ .fd = job_fd(jobs), .events = POLLIN };
	ck_assert_int_eq(poll(&poll_fd, 1, 500), 0);
}

static bool is_empty(void *path)
{
	return !rmdir(path);
}

TEST(exit_ends_all)
{
	char run[PATH_MAX];
	pid_t inner, outer;

	begin_sleeping();
	post(CHART);
	outer = child_of("outer");
	inner = child_of("inner");
	job_free(jobs);
	jobs = NULL;
	ck_assert(is_gone(&outer));
	support_wait_until(is_gone, &inner, "the child's child ends");
	snprintf(run, sizeof run, "%s/run", support_tmpdir());
	ck_assert(is_empty(run));
}

/* A server that is killed ends its children, and the next one removes what it left. */
TEST(killed_server)
{
	struct timespec old[2] = { { 1, 0 }, { 1, 0 } };
	pid_t server, child;
	struct run r;
	int status;

	begin_sleeping();
	server = fork();
	if (!server) {
		post(CHART);
		pause();
		_exit(0);
	}
	child = child_of("outer");
	kill(server, SIGKILL);
	ck_assert_int_eq(waitpid(server, &status, 0), server);
	support_wait_until(is_gone, &child, "the child ends");
	support_run(&r, support_tmpdir(), "ls -d run/buildbeat-serve.*");
	ck_assert_int_eq(r.status, 0);
	*strchr(r.out.data, '\n') = '\0';
	ck_assert(!utimensat(AT_FDCWD, support_path("%s/%s", support_tmpdir(), r.out.data), old, 0));
	post(CHART);
	ck_assert(!support_exists(support_path("%s/%s", support_tmpdir(), r.out.data)));
}

/* A full disk */
TEST(full_disk)
{
	struct error err = { .message = "" };
	unsigned id;
	int fd, r;

	begin_with("#!/bin/sh\necho 50 % >&2\necho text >cpu.svg || exit 4\n");
	SKIP_IF(unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		mount("none", getenv("XDG_RUNTIME_DIR"), "tmpfs", 0, "size=4k,nr_inodes=20,mode=0700"));
	fd = open(support_path("%s/run/full", support_tmpdir()), O_WRONLY | O_CREAT, 0600);
	while (write(fd, "x", 1) == 1)
		;
	close(fd);
	r = job_post(jobs, &catalogue, CHART, strlen(CHART), &id, &err);
	if (r)
		ck_assert(strstr(err.message, "No space"));
	else
		ends_as(id, "failed", "Failed with code 4.");
	job_free(jobs);
	jobs = NULL;
	umount2(getenv("XDG_RUNTIME_DIR"), MNT_DETACH);
}

/* The real programs */

static int64_t start_of(pid_t pid)
{
	char path[64];
	const char *p;
	int64_t start = 0;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	p = strrchr(support_text(path), ')');
	for (int i = 0; i < 20; i++)
		p = strchr(p + 1, ' ');
	sscanf(p, "%lld", (long long *)&start);
	return start;
}

static void begin_real(void)
{
	begin_with("#!/bin/sh\n");
	job_free(jobs);
	ck_assert(!job_new(&jobs, BUILDBEAT, TOP_BUILDDIR "/symbols/buildbeat-symbols"));
}

TEST(real_inspection)
{
	char body[256], archive[NAME_MAX + 1];
	const struct json_value *root, *line;
	unsigned id;
	pid_t pid;
	bool dumped = false;

	begin_real();
	pid = fork();
	if (!pid) {
		execlp("sleep", "sleep", "1000", NULL);
		_exit(1);
	}
	snprintf(body, sizeof body, "{\"do\":\"inspect\",\"pid\":%d,\"start\":%lld,\"period_s\":0.05,"
		 "\"count\":3}", (int)pid, (long long)start_of(pid));
	id = post(body);
	root = wait_for(id);
	ck_assert_str_eq(json_member_text(root, "state"), "done");
	for (line = json_member(root, "progress")->first; line; line = line->next)
		dumped |= strstr(json_text(line->first->next), "3 of 3") != NULL;
	ck_assert(dumped);
	snprintf(archive, sizeof archive, "%s", json_member_text(root, "archive"));
	ck_assert(*archive);
	ck_assert(support_exists(support_path("%s/stats/" RECORDING "/inspect/%s/archive",
					      support_tmpdir(), archive)));
	/* the process ends before */
	snprintf(body, sizeof body, "{\"do\":\"inspect\",\"pid\":%d,\"start\":%lld,\"period_s\":0.05}",
		 (int)pid, (long long)start_of(pid));
	id = post(body);
	ck_assert_int_ge(json_member_number(get(id), "percent", 0, 0), 1);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ck_assert_str_ne(json_member_text(wait_for(id), "state"), "running");
	ck_assert_int_eq(json_member_number(doc.root, "percent", 0, -1), 100);
}

TEST_MAIN(job);
