/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/clock.h"
#include "recording/process_log.h"
#include "sampler/processes.h"
#include "tests/support.h"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

/*
 * Every process of a command is in processes.log. A test that needs the proc connector
 * passes where the kernel does not permit it.
 */

#define MANY 5000

/* A command recorded */

struct watched {
	struct processes_result result;
	char source[64];
	struct rusage used;	/* by the command and the processes it waited for */
	struct buf text;
	size_t n;
	struct process_line line[MANY + 2000];	/* in the order of the file */
};

static void parse(struct watched *w)
{
	struct cursor c;
	struct slice line;
	bool complete;

	cursor_init(&c, w->text.data, w->text.len);
	ck_assert(cursor_line(&c, &line, &complete) && complete);
	ck_assert(slice_is(line, "buildbeat processes 1"));
	while (cursor_line(&c, &line, &complete)) {
		ck_assert(complete);
		ck_assert_uint_lt(w->n, ARRAY_SIZE(w->line));
		ck_assert_msg(process_log_parse(line, &w->line[w->n++]) == EVENT_PARSED,
			      "%.*s", (int)line.len, line.p);
	}
}

static void run_child(int (*run)(void), int hold)
{
	char go;

	while (read(hold, &go, 1) < 0 && errno == EINTR)
		;
	_exit(run());
}

/* The child begins its work when the thread follows it. */
static struct watched *watch(int (*run)(void), const struct processes_options *o)
{
	static struct watched w;
	const char *path = support_path("%s/processes.log", support_tmpdir());
	int dir_fd = open(support_tmpdir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct error err = { 0 };
	struct processes *p;
	int hold[2], status;
	pid_t pid;

	buf_release(&w.text);
	w.n = 0;
	unlink(path);
	ck_assert_msg(!processes_new(&p, dir_fd, clock_mono_ns(), o, &err), "%s", err.message);
	snprintf(w.source, sizeof w.source, "%s", processes_source(p));
	ck_assert_int_eq(pipe2(hold, O_CLOEXEC), 0);
	pid = fork();
	if (!pid)
		run_child(run, hold[0]);
	ck_assert_int_eq(processes_start(p, pid), 0);
	ck_assert_int_eq(write(hold[1], "", 1), 1);
	ck_assert_int_eq(wait4(pid, &status, 0, &w.used), pid);
	processes_stop(p, &w.result);
	processes_free(p);
	ck_assert_int_eq(w.result.error, 0);
	support_read(&w.text, path);
	parse(&w);
	close(hold[0]);
	close(hold[1]);
	close(dir_fd);
	return &w;
}

static char source[64];		/* on a machine that is not busy */

static bool has_connector(void)
{
	static int has = -1;
	struct processes *p;
	struct error err;
	int dir_fd;

	if (has >= 0)
		return has;
	dir_fd = open(support_tmpdir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_eq(processes_new(&p, dir_fd, clock_mono_ns(), NULL, &err), 0);
	snprintf(source, sizeof source, "%s", processes_source(p));
	has = strcmp(source, PROCESSES_LOOKS) != 0;
	processes_free(p);
	close(dir_fd);
	return has;
}

static size_t count_status(const struct watched *w, int32_t status)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n; i++)
		n += w->line[i].word == PROCESS_ENDED && w->line[i].end.status == status;
	return n;
}

static const struct process_line *find_command(const struct watched *w, const char *command)
{
	for (size_t i = 0; i < w->n; i++) {
		if (w->line[i].word != PROCESS_LOST && slice_is(w->line[i].command, command))
			return &w->line[i];
	}
	return NULL;
}

static int shell(const char *script)
{
	execlp("sh", "sh", "-c", script, (char *)NULL);
	return 127;
}

/* By the connector */

static int run_few(void)
{
	return shell("(exit 3); sh -c 'kill -9 $$' 2>/dev/null; sleep 0.2; env sleep 0.1; exit 4");
}

TEST_GROUP("connector");

TEST_LOOP(ends_and_words, 2)
{
	const struct processes_options plain = { .no_taskstats = true };
	const struct process_line *sleep_line, *first;
	const struct watched *w;

	SKIP_IF(!has_connector());
	w = watch(run_few, _i ? &plain : NULL);
	ck_assert_msg(w->n == 5, "%s", w->text.data);
	ck_assert_uint_eq(w->result.n, 5);
	ck_assert_uint_eq(w->result.n_lost, 0);
	ck_assert_uint_eq(count_status(w, 3 << 8), 1);
	ck_assert_uint_eq(count_status(w, 9), 1);
	ck_assert_uint_eq(count_status(w, 0), 2);
	first = &w->line[w->n - 1];
	ck_assert_int_eq(first->end.status, 4 << 8);
	ck_assert_int_eq(first->parent, getpid());
	for (size_t i = 0; i + 1 < w->n; i++) {
		ck_assert_int_eq(w->line[i].parent, first->pid);
		ck_assert_int_ge(w->line[i].time_us - w->line[i].wall_us,
				 first->time_us - first->wall_us);
		ck_assert_int_le(w->line[i].time_us, first->time_us);
	}
	sleep_line = find_command(w, "sleep 0.2");
	ck_assert_ptr_nonnull(sleep_line);
	ck_assert_int_ge(sleep_line->wall_us, 200000);
	ck_assert_int_ge(sleep_line->exec_us, 0);
	/* env executed sleep: one process, with its last command line */
	ck_assert_ptr_nonnull(find_command(w, "sleep 0.1"));
	ck_assert_ptr_null(find_command(w, "env sleep 0.1"));
	for (size_t i = 0; i + 1 < w->n; i++) {
		const struct process_line *l = &w->line[i];
		bool copy = l->end.status == 3 << 8;	/* of the shell, without exec */

		if (!strstr(w->source, "taskstats"))
			break;
		ck_assert_int_eq(copy, l->exec_us < 0);
		ck_assert_int_eq(copy, l->end.max_rss_kb < 0);
		ck_assert_int_eq(copy, l->end.max_rss_at_most_kb > 0);
	}
	if (strstr(w->source, "taskstats")) {
		ck_assert_int_gt(sleep_line->end.max_rss_kb, 0);
		ck_assert_int_ge(sleep_line->end.system_us + sleep_line->end.user_us, 0);
	} else {
		ck_assert_int_eq(sleep_line->end.max_rss_kb, -1);
	}
}

static pid_t start_busy_loop(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		;
}

/* On one processor with a busy process, a thread of ours may start after a long time. */
TEST(busy_machine)
{
	const struct sched_param none = { 0 };
	struct processes *p;
	struct error err;
	cpu_set_t one;
	pid_t busy;
	int dir_fd;

	SKIP_IF(!has_connector());
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
	busy = start_busy_loop();
	ck_assert_int_eq(sched_setscheduler(0, SCHED_IDLE, &none), 0);
	dir_fd = open(support_tmpdir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < 5; i++) {
		ck_assert_int_eq(processes_new(&p, dir_fd, clock_mono_ns(), NULL, &err), 0);
		ck_assert_str_eq(processes_source(p), source);
		processes_free(p);
	}
	close(dir_fd);
	kill(busy, SIGKILL);
	ck_assert_int_eq(waitpid(busy, NULL, 0), busy);
}

/* Many processes in a short time, without the cost of exec. */
static int run_many(void)
{
	for (unsigned i = 0; i < MANY; i++) {
		pid_t pid = vfork();

		if (!pid)
			_exit(7);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			return 1;
	}
	return 0;
}

TEST(no_process_is_lost)
{
	const struct watched *w;

	SKIP_IF(!has_connector());
	w = watch(run_many, NULL);
	if (w->result.n_lost) {		/* the socket is small without root */
		ck_assert_int_eq(w->line[w->n - 1].word == PROCESS_LOST ||
				 count_status(w, 7 << 8) < MANY, 1);
		return;
	}
	ck_assert_uint_eq(count_status(w, 7 << 8), MANY);
	ck_assert_uint_eq(w->n, MANY + 1);
}

static int run_together(void)
{
	for (unsigned i = 0; i < 200; i++) {
		if (!fork())
			_exit(usleep(300000) ? 1 : 7);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}

TEST(overruns_are_reported)
{
	const struct processes_options tiny = { .receive_bytes = 1 };
	uint64_t reported = 0;
	const struct watched *w;

	SKIP_IF(!has_connector());
	w = watch(run_many, &tiny);
	for (size_t i = 0; i < w->n; i++)
		reported += w->line[i].word == PROCESS_LOST ? (uint64_t)w->line[i].n_lost : 0;
	ck_assert_uint_eq(reported, w->result.n_lost);
	/* a quick machine may lose nothing */
	if (w->result.n_lost)
		ck_assert_uint_lt(count_status(w, 7 << 8), MANY);
	else
		ck_assert_uint_eq(count_status(w, 7 << 8), MANY);
}

/* Processes that live long enough are found again in /proc. */
TEST(overruns_are_repaired)
{
	const struct processes_options tiny = { .receive_bytes = 1 };
	size_t n = 0;
	const struct watched *w;

	SKIP_IF(!has_connector());
	w = watch(run_together, &tiny);
	for (size_t i = 0; i < w->n; i++)
		n += w->line[i].word == PROCESS_ENDED;
	/* a process that ends while /proc is read may be there twice */
	ck_assert_uint_ge(n, 201);
}

static void *spin(void *unused)
{
	usleep(20000);
	return unused;
}

static int run_threads(void)
{
	pthread_t thread[50];

	for (unsigned i = 0; i < 50; i++)
		pthread_create(&thread[i], NULL, spin, NULL);
	/* the first thread ends; the process lives until the others end */
	syscall(SYS_exit, 0);
	return 1;
}

TEST(threads_are_no_processes)
{
	const struct watched *w;

	SKIP_IF(!has_connector());
	w = watch(run_threads, NULL);
	ck_assert_uint_eq(w->n, 1);
	ck_assert_int_ge(w->line[0].wall_us, 20000);
}

static void *exec_sleep(void *unused)
{
	execlp("sleep", "sleep", "0.1", (char *)NULL);
	return unused;
}

/* A thread that executes takes the number of its process. */
static int run_exec_of_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, exec_sleep, NULL);
	pause();
	return 1;
}

TEST(thread_executes)
{
	const struct watched *w;

	SKIP_IF(!has_connector());
	w = watch(run_exec_of_thread, NULL);
	ck_assert_uint_eq(w->n, 1);
	ck_assert(slice_is(w->line[0].command, "sleep 0.1"));
	ck_assert_int_ge(w->line[0].wall_us, 100000);
	ck_assert_int_eq(w->line[0].end.status, 0);
}

/* A process whose parent has ended keeps the parent that started it. A process that
 * outlives the command is recorded as running. */
static int run_orphans(void)
{
	return shell("(sleep 0.3 & exec sleep 0.1) & sleep 0.4; (sleep 60 & echo $! > pid); sleep 0.2; exit 0");
}

static void kill_left(void)
{
	RELEASED(buf, text);
	int64_t pid;

	support_read(&text, support_path("%s/pid", support_tmpdir()));
	ck_assert(cursor_slice_i64((struct slice){ text.data, text.len - 1 }, &pid));
	kill((pid_t)pid, SIGKILL);
}

TEST_LOOP(orphans_and_those_left, 2)
{
	const struct processes_options polling = { .no_connector = true };
	const struct process_line *orphan, *left;
	const struct watched *w;

	SKIP_IF(!_i && !has_connector());
	ck_assert_int_eq(chdir(support_tmpdir()), 0);
	w = watch(run_orphans, _i ? &polling : NULL);
	kill_left();
	orphan = find_command(w, "sleep 0.3");
	ck_assert_ptr_nonnull(orphan);
	ck_assert_int_eq(orphan->word, PROCESS_ENDED);
	ck_assert_int_ne(orphan->parent, 1);
	left = find_command(w, "sleep 60");
	ck_assert(_i || left != NULL);
	for (size_t i = 0; i < w->n; i++)
		ck_assert_int_eq(w->line[i].word == PROCESS_RUNS, &w->line[i] == left);
}

/* CPU time: the sum over the processes is what wait4() counted for the command */

static void fork_and_wait(unsigned n, void (*run)(void))
{
	for (unsigned i = 0; i < n; i++) {
		pid_t pid = fork();

		if (!pid) {
			run();
			_exit(0);
		}
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
}

static void use_cpu(int64_t us)
{
	struct timespec ts;

	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	} while ((int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000 < us);
}

static void execute_true(void)
{
	execlp("true", "true", (char *)NULL);
	_exit(127);
}

static int run_many_short(void)
{
	fork_and_wait(1000, execute_true);
	return 0;
}

static void touch_memory(void)
{
	char *memory = malloc(1 << 20);

	memset(memory, 1, 1 << 20);
	use_cpu(300);
	free(memory);
}

static int run_without_exec(void)
{
	fork_and_wait(500, touch_memory);
	return 0;
}

static void use_much(void)
{
	use_cpu(100000);
	usleep(1000);
	use_cpu(150000);
}

static int run_few_long(void)
{
	fork_and_wait(3, use_much);
	return 0;
}

static void *short_thread(void *unused)
{
	use_cpu(500);
	return unused;
}

static int run_threaded(void)
{
	pthread_t thread[8];

	for (unsigned round = 0; round < 40; round++) {
		for (unsigned i = 0; i < 8; i++)
			pthread_create(&thread[i], NULL, short_thread, NULL);
		use_cpu(2000);
		for (unsigned i = 0; i < 8; i++)
			pthread_join(thread[i], NULL);
	}
	return 0;
}

static int64_t in_us(struct timeval t)
{
	return (int64_t)t.tv_sec * 1000000 + t.tv_usec;
}

static int64_t sum_cpu(const struct watched *w)
{
	int64_t us = 0;

	for (size_t i = 0; i < w->n; i++) {
		if (w->line[i].word == PROCESS_ENDED)
			us += w->line[i].end.user_us + w->line[i].end.system_us;
	}
	return us;
}

/* On a busy machine the estimated part may be wrong by more in one trial. */
#define CPU_TRIALS 3

TEST_GROUP("cpu");

TEST_LOOP(cpu_is_that_of_wait4, 4)
{
	static int (*const runs[])(void) = {
		run_many_short, run_without_exec, run_few_long, run_threaded,
	};
	int64_t wanted_us = 0, us = 0;

	SKIP_IF(!has_connector());
	for (unsigned i = 0; i < CPU_TRIALS; i++) {
		const struct watched *w = watch(runs[_i], NULL);

		SKIP_IF(!strstr(w->source, "taskstats") || w->result.n_lost);
		wanted_us = in_us(w->used.ru_utime) + in_us(w->used.ru_stime);
		us = sum_cpu(w);
		if (llabs(us - wanted_us) <= wanted_us * 3 / 100)
			return;
	}
	ck_assert_msg(us == wanted_us, "the sum is %lld us, wait4 counted %lld us",
		      (long long)us, (long long)wanted_us);
}

/* Polling can be late, but not by a second. */
static int run_then_sleep(void)
{
	use_cpu(57300);
	sleep(1);
	return 0;
}

/* Two processes share one processor: each waits while the other runs. */
static int run_in_turn(void)
{
	cpu_set_t one;
	int cpu = sched_getcpu();

	CPU_ZERO(&one);
	CPU_SET(cpu < 0 ? 0 : (size_t)cpu, &one);
	sched_setaffinity(0, sizeof one, &one);
	if (fork() == 0) {
		use_cpu(100000);
		_exit(0);
	}
	use_cpu(100000);
	return wait(NULL) < 0;
}

TEST_LOOP(delay_is_reported, 2)
{
	const struct processes_options plain = { .no_taskstats = true };
	const struct watched *w;
	int64_t delay_us = 0;

	SKIP_IF(!has_connector());
	w = watch(run_in_turn, _i ? &plain : NULL);
	SKIP_IF(!_i && (!strstr(w->source, "taskstats") || access("/proc/self/schedstat", R_OK)));
	ck_assert_uint_eq(w->n, 2);
	for (size_t i = 0; i < w->n; i++) {
		const struct process_line *l = &w->line[i];

		ck_assert(_i ? l->delay_us == -1 : l->delay_us >= 0);
		ck_assert_int_le(l->end.user_us + l->end.system_us + l->delay_us, l->wall_us + 4000);
		delay_us += l->delay_us;
	}
	ck_assert(_i || delay_us >= 50000);
}

TEST(polling_sees_exact_cpu)
{
	const struct processes_options polling = { .no_connector = true };
	const struct watched *w = watch(run_then_sleep, &polling);
	int64_t us = sum_cpu(w);

	ck_assert_uint_eq(w->n, 1);
	ck_assert_int_ge(us, 57300);
	/* both are rounded down to microseconds */
	ck_assert_int_le(us, in_us(w->used.ru_utime) + in_us(w->used.ru_stime) + 2);
}

/* By polling /proc */

static int run_long(void)
{
	return shell("sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; sleep 0.5; :'; exit 2");
}

TEST_GROUP("polling");

TEST(polling_finds_long_processes)
{
	const struct processes_options polling = { .no_connector = true };
	const struct process_line *inner = NULL, *sleeps, *first = NULL;
	const struct watched *w = watch(run_long, &polling);

	ck_assert_str_eq(w->source, PROCESSES_LOOKS);
	ck_assert_int_gt(w->result.look_us, 0);
	ck_assert_uint_eq(w->n, 3);
	sleeps = find_command(w, "sleep 0.5");
	ck_assert_ptr_nonnull(sleeps);
	for (size_t i = 0; i < w->n; i++) {
		inner = w->line[i].pid == sleeps->parent ? &w->line[i] : inner;
		first = w->line[i].parent == getpid() ? &w->line[i] : first;
	}
	ck_assert(inner && first);
	ck_assert_int_eq(sleeps->parent, inner->pid);
	ck_assert_int_eq(inner->parent, first->pid);
	ck_assert_int_eq(first->parent, getpid());
	ck_assert_int_gt(inner->end.user_us + inner->end.system_us, 0);
	ck_assert_int_gt(inner->end.max_rss_kb, 0);
	ck_assert_int_eq(inner->end.status, -1);
	ck_assert_int_ge(sleeps->wall_us, 300000);
}

TEST_MAIN(processes);
