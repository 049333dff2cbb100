/* SPDX-License-Identifier: MIT */
#include "compare/replay.h"

#include "base/array.h"
#include "base/minmax.h"
#include "compare/parallel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TASKS_AT_ONCE 256
#define TIME_PART 2000		/* of a metric's least amount, added before the logarithm */
#define OTHER_PART 16
#define ALIKE_PRIOR 100		/* values that a correlation of one half counts as */
#define ALIKE_MOST 0.8
#define FADE_FIRST 24
#define LAG_PART 3		/* builds are counted when a third of all builds ago */
#define LAG_LEAST 2

uint32_t replay_task(const struct replay *r, uint32_t row)
{
	return row < r->total_row ? row / (uint32_t)r->n_metrics :
	       row < r->host_row ? TASK_TOTAL : row < r->shared_row ? TASK_HOST : TASK_SHARED;
}

size_t replay_metric(const struct replay *r, uint32_t row)
{
	return row < r->shared_row ? row % r->n_metrics : (row - r->shared_row) % r->n_times;
}

double replay_x(const struct replay *r, uint32_t row, uint32_t build)
{
	size_t m = replay_metric(r, row);

	if (row >= r->shared_row)
		return build < r->first ? (double)NAN : (double)*replay_shared_x(r, row - r->shared_row, build);
	if (row >= r->total_row)
		return r->lone[row - r->total_row].x[build];
	return replay_task_x(r, m, row / (uint32_t)r->n_metrics, build);
}

double replay_amount(const struct replay *r, uint32_t row, double x)
{
	return row < r->host_row ? exp(x) - r->least[replay_metric(r, row)] : exp(x);
}

double replay_fit(const struct replay *r, uint32_t row, double z)
{
	if (row < r->total_row)
		return deviations_ln(&r->offset[replay_metric(r, row)][0], z);
	return -2.5 * log1p(z * z / 4);
}

size_t replay_values(const struct replay *r, uint32_t row, uint32_t begin, uint32_t end,
		     size_t most, double *v)
{
	size_t n = 0;

	begin = replay_least(r, row, begin);
	for (uint32_t b = end; b > begin && n < most; b--) {
		double x = replay_x(r, row, b - 1);

		if (!isnan(x))
			v[n++] = x;
	}
	return n;
}

/* Of a task or the build; its metric is m. */
static const struct gate *own_gate(const struct replay *r, size_t row, enum metric m)
{
	return r->gate ? &r->gate[row] : &r->rules->gate[m];
}

struct gate replay_gate(const struct replay *r, uint32_t row)
{
	enum metric m = r->metric[replay_metric(r, row)];

	if (row < r->host_row)
		return *own_gate(r, row, m);
	return (struct gate){ .share = row < r->shared_row ? r->rules->gate[m].share : replay_shared_gate(r, m) };
}

bool replay_matters(const struct replay *r, uint32_t row, double before, double now)
{
	struct gate gate = replay_gate(r, row);
	double old = fmax(0, replay_amount(r, row, before));
	double new = fmax(0, replay_amount(r, row, now));

	return fabs(new - old) >= gate.share * old && fabs(new - old) >= gate.amount &&
	       !(old < gate.floor && new < gate.floor);
}

static void set_gates(struct replay *r)
{
	for (uint32_t row = 0; r->gate && row < r->host_row; row++)
		r->gate[row] = rules_gate(r->rules, builds_task_name(r->builds, replay_task(r, row)),
					  r->metric[replay_metric(r, row)]);
}

static bool is_good(const struct build *build)
{
	return !(build->total[TOTAL_STATUS] > 0);
}

/* The logarithms of one metric. Builds that failed have no values: they are not whole. */
static int load_logarithms(struct replay *r, size_t m, struct error *err)
{
	enum metric metric = r->metric[m];
	double least = r->least[m] = metric_info[metric].least /
		(metric_info[metric].time ? TIME_PART : OTHER_PART);

	for (uint32_t b = r->first; b < r->end; b++) {
		float *x = r->x[m] + (size_t)(b - r->first) * r->n_tasks;
		bool good = is_good(&r->builds->build[b]);
		int status = good ? r->builds->row(r->builds, b, metric, x, err) : 0;

		if (status)
			return status;
		for (uint32_t task = 0; task < r->n_tasks; task++)
			x[task] = good && isfinite(x[task]) && x[task] >= 0 &&
				!own_gate(r, task * r->n_metrics + m, metric)->ignored ?
				logf(x[task] + (float)least) : NAN;
	}
	for (uint32_t b = 0; b < r->n; b++) {
		double total = build_total(&r->builds->build[b], metric);
		bool ignored = own_gate(r, r->total_row + m, metric)->ignored;

		r->factor[m][b] = r->lone[r->n_metrics + m].x[b] = NAN;
		r->machine[m][b] = NAN;
		r->lone[m].x[b] = ignored || !(total >= 0) ? NAN : log(total + least);
	}
	return 0;
}

static int make_room(struct replay *r)
{
	size_t builds = r->n, spans = r->n_metrics + 1;
	size_t with_values = r->end - r->first;
	size_t n_lone, n_single = 2 * r->n_metrics;
	bool whole = true;

	r->total_row = r->n_tasks * (uint32_t)r->n_metrics;
	r->host_row = r->total_row + (uint32_t)r->n_metrics;
	r->shared_row = r->host_row + (uint32_t)r->n_metrics;
	r->n_rows = r->shared_row + r->n_groups * (uint32_t)r->n_times;
	n_lone = r->n_rows - r->total_row;
	r->cap = builds < (size_t)r->rules->window ? builds : (size_t)r->rules->window;
	r->stride = replay_stride(r->builds);
	r->n_sampled = (r->n_tasks + r->stride - 1) / r->stride;
	for (size_t m = 0; m < r->n_metrics; m++) {
		r->x[m] = array_new(r->n_tasks * with_values, sizeof *r->x[m]);
		r->factor[m] = array_new(builds, sizeof *r->factor[m]);
		r->common[m] = array_new_zero(builds, sizeof *r->common[m]);
		r->machine[m] = array_new(builds, sizeof *r->machine[m]);
		r->longest[m] = array_new(HOSTFACTOR_TASKS, sizeof *r->longest[m]);
		whole = whole && r->x[m] && r->factor[m] && r->common[m] && r->machine[m] &&
			r->longest[m];
	}
	r->lone = array_new_zero(n_lone, sizeof *r->lone);
	r->lone_x = array_new(n_single * builds, sizeof *r->lone_x);
	r->lone_work = array_new(2 * builds, sizeof *r->lone_work);
	if (!r->lone || !r->lone_x || !r->lone_work)
		return -ENOMEM;
	for (size_t i = 0; i < n_lone; i++) {
		r->lone[i].x = i < n_single ? r->lone_x + i * builds : NULL;
		r->lone[i].work = r->lone_work;
		r->lone[i].other = r->lone_work + builds;
		for (size_t b = 0; r->lone[i].x && b < builds; b++)
			r->lone[i].x[b] = NAN;
	}
	r->row = array_new_zero(r->n_rows, sizeof *r->row);
	r->gate = r->rules->n ? array_new(r->host_row, sizeof *r->gate) : NULL;
	r->sorted = array_new(r->total_row * r->cap, sizeof *r->sorted);
	r->offset = array_new_zero(r->n_metrics + 1, sizeof *r->offset);
	r->single = array_new_zero(r->n_metrics, sizeof *r->single);
	r->null = calloc(spans, sizeof *r->null);
	r->streaks = calloc(spans, sizeof *r->streaks);
	r->response = array_new_zero(r->n_tasks * r->n_times + 1, sizeof *r->response);
	r->worth = array_new_zero(r->n_tasks, sizeof *r->worth);
	r->span = array_new_zero(r->n_tasks * spans + 1, sizeof *r->span);
	r->runs = array_new_zero(r->n_sampled * spans + 1, sizeof *r->runs);
	r->pending = array_new_zero((REPLAY_LAG + 1) * r->n_sampled * spans, sizeof *r->pending);
	r->good = array_new(builds, sizeof *r->good);
	return whole && r->row && (r->gate || !r->rules->n) && r->sorted && r->offset && r->single && r->null && r->streaks &&
	       r->response && r->worth && r->span && r->runs && r->pending && r->good ? 0 : -ENOMEM;
}

struct at_build {
	struct replay *r;
	uint32_t build;
};

static int look(void *context, size_t begin, size_t end)
{
	const struct at_build *at = context;

	for (size_t task = begin; task < end; task++)
		replay_look(at->r, (uint32_t)task, at->build);
	return 0;
}

static int keep_rows(void *context, size_t begin, size_t end)
{
	const struct at_build *at = context;

	for (size_t row = begin * at->r->n_metrics; row < end * at->r->n_metrics; row++)
		replay_keep(at->r, (uint32_t)row, at->build);
	return 0;
}

static int for_tasks(struct replay *r, uint32_t build, int (*work)(void *, size_t, size_t))
{
	struct at_build at = { r, build };
	struct parallel p = { .work = work, .step = TASKS_AT_ONCE,
			      .n_threads = parallel_threads(r->n_tasks, TASKS_AT_ONCE) };

	for (size_t i = 0; i < p.n_threads; i++)
		p.context[i] = &at;
	return parallel_run(&p, r->n_tasks);
}

/* What the newest build alone shows is a test of sets only. */
static void count_spans(struct replay *r, const struct replay_pending *pending, uint32_t n_runs)
{
	for (size_t m = 0; m <= r->n_metrics; m++) {
		const struct replay_span *span = &pending[m].span;
		const struct replay_runs *runs = &pending[m].runs;

		if (!isnan(span->off[0])) {
			streaks_add(&r->streaks[m][REPLAY_UP], runs->least[REPLAY_UP], runs->n);
			streaks_add(&r->streaks[m][REPLAY_DOWN], runs->least[REPLAY_DOWN], runs->n);
		}
		for (size_t w = 0; w < REPLAY_SPANS; w++) {
			if (isnan(span->off[w]))
				continue;
			if (!w && m < r->n_metrics && !isnan(span->alike)) {
				double off = fmin((double)REPLAY_CLIP, fabs((double)span->off[0]));

				r->alike_sum[m] += (double)span->alike;
				r->alike_n[m] += off * off;
			}
			if (m < r->n_metrics)
				deviations_add(&r->offset[m][w], span->off[w]);
			if (m < r->n_metrics && !w && n_runs < 2)
				deviations_add(&r->single[m], span->off[w]);
			if (!w && n_runs < REPLAY_SET_RUNS)
				continue;
			nulls_add(&r->null[m][REPLAY_UP][w], replay_evidence(span, w, REPLAY_UP));
			nulls_add(&r->null[m][REPLAY_DOWN][w], replay_evidence(span, w, REPLAY_DOWN));
		}
	}
}

/* What is looked up in the counts. */
static void finish_counts(struct replay *r)
{
	for (size_t m = 0; m <= r->n_metrics; m++) {
		for (int way = 0; way < 2; way++) {
			double most = m < r->n_metrics || r->joined == r->n_metrics ? 1 :
				fmin(r->streaks[r->joined][way].alike, r->streaks[r->joined + 1][way].alike);

			streaks_finish(&r->streaks[m][way], most);
		}
		for (size_t w = 0; w < REPLAY_SPANS; w++) {
			nulls_finish(&r->null[m][REPLAY_UP][w]);
			nulls_finish(&r->null[m][REPLAY_DOWN][w]);
		}
	}
}

/* Keeps the evidence of a good build about a sampled task. */
static void keep_evidence(struct replay *r, size_t sampled, uint32_t good)
{
	size_t spans = r->n_metrics + 1;
	struct replay_pending *to = replay_pending(r, good) + sampled * spans;

	for (size_t m = 0; m < spans; m++)
		to[m] = (struct replay_pending){
			r->span[sampled * r->stride * spans + m], r->runs[sampled * spans + m],
		};
}

/* Counts the evidence of an earlier build. If that build began a step, the step is confirmed by now
 * and the evidence was dropped. */
static void count_evidence(struct replay *r)
{
	uint32_t lag = (r->n_good - 1) / LAG_PART;

	lag = lag < LAG_LEAST ? LAG_LEAST : MIN(REPLAY_LAG, lag);
	for (; r->counted + lag < r->n_good; r->counted++) {
		for (size_t i = 0; i < r->n_sampled; i++)
			count_spans(r, replay_pending(r, r->counted) + i * (r->n_metrics + 1),
				    r->pending_runs[r->counted % (REPLAY_LAG + 1)]);
	}
	finish_counts(r);
}

/* The first levels are medians of few builds and inaccurate: what was counted then loses weight. */
static void fade(struct replay *r)
{
	if (r->n_good < r->fade)
		return;
	r->fade += r->fade / 2;
	for (size_t m = 0; m <= r->n_metrics; m++) {
		streaks_fade(&r->streaks[m][REPLAY_UP]);
		streaks_fade(&r->streaks[m][REPLAY_DOWN]);
		for (size_t w = 0; w < REPLAY_SPANS; w++) {
			nulls_fade(&r->null[m][REPLAY_UP][w]);
			nulls_fade(&r->null[m][REPLAY_DOWN][w]);
			deviations_fade(&r->offset[m][w]);
			if (!w && m < r->n_metrics)
				deviations_fade(&r->single[m]);
		}
	}
}

static void finish_deviations(struct replay *r)
{
	for (size_t m = 0; m < r->n_metrics; m++) {
		double alike = (r->alike_sum[m] + ALIKE_PRIOR * 0.5) / (r->alike_n[m] + ALIKE_PRIOR);

		alike = fmax(0, fmin(alike, ALIKE_MOST));
		r->inflation[m] = (1 + alike) / (1 - alike);
		deviations_finish(&r->offset[m][0]);
		deviations_finish(&r->single[m]);
	}
}

/* What is estimated from all tasks changes slowly: it is estimated again ever less often. */
static int estimate(struct replay *r)
{
	uint32_t n = r->n_good;
	int status;

	if (n % (n > 32 ? 8 : n > 12 ? 4 : n > 6 ? 2 : 1))
		return 0;
	status = replay_noise(r);
	replay_response_estimate(r);
	finish_deviations(r);
	return status;
}

static int judge(struct replay *r, uint32_t build, struct error *err)
{
	int status;

	r->now = build;
	fade(r);
	status = estimate(r);
	r->good[build] = r->n_good;
	if (!status)
		status = replay_host(r, build);
	for (size_t m = 0; m < r->n_times; m++)
		r->lone[r->n_metrics + m].x[build] = r->factor[m][build];
	replay_accept(r, build);
	if (!status)
		status = replay_sets_look(r, build, err);
	if (!status)
		status = for_tasks(r, build, look);
	replay_lone(r, build);
	if (!status)
		status = replay_confirm(r, build);
	if (!status)
		status = replay_close(r, build);
	if (!status)
		status = for_tasks(r, build, keep_rows);
	if (!status)
		replay_host_settle(r, build);
	for (size_t i = 0; i < r->n_sampled; i++)
		keep_evidence(r, i, r->n_good);
	r->pending_runs[r->n_good % (REPLAY_LAG + 1)] = r->builds->build[build].runs;
	r->n_good++;
	count_evidence(r);
	return status;
}

/* What was known of the rows at the builds before. */
static int restore_rows(void *context, size_t begin, size_t end)
{
	const struct at_build *at = context;
	float *work = array_new(at->build - at->r->first + 1, sizeof *work);

	for (size_t row = begin * at->r->n_metrics; work && row < end * at->r->n_metrics; row++)
		replay_restore(at->r, (uint32_t)row, at->build, work);
	free(work);
	return work ? 0 : -ENOMEM;
}

/* Restarts the rows of a task that are first compared with a level in (from, to]. */
static void restart_task(struct replay *r, uint32_t task, uint32_t from, uint32_t to)
{
	for (size_t m = 0; m < r->n_metrics; m++) {
		uint32_t index = task * (uint32_t)r->n_metrics + (uint32_t)m;
		struct replay_row *row = &r->row[index];
		float noise = row->noise, df = row->noise_df;

		if (row->restarted <= from || row->restarted > to)
			continue;
		replay_restart(r, index, row->begin, row->restarted);
		row->noise = noise;
		row->noise_df = df;
	}
}

/* The builds from at->build on again, all of them of one task after the other. */
static int look_again(void *context, size_t begin, size_t end)
{
	const struct at_build *at = context;
	struct replay *r = at->r;

	for (uint32_t task = (uint32_t)begin; task < end; task++) {
		uint32_t last = at->build;

		for (uint32_t b = last; b < r->first_judged; b++) {
			if (!is_good(&r->builds->build[b]))
				continue;
			restart_task(r, task, last, b);
			replay_look(r, task, b);
			for (size_t m = 0; m < r->n_metrics; m++)
				replay_keep(r, task * (uint32_t)r->n_metrics + (uint32_t)m, b);
			if (task % r->stride == 0)
				keep_evidence(r, task / r->stride, r->good[b]);
			last = b;
		}
		restart_task(r, task, last, r->first_judged);
	}
	return 0;
}

/*
 * Makes the references of all rows from the values before the state. Then looks at the last builds before
 * it again, as their windows are needed, and their evidence is not counted yet. Their verdict is known.
 */
static int resume(struct replay *r, struct replay_state *state)
{
	uint32_t build = state->build, again = build;
	uint32_t left = MAX(REPLAY_LAG, r->window[REPLAY_SPANS - 1]);
	int status = replay_state_restore(r, state);

	for (uint32_t b = 0; !status && b < build; b++) {
		r->good[b] = r->n_good;
		if (!is_good(&r->builds->build[b]))
			continue;
		r->newest = b;
		r->pending_runs[r->n_good % (REPLAY_LAG + 1)] = r->builds->build[b].runs;
		r->n_good++;
	}
	while (again > r->first && left) {
		again--;
		left -= is_good(&r->builds->build[again]);
	}
	if (status)
		return status;
	finish_deviations(r);
	finish_counts(r);
	status = for_tasks(r, again, restore_rows);
	status = status ? status : replay_noise(r);
	r->resuming = true;
	status = status ? status : for_tasks(r, again, look_again);
	r->resuming = false;
	return status;
}

static void choose_metrics(struct replay *r)
{
	uint32_t agree = (uint32_t)r->rules->agree;
	unsigned times = METRIC_BIT(METRIC_WALL) | METRIC_BIT(METRIC_CPU), metrics = r->rules->metrics;

	metrics |= metrics & times ? times : 0;
	for (enum metric m = 0; m < METRICS; m++) {
		if (!(metrics & METRIC_BIT(m)))
			continue;
		r->n_times += metric_info[m].time;
		r->metric[r->n_metrics++] = m;
	}
	r->joined = metrics & times ? 0 : r->n_metrics;
	r->window[0] = 1;
	for (size_t w = 1; w < REPLAY_SPANS; w++)
		r->window[w] = agree + (uint32_t[]){ 0, 0, 1, 3, 6 }[w];
}

/* Begins with the state after earlier builds, if there is one. */
static int begin(struct replay *r, const struct builds *builds, const struct rules *rules,
		 const struct known_list *known, struct replay_state *state, struct error *err)
{
	int status;

	*r = (struct replay){
		.builds = builds, .rules = rules, .known = known, .n = (uint32_t)builds->n,
		.n_tasks = (uint32_t)builds->n_tasks, .newest = (uint32_t)builds->n, .fade = FADE_FIRST,
		.first_judged = state->build,
	};
	choose_metrics(r);
	if (!r->n_metrics)
		return 0;
	r->first = state->build ? state->build - (uint32_t)rules->window : 0;
	r->end = MIN(r->n, replay_state_next(rules, state->build));
	status = replay_shared_begin(r);
	status = status ? status : make_room(r);
	status = status ? status : replay_shared_room(r);
	status = status ? status : replay_sets_begin(r);
	if (status)
		return error_sys(err, status, NULL, "check");
	set_gates(r);
	for (size_t m = 0; !status && m < r->n_metrics; m++)
		status = load_logarithms(r, m, err);
	if (!status && state->build && (status = resume(r, state)))
		error_sys(err, status, NULL, "check");
	return status;
}

int replay_begin(struct replay *r, const struct builds *builds, const struct rules *rules,
		 const struct known_list *known, uint32_t wanted, struct error *err)
{
	struct replay_state state = { 0 };
	int status = replay_state_recall(&state, builds, rules, known, wanted);

	status = status ? error_sys(err, status, NULL, "check") :
		 begin(r, builds, rules, known, &state, err);
	buf_release(&state.text);
	if (status == -EBADMSG) {
		replay_release(r);
		status = begin(r, builds, rules, known, &(struct replay_state){ 0 }, err);
	}
	return status;
}

/* Later builds are compared without the values of old ones, by what is known of these. A check that
 * finds this state in the archive begins with it, with the same result. */
static int turn(struct replay *r, struct error *err)
{
	const struct builds *builds = r->builds;
	const struct rules *rules = r->rules;
	const struct known_list *known = r->known;
	struct replay_state state;
	int status = replay_state_take(&state, r);

	replay_release(r);
	status = status ? error_sys(err, status, NULL, "check") :
		 begin(r, builds, rules, known, &state, err);
	buf_release(&state.text);
	return status;
}

int replay_next(struct replay *r, uint32_t build, bool suspects, struct error *err)
{
	int status = r->n_metrics && build == r->end ? turn(r, err) : 0;

	if (status || !is_good(&r->builds->build[build]))
		return status;
	r->newest = build;
	r->suspects = suspects;
	r->n_suspects = 0;
	status = r->n_metrics ? judge(r, build, err) : 0;
	return status == -ENOMEM ? error_sys(err, status, NULL, "check") : status;
}

int replay_run(struct replay *r, const struct builds *builds, const struct rules *rules,
	       const struct known_list *known, struct error *err)
{
	uint32_t n = (uint32_t)builds->n, newest = n;
	int status;

	for (uint32_t b = 0; b < n; b++)
		newest = is_good(&builds->build[b]) ? b : newest;
	status = replay_begin(r, builds, rules, known, newest, err);
	for (uint32_t b = r->first_judged; !status && b < n; b++)
		status = replay_next(r, b, b == newest, err);
	return status;
}

void replay_release(struct replay *r)
{
	for (size_t m = 0; m < METRICS; m++)
		free_all(r->x[m], r->factor[m], r->common[m], r->machine[m], r->longest[m]);
	free_all(r->lone, r->lone_x, r->lone_work);
	replay_shared_release(r);
	free_all(r->row, r->gate, r->sorted, r->offset, r->null, r->streaks, r->response, r->worth, r->span, r->runs, r->pending,
		 r->good, r->noise_left, r->left_sum, r->left_n, r->run_spread, r->single,
		 r->step, r->suspect, r->moved);
	*r = (struct replay){ 0 };
}
