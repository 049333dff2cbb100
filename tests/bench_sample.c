/* SPDX-License-Identifier: MIT */
/*
 * Cost of a sample of stat, meminfo, diskstats, net/dev and the pressures: by the sampler;
 * by the usual way (open, stdio, sscanf, format, write); and of pread() alone of the open
 * files, below which no sampler can be. In a tight loop and once a second with cold caches,
 * in turn. The minimum of many short runs counts, because other load only makes runs longer.
 */
#include "base/array.h"
#include "base/buf.h"
#include "base/clock.h"
#include "sampler/sampler.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 60
#define ROUND_LOOPS 40
#define COLD 12

static const char *const files[] = {
	"stat", "meminfo", "diskstats", "net/dev", "pressure/cpu", "pressure/io",
	"pressure/memory", "loadavg",
};

#define FILES ARRAY_SIZE(files)

static int64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* The usual way */

static void usual_sample(int out)
{
	char line[65536], path[64], key[64];
	struct buf b = BUF_INIT;

	for (size_t i = 0; i < FILES; i++) {
		FILE *f;

		snprintf(path, sizeof path, "/proc/%s", files[i]);
		f = fopen(path, "re");
		while (f && fgets(line, sizeof line, f)) {
			unsigned long long v[4] = { 0 };

			if (sscanf(line, " %63s %llu %llu %llu %llu", key, &v[0], &v[1], &v[2], &v[3]) > 1)
				buf_addf(&b, "%llu %llu %llu %llu ", v[0], v[1], v[2], v[3]);
		}
		if (f)
			fclose(f);
		buf_addc(&b, '\n');
		if (write(out, b.data, b.len) < 0)
			exit(1);
		buf_clear(&b);
	}
	buf_release(&b);
}

/* Reading only */

static int bare_fd[FILES];

static void open_bare(void)
{
	char path[64];

	for (size_t i = 0; i < FILES; i++) {
		snprintf(path, sizeof path, "/proc/%s", files[i]);
		bare_fd[i] = open(path, O_RDONLY | O_CLOEXEC);
	}
}

static void bare_sample(void)
{
	static char text[65536];

	for (size_t i = 0; i < FILES; i++) {
		if (bare_fd[i] >= 0 && pread(bare_fd[i], text, sizeof text, 0) < 0)
			exit(1);
	}
}

/* Both in a temporary directory that is removed at once. */

struct bench {
	int dir_fd, out_fd;
	struct sampler *sampler;
	char root[64];		/* with links to the files that count */
};

static void remove_all(struct bench *b)
{
	char command[128];

	snprintf(command, sizeof command, "rm -rf -- '%s'", b->root);
	if (system(command))
		fprintf(stderr, "bench_sample: %s stays behind\n", b->root);
}

static void link_file(const struct bench *b, const char *name)
{
	char from[128], to[160];

	snprintf(from, sizeof from, "/proc/%s", name);
	snprintf(to, sizeof to, "%s/proc/%s", b->root, name);
	if (symlink(from, to))
		exit(1);
}

static void make_root(struct bench *b)
{
	static const char *const dirs[] = { "/proc", "/proc/net", "/proc/pressure", "/out" };
	char path[128];

	strcpy(b->root, "/tmp/buildbeat-bench-XXXXXX");
	if (!mkdtemp(b->root))
		exit(1);
	for (size_t i = 0; i < 4; i++) {
		snprintf(path, sizeof path, "%s%s", b->root, dirs[i]);
		mkdir(path, 0777);
	}
	for (size_t i = 0; i < FILES; i++)
		link_file(b, files[i]);
	b->dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	b->out_fd = openat(b->dir_fd, "usual", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

static void start(struct bench *b)
{
	struct sampler_options options = { .interval_ms = 1000 };
	struct error err = { 0 };
	char proc[96];

	snprintf(proc, sizeof proc, "%s/proc", b->root);
	options.proc_root = proc;
	if (sampler_new(&b->sampler, b->dir_fd, clock_mono_ns(), &options, &err)) {
		fprintf(stderr, "bench_sample: %s\n", err.message);
		exit(1);
	}
	sampler_take(b->sampler, true);
}

/* Nanoseconds of processor time a sample */
static int64_t ours(struct bench *b, unsigned n)
{
	int64_t start_ns = cpu_ns();

	for (unsigned i = 0; i < n; i++)
		sampler_take(b->sampler, true);
	return (cpu_ns() - start_ns) / n;
}

static int64_t usual(struct bench *b, unsigned n)
{
	int64_t start_ns = cpu_ns();

	for (unsigned i = 0; i < n; i++)
		usual_sample(b->out_fd);
	return (cpu_ns() - start_ns) / n;
}

static int64_t bare(struct bench *b, unsigned n)
{
	int64_t start_ns = cpu_ns();

	(void)b;
	for (unsigned i = 0; i < n; i++)
		bare_sample();
	return (cpu_ns() - start_ns) / n;
}

struct costs {
	int64_t ours, usual, bare, bare_again;
};

static void keep_least(int64_t *least, int64_t ns)
{
	if (ns < *least)
		*least = ns;
}

static struct costs tight(struct bench *b)
{
	struct costs c = { INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX };

	for (int i = 0; i < ROUNDS; i++) {
		keep_least(&c.ours, ours(b, ROUND_LOOPS));
		keep_least(&c.bare, bare(b, ROUND_LOOPS));
		keep_least(&c.bare_again, bare(b, ROUND_LOOPS));
		keep_least(&c.usual, usual(b, ROUND_LOOPS / 4));
	}
	return c;
}

/* The caches contain nothing that was read a second ago. */
static struct costs cold(struct bench *b)
{
	const struct timespec second = { 1, 0 };
	struct costs c = { INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX };

	for (int i = 0; i < COLD; i++) {
		nanosleep(&second, NULL);
		keep_least(&c.ours, ours(b, 1));
		nanosleep(&second, NULL);
		keep_least(&c.bare, bare(b, 1));
		nanosleep(&second, NULL);
		keep_least(&c.bare_again, bare(b, 1));
		nanosleep(&second, NULL);
		keep_least(&c.usual, usual(b, 1));
	}
	return c;
}

/* System calls, counted by a tracer */

struct calls {
	int all, opens;
};

static int64_t nothing(struct bench *b, unsigned n)
{
	int64_t start_ns = cpu_ns();

	(void)b;
	return (cpu_ns() - start_ns) / n;
}

static void count_stop(pid_t pid, struct calls *n)
{
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof info, &info) <= 0 ||
	    info.op != PTRACE_SYSCALL_INFO_ENTRY)
		return;
	n->all++;
	n->opens += info.entry.nr == SYS_openat;
}

static struct calls count_calls(struct bench *b, int64_t (*sample)(struct bench *, unsigned))
{
	struct calls n = { 0, 0 };
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(1);
		raise(SIGSTOP);
		sample(b, 1);
		_exit(0);
	}
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)PTRACE_O_TRACESYSGOOD);
		count_stop(pid, &n);
		ptrace(PTRACE_SYSCALL, pid, NULL, NULL);
	}
	return n;
}

static void print_costs(const char *what, struct costs c, const char *bar)
{
	printf("sample, %s: %.1f us (%s), %.2f of bare reads (%.1f us, measured again %+.1f us), %.2f of the usual way (%.1f us)\n",
	       what, (double)c.ours / 1000, bar, (double)c.ours / (double)c.bare,
	       (double)c.bare / 1000, (double)(c.bare_again - c.bare) / 1000, (double)c.ours / (double)c.usual, (double)c.usual / 1000);
}

static void print_calls(struct bench *b)
{
	struct calls none = count_calls(b, nothing);
	struct calls us = count_calls(b, ours);
	struct calls them = count_calls(b, usual);

	if (!none.all) {
		printf("sample: no system calls counted, this process may not trace\n");
		return;
	}
	printf("sample: %d system calls with %d opens, the usual way %d with %d\n",
	       us.all - none.all, us.opens, them.all - none.all, them.opens);
}

int main(void)
{
	struct bench b = { .dir_fd = -1 };

	make_root(&b);
	start(&b);
	open_bare();
	print_costs("tight loop", tight(&b), "bar: 25");
	print_costs("once a second", cold(&b), "bar: 100");
	fflush(stdout);
	print_calls(&b);
	sampler_free(b.sampler);
	remove_all(&b);
	return 0;
}
