/* SPDX-License-Identifier: MIT */
/*
 * usage: remaining_replay RECORDING...
 *
 * The recordings are builds of one thing, in their order. Each is predicted from those before it, as
 * the live server would at many times while it ran. A line for each prediction: the recording's
 * name, how many it was predicted from, the time that had passed, what remained, and what was
 * predicted to remain, with its interval, in microseconds.
 */
#include "compare/remaining.h"
#include "convert/convert.h"
#include "recording/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMES 40

static int learn(struct remaining **r, const struct recording *rec, size_t n)
{
	int error = remaining_new(r);

	for (size_t b = n > REMAINING_BUILDS ? n - REMAINING_BUILDS : 0; !error && b < n; b++)
		error = remaining_add(*r, &rec[b], rec[b].end_us);
	return error ? error : remaining_learn(*r);
}

static int predict(const char *name, const struct recording *rec, size_t n)
{
	struct remaining *r;
	int error = learn(&r, rec, n);

	for (int i = 0; !error && i < TIMES; i++) {
		int64_t wall_us = rec[n].end_us, elapsed_us = wall_us * (2 * i + 1) / (2 * TIMES);
		struct remaining_estimate e;

		error = remaining_estimate(&e, r, &rec[n], elapsed_us);
		if (!error)
			printf("%s %zu %lld %lld %lld %lld %lld\n", name, n, (long long)elapsed_us,
			       (long long)(wall_us - elapsed_us), (long long)e.left_us, (long long)e.low_us,
			       (long long)e.high_us);
	}
	remaining_free(r);
	return error;
}

int main(int argc, char **argv)
{
	struct recording *rec = calloc((size_t)argc, sizeof *rec);
	struct error err;
	size_t n = 0;
	int error = rec ? 0 : 1;

	for (int i = 1; !error && i < argc; i++) {
		const char *slash = strrchr(argv[i], '/');

		rec[n] = (struct recording)RECORDING_INIT;
		error = recording_read_as(&rec[n], argv[i], &(struct recording_options){
			.formats = &convert_formats, .tasks_only = true }, &err);
		if (error) {
			fprintf(stderr, "%s\n", err.message);
		} else if (rec[n].end_us > 0) {
			error = n ? predict(slash ? slash + 1 : argv[i], rec, n) : 0;
			n++;
		}
	}
	return error ? 1 : 0;
}
