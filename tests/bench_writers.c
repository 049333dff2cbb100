/* SPDX-License-Identifier: MIT */
/*
 * 8 processes append 50,000 events each to one recording through the C ABI: no event may be
 * damaged or lost. Prints the cost of an event.
 */
#include "base/clock.h"
#include "plugin/buildbeat_plugin.h"
#include "tests/make_host.h"
#include "tests/support.h"

#include <dlfcn.h>

#define WRITERS 8
#define EVENTS 50000

/* Lines of all lengths up to 4 KiB. */
static void write_events(const struct buildbeat_api *api, const char *dir, int writer)
{
	struct buildbeat_host host = { .size = sizeof host, .dir = dir, .interval_ms = -1 };
	struct buildbeat_task task = { .size = sizeof task, .slot = writer, .name = "task" };
	struct buildbeat_result result = { .size = sizeof result, .rchar = -1, .wchar = -1 };
	struct buildbeat_session *s = api->open(&host);
	static char command[3900];

	memset(command, 'x', sizeof command - 1);
	for (unsigned i = 0; i < EVENTS / 2; i++) {
		/* most lines are short, as in a real build */
		task.command = command + sizeof command - 1 - (i % 16 ? i % 100 : i % 3800);
		api->task_finished(s, api->task_started(s, 0, &task), &result);
	}
	api->close(s);
}

TEST_UNTIMED(bench_writers)
{
	const struct buildbeat_api *(*get)(uint32_t);
	const struct buildbeat_api *api;
	const char *dir = support_path("%s/recording", support_tmpdir());
	struct buildbeat_host host = { .size = sizeof host, .dir = dir, .interval_ms = -1 };
	struct buildbeat_session *s;
	void *so = dlopen(PLUGIN, RTLD_NOW);
	size_t lines, bad, expected = WRITERS * EVENTS + 2 * (WRITERS + 1);
	double one_us, all_us;
	int64_t start_ns;
	int status;

	ck_assert_ptr_nonnull(so);
	*(void **)&get = dlsym(so, "buildbeat_get_api");
	api = get(BUILDBEAT_API_MAJOR);
	s = api->open(&host);
	start_ns = clock_mono_ns();
	for (int i = 0; i < EVENTS; i++)
		api->task_pid(s, 1, i);
	one_us = (double)(clock_mono_ns() - start_ns) / 1e3 / EVENTS;
	start_ns = clock_mono_ns();
	for (int i = 0; i < WRITERS; i++) {
		if (!fork()) {
			write_events(api, dir, i);
			_exit(0);
		}
	}
	while (wait(&status) > 0)
		ck_assert_int_eq(status, 0);
	all_us = (double)(clock_mono_ns() - start_ns) / 1e3;
	api->close(s);
	tasks_count(dir, &lines, &bad);
	printf("writers, %d x %d events      torn %zu lost %zd  (bar: 0, 0)  %.2f us an event alone,"
	       " %.2f us with %d at once\n", WRITERS, EVENTS, bad,
	       (ssize_t)(expected + EVENTS) - (ssize_t)lines, one_us,
	       all_us / (WRITERS * EVENTS), WRITERS);
	ck_assert_uint_eq(bad, 0);
	ck_assert_uint_eq(lines, expected + EVENTS);
}

int main(void)
{
	return support_main();
}
