/* SPDX-License-Identifier: MIT */
/* The run-queue delay of tasks: of recorded processes, then of real ones. */
#include "analyse/cost.h"
#include "base/clock.h"
#include "sampler/parse.h"
#include "tests/baton.h"
#include "tests/machine.h"
#include "tests/recorded.h"

static void add_schedstat(struct machine *m, const char *path, int wait_ms)
{
	machine_set(m, support_path("proc/%s/schedstat", path), support_path("9000000 %d000000 4\n", wait_ms));
}

static void add_process(struct machine *m, int pid, int parent, int threads, int ticks, int start)
{
	machine_set(m, support_path("proc/%d/stat", pid),
		    support_path("%d (cc) S %d 1 1 0 -1 4194304 10 0 0 0 %d 0 0 0 20 0 %d 0 %d 10000000 1 "
				 "18446744073709551615 1 1 0 0\n", pid, parent, ticks, threads, start));
}

/* A machine that counts run-queue delay. */
static void init(struct machine *m)
{
	machine_init(m, NULL);
	machine_set(m, "proc/self/cgroup", "");
	add_schedstat(m, "self", 0);
}

/* The delay of processes that used CPU time since the sample before: what these lines set, then a
 * sample. Process 101 is task 1, 102 is below it, 103 has threads and is task 2. */
TEST(recorded_delays)
{
	RELEASED(machine, m);

	init(&m);
	add_process(&m, 101, 1, 1, 10, 50);
	add_process(&m, 102, 101, 1, 10, 60);
	add_process(&m, 103, 1, 2, 10, 60);
	add_schedstat(&m, "101", 1);
	add_schedstat(&m, "102", 20);
	add_schedstat(&m, "103/task/103", 300);
	add_schedstat(&m, "103/task/104", 4000);
	machine_add_start(&m, "a", 1, 101);
	machine_add_start(&m, "a", 2, 103);
	machine_start(&m, (struct sampler_options){ .tasks = true });
	/* without CPU time nobody waited; a thread ended, and others waited longer */
	add_schedstat(&m, "101", 5);
	add_process(&m, 102, 101, 1, 11, 60);
	add_schedstat(&m, "102", 25);
	add_process(&m, 103, 1, 1, 11, 60);
	add_schedstat(&m, "103", 310);
	machine_sample(&m);
	/* another process has the number of one that ended */
	add_process(&m, 102, 101, 1, 3, 70);
	add_schedstat(&m, "102", 7);
	add_process(&m, 103, 1, 1, 12, 60);
	add_schedstat(&m, "103", 312);
	machine_sample(&m);
	machine_read(&m);
	ck_assert_int_eq(machine_task(&m, "a", 1)->delay_us, 1000 + 20000 + 5000 + 7000);
	ck_assert_int_eq(machine_task(&m, "a", 2)->delay_us, 300000 + 4000000 + 2000);
	ck_assert(machine_task(&m, "a", 1)->delay_at_least);
}

/* A kernel that does not count, and one where that is switched off. */
TEST_LOOP(unknown_delays, 2)
{
	RELEASED(machine, m);

	machine_init(&m, NULL);
	machine_set(&m, "proc/self/cgroup", "");
	if (_i)
		machine_set(&m, "proc/self/schedstat", "0 0 0\n");
	add_process(&m, 101, 1, 1, 10, 50);
	add_schedstat(&m, "101", 1);
	machine_add_start(&m, "a", 1, 101);
	machine_start(&m, (struct sampler_options){ .tasks = true });
	machine_read(&m);
	ck_assert_int_eq(machine_task(&m, "a", 1)->delay_us, -1);
}

/* A process has more threads than are read at a sample; the one after it is read. */
TEST(too_many_threads)
{
	RELEASED(machine, m);

	init(&m);
	add_process(&m, 101, 1, 513, 10, 60);
	add_schedstat(&m, "101/task/101", 300);
	add_process(&m, 102, 1, 1, 10, 60);
	add_schedstat(&m, "102", 4);
	machine_add_start(&m, "a", 1, 101);
	machine_add_start(&m, "a", 2, 102);
	machine_start(&m, (struct sampler_options){ .tasks = true });
	machine_read(&m);
	ck_assert_int_eq(machine_task(&m, "a", 1)->delay_us, 0);
	ck_assert_int_eq(machine_task(&m, "a", 2)->delay_us, 4000);
}

static int64_t own_delay_ns(void)
{
	struct root_text text = { (char[128]){ 0 }, 0, 128 };
	struct pid_sched s;
	int fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool known = !root_read_once(fd, "self/schedstat", &text) && parse_pid_sched(&text, &s) && s.runs;

	close(fd);
	return known ? (int64_t)s.wait_ns : -1;
}

#define SPINNERS_MAX 256

struct spinner {
	pid_t pid;
	int64_t delay_ns;	/* as it read itself */
};

/* Begin when nobody has `go` open for writing any more, and write the number and the delay. */
static void spin(struct baton *go, struct baton *done, struct baton *end, int64_t number)
{
	int64_t line[2] = { number, 0 };
	char c;

	close(go->fd[1]);
	if (read(go->fd[0], &c, 1))
		_exit(1);
	baton_burn(200);
	line[1] = own_delay_ns();
	if (write(done->fd[1], line, sizeof line) != sizeof line)
		_exit(1);
	baton_wait(end);
	_exit(0);
}

/* Each of n processes is a task, and all use 200 ms of CPU time at the same time. Then a sample. */
static void run_spinners(struct machine *m, struct spinner *s, int64_t n)
{
	struct baton go, done, end;

	baton_init(&go);
	baton_init(&done);
	baton_init(&end);
	for (int64_t i = 0; i < n; i++) {
		s[i].pid = baton_fork();
		if (s[i].pid == 0)
			spin(&go, &done, &end, i);
		machine_add_start(m, "a", (uint64_t)i + 1, s[i].pid);
	}
	close(go.fd[1]);
	for (int64_t i = 0, line[2]; i < n; i++) {
		ck_assert_int_eq(read(done.fd[0], line, sizeof line), sizeof line);
		s[line[0]].delay_ns = line[1];
	}
	machine_sample(m);
	for (int64_t i = 0; i < n; i++)
		baton_reap(s[i].pid);
}

/* Two more than cores: two of them wait all the time. */
TEST(more_work_than_cores)
{
	int64_t n = sysconf(_SC_NPROCESSORS_ONLN) + 2, sum_us = 0, start_ns, wall_us;
	struct spinner spinner[SPINNERS_MAX];
	struct machine m;

	SKIP_IF(own_delay_ns() < 0 || n > SPINNERS_MAX);
	machine_start_here(&m);
	start_ns = clock_mono_ns();
	run_spinners(&m, spinner, n);
	wall_us = (clock_mono_ns() - start_ns) / 1000;
	machine_read(&m);
	for (int64_t i = 0; i < n; i++) {
		const struct task *t = machine_task(&m, "a", (uint64_t)i + 1);

		ck_assert_int_ge(t->delay_us, spinner[i].delay_ns / 1000 - 1000);
		ck_assert_int_le(t->delay_us + t->cpu_ms * 1000, wall_us);
		sum_us += t->delay_us;
	}
	ck_assert_int_gt(sum_us, 200000);
	machine_release(&m);
}

/* Recorded processes */

#define TASKS "buildbeat tasks 1\nopen\t0\ti1\t100\t0\t100\tmake\t4.3\t/src\tmake\n" \
	"start\t1000000\ti1.1\t200\topen\n" \
	"open\t1100000\ti2\t201\t1\t201,200,100\tmake\n" \
	"start\t1200000\ti2.1\t202\ndone\t2000000\ti2.1\t0\nclose\t2000000\ti2\n" \
	"done\t4000000\ti1.1\t0\n" \
	"start\t5000000\ti1.2\t300\ndone\t6000000\ti1.2\t0\nclose\t6000000\ti1\n"
#define SAMPLES "buildbeat proc_tasks 1 1000 rss:1MiB:g delay:1ms:c\n@2000 0=i1.1:1,5\n@5000 1=i1.2:1,900\n"
#define SOME "\t1\tcc\t0" "\t\t\t\t\t\t" "\t\t\t\t\t\t\t"	/* values up to the delay */
#define PROCESSES "buildbeat processes 1\n" \
	"done\t1900000\t203\t202\t500000" SOME "7000\n" \
	"done\t2000000\t202\t201\t800000" SOME "10000\n" \
	"done\t2010000\t204\t201\t1000" SOME "40\n" \
	"done\t2050000\t201\t200\t1000000" SOME "300\n" \
	"done\t4000000\t200\t100\t3000000" SOME "2\n" \
	"done\t6000000\t300\t100\t1000000\n" \
	"done\t6000000\t301\t300\t1000000" SOME "500\n"

/* Tasks i1.1, in which the make i2 runs, i2.1, and i1.2, of which one process is not known. */
static const struct {
	const char *processes;
	int64_t delay_us[3];
	bool at_least[3];
} processes[] = {
	{ PROCESSES, { 342, 17000, 900000 }, { false, false, true } },
	{ PROCESSES "lost\t6000001\t1\n", { 5000, 17000, 900000 }, { true, true, true } },
	/* it ended after its task; it still runs; a delay that cannot be */
	{ PROCESSES "done\t4200000\t205\t200\t3000000" SOME "9\n", { 5000, 17000, 900000 }, { true, false, true } },
	{ PROCESSES "runs\t4000000\t205\t200\t3000000" SOME "9\n", { 5000, 17000, 900000 }, { true, false, true } },
	{ PROCESSES "done\t2000000\t205\t202\t10" SOME "999999999\n", { 342, 17000, 900000 }, { false, true, true } },
	{ PROCESSES "done\t6000000\t302\t300\t1000000" SOME "900000\n", { 342, 17000, 900500 }, { false, false, true } },
	{ "buildbeat processes 1\ndone\t4000000\t200\t100\t3000000\n", { 5000, -1, 900000 }, { true, false, true } },
};

TEST_EACH(delays_of_processes, processes)
{
	RELEASED(recording, rec, sums);
	struct error err;

	support_writes(support_path("%s/build", support_tmpdir()), "buildbeat build 1\nstart_mono_ns: 5\n");
	support_writes(support_path("%s/tasks.log", support_tmpdir()), TASKS);
	support_writes(support_path("%s/proc_tasks.log", support_tmpdir()), SAMPLES);
	support_writes(support_path("%s/processes.log", support_tmpdir()), processes[_i].processes);
	recorded_open(&rec, support_tmpdir(), NULL);
	ck_assert_int_eq(recording_read_sums(&sums, support_tmpdir(), NULL, &err), 0);
	ck_assert_uint_eq(sums.n_spans, 0);
	ck_assert_uint_eq(rec.n_tasks, 3);
	for (size_t i = 0; i < 3; i++) {
		ck_assert_int_eq(rec.task[i].delay_us, processes[_i].delay_us[i]);
		ck_assert_int_eq(rec.task[i].delay_at_least, processes[_i].at_least[i]);
		ck_assert_int_eq(sums.task[i].delay_us, rec.task[i].delay_us);
		ck_assert_int_eq(sums.task[i].delay_at_least, rec.task[i].delay_at_least);
	}
}

/* The sum over three tasks is a lower bound if one of them is not known. */
TEST_LOOP(sums_of_delays, 2)
{
	RELEASED(recorded, r);
	struct cost sum = { 0 };
	int64_t n;

	support_writes(support_path("%s/processes.log", support_tmpdir()),
		       support_path("buildbeat processes 1\n"
				    "done\t2000000\t202\t201\t800000" SOME "10000\n"
				    "done\t4000000\t200\t100\t3000000" SOME "2\n"
				    "done\t6000000\t300\t100\t1000000" SOME "%s\n", _i ? "" : "500"));
	recorded_make(&r, "", strchr(TASKS, '\n') + 1, NULL);
	for (size_t i = 0; i < 3; i++)
		cost_add(&sum, &r.sum.nest[i].cost);
	ck_assert_int_eq(value_shown(&n, VALUE_DELAY, &sum), _i ? VALUE_AT_LEAST : VALUE_EXACT);
	ck_assert_int_eq(n, _i ? 10002 : 10502);
}

TEST_MAIN(delay);
