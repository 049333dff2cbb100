/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "compare/episodes.h"
#include "tests/made_series.h"
#include "tests/noise.h"
#include "tests/support.h"

/* One replay says of each build what a check of the builds up to it says. */

#define TASKS 120
#define ALONE 12
#define TOGETHER 40		/* tasks that change together, by little */
#define CHANGES (ALONE + TOGETHER)
#define NOTES 6

static struct builds all;
static struct rules rules;
static struct made_change change[CHANGES];
static struct known note[NOTES];
static struct known_list list = { NOTES, note };

/* As the spread of runs, of which nothing depends on later builds. */
static int spread(const struct builds *builds, uint32_t build, enum metric m, float *values,
		  struct error *err)
{
	const float *from = made_series_values(&all, m);

	(void)err;
	for (size_t task = 0; task < builds->n_tasks; task++)
		values[task] = from[task * all.n + build] * 0.02f;
	return 0;
}

static size_t number(struct noise *n, size_t from, size_t to)
{
	return from + (size_t)(noise_uniform(n) * (double)(to - from + 1));
}

/* Levels that begin and end, notes, failed builds and sets. */
static void make(uint64_t seed)
{
	struct noise random = { seed };
	size_t builds = number(&random, 20, 80);
	struct made made = { .seed = seed, .tasks = TASKS, .builds = builds, .noise = 0.025, .host = 0.02,
			     .spikes = seed % 3 ? 0 : 0.02, .missing = seed % 2 ? 0 : 0.02,
			     .change = change, .n_changes = CHANGES };

	for (size_t i = 0; i < TOGETHER; i++)
		change[ALONE + i] = (struct made_change){ .task = 60 + i, .build = builds / 2, .by = seed % 2 ? 0.06 : 0 };
	for (size_t i = 0; i < ALONE; i++) {
		change[i] = (struct made_change){
			.task = i ? number(&random, 0, 5) * 7 : seed % 4 ? 3 : MADE_ALL,
			.build = number(&random, 6, builds - 2), .by = 0.15 + noise_uniform(&random),
			.creep = i == 1 && seed % 5 == 0,
		};
		if (i % 3)
			change[i].until = change[i].build + number(&random, 2, 12);
	}
	for (size_t i = 0; i < NOTES; i++) {
		note[i] = (struct known){
			.kind = i % 2 ? KNOWN_ACCEPTED : KNOWN_ACKNOWLEDGED,
			.build = (uint32_t)number(&random, 8, builds - 1), .metrics = ~0U,
			.pattern = i == 1 ? "*" : support_path("recipe%d: *", (int)number(&random, 0, 5) * 7),
			.reason = "", .by = "",
			.overdue = !i, .overdue_since = (uint32_t)builds - 6,
		};
	}
	ck_assert(!made_series(&all, &made));
	for (size_t i = 0; i < builds / 10; i++)
		all.build[number(&random, 1, builds - 1)].total[TOTAL_STATUS] = 2;
	for (size_t b = number(&random, 10, builds - 1); seed % 3 == 1 && b < builds; b += 2)
		all.build[b].runs = 3;
	if (seed % 3 == 1)
		all.spread = spread;
}

static void setup(void)
{
	made_series_rules(&rules);
}

static void teardown(void)
{
	builds_release(&all);
}

static void same_finding(const struct verdict_finding *a, const struct verdict_finding *b)
{
	ck_assert_uint_eq(a->task, b->task);
	ck_assert_uint_eq(a->metric, b->metric);
	ck_assert_uint_eq(a->state, b->state);
	ck_assert(a->worse == b->worse && a->creep == b->creep && a->fails == b->fails &&
		  a->back == b->back && a->machine == b->machine);
	ck_assert_uint_eq(a->since, b->since);
	ck_assert_uint_eq(a->first, b->first);
	ck_assert_uint_eq(a->last, b->last);
	ck_assert_uint_eq(a->at, b->at);
	ck_assert_uint_eq(a->until, b->until);
	ck_assert_uint_eq(a->builds, b->builds);
	ck_assert_uint_eq(a->tasks, b->tasks);
	ck_assert_ptr_eq(a->known, b->known);
	ck_assert(!memcmp(&a->before, &b->before, sizeof a->before) &&
		  !memcmp(&a->now, &b->now, sizeof a->now) &&
		  !memcmp(&a->low, &b->low, sizeof a->low) &&
		  !memcmp(&a->high, &b->high, sizeof a->high) &&
		  !memcmp(&a->rate, &b->rate, sizeof a->rate));
	ck_assert(isnan(a->newest) ? isnan(b->newest) : !memcmp(&a->newest, &b->newest, sizeof a->newest));
}

/* What is kept in an archive. */
static struct kept {
	char name[64];
	struct buf text;
} kept[64];
static size_t n_kept, n_recalled;
static bool damage;

static int recall(const struct builds_notes *notes, const char *name, struct buf *text)
{
	static struct noise random = { 7 };

	(void)notes;
	for (size_t i = 0; i < n_kept; i++) {
		if (strcmp(kept[i].name, name))
			continue;
		n_recalled++;
		buf_add(text, kept[i].text.data, kept[i].text.len);
		/* behind the key, which is of the builds */
		for (int k = 0; damage && k < 3; k++)
			text->data[number(&random, 16, text->len - 1)] ^= (char)number(&random, 1, 255);
		if (damage && number(&random, 0, 1))
			buf_cut(text, number(&random, 16, text->len - 1));
		return buf_error(text);
	}
	return 0;
}

static void keep(struct builds_notes *notes, const char *name, const char *older,
		 const struct buf *text)
{
	(void)notes;
	(void)older;
	for (size_t i = 0; i < n_kept; i++) {
		if (strcmp(kept[i].name, name))
			continue;
		/* It is the same, whatever made it. */
		ck_assert_uint_eq(kept[i].text.len, text->len);
		ck_assert(!memcmp(kept[i].text.data, text->data, text->len));
		return;
	}
	ck_assert_uint_lt(n_kept, ARRAY_SIZE(kept));
	snprintf(kept[n_kept].name, sizeof kept[n_kept].name, "%s", name);
	buf_add(&kept[n_kept].text, text->data, text->len);
	ck_assert(!buf_error(&kept[n_kept++].text));
}

static struct builds_notes memory = { recall, keep };
static struct builds_notes *notes;

static void forget(void)
{
	while (n_kept)
		buf_release(&kept[--n_kept].text);
	n_recalled = 0;
	damage = false;
	notes = NULL;
}

struct counted {
	size_t builds, failing, back, known, past, suspects, shared;
};

/* The verdict about the first builds alone. */
static int compare_with_check(void *context, uint32_t build, const struct verdict *v, struct error *err)
{
	struct counted *n = context;
	struct builds first = all;
	struct verdict own;

	first.n = build + 1;
	first.notes = notes;
	ck_assert_msg(!verdict_make(&own, &first, &rules, &list, err), "%s", err->message);
	ck_assert_msg(own.n == v->n && own.n_confirmed == v->n_confirmed && own.n_known == v->n_known &&
		      own.n_suspect == v->n_suspect && own.n_past == v->n_past &&
		      own.not_judged == v->not_judged && own.enough == v->enough &&
		      own.more_builds == v->more_builds && own.n_series == v->n_series &&
		      own.first_build == v->first_build && own.n_builds == v->n_builds,
		      "build %u: %zu findings, %zu fail; check of these builds: %zu, %zu", build, v->n,
		      v->n_confirmed, own.n, own.n_confirmed);
	for (size_t i = 0; i < v->n; i++) {
		same_finding(&v->finding[i], &own.finding[i]);
		n->back += v->finding[i].back;
		n->shared += v->finding[i].task == TASK_SHARED;
		ck_assert_uint_eq(v->finding[i].n_moved, own.finding[i].n_moved);
		for (size_t k = 0; k < v->finding[i].n_moved; k++)
			ck_assert_uint_eq(v->moved[v->finding[i].first_moved + k],
					  own.moved[own.finding[i].first_moved + k]);
	}
	for (size_t i = 0; i < v->n_past; i++)
		same_finding(&v->past[i], &own.past[i]);
	for (enum metric m = 0; m < METRICS; m++)
		ck_assert(isnan(v->host[m]) ? isnan(own.host[m]) : v->host[m] == own.host[m]);
	n->builds++;
	n->failing += v->n_confirmed > 0;
	n->known += v->n_known;
	n->past += v->n_past;
	n->suspects += v->n_suspect;
	verdict_release(&own);
	return 0;
}

TEST_GROUP_WITH("verdict_each", setup, teardown);

TEST_LOOP(agrees, 24)
{
	struct counted n = { 0 };
	struct error err = { 0 };

	make(900 + (uint64_t)_i);
	ck_assert_msg(!verdict_each(&all, &rules, &list, 0,
				    &(struct verdict_seen){ compare_with_check, &n }, &err), "%s", err.message);
	ck_assert_uint_eq(n.builds, all.n);
	ck_assert_uint_gt(n.failing, 0);
}

/* So does a check that begins with what an earlier one kept, and one that began with the first build. */
TEST_LOOP(begins_with_what_was_kept, 24)
{
	struct counted n = { 0 };
	struct error err = { 0 };

	rules.window = 16 + _i % 3 * 6;
	notes = &memory;
	make(1900 + (uint64_t)_i);
	ck_assert_msg(!verdict_each(&all, &rules, &list, 0,
				    &(struct verdict_seen){ compare_with_check, &n }, &err), "%s", err.message);
	ck_assert_uint_eq(n.builds, all.n);
	if (all.n > (size_t)rules.window * 2)
		ck_assert_uint_gt(n_recalled, n_kept);
	forget();
}

/* Damaged notes are ignored, or what can be read of them is used: nothing else is read or written. */
TEST(damaged)
{
	struct error err = { 0 };
	struct verdict v;

	rules.window = 16;
	make(1901);
	all.notes = &memory;
	ck_assert(!verdict_make(&v, &all, &rules, &list, &err));
	verdict_release(&v);
	ck_assert_uint_gt(n_kept, 0);
	damage = true;
	for (int i = 0; i < 2000; i++) {
		size_t had = n_kept;

		ck_assert_msg(!verdict_make(&v, &all, &rules, &list, &err), "%s", err.message);
		ck_assert_uint_eq(n_kept, had);
		verdict_release(&v);
	}
	forget();
}

/* The generated histories have what can make a difference. */
TEST(covers)
{
	struct counted n = { 0 };
	struct error err = { 0 };

	for (uint64_t seed = 900; seed < 908; seed++) {
		make(seed);
		ck_assert(!verdict_each(&all, &rules, &list, 10,
					&(struct verdict_seen){ compare_with_check, &n }, &err));
		builds_release(&all);
	}
	ck_assert(n.back && n.known && n.past && n.suspects && n.shared && n.failing < n.builds);
}

/* An episode ends with the first normal build: perhaps because that is back, later the level was left. */
TEST(episode_ends)
{
	struct made made = { .tasks = 6, .builds = 40, .noise = 0.03, .host = 0.01, .change = change,
			     .n_changes = 1 };
	struct error err = { 0 };
	struct builds first;
	struct episodes e;
	size_t back = 0;

	change[0] = (struct made_change){ .task = 2, .build = 20, .until = 28, .by = 0.15 };
	for (made.seed = 1; made.seed <= 12; made.seed++) {
		ck_assert(!made_series(&all, &made));
		first = all;
		for (first.n = 29; first.n <= made.builds; first.n += 11) {
			ck_assert(!episodes_find(&e, &first, &rules, NULL, 0, &err));
			for (size_t i = 0; i < e.n; i++) {
				const struct episode *of = &e.episode[i];

				back += first.n == 29 && of->why == EPISODE_BACK;
				ck_assert(first.n == 29 || of->why == EPISODE_LEFT);
				ck_assert(of->why == EPISODE_OPEN ? of->end == first.n : of->end < first.n);
				ck_assert_uint_le(of->red, of->end - of->begin);
			}
			episodes_release(&e);
		}
		builds_release(&all);
	}
	ck_assert_uint_gt(back, 0);
}

static int stop(void *context, uint32_t build, const struct verdict *v, struct error *err)
{
	size_t *n = context;

	(void)v;
	ck_assert_uint_eq(build, 12 + *n);
	return ++*n == 3 ? error_say(err, -EINVAL, "enough") : 0;
}

TEST(ends)
{
	struct error err = { 0 };
	size_t n = 0;

	make(900);
	ck_assert_int_eq(verdict_each(&all, &rules, NULL, 12, &(struct verdict_seen){ stop, &n }, &err), -EINVAL);
	ck_assert_str_eq(err.message, "enough");
	ck_assert_uint_eq(n, 3);
}

TEST_MAIN(verdict_each);
