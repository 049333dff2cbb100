/* SPDX-License-Identifier: MIT */
#include "tests/made_series.h"

#include "base/arena.h"
#include "base/buf.h"
#include "compare/rules.h"
#include "tests/noise.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A metric from which another is derived is stored once. */
struct kept {
	size_t n;		/* builds */
	float *values[METRICS];
};

#define TASKS_OF_RECIPE 10

static const double typical[METRICS] = {
	[METRIC_WALL] = 8e6, [METRIC_CPU] = 7e6, [METRIC_MEMORY] = 150e3, [METRIC_PEAK] = 200e3,
	[METRIC_IO] = 20e6, [METRIC_READ] = 8e6, [METRIC_WRITTEN] = 12e6,
};

static uint64_t seed_of(const struct made *made, uint64_t what)
{
	return made->seed * UINT64_C(1000003) + what * UINT64_C(7919);
}

static double student(struct noise *noise, int df)
{
	double squares = 0;

	for (int i = 0; i < df; i++) {
		double x = noise_normal(noise);

		squares += x * x;
	}
	return noise_normal(noise) / sqrt(squares / df);
}

/* The first and last build with a task. */
static void stay_of(const struct made *made, size_t task, size_t *first, size_t *end)
{
	struct noise noise = { seed_of(made, 5000000 + task) };
	size_t some = (size_t)(noise_uniform(&noise) * made->builds);

	*first = 0;
	*end = made->builds;
	if (noise_uniform(&noise) >= made->passing)
		return;
	if (noise_uniform(&noise) < 0.5)
		*first = some;
	else
		*end = some;
}

static double changed_by(const struct made *made, size_t task, enum metric m, size_t build)
{
	double factor = 1;

	for (size_t i = 0; i < made->n_changes; i++) {
		const struct made_change *c = &made->change[i];
		size_t end = c->until ? c->until : made->builds;
		double part = c->creep ? (build + 1.0 - c->build) / (end - c->build) : 1;

		if ((c->task != MADE_ALL && c->task != task) ||
		    (c->metrics && !(c->metrics & METRIC_BIT(m))) || build < c->build ||
		    (build >= end && !c->creep))
			continue;
		factor *= 1 + c->by * (part > 1 ? 1 : part);
	}
	return factor;
}

static double level_of(const struct made *made, size_t task, enum metric m)
{
	struct noise noise = { seed_of(made, 6000000 + task) };
	double wall = 1.5 * noise_normal(&noise), own = 0.3 * noise_normal(&noise);

	if (made->quick && made->quick[task])
		return (0.2e6 + 0.5e6 * noise_uniform(&noise)) * (m == METRIC_WALL ? 1 : 0.9);
	if (made->level_us > 0)
		return m == METRIC_WALL ? made->level_us : typical[m];
	return typical[m] * exp(wall + (m == METRIC_WALL ? 0 : own));
}

/* A spell: 0 or 1, which a build keeps from the one before with this probability. */
static int spell(struct noise *noise, int before, double keep)
{
	return noise_uniform(noise) < keep ? before : noise_uniform(noise) < 0.5;
}

static void make_task(const struct made *made, size_t task, enum metric m, const double *host,
		      float *v)
{
	struct noise noise = { seed_of(made, 100 * task + m) };
	struct noise together = { seed_of(made, 8000000 + 100 * (task / TASKS_OF_RECIPE) + m) };
	struct noise both = { seed_of(made, 9000000 + task) }, own = { seed_of(made, 10000000 + task) };
	double level = level_of(made, task, m), before = noise_normal(&noise);
	double spread = made->noise * exp(made->uneven * noise_normal(&noise));
	double shows = 1 + made->unlike * noise_normal(&own);
	bool halved = noise_uniform(&own) < made->half;
	int slow = 0;
	size_t first, end;

	stay_of(made, task, &first, &end);
	for (size_t i = 0; made->metrics && !(made->metrics & METRIC_BIT(m)) && i < made->builds; i++)
		v[i] = NAN;
	for (size_t i = 0; (!made->metrics || made->metrics & METRIC_BIT(m)) && i < made->builds; i++) {
		double x = made->student ? student(&noise, made->student) : noise_normal(&noise);
		double recipe = made->recipe > 0 ? made->recipe * noise_normal(&together) : 0, value;
		double shared = noise_normal(&both), spike = noise_uniform(&noise);
		double spike_of_both = noise_uniform(&both), ran = noise_uniform(&own);

		x = sqrt(made->couple) * shared + sqrt(1 - made->couple) * x;
		before = x = made->alike * before + sqrt(1 - made->alike * made->alike) * x;
		if (made->doubles && i >= made->doubles)
			x *= 2;
		slow = spell(&own, slow, 0.8);
		value = level * exp(spread * x + recipe + shows * host[i] + made->levels * slow) *
			changed_by(made, task, m, i);
		if ((noise_uniform(&both) < made->couple ? spike_of_both : spike) < made->spikes)
			value *= 1.3 - 0.1 * log(noise_uniform(&noise));
		if (noise_uniform(&noise) < made->missing || i < first || i >= end ||
		    (halved && ran < 0.5))
			value = NAN;
		v[i] = (float)round(value);
	}
}

/* What the machine does to all times of a metric, as logarithms. */
static void make_host(const struct made *made, enum metric m, double *host)
{
	struct noise noise = { seed_of(made, 7000000 + m) }, both = { seed_of(made, 7500000) };
	int throttled = 0;
	double drifting = 0;

	for (size_t i = 0; i < made->builds && metric_info[m].time; i++) {
		double x = sqrt(made->couple) * noise_normal(&both) +
			   sqrt(1 - made->couple) * noise_normal(&noise);

		drifting = (i ? made->drift * drifting : 0) +
			   made->host * sqrt(1 - made->drift * made->drift) * x;
		throttled = spell(&both, throttled, 0.4);
		host[i] = drifting + made->turbo * throttled +
			  (noise_uniform(&both) < 0.5 ? made->day : 0);
	}
}

static int make_metric(struct builds *builds, const struct made *made, enum metric m)
{
	struct kept *kept = builds->context;
	double *host = calloc(made->builds + 1, sizeof *host);

	kept->values[m] = malloc((made->tasks * made->builds + 1) * sizeof *kept->values[m]);
	if (host && kept->values[m]) {
		make_host(made, m, host);
		for (size_t k = 0; k < made->tasks; k++)
			make_task(made, k, m, host, kept->values[m] + k * made->builds);
	}
	free(host);
	return kept->values[m] && host ? 0 : -ENOMEM;
}

/* Most metrics of a build are the sum of its tasks; memory is the maximum. */
static int64_t total_of(const struct builds *builds, enum metric m, size_t build)
{
	const struct kept *kept = builds->context;
	double sum = 0, largest = 0;

	for (size_t k = 0; k < builds->n_tasks; k++) {
		float v = kept->values[m][k * builds->n + build];

		sum += isnan(v) ? 0 : v;
		largest = v > largest ? v : largest;
	}
	return (int64_t)(m == METRIC_MEMORY || m == METRIC_PEAK ? largest : sum);
}

static int64_t tasks_of(const struct builds *builds, size_t build)
{
	const struct kept *kept = builds->context;
	int64_t n = 0;

	for (size_t k = 0; k < builds->n_tasks; k++)
		n += !isnan(kept->values[METRIC_WALL][k * builds->n + build]);
	return n;
}

/* A copy that lives as long as the builds; releases the text. */
static const char *keep(struct builds *builds, struct buf *text)
{
	const char *kept = buf_error(text) ? NULL : arena_text(builds->texts, buf_str(text), text->len);

	buf_release(text);
	return kept;
}

static const char *task_name(struct builds *builds, size_t task)
{
	struct buf text = BUF_INIT;

	buf_addf(&text, "recipe%zu: do_task%zu", task / TASKS_OF_RECIPE,
		 task % TASKS_OF_RECIPE);
	return keep(builds, &text);
}

static const char *run_name(struct builds *builds, size_t build)
{
	struct buf text = BUF_INIT;

	buf_addf(&text, "run-%zu", build);
	return keep(builds, &text);
}

/* 40 digits, as git's ids. */
static const char *commit_name(struct builds *builds, size_t i, uint64_t factor)
{
	struct buf text = BUF_INIT;

	buf_addf(&text, "%08llx%032zx", (unsigned long long)((i + 1) * factor % 4294967296u), i);
	return keep(builds, &text);
}

static int make_build(struct builds *builds, size_t i)
{
	struct build *build = &builds->build[i];

	build->id = commit_name(builds, i, 2654435761u);
	build->run = run_name(builds, i);
	build->revision = arena_alloc(builds->texts, sizeof *build->revision);
	if (!build->id || !build->run || !build->revision)
		return -ENOMEM;
	build->n_revisions = 1;
	build->revision[0] = (struct revision){
		.source = "src", .count = 1000 + 3 * (int64_t)i,
		.commit = commit_name(builds, i, 2246822519u),
	};
	build->start_s = 1767225600 + 86400 * (int64_t)i;
	for (enum total t = 0; t < TOTALS; t++)
		build->total[t] = -1;
	build->total[TOTAL_WALL_US] = total_of(builds, METRIC_WALL, i) / 4;
	build->total[TOTAL_USER_US] = total_of(builds, METRIC_CPU, i);
	build->total[TOTAL_SYSTEM_US] = 0;
	build->total[TOTAL_MAX_RSS_KB] = total_of(builds, METRIC_MEMORY, i);
	build->total[TOTAL_PEAK_KB] = total_of(builds, METRIC_PEAK, i);
	build->total[TOTAL_READ_BYTES] = total_of(builds, METRIC_READ, i);
	build->total[TOTAL_WRITTEN_BYTES] = total_of(builds, METRIC_WRITTEN, i);
	build->total[TOTAL_TASKS] = tasks_of(builds, i);
	build->total[TOTAL_FAILED] = build->total[TOTAL_STATUS] = 0;
	return build->revision[0].commit ? 0 : -ENOMEM;
}

static int load(const struct builds *builds, enum metric m, float *values, struct error *err)
{
	const struct kept *kept = builds->context;

	(void)err;
	memcpy(values, kept->values[m], builds->n_tasks * builds->n * sizeof *values);
	return 0;
}

static int row(const struct builds *builds, uint32_t build, enum metric m, float *values,
	       struct error *err)
{
	const struct kept *kept = builds->context;

	(void)err;
	for (size_t task = 0; task < builds->n_tasks; task++)
		values[task] = kept->values[m][task * kept->n + build];
	return 0;
}

static void end(struct builds *builds)
{
	struct kept *kept = builds->context;

	for (enum metric m = 0; kept && m < METRICS; m++)
		free(kept->values[m]);
	free(kept);
}

void made_series_rules(struct rules *rules)
{
	rules_init(rules);
	rules->metrics = METRIC_BIT(METRIC_WALL) | METRIC_BIT(METRIC_CPU);
	for (enum metric m = 0; m < METRICS; m++)
		rules->gate[m].amount = 0;
}

float *made_series_values(struct builds *builds, enum metric m)
{
	return ((struct kept *)builds->context)->values[m];
}

int made_series(struct builds *builds, const struct made *made)
{
	int r = 0;

	*builds = (struct builds){
		.texts = arena_new(), .ref = "host/main/x86", .n = made->builds,
		.build = calloc(made->builds + 1, sizeof *builds->build), .n_tasks = made->tasks,
		.task = calloc(made->tasks + 1, sizeof *builds->task), .load = load, .row = row, .end = end,
		.context = calloc(1, sizeof(struct kept)),
	};
	if (!builds->texts || !builds->build || !builds->task || !builds->context)
		return -ENOMEM;
	((struct kept *)builds->context)->n = made->builds;
	for (size_t k = 0; k < made->tasks; k++) {
		builds->task[k].name = task_name(builds, k);
		builds->task[k].kind = "task";
	}
	for (enum metric m = 0; !r && m < METRICS; m++)
		r = make_metric(builds, made, m);
	for (size_t i = 0; !r && i < made->builds; i++)
		r = make_build(builds, i);
	return r;
}
