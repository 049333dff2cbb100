/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "compare/repeats.h"
#include "compare/verdict.h"
#include "tests/made_series.h"
#include "tests/noise.h"
#include "tests/support.h"

/* Recordings that repeat a build become one build. */

#define HOUR 3600
#define DAY (24 * HOUR)
#define TASKS 20

/* Recordings as letters: the revision, in upper case with uncommitted changes, then '!': failed,
 * '*': another number of tasks, '@': other circumstances, '?': unknown start; blanks are hours,
 * '_' is a day. */
static void made(struct builds *builds, const char *text)
{
	struct made what = { .seed = 7, .tasks = TASKS, .noise = 0.1 };
	int64_t now = 1000000;
	size_t i = SIZE_MAX;

	for (const char *p = text; *p; p++)
		what.builds += *p >= 'A';
	for (const char *p = text; *p; p++)
		what.builds -= *p == '_';
	ck_assert_int_eq(made_series(builds, &what), 0);
	for (const char *p = text; *p; p++) {
		struct build *b = &builds->build[i];

		if (*p == ' ')
			now += HOUR;
		else if (*p == '_')
			now += DAY - 5;
		else if (*p == '!')
			b->total[TOTAL_STATUS] = 1;
		else if (*p == '*')
			b->total[TOTAL_TASKS]--;
		else if (*p == '@')
			b->circumstances++;
		else if (*p == '?')
			b->start_s = -1;
		if (*p < 'A' || *p == '_')
			continue;
		b = &builds->build[++i];
		b->start_s = now += 60;
		b->circumstances = 0;
		b->total[TOTAL_TASKS] = TASKS;
		b->revision[0].dirty = *p < 'a';
		b->revision[0].commit = &("a\0b\0c\0d"[2 * ((*p | 32) - 'a')]);
	}
}

static const struct {
	const char *text, *build;	/* the digit of each recording */
} cases[] = {
	{ "", "" },
	{ "a", "0" },
	{ "abc", "012" },
	{ "aaa", "000" },
	{ "abbac", "01123" },
	{ "abab", "0123" },
	/* nightly builds of one revision, and recordings of half a day */
	{ "a_a_a", "012" },
	{ "aa_aa_a", "00112" },
	{ "a      a     a", "000" },
	{ "a      a      a", "001" },
	{ "a      a      a      a", "0011" },
	/* what repeats nothing */
	{ "AA", "01" },
	{ "aAa", "012" },
	{ "a@a", "01" },
	{ "aa*", "01" },
	{ "aa*aa*", "0101" },
	{ "a?a", "01" },
	{ "a?a?", "01" },
	/* a failed build is followed by another attempt, or is the newest */
	{ "a!a!", "01" },
	{ "a!aa", "011" },
	{ "aa!a", "101" },
	{ "aaa!", "001" },
	{ "aa!b!b", "0123" },
	{ "baa!a", "0212" },
};

TEST_EACH(found, cases)
{
	uint32_t build[64];
	RELEASED(builds, builds);
	RELEASED(buf, got = BUF_INIT);
	size_t n, most = 0;

	made(&builds, cases[_i].text);
	n = repeats_find(build, &builds);
	for (size_t i = 0; i < builds.n; i++) {
		buf_addu(&got, build[i]);
		most = build[i] + 1 > most ? build[i] + 1 : most;
	}
	ck_assert_str_eq(buf_str(&got), cases[_i].build);
	ck_assert_uint_eq(n, most);
}

/* Generated recordings. */
#define GENERATED 300

static const char *generate(struct noise *noise, char *text)
{
	static const char marks[] = "!*@?";
	size_t n = 1 + (size_t)(noise_uniform(noise) * 30);
	char *p = text, at = 'a';

	for (size_t i = 0; i < n; i++) {
		if (noise_uniform(noise) < 0.3)
			at = (char)('a' + noise_uniform(noise) * 3.99);
		*p++ = noise_uniform(noise) < 0.1 ? (char)(at - 32) : at;
		if (noise_uniform(noise) < 0.15)
			*p++ = marks[(size_t)(noise_uniform(noise) * 4)];
		while (noise_uniform(noise) < 0.4)
			*p++ = ' ';
		if (noise_uniform(noise) < 0.2)
			*p++ = '_';
	}
	*p = '\0';
	return text;
}

static int by_value(const void *x, const void *y)
{
	float a = *(const float *)x, b = *(const float *)y;

	return (a > b) - (a < b);
}

static float median(float *v, size_t n)
{
	qsort(v, n, sizeof *v, by_value);
	return !n ? NAN : n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* All recordings of a build agree, the newest one is last, and earlier recordings belong together
 * whether or not the later ones exist. */
TEST_LOOP(stable, GENERATED)
{
	struct noise noise = { .state = (uint64_t)_i + 1 };
	uint32_t build[64], earlier[64];
	RELEASED(builds, builds);
	char text[256];
	size_t n, newest = 0;

	made(&builds, generate(&noise, text));
	n = repeats_find(build, &builds);
	for (size_t i = 0; i < builds.n; i++) {
		bool last = true;

		for (size_t k = i + 1; k < builds.n; k++) {
			const struct build *a = &builds.build[i], *b = &builds.build[k];

			last = last && build[k] != build[i];
			if (build[k] != build[i])
				continue;
			ck_assert_str_eq(a->revision[0].commit, b->revision[0].commit);
			ck_assert(!a->revision[0].dirty && !b->revision[0].dirty);
			ck_assert_int_lt(llabs(a->start_s - b->start_s), DAY);
			ck_assert_int_le(a->total[TOTAL_STATUS] + b->total[TOTAL_STATUS], 0);
		}
		if (last)
			ck_assert_uint_eq(build[i], newest++);
	}
	ck_assert_uint_eq(newest, n);
	for (size_t all = builds.n; builds.n-- > 0; ) {
		repeats_find(earlier, &builds);
		for (size_t i = 0; i < builds.n; i++) {
			for (size_t k = 0; k < i; k++)
				ck_assert_int_eq(build[i] == build[k], earlier[i] == earlier[k]);
		}
		if (!builds.n) {
			builds.n = all;
			break;
		}
	}
}

/* Values and totals are medians of the known ones; the newest recording is the build; notes are
 * about it. */
TEST_LOOP(joined, GENERATED)
{
	struct noise noise = { .state = (uint64_t)_i + 1000 };
	struct known notes[3] = { { .time_s = 5 }, { .time_s = 3 }, { .time_s = 4 } }, *k = notes;
	struct known_list known = { .known = k };
	uint32_t build[64], noted[3];
	RELEASED(builds, builds, raw);
	struct error err = { 0 };
	char text[256];
	float *values, *got, some[64];
	size_t n, recordings = 0;

	made(&raw, generate(&noise, text));
	made(&builds, text);
	values = made_series_values(&raw, METRIC_WALL);
	for (size_t i = 0; i < raw.n * raw.n_tasks; i++) {
		if (noise_uniform(&noise) < 0.2)
			values[i] = made_series_values(&builds, METRIC_WALL)[i] = NAN;
	}
	n = repeats_find(build, &raw);
	for (; known.n < 3 && known.n < raw.n; known.n++) {
		k[known.n].build = (uint32_t)(known.n * raw.n / 3);
		k[known.n].metrics = (unsigned)known.n;
		noted[known.n] = build[k[known.n].build];
	}
	ck_assert_int_eq(repeats_join(&builds, &known, &err), 0);
	ck_assert_uint_eq(builds.n, n);
	ck_assert_uint_eq(builds.n_tasks, raw.n_tasks);
	ck_assert_str_eq(builds.ref, raw.ref);
	for (size_t b = 0; b < n; b++)
		recordings += builds.build[b].repeats + 1;
	ck_assert_uint_eq(recordings, raw.n);
	got = malloc((n * builds.n_tasks + 1) * sizeof *got);
	ck_assert_int_eq(builds.load(&builds, METRIC_WALL, got, &err), 0);
	for (size_t b = 0; b < n; b++) {
		size_t members = 0, newest = 0, totals = 0;

		for (size_t i = 0; i < raw.n; i++) {
			if (build[i] != b)
				continue;
			newest = i;
			members++;
			some[totals++] = (float)raw.build[i].total[TOTAL_WALL_US];
		}
		ck_assert_uint_eq(builds.build[b].repeats + 1, members);
		ck_assert_str_eq(builds.build[b].id, raw.build[newest].id);
		ck_assert_int_eq(builds.build[b].start_s, raw.build[newest].start_s);
		ck_assert_float_eq_tol((float)builds.build[b].total[TOTAL_WALL_US],
				       median(some, totals), 32);
		for (size_t t = 0; t < raw.n_tasks; t++) {
			float value = got[t * n + b];
			size_t m = 0;

			ck_assert_str_eq(builds.task[t].name, raw.task[t].name);
			for (size_t i = 0; i < raw.n; i++) {
				some[m] = values[t * raw.n + i];
				m += build[i] == b && !isnan(some[m]);
			}
			ck_assert_int_eq(!m, isnan(value));
			if (m)
				ck_assert_float_eq_tol(value, median(some, m), 1e-5f * value);
		}
	}
	for (size_t i = 0; i < known.n; i++) {
		ck_assert_uint_eq(k[i].build, noted[k[i].metrics]);
		ck_assert(!i || n == raw.n || k[i - 1].build < k[i].build ||
			  (k[i - 1].build == k[i].build && k[i - 1].time_s <= k[i].time_s));
	}
	free(got);
}

/* Nothing changes if no recording repeats another: not even an address. */
TEST_LOOP(untouched, 40)
{
	struct made what = { .seed = (uint64_t)_i, .tasks = 5, .builds = 1 + (size_t)_i % 40, .noise = 0.1 };
	struct builds builds, before;
	struct build build[64];
	struct error err = { 0 };

	ck_assert_int_eq(made_series(&builds, &what), 0);
	before = builds;
	memcpy(build, builds.build, builds.n * sizeof *build);
	ck_assert_int_eq(repeats_join(&builds, NULL, &err), 0);
	ck_assert_int_eq(memcmp(&before, &builds, sizeof builds), 0);
	ck_assert_int_eq(memcmp(build, builds.build, builds.n * sizeof *build), 0);
	builds_release(&builds);
}

/* Five recordings of one slow revision are one slow build, a suspect; two slow revisions are not,
 * however often they were recorded. */
static const struct {
	size_t times[2];	/* recordings of the last two revisions */
	bool slow[2];
	size_t confirmed, suspects;
} slow_builds[] = {
	{ { 1, 5 }, { false, true }, 0, 1 },
	{ { 5, 1 }, { true, false }, 0, 0 },
	{ { 1, 1 }, { true, true }, 1, 0 },
	{ { 4, 5 }, { true, true }, 1, 0 },
};

TEST_EACH(slow_revisions, slow_builds)
{
	size_t before = 20, n = before + slow_builds[_i].times[0] + slow_builds[_i].times[1];
	struct made_change change[2];
	struct made what = {
		.seed = 5, .tasks = 100, .builds = n, .noise = 0.02, .change = change, .n_changes = 2,
	};
	RELEASED(builds, builds);
	RELEASED(verdict, v);
	struct rules rules;
	struct error err = { 0 };
	size_t confirmed = 0, suspects = 0;

	for (size_t i = 0, at = before; i < 2; at += slow_builds[_i].times[i++]) {
		change[i] = (struct made_change){
			.task = 3, .metrics = METRIC_BIT(METRIC_MEMORY), .build = at,
			.until = at + slow_builds[_i].times[i], .by = slow_builds[_i].slow[i] ? 1 : 0,
		};
	}
	rules_init(&rules);
	ck_assert_int_eq(made_series(&builds, &what), 0);
	for (size_t i = 0, at = before; i < 2; at += slow_builds[_i].times[i++]) {
		for (size_t k = 1; k < slow_builds[_i].times[i]; k++) {
			builds.build[at + k].revision = builds.build[at].revision;
			builds.build[at + k].start_s = builds.build[at].start_s + (int64_t)k * HOUR;
		}
	}
	ck_assert_int_eq(repeats_join(&builds, NULL, &err), 0);
	ck_assert_uint_eq(builds.n, before + 2);
	ck_assert_int_eq(verdict_make(&v, &builds, &rules, NULL, &err), 0);
	for (size_t i = 0; i < v.n; i++) {
		const struct verdict_finding *f = &v.finding[i];

		if (f->task != 3 || f->metric != METRIC_MEMORY || !f->worse)
			continue;
		confirmed += f->state == FINDING_CONFIRMED;
		suspects += f->state == FINDING_SUSPECT;
	}
	ck_assert_uint_eq(confirmed, slow_builds[_i].confirmed);
	ck_assert_uint_eq(suspects, slow_builds[_i].suspects);
}

TEST_MAIN(repeats);
