/* SPDX-License-Identifier: MIT */
/*
 * CPU time of each reply about a recording of 100,000 tasks that was read before, beside reading it:
 * the first one, for which tables may be made, and the cheapest of the next ones. Readers cache
 * further ones of the same request.
 */
#include "live/reply.h"
#include "live/source.h"
#include "tests/paths.h"
#include "tests/spend.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define ROUNDS 7
#define BAR_MS 10

static double cpu_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static double reply_ms(struct source *s, const struct route *route, size_t *len, int *status)
{
	const struct task *t = &s->recording.task[s->recording.n_tasks / 2];
	const char *query = "";
	double start = cpu_ms();
	struct reply reply;
	char id[64];

	if (strstr(route->parameters, ", id")) {
		snprintf(id, sizeof id, "id=%.40s.%llu", s->recording.instance[t->instance].id,
			 (unsigned long long)t->seq);
		query = id;
	}
	reply_make(&reply, s, route->path, query, strlen(query), false);
	start = cpu_ms() - start;
	*len = reply.body.len;
	*status = reply.status;
	buf_release(&reply.body);
	return start;
}

static void measure_route(struct source *s, const struct route *route, double read_ms)
{
	double first, best = 1e9, ms;
	size_t len;
	int status;

	first = reply_ms(s, route, &len, &status);
	for (int i = 0; i < ROUNDS; i++) {
		ms = reply_ms(s, route, &len, &status);
		best = ms < best ? ms : best;
	}
	printf("%-20s %d  %.3f x reading it; %.2f ms (bar: %d), the first %.1f ms, %zu kB\n", route->path,
	       status, best / read_ms, best, BAR_MS, first, len / 1000);
}

static int measure(const char *dir)
{
	char path[64];
	const char *const generate[] = {
		TOP_BUILDDIR "/tests/gen_recording", path, "100000", NULL
	};
	struct catalogue catalogue;
	struct source s;
	struct error err;
	double start, read_ms;

	snprintf(path, sizeof path, "%s/rec", dir);
	if (spend(generate).status || catalogue_open(&catalogue, path, &err) ||
	    source_init(&s, &catalogue, "rec"))
		return 1;
	start = cpu_ms();
	if (source_update(&s, &err) || source_need(&s, SOURCE_ANSWER, &err))
		return 1;
	read_ms = cpu_ms() - start;
	printf("replies of 100,000 tasks: reading them %.0f ms CPU\n", read_ms);
	for (size_t i = 0; routes_all[i]; i++) {
		for (const struct route *r = routes_all[i]; r->path; r++) {
			if (reply_needs_recording(r))
				measure_route(&s, r, read_ms);
		}
	}
	source_release(&s);
	catalogue_release(&catalogue);
	return 0;
}

int main(void)
{
	return spend_in_tmpdir(measure, "bench_replies: cannot make or read a recording");
}
