/* SPDX-License-Identifier: MIT */
#include "compare/replay.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/minmax.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT 3		/* higher with any change of the replay or of this file */
#define LEAST_TURN 8		/* builds between two states */
#define TRIED 3			/* older states that are looked for */
#define SHARED UINT32_MAX		/* the row of a group */
#define LONE UINT32_C(0xffff0000)	/* rows from here: counted from total_row */
#define NAME_MAX_LEN 48

/* Reads or writes: what is read is then in the order in which it was written. */
struct codec {
	bool reading;
	struct buf *out;
	const char *p, *end;
	bool damaged;
};

struct head {
	uint64_t key;
	uint32_t build, n_tasks;
};

static void bytes(struct codec *c, void *v, size_t n)
{
	if (!c->reading) {
		buf_add(c->out, v, n);
	} else if ((size_t)(c->end - c->p) >= n) {
		memcpy(v, c->p, n);
		c->p += n;
	} else {
		memset(v, 0, n);
		c->damaged = true;
	}
}

#define FIELD(c, v) bytes(c, &(v), sizeof (v))

/* A number less than `most`. */
static void index_field(struct codec *c, uint32_t *v, uint32_t most)
{
	FIELD(c, *v);
	if (*v >= most) {
		c->damaged = true;
		*v = 0;
	}
}

/* A build before `most`, or none, which is n. */
static void build_field(struct codec *c, uint32_t *v, uint32_t n, uint32_t most)
{
	uint32_t kept = *v == n ? REPLAY_NEVER : *v;

	FIELD(c, kept);
	c->damaged |= kept != REPLAY_NEVER && kept > most;
	*v = kept == REPLAY_NEVER || kept > most ? n : kept;
}

static void flag_field(struct codec *c, bool *v)
{
	uint8_t byte = *v;

	FIELD(c, byte);
	*v = byte;
}

static uint64_t hash(uint64_t h, const void *p, size_t n)
{
	return hash_fnv64_more(h, p, n);
}

static uint64_t hash_text(uint64_t h, const char *text)
{
	return text ? hash(h, text, strlen(text) + 1) : hash(h, "", 1);
}

static uint64_t hash_rules(const struct builds *builds, const struct rules *rules)
{
	uint64_t h = hash_text(hash_text(hash_fnv64("", 0), builds->ref), PACKAGE_VERSION);
	const int64_t numbers[] = { FORMAT, rules->metrics, rules->agree, rules->window,
				    rules->least_history, (int64_t)rules->n, (int64_t)replay_stride(builds) };

	h = hash(h, numbers, sizeof numbers);
	h = hash(h, &rules->rate, sizeof rules->rate);
	for (enum metric m = 0; m < METRICS; m++) {
		const struct gate *g = &rules->gate[m];
		const double of[] = { g->share, g->amount, g->floor, g->ignored };

		h = hash(h, of, sizeof of);
	}
	for (size_t i = 0; i < rules->n; i++) {
		const struct rule *rule = &rules->rule[i];
		const double of[] = { rule->share, rule->amount, rule->floor, rule->ignored, rule->metrics };

		h = hash_text(hash(h, of, sizeof of), rule->pattern);
	}
	return h;
}

/* What the state after the builds before s->build depends on. */
static uint64_t key_of(const struct replay_state *s, const struct builds *builds,
		       const struct rules *rules, const struct known_list *known)
{
	uint64_t h = hash_rules(builds, rules);

	for (uint32_t b = 0; b < s->build; b++) {
		const struct build *of = &builds->build[b];

		h = hash_text(h, of->id);
		h = hash(h, &of->repeats, sizeof of->repeats);
		h = hash(h, of->total, sizeof of->total);
	}
	for (size_t i = 0; known && i < known->n && known->known[i].build < s->build; i++) {
		const struct known *k = &known->known[i];

		if (k->kind != KNOWN_ACCEPTED)
			continue;
		h = hash(h, &k->build, sizeof k->build);
		h = hash(h, &k->metrics, sizeof k->metrics);
		h = hash_text(h, k->pattern);
	}
	for (uint32_t task = 0; task < s->n_tasks; task++)
		h = hash_text(h, builds->task[task].name);
	return h;
}

uint32_t replay_state_next(const struct rules *rules, uint32_t build)
{
	uint32_t window = (uint32_t)rules->window;

	return (build ? build : window) + MAX(window / 2, LEAST_TURN);
}

static uint32_t before(const struct rules *rules, uint32_t build)
{
	uint32_t first = replay_state_next(rules, 0), turn = replay_state_next(rules, first) - first;

	return build > first ? build - turn : 0;
}

static void set_name(char name[NAME_MAX_LEN], const struct builds *builds, const struct rules *rules,
		     uint32_t build)
{
	snprintf(name, NAME_MAX_LEN, "check-%016llx-%u",
		 (unsigned long long)hash_rules(builds, rules), build);
}

static bool is_of(struct replay_state *s, uint32_t build, const struct builds *builds,
		  const struct rules *rules, const struct known_list *known)
{
	struct head head;

	if (s->text.len < sizeof head)
		return false;
	memcpy(&head, s->text.data, sizeof head);
	if (head.build != build || head.n_tasks > builds->n_tasks)
		return false;
	s->build = head.build;
	s->n_tasks = head.n_tasks;
	return head.key == key_of(s, builds, rules, known);
}

int replay_state_recall(struct replay_state *s, const struct builds *builds,
			const struct rules *rules, const struct known_list *known, uint32_t wanted)
{
	uint32_t build = 0;
	int status = 0;

	*s = (struct replay_state){ .text = BUF_INIT };
	while (replay_state_next(rules, build) <= wanted && wanted < builds->n)
		build = replay_state_next(rules, build);
	for (int i = 0; !status && builds->notes && build && i < TRIED; i++) {
		char name[NAME_MAX_LEN];

		set_name(name, builds, rules, build);
		buf_clear(&s->text);
		status = builds->notes->recall(builds->notes, name, &s->text);
		if (!status && is_of(s, build, builds, rules, known))
			return 0;
		build = before(rules, build);
	}
	s->build = 0;
	return status;
}

/* The row of a group, whatever its number is. */
static void group_field(struct codec *c, const struct replay *r, uint32_t *row)
{
	uint32_t m = c->reading ? 0 : (uint32_t)replay_metric(r, *row);
	uint64_t of = c->reading ? 0 : r->group[replay_group(r, *row)].hash;

	FIELD(c, of);
	FIELD(c, m);
	*row = c->reading ? replay_shared_find_row(r, of, m) : *row;
	c->damaged |= *row >= r->n_rows;
}

static void step_fields(struct codec *c, const struct replay *r, struct replay_step *s, uint32_t n_steps,
			uint32_t build, uint32_t n_tasks)
{
	uint32_t lone = (uint32_t)(2 * r->n_metrics);
	bool is_lone = s->row >= r->total_row, shared = !c->reading && s->row >= r->shared_row;
	uint32_t row = shared ? SHARED : is_lone ? LONE + s->row - r->total_row : s->row;

	FIELD(c, row);
	if (row == SHARED) {
		group_field(c, r, &s->row);
		row = s->row < r->n_rows ? LONE + s->row - r->total_row : row;
		lone = r->n_rows - r->total_row;
	}
	if (row >= LONE ? row - LONE >= lone : row >= n_tasks * r->n_metrics) {
		c->damaged = true;
		row = LONE;
	}
	s->row = row >= LONE ? r->total_row + row - LONE : row;
	index_field(c, &s->at, build);
	index_field(c, &s->since, build);
	index_field(c, &s->first, build);
	index_field(c, &s->last, build);
	build_field(c, &s->end, r->n, build);
	build_field(c, &s->left, r->n, build);
	index_field(c, &s->older, n_steps + 1);
	FIELD(c, s->tasks);
	FIELD(c, s->first_moved);
	FIELD(c, s->n_moved);
	flag_field(c, &s->worse);
	flag_field(c, &s->silent);
	flag_field(c, &s->closed);
	flag_field(c, &s->accepted);
	flag_field(c, &s->placed);
	flag_field(c, &s->machine);
	flag_field(c, &s->slope.found);
	index_field(c, &s->slope.first, build);
	index_field(c, &s->slope.last, build);
	FIELD(c, s->n_values);
	FIELD(c, s->before);
	FIELD(c, s->now);
	FIELD(c, s->spread);
	FIELD(c, s->n_before);
	FIELD(c, s->n_now);
	FIELD(c, s->rate);
	FIELD(c, s->of_tasks);
	flag_field(c, &s->measured);
	FIELD(c, s->effect);
}

/* The beginning of a row, and what is known of its noise from before. */
static void row_fields(struct codec *c, struct replay_row *row, uint32_t build)
{
	index_field(c, &row->begin, build);
	index_field(c, &row->restarted, build + 1);
	flag_field(c, &row->again);
	FIELD(c, row->noise);
	FIELD(c, row->noise_df);
	FIELD(c, row->variance);
	FIELD(c, row->df);
}

static bool is_settled(const struct replay *r, uint32_t row)
{
	const struct replay_row *of = &r->row[row];
	size_t m = replay_metric(r, row);

	return of->begin == r->settled[m].begin && of->restarted == r->settled[m].restarted;
}

/* Rows that a level of the common factor began, or nothing ever, are not listed. */
static void rows(struct codec *c, struct replay *r, uint32_t build, uint32_t n_tasks)
{
	uint32_t n = 0;

	for (size_t m = 0; m < r->n_metrics; m++) {
		index_field(c, &r->settled[m].begin, build);
		index_field(c, &r->settled[m].restarted, build + 1);
		FIELD(c, r->settled[m].level);
	}
	for (uint32_t row = 0; !c->reading && row < r->total_row; row++)
		n += !is_settled(r, row);
	for (uint32_t row = 0; c->reading && row < r->total_row; row++) {
		r->row[row].begin = r->settled[replay_metric(r, row)].begin;
		r->row[row].restarted = r->settled[replay_metric(r, row)].restarted;
		r->row[row].again = r->row[row].restarted;
		r->row[row].noise = r->row[row].again ? NAN : 0;
	}
	FIELD(c, n);
	for (uint32_t row = 0; n && !c->damaged; row++) {
		if (!c->reading && is_settled(r, row))
			continue;
		index_field(c, &row, n_tasks * (uint32_t)r->n_metrics);
		row_fields(c, &r->row[row], build);
		n--;
	}
	for (uint32_t row = r->total_row; row < r->shared_row; row++)
		row_fields(c, &r->row[row], build);
}

/* The rows of groups that have values, with those of the window. */
static void groups(struct codec *c, struct replay *r, uint32_t build)
{
	uint32_t n = 0;

	for (uint32_t row = r->shared_row; !c->reading && row < r->n_rows; row++)
		n += r->shared_usual[row - r->shared_row].n > 0;
	FIELD(c, n);
	for (uint32_t row = r->shared_row; n && !c->damaged; row++) {
		if (!c->reading && !r->shared_usual[row - r->shared_row].n)
			continue;
		group_field(c, r, &row);
		if (c->damaged)
			return;
		row_fields(c, &r->row[row], build);
		FIELD(c, r->shared_base[row - r->shared_row]);
		FIELD(c, r->shared_usual[row - r->shared_row]);
		for (uint32_t b = build - (uint32_t)r->rules->window; b < build; b++)
			FIELD(c, *replay_shared_x(r, row - r->shared_row, b));
		n--;
	}
}

static void counts(struct codec *c, struct replay *r)
{
	FIELD(c, r->counted);
	FIELD(c, r->fade);
	FIELD(c, r->alike_sum);
	FIELD(c, r->alike_n);
	FIELD(c, r->unlike);
	FIELD(c, r->unlike_most);
	FIELD(c, r->within);
	FIELD(c, r->within_n);
	FIELD(c, r->within_least);
	for (size_t m = 0; m <= r->n_metrics; m++) {
		for (size_t w = 0; w < REPLAY_SPANS; w++) {
			FIELD(c, r->offset[m][w].n);
			FIELD(c, r->offset[m][w].count);
			for (int way = 0; way < 2; way++) {
				FIELD(c, r->null[m][way][w].n);
				FIELD(c, r->null[m][way][w].bin);
			}
		}
		for (int way = 0; way < 2; way++) {
			FIELD(c, r->streaks[m][way].n);
			FIELD(c, r->streaks[m][way].bin);
		}
	}
	for (size_t m = 0; m < r->n_metrics; m++) {
		FIELD(c, r->single[m].n);
		FIELD(c, r->single[m].count);
	}
}

static void factors(struct codec *c, struct replay *r, uint32_t build)
{
	for (size_t m = 0; m < r->n_metrics; m++) {
		for (uint32_t b = 0; b < build; b++) {
			FIELD(c, r->factor[m][b]);
			FIELD(c, r->common[m][b].wider);
			flag_field(c, &r->common[m][b].beyond);
		}
	}
}

/* The tasks of steps that are still reported, with their levels before. */
static void moved(struct codec *c, struct replay *r, uint32_t n_tasks)
{
	uint32_t n = (uint32_t)r->n_moved;

	FIELD(c, n);
	for (uint32_t i = 0; i < n && !c->damaged; i++) {
		uint32_t *task = c->reading ? array_add(&r->moved, &r->n_moved, sizeof *task) : &r->moved[i];
		float *level = c->reading ? array_add(&r->moved_level, &r->n_levels, sizeof *level) :
			       &r->moved_level[i];

		if (!task || !level) {
			c->damaged = true;
			return;
		}
		index_field(c, task, n_tasks);
		FIELD(c, *level);
	}
}

static void steps(struct codec *c, struct replay *r, uint32_t build, uint32_t n_tasks)
{
	uint32_t n = (uint32_t)r->n_steps;

	FIELD(c, n);
	for (uint32_t i = 0; i < n && !c->damaged; i++) {
		struct replay_step *s = c->reading ? array_add(&r->step, &r->n_steps, sizeof *s) : &r->step[i];

		if (!s) {
			c->damaged = true;
			return;
		}
		if (c->reading)
			*s = (struct replay_step){ 0 };
		step_fields(c, r, s, i, build, n_tasks);
		if (c->reading) {
			c->damaged |= s->first_moved > r->n_moved || s->n_moved > r->n_moved - s->first_moved;
			r->row[s->row].step = i + 1;
		}
	}
}

static void all_fields(struct codec *c, struct replay *r, const struct replay_state *s)
{
	counts(c, r);
	factors(c, r, s->build);
	rows(c, r, s->build, s->n_tasks);
	groups(c, r, s->build);
	moved(c, r, s->n_tasks);
	steps(c, r, s->build, s->n_tasks);
}

/* What is reported of steps that later builds place no more. */
static int settle_steps(struct replay *r, uint32_t build)
{
	struct replay_work work;
	int status = replay_work_init(&work, r->n);

	for (size_t i = 0; !status && i < r->n_steps; i++) {
		struct replay_step *s = &r->step[i], told = *s;
		uint32_t until = !s->closed ? build : s->end < r->n ? s->end : s->left, n;
		bool is_old = s->at + REPLAY_AROUND <= build;

		if (s->row >= r->shared_row && !s->measured && (is_old || s->closed)) {
			status = replay_shared_effect(r, s, MIN(until, build), &told.effect);
			told.measured = true;
		}
		if (!status && !s->closed && !s->silent && is_old) {
			status = replay_step_place(r, &told, &work);
			told.placed = true;
		}
		if (s->end < r->n && s->end > r->first_judged) {
			told.now = replay_step_level(r, s, build, &work, &n);
			told.n_now = n;
		}
		told.n_values = replay_step_values(r, &told, MIN(until, build));
		*s = told;
	}
	replay_work_release(&work);
	return status;
}

/* Keeps the tasks that moved with steps of the common factor that may still be reported. */
static int keep_moved(struct replay *r, uint32_t build)
{
	uint32_t *kept = NULL;
	float *levels = NULL;
	size_t n = 0, n_levels = 0;

	for (size_t i = 0; i < r->n_steps; i++) {
		struct replay_step *s = &r->step[i];
		uint32_t from = s->first_moved, left = s->n_moved;

		if (s->row < r->shared_row && (s->closed || (!s->worse && s->since + r->rules->window < build)))
			left = 0;
		s->first_moved = (uint32_t)n;
		s->n_moved = left;
		for (; left; left--) {
			float *level = array_add(&levels, &n_levels, sizeof *level);
			uint32_t *added = array_add(&kept, &n, sizeof *added);

			if (!added || !level) {
				free_all(kept, levels);
				return -ENOMEM;
			}
			*level = r->moved_level[from];
			*added = r->moved[from++];
		}
	}
	free_all(r->moved, r->moved_level);
	r->moved = kept;
	r->moved_level = levels;
	r->n_moved = r->n_levels = n;
	return 0;
}

int replay_state_take(struct replay_state *s, struct replay *r)
{
	struct codec c = { .out = &s->text };
	struct head head;
	int status;

	*s = (struct replay_state){ .build = r->end, .text = BUF_INIT };
	for (uint32_t row = 0; row < r->total_row; row++) {
		if (r->row[row].n || r->row[row].step)
			s->n_tasks = replay_task(r, row) + 1;
	}
	status = settle_steps(r, s->build);
	status = status ? status : keep_moved(r, s->build);
	if (status)
		return status;
	head = (struct head){ key_of(s, r->builds, r->rules, r->known), s->build, s->n_tasks };
	FIELD(&c, head);
	all_fields(&c, r, s);
	status = buf_error(&s->text);
	if (!status && r->builds->notes && (!r->builds->changed_from || s->build <= r->builds->changed_from)) {
		char name[NAME_MAX_LEN], older[NAME_MAX_LEN];

		set_name(name, r->builds, r->rules, s->build);
		set_name(older, r->builds, r->rules, before(r->rules, before(r->rules, before(r->rules, s->build))));
		r->builds->notes->keep(r->builds->notes, name, older, &s->text);
	}
	return status;
}

int replay_state_restore(struct replay *r, const struct replay_state *s)
{
	struct codec c = { .reading = true, .p = s->text.data + sizeof(struct head),
			   .end = s->text.data + s->text.len };

	all_fields(&c, r, s);
	for (uint32_t b = 0; b < s->build; b++) {
		for (size_t m = 0; r->builds->build[b].total[TOTAL_STATUS] <= 0 && m < r->n_times; m++) {
			r->machine[m][b] = build_machine(&r->builds->build[b], r->metric[m]);
			r->lone[r->n_metrics + m].x[b] = r->factor[m][b];
		}
	}
	return c.damaged ? -EBADMSG : 0;
}
