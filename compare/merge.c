/* SPDX-License-Identifier: MIT */
#include "compare/merge.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/minmax.h"
#include "base/name_table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct part {
	struct builds builds;
	uint32_t *member;	/* its builds, by the build that they become part of */
	size_t n_members;
	uint32_t *task;		/* of each of its tasks: the task of all */
};

/* A part's members of one build. */
struct place {
	uint32_t part;
	size_t first, n;
};

struct merge {
	size_t n_parts;
	struct part *part;
	struct place *place;	/* of each build */
	size_t most;		/* members of a build */
};

static int by_value(const void *x, const void *y)
{
	float a = *(const float *)x, b = *(const float *)y;

	return (a > b) - (a < b);
}

static int by_number(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

	return (a > b) - (a < b);
}

/* Sorts the known values. */
static float median(float *v, size_t n)
{
	if (!n)
		return NAN;
	qsort(v, n, sizeof *v, by_value);
	return n % 2 ? v[n / 2] : v[n / 2 - 1] + (v[n / 2] - v[n / 2 - 1]) / 2;
}

static int64_t median_total(int64_t *v, size_t n)
{
	if (!n)
		return -1;
	qsort(v, n, sizeof *v, by_number);
	return n % 2 ? v[n / 2] : v[n / 2 - 1] + (v[n / 2] - v[n / 2 - 1]) / 2;
}

/* Sets the values of the builds that a part has. Renamed tasks may be one, but never have several
 * values in a build. */
static int load_part(const struct builds *builds, size_t number, enum metric m, float *values,
		     struct error *err)
{
	const struct merge *s = builds->context;
	const struct part *p = &s->part[number];
	const size_t n = p->builds.n;
	float *from = array_new(n * p->builds.n_tasks, sizeof *from);
	float *known = array_new(s->most, sizeof *known);
	int r = from && known ? p->builds.load(&p->builds, m, from, err) :
		error_sys(err, -ENOMEM, builds->ref, NULL);

	for (size_t t = 0; !r && t < p->builds.n_tasks; t++) {
		float *to = values + p->task[t] * builds->n;

		for (size_t i = 0; i < builds->n; i++) {
			const uint32_t *member = p->member + s->place[i].first;
			size_t k = 0;

			if (s->place[i].part != number)
				continue;
			for (size_t j = 0; j < s->place[i].n; j++) {
				known[k] = from[t * n + member[j]];
				k += !isnan(known[k]);
			}
			if (k)
				to[i] = median(known, k);
		}
	}
	free_all(from, known);
	return r;
}

static int load_metric(const struct builds *builds, enum metric m, float *values, struct error *err)
{
	const struct merge *s = builds->context;
	int r = 0;

	for (size_t i = 0; i < builds->n * builds->n_tasks; i++)
		values[i] = NAN;
	for (size_t i = 0; !r && i < s->n_parts; i++)
		r = load_part(builds, i, m, values, err);
	return r;
}

static int load_row(const struct builds *builds, uint32_t build, enum metric m, float *values,
		    struct error *err)
{
	const struct merge *s = builds->context;
	const struct place *place = &s->place[build];
	const struct part *p = &s->part[place->part];
	size_t n = p->builds.n_tasks;
	float *from = array_new(n * place->n, sizeof *from);
	float *known = array_new(place->n, sizeof *known);
	int r = from && known ? 0 : error_sys(err, -ENOMEM, builds->ref, NULL);

	for (size_t i = 0; !r && i < place->n; i++)
		r = p->builds.row(&p->builds, p->member[place->first + i], m, from + i * n, err);
	for (size_t i = 0; i < builds->n_tasks; i++)
		values[i] = NAN;
	for (size_t t = 0; !r && t < n; t++) {
		size_t k = 0;

		for (size_t i = 0; i < place->n; i++) {
			known[k] = from[i * n + t];
			k += !isnan(known[k]);
		}
		if (k)
			values[p->task[t]] = median(known, k);
	}
	free_all(from, known);
	return r;
}

/* Of a build that is one set: several recordings of a revision may be of different hours. */
static int spread(const struct builds *builds, uint32_t build, enum metric m, float *values,
		  struct error *err)
{
	const struct merge *s = builds->context;
	const struct place *place = &s->place[build];
	const struct part *p = &s->part[place->part];
	float *from = array_new(p->builds.n_tasks, sizeof *from);
	int r = from ? 0 : error_sys(err, -ENOMEM, builds->ref, NULL);

	for (size_t i = 0; i < builds->n_tasks; i++)
		values[i] = NAN;
	if (!r && place->n == 1 && p->builds.spread) {
		r = p->builds.spread(&p->builds, p->member[place->first], m, from, err);
		for (size_t t = 0; !r && t < p->builds.n_tasks; t++) {
			if (!isnan(from[t]))
				values[p->task[t]] = from[t];
		}
	}
	free(from);
	return r;
}

/* Whether all members of a build and of the one before, which are consecutive, have the same
 * tasks. */
static int is_as_before(const struct merge *s, uint32_t build, uint64_t *unused, struct error *err)
{
	const struct place *place = &s->place[build], *before = build ? place - 1 : NULL;
	const struct part *p = &s->part[place->part];
	const uint32_t *member;
	int r = 1;

	if (!before || before->part != place->part)
		return 0;
	member = p->member + before->first;
	for (size_t i = 1; r > 0 && i < before->n + place->n; i++) {
		if (member[i] != member[0] + i)
			return 0;
		r = p->builds.ran(&p->builds, member[i], unused, err);
	}
	return r;
}

static int add_ran(const struct part *p, uint32_t member, uint64_t *of_part, uint64_t *set,
		   struct error *err)
{
	size_t words = (p->builds.n_tasks + 63) / 64;
	int r;

	memset(of_part, 0, words * sizeof *of_part);
	do {
		r = p->builds.ran(&p->builds, member, of_part, err);
	} while (r > 0 && member--);
	for (size_t w = 0; !r && w < words; w++) {
		for (uint64_t left = of_part[w]; left; left &= left - 1) {
			uint32_t task = p->task[64 * w + (size_t)__builtin_ctzll(left)];

			set[task / 64] |= UINT64_C(1) << task % 64;
		}
	}
	return r < 0 ? r : 0;
}

static int ran(const struct builds *builds, uint32_t build, uint64_t *set, struct error *err)
{
	const struct merge *s = builds->context;
	const struct place *place = &s->place[build];
	const struct part *p = &s->part[place->part];
	uint64_t *of_part = array_new_zero(p->builds.n_tasks / 64 + 1, sizeof *of_part);
	int r = of_part ? is_as_before(s, build, of_part, err) :
		error_sys(err, -ENOMEM, builds->ref, NULL);

	for (size_t i = 0; !r && i < place->n; i++)
		r = add_ran(p, p->member[place->first + i], of_part, set, err);
	free(of_part);
	return r;
}

static int packages(const struct builds *builds, uint32_t build, struct name_table *names,
		    struct error *err)
{
	const struct merge *s = builds->context;
	const struct place *place = &s->place[build];
	const struct part *p = &s->part[place->part];

	return p->builds.packages(&p->builds, p->member[place->first + place->n - 1], names, err);
}

static void join_rows(struct builds *builds, const uint32_t *to)
{
	struct merge *s = builds->context;

	for (size_t i = 0; i < s->n_parts; i++) {
		for (size_t t = 0; t < s->part[i].builds.n_tasks; t++)
			s->part[i].task[t] = to[s->part[i].task[t]];
	}
}

static void end_merge(struct builds *builds)
{
	struct merge *s = builds->context;

	for (size_t i = 0; i < s->n_parts; i++) {
		builds_release(&s->part[i].builds);
		free_all(s->part[i].member, s->part[i].task);
	}
	free_all(s->part, s->place, s);
}

/* Sorts the members by their new build. Within one they keep their order. */
static int place_members(struct merge *s, size_t n, uint32_t number, const uint32_t *to)
{
	struct part *p = &s->part[number];
	size_t from = 0;

	p->member = array_new_zero(p->builds.n, sizeof *p->member);
	if (!p->member)
		return -ENOMEM;
	for (size_t i = 0; i < p->builds.n; i++) {
		if (to[i] == MERGE_NONE)
			continue;
		s->place[to[i]].part = number;
		s->place[to[i]].n++;
	}
	for (size_t i = 0; i < n; i++) {
		struct place *place = &s->place[i];

		if (place->part != number)
			continue;
		place->first = from;
		from += place->n;
		s->most = MAX(place->n, s->most);
		place->n = 0;
	}
	for (uint32_t i = 0; i < p->builds.n; i++) {
		struct place *place = to[i] == MERGE_NONE ? NULL : &s->place[to[i]];

		if (place)
			p->member[place->first + place->n++] = i;
	}
	p->n_members = from;
	return 0;
}

static int add_tasks(struct builds *builds, struct part *p, struct name_table *names)
{
	int r = 0;

	p->task = array_new_zero(p->builds.n_tasks + 1, sizeof *p->task);
	if (!p->task)
		return -ENOMEM;
	for (size_t t = 0; !r && t < p->builds.n_tasks; t++) {
		const struct builds_task *task = &p->builds.task[t];

		r = name_table_add(names, slice_of(task->name), &p->task[t]);
		if (!r && p->task[t] == builds->n_tasks)
			builds->task[builds->n_tasks++] = *task;
	}
	return r;
}

static int set_build(struct build *build, const struct part *p, const struct place *place)
{
	const uint32_t *member = p->member + place->first;
	int64_t *known;

	*build = p->builds.build[member[place->n - 1]];
	for (size_t i = 0; i + 1 < place->n; i++)
		build->repeats += p->builds.build[member[i]].repeats + 1;
	if (place->n == 1)
		return 0;
	build->runs = 0;
	known = array_new(place->n, sizeof *known);
	for (enum total t = 0; known && t < TOTALS; t++) {
		size_t k = 0;

		for (size_t i = 0; i < place->n; i++) {
			known[k] = p->builds.build[member[i]].total[t];
			k += known[k] >= 0;
		}
		build->total[t] = median_total(known, k);
	}
	free(known);
	return known ? 0 : -ENOMEM;
}

/* What every part can do. */
static void set_calls(struct builds *builds, const struct merge *s)
{
	bool can_ran = true, can_packages = true;

	for (size_t i = 0; i < s->n_parts; i++) {
		can_ran = can_ran && s->part[i].builds.ran;
		can_packages = can_packages && s->part[i].builds.packages;
	}
	builds->load = load_metric;
	builds->row = load_row;
	builds->spread = spread;
	builds->ran = can_ran ? ran : NULL;
	builds->packages = can_packages ? packages : NULL;
	builds->join = join_rows;
	builds->end = end_merge;
	builds->notes = s->n_parts == 1 ? s->part[0].builds.notes : NULL;
}

static int make(struct builds *builds, struct merge *s, size_t n, const struct merge_part *part)
{
	struct name_table names = NAME_TABLE_INIT;
	size_t tasks = 0;
	int r = 0;

	for (size_t i = 0; i < s->n_parts; i++)
		tasks += s->part[i].builds.n_tasks;
	builds->texts = arena_new();
	builds->build = array_new_zero(n + 1, sizeof *builds->build);
	builds->task = array_new_zero(tasks, sizeof *builds->task);
	s->place = array_new_zero(n + 1, sizeof *s->place);
	if (!builds->texts || !builds->build || !builds->task || !s->place)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		s->place[i].part = MERGE_NONE;
	for (uint32_t i = 0; !r && i < s->n_parts; i++) {
		r = place_members(s, n, i, part[i].to);
		r = r ? r : add_tasks(builds, &s->part[i], &names);
	}
	if (r)
		goto out;
	for (; builds->n < n; builds->n++) {
		const struct place *place = &s->place[builds->n];

		r = set_build(&builds->build[builds->n], &s->part[place->part], place);
		if (r)
			goto out;
	}
out:
	name_table_release(&names);
	return r;
}

int merge_builds(struct builds *builds, size_t n, struct merge_part *part, size_t n_parts,
		 struct error *err)
{
	struct merge *s = calloc(1, sizeof *s);
	int r = -ENOMEM;

	*builds = (struct builds){ .ref = part[n_parts - 1].builds.ref };
	if (s)
		s->part = calloc(n_parts, sizeof *s->part);
	if (s && s->part) {
		for (size_t i = 0; i < n_parts; i++)
			s->part[i].builds = part[i].builds;
		s->n_parts = n_parts;
		builds->context = s;
		set_calls(builds, s);
		r = make(builds, s, n, part);
	} else {
		for (size_t i = 0; i < n_parts; i++)
			builds_release(&part[i].builds);
		free(s);
		builds->ref = NULL;
	}
	for (size_t i = 0; i < n_parts; i++)
		part[i].builds = (struct builds)BUILDS_INIT;
	return r ? error_sys(err, r, builds->ref, NULL) : 0;
}
