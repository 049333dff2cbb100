/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "render/chart/svg.h"
#include "tests/support.h"

/* Markup and SVG, byte for byte; and the width of texts. */

static const struct { const char *text, *written; } texts[] = {
	{ "plain", "plain" },
	{ "", "" },
	{ "</script><script>alert(1)</script>",
	  "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;" },
	{ "]]>", "]]&gt;" },
	{ "a & b \"c\" 'd'", "a &amp; b &quot;c&quot; 'd'" },
	{ "&amp;", "&amp;amp;" },
	{ "line\nbreak\ttab", "line\\nbreak\\ttab" },
	{ "\x01\x1b[31m\x7f", "\\x01\\x1b[31m\\x7f" },
	{ "bad\xff\xc3", "bad\\xff\\xc3" },
	{ "\xed\xa0\x80", "\\xed\\xa0\\x80" },			/* a surrogate */
	{ "\xef\xbf\xbe\xef\xbf\xbf", "\\ufffe\\uffff" },	/* no characters in XML */
	{ "gpj.\xe2\x80\xae" "exe", "gpj.\\u202eexe" },
	{ "\xe2\x81\xa6x\xe2\x81\xa9", "\\u2066x\\u2069" },
	{ "\xe6\x97\xa5\xe6\x9c\xac \xc3\xa9", "\xe6\x97\xa5\xe6\x9c\xac \xc3\xa9" },
};

TEST_EACH(escapes, texts)
{
	RELEASED(buf, b = BUF_INIT, expected = BUF_INIT);
	struct markup m;

	buf_addf(&expected, "<text id=\"%s\">%s</text>\n", texts[_i].written, texts[_i].written);
	for (int html = 0; html < 2; html++) {
		buf_clear(&b);
		markup_init(&m, &b);
		m.html = html;
		markup_begin(&m, "text");
		markup_attr(&m, "id", texts[_i].text);
		markup_text(&m, texts[_i].text);
		markup_end(&m);
		ck_assert_str_eq(buf_str(&b), buf_str(&expected));
	}
}

TEST(verbatim)
{
	RELEASED(buf, b = BUF_INIT);
	struct markup s;

	markup_init(&s, &b);
	markup_begin(&s, "script");
	markup_verbatim(&s, "if (a < b && c)\n\tx[y[0]]>z;]]>]]>\n");
	markup_end(&s);
	ck_assert_str_eq(buf_str(&b), "<script><![CDATA[\nif (a < b && c)\n"
			 "\tx[y[0]]]]><![CDATA[>z;]]]]><![CDATA[>]]]]><![CDATA[>\n"
			 "]]></script>\n");
}

TEST(nests)
{
	RELEASED(buf, b = BUF_INIT);
	struct markup s;

	markup_init(&s, &b);
	markup_begin(&s, "svg");
	svg_attr_number(&s, "width", 12.5);
	markup_begin(&s, "text");
	markup_text(&s, "a");
	markup_begin(&s, "tspan");
	markup_text(&s, "b");
	markup_end(&s);
	markup_begin(&s, "title");
	markup_text(&s, "c");
	markup_end(&s);
	markup_end(&s);
	markup_begin(&s, "g");
	markup_end(&s);
	buf_adds(markup_content(&s), "raw");
	ck_assert_uint_eq(s.depth, 1);
	markup_end(&s);
	ck_assert_str_eq(buf_str(&b), "<svg width=\"12.5\"><text>a<tspan>b</tspan>"
			 "<title>c</title></text>\n<g/>\nraw</svg>\n");
}

static const struct { double number; const char *written; } numbers[] = {
	{ 0, "0" }, { -0.001, "0" }, { 1, "1" }, { -1, "-1" }, { 0.5, ".5" }, { -0.5, "-.5" },
	{ 0.05, ".05" }, { 12.349, "12.35" }, { 12.3, "12.3" }, { -7.08, "-7.08" },
	{ 100, "100" }, { 1120.999, "1121" }, { 1e300, "10000000000000" },
	{ -1e300, "-10000000000000" }, { 0.0 / 0.0, "-10000000000000" },
};

TEST_EACH(number, numbers)
{
	RELEASED(buf, b = BUF_INIT);
	struct markup m;

	markup_init(&m, &b);
	markup_begin(&m, "g");
	svg_attr_number(&m, "x", numbers[_i].number);
	markup_end(&m);
	ck_assert_str_eq(buf_str(&b), support_path("<g x=\"%s\"/>\n", numbers[_i].written));
}

TEST(paths)
{
	RELEASED(buf, b = BUF_INIT);
	struct svg_path p;
	struct markup s;

	markup_init(&s, &b);
	svg_path_init(&p, &s, "bar c0");
	svg_path_rect(&p, 10, 20, 5.5, 4);
	svg_path_rect(&p, 12, 20, 1, 4);
	svg_path_move(&p, 0, 0);
	svg_path_line(&p, 1, 2);
	svg_path_line(&p, 3, -1);
	svg_path_line(&p, 3, -1);
	svg_path_line(&p, 4, -1);
	svg_path_line(&p, 6, -1);
	svg_path_end(&p);
	svg_path_init(&p, &s, "nothing");
	svg_path_end(&p);
	ck_assert_str_eq(buf_str(&b), "<path class=\"bar c0\" d=\"m10 20h5.5v4h-5.5z"
			 "m2 0h1v4h-1zm-12-20 1 2 2-3h1 2\"/>\n");
}

/* Relative coordinates end where absolute ones would: rounding does not add up. */
TEST(no_drift)
{
	RELEASED(buf, b = BUF_INIT);
	struct svg_path p;
	struct markup s;

	markup_init(&s, &b);
	svg_path_init(&p, &s, "line");
	svg_path_move(&p, 0, 0);
	for (int i = 1; i <= 3000; i++)
		svg_path_line(&p, i / 3.0, 1);
	ck_assert_int_eq(p.x, 100000);
	svg_path_end(&p);
}

TEST(error_sticks)
{
	char memory[64];
	struct buf b;
	struct svg_path p;
	struct markup s;

	buf_init_fixed(&b, memory, sizeof memory);
	markup_init(&s, &b);
	svg_path_init(&p, &s, "line");
	for (int i = 0; i < 100; i++)
		svg_path_rect(&p, i, i, 1, 1);
	svg_path_end(&p);
	ck_assert_int_eq(buf_error(&b), -ENOBUFS);
	ck_assert_uint_lt(b.len, sizeof memory);
}

static const struct { const char *name, *label; double width; } labels[] = {
	{ "main.o", "main.o", 1000 },
	{ "main.o", "", 5 },
	{ "", "", 100 },
	{ "a/very/long/path/to/some/file.o", "a/ver\xe2\x80\xa6/some/file.o", 100 },
	{ "new\nline", "new\\nline", 1000 },
	{ "main.o", "", -3 },
};

TEST_EACH(fits, labels)
{
	RELEASED(buf, b = BUF_INIT);

	svg_add_label(&b, labels[_i].name, labels[_i].width, 10);
	ck_assert_str_eq(buf_str(&b), labels[_i].label);
	ck_assert_double_le(svg_text_width(buf_str(&b), 10), labels[_i].width < 0 ? 0 :
			    labels[_i].width);
}

TEST_MAIN(svg);
