/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/cursor.h"
#include "compare/lines.h"
#include "convert/json_reader.h"
#include "stats/samples.h"
#include "tests/noise.h"
#include "tests/paths.h"
#include "tests/support.h"

#define VALUES_MAX 64

/* The output of another tool for the same samples: tests/data/compare/README. */

static size_t numbers(double *v, const struct json_value *list)
{
	size_t n = 0;

	for (const struct json_value *i = list->first; i; i = i->next)
		ck_assert(n < VALUES_MAX && json_double(i, &v[n++]));
	return n;
}

static void percent(char *text, size_t size, const struct side *s)
{
	double most = fmax(s->in.high / s->median - 1, 1 - s->in.low / s->median);

	snprintf(text, size, isinf(s->in.high) ? "inf" : "%.0f", 100 * most);
}

static void compare_line(const struct json_value *line)
{
	double base[VALUES_MAX], now[VALUES_MAX];
	size_t n_base = numbers(base, json_member(line, "base"));
	size_t n_now = numbers(now, json_member(line, "new"));
	const struct json_value *ci = json_member(line, "ci")->first;
	const char *id = json_member_text(line, "id"), *delta = json_member_text(line, "delta");
	struct samples s;
	char text[32];

	ck_assert(!samples_compare(&s, base, n_base, now, n_now));
	percent(text, sizeof text, &s.base);
	ck_assert_msg(!strcmp(text, json_text(ci)), "%s: %s %%, not %s", id, text, json_text(ci));
	percent(text, sizeof text, &s.now);
	ck_assert_msg(!strcmp(text, json_text(ci->next)), "%s: %s %%", id, text);
	snprintf(text, sizeof text, "%.3f", s.p);
	ck_assert_msg(!strcmp(text, json_member_text(line, "p")), "%s: p %s", id, text);
	snprintf(text, sizeof text, "%+.2f%%", 100 * (s.now.median / s.base.median - 1));
	ck_assert_msg(!strcmp(s.p > 0.05 ? "~" : text, delta), "%s: %s, not %s", id, text, delta);
}

TEST(as_benchstat)
{
	const char *path = TOP_SRCDIR "/tests/data/compare/benchstat.jsonl";
	RELEASED(buf, text = BUF_INIT);
	struct slice line;
	struct cursor c;
	bool complete;
	int lines = 0;

	support_read(&text, path);
	cursor_init(&c, text.data, text.len);
	for (; cursor_line(&c, &line, &complete); lines++) {
		struct json_document doc;

		ck_assert(!json_read_text(&doc, line.p, line.len, path, c.line, NULL));
		compare_line(doc.root);
		json_document_release(&doc);
	}
	ck_assert_int_gt(lines, 50);
}

/* Many pairs, 2 % of which differ: most of these are reported, and some are reported at all. */

static const struct {
	size_t n;
	double step;
	int told;		/* at least */
} runs[] = {
	{ 3, 0.3, 15 }, { 5, 0.2, 25 }, { 10, 0.15, 30 },
};

#define PAIRS 2000
#define DIFFERENT 40

TEST_EACH(few_are_false, runs)
{
	static const struct samples_rules rules = { 0.05, 0.01 };
	struct samples *s = malloc(PAIRS * sizeof *s);
	struct noise noise = { 60 + _i };
	int told = 0, wrong = 0;

	for (size_t i = 0; i < PAIRS; i++) {
		double base[10], now[10], spread = 0.04 * exp(0.5 * noise_normal(&noise));

		for (size_t j = 0; j < runs[_i].n; j++) {
			base[j] = 7 * exp(spread * noise_normal(&noise));
			now[j] = 7 * exp(spread * noise_normal(&noise)) *
				 (i < DIFFERENT ? 1 + runs[_i].step : 1);
		}
		ck_assert(!samples_compare(&s[i], base, runs[_i].n, now, runs[_i].n));
	}
	ck_assert(!samples_judge(s, PAIRS, &rules));
	for (size_t i = 0; i < PAIRS; i++) {
		told += s[i].verdict == VERDICT_HIGHER && i < DIFFERENT;
		wrong += s[i].verdict == VERDICT_LOWER ||
			 (s[i].verdict == VERDICT_HIGHER && i >= DIFFERENT);
	}
	ck_assert_msg(told >= runs[_i].told && wrong <= 5, "%d and %d wrong", told, wrong);
	free(s);
}

/* One of many pairs of ten values differs: their ranks alone have a p of 1e-5 at best. */
TEST(one_of_many)
{
	static const struct samples_rules rules = { 0.01, 0.05 };
	struct samples *s = malloc(PAIRS * sizeof *s);
	struct noise noise = { 7 };

	for (size_t i = 0; i < PAIRS; i++) {
		double base[10], now[10];

		for (size_t j = 0; j < ARRAY_SIZE(now); j++) {
			base[j] = 1e7 * exp(0.02 * noise_normal(&noise));
			now[j] = (i ? 1e7 : 1.1e7) * exp(0.02 * noise_normal(&noise));
		}
		ck_assert(!samples_compare(&s[i], base, ARRAY_SIZE(base), now, ARRAY_SIZE(now)));
	}
	ck_assert(!samples_judge(s, PAIRS, &rules));
	ck_assert_msg(s[0].verdict == VERDICT_HIGHER && s[0].adjusted_p > 0.01, "%g %g", s[0].rate,
		      s[0].adjusted_p);
	for (size_t i = 1; i < PAIRS; i++)
		ck_assert(s[i].verdict != VERDICT_HIGHER && s[i].verdict != VERDICT_LOWER);
	free(s);
}

/* One pair by itself. */
static const struct {
	const char *what;
	size_t n_base, n_now;
	double base[12], now[12];
	double effect;		/* NAN: not known */
	enum samples_verdict verdict;
} pairs[] = {
	{ "nothing", 0, 0, { 0 }, { 0 }, NAN, VERDICT_UNKNOWN },
	{ "nothing before", 0, 3, { 0 }, { 1, 2, 3 }, NAN, VERDICT_UNKNOWN },
	{ "one and one", 1, 1, { 100 }, { 200 }, 1, VERDICT_UNKNOWN },
	{ "not numbers", 3, 1, { NAN, INFINITY, 100 }, { 200 }, 1, VERDICT_UNKNOWN },
	{ "the same", 3, 3, { 5, 5, 5 }, { 5, 5, 5 }, 0, VERDICT_SAME },
	{ "clearly more", 4, 4, { 1, 1.01, 0.99, 1 }, { 2, 2.02, 1.98, 2 }, 1, VERDICT_HIGHER },
	{ "clearly less", 4, 4, { 2, 2.02, 1.98, 2 }, { 1, 1.01, 0.99, 1 }, -0.5, VERDICT_LOWER },
	{ "too rough to tell", 3, 3, { 1, 2, 3 }, { 2, 3, 4 }, 0.5, VERDICT_UNKNOWN },
	{ "too little to matter", 3, 3, { 100, 100.1, 99.9 }, { 100.4, 100.5, 100.3 }, 0.004,
	  VERDICT_SAME },
	{ "below zero", 3, 3, { -10, -10.1, -9.9 }, { -5, -5.1, -4.9 }, 0.5, VERDICT_HIGHER },
	{ "from zero", 3, 3, { 0, 0, 0 }, { 5, 5, 5 }, NAN, VERDICT_UNKNOWN },
	{ "to zero", 3, 3, { 5, 5, 5 }, { 0, 0, 0 }, -1, VERDICT_LOWER },
	{ "ranks are enough", 10, 10, { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 },
	  { 101, 102, 103, 104, 105, 106, 107, 108, 109, 1e6 }, NAN, VERDICT_HIGHER },
};

TEST_EACH(one_pair, pairs)
{
	static const struct samples_rules rules = { 0.05, 0.01 };
	struct samples s;

	ck_assert(!samples_compare(&s, pairs[_i].base, pairs[_i].n_base, pairs[_i].now,
				   pairs[_i].n_now));
	ck_assert(!samples_judge(&s, 1, &rules));
	ck_assert_msg(s.verdict == pairs[_i].verdict, "%s: %d, t's p %g", pairs[_i].what, s.verdict,
		      s.t_p);
	if (!isnan(pairs[_i].effect))
		ck_assert_msg(fabs(s.effect - pairs[_i].effect) < 1e-9, "%s: %g", pairs[_i].what,
			      s.effect);
	ck_assert(!(s.effect < s.in.low) && !(s.effect > s.in.high));
}

TEST(as_line)
{
	static const struct samples_rules rules = { 0.05, 0.01 };
	static const struct line_id name = { .text = "a\"b", .len = 3 }, number = { NULL, 0, true, -7 };
	static const struct change change = { 40, 38, 41, 100, 125, 0.25, 1e-9 };
	RELEASED(buf, out = BUF_INIT);
	struct samples s;

	ck_assert(!samples_compare(&s, (double[]){ 1, 2 }, 2, (double[]){ 4, 8 }, 2));
	ck_assert(!samples_judge(&s, 1, &rules));
	line_samples(&out, &name, &s);
	line_changes(&out, &number, &change, 1);
	line_changes(&out, &number, NULL, 0);
	ck_assert_str_eq(buf_str(&out),
		"{\"id\":\"a\\\"b\",\"p\":0.333333333333,\"adjusted_p\":0.333333333333,"
		"\"effect\":3,\"interval\":[-0.51449263785,31.9552160221],\"verdict\":\"unknown\","
		"\"t_p\":0.105572809,\"adjusted_t_p\":0.105572809,"
		"\"base\":{\"n\":2,\"median\":1.5,\"interval\":[null,null]},"
		"\"new\":{\"n\":2,\"median\":6,\"interval\":[null,null]}}\n"
		"{\"id\":-7,\"change_points\":[40],\"changes\":[{\"at\":40,\"first\":38,\"last\":41,"
		"\"before\":100,\"after\":125,\"effect\":0.25,\"p\":1e-09}]}\n"
		"{\"id\":-7,\"change_points\":[],\"changes\":[]}\n");
}

TEST_MAIN(samples);
