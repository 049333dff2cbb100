/* SPDX-License-Identifier: MIT */
/*
 * What a span costs: begin and end through the ABI, beside two notes, which are lines without a
 * table, as spans were before they nested. Then what the command costs a script, beside /bin/true.
 * CPU time; the minimum of many short runs counts, because other load only makes runs longer.
 */
#include "plugin/buildbeat_plugin.h"
#include "tests/paths.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 60
#define LOOPS 300
#define COMMANDS 25

static const struct buildbeat_api *api;
static struct buildbeat_session *session;
static int null_fd;

static int64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void one_write(void)
{
	if (write(null_fd, "", 1) != 1)
		abort();
}

static void notes(void)
{
	api->note(session, 0, "a span");
	api->note(session, 0, "a span");
}

static void span(void)
{
	api->span_end(session, 0, api->span_begin(session, 0, "a span"));
}

static void stack(void)
{
	char text[256];

	api->span_stack(session, BUILDBEAT_STACK_COMBINED, text, sizeof text);
}

static void ignore(const struct buildbeat_span_event *event, void *data)
{
	(void)event;
	(void)data;
}

static void measure(double ns[], void (*const call[])(void), size_t n)
{
	for (int round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < n; i++) {
			int64_t start = cpu_ns();
			double each;

			for (int k = 0; k < LOOPS; k++)
				call[i]();
			each = (double)(cpu_ns() - start) / LOOPS;
			if (!round || each < ns[i])
				ns[i] = each;
		}
	}
}

extern char **environ;

/* CPU time of a process, in us. */
static double command_us(const char *const argv[])
{
	posix_spawn_file_actions_t actions;
	double least = 0;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, null_fd, STDOUT_FILENO);
	for (int i = 0; i < COMMANDS; i++) {
		struct rusage u;
		double us;
		int status;
		pid_t pid;

		if (posix_spawn(&pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv, environ) ||
		    wait4(pid, &status, 0, &u) < 0 || status)
			abort();
		us = 1e6 * (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
		     (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
		if (!i || us < least)
			least = us;
	}
	posix_spawn_file_actions_destroy(&actions);
	return least;
}

static void print_commands(void)
{
	const char *const truth[] = { "/bin/true", NULL };
	const char *const begin[] = { TOP_BUILDDIR "/buildbeat", "span", "begin", "x", NULL };
	const char *const end[] = { TOP_BUILDDIR "/buildbeat", "span", "end", "x", NULL };
	const char *const around[] = { TOP_BUILDDIR "/buildbeat", "span", "x", "/bin/true", NULL };
	const char *const version[] = { TOP_BUILDDIR "/buildbeat", "--version", NULL };
	double base = command_us(truth);

	setenv("MAKEFILES", api->ticket(session), 1);
	printf("span commands, CPU us of the process: true %.0f, buildbeat --version %.0f\n", base,
	       command_us(version));
	printf("  span begin %.0f, span end %.0f, span NAME true %.0f (with true)\n",
	       command_us(begin), command_us(end), command_us(around));
}

int main(void)
{
	void (*const calls[])(void) = { one_write, notes, span, stack };
	const struct buildbeat_api *(*get)(uint32_t);
	char dir[] = "/tmp/bench_span-XXXXXX", path[64];
	struct buildbeat_host host = {
		.size = sizeof host, .tool = "bench", .dir = path, .interval_ms = -1,
	};
	void *so = dlopen(TOP_BUILDDIR "/plugin/buildbeat.so", RTLD_NOW);
	double ns[4], deep[4], watched[4];

	if (!so || !mkdtemp(dir))
		return 77;
	*(void **)&get = dlsym(so, "buildbeat_get_api");
	api = get(BUILDBEAT_API_MAJOR);
	snprintf(path, sizeof path, "%s/one", dir);
	session = api->open(&host);
	if (!session)
		return 77;
	null_fd = open("/dev/null", O_WRONLY);
	measure(ns, calls, 4);
	for (int i = 0; i < 10; i++)
		api->span_begin(session, 0, "outer");
	measure(deep, calls, 4);
	api->span_watch(session, ignore, NULL);
	measure(watched, calls, 3);
	printf("span, begin and end: %.2fx of two notes (%.0f of %.0f ns); in 10 spans %.2fx; "
	       "watched %.2fx\n", ns[2] / ns[1], ns[2], ns[1], deep[2] / deep[1], watched[2] / watched[1]);
	printf("  write(2) of a byte %.0f ns; the stack of 10 spans %.0f ns\n", ns[0], deep[3]);
	print_commands();
	api->close(session);
	snprintf(path, sizeof path, "rm -r %s", dir);
	return system(path) != 0;
}
