/* SPDX-License-Identifier: MIT */
#include "analyse/workers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define JOBS_MAX 100000

/* Options with a value, which can be the next word: of make and of ninja. */
#define WITH_VALUE "CfIoWEdktw"

struct words {
	const char *p, *end;	/* the word; p is NULL after the last */
	const char *all_end;
};

static void next_word(struct words *w)
{
	const char *p = w->end;

	while (p < w->all_end && *p == ' ')
		p++;
	w->p = p < w->all_end ? p : NULL;
	while (p < w->all_end && *p != ' ')
		p++;
	w->end = p;
}

static bool is_number(const char *p, const char *end)
{
	return p < end && ((*p >= '0' && *p <= '9') || *p == '.');
}

/* The value behind an option, or the next word if that is a number. */
static bool value_of(struct words *w, const char *behind, double *value)
{
	struct words next = *w;

	if (behind == w->end) {
		next_word(&next);
		behind = next.p;
		if (!behind || !is_number(behind, next.end))
			return false;
		*w = next;
	}
	*value = strtod(behind, NULL);
	return true;
}

static void set_jobs(struct workers *to, struct words *w, const char *behind)
{
	double value;

	if (!value_of(w, behind, &value))
		to->jobs = WORKERS_ANY;
	else if (value >= 1 && value <= JOBS_MAX)
		to->jobs = (int64_t)value;
}

/* "-l" without a number removes the limit. */
static void set_load(struct workers *to, struct words *w, const char *behind)
{
	double value;

	to->load = value_of(w, behind, &value) && value > 0 ? value : NAN;
}

/* What follows the name of a long option and '=' if there is one; NULL: another option. */
static const char *behind_name(const struct words *w, const char *name)
{
	size_t n = strlen(name);

	if ((size_t)(w->end - w->p) < n || memcmp(w->p, name, n))
		return NULL;
	if (w->p + n == w->end)
		return w->end;
	return w->p[n] == '=' ? w->p + n + 1 : NULL;
}

static void read_long(struct workers *to, struct words *w)
{
	const char *jobs = behind_name(w, "--jobs"), *load = behind_name(w, "--load-average");

	load = load ? load : behind_name(w, "--max-load");
	if (jobs)
		set_jobs(to, w, jobs);
	else if (load)
		set_load(to, w, load);
}

static void read_letters(struct workers *to, struct words *w)
{
	for (const char *p = w->p + 1; p < w->end; p++) {
		if (*p == 'j' || *p == 'l') {
			(*p == 'j' ? set_jobs : set_load)(to, w, p + 1);
			return;
		}
		if (strchr(WITH_VALUE, *p)) {
			bool is_last = p + 1 == w->end;

			/* make's -d, -k, -t and -w have no value */
			if (is_last && !strchr("dktw", *p))
				next_word(w);
			if (!strchr("dktw", *p) || is_number(p + 1, w->end))
				return;
		}
	}
}

struct workers workers_given(const struct instance *in)
{
	struct workers given = { -1, NAN };
	struct words w = { .end = in->command, .all_end = in->command + strlen(in->command) };

	for (next_word(&w); w.p; next_word(&w)) {
		if (*w.p != '-' || w.end - w.p < 2)
			continue;
		if (w.p[1] != '-')
			read_letters(&given, &w);
		else if (w.end - w.p > 2)
			read_long(&given, &w);
	}
	return given;
}
