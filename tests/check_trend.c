/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "render/plot/trend.h"
#include "render/plot/trend_axis.h"
#include "tests/support.h"

/* Trends over builds, drawn by a real gnuplot. */

#define BUILDS 40

static double value[BUILDS], none[BUILDS];
static int64_t start_s[BUILDS];

static const struct trend_change changes[] = {
	{ .at = 10, .first = 9, .last = 12, .before = 20e6, .after = 26e6, .label = "+30 %" },
	{ .at = 30, .first = 25, .last = 35, .creep = true, .before = 26e6, .after = 22e6,
	  .label = "-15 %" },
};

static struct trend made(void)
{
	for (size_t i = 0; i < BUILDS; i++) {
		value[i] = i % 9 == 8 ? NAN : (i < 10 ? 20e6 : 26e6) + 3e5 * (double)(i % 3);
		none[i] = NAN;
		start_s[i] = i == 7 ? -1 : 1767225600 + 86400 * (int64_t)i;
	}
	return (struct trend){
		.title = "a <task> & \"its\" `name`", .subtitle = "builder/main/x86", .n = BUILDS,
		.start_s = start_s, .n_panes = 1,
		.pane[0] = { .title = "wall time", .unit = TREND_TIME, .value = value,
			     .n_changes = ARRAY_SIZE(changes), .change = changes },
	};
}

/* An axis does not start at 0 if that is far away, and has round steps. */
static const struct {
	enum trend_unit unit;
	double low, high;
	int64_t axis_low, axis_high, step;
} axes[] = {
	{ TREND_TIME, 44e6, 53e6, 40000000, 55000000, 5000000 },
	{ TREND_TIME, 1e6, 53e6, 0, 60000000, 20000000 },
	{ TREND_TIME, 60e6, 60e6, 50000000, 70000000, 5000000 },
	{ TREND_TIME, 3600e6, 4200e6, 3300000000, 4500000000, 300000000 },
	{ TREND_TIME, 300, 310, 260, 340, 20 },
	{ TREND_BYTES, 1 << 30, 1.5 * (1 << 30), 1 << 30, 3 << 29, 1 << 27 },
	{ TREND_BYTES, 0, 0, 0, 1, 1 },
	{ TREND_COUNT, 9.9e9, 11e9, 900000000000, 1200000000000, 50000000000 },
	{ TREND_RATIO, 0.9, 1.1, 8500, 11500, 500 },
	{ TREND_TIME, 0, 1e300, 0, 1000000000000000000, 200000000000000000 },
};

TEST_EACH(axis, axes)
{
	double v[2] = { axes[_i].low, axes[_i].high };
	struct trend t = { .n = 2 };
	struct trend_pane p = { .unit = axes[_i].unit, .value = v };
	struct trend_axis a;

	ck_assert_int_eq(trend_axis_make(&a, &t, &p), 0);
	ck_assert_int_eq(a.step, axes[_i].step);
	ck_assert(a.low <= trend_value(&p, v[0]) && a.high >= trend_value(&p, v[1]));
	ck_assert_int_eq(a.low, axes[_i].axis_low);
	ck_assert_int_eq(a.high, axes[_i].axis_high);
}

TEST(without_values)
{
	struct trend t = made();
	RELEASED(buf, out = BUF_INIT);
	struct error err = { 0 };

	t.pane[0].value = none;
	ck_assert_int_eq(trend_draw(&t, &(struct trend_output){ 0 }, &out, &err), -ENODATA);
}

TEST(svg)
{
	const char *path = support_path("%s/t.svg", support_tmpdir());
	struct trend t = made();
	struct trend_output o = { .path = path };
	struct buf picture = BUF_INIT, out = BUF_INIT;
	struct error err = { 0 };

	SKIP_IF(!support_has("gnuplot"));
	setenv("TMPDIR", support_tmpdir(), 1);
	ck_assert_msg(!trend_draw(&t, &o, &out, &err), "%s", err.message);
	support_read(&picture, path);
	ck_assert_ptr_nonnull(strstr(buf_str(&picture), "+30 %"));
	ck_assert_ptr_nonnull(strstr(buf_str(&picture), "-15 %"));
	ck_assert_ptr_nonnull(strstr(buf_str(&picture), "2026-01-01"));
	ck_assert_ptr_nonnull(strstr(buf_str(&picture), "<title>a &lt;task&gt;"));
	ck_assert_ptr_nonnull(strstr(buf_str(&picture), "+30 % since 2026-01-11, -15 % since"));
	buf_release(&picture);
	buf_release(&out);
	support_cleanup();
}

TEST(terminal)
{
	struct trend t = made();
	struct trend_output o = { .columns = 70, .lines = 24 };
	struct buf out = BUF_INIT;
	struct error err = { 0 };
	const char *end;

	SKIP_IF(!support_has("gnuplot"));
	setenv("TMPDIR", support_tmpdir(), 1);
	ck_assert_msg(!trend_draw(&t, &o, &out, &err), "%s", err.message);
	for (const char *line = buf_str(&out); *line; line = end + (*end == '\n')) {
		end = line + strcspn(line, "\n");
		ck_assert_int_le(end - line, 70);
	}
	ck_assert_ptr_nonnull(strstr(buf_str(&out), "wall time\n"));
	ck_assert_ptr_nonnull(strstr(buf_str(&out), "==="));
	ck_assert_ptr_nonnull(strstr(buf_str(&out), "+30 % since 2026-01-11\n"));
	ck_assert_ptr_nonnull(strstr(buf_str(&out), "-15 % since 2026-01-26, slowly until 2026-02-05\n"));
	buf_release(&out);
	support_cleanup();
}

TEST(one_build)
{
	struct trend t = made();
	struct buf out = BUF_INIT;
	struct error err = { 0 };

	SKIP_IF(!support_has("gnuplot"));
	setenv("TMPDIR", support_tmpdir(), 1);
	t.n = 1;
	t.pane[0].n_changes = 0;
	ck_assert_msg(!trend_draw(&t, &(struct trend_output){ 0 }, &out, &err), "%s", err.message);
	ck_assert_ptr_nonnull(strchr(buf_str(&out), 'o'));
	buf_release(&out);
	support_cleanup();
}

static const char *const bad[] = { "x", "x.gif", "svg", "x.term", "x.svg.gz" };

TEST_EACH(endings, bad)
{
	struct trend t = made();
	struct trend_output o = { .path = bad[_i] };
	struct buf out = BUF_INIT;
	struct error err = { 0 };

	ck_assert_int_eq(trend_draw(&t, &o, &out, &err), -EINVAL);
	ck_assert_str_eq(err.path, bad[_i]);
}

TEST_MAIN(trend);
