/* SPDX-License-Identifier: MIT */
#include "convert/bazel_counters.h"

#include "base/array.h"
#include "convert/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_US 1000000
#define INTERVAL_MS 1000
#define OWN 3			/* columns of proc_bazel */
#define VALUE_MAX (INT64_C(1) << 40)

struct counter {
	const char *event, *value;
	int decimals;		/* the CPU unit becomes 10 ms per second; memory stays in MiB */
};

static const struct counter counters[BAZEL_COUNTERS] = {
	[BAZEL_CPU] = { "CPU usage (Bazel)", "cpu", 2 },
	[BAZEL_MEMORY] = { "Memory usage (Bazel)", "memory", 0 },
	[BAZEL_SYSTEM_CPU] = { "CPU usage (total)", "system cpu", 2 },
	[BAZEL_SYSTEM_MEMORY] = { "Memory usage (total)", "system memory", 0 },
};

int bazel_counters_add(struct bazel_counters *c, const struct json_value *event)
{
	const char *name = json_member_text(event, "name");
	struct bazel_sample *sample;
	int64_t time_us, value;

	for (size_t i = 0; i < BAZEL_COUNTERS; i++) {
		if (strcmp(name, counters[i].event))
			continue;
		/* Bazel omits a value of 0. */
		value = json_member_number(json_member(event, "args"), counters[i].value,
					   counters[i].decimals, 0);
		if (!trace_event_us(event, &time_us) || value < 0 || value > VALUE_MAX)
			return 0;
		sample = array_add(&c->sample[i], &c->n[i], sizeof *sample);
		if (!sample)
			return -ENOMEM;
		*sample = (struct bazel_sample){ time_us, value };
		return 0;
	}
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct bazel_sample *x = a, *y = b;

	return x->time_us < y->time_us ? -1 : x->time_us > y->time_us;
}

/* Sort the samples and remove those of the same time. */
static void sort(struct bazel_counters *c, size_t which, int64_t zero_us)
{
	struct bazel_sample *s = c->sample[which];
	size_t n = 0;

	if (c->n[which])
		qsort(s, c->n[which], sizeof *s, by_time);
	for (size_t i = 0; i < c->n[which]; i++) {
		int64_t time_us;

		if (__builtin_sub_overflow(s[i].time_us, zero_us, &time_us) || time_us < 0 ||
		    time_us > TRACE_LONGEST_US || (n && s[n - 1].time_us == time_us))
			continue;
		s[n++] = (struct bazel_sample){ time_us, s[i].value };
	}
	c->n[which] = n;
}

/* A value is valid until the time of the next sample. */
static int64_t length_us(const struct bazel_sample *s, size_t i, size_t n)
{
	return i + 1 < n ? s[i + 1].time_us - s[i].time_us : SECOND_US;
}

static void give_system_cpu(const struct bazel_counters *c, struct builder *b)
{
	static const struct series_column column = { "user", "10ms", true };
	const struct bazel_sample *s = c->sample[BAZEL_SYSTEM_CPU];
	size_t n = c->n[BAZEL_SYSTEM_CPU];
	int64_t ticks = 0, more;

	if (n)
		builder_series(b, "proc_stat", INTERVAL_MS, &column, 1);
	for (size_t i = 0; i < n && !b->error; i++) {
		builder_sample(b, s[i].time_us, &ticks);
		if (__builtin_mul_overflow(s[i].value, length_us(s, i, n), &more) ||
		    __builtin_add_overflow(ticks, more / SECOND_US, &ticks))
			return;
	}
	if (n && !b->error)
		builder_sample(b, s[n - 1].time_us + SECOND_US, &ticks);
}

static int64_t value_at(const struct bazel_counters *c, size_t which, size_t *at, int64_t time_us)
{
	while (*at < c->n[which] && c->sample[which][*at].time_us < time_us)
		++*at;
	if (*at == c->n[which] || c->sample[which][*at].time_us != time_us)
		return SERIES_ABSENT;
	return c->sample[which][*at].value;
}

/* All counters have the same times: the rows are those of the counter with most samples. */
static void give_own(const struct bazel_counters *c, struct builder *b)
{
	static const size_t own[] = { BAZEL_CPU, BAZEL_MEMORY, BAZEL_SYSTEM_MEMORY };
	static const struct series_column columns[] = {
		{ "cpu", "10ms", false }, { "memory", "1MiB", false },
		{ "system_memory", "1MiB", false },
	};
	struct series_column column[OWN];
	size_t which[OWN], at[OWN] = { 0 }, n = 0, most = 0;
	int64_t level[OWN];

	for (size_t i = 0; i < OWN; i++) {
		if (!c->n[own[i]])
			continue;
		most = !n || c->n[own[i]] > c->n[most] ? own[i] : most;
		which[n] = own[i];
		column[n++] = columns[i];
	}
	if (n)
		builder_series(b, "proc_bazel", INTERVAL_MS, column, n);
	for (size_t i = 0; n && i < c->n[most] && !b->error; i++) {
		for (size_t k = 0; k < n; k++)
			level[k] = value_at(c, which[k], &at[k], c->sample[most][i].time_us);
		builder_sample(b, c->sample[most][i].time_us, level);
	}
}

void bazel_counters_give(struct bazel_counters *c, struct builder *b, int64_t zero_us)
{
	for (size_t i = 0; i < BAZEL_COUNTERS; i++)
		sort(c, i, zero_us);
	give_own(c, b);
	give_system_cpu(c, b);
}

void bazel_counters_release(struct bazel_counters *c)
{
	for (size_t i = 0; i < BAZEL_COUNTERS; i++)
		free(c->sample[i]);
}
