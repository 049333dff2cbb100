/* SPDX-License-Identifier: MIT */
/*
 * What one process has in memory, compared with a witness in Python; and processes that end,
 * change or must not be read.
 */
#include "tests/hostile.h"
#include "tests/looked.h"
#include "tests/subject.h"
#include "tests/support.h"

#include <inttypes.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define WITNESS "python3 -B " TOP_SRCDIR "/tests/smaps_witness.py "
#define KIB(n) ((size_t)(n) * 1024)

static void *map(size_t size, int protection, int flags, int fd, off_t offset)
{
	void *p = mmap(NULL, size, protection, flags, fd, offset);

	ck_assert_ptr_ne(p, MAP_FAILED);
	return p;
}

static int new_file(const char *name, size_t size)
{
	int fd = open(support_path("%s/%s", looked.dir, name), O_RDWR | O_CREAT, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, (off_t)size), 0);
	return fd;
}

/* Every kind of mapping and of name. */
static void variety(int ready)
{
	int fd = new_file("a file (deleted)", KIB(64)), gone = new_file("gone", KIB(64));
	int memory = memfd_create("a b\nc", 0);
	char *p;

	ck_assert_int_eq(unlink(support_path("%s/gone", looked.dir)), 0);
	ck_assert_int_eq(ftruncate(memory, (off_t)KIB(40)), 0);
	p = map(KIB(64), PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, (off_t)KIB(16));
	memset(p, 1, KIB(12));
	p = map(KIB(64), PROT_READ | PROT_WRITE, MAP_SHARED, gone, 0);
	memset(p, 1, KIB(20));
	p = map(KIB(40), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	memset(p, 1, KIB(8));
	map(KIB(1 << 20), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	p = map(KIB(400), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (size_t i = 0; i < 400; i += 8)	/* each second page */
		p[KIB(i)] = 1;
	p = map(KIB(100), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	p[KIB(50)] = 1;
	map(KIB(8), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	subject_hold(ready);
}

/* The witness */

static bool is_shared(const struct mapping *m)
{
	return m->kb[MAPPING_SHARED_CLEAN] || m->kb[MAPPING_SHARED_DIRTY];
}

/* Other processes with the same files change how the memory is divided, but not what there is. */
static void add_row(struct buf *out, const struct mapping *m, bool shared)
{
	struct slice file = looked.names.name[m->file];

	buf_addf(out, "%" PRIu64 " %" PRIu64 " %s %" PRIu64 " %u %u %" PRIu64, m->start, m->end,
		 m->permissions, m->offset, m->device_major, m->device_minor, m->inode);
	for (int v = 0; v < MAPPING_VALUES; v++) {
		bool divided = v >= MAPPING_PSS && v <= MAPPING_PRIVATE_DIRTY;

		buf_addf(out, " %" PRIu64, shared && divided ? 0 : m->kb[v]);
	}
	buf_addf(out, " %.*s\n", (int)file.len, file.p);
}

static size_t next_number(const char **p)
{
	char *after;
	size_t n = strtoull(*p, &after, 10);

	*p = after;
	return n;
}

/* A row of the witness, as a mapping. */
static void parse_row(struct mapping *m, const char *line, size_t len)
{
	const char *p = line;

	m->start = next_number(&p);
	m->end = next_number(&p);
	memcpy(m->permissions, p + 1, 4);
	m->permissions[4] = '\0';
	p += 5;
	m->offset = next_number(&p);
	m->device_major = (uint32_t)next_number(&p);
	m->device_minor = (uint32_t)next_number(&p);
	m->inode = next_number(&p);
	for (int v = 0; v < MAPPING_VALUES; v++)
		m->kb[v] = next_number(&p);
	p++;
	ck_assert_int_eq(name_table_add(&looked.names, (struct slice){ p, (size_t)(line + len - p) },
					&m->file), 0);
}

static bool agrees(pid_t pid, bool last)
{
	struct buf ours = BUF_INIT, theirs = BUF_INIT;
	struct run r;
	size_t n = 0;
	bool same;

	support_run(&r, NULL, WITNESS "%d", (int)pid);
	ck_assert_int_eq(r.status, 0);
	for (char *line = r.out.data, *nl; (nl = strchr(line, '\n')); line = nl + 1, n++) {
		struct mapping m;
		bool shared;

		parse_row(&m, line, (size_t)(nl - line));
		shared = is_shared(&m) || (n < looked.s.n && is_shared(&looked.s.mapping[n]));
		add_row(&theirs, &m, shared);
		if (n < looked.s.n)
			add_row(&ours, &looked.s.mapping[n], shared);
	}
	same = n == looked.s.n && !strcmp(buf_str(&ours), buf_str(&theirs));
	if (last)
		ck_assert_str_eq(buf_str(&ours), buf_str(&theirs));
	buf_release(&ours);
	buf_release(&theirs);
	return same;
}

TEST_GROUP_WITH("witness", looked_begin, looked_end);

/* Under pressure the kernel takes pages away at any time: try again. */
TEST(like_the_witness)
{
	pid_t pid = subject_start(variety);
	bool same = false;

	looked_open(pid);
	for (int i = 0; i < 5 && !same; i++) {
		looked_read(false);
		same = agrees(pid, i == 4);
	}
	ck_assert_int_eq(looked.s.process.threads, 1);
	ck_assert_uint_ge(looked.s.process.rss_kb, 200);
	subject_stop(pid);
}

TEST(pages)
{
	pid_t pid = subject_start(variety);
	struct buf ours = BUF_INIT;
	bool same = false;
	struct run r;

	looked_open(pid);
	for (int i = 0; i < 5 && !same; i++) {
		size_t runs = 0;

		looked_read(true);
		ck_assert(looked.s.has_pages);
		buf_clear(&ours);
		for (size_t k = 0; k < looked.s.n_resident; k++) {
			const struct mapping *m = snapshot_find(&looked.s, looked.s.resident[k].start);

			buf_addf(&ours, "%" PRIu64 " %" PRIu64 "\n", looked.s.resident[k].start,
				 looked.s.resident[k].end);
			runs += m->end - m->start == KIB(400);
		}
		ck_assert_uint_ge(runs, 50 * 4096 / (size_t)sysconf(_SC_PAGESIZE));
		support_run(&r, NULL, WITNESS "%d pages", (int)pid);
		same = !strcmp(buf_str(&ours), buf_str(&r.out));
		if (i == 4)
			ck_assert_str_eq(buf_str(&ours), buf_str(&r.out));
	}
	buf_release(&ours);
	subject_stop(pid);
}

/* Processes that end or change */

#define MAPPINGS 20000

static void many(int ready)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p = map(2 * MAPPINGS * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS |
		      MAP_NORESERVE, -1, 0);

	for (size_t i = 0; i < MAPPINGS; i++)
		ck_assert_int_eq(mprotect(p + 2 * i * page, page, PROT_NONE), 0);
	ck_assert_int_eq(write(ready, "+", 1), 1);
}

static void many_held(int ready)
{
	many(ready);
	pause();
}

static void executes(int signal)
{
	(void)signal;
	execl("/bin/sleep", "sleep", "1000", (char *)NULL);
	_exit(99);
}

static void many_and_executes(int ready)
{
	signal(SIGUSR1, executes);
	many(ready);
	for (;;)
		pause();
}

struct shot {
	pid_t pid;
	int signal;
	long after;
};

static void *shoot(void *ctx)
{
	const struct shot *shot = ctx;

	for (volatile long i = 0; i < shot->after; i++)
		;
	kill(shot->pid, shot->signal);
	return NULL;
}

TEST_GROUP_WITH("ends", looked_begin, looked_end);

/* Wherever it ends, no part of its mappings passes as all of them. */
TEST(killed_midway)
{
	for (long i = 0; i < 6; i++) {
		pid_t pid = subject_start(many_held);
		struct shot shot = { pid, SIGKILL, i * 10000000 };
		pthread_t thread;
		int r;

		looked_open(pid);
		ck_assert_int_eq(pthread_create(&thread, NULL, shoot, &shot), 0);
		while (!(r = look_read(&looked.l, &looked.s, false, &looked.err)))
			ck_assert_uint_ge(looked.s.n, MAPPINGS);
		ck_assert_int_eq(r, -ESRCH);
		ck_assert_uint_eq(looked.s.n, 0);
		ck_assert_str_eq(looked.err.message, support_path("process %d (check_look) has ended",
							   (int)pid));
		pthread_join(thread, NULL);
		subject_stop(pid);
		ck_assert(look_ended(&looked.l));
		ck_assert_int_eq(look_read_values(&looked.l, &looked.s.process, &looked.err), -ESRCH);
		look_close(&looked.l);
	}
}

/* Its program is replaced: the old mappings or the new ones, never a mixture. */
TEST(executes_midway)
{
	for (long i = 0; i < 6; i++) {
		pid_t pid = subject_start(many_and_executes);
		struct shot shot = { pid, SIGUSR1, i * 10000000 };
		pthread_t thread;

		looked_open(pid);
		ck_assert_int_eq(pthread_create(&thread, NULL, shoot, &shot), 0);
		do {
			int r = look_read(&looked.l, &looked.s, false, &looked.err);

			ck_assert_msg(!r, "%s", looked.err.message);
			ck_assert_msg(looked.s.n >= MAPPINGS || looked.s.n < 200, "%zu", looked.s.n);
		} while (looked.s.n >= MAPPINGS);
		pthread_join(thread, NULL);
		subject_stop(pid);
		look_close(&looked.l);
	}
}

#define MANY_MAPPINGS 100000

static void very_many(int ready)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p = map(2 * MANY_MAPPINGS * page, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t n = 0;

	/* the kernel may permit only 65530 */
	while (n < MANY_MAPPINGS && !mprotect(p + 2 * n * page, page, PROT_NONE)) {
		p[(2 * n + 1) * page] = 1;
		n++;
	}
	subject_hold(ready);
}

TEST(a_hundred_thousand)
{
	struct run r;
	size_t n = 0;
	pid_t pid = subject_start(very_many);

	support_run(&r, NULL, "wc -l < /proc/%d/maps", (int)pid);
	n = strtoull(buf_str(&r.out), NULL, 10);
	ck_assert_uint_ge(n, 60000);
	looked_open(pid);
	looked_read(false);
	ck_assert_uint_eq(looked.s.n, n);
	ck_assert_uint_ge(snapshot_sum_kb(&looked.s, MAPPING_RSS), n / 2 * 4 - 1000);
	for (size_t i = 1; i < looked.s.n; i++)
		ck_assert_uint_ge(looked.s.mapping[i].start, looked.s.mapping[i - 1].end);
	subject_stop(pid);
}

static _Atomic bool changing;

static void *change(void *ctx)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p = ctx;

	for (unsigned k = 0; changing; k = k * 1664525 + 1013904223) {
		size_t first = k % 512, last = k >> 16 & 511;

		if (first < last)
			mprotect(p + first * page, (last - first) * page,
				 k & 1 << 30 ? PROT_READ : PROT_READ | PROT_WRITE);
	}
	return NULL;
}

/* Mappings are split and joined while they are read. */
TEST(changes_midway)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p = map(512 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t thread;

	changing = true;
	ck_assert_int_eq(pthread_create(&thread, NULL, change, p), 0);
	looked_open(getpid());
	for (int i = 0; i < 200; i++) {
		looked_read(i % 10 == 0);
		for (size_t k = 1; k < looked.s.n; k++)
			ck_assert_uint_ge(looked.s.mapping[k].start, looked.s.mapping[k - 1].end);
		for (size_t k = 1; k < looked.s.n_resident; k++)
			ck_assert_uint_gt(looked.s.resident[k].start, looked.s.resident[k - 1].end);
	}
	changing = false;
	pthread_join(thread, NULL);
	munmap(p, 512 * page);
}

static void *wait_for_ever(void *ready)
{
	subject_hold(*(int *)ready);
	return NULL;
}

static void leader_ends(int ready)
{
	pthread_t thread;
	int *kept = malloc(sizeof *kept);

	*kept = ready;
	memset(map(KIB(256), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), 1,
	       KIB(256));
	pthread_create(&thread, NULL, wait_for_ever, kept);
	pthread_exit(NULL);
}

static bool leader_is_zombie(void *pid)
{
	struct run r;

	support_run(&r, NULL, "grep -q 'State:.Z' /proc/%d/status", *(int *)pid);
	return !r.status;
}

/* The first thread has ended, the process has not. */
TEST(ended_leader)
{
	pid_t pid = subject_start(leader_ends);
	bool found = false;

	support_wait_until(leader_is_zombie, &pid, "the first thread ends");
	looked_open(pid);
	ck_assert(!look_ended(&looked.l));
	looked_read(true);
	ck_assert_uint_gt(looked.s.n_resident, 0);
	for (size_t i = 0; i < looked.s.n; i++)
		found |= looked.s.mapping[i].end - looked.s.mapping[i].start == KIB(256) &&
			 looked.s.mapping[i].kb[MAPPING_RSS] == 256;
	ck_assert(found);
	subject_stop(pid);
}

/* Processes that cannot be read */

static void refuses(int r, int code, const char *message)
{
	ck_assert_msg(r == code, "%d: %s", r, looked.err.message);
	ck_assert_str_eq(looked.err.message, message);
	look_close(&looked.l);
}

TEST_GROUP_WITH("refused", looked_begin, looked_end);

TEST(no_process)
{
	pid_t pid = subject_start(variety);
	uint64_t start;
	struct run r;

	looked_open(pid);
	start = looked.l.start_ticks;
	look_close(&looked.l);
	r.status = look_open(&looked.l, pid, start + 1, &looked.names, &looked.err);
	refuses(r.status, -ESRCH, support_path("process %d has ended", (int)pid));
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOWAIT), 0);
	refuses(look_open(&looked.l, pid, 0, &looked.names, &looked.err), -ESRCH,
		support_path("process %d (check_look) has ended", (int)pid));
	subject_stop(pid);
	refuses(look_open(&looked.l, pid, 0, &looked.names, &looked.err), -ESRCH,
		support_path("there is no process %d", (int)pid));
	refuses(look_open(&looked.l, INT32_MAX, 0, &looked.names, &looked.err), -ESRCH,
		support_path("there is no process %d", INT32_MAX));
}

TEST(kernel_thread)
{
	struct run r;
	int pid;

	support_run(&r, NULL, "ps -o pid= --ppid 2 | head -1");
	pid = atoi(buf_str(&r.out));
	SKIP_IF(!pid);		/* a container */
	ck_assert_int_eq(look_open(&looked.l, pid, 0, &looked.names, &looked.err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(looked.err.message, "is a thread of the kernel"));
}

static void *report_number(void *fd)
{
	pid_t tid = (pid_t)syscall(SYS_gettid);

	ck_assert_int_eq(write(*(int *)fd, &tid, sizeof tid), sizeof tid);
	pause();
	return NULL;
}

TEST(number_of_a_thread)
{
	pthread_t thread;
	int numbers[2];
	pid_t tid;

	ck_assert_int_eq(pipe(numbers), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, report_number, &numbers[1]), 0);
	ck_assert_int_eq(read(numbers[0], &tid, sizeof tid), sizeof tid);
	refuses(look_open(&looked.l, tid, 0, &looked.names, &looked.err), -ESRCH,
		support_path("%d is the number of a thread, not of a process", (int)tid));
	pthread_cancel(thread);
	pthread_join(thread, NULL);
}

/* As another user: the process is found, its memory is not readable. */
TEST(no_permission)
{
	pid_t pid = hostile_can() ? getpid() : 1, child;

	SKIP_IF(!hostile_can() && !access("/proc/1/environ", R_OK));
	child = fork();
	if (!child) {
		if (hostile_can() && setuid(NOBODY))
			_exit(99);
		looked_open(pid);
		ck_assert_int_eq(look_read_values(&looked.l, &looked.s.process, &looked.err), 0);
		ck_assert(looked.s.process.rss_kb && !looked.s.process.has_io);
		ck_assert_int_eq(look_read(&looked.l, &looked.s, true, &looked.err), -EACCES);
		ck_assert_str_eq(looked.err.message, support_path(
			"cannot read the memory of process %d (%s) of user %u: Permission denied; "
			"root can", (int)pid, looked.l.name, 0));
		_exit(0);
	}
	hostile_wait(child);
}

/* Another process gets the number of one that has ended. */
TEST(number_used_again)
{
	pid_t pid = subject_start(variety), again;
	struct clone_args args = {
		.exit_signal = SIGCHLD, .set_tid = (uintptr_t)&pid, .set_tid_size = 1,
	};

	looked_open(pid);
	looked_read(false);
	subject_stop(pid);
	again = (pid_t)syscall(SYS_clone3, &args, sizeof args);
	if (!again) {
		pause();
		_exit(0);
	}
	if (again > 0)	/* otherwise only root can */
		ck_assert_int_eq(again, pid);
	ck_assert(look_ended(&looked.l));
	refuses(look_read(&looked.l, &looked.s, false, &looked.err), -ESRCH,
		support_path("process %d (check_look) has ended", (int)pid));
	if (again > 0)
		subject_stop(again);
}

TEST_MAIN(look);
