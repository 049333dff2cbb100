/* SPDX-License-Identifier: MIT */
#include "tests/recorded.h"
#include "tests/support.h"
#include "write/doc.h"
#include "write/junit.h"

/* Any text is in each format what it is, and the structure around it is whole. */

static const char *const pieces[] = {
	"a", "Z", " ", "  ", "\t", "\n", "\r", "\r\n", "|", "||", "\\", "\\|", "`", "``", "*", "**",
	"_", "~~", "<", ">", "<b>", "</td>", "<!--", "-->", "</script>", "]]>", "&", "&amp;", "&#32;",
	"\"", "'", "- ", "+ ", "1. ", "# ", "> ", "---", "[x](y)", "![x](y)", "http://x.y", "www.x.y",
	"@name", "#12", "!12", ":smile:", "gh-1", "$x$", "\033[31m", "\x01", "\x7f", "\xff", "\xc3",
	"\xc3\xa9", "\xe2\x80\xae", "\xe2\x82", "\xf0\x9f\x98\x80", "\xed\xa0\x80", " -> ", " → ", ": ",
};

static const struct doc_column columns[] = {
	{ "name", "name", .gap = 2, .last = true }, { "count", "count", DOC_COUNT, .width = 9 },
	{ "time", "us", DOC_US, .gap = 1, .width = 9, .drop = 2 },
	{ "size", "kb", DOC_KB, .gap = 1, .width = 9, .drop = 1 },
	{ "share", "share", DOC_REAL, .gap = 1, .width = 7 }, { "busy", "busy", DOC_PERCENT, .gap = 1, .width = 8 },
};

static const struct doc_column pair[] = {
	{ .gap = 2 }, { .gap = 1, .arrow = true },
};

static void add_hostile(struct buf *b, uint64_t *seed)
{
	for (uint64_t n = random_below(seed, 6); n; n--)
		buf_adds(b, pieces[random_below(seed, ARRAY_SIZE(pieces))]);
}

#define ROWS 60

static struct buf name[ROWS];

static void make_names(uint64_t seed)
{
	for (size_t i = 0; i < ROWS; i++) {
		buf_clear(&name[i]);
		add_hostile(&name[i], &seed);
		if (!name[i].len || i == 1)	/* a title has a character that is no blank */
			buf_addf(&name[i], "%zu", i);
		buf_str(&name[i]);
	}
}

static void add_rows(struct doc *d, const struct doc_table *t)
{
	doc_table(d, t);
	for (size_t i = 0; i < ROWS; i++) {
		doc_row(d);
		doc_str(d, name[i].data);
		doc_class(d, "name");
		if (t->list) {
			doc_str(d, name[ROWS - 1 - i].data);
			continue;
		}
		doc_num(d, i % 7 ? (int64_t)i : -1);
		doc_num(d, (int64_t)i * 1000);
		doc_num(d, (int64_t)i * 1024);
		doc_real(d, i % 5 ? (double)i / 4 : NAN);
		doc_real(d, (double)i);
	}
	doc_table_end(d, t->list ? 3 : 0);
}

static void write_all(struct doc *d)
{
	const struct doc_table table = {
		.title = name[1].data, .key = "rows", .column = columns,
		.n_columns = ARRAY_SIZE(columns), .heads = true, .class = "sort",
	};
	const struct doc_table list = {
		.title = "List", .key = "list", .column = pair, .n_columns = ARRAY_SIZE(pair), .list = true,
	};

	add_rows(d, &table);
	if (!doc_is(d, DOC_JSON))
		add_rows(d, &list);
	doc_release(d);
}

static void save(const char *dir, const char *file, struct buf *b)
{
	ck_assert_int_eq(buf_error(b), 0);
	support_write(support_path("%s/%s", dir, file), b->data, b->len);
	buf_clear(b);
}

/* Line by line: the text as people see it, and the bytes. */
static void save_names(const char *dir, struct buf *b)
{
	for (size_t i = 0; i < ROWS; i++) {
		text_add_name(b, name[i].data, 0);
		buf_addc(b, '\t');
		for (size_t k = 0; k < name[i].len; k++)
			buf_addf(b, "%02x", (unsigned char)name[i].data[k]);
		buf_addc(b, '\n');
	}
	save(dir, "names", b);
}

TEST_LOOP(any_text, 20)
{
	const char *dir = support_tmpdir();
	const struct style style = { 0 };
	struct buf b = BUF_INIT;
	struct markup h;
	struct json j;
	struct doc d;
	struct run r;

	SKIP_IF(!support_has("python3") || !support_has("cmark-gfm"));
	make_names((uint64_t)_i + 1);
	save_names(dir, &b);
	doc_init_terminal(&d, &b, &style);
	write_all(&d);
	save(dir, "terminal", &b);
	doc_init_people(&d, &b, NULL, true);
	write_all(&d);
	save(dir, "markdown", &b);
	markup_init(&h, &b);
	h.html = true;
	markup_begin(&h, "main");
	doc_init_html(&d, &h);
	write_all(&d);
	markup_end(&h);
	save(dir, "html", &b);
	json_init(&j, &b, false);
	json_object(&j, NULL);
	doc_init_json(&d, &j);
	write_all(&d);
	json_object_end(&j);
	save(dir, "json", &b);
	buf_release(&b);
	support_run(&r, NULL, "python3 -B " TOP_SRCDIR "/tests/doc.py %s", dir);
	ck_assert_msg(!r.status, "seed %d: %s%s", _i, r.out.data, r.err.data);
}

static void write_table(struct buf *b, unsigned width, size_t rows, size_t more, bool empty)
{
	const struct style style = { .width = width };
	const struct doc_table table = {
		.title = "Title", .column = columns, .n_columns = ARRAY_SIZE(columns), .heads = true,
		.least = 6, .room = 20, .more = " (--all lists them)", .empty = empty,
	};
	RELEASED(doc, d);

	doc_init_terminal(&d, b, &style);
	doc_table(&d, &table);
	for (size_t i = 0; i < rows; i++) {
		doc_row(&d);
		doc_str(&d, "a name of 26 columns, safe");
		doc_num(&d, -1);
		doc_num(&d, 1500000);
		doc_num(&d, 2048);
		doc_real(&d, 0.25);
		doc_real(&d, 12.34);
	}
	doc_table_end(&d, more);
}

static const struct {
	unsigned width;
	size_t rows, more;
	bool empty;
	const char *text;
} terminals[] = {
	{ 0, 0, 0, false, "" },
	{ 0, 0, 0, true, "\nTitle\n    count      time      size   share     busy  name\n" },
	{ 0, 0, 2, false, "\nTitle\n    count      time      size   share     busy  name\n"
			  "  and 2 more (--all lists them)\n" },
	{ 0, 1, 1, false, "\nTitle\n    count      time      size   share     busy  name\n"
			  "        -    1.50 s   2.0 MiB     0.2   12.3 %  a name of 26 columns, safe\n"
			  "  and 1 more (--all lists them)\n" },
	/* the largest number is dropped first, and then the name is shortened */
	{ 61, 1, 0, false, "\nTitle\n    count      size   share     busy  name\n"
			   "        -   2.0 MiB     0.2   12.3 %  a name... columns, safe\n" },
	{ 41, 1, 0, false, "\nTitle\n    count   share     busy  name\n"
			   "        -     0.2   12.3 %  a n...s, safe\n" },
	{ 10, 1, 0, false, "\nTitle\n    count   share     busy  name\n        -     0.2   12.3 %  a name\n" },
};

TEST_EACH(narrow, terminals)
{
	RELEASED(buf, b = BUF_INIT);

	write_table(&b, terminals[_i].width, terminals[_i].rows, terminals[_i].more, terminals[_i].empty);
	ck_assert_str_eq(buf_str(&b), terminals[_i].text);
}

/* A column of pages has no place on a terminal; one that was dropped leaves its place to the next one. */
static const struct {
	struct doc_column column[3];
	unsigned width;
	const char *text;
} begun[] = {
	{ { { .in = DOC_HTML }, { .gap = 2, .width = 4 }, { .gap = 1 } }, 0, "  a    b\n" },
	{ { { .gap = 3, .width = 4, .drop = 1 }, { .gap = 2, .width = 4 }, { .gap = 1 } }, 0, "   x     a    b\n" },
	{ { { .gap = 3, .width = 4, .drop = 1 }, { .gap = 2, .width = 4 }, { .gap = 1 } }, 12, "   a    b\n" },
};

TEST_EACH(first_columns, begun)
{
	const struct doc_table table = { .column = begun[_i].column, .n_columns = 3 };
	const struct style style = { .width = begun[_i].width };
	RELEASED(buf, b = BUF_INIT);
	RELEASED(doc, d);

	doc_init_terminal(&d, &b, &style);
	doc_table(&d, &table);
	doc_row(&d);
	doc_str(&d, "x");
	doc_str(&d, "a");
	doc_str(&d, "b");
	doc_table_end(&d, 0);
	ck_assert_str_eq(buf_str(&b), begun[_i].text);
}

/* Columns as wide as their texts; where there is less, the first that can gives up some. */
static const struct { unsigned width; const char *text; } measured[] = {
	{ 0, "name                         count  place\na long name of 27 columns !      1  here\n"
	     "(1 row)\nb                            12345\n" },
	{ 30, "name              count  place\na lo...columns !      1  here\n(1 row)\n"
	      "b                 12345\n" },
	{ 12, "name   count  place\na lon      1  here\n(1 row)\nb      12345\n" },
};

TEST_EACH(widths_are_measured, measured)
{
	static const struct doc_column column[] = {
		{ "page", .in = DOC_HTML, .gap = 2, .least = 1 },	/* takes nothing here */
		{ "name", .least = 5, .shorten = true }, { "count", .type = DOC_COUNT, .gap = 2 },
		{ "place", .gap = 2, .width = 9, .shorten = true },
	};
	static const struct doc_table table = { .column = column, .n_columns = 4, .heads = true };
	const struct style style = { .width = measured[_i].width };
	struct buf b = BUF_INIT;
	struct doc d;

	doc_init_terminal(&d, &b, &style);
	for (bool twice = doc_measure(&d, &table); ; twice = false) {
		if (!twice)
			doc_table(&d, &table);
		doc_row(&d);
		doc_str(&d, "page 1");
		doc_str(&d, "a long name of 27 columns !");
		doc_num(&d, 1);
		doc_str(&d, "here");
		buf_adds(doc_item(&d, 0), "(1 row)");
		doc_row(&d);
		doc_str(&d, "page 2");
		doc_str(&d, "b");
		doc_num(&d, 12345);
		doc_str(&d, "");
		if (!twice)
			break;
	}
	doc_table_end(&d, 0);
	doc_release(&d);
	ck_assert_str_eq(buf_str(&b), measured[_i].text);
	buf_release(&b);
}

/* Names are numbered within a class. */
TEST(cases_of_two_classes)
{
	RELEASED(buf, b = BUF_INIT);
	struct junit j;

	junit_begin(&j);
	junit_case(&j, "a", "b", NULL);
	junit_case(&j, "b", "a", NULL);
	junit_case(&j, "b", "a", NULL);
	ck_assert_int_eq(junit_end(&j, &b, "suite", -1), 0);
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "classname=\"b\" name=\"a\""));
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "classname=\"b\" name=\"a (2)\""));
}

TEST_MAIN(doc);
