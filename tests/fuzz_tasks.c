/* SPDX-License-Identifier: MIT */
/* The body of a request for a background task, and what it would run. */
#include "live/job_plan.h"
#include "tests/fuzz.h"

#include <stdio.h>
#include <string.h>

FUZZ_TARGET(tasks)
{
	static struct catalogue_entry entry = { .id = "rec" };
	static const struct catalogue catalogues[] = {
		{ .kind = CATALOGUE_DIRECTORY, .path = "/nowhere", .n = 1, .entry = &entry },
		{ .kind = CATALOGUE_ARCHIVE, .path = "/nowhere.git" },
	};
	static struct job_plan plan;
	struct error err = { .message = "" };

	for (size_t i = 0; i < 2; i++) {
		int r = job_plan(&plan, &catalogues[i], (const char *)data, size, &err);

		check(r <= 0 && (!r || *err.message));
		if (r)
			continue;
		check(plan.n && plan.n <= JOB_WORDS_MAX && !plan.word[plan.n] && plan.limit_us > 0);
		check(plan.used <= sizeof plan.text && *plan.title && plan.type);
		for (size_t w = 0; w < plan.n; w++)
			check(plan.word[w] >= plan.text &&
			      plan.word[w] + strlen(plan.word[w]) < plan.text + plan.used);
	}
	return 0;
}
