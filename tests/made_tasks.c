/* SPDX-License-Identifier: MIT */
#include "tests/made_tasks.h"

#include "base/arena.h"
#include "base/name_table.h"
#include "tests/support.h"

struct given {
	struct name_table names, *packages;	/* packages of each build */
	size_t n;		/* tasks before they were joined */
	uint32_t *to;		/* of each task */
	bool *ran;		/* ran[task * builds + build] */
};

float made_tasks_value(size_t task, size_t build)
{
	return (float)(1000 * (task + 1) + build);
}

static int row(const struct builds *builds, uint32_t build, enum metric m, float *values,
	       struct error *err)
{
	const struct given *g = builds->context;

	(void)err;
	for (size_t t = 0; t < builds->n_tasks; t++)
		values[t] = NAN;
	for (size_t t = 0; t < g->n && m <= METRIC_CPU; t++) {
		if (g->ran[t * builds->n + build])
			values[g->to[t]] = made_tasks_value(t, build) * (m == METRIC_CPU ? 2 : 1);
	}
	return 0;
}

static int load(const struct builds *builds, enum metric m, float *values, struct error *err)
{
	float *one = malloc((builds->n_tasks + 1) * sizeof *one);

	for (uint32_t i = 0; i < builds->n; i++) {
		row(builds, i, m, one, err);
		for (size_t t = 0; t < builds->n_tasks; t++)
			values[t * builds->n + i] = one[t];
	}
	free(one);
	return 0;
}

static int ran(const struct builds *builds, uint32_t build, uint64_t *set, struct error *err)
{
	const struct given *g = builds->context;
	bool same = build > 0;

	(void)err;
	for (size_t t = 0; t < g->n; t++) {
		const bool *row = g->ran + t * builds->n;

		if (row[build])
			set[g->to[t] / 64] |= UINT64_C(1) << g->to[t] % 64;
		same = same && row[build] == row[build - 1];
	}
	if (same)
		memset(set, 0, (builds->n_tasks + 63) / 64 * sizeof *set);
	return same;
}

static int packages(const struct builds *builds, uint32_t build, struct name_table *names,
		    struct error *err)
{
	const struct given *g = builds->context;
	uint32_t number;
	int r = 0;

	(void)err;
	for (size_t i = 0; !r && i < g->packages[build].n; i++)
		r = name_table_add(names, g->packages[build].name[i], &number);
	return r;
}

static void join(struct builds *builds, const uint32_t *to)
{
	struct given *g = builds->context;

	for (size_t t = 0; t < g->n; t++)
		g->to[t] = to[g->to[t]];
}

static void end(struct builds *builds)
{
	struct given *g = builds->context;

	for (size_t i = 0; i < builds->n; i++)
		name_table_release(&g->packages[i]);
	free(g->packages);
	name_table_release(&g->names);
	free(g->to);
	free(g->ran);
	free(g);
}

static void add_words(struct builds *builds, const char *text, size_t build)
{
	struct given *g = builds->context;
	bool packages = false;
	uint32_t number;
	char *word, *rest, *copy = strdup(text);

	for (word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		size_t len = strlen(word);
		bool last = word[len - 1] == ']';

		packages = packages || *word == '[';
		word += *word == '[';
		word[strlen(word) - last] = '\0';
		for (char *p = word; *p; p++)
			*p = *p == '~' ? ' ' : *p;
		ck_assert_int_eq(name_table_add(packages ? &g->packages[build] : &g->names,
						slice_of(word), &number), 0);
		if (!packages)
			g->ran[number * builds->n + build] = true;
		packages = packages && !last;
	}
	free(copy);
}

void made_tasks(struct builds *builds, const char *const *build, size_t n)
{
	struct given *g = calloc(1, sizeof *g);
	size_t most = 0;

	*builds = (struct builds){
		.texts = arena_new(), .ref = "host/main/x86", .n = n, .load = load, .row = row,
		.ran = ran, .packages = packages, .join = join, .end = end, .context = g,
		.build = calloc(n + 1, sizeof *builds->build),
	};
	for (size_t i = 0; i < n; i++)
		most += strlen(build[i]);
	g->names.arena = builds->texts;
	g->packages = calloc(n + 1, sizeof *g->packages);
	g->ran = calloc((most + 1) * n, sizeof *g->ran);
	for (size_t i = 0; i < n; i++) {
		bool failed = *build[i] == '!';

		g->packages[i].arena = builds->texts;
		builds->build[i] = (struct build){ .id = "1234567890", .run = "", .start_s = -1 };
		for (enum total t = 0; t < TOTALS; t++)
			builds->build[i].total[t] = -1;
		builds->build[i].total[TOTAL_STATUS] = failed ? 2 : 0;
		add_words(builds, build[i] + failed, i);
	}
	g->n = builds->n_tasks = g->names.n;
	g->to = malloc((g->n + 1) * sizeof *g->to);
	builds->task = calloc(g->n + 1, sizeof *builds->task);
	for (size_t t = 0; t < g->n; t++) {
		g->to[t] = (uint32_t)t;
		builds->task[t].name = g->names.name[t].p;
		builds->task[t].kind = "compile";
	}
}
