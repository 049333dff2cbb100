/* SPDX-License-Identifier: MIT */
#include "analyse/values.h"
#include "base/array.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Columns that describe the run whose tasks are kept: they have no median. */
static bool is_kept(enum value_column c)
{
	return c == COLUMN_START_US || c == COLUMN_RUNS || c == COLUMN_STATUS;
}

static int by_number(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Sorts the values. */
static int64_t median(int64_t *v, size_t n)
{
	qsort(v, n, sizeof *v, by_number);
	return v[(n - 1) / 2] + (v[n / 2] - v[(n - 1) / 2]) / 2;
}

/* The standard deviation; -1 of fewer than two. */
static int64_t deviation(const double *v, size_t n)
{
	double mean = 0, squares = 0;

	for (size_t i = 0; i < n; i++)
		mean += v[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (v[i] - mean) * (v[i] - mean);
	return n > 1 ? llround(sqrt(squares / (double)(n - 1))) : -1;
}

/* Of one set. */
struct set {
	struct values *run;
	size_t n, kept;
	size_t *row;		/* of a task in each run; n_tasks: it did not succeed there */
	int64_t *value;
	double *metric;
};

static void find_rows(struct set *s, size_t task)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct values *f = &s->run[i];
		size_t row = i == s->kept ? task : values_find(f, s->run[s->kept].task[task].name);
		const int64_t *status = f->column[COLUMN_STATUS];

		s->row[i] = row < f->n_tasks && status && status[row] > 0 ? f->n_tasks : row;
	}
}

static void set_task(struct set *s, size_t task)
{
	struct values *f = &s->run[s->kept];
	size_t n;

	find_rows(s, task);
	for (enum metric m = 0; m < METRICS; m++) {
		n = 0;
		for (size_t i = 0; i < s->n; i++) {
			if (s->row[i] < s->run[i].n_tasks)
				s->metric[n] = values_get(&s->run[i], s->row[i], m);
			n += s->row[i] < s->run[i].n_tasks && !isnan(s->metric[n]);
		}
		f->spread[m][task] = deviation(s->metric, n);
	}
	for (enum value_column c = 0; c < COLUMNS; c++) {
		n = 0;
		for (size_t i = 0; i < s->n; i++) {
			const int64_t *column = s->run[i].column[c];

			if (s->row[i] < s->run[i].n_tasks && column && column[s->row[i]] >= 0)
				s->value[n++] = column[s->row[i]];
		}
		if (n && f->column[c] && !is_kept(c))
			f->column[c][task] = median(s->value, n);
	}
}

static int add_number(struct values *f, const char *key, int64_t n)
{
	char text[32];

	snprintf(text, sizeof text, "%lld", (long long)n);
	return n < 0 ? 0 : values_add_fact(f, key, text);
}

static int set_build(struct set *s)
{
	struct values *f = &s->run[s->kept];
	int r = add_number(f, VALUES_RUNS, (int64_t)s->n);

	for (enum metric m = 0; !r && m < METRICS; m++) {
		char key[64];
		size_t n = 0;

		for (size_t i = 0; i < s->n; i++) {
			s->metric[n] = metric_total(s->run[i].total, m);
			n += !isnan(s->metric[n]);
		}
		snprintf(key, sizeof key, VALUES_SPREAD "%s", metric_info[m].name);
		r = add_number(f, key, deviation(s->metric, n));
	}
	for (enum total t = 0; t < TOTALS; t++) {
		size_t n = 0;

		for (size_t i = 0; i < s->n; i++) {
			if (s->run[i].total[t] >= 0)
				s->value[n++] = s->run[i].total[t];
		}
		if (n)
			f->total[t] = median(s->value, n);
	}
	return r;
}

int values_join_runs(struct values *run, size_t n, size_t kept)
{
	struct set s = {
		.run = run, .n = n, .kept = kept, .row = malloc(n * sizeof *s.row),
		.value = malloc(n * sizeof *s.value), .metric = malloc((n + 1) * sizeof *s.metric),
	};
	struct values *f = &run[kept];
	int r = n < 2 ? 0 : s.row && s.value && s.metric ? 0 : -ENOMEM;

	for (enum metric m = 0; n > 1 && !r && m < METRICS; m++) {
		f->spread[m] = malloc((f->n_tasks + 1) * sizeof *f->spread[m]);
		r = f->spread[m] ? 0 : -ENOMEM;
	}
	for (size_t i = 0; n > 1 && !r && i < f->n_tasks; i++)
		set_task(&s, i);
	if (n > 1 && !r)
		r = set_build(&s);
	free_all(s.row, s.value, s.metric);
	return r;
}
