/* SPDX-License-Identifier: MIT */
/*
 * Cost of `record --processes`: CPU time of the thread that follows 5,000 processes, each of
 * which executes a program, and the number of processes it missed.
 */
#include "base/clock.h"
#include "sampler/processes.h"
#include "tests/support.h"

#define EXECS 5000
#define ROUNDS 3

static _Noreturn void execute_many(int hold)
{
	char go;

	if (read(hold, &go, 1) != 1)
		_exit(1);
	for (unsigned i = 0; i < EXECS; i++) {
		pid_t pid = vfork();

		if (!pid) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(127);
		}
		waitpid(pid, NULL, 0);
	}
	_exit(0);
}

static void measure(const struct processes_options *o, const char *bar)
{
	int dir_fd = open(support_tmpdir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct processes_result r;
	struct processes *p;
	struct error err;
	char source[64];
	int hold[2];
	pid_t pid;

	ck_assert_int_eq(processes_new(&p, dir_fd, clock_mono_ns(), o, &err), 0);
	snprintf(source, sizeof source, "%s", processes_source(p));
	ck_assert_int_eq(pipe2(hold, O_CLOEXEC), 0);
	pid = fork();
	if (!pid)
		execute_many(hold[0]);
	ck_assert_int_eq(processes_start(p, pid), 0);
	ck_assert_int_eq(write(hold[1], "", 1), 1);
	waitpid(pid, NULL, 0);
	processes_stop(p, &r);
	processes_free(p);
	printf("processes, %-25s %6.2f us cpu each, %llu of %d seen, %llu events lost  %s\n",
	       source, (double)r.cpu_us / EXECS, (unsigned long long)r.n - 1, EXECS,
	       (unsigned long long)r.n_lost, bar);
	close(hold[0]);
	close(hold[1]);
	close(dir_fd);
}

TEST_UNTIMED(bench_processes)
{
	static const struct processes_options plain = { .no_taskstats = true };
	static const struct processes_options looks = { .no_connector = true };

	for (unsigned i = 0; i < ROUNDS; i++)
		measure(&plain, "bar: <= 15 us, all, 0");
	measure(NULL, "");
	measure(&looks, "");
}

int main(void)
{
	return support_main();
}
