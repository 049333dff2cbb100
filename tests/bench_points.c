/* SPDX-License-Identifier: MIT */
/*
 * How well change points are found in labelled series, and in series with the same noise and
 * new steps, of two seeds.
 */
#include "tests/labelled.h"

#include <stdio.h>

#define DRAWN 4000
#define F1_BAR 0.96

static int print(const char *what, const struct labelled_set *set)
{
	struct labelled_score s;

	if (labelled_score(&s, set))
		return 1;
	printf("%-10s F1 %.3f (bar: %.2f), precision %.3f, recall %.3f; by size in sigmas:", what,
	       labelled_f1(&s), F1_BAR, (double)s.right / (double)(s.right + s.wrong),
	       (double)s.right / (double)(s.right + s.missed));
	for (int i = 0; i < LABELLED_CLASSES; i++)
		printf(" %s %.2f", (const char *const[]){ "below 1", "1-3", "3-6", "above 6" }[i],
		       (double)s.found[i] / (double)(s.steps[i] ? s.steps[i] : 1));
	printf("; false in %zu quiet series %zu; intervals hold %.3f (bar: 0.95)\n", s.quiet,
	       s.wrong_in_quiet, (double)s.covered / (double)s.right);
	return 0;
}

int main(void)
{
	struct labelled_set shared, drawn;
	int failed = 0;

	if (!labelled_read(&shared)) {
		puts("change points of labelled series: not measured: no data beside the sources");
	} else {
		failed = print("labelled", &shared);
		for (int seed = 1; !failed && seed <= 2; seed++) {
			labelled_draw(&drawn, &shared, DRAWN, 1000003 * (uint64_t)seed);
			failed = print(seed == 1 ? "drawn 1" : "drawn 2", &drawn);
			labelled_release(&drawn);
		}
	}
	labelled_release(&shared);
	return failed;
}
