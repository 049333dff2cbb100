/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "render/chart/bootchart.h"
#include "render/chart/chart.h"
#include "tests/compared.h"
#include "tests/paths.h"
#include "tests/recorded.h"
#include "tests/support.h"

/*
 * bootchart.svg: recording in, exact picture out, without style, script and data, which have
 * tests of their own; and properties of every picture. UPDATE_GOLDEN=1 rewrites the golden
 * files.
 */

#define DATA TOP_SRCDIR "/tests/data/"

static void draw(struct buf *out, const struct recorded *r, enum lanes_by by,
		 const struct recorded *other)
{
	struct panels panels;
	struct compared compared;
	struct chart_input in = {
		.sum = &r->sum, .panels = &panels, .by = by,
		.other = compared_make(&compared, other ? &other->sum : NULL, &r->sum),
	};
	struct chart c;

	buf_init(out);
	ck_assert_int_eq(panels_make(&panels, &r->sum), 0);
	ck_assert_int_eq(chart_make(&c, &in), 0);
	ck_assert_int_eq(bootchart_write(out, &c), 0);
	chart_release(&c);
	compared_release(&compared);
	panels_release(&panels);
}

static void draw_path(struct buf *out, const char *path, enum lanes_by by, const char *other)
{
	struct recorded r, ghost;

	recorded_read(&r, path);
	if (other)
		recorded_read(&ghost, other);
	draw(out, &r, by, other ? &ghost : NULL);
	if (other)
		recorded_release(&ghost);
	recorded_release(&r);
}

/* Removes everything between each such start tag and its end. */
static void leave_out(struct buf *b, const char *start, const char *end)
{
	struct buf rest = BUF_INIT;
	const char *p = buf_str(b), *from, *until;

	while ((from = strstr(p, start))) {
		from = strchr(from, '>') + 1;
		until = strstr(from, end);
		ck_assert_ptr_nonnull(until);
		buf_add(&rest, p, (size_t)(from - p));
		p = until;
	}
	buf_adds(&rest, p);
	buf_release(b);
	*b = rest;
}

/* Goldens */

static const struct {
	const char *golden, *path;
	enum lanes_by by;
	const char *other;
} goldens[] = {
	{ "nested.svg", DATA "recordings/nested", LANES_WORKER, NULL },
	{ "nested-directory.svg", DATA "recordings/nested", LANES_DIRECTORY, NULL },
	{ "nested-compared.svg", DATA "recordings/nested", LANES_KIND, DATA "chart/queued" },
	{ "cut.svg", DATA "recordings/cut", LANES_WORKER, NULL },
	{ "empty.svg", DATA "recordings/empty", LANES_WORKER, NULL },
	{ "queued.svg", DATA "chart/queued", LANES_WORKER, NULL },
	{ "idle.svg", DATA "chart/idle", LANES_WORKER, NULL },
};

TEST_GROUP("golden");

TEST_EACH(golden, goldens)
{
	RELEASED(buf, out);

	draw_path(&out, goldens[_i].path, goldens[_i].by, goldens[_i].other);
	leave_out(&out, "<style", "</style>");
	leave_out(&out, "<script", "</script>");
	support_is_golden(&out, support_path("chart/%s", goldens[_i].golden));
}

/* Properties of every picture */

#define DEPTH_MAX 16
#define ELEMENTS_MAX 5000
#define PATHS_MAX 300
#define TEXTS_MAX 2000
#define POINTS_MAX (2 * CHART_WIDTH + 8)

struct census {
	size_t elements, paths, texts, points;
};

/* The number of points of a path that shows a quantity over time. */
static size_t count_points(const char *d)
{
	size_t numbers = 0, points = 0;
	bool pair = false;

	for (; *d && *d != '"'; d++) {
		bool digit = (*d >= '0' && *d <= '9') || *d == '.';

		if (strchr("mlhvz", *d))
			pair = *d == 'm' || *d == 'l';
		if (!digit || ((d[-1] >= '0' && d[-1] <= '9') || d[-1] == '.'))
			continue;
		numbers += pair;
		points += !pair;
	}
	return points + numbers / 2;
}

static void count_element(struct census *c, const char *p)
{
	const char *d;
	size_t points;

	c->elements++;
	c->texts += !strncmp(p, "<text ", 6);
	if (strncmp(p, "<path ", 6))
		return;
	c->paths++;
	d = strstr(p, " d=\"");
	ck_assert(d && d < strchr(p, '>'));
	if (strncmp(p, "<path class=\"area", 17) && strncmp(p, "<path class=\"line", 17))
		return;
	points = count_points(d + 4);
	c->points = points > c->points ? points : c->points;
}

/* The end of a tag; every character in the tag is allowed there. */
static const char *check_tag(const char *p)
{
	bool quoted = false;

	for (p++; *p && (quoted || *p != '>'); p++) {
		quoted ^= *p == '"';
		ck_assert_msg(*p != '<', "< within a tag: %.60s", p);
	}
	ck_assert_int_eq(*p, '>');
	return p;
}

static void check_entity(const char *p)
{
	ck_assert_msg(!strncmp(p, "&lt;", 4) || !strncmp(p, "&gt;", 4) ||
		      !strncmp(p, "&amp;", 5) || !strncmp(p, "&quot;", 6), "%.20s", p);
}

/* Elements nest, and every character is one of XML's. */
static void check_document(struct census *c, const char *text)
{
	const char *open[DEPTH_MAX];
	size_t depth = 0;

	memset(c, 0, sizeof *c);
	for (const char *p = text; *p; p++) {
		if (!strncmp(p, "<![CDATA[", 9)) {
			p = strstr(p, "]]>");
			ck_assert_ptr_nonnull(p);
		} else if (!strncmp(p, "</", 2)) {
			size_t n = strcspn(p + 2, ">");

			ck_assert_uint_gt(depth, 0);
			ck_assert_int_eq(strncmp(open[--depth] + 1, p + 2, n), 0);
			p += n + 2;
		} else if (*p == '<') {
			const char *end = check_tag(p);

			ck_assert_uint_lt(depth, DEPTH_MAX);
			count_element(c, p);
			if (end[-1] != '/')
				open[depth++] = p;
			p = end;
		} else if (*p == '&') {
			check_entity(p);
		} else {
			ck_assert_msg((unsigned char)*p >= ' ' || *p == '\n' || *p == '\t',
				      "a control character");
		}
	}
	ck_assert_uint_eq(depth, 0);
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

static void check_with_xmllint(const struct buf *out)
{
	const char *path = support_path("%s/chart.svg", support_tmpdir());

	SKIP_IF(!support_has("xmllint"));
	support_write(path, out->data, out->len);
	support_expect(NULL, 0, NULL, "", "xmllint --noout '%s'", path);
}

static void check_picture(struct buf *out)
{
	struct census c;

	check_with_xmllint(out);
	ck_assert_uint_eq(count(out->data, "http"), count(out->data, "http://www.w3.org/"));
	ck_assert_uint_eq(count(out->data, "<script"), 2);
	ck_assert_uint_eq(count(out->data, "</script"), 2);
	leave_out(out, "<script", "</script>");
	check_document(&c, buf_str(out));
	ck_assert_uint_le(c.elements, ELEMENTS_MAX);
	ck_assert_uint_le(c.paths, PATHS_MAX);
	ck_assert_uint_le(c.texts, TEXTS_MAX);
	ck_assert_uint_le(c.points, POINTS_MAX);
	ck_assert_ptr_eq(strchr(out->data + 1, '<'), strstr(out->data, "<title id=\"bb-title\">"));
	ck_assert_ptr_nonnull(strstr(out->data, "<desc id=\"bb-desc\">"));
	/* The picture loads nothing from elsewhere. */
	ck_assert_ptr_null(strstr(out->data, "href="));
	ck_assert_ptr_null(strstr(out->data, "url("));
	ck_assert_ptr_null(strstr(out->data, "@import"));
	ck_assert_ptr_null(strstr(out->data, " src="));
}

TEST_GROUP("every picture");

TEST_EACH(holds_of_goldens, goldens)
{
	RELEASED(buf, out);

	draw_path(&out, goldens[_i].path, goldens[_i].by, goldens[_i].other);
	check_picture(&out);
}

TEST_LOOP(holds_at_random, 24)
{
	RELEASED(recorded, r, other);
	RELEASED(buf, out);

	recorded_random(&r, 1u << (_i % 12), (uint64_t)_i);
	recorded_random(&other, 50, (uint64_t)_i);
	draw(&out, &r, (enum lanes_by)(_i % LANES_BY), _i % 3 ? NULL : &other);
	check_picture(&out);
}

TEST_LOOP(hostile_names, LANES_BY)
{
	static const char tasks[] = "open\t0\tt\t1\t0\t1\tmake\t4.3\t/src\tmake\n"
		"start\t1\tt.1\t2\t\t</style>\t</script><script>alert(1)</script>\t]]>\t\"&<!--\n"
		"done\t900000\tt.1\t0\n"
		"start\t900001\tt.2\t2\t\t\"'>&#x3c;\t\xe2\x80\xaegpj\xff\x01\t\t<![CDATA[\n"
		"fail\t1900000\tt.2\t1\n";
	RELEASED(recorded, r);
	RELEASED(buf, out);

	recorded_make(&r, "command: </title><script>alert(2)</script>\n"
		      "host: ]]>\ncwd: /&lt;\nend_us: 2000000\n", tasks, NULL);
	draw(&out, &r, (enum lanes_by)_i, NULL);
	ck_assert_ptr_nonnull(strstr(out.data, "&lt;/title&gt;&lt;script&gt;alert(2)"));
	ck_assert_ptr_null(strstr(out.data, "<script>alert"));
	ck_assert_ptr_null(strstr(out.data, "\xe2\x80\xae"));
	check_picture(&out);
}

static void generate(const char *dir, unsigned tasks, unsigned samples)
{
	support_expect(NULL, 0, NULL, NULL,
		       "'%s/tests/gen_recording' '%s' %u %u 7", TOP_BUILDDIR, dir, tasks,
		       samples);
}

/* Stretches of narrow bars */

static void add_tasks(struct buf *log, const char *dir, const char *more, unsigned n)
{
	buf_adds(log, "open\t0\tt\t1\t0\t1\tmake\t4.3\t/src\tmake\n");
	for (unsigned i = 0; i < n; i++)
		buf_addf(log, "start\t%u\tt.%u\t1\t\tcompile\t%s%u.o\ndone\t%u\tt.%u\t0\n",
			 i * 100000, i + 1, i % 2 ? dir : more, i, (i + 1) * 100000, i + 1);
}

static const struct {
	const char *dir, *more, *text;
	enum lanes_by by;
} stretches[] = {
	{ "lib/a/", "lib/b/", ">lib: 24 tasks<", LANES_WORKER },
	{ "lib/a/", "src/", ">24 tasks<", LANES_WORKER },
	{ "lib/a/", "lib/b/", ">lib: 24 tasks<", LANES_KIND },
	{ "src/", "src/", ">24 tasks<", LANES_DIRECTORY },
	{ "../", "../", ">24 tasks<", LANES_WORKER },
	{ "", "", ">24 tasks<", LANES_WORKER },
	{ "<&>/", "<&>/", ">&lt;&amp;&gt;: 24 tasks<", LANES_WORKER },
};

TEST_GROUP("stretches");

/* 24 tasks of 12 pixels, then a long one. */
TEST_EACH(stretch, stretches)
{
	RELEASED(buf, log = BUF_INIT, out);
	RELEASED(recorded, r);

	add_tasks(&log, stretches[_i].dir, stretches[_i].more, 24);
	buf_adds(&log, "start\t2400000\tt.25\t1\t\tlink\tprogram\ndone\t9000000\tt.25\t0\n");
	recorded_make(&r, "cwd: /src\nend_us: 9000000\n", buf_str(&log), NULL);
	draw(&out, &r, stretches[_i].by, NULL);
	leave_out(&out, "<script", "</script>");
	ck_assert_msg(strstr(out.data, stretches[_i].text), "no %s", stretches[_i].text);
}

/* Two bars of 28 pixels are no stretch, and bars of two colours have no words. */
TEST_LOOP(no_stretch, 2)
{
	RELEASED(buf, log = BUF_INIT, out);
	RELEASED(recorded, r);

	add_tasks(&log, "lib/", "lib/", 2);
	for (unsigned i = 0; _i && i < 20; i++)
		buf_addf(&log, "start\t%u\tt.%u\t2\t\t%s\tlib/%u.o\ndone\t%u\tt.%u\t0\n", i * 30000,
			 i + 4, i % 2 ? "compile" : "link", i, (i + 1) * 30000, i + 4);
	buf_adds(&log, "start\t200000\tt.3\t1\t\tlink\tprogram\ndone\t4000000\tt.3\t0\n");
	recorded_make(&r, "cwd: /src\nend_us: 4000000\n", buf_str(&log), NULL);
	draw(&out, &r, LANES_WORKER, NULL);
	ck_assert_ptr_null(strstr(out.data, "class=\"many"));
}

/* 400 tasks of 2.8 pixels that touch are one shape, with a seam after each second one. */
TEST(run)
{
	RELEASED(buf, log = BUF_INIT, out);
	const char *p, *end;
	RELEASED(recorded, r);
	size_t n = 0;

	add_tasks(&log, "lib/", "lib/", 400);
	recorded_make(&r, "cwd: /src\nend_us: 40000000\n", buf_str(&log), NULL);
	draw(&out, &r, LANES_WORKER, NULL);
	leave_out(&out, "<script", "</script>");
	p = strstr(strstr(out.data, "<g id=\"lanes\""), "<path class=\"run c0\"");
	ck_assert_ptr_nonnull(p);
	ck_assert_ptr_eq(strchr(p, 'z') + 1, strchr(strstr(p, " d=\"") + 4, '"'));
	ck_assert_ptr_null(strstr(p, "class=\"bar c0"));
	p = strstr(p, "<path class=\"seam\"");
	ck_assert_ptr_nonnull(p);
	end = strchr(p, '>');
	for (p = strstr(p, " d="); p && p < end; p = strchr(p + 1, 'v'))
		n++;
	ck_assert_uint_eq(n, 1 + 199);
}

/* Panels */

/* Where it is known what the build used, the machine's memory has no panel in the picture; the
 * page has all. */
TEST(panels_left_out)
{
	const char *dir = support_path("%s/machine", support_tmpdir());
	struct buf out;

	generate(dir, 100, 300);
	draw_path(&out, dir, LANES_WORKER, NULL);
	ck_assert_ptr_nonnull(strstr(out.data, "id=\"p-memory\""));
	ck_assert_ptr_null(strstr(out.data, "id=\"p-machine\""));
	ck_assert_ptr_nonnull(strstr(out.data, "\"machine\""));
	buf_release(&out);
	draw_path(&out, DATA "recordings/nested", LANES_WORKER, NULL);
	ck_assert_ptr_nonnull(strstr(out.data, "id=\"p-machine\""));
	buf_release(&out);
}

/* Large builds */

static double view_height(const char *text)
{
	const char *p = strstr(text, " viewBox=\"0 0 1280 ");

	ck_assert_ptr_nonnull(p);
	return atof(p + strlen(" viewBox=\"0 0 1280 "));
}

static const enum lanes_by bounded_by[] = { LANES_WORKER, LANES_DIRECTORY };

/* With four times the tasks the picture is not taller, not much larger, and within the
 * limits. */
TEST_EACH(bounded, bounded_by)
{
	RELEASED(buf, few, many);
	double height[2];

	for (int i = 0; i < 2; i++) {
		const char *dir = support_path("%s/%d", support_tmpdir(), i);

		generate(dir, i ? 40000 : 10000, 2000);
		draw_path(i ? &many : &few, dir, bounded_by[_i], NULL);
		check_picture(i ? &many : &few);
		height[i] = view_height(i ? many.data : few.data);
	}
	/* a line of the legend may have longer names of tasks */
	ck_assert_double_le(height[1], height[0] + 20);
	ck_assert_uint_lt(many.len, few.len * 2);
	ck_assert_uint_lt(many.len, 900000);
}

TEST_PROGRAM(bootchart)
{
	setenv("TZ", "UTC", 1);
	return support_main();
}
