/* SPDX-License-Identifier: MIT */
/*
 * CPU time of gnuplot's three charts of 100,000 tasks and 36,000 samples after reading,
 * beside starting gnuplot three times.
 */
#include "render/plot/gnuplot.h"
#include "render/plot/plot.h"
#include "tests/paths.h"
#include "tests/spend.h"

#include <stdio.h>
#include <unistd.h>

#define ROUNDS 5
#define BAR_MS 1000

struct work {
	const char *dir;
	struct recording rec;
	struct summary sum;
	struct panels panels;
};

static int draw(void *context)
{
	struct work *w = context;
	int r = 0;

	for (unsigned chart = 0; chart < PLOTS && !r; chart++) {
		struct plot p = { .chart = (enum plot_chart)chart, .directory = w->dir };
		struct error err;

		r = plot_draw(&p, &w->sum, &w->panels, NULL, &err);
	}
	return r;
}

static int start(void *context)
{
	struct work *w = context;
	int r = 0;

	for (int i = 0; i < PLOTS && !r; i++) {
		struct error err;

		r = gnuplot_run(&(struct gnuplot){ w->dir, "nothing", BAR_MS * 10, 0 }, NULL, &err);
	}
	return r;
}

static int measure(struct work *w)
{
	struct spent best = { 0 }, best_start = { 0 };

	for (int i = 0; i < ROUNDS; i++) {
		struct spent s = spend_here(draw, w), starting = spend_here(start, w);

		if (s.status || starting.status)
			return 1;
		spent_keep_best(&best, &s);
		spent_keep_best(&best_start, &starting);
	}
	printf("three charts by gnuplot of 36,000 samples: %.1f x starting it three times; "
	       "%.0f ms (bar: %d), %.0f ms CPU\n", best.cpu_ms / best_start.cpu_ms,
	       best.wall_ms, BAR_MS, best.cpu_ms);
	return 0;
}

static int prepare(struct work *w, const char *path)
{
	const char *const generate[] = {
		TOP_BUILDDIR "/tests/gen_recording", path, "100000", "36000", NULL
	};
	char nothing[64];
	struct error err;
	FILE *f;

	snprintf(nothing, sizeof nothing, "%s/nothing", w->dir);
	f = fopen(nothing, "w");
	if (!f || fclose(f) || spend(generate).status)
		return 1;
	return recording_read_sums(&w->rec, path, NULL, &err) ||
	       summary_make(&w->sum, &w->rec) || panels_make(&w->panels, &w->sum);
}

static int bench(const char *dir)
{
	char path[64];
	struct work w = { .dir = dir };
	int failed;

	snprintf(path, sizeof path, "%s/rec", dir);
	failed = prepare(&w, path) || measure(&w);
	panels_release(&w.panels);
	summary_release(&w.sum);
	recording_release(&w.rec);
	return failed;
}

int main(void)
{
	return spend_in_tmpdir(bench, "bench_plot: cannot make or draw a recording");
}
