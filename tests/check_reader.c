/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/readfile.h"
#include "live/reader_pool.h"
#include "live/reply.h"
#include "live/source.h"
#include "tests/support.h"

#include <dirent.h>
#include <poll.h>

static struct catalogue catalogue;
static struct reader_pool *pool;
static struct reader_limits limits;
static char base[PATH_MAX];

/* A directory with recordings of n tasks: r0, r1 ... */
static void begin(int n_recordings, int n_tasks)
{
	struct error err;

	snprintf(base, sizeof base, "%s", support_tmpdir());
	for (int i = 0; i < n_recordings; i++)
		support_expect(base, 0, NULL, NULL, TOP_BUILDDIR "/tests/gen_recording rec/r%d %d 3 %d",
			       i, n_tasks, i + 1);
	ck_assert_int_eq(catalogue_open(&catalogue, support_path("%s/rec", base), &err), 0);
	if (!limits.readers)
		limits = reader_pool_defaults;
	ck_assert_int_eq(reader_pool_new(&pool, &catalogue, &limits), 0);
}

static void end(void)
{
	reader_pool_free(pool);
	catalogue_release(&catalogue);
}

/* Asking */

struct asked {
	int status;		/* 0: no answer yet */
	int times;
	int order;
	struct buf body;
};

static int n_answers;

static void done(void *context, struct reader_answer *answer)
{
	struct asked *a = context;

	a->status = answer->status;
	a->times++;
	a->order = n_answers++;
	buf_release(&a->body);
	a->body = answer->body;
	buf_init(&answer->body);
}

static void ask(struct asked *a, const char *path, const char *query)
{
	const struct reader_question q = { .path = path, .query = query, .query_len = strlen(query) };

	ck_assert_int_eq(reader_pool_ask(pool, &q, done, a), 0);
}

/* As the loop of a server does, until the condition holds. */
static void run_until(bool (*holds)(void *data), void *data)
{
	int64_t until_ns = clock_mono_ns() + SUPPORT_DEADLINE_S * 1000000000LL;

	while (!holds(data)) {
		struct pollfd p = { .fd = reader_pool_fd(pool), .events = POLLIN };

		ck_assert_int_gt(until_ns, clock_mono_ns());
		if (poll(&p, 1, 1000) > 0)
			reader_pool_run(pool);
	}
}

static bool is_answered(void *data)
{
	return ((struct asked *)data)->status;
}

static int answer(struct asked *a, const char *path, const char *query)
{
	a->status = 0;
	ask(a, path, query);
	run_until(is_answered, a);
	return a->status;
}

/* The readers, found as anybody would: children of this process. One of them, or 0. */
static unsigned n_children;

static pid_t find_child(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	pid_t found = 0;

	n_children = 0;
	while ((entry = readdir(dir))) {
		char stat[512];
		const char *behind;
		int parent = 0;

		if (readfile_start(AT_FDCWD, support_path("/proc/%s/stat", entry->d_name), stat,
				   sizeof stat) <= 0)
			continue;
		behind = strrchr(stat, ')');
		if (behind && sscanf(behind, ") %*c %d", &parent) == 1 && parent == getpid() &&
		    strstr(stat, "(buildbeat-read)") && !strstr(behind, ") Z")) {
			found = (pid_t)atoi(entry->d_name);
			n_children++;
		}
	}
	closedir(dir);
	return found;
}

static bool has_no_reader(void *data)
{
	(void)data;
	return !find_child();
}

static bool has_two_readers(void *data)
{
	(void)data;
	find_child();
	return n_children <= 2;
}

/* Tests */

/* The same bytes as without a process in between, in the order of the questions to each recording. */
TEST(answers)
{
	struct asked a[60] = { { .status = 0 } };
	struct source s;
	struct reply reply;

	begin(3, 50);
	for (int i = 0; i < 60; i++)
		ask(&a[i], "/api/v1/show", support_path("rec=r%d&top=%d", i % 3, 1 + i / 6));
	for (int i = 0; i < 60; i++)
		run_until(is_answered, &a[i]);
	for (int i = 0; i < 60; i++) {
		const char *query = support_path("rec=r%d&top=%d", i % 3, 1 + i / 6);

		ck_assert_int_eq(source_init(&s, &catalogue, support_path("r%d", i % 3)), 0);
		reply_make(&reply, &s, "/api/v1/show", query, strlen(query), false);
		ck_assert_int_eq(a[i].status, 200);
		ck_assert_int_eq(a[i].times, 1);
		ck_assert_str_eq(buf_str(&a[i].body), buf_str(&reply.body));
		ck_assert(i < 3 || a[i].order > a[i - 3].order);
		buf_release(&reply.body);
		source_release(&s);
		buf_release(&a[i].body);
	}
	find_child();
	ck_assert_uint_eq(n_children, 3);
	end();
}

TEST(statuses)
{
	struct asked a = { .status = 0 };
	struct reader_question q = { .path = "/api/v1/show", .query = "x", .query_len = READER_QUERY_MAX + 1 };

	begin(1, 3);
	ck_assert_int_eq(answer(&a, "/none", ""), 404);
	ck_assert_int_eq(answer(&a, "/api/v1/show", "rec=r9"), 404);
	ck_assert_int_eq(answer(&a, "/api/v1/show", "rec=../rec"), 404);
	ck_assert_int_eq(answer(&a, "/api/v1/show", "top=x"), 400);
	ck_assert_int_eq(answer(&a, "/api/v1/show", "top=%"), 400);
	ck_assert_int_eq(reader_pool_ask(pool, &q, done, &a), -E2BIG);
	ck_assert_int_eq(answer(&a, "/api/v1/recordings", ""), 200);
	ck_assert_int_eq(answer(&a, "/api/v1/show", ""), 200);
	buf_release(&a.body);
	end();
}

/* A reader has its socket and nothing else of the server, and default signals. */
TEST(isolated)
{
	struct asked a = { .status = 0 };
	int open_fd = open("/dev/null", O_RDONLY);
	char status[4096];
	const char *line;
	unsigned long long ignored;
	pid_t pid;

	signal(SIGTERM, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	begin(1, 3);
	ck_assert_int_eq(answer(&a, "/api/v1/show", ""), 200);
	pid = find_child();
	ck_assert_int_gt(pid, 0);
	/* beside it, /dev/null and files of its recording */
	support_expect(NULL, ANY_STATUS, " 3 /dev/null 1 socket ", NULL,
		       "cd /proc/%d/fd && for f in *; do readlink $f; done | sed 's/:.*//' | "
		       "grep -v '^%s' | sort | uniq -c | tr -s ' \n' ' '", (int)pid, base);
	ck_assert_int_gt(readfile_start(AT_FDCWD, support_path("/proc/%d/status", (int)pid), status,
					sizeof status), 0);
	ck_assert_ptr_nonnull(strstr(status, "SigBlk:\t0000000000000000\n"));
	line = strstr(status, "SigIgn:");
	ck_assert_ptr_nonnull(line);
	/* SIGINT alone; libc lets nobody change its own two, which whoever started the tests may ignore */
	ignored = strtoull(line + strlen("SigIgn:"), NULL, 16) & ~(3ULL << 31);
	ck_assert_msg(ignored == 1 << (SIGINT - 1), "ignored: %llx", ignored);
	signal(SIGPIPE, SIG_DFL);
	close(open_fd);
	buf_release(&a.body);
	end();
	ck_assert_int_eq(find_child(), 0);
}

/* One that was killed in the middle of a request: an error for that one. */
TEST(crash)
{
	struct asked a = { .status = 0 };
	pid_t pid;

	begin(1, 3);
	ck_assert_int_eq(answer(&a, "/api/v1/show", ""), 200);
	pid = find_child();
	kill(pid, SIGSTOP);
	a.status = 0;
	ask(&a, "/api/v1/show", "top=1");
	while (poll(&(struct pollfd){ reader_pool_fd(pool), POLLIN, 0 }, 1, 50) > 0)
		reader_pool_run(pool);
	ck_assert_int_eq(a.status, 0);
	kill(pid, SIGKILL);
	run_until(is_answered, &a);
	ck_assert_int_eq(a.status, 500);
	ck_assert_ptr_nonnull(strstr(buf_str(&a.body), "has died"));
	ck_assert_int_eq(answer(&a, "/api/v1/show", "top=1"), 200);
	ck_assert_int_ne(find_child(), pid);
	buf_release(&a.body);
	end();
}

/* One that hangs is killed; other recordings are answered meanwhile. */
TEST(hang)
{
	struct asked a = { .status = 0 }, other = { .status = 0 };
	pid_t pid;

	limits = reader_pool_defaults;
	limits.reply_ns = 2000000000;
	begin(2, 3);
	ck_assert_int_eq(answer(&a, "/api/v1/show", "rec=r0"), 200);
	pid = find_child();
	kill(pid, SIGSTOP);
	a.status = 0;
	ask(&a, "/api/v1/show", "rec=r0&top=1");
	ck_assert_int_eq(answer(&other, "/api/v1/show", "rec=r1"), 200);
	run_until(is_answered, &a);
	ck_assert_int_eq(a.status, 503);
	ck_assert_int_eq(answer(&a, "/api/v1/show", "rec=r0&top=1"), 200);
	buf_release(&a.body);
	buf_release(&other.body);
	end();
}

/* A recording that is too large for the memory of a reader. */
TEST(memory)
{
	struct asked a = { .status = 0 };

	SKIP_IF(!reader_pool_defaults.memory);	/* sanitizers */
	limits = reader_pool_defaults;
	limits.memory = 48 << 20;
	begin(1, 60000);
	ck_assert_int_eq(answer(&a, "/api/v1/show", ""), 500);
	ck_assert_int_eq(answer(&a, "/api/v1/recordings", ""), 200);
	buf_release(&a.body);
	end();
}

TEST(deleted)
{
	struct asked a = { .status = 0 };

	begin(2, 3);
	ck_assert_int_eq(answer(&a, "/api/v1/show", "rec=r0"), 200);
	support_expect(base, 0, "", "", "rm -r rec/r0");
	ck_assert_int_eq(answer(&a, "/api/v1/show", "rec=r0"), 410);
	ck_assert_int_eq(answer(&a, "/api/v1/show", "rec=r1"), 200);
	/* a new one is found, at the latest when the list may be read again */
	support_expect(base, 0, "", "", "cp -r rec/r1 rec/r7");
	for (int i = 0; answer(&a, "/api/v1/show", "rec=r7") != 200; i++) {
		ck_assert_int_lt(i, 1000);
		usleep(10000);
	}
	buf_release(&a.body);
	end();
}

/* New readers, and every question is answered. */
TEST(refresh)
{
	struct asked a[20] = { { .status = 0 } };
	pid_t pid;

	begin(1, 50);
	ck_assert_int_eq(answer(&a[0], "/api/v1/show", ""), 200);
	pid = find_child();
	for (int i = 0; i < 20; i++) {
		a[i].status = 0;
		ask(&a[i], "/api/v1/show", support_path("top=%d", i + 1));
		if (i == 10)
			reader_pool_refresh(pool);
	}
	for (int i = 0; i < 20; i++) {
		run_until(is_answered, &a[i]);
		ck_assert_int_eq(a[i].status, 200);
		buf_release(&a[i].body);
	}
	ck_assert_int_ne(find_child(), pid);
	end();
}

/* At most so many at once, the least recently used one ends first; and none when idle. */
TEST(bounded)
{
	struct asked a[12] = { { .status = 0 } };

	limits = reader_pool_defaults;
	limits.readers = 2;
	limits.idle_ns = 300000000;
	begin(4, 3);
	for (int i = 0; i < 12; i++)
		ask(&a[i], "/api/v1/show", support_path("rec=r%d", i % 4));
	for (int i = 0; i < 12; i++) {
		run_until(is_answered, &a[i]);
		ck_assert_int_eq(a[i].status, 200);
		buf_release(&a[i].body);
	}
	run_until(has_two_readers, NULL);	/* others were ended */
	run_until(has_no_reader, NULL);
	end();
}

/* Too many questions; and none of a client that went away. */
TEST(forgotten)
{
	struct asked a[6] = { { .status = 0 } };

	limits = reader_pool_defaults;
	limits.questions = 4;
	begin(1, 3);
	for (int i = 0; i < 6; i++)
		ask(&a[i], "/api/v1/show", "");
	reader_pool_forget(pool, &a[1]);
	for (int i = 0; i < 6; i++) {
		if (i != 1)
			run_until(is_answered, &a[i]);
		ck_assert_int_eq(a[i].status, i == 1 ? 0 : i < 4 ? 200 : 503);
		buf_release(&a[i].body);
	}
	end();
}

static bool is_gone(void *data)
{
	return kill(*(pid_t *)data, 0) && errno == ESRCH;
}

/* A server that is killed takes its readers along. */
TEST(orphaned)
{
	int pipe_fd[2];
	pid_t server, reader = 0;

	ck_assert_int_eq(pipe(pipe_fd), 0);
	server = fork();
	if (!server) {
		struct asked a = { .status = 0 };

		begin(1, 3);
		answer(&a, "/api/v1/show", "");
		reader = find_child();
		kill(reader, SIGSTOP);	/* it cannot read the end of its socket */
		if (write(pipe_fd[1], &reader, sizeof reader) < 0)
			_exit(1);
		pause();
	}
	ck_assert_int_eq(read(pipe_fd[0], &reader, sizeof reader), sizeof reader);
	ck_assert_int_gt(reader, 0);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	support_wait_until(is_gone, &reader, "the reader runs on");
}

/* Every route on damaged recordings: a reply or an error, and the server goes on. */

static void write_corpus(const char *name, const char *to)
{
	RELEASED(buf, text = BUF_INIT);
	char *line, *next;
	FILE *out = NULL;

	support_read(&text, support_path("%s/tests/corpus/recording/%s", TOP_SRCDIR, name));
	ck_assert_int_eq(mkdir(to, 0700), 0);
	for (line = text.data; line < text.data + text.len; line = next) {
		next = memchr(line, '\n', (size_t)(text.data + text.len - line));
		next = next ? next + 1 : text.data + text.len;
		if (next - line > 4 && !memcmp(line, "== ", 3) && !memchr(line, '/', (size_t)(next - line))) {
			if (out)
				fclose(out);
			next[-1] = '\0';
			out = fopen(support_path("%s/%s", to, line + 3), "w");
		} else if (out) {
			fwrite(line, 1, (size_t)(next - line), out);
		}
	}
	if (out)
		fclose(out);
}

TEST(hostile)
{
	struct asked a = { .status = 0 };
	struct dirent *entry;
	DIR *dir = opendir(TOP_SRCDIR "/tests/corpus/recording");
	struct error err;

	begin(1, 3);
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] != '.')
			write_corpus(entry->d_name, support_path("%s/rec/%s", base, entry->d_name));
	}
	closedir(dir);
	ck_assert_int_eq(catalogue_update(&catalogue, &err), 0);
	ck_assert_uint_gt(catalogue.n, 3);
	for (size_t i = 0; i < catalogue.n; i++) {
		for (size_t k = 0; routes_all[k]; k++) {
			for (const struct route *r = routes_all[k]; r->path; r++) {
				const char *id = strstr(r->parameters, "id") ? "&id=a1.1" : "";

				if (!reply_needs_recording(r))
					continue;
				answer(&a, r->path, support_path("rec=%s%s", catalogue.entry[i].id, id));
				ck_assert_msg(a.status == 200 || a.status == 400 || a.status == 404 ||
					      !strstr(buf_str(&a.body), "died"), "%s of %s: %d %s", r->path,
					      catalogue.entry[i].id, a.status, buf_str(&a.body));
			}
		}
	}
	ck_assert_int_eq(answer(&a, "/api/v1/show", "rec=r0"), 200);
	buf_release(&a.body);
	end();
}

TEST_MAIN(reader);
