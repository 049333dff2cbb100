/*
 * What `buildbeat show` takes of 100,000 tasks and 36,000 samples: processor time
 * of the whole process, side by side with reading the recording alone.
 */
#include "recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 7
#define BAR_MS 120

/* In a process of its own: both pay for fresh memory. */
static int read_only(const char *path)
{
	struct recording rec = RECORDING_INIT;
	struct error err;
	int r = recording_read_sums(&rec, path, NULL, &err);

	recording_release(&rec);
	return r ? 1 : 0;
}

/* argv[0] NULL: read the recording argv[1] here. */
static double spawn_ms(const char *const *argv, int *status)
{
	struct rusage usage;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (!argv[0])
			_exit(read_only(argv[1]));
		if (!freopen("/dev/null", "w", stdout))
			_exit(126);
		execv(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, status, 0, &usage) != pid) {
		*status = -1;
		return 0;
	}
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
}

static int measure(const char *path)
{
	const char *const show[] = { TOP_BUILDDIR "/buildbeat", "show", path, NULL };
	const char *const reading[] = { NULL, path, NULL };
	double best_show = 1e9, best_read = 1e9;
	int status;

	for (int i = 0; i < ROUNDS; i++) {
		double ms = spawn_ms(show, &status);

		if (status)
			return 1;
		best_show = ms < best_show ? ms : best_show;
		ms = spawn_ms(reading, &status);
		if (status)
			return 1;
		best_read = ms < best_read ? ms : best_read;
	}
	printf("show of 100,000 tasks + 36,000 samples: %.2f x reading it alone; "
	       "%.0f ms CPU (bar: %d), reading %.0f ms\n",
	       best_show / best_read, best_show, BAR_MS, best_read);
	return 0;
}

int main(void)
{
	char dir[] = "/tmp/buildbeat-bench-XXXXXX", path[sizeof dir + 8];
	const char *const generate[] = {
		TOP_BUILDDIR "/tests/gen_recording", path, "100000", "36000", NULL
	};
	const char *const clean[] = { "/bin/rm", "-rf", dir, NULL };
	int status, failed = 1;

	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof path, "%s/rec", dir);
	spawn_ms(generate, &status);
	if (!status)
		failed = measure(path);
	spawn_ms(clean, &status);
	if (failed)
		fprintf(stderr, "bench_show: cannot make or show a recording\n");
	return failed;
}
