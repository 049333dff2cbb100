/* SPDX-License-Identifier: MIT */
#include "analyse/profile.h"

#include "base/array.h"
#include "base/index.h"
#include "base/minmax.h"
#include "base/saturate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int begin_profile(struct profile *p)
{
	if (p->memory)
		return 0;
	p->memory = arena_new();
	p->rows = calloc(1, sizeof *p->rows);
	p->text.arena = p->memory;
	return p->memory && p->rows ? 0 : -ENOMEM;
}

void profile_release(struct profile *p)
{
	if (p->rows)
		index_release(p->rows);
	free_all(p->rows, p->row, p->row_of, p->pair);
	for (int k = 0; k < PROFILE_TIMES; k++)
		free(p->value[k]);
	name_table_release(&p->text);
	arena_free(p->memory);
	*p = (struct profile)PROFILE_INIT;
}

bool profile_has_tasks(const struct profile *p)
{
	uint32_t tally = name_table_find(&p->text, slice_of(PROFILE_TALLY));

	for (size_t i = 0; i < p->n_rows; i++) {
		if (p->row[i].key[PROFILE_KIND] != tally)
			return true;
	}
	return false;
}

int profile_number(struct profile *p, struct slice text, uint32_t *number)
{
	return begin_profile(p) ? -ENOMEM : name_table_add(&p->text, text, number);
}

static uint64_t mix_bits(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

struct profile_row *profile_find(struct profile *p, const uint32_t key[PROFILE_KEYS],
				 const uint32_t unit[PROFILE_OWN_UNITS])
{
	uint64_t a = 0, b = 0x9e3779b97f4a7c15u;
	struct profile_row *row;
	uint32_t at;

	if (begin_profile(p))
		return NULL;
	/* Rows are the same if 128 bits of hash are. */
	for (int k = 0; k < PROFILE_KEYS; k++) {
		a = mix_bits(a + key[k] + 1);
		b = mix_bits(b ^ ((uint64_t)key[k] << 20)) + a;
	}
	a = mix_bits(a ^ ((uint64_t)unit[PROFILE_OF_RUN] << 32 | unit[PROFILE_OF_AMOUNT]));
	if (index_find(p->rows, a, b, &at))
		return &p->row[at];
	row = array_make_room(p->row, &p->row_cap, p->n_rows, sizeof *row);
	if (!row)
		return NULL;
	p->row = row;
	if (index_put(p->rows, a, b, (uint32_t)p->n_rows))
		return NULL;
	row += p->n_rows++;
	*row = (struct profile_row)PROFILE_ROW_INIT;
	memcpy(row->key, key, sizeof row->key);
	memcpy(row->unit, unit, sizeof row->unit);
	return row;
}

/* The one of two values to keep, of which the first stands for n and the second for m: a choice
 * that is random, and the same for the same values. */
static int64_t choose_value(int64_t a, int64_t n, int64_t b, int64_t m)
{
	uint64_t dice = mix_bits((uint64_t)a * 31 + (uint64_t)b * 17 + (uint64_t)(n * 7 + m));

	if (a < 0 || b < 0 || n <= 0 || m <= 0)
		return a < 0 || n <= 0 ? b : a;
	return ldexp((double)(dice >> 11), -53) * (double)(n + m) < (double)n ? a : b;
}

static void add_unit(uint32_t *to, uint32_t unit)
{
	if (*to == PROFILE_NO_UNIT)
		*to = unit;
	else if (unit != PROFILE_NO_UNIT && *to != unit)
		*to = PROFILE_UNITS_DIFFER;
}

static int64_t add_signed_number(int64_t a, int64_t b)
{
	return __builtin_add_overflow(a, b, &a) ? b < 0 ? INT64_MIN : INT64_MAX : a;
}

void profile_row_add(struct profile_row *to, const struct profile_row *row)
{
	static const int of[PROFILE_TIMES] = { PROFILE_COUNT, PROFILE_QUEUED };

	to->known |= row->known;
	for (int k = 0; k < PROFILE_OWN_UNITS; k++)
		add_unit(&to->unit[k], row->unit[k]);

	for (int k = 0; k < PROFILE_TIMES; k++)
		to->sample[k] = choose_value(to->sample[k], to->sum[of[k]], row->sample[k],
						     row->sum[of[k]]);
	for (int k = 0; k < PROFILE_SUMS; k++)
		to->sum[k] = add_signed_number(to->sum[k], row->sum[k]);
	for (int k = 0; k < PROFILE_MAXES; k++)
		to->max[k] = MAX(row->max[k], to->max[k]);
	for (int k = 0; k < PROFILE_VALUES; k++) {
		if (value_info[VALUE_CPU + k].joined == VALUE_SUM)
			to->value[k] = add_signed_number(to->value[k], row->value[k]);
		else
			to->value[k] = MAX(row->value[k], to->value[k]);
	}
}

static int by_value(const void *a, const void *b)
{
	return array_order(((const struct profile_value *)a)->value,
			   ((const struct profile_value *)b)->value);
}

int64_t profile_quantile(struct profile_value *value, size_t n, double q)
{
	double total = 0, so_far = 0;

	if (n > 1)
		qsort(value, n, sizeof *value, by_value);
	for (size_t i = 0; i < n; i++)
		total += (double)value[i].n;
	for (size_t i = 0; i < n; i++) {
		so_far += (double)value[i].n;
		if (so_far >= q * total && value[i].n)
			return value[i].value;
	}
	return -1;
}

/* The difference */

static int number_in(struct profile *out, const struct profile *of, const struct profile_row *row,
		     uint32_t key[PROFILE_KEYS])
{
	int r = 0;

	for (int k = 0; !r && k < PROFILE_KEYS; k++)
		r = profile_number(out, of->text.name[row->key[k]], &key[k]);
	return r;
}

static int unit_in(struct profile *out, const struct profile *of, uint32_t unit, uint32_t *number)
{
	*number = unit;
	return unit < of->text.n ? profile_number(out, of->text.name[unit], number) : 0;
}

/* Processes of two builds have different numbers. */
static int add_signed(struct profile *out, const struct profile *of, int sign)
{
	uint32_t key[PROFILE_KEYS], unit[PROFILE_OWN_UNITS], none;
	int r = profile_number(out, slice_of(""), &none);

	for (size_t i = 0; !r && i < of->n_rows; i++) {
		struct profile_row *to;

		r = number_in(out, of, &of->row[i], key);
		key[PROFILE_PID] = none;
		for (int k = 0; !r && k < PROFILE_OWN_UNITS; k++)
			r = unit_in(out, of, of->row[i].unit[k], &unit[k]);
		to = r ? NULL : profile_find(out, key, unit);
		if (!to)
			return -ENOMEM;
		to->known |= of->row[i].known;
		for (int k = 0; k < PROFILE_SUMS; k++)
			to->sum[k] += sign * of->row[i].sum[k];
		for (int k = 0; k < PROFILE_VALUES; k++)
			to->value[k] += sign * of->row[i].value[k];
	}
	return r;
}

int profile_difference(struct profile *out, const struct profile *a, const struct profile *b)
{
	int r = add_signed(out, b, 1);
	size_t n = 0;

	if (!r)
		r = add_signed(out, a, -1);
	for (size_t i = 0; !r && i < out->n_rows; i++) {
		bool any = false;

		for (int k = 0; k < PROFILE_SUMS; k++)
			any |= out->row[i].sum[k] != 0;
		for (int k = 0; k < PROFILE_VALUES; k++)
			any |= value_info[VALUE_CPU + k].joined == VALUE_SUM && out->row[i].value[k];
		if (any)
			out->row[n++] = out->row[i];
	}
	out->n_rows = r ? out->n_rows : n;
	out->is_difference = true;
	out->seconds = b->seconds;
	out->n_lost = b->n_lost;
	out->n_unfinished = b->n_unfinished;
	out->n_incomplete = b->n_incomplete;
	out->n_at_least = a->n_at_least + b->n_at_least;
	return r;
}

int profile_make(struct profile *p, const struct summary *s, const struct waits *q,
		 const struct chain *pairs, int64_t from_us, int64_t to_us,
		 const struct recording_formats *formats, struct error *err)
{
	struct tally_table tallies = { .merge_threads = p->merge_threads };
	const char *path = s->rec->path;
	int r = profile_add_tasks(p, s, q, from_us, to_us);

	if (!r && pairs)
		r = profile_pair_tasks(p, s, pairs);
	if (r)
		return error_sys(err, r, path, NULL);
	if (!path || !tally_is_here(path))
		return 0;
	r = tally_read(&tallies, path, from_us, to_us, formats, err);
	if (!r)
		r = profile_add_tallies(p, &tallies, s->rec);
	tally_release(&tallies);
	return r;
}
