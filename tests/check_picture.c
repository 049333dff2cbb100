/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "render/chart/bar_name.h"
#include "render/chart/bootchart.h"
#include "render/chart/svg.h"
#include "tests/compared.h"
#include "tests/paths.h"
#include "tests/recorded.h"
#include "tests/support.h"

/*
 * The texts of the static picture, read from the SVG itself: none overlaps another or leaves the
 * picture, names lie in bars, and every bar with room has one.
 */
#define DEPTH_MAX 16
#define TEXTS_MAX 3000
#define BARS_MAX 60000
#define HEIGHT_NAMED 9.6	/* of a bar that must have a name */
#define WIDTH_NAMED (BAR_NAME_LEAST + 1)

struct box {
	double left, top, right, bottom;
};

/* Words in a picture, or a bar. */
struct thing {
	struct box box;
	char text[80];
	bool is_name;
};

/* An open element. */
struct level {
	double x, y;		/* of its origin in the picture */
	char class[160];		/* with those it is in */
	char name[16];
	bool keep;		/* the last tag begins its text */
};

struct picture {
	struct level level[DEPTH_MAX];
	size_t depth, n_texts, n_bars;
	struct thing *text;
	struct box *bar;
	double width, height;
};

static bool has(const char *class, const char *word)
{
	const char *p = strstr(class, word);
	size_t n = strlen(word);

	return p && (p == class || p[-1] == ' ') && (!p[n] || p[n] == ' ');
}

/* An attribute of the tag at p, "" if it has none. */
static const char *attribute(const char *p, const char *name)
{
	static char value[256];
	const char *end = strchr(p, '>'), *at = strstr(p, support_path(" %s=\"", name));
	size_t n;

	if (!at || at > end)
		return "";
	at += strlen(name) + 3;
	n = strcspn(at, "\"");
	n = n < sizeof value ? n : sizeof value - 1;
	memcpy(value, at, n);
	value[n] = '\0';
	return value;
}

static double number(const char *p, const char *name)
{
	return strtod(attribute(p, name), NULL);
}

/* As in bootchart.css. */
static double size_of(const char *class)
{
	static const struct { const char *class; double size; } sizes[] = {
		{ "headline", 20 }, { "verdict", 14 }, { "fact", 11.5 }, { "nothing", 13 },
		{ "small", 9 }, { "phase-name", 9 }, { "name", 10.5 }, { "title", 12 }, { "over", 10 },
		{ "tick", 10.5 }, { "label", 10.5 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		if (has(class, sizes[i].class))
			return has(class, "label") && has(class, "head") ? 11.5 : sizes[i].size;
	}
	return 11;
}

static bool is_bold(const char *class)
{
	return has(class, "headline") || has(class, "title") || has(class, "alarm");
}

/* The words from p to the end of the element, without its <title>. */
static void read_words(char *out, size_t size, const char *p)
{
	static const struct { const char *entity; char c; } entities[] = {
		{ "&lt;", '<' }, { "&gt;", '>' }, { "&amp;", '&' }, { "&quot;", '"' },
	};
	size_t n = 0;

	while (strncmp(p, "</text>", 7) && n + 1 < size) {
		if (!strncmp(p, "<title>", 7)) {
			p = strstr(p, "</title>") + 8;
			continue;
		}
		if (*p == '<') {
			p = strchr(p, '>') + 1;
			continue;
		}
		out[n] = *p;
		for (size_t i = 0; i < ARRAY_SIZE(entities); i++) {
			if (!strncmp(p, entities[i].entity, strlen(entities[i].entity))) {
				out[n] = entities[i].c;
				p += strlen(entities[i].entity) - 1;
				break;
			}
		}
		p++;
		n++;
	}
	out[n] = '\0';
}

static void add_text(struct picture *pic, const char *tag, const struct level *l)
{
	static char words[4096];
	struct thing *t = &pic->text[pic->n_texts++];
	double size = size_of(l->class), width, x = l->x + number(tag, "x");
	double y = l->y + number(tag, "y");

	ck_assert_uint_lt(pic->n_texts, TEXTS_MAX);
	read_words(words, sizeof words, strchr(tag, '>') + 1);
	width = svg_text_width(words, size) * (is_bold(l->class) ? SVG_BOLD : 1);
	if (has(l->class, "end") || has(l->class, "row"))
		x -= width;
	else if ((has(l->class, "tick") && !has(l->class, "start")) || has(l->class, "nothing"))
		x -= width / 2;
	t->box = (struct box){ x, y - size * 0.72, x + width, y + size * 0.2 };
	t->is_name = has(l->class, "name");
	snprintf(t->text, sizeof t->text, "%s", words);
}

static double part(const char **d, char command)
{
	char *end;
	double v;

	if (command) {
		ck_assert_int_eq(**d, command);
		(*d)++;
	}
	v = strtod(*d, &end);
	ck_assert_ptr_ne(end, *d);
	*d = end;
	return v;
}

/* Rectangles as svg_path_rect() writes them. */
static void add_bars(struct picture *pic, const char *d, const struct level *l)
{
	double x = l->x, y = l->y, width, height;

	for (; *d == 'm'; d++) {
		x += part(&d, 'm');
		y += part(&d, 0);
		width = *d == 'h' ? part(&d, 'h') : 0;
		height = *d == 'v' ? part(&d, 'v') : 0;
		if (*d == 'h')
			ck_assert_double_eq_tol(part(&d, 'h'), -width, 0.001);
		ck_assert_int_eq(*d, 'z');
		ck_assert_uint_lt(pic->n_bars, BARS_MAX);
		pic->bar[pic->n_bars++] = (struct box){ x, y, x + width, y + height };
	}
	ck_assert_int_eq(*d, '"');
}

static void begin(struct picture *pic, const char *tag)
{
	struct level *l = &pic->level[pic->depth++], *above = l - 1;
	size_t n = strcspn(tag + 1, " />");

	ck_assert_uint_lt(pic->depth, DEPTH_MAX);
	memset(l, 0, sizeof *l);
	memcpy(l->name, tag + 1, n < sizeof l->name ? n : sizeof l->name - 1);
	if (pic->depth > 1) {
		l->x = above->x;
		l->y = above->y;
		strncat(strncat(l->class, above->class, 100), " ", 2);
	}
	strncat(l->class, attribute(tag, "class"), 30);
	if (!strcmp(l->name, "svg") && pic->depth == 1) {
		pic->width = number(tag, "width");
		pic->height = number(tag, "height");
	} else if (!strcmp(l->name, "svg")) {
		l->x += number(tag, "x");
		l->y += number(tag, "y");
	} else if (!strcmp(l->name, "g") && !strcmp(attribute(tag, "id"), "head")) {
		strncat(l->class, " head", 6);
	} else if (!strcmp(l->name, "text")) {
		add_text(pic, tag, l);
	} else if (!strcmp(l->name, "path") && has(l->class, "bar") && !has(l->class, "key")) {
		add_bars(pic, strstr(tag, " d=\"") + 4, l);
	}
}

static void read_picture(struct picture *pic, const char *svg)
{
	*pic = (struct picture){
		.text = calloc(TEXTS_MAX, sizeof *pic->text),
		.bar = calloc(BARS_MAX, sizeof *pic->bar),
	};
	for (const char *p = strchr(svg, '<'); p; p = strchr(p + 1, '<')) {
		if (p[1] == '/') {
			pic->depth--;
			continue;
		}
		if (!strncmp(p, "<![CDATA[", 9)) {
			p = strstr(p, "]]>");
			continue;
		}
		begin(pic, p);
		pic->depth -= strchr(p, '>')[-1] == '/';
	}
	ck_assert_uint_eq(pic->depth, 0);
}

static bool overlap(const struct box *a, const struct box *b)
{
	return a->left < b->right && b->left < a->right && a->top < b->bottom &&
	       b->top < a->bottom;
}

static bool within(const struct box *a, const struct box *b)
{
	return a->left >= b->left - 0.1 && a->right <= b->right + 1.1 && a->top >= b->top - 1 &&
	       a->bottom <= b->bottom + 1;
}

static void check_texts(const struct picture *pic)
{
	struct box all = { 0, 0, pic->width, pic->height };

	for (size_t i = 0; i < pic->n_texts; i++) {
		const struct thing *t = &pic->text[i];
		bool in_bar = !t->is_name;

		ck_assert_str_ne(t->text, "");
		ck_assert_msg(within(&t->box, &all), "out of the picture: %s", t->text);
		for (size_t k = 0; k < i; k++)
			ck_assert_msg(!overlap(&t->box, &pic->text[k].box), "%s upon %s", t->text,
				      pic->text[k].text);
		for (size_t k = 0; k < pic->n_bars && !in_bar; k++)
			in_bar = within(&t->box, &pic->bar[k]);
		ck_assert_msg(in_bar, "not in its bar: %s at %.1f %.1f to %.1f %.1f", t->text,
			      t->box.left, t->box.top, t->box.right, t->box.bottom);
	}
}

static void check_bars(const struct picture *pic)
{
	for (size_t i = 0; i < pic->n_bars; i++) {
		const struct box *b = &pic->bar[i];
		bool named = false;

		if (b->right - b->left < WIDTH_NAMED || b->bottom - b->top < HEIGHT_NAMED)
			continue;
		for (size_t k = 0; k < pic->n_texts && !named; k++)
			named = pic->text[k].is_name && within(&pic->text[k].box, b);
		ck_assert_msg(named, "a bar without name: %.1f %.1f, %.1f wide", b->left, b->top,
			      b->right - b->left);
	}
}

static void check(const struct recorded *r, enum lanes_by by, const struct recorded *other)
{
	RELEASED(compared, compared);
	RELEASED(panels, panels);
	struct chart_input in = {
		.sum = &r->sum, .panels = &panels, .by = by,
		.other = compared_make(&compared, other ? &other->sum : NULL, &r->sum),
	};
	RELEASED(buf, out = BUF_INIT);
	struct picture pic;
	RELEASED(chart, c);

	ck_assert_int_eq(panels_make(&panels, &r->sum), 0);
	ck_assert_int_eq(chart_make(&c, &in), 0);
	ck_assert_int_eq(bootchart_write(&out, &c), 0);
	read_picture(&pic, buf_str(&out));
	ck_assert_uint_gt(pic.n_texts, 1);
	check_texts(&pic);
	check_bars(&pic);
	free(pic.text);
	free(pic.bar);
}

TEST_LOOP(at_random, 40)
{
	RELEASED(recorded, r, other);

	recorded_random(&r, 1u << (_i % 10), (uint64_t)_i);
	recorded_random(&other, 50, (uint64_t)_i);
	check(&r, (enum lanes_by)(_i % LANES_BY), _i % 3 ? NULL : &other);
}

static const char *const stored[] = {
	"recordings/nested", "recordings/cut", "recordings/empty", "chart/queued", "chart/idle",
	"oe/genuine",
};

TEST_LOOP(of_recordings, (int)ARRAY_SIZE(stored) * LANES_BY)
{
	const char *path = support_path("%s/tests/data/%s", TOP_SRCDIR,
					stored[(size_t)_i % ARRAY_SIZE(stored)]);
	RELEASED(recorded, r);

	recorded_read(&r, path);
	check(&r, (enum lanes_by)((size_t)_i / ARRAY_SIZE(stored)), NULL);
}

/* Workers that are busy all the time, with tasks of one length after a very short one. */
TEST_LOOP(of_many_workers, 8)
{
	static const struct { unsigned workers, tasks; } shapes[] = {
		{ 1, 1 }, { 1, 36 }, { 2, 20 }, { 7, 30 }, { 16, 25 }, { 28, 12 }, { 47, 8 },
		{ 100, 5 },
	};
	unsigned n = shapes[_i].tasks, step = 10000000 / n;
	RELEASED(buf, tasks = BUF_INIT);
	RELEASED(recorded, r);

	buf_adds(&tasks, "open\t0\tm\t1\t0\t1\tmake\t4.3\t/src\tmake\n");
	for (unsigned i = 0, id = 1; i < n; i++) {
		for (unsigned w = 0; w < shapes[_i].workers; w++, id += 2) {
			unsigned at = i * step;

			buf_addf(&tasks, "start\t%u\tm.%u\t\t%u\tcompile\tx%u.o\n", at, id, w, id);
			buf_addf(&tasks, "done\t%u\tm.%u\t0\n", at + 1000, id);
			buf_addf(&tasks, "start\t%u\tm.%u\t\t%u\tlink\tdir/a long name %u\n",
				 at + 1001, id + 1, w, id);
			buf_addf(&tasks, "%s\t%u\tm.%u\t1\n", id % 5 ? "done" : "fail",
				 at + step - 100, id + 1);
		}
	}
	recorded_make(&r, "end_us: 10000000\n", buf_str(&tasks), NULL);
	check(&r, LANES_WORKER, NULL);
}

TEST_PROGRAM(picture)
{
	setenv("TZ", "UTC", 1);
	return support_main();
}
