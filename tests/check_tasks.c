/* SPDX-License-Identifier: MIT */
/* proc_tasks.log: real processes, then recorded ones. */
#include "recording/column.h"
#include "recording/usage_log.h"
#include "sampler/tail.h"
#include "tests/baton.h"
#include "tests/machine.h"
#include "tests/support.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/vfs.h>

#define MB (1024 * 1024)
#define TMPFS 0x01021994

static void touch_memory(size_t size)
{
	char *p;

	if (!size)
		return;
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		_exit(1);
	memset(p, 1, size);
}

static void add_open(struct machine *m, const char *inst, pid_t pid, const char *ancestors)
{
	struct event_open e = { .pid = pid, .ancestors = ancestors, .tool = "test" };
	RELEASED(buf, b = BUF_INIT);

	event_add_open(&b, store_now_us(&m->store), inst, &e);
	store_append(&m->store, &b);
}

static void add_end(struct machine *m, const char *inst, uint64_t seq, const struct rusage *u)
{
	struct event_end e;
	RELEASED(buf, b = BUF_INIT);

	event_end_init(&e, 0);
	if (u)
		event_end_rusage(&e, u);
	event_add_end(&b, store_now_us(&m->store), inst, seq, &e);
	store_append(&m->store, &b);
}

static const struct task_usage *last_usage(const struct machine *m, const char *inst, uint64_t seq)
{
	const struct task *t = machine_task(m, inst, seq);

	ck_assert_msg(t->n_usage > 0, "no usage of %s.%d", inst, (int)seq);
	return &m->rec.usage[t->first_usage + t->n_usage - 1];
}

/* A task of n + 1 processes that touch so many bytes, the parent before it forks, and one
 * sample of all of them. */
static const struct task_usage *sample_family(struct machine *m, int n, size_t own, size_t each)
{
	struct baton ready, end;
	pid_t pid;

	machine_start_here(m);
	baton_init(&ready);
	baton_init(&end);
	pid = baton_fork();
	if (pid == 0) {
		touch_memory(own);
		for (int i = 0; i < n; i++) {
			if (baton_fork() == 0) {
				touch_memory(each);
				baton_pass(&ready);
				baton_wait(&end);
				_exit(0);
			}
		}
		baton_wait(&end);
		_exit(0);
	}
	machine_add_start(m, "a", 1, pid);
	for (int i = 0; i < n; i++)
		baton_wait(&ready);
	machine_sample(m);
	for (int i = 0; i <= n; i++)
		baton_pass(&end);
	baton_reap(pid);
	machine_read(m);
	return last_usage(m, "a", 1);
}

TEST(three_children)
{
	RELEASED(machine, m);
	const struct task_usage *u = sample_family(&m, 3, 0, 200 * MB);

	ck_assert_int_eq(u->processes, 4);
	ck_assert_int_ge(u->rss_kb, 600 * 1024);
	if (support_can_be_loaded())	/* a sanitizer has shadow memory of touched pages */
		ck_assert_int_le(u->rss_kb, 660 * 1024);
	if (u->pss_kb) {
		ck_assert_int_ge(u->pss_kb, 600 * 1024);
		ck_assert_int_le(u->pss_kb, u->rss_kb);
	}
}

/* Shared pages count once in pss: here nearly all are shared. */
TEST(shared_memory)
{
	RELEASED(machine, m);
	const struct task_usage *u = sample_family(&m, 2, 64 * MB, 0);

	ck_assert_int_eq(u->processes, 3);
	if (u->pss_kb) {	/* not where smaps_rollup is not readable */
		ck_assert_int_ge(u->pss_kb, 64 * 1024);
		ck_assert_int_le(u->pss_kb, u->rss_kb / 2);
	}
}

/* The inner make of a task: its own tasks are not counted in the outer one. */
static void run_inner_make(struct baton *go, struct baton *done, int result_fd)
{
	struct rusage usage;
	pid_t pid = baton_fork();

	if (pid == 0) {
		touch_memory(100 * MB);
		baton_burn(400);
		baton_pass(done);
		baton_wait(go);
		_exit(0);
	}
	if (write(result_fd, &pid, sizeof pid) != sizeof pid)
		_exit(1);
	wait4(pid, NULL, 0, &usage);
	if (write(result_fd, &usage, sizeof usage) != sizeof usage)
		_exit(1);
	baton_wait(go);
	_exit(0);
}

TEST(nested_tasks)
{
	const struct task_usage *u;
	struct baton go, done, result;
	struct rusage usage;
	RELEASED(machine, m);
	pid_t outer, inner;

	machine_start_here(&m);
	baton_init(&go);
	baton_init(&done);
	baton_init(&result);
	outer = baton_fork();
	if (outer == 0)
		run_inner_make(&go, &done, result.fd[1]);
	machine_add_start(&m, "top", 1, outer);
	add_open(&m, "sub", outer, support_path("%d,%d", (int)outer, (int)getpid()));
	ck_assert_int_eq(read(result.fd[0], &inner, sizeof inner), sizeof inner);
	machine_add_start(&m, "sub", 1, inner);
	baton_wait(&done);
	machine_sample(&m);
	baton_pass(&go);
	ck_assert_int_eq(read(result.fd[0], &usage, sizeof usage), sizeof usage);
	add_end(&m, "sub", 1, &usage);
	machine_sample(&m);
	baton_pass(&go);
	baton_reap(outer);
	machine_read(&m);
	u = last_usage(&m, "sub", 1);
	ck_assert_int_eq(u->processes, 1);
	ck_assert_int_ge(u->rss_kb, 100 * 1024);
	ck_assert_int_ge(u->cpu_ms, 390);
	u = last_usage(&m, "top", 1);
	ck_assert_int_eq(u->processes, 1);
	ck_assert_int_lt(machine_task(&m, "top", 1)->peak_kb, 50 * 1024);
	ck_assert_int_lt(u->cpu_ms, 200);
}

/* CPU time of children that ended and were waited for stays the task's. */
TEST(reaped_children)
{
	const struct task_usage *u;
	struct baton done, end;
	RELEASED(machine, m);
	pid_t pid;

	machine_start_here(&m);
	baton_init(&done);
	baton_init(&end);
	pid = baton_fork();
	if (pid == 0) {
		for (int i = 0; i < 2; i++) {
			pid_t child = baton_fork();

			if (child == 0) {
				baton_burn(150);
				_exit(0);
			}
			waitpid(child, NULL, 0);
		}
		baton_pass(&done);
		baton_wait(&end);
		_exit(0);
	}
	machine_add_start(&m, "a", 1, pid);
	baton_wait(&done);
	machine_sample(&m);
	baton_pass(&end);
	baton_reap(pid);
	machine_sample(&m);
	machine_read(&m);
	u = last_usage(&m, "a", 1);
	ck_assert_int_ge(u->cpu_ms, 290);
	ck_assert_int_eq(u->processes, 0);
	ck_assert_int_eq(u->rss_kb, 0);
}

static bool write_file(const char *path, size_t size)
{
	static char block[MB];
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	bool ok = fd >= 0;

	memset(block, 'x', sizeof block);
	for (size_t i = 0; ok && i < size / MB; i++)
		ok = write(fd, block, sizeof block) == sizeof block;
	return ok && !fsync(fd) && !close(fd);
}

/* KiB written to all disks, as /sys has it. */
static int64_t sys_written_kb(const struct series *s)
{
	int64_t sum = 0;

	for (size_t i = 0; i < s->n_columns; i++) {
		const char *dot = strrchr(s->column[i].name, '.');
		struct slice word;
		struct cursor c;
		struct buf text;
		uint64_t sectors = 0;

		if (strcmp(dot, ".written"))
			continue;
		support_read(&text, support_path("/sys/block/%.*s/stat",
						 (int)(dot - s->column[i].name), s->column[i].name));
		cursor_init(&c, text.data, text.len);
		for (int field = 0; field < 6; field++) {
			cursor_blanks(&c);
			ck_assert(cursor_word(&c, &word, 32));
		}
		cursor_blanks(&c);
		ck_assert(cursor_u64(&c, &sectors));
		sum += (int64_t)sectors / 2;
		buf_release(&text);
	}
	return sum;
}

static int64_t recorded_written_kb(const struct series *s)
{
	int64_t sum = 0;

	for (size_t i = 0; i < s->n_columns; i++)
		if (!strcmp(strrchr(s->column[i].name, '.'), ".written"))
			sum += s->level[(s->n - 1) * s->n_columns + i] *
			       column_unit_scale(s->column[i].unit) / 1024;
	return sum;
}

/*
 * A known write with fsync: the task's own value, and the disks'. Others write too, so that
 * the result may differ by what /sys counts around our samples.
 */
TEST(known_write)
{
	const int64_t size_kb = 64 * 1024;
	int64_t before[2], after[2], started_kb, written;
	const struct series *s;
	struct baton go, done;
	struct machine m;
	struct statfs fs;
	char path[4096];
	pid_t pid;

	machine_start_here(&m);
	machine_sample(&m);
	machine_read(&m);
	s = recording_series(&m.rec, "proc_diskstats");
	started_kb = s ? recorded_written_kb(s) : 0;
	ck_assert_int_eq(statfs(m.dir, &fs), 0);
	if (fs.f_type == TMPFS || !s || !s->n_columns || access("/sys/block", R_OK)) {
		machine_release(&m);
		support_skipped("no disk is counted");
		return;
	}
	strcpy(path, support_path("%s/big", m.dir));
	baton_init(&go);
	baton_init(&done);
	pid = baton_fork();
	if (pid == 0) {
		baton_wait(&go);
		if (write_file(path, (size_t)size_kb * 1024))
			baton_pass(&done);
		baton_wait(&go);
		_exit(0);
	}
	/* a sampler counts from when it is made */
	before[0] = sys_written_kb(s);
	ck_assert_int_eq(sampler_new(&m.sampler, m.store.dir_fd, m.store.start_ns,
				     &(struct sampler_options){ .interval_ms = 1000, .tasks = true },
				     NULL), 0);
	before[1] = sys_written_kb(s);
	machine_add_start(&m, "a", 1, pid);
	machine_sample(&m);
	baton_pass(&go);
	baton_wait(&done);
	after[0] = sys_written_kb(s);
	machine_sample(&m);
	after[1] = sys_written_kb(s);
	baton_pass(&go);
	baton_reap(pid);
	machine_read(&m);
	s = recording_series(&m.rec, "proc_diskstats");
	written = recorded_written_kb(s) - started_kb;
	/* of two samplers, each keeps a remainder of its unit */
	ck_assert_int_ge(written, after[0] - before[1] - 8);
	ck_assert_int_le(written, after[1] - before[0] + 8);
	ck_assert_int_ge(written, size_kb / 100 * 99);
	written = last_usage(&m, "a", 1)->written_kb;
	if (written) {		/* not where /proc/PID/io is not readable */
		ck_assert_int_ge(written, size_kb / 100 * 99);
		ck_assert_int_le(written, size_kb / 100 * 101);
	}
	machine_release(&m);
}

/* A kernel without lists of children: one scan of all processes. */

static void add_process(struct machine *m, int pid, int parent, const char *name,
			int ticks, int pages, int start)
{
	machine_set(m, support_path("proc/%d/stat", pid),
		    support_path("%d (%s) S %d 1 1 0 -1 4194304 10 0 0 0 %d 1 0 0 20 0 1 0 %d "
				 "10000000 %d 18446744073709551615 1 1 0 0\n",
				 pid, name, parent, ticks, start, pages));
}

TEST(recorded_processes)
{
	struct sampler_options options = { .tasks = true };
	const int64_t page_kb = sysconf(_SC_PAGESIZE) / 1024;
	const struct task_usage *u;
	RELEASED(machine, m);

	machine_init(&m, NULL);
	add_process(&m, 100, 1, "make", 5, 1024, 50);
	add_process(&m, 101, 100, "sh", 10, 1024, 60);
	add_process(&m, 1010, 101, "a) R 7 (b", 20, 2048, 70);
	add_process(&m, 102, 100, "sh -c", 30, 4096, 60);
	add_process(&m, 103, 1, "other", 1000, 40960, 60);
	machine_set(&m, "proc/1010/io", "rchar: 1\nwchar: 2\nread_bytes: 4096\nwrite_bytes: 1048576\n");
	machine_set(&m, "proc/self/cgroup", "");
	machine_add_start(&m, "a", 1, 101);
	machine_add_start(&m, "a", 2, 102);
	machine_add_start(&m, "a", 3, 99);
	machine_start(&m, options);
	/* another process has the number of one that ended */
	add_process(&m, 102, 1, "new", 5000, 40960, 90);
	machine_sample(&m);
	machine_read(&m);
	u = last_usage(&m, "a", 1);
	ck_assert_int_eq(u->processes, 2);
	ck_assert_int_eq(u->rss_kb, 3072 * page_kb);
	ck_assert_int_eq(u->cpu_ms, 320);
	ck_assert_int_eq(u->written_kb, 1024);
	ck_assert_int_eq(u->read_kb, 4);
	u = last_usage(&m, "a", 2);
	ck_assert_int_eq(u->processes, 0);
	ck_assert_int_eq(u->cpu_ms, 310);
	ck_assert_int_eq(machine_task(&m, "a", 2)->peak_kb, 4096 * page_kb);
	ck_assert_uint_eq(machine_task(&m, "a", 3)->n_usage, 0);
}

/* More tasks than places, all ended before a sample. */
TEST(many_tasks)
{
	RELEASED(machine, m);

	machine_init(&m, NULL);
	machine_set(&m, "proc/loadavg", "");
	add_process(&m, 7, 1, "sh", 10, 1024, 60);
	machine_start(&m, (struct sampler_options){ .tasks = true });
	for (unsigned i = 1; i <= 3000; i++)
		machine_add_start(&m, "a", i, 100000 + (int)i);
	machine_sample(&m);
	for (unsigned i = 1; i <= 3000; i++)
		add_end(&m, "a", i, NULL);
	machine_add_start(&m, "a", 3001, 7);
	machine_sample(&m);
	machine_read(&m);
	ck_assert_uint_eq(m.rec.n_tasks, 3001);
	ck_assert_int_eq(last_usage(&m, "a", 3001)->processes, 1);
}

/* tasks.log, and the logs of several writers on NFS */

struct lines {
	struct buf text;
};

static bool collect(void *ctx, struct slice line)
{
	struct lines *l = ctx;

	buf_add(&l->text, line.p, line.len);
	buf_addc(&l->text, '|');
	return line.len && line.p[0] == 'c';
}

TEST_LOOP(tail_files, 2)
{
	const char *name = _i ? "tasks-a1.log" : "tasks.log";
	struct lines l = { BUF_INIT };
	const struct tail_taker taker = { collect, &l };
	RELEASED(machine, m);
	struct tail t;
	int fd;

	machine_init(&m, NULL);
	support_writes(support_path("%s/%s", m.dir, name), "one\ntw");
	fd = open(m.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_eq(tail_open(&t, fd), 0);
	tail_read(&t, &taker);
	ck_assert_str_eq(buf_str(&l.text), "one|");
	support_writes(support_path("%s/%s", m.dir, name), "one\ntwo\nclose\n");
	if (_i)
		support_writes(support_path("%s/tasks-b2.log", m.dir), "new\n");
	tail_read(&t, &taker);
	tail_read(&t, &taker);
	ck_assert_str_eq(buf_str(&l.text), _i ? "one|two|close|new|" : "one|two|close|");
	tail_close(&t);
	close(fd);
	buf_release(&l.text);
}

static void count_child(void *ctx, int32_t pid)
{
	int32_t *next = ctx;

	ck_assert_int_eq(pid, *next);
	++*next;
}

/* A list of children that is longer than the text: all but a truncated number are found. */
TEST(many_children)
{
	char memory[4096], names[4096];
	struct root_text text = { memory, 0, sizeof memory }, list = { names, 0, sizeof names };
	RELEASED(buf, b = BUF_INIT);
	int32_t next = 10001;
	struct run r;
	int fd;

	for (int32_t pid = next; pid < 12000; pid++)
		buf_addf(&b, "%d ", (int)pid);
	support_run(&r, support_tmpdir(), "mkdir -p proc/5/task/5");
	support_writes(support_path("%s/proc/5/task/5/children", support_tmpdir()), buf_str(&b));
	fd = open(support_path("%s/proc", support_tmpdir()), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	root_list_children(fd, 5, 1, &text, &list, count_child, &next);
	ck_assert_int_eq(next, 10001 + (int32_t)sizeof memory / 6);
	next = 10001;
	root_list_children(fd, 5, 2, &text, &list, count_child, &next);
	ck_assert_int_eq(next, 10001 + (int32_t)sizeof memory / 6);
	close(fd);
}

TEST_MAIN(tasks);
