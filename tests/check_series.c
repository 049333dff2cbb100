/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "recording/reader.h"
#include "recording/column.h"
#include "recording/series.h"
#include "tests/support.h"

#define INTERVAL_MS 1000
#define COLUMNS 3

static const struct series_column columns[] = {
	{ "user", "10ms", true }, { "running", "1", false }, { "eth0:1.rx", "KiB", true },
};

/* A written series, and its text. */
struct script {
	struct series_writer w;
	int64_t written[COLUMNS];
	struct buf text;
};

static void begin(struct script *s)
{
	series_writer_init(&s->w, s->written, COLUMNS, INTERVAL_MS);
	series_add_header(&s->text, "proc_x", INTERVAL_MS, columns, COLUMNS);
}

static void take(struct script *s, int64_t t_ms, int64_t a, int64_t b, int64_t c, bool force)
{
	int64_t level[COLUMNS] = { a, b, c };

	series_add(&s->w, &s->text, t_ms * 1000, level, force);
}

struct result {
	struct recording rec;
	struct error err;
	struct reader r;
	const struct series *s;
};

static void parse(struct result *out, const char *text, size_t len)
{
	struct buf copy = BUF_INIT;

	reader_init(&out->r, &out->rec, &out->err);
	out->rec.arena = arena_new();
	buf_add(&copy, text, len);
	ck_assert_int_eq(reader_file(&out->r, "proc_x.log", &copy, -1), 0);
	buf_release(&copy);
	out->s = recording_series(&out->rec, "proc_x");
}

static void result_release(struct result *r)
{
	reader_release(&r->r);
	recording_release(&r->rec);
}

/* Samples as "time:a,b,c" words, "!" before those after a gap. */
static const char *shown(const struct series *s)
{
	static char text[4096];
	struct buf b;

	buf_init_fixed(&b, text, sizeof text);
	for (size_t i = 0; i < s->n; i++) {
		buf_addf(&b, "%s%s%lld:", i ? " " : "", s->gap[i] ? "!" : "",
			 (long long)s->time_ms[i]);
		for (size_t k = 0; k < s->n_columns; k++) {
			int64_t n = s->level[i * s->n_columns + k];

			if (k)
				buf_addc(&b, ',');
			if (n == SERIES_ABSENT)
				buf_addc(&b, '-');
			else
				buf_addi(&b, n);
		}
	}
	return buf_str(&b);
}

TEST(scale_of_a_unit)
{
	ck_assert_int_eq(column_unit_scale("1000000x"), 1000000);
	ck_assert_int_eq(column_unit_scale("1000001x"), 1);
	ck_assert_int_eq(column_unit_scale("0x"), 1);
	ck_assert_int_eq(column_unit_scale("x"), 1);
}

TEST(text_as_documented)
{
	struct script s = { .text = BUF_INIT };

	begin(&s);
	take(&s, 0, 0, 5, 0, false);
	take(&s, 1002, 3, 6, 0, false);
	take(&s, 2000, 3, 6, 0, false);
	take(&s, 3009, 3, 6, 0, false);
	take(&s, 4000, 4, 5, 0, false);
	take(&s, 5042, 5, 5, 9, false);
	take(&s, 6000, 5, 5, 9, false);
	take(&s, 7000, 5, 5, 9, true);
	take(&s, 7100, 5, 5, 9, true);
	take(&s, 8000, 5, 5, 9, false);
	take(&s, 60000, 6, 5, 9, false);
	series_lost(&s.w);
	take(&s, 61000, 7, 5, 9, false);
	ck_assert_str_eq(buf_str(&s.text),
		"buildbeat proc_x 1 1000 user:10ms:c running:1:g eth0:1.rx:KiB:c\n"
		",5\n" "3,1\n" "+3 1,-1\n" "@5042 1,,9\n" "+2 \n" "@7100 \n" "\n" "!60000 1\n"
		"!61000 =7,5,9\n");
	buf_release(&s.text);
}

static const struct { const char *what, *lines, *samples; unsigned n_warnings; } cases[] = {
	{ "grid", "1,2\n1,-1\n\n", "0:1,2,0 1000:2,1,0 2000:2,1,0", 0 },
	{ "unchanged", "1\n+4 1\n", "0:1,0,0 3000:1,0,0 4000:2,0,0", 0 },
	{ "late", "1\n@1400 1\n1\n", "0:1,0,0 1400:2,0,0 2000:3,0,0", 0 },
	{ "late after unchanged", "1\n@3400 1\n", "0:1,0,0 2000:1,0,0 3400:2,0,0", 0 },
	{ "late belongs to the next", "1\n@1500 1\n1\n", "0:1,0,0 1000:1,0,0 1500:2,0,0 3000:3,0,0", 0 },
	{ "gap", "1\n!9000 1\n1\n", "0:1,0,0 !9000:2,0,0 10000:3,0,0", 0 },
	{ "late start", "+3 1\n1\n", "2000:1,0,0 3000:2,0,0", 0 },
	{ "gap first", "!500 1\n", "500:1,0,0", 0 },
	{ "levels", "1,5\n@1000 =7,,2\n1\n", "0:1,5,0 1000:7,0,2 2000:8,0,2", 0 },
	{ "no levels", "1,5\n=\n", "0:1,5,0 1000:0,0,0", 0 },
	{ "forced at once", "1\n@0 1\n", "0:2,0,0", 0 },
	{ "a little early", "1\n1\n@998 1\n", "0:1,0,0 1000:3,0,0", 0 },
	{ "extremes", "9223372036854775807,-9223372036854775807\n",
	  "0:9223372036854775807,-9223372036854775807,0", 0 },
	{ "torn", "1\n1\n1", "0:1,0,0 1000:2,0,0", 1 },
	{ "damaged", "1\nx\n1\n1\n@5000 =9,9\n1\n", "0:1,0,0 !5000:9,9,0 6000:10,9,0", 2 },
	{ "NUL bytes", "1\n\0\0\0", "0:1,0,0", 1 },
	{ "too many values", "1\n1,1,1,1\n", "0:1,0,0", 1 },
	{ "three and an empty one", "1\n1,1,1,\n", "0:1,0,0 1000:2,1,1", 0 },
	{ "overlong number", "1\n99999999999999999999\n", "0:1,0,0", 1 },
	{ "nine and ten digits", "123456789,1234567890\n", "0:123456789,1234567890,0", 0 },
	{ "backwards", "1\n1\n1\n@500 1\n@4000 =5\n", "0:1,0,0 1000:2,0,0 2000:3,0,0 !4000:5,0,0", 1 },
	{ "far future", "1\n+999999999999 1\n", "0:1,0,0", 1 },
	{ "overflowing step", "1\n+9223372036854775807 1\n", "0:1,0,0", 1 },
	{ "negative time", "@-5 1\n", "", 1 },
	{ "bad step", "1\n+0 1\n", "0:2,0,0", 0 },
	{ "time without blank", "1\n@2000x\n", "0:1,0,0", 1 },
	{ "spaces", "1\n1, 1\n", "0:1,0,0", 1 },
	{ "new columns", "1,2,3\nbuildbeat proc_x 1 1000 running:1:g user:10ms:c new:1:g\n+3 7,1,4\n,1\n",
	  "0:1,2,3,- 1000:1,2,3,- 2000:2,7,-,4 3000:3,7,-,4", 0 },
	{ "new interval", "1\n1\nbuildbeat proc_x 1 500 user:10ms:c\n@2000 1\n1\n",
	  "0:1,0,0 1000:2,0,0 1500:2,0,0 2000:3,-,- 2500:4,-,-", 0 },
	{ "a damaged first line", "1\nbuildbeat proc_x 1 0 user:10ms:c\n@2000 =1\n1\n", "0:1,0,0", 2 },
	{ "and a good one after", "1\nbuildbeat proc_x 1 1000 user\n1\nbuildbeat proc_x 1 1000 user:10ms:c\n@9000 3\n",
	  "0:1,0,0 8000:1,0,0 9000:4,-,-", 2 },
	{ "nothing", "", "", 0 },
};

TEST_EACH(decoded, cases)
{
	RELEASED(buf, text = BUF_INIT);
	RELEASED(result, r);
	const char *lines = cases[_i].lines;
	/* The case with NULs is longer than its string. */
	size_t len = strlen(lines) + (strcmp(cases[_i].what, "NUL bytes") ? 0 : 3);

	series_add_header(&text, "proc_x", INTERVAL_MS, columns, COLUMNS);
	buf_add(&text, lines, len);
	parse(&r, text.data, text.len);
	ck_assert_ptr_nonnull(r.s);
	ck_assert_msg(!strcmp(shown(r.s), cases[_i].samples), "%s: %s", cases[_i].what, shown(r.s));
	ck_assert_msg(r.rec.n_warnings == cases[_i].n_warnings, "%s: %zu warnings, %s", cases[_i].what,
		      r.rec.n_warnings, r.rec.n_warnings ? r.rec.warning[0].text : "");
}

/* Any build: the samples read are the ones taken; of an unchanged stretch, its ends. */

static uint64_t state;

static uint64_t random_below(uint64_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 33) % n;
}

#define SAMPLES 2000

struct truth {
	int64_t t_ms[SAMPLES], level[SAMPLES][COLUMNS];
	bool lost[SAMPLES];
	bool late[SAMPLES];
	size_t n;
};

static void sample_all(struct script *s, struct truth *truth)
{
	int64_t level[COLUMNS] = { 0, 10, 0 };
	int64_t grid = 0;

	for (size_t i = 0; i < SAMPLES; i++) {
		size_t before = s->text.len;
		int64_t t_ms = grid * INTERVAL_MS;

		truth->late[i] = random_below(20) == 0;
		t_ms += (int64_t)random_below(truth->late[i] ? 450 : 10);
		series_add(&s->w, &s->text, t_ms * 1000, level, i + 1 == SAMPLES);
		truth->t_ms[i] = t_ms;
		memcpy(truth->level[i], level, sizeof level);
		if (random_below(150) == 0 && i + 1 < SAMPLES && s->text.len > before) {
			buf_cut(&s->text, before);
			series_lost(&s->w);
			truth->lost[i] = true;
		}
		if (random_below(2) == 0)
			level[random_below(COLUMNS)] += (int64_t)random_below(1000);
		grid += random_below(100) == 0 ? 1 + (int64_t)random_below(30) : 1;
	}
	truth->n = SAMPLES;
}

/* Whether the series has that level at that time: at a sample, or between two equal ones. */
static bool agrees(const struct series *s, int64_t t_ms, const int64_t *level)
{
	for (size_t i = 0; i < s->n; i++) {
		const int64_t *row = s->level + i * s->n_columns;
		bool same = !memcmp(row, level, COLUMNS * sizeof *level);
		int64_t off = s->time_ms[i] - t_ms;

		if (same && off >= -10 && off <= 10)
			return true;
		if (same && i && s->time_ms[i - 1] <= t_ms && s->time_ms[i] >= t_ms - 10 &&
		    !s->gap[i] && !memcmp(row - s->n_columns, level, COLUMNS * sizeof *level))
			return true;
	}
	return false;
}

TEST_RANGE(round_trip, 1, 20)
{
	static struct truth truth;
	struct script s = { .text = BUF_INIT };
	struct result r;

	memset(&truth, 0, sizeof truth);
	state = (uint64_t)_i;
	begin(&s);
	sample_all(&s, &truth);
	parse(&r, s.text.data, s.text.len);
	ck_assert_uint_eq(r.rec.n_warnings, 0);
	for (size_t i = 0; i < truth.n; i++) {
		bool last_unchanged = i && !memcmp(truth.level[i], truth.level[i - 1],
						   sizeof truth.level[i]);

		/* A late sample without a change is not written. */
		if (truth.lost[i] || (truth.late[i] && last_unchanged))
			continue;
		/* A sample left out before a lost line is unknown. */
		if (last_unchanged && i + 1 < truth.n)
			continue;
		ck_assert_msg(agrees(r.s, truth.t_ms[i], truth.level[i]),
			      "seed %d, sample %zu at %lld", _i, i, (long long)truth.t_ms[i]);
	}
	result_release(&r);
	buf_release(&s.text);
}

/* Whichever line is damaged, no wrong sample is read, and those 300 lines later are there. */
TEST_RANGE(any_line_lost, 1, 30)
{
	static struct truth truth;
	struct script s = { .text = BUF_INIT };
	const char *p, *end;

	memset(&truth, 0, sizeof truth);
	state = 99;
	begin(&s);
	sample_all(&s, &truth);
	p = strchr(s.text.data, '\n') + 1;
	for (int i = 0; i < 20 * _i; i++)
		p = strchr(p, '\n') + 1;
	end = strchr(p, '\n');
	memset((char *)(uintptr_t)p, '?', (size_t)(end - p));
	if (end > p) {
		struct result r;
		const int64_t *row;

		parse(&r, s.text.data, s.text.len);
		ck_assert_uint_ge(r.rec.n_warnings, 1);
		ck_assert_int_eq(r.s->time_ms[r.s->n - 1], truth.t_ms[SAMPLES - 1] / 1000 * 1000);
		row = r.s->level + (r.s->n - 1) * r.s->n_columns;
		ck_assert_mem_eq(row, truth.level[SAMPLES - 1], sizeof truth.level[0]);
		result_release(&r);
	}
	buf_release(&s.text);
}

TEST_MAIN(series);
