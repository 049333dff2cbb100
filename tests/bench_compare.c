/* SPDX-License-Identifier: MIT */
/*
 * Statistics of the comparison: how often noise is reported as a change, how many builds a
 * step needs to be seen, and the cost of a series and of a pair of samples.
 */
#include "stats/changepoints.h"
#include "stats/samples.h"
#include "tests/noise.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BUILDS 365
#define SERIES 4000
#define FALSE_BAR 4
#define SERIES_BAR_US 140	/* 40,000 series, with reading, in 6 s */

static double cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static size_t changes_in(struct changepoints *c, const double *v, size_t n, const struct change **list)
{
	size_t count = 0;

	if (changepoints_find(c, list, &count, v, n, 0.01))
		exit(EXIT_FAILURE);
	return count;
}

static void bench_noise(struct changepoints *c, enum noise_kind kind)
{
	struct noise noise = { 1000 + kind };
	size_t changes = 0;
	double spent = 0;

	for (int i = 0; i < SERIES; i++) {
		const struct change *list;
		double v[BUILDS], begun;

		noise_series(&noise, kind, v, BUILDS);
		begun = cpu_us();
		changes += changes_in(c, v, BUILDS, &list);
		spent += cpu_us() - begun;
	}
	printf("%d series of %d builds, %s: %zu false change points (bar: %d); "
	       "%.0f us CPU a series (bar: %d)\n", SERIES, BUILDS, noise_name[kind], changes,
	       FALSE_BAR, spent / SERIES, SERIES_BAR_US);
}

#define BEFORE 120
#define AFTER 40
#define ROUNDS 101

static int ascending(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static int builds_to_see(struct changepoints *c, const double *v)
{
	for (int builds = 1; builds < AFTER; builds++) {
		const struct change *list;
		size_t n = changes_in(c, v, BEFORE + (size_t)builds, &list);

		if (n && list[n - 1].at + 3 >= BEFORE && list[n - 1].at <= BEFORE + 3)
			return builds;
	}
	return AFTER;
}

static void bench_step(struct changepoints *c, enum noise_kind kind, double step, int bar)
{
	struct noise noise = { 50 };
	int builds[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		double v[BEFORE + AFTER];

		noise_series(&noise, kind, v, BEFORE + AFTER);
		for (int j = BEFORE; j < BEFORE + AFTER; j++)
			v[j] *= 1 + step;
		builds[i] = builds_to_see(c, v);
	}
	qsort(builds, ROUNDS, sizeof *builds, ascending);
	printf("a step of %.0f %%, %s: seen after %d builds (median; bar: %d), nine in ten after %d\n",
	       100 * step, noise_name[kind], builds[ROUNDS / 2], bar, builds[ROUNDS * 9 / 10]);
}

/* One pair in fifty is a fifth slower. */
#define PAIRS 10000
#define RATE 0.05

static void bench_pairs(size_t n)
{
	static const struct samples_rules rules = { RATE, 0.01 };
	struct samples *s = malloc(PAIRS * sizeof *s);
	struct noise noise = { 90 };
	int told = 0, wrong = 0;
	double spent = 0;

	for (size_t i = 0; s && i < PAIRS; i++) {
		double base[10], now[10], begun;

		noise_series(&noise, NOISE_SPIKES, base, n);
		noise_series(&noise, NOISE_SPIKES, now, n);
		for (size_t j = 0; i % 50 == 0 && j < n; j++)
			now[j] *= 1.2;
		begun = cpu_us();
		if (samples_compare(&s[i], base, n, now, n))
			exit(EXIT_FAILURE);
		spent += cpu_us() - begun;
	}
	spent -= cpu_us();
	if (!s || samples_judge(s, PAIRS, &rules))
		exit(EXIT_FAILURE);
	spent += cpu_us();
	for (size_t i = 0; i < PAIRS; i++) {
		bool is = s[i].verdict == VERDICT_LOWER || s[i].verdict == VERDICT_HIGHER;

		told += is;
		wrong += is && i % 50;
	}
	printf("%d pairs of %zu and %zu, 200 a fifth slower: %d told, %.3f of them false (rate %.2f); "
	       "%.1f us CPU a pair\n", PAIRS, n, n, told, told ? (double)wrong / told : 0, RATE,
	       spent / PAIRS);
	free(s);
}

int main(void)
{
	struct changepoints *c = changepoints_new();

	if (!c)
		return EXIT_FAILURE;
	for (enum noise_kind kind = 0; kind < NOISE_KINDS; kind++)
		bench_noise(c, kind);
	bench_step(c, NOISE_NORMAL, 0.2, 3);
	bench_step(c, NOISE_NORMAL, 0.1, 6);
	bench_step(c, NOISE_SPIKES, 0.2, 3);
	bench_step(c, NOISE_SPIKES, 0.1, 6);
	changepoints_free(c);
	bench_pairs(3);
	bench_pairs(5);
	bench_pairs(10);
	return 0;
}
