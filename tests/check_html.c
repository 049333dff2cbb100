/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "report/html.h"
#include "report/page_text.h"
#include "tests/support.h"

#include <string.h>

/* The writer of HTML, byte for byte. */

static const struct {
	const char *text, *written;
} texts[] = {
	{ "plain", "plain" },
	{ "", "" },
	{ "</script><script>alert(1)</script>",
	  "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;" },
	{ "a & b \"c\" 'd'", "a &amp; b &quot;c&quot; 'd'" },
	{ "line\nbreak\x1b", "line\\nbreak\\x1b" },
	{ "gpj.\xe2\x80\xae" "exe", "gpj.\\u202eexe" },
	{ "\xe6\x97\xa5\xe6\x9c\xac \xff", "\xe6\x97\xa5\xe6\x9c\xac \\xff" },
};

START_TEST(escapes)
{
	struct buf b = BUF_INIT, expected = BUF_INIT;
	struct html h = { .out = &b };

	html_begin(&h, "td");
	html_attr(&h, "title", texts[_i].text);
	html_text(&h, texts[_i].text);
	html_end(&h);
	buf_addf(&expected, "<td title=\"%s\">%s</td>\n", texts[_i].written, texts[_i].written);
	ck_assert_str_eq(buf_str(&b), buf_str(&expected));
	buf_release(&b);
	buf_release(&expected);
}
END_TEST

START_TEST(nests)
{
	struct buf b = BUF_INIT;
	struct html h = { .out = &b };

	html_open(&h, "div", "scroll");
	html_attr_int(&h, "tabindex", -1);
	html_begin(&h, "p");
	html_text(&h, "a");
	html_leaf(&h, "b", NULL, "bold");
	html_begin(&h, "br");
	html_end(&h);
	html_text(&h, "c");
	html_end(&h);
	html_open(&h, "div", NULL);
	html_end(&h);
	html_end(&h);
	ck_assert_str_eq(buf_str(&b), "<div class=\"scroll\" tabindex=\"-1\"><p>a<b>bold</b><br>\n"
			 "c</p>\n<div></div>\n</div>\n");
	ck_assert_uint_eq(h.depth, 0);
	buf_release(&b);
}
END_TEST

START_TEST(data_holds_no_tag)
{
	struct buf b = BUF_INIT, json = BUF_INIT;
	struct html h = { .out = &b };

	buf_adds(&json, "[\"</script><!--\",\"<\"]");
	html_json(&h, "data", &json);
	ck_assert_str_eq(buf_str(&b), "<script type=\"application/json\" id=\"data\">"
			 "[\"\\u003c/script>\\u003c!--\",\"\\u003c\"]</script>\n");
	buf_clear(&json);
	buf_clear(&b);
	html_json(&h, "none", &json);
	ck_assert_str_eq(buf_str(&b), "<script type=\"application/json\" id=\"none\"></script>\n");
	buf_release(&b);
	buf_release(&json);
}
END_TEST

/* One root, closed; the style sheet is in it, and nothing comes from elsewhere. */
START_TEST(document)
{
	struct buf b = BUF_INIT;
	struct html h;

	html_document(&h, &b, "a < b");
	html_open(&h, "main", NULL);
	html_leaf(&h, "h1", NULL, "A & B");
	html_document_end(&h);
	ck_assert_int_eq(strncmp(buf_str(&b), "<!DOCTYPE html>\n<html lang=\"en\">", 32), 0);
	ck_assert_ptr_nonnull(strstr(b.data, "<title>a &lt; b</title>"));
	ck_assert_ptr_nonnull(strstr(b.data, page_css));
	ck_assert_ptr_nonnull(strstr(b.data, "prefers-color-scheme:dark"));
	ck_assert_ptr_null(strstr(b.data, "http"));
	ck_assert_ptr_null(strstr(b.data, "@import"));
	ck_assert_ptr_null(strstr(b.data, "url("));
	ck_assert_str_eq(strstr(b.data, "<main>"), "<main><h1>A &amp; B</h1>\n</main>\n</body>\n</html>\n");
	buf_release(&b);
}
END_TEST

/* The style sheet has no colours of its own: they are the palette's. */
START_TEST(colours_are_variables)
{
	ck_assert_ptr_null(strstr(page_css, ":#"));
	ck_assert_ptr_null(strstr(page_css, " #"));
	ck_assert_ptr_null(strstr(page_css, "rgb("));
	ck_assert_ptr_null(strstr(page_css, "hsl("));
	ck_assert_ptr_null(strstr(page_css, "</"));
}
END_TEST

START_TEST(memory_is_sticky)
{
	char small[16];
	struct buf b;
	struct html h;

	buf_init_fixed(&b, small, sizeof small);
	html_document(&h, &b, "title");
	html_leaf(&h, "p", NULL, "text");
	html_document_end(&h);
	ck_assert_int_ne(buf_error(&b), 0);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("html");
	TCase *t = tcase_create("html");

	tcase_add_loop_test(t, escapes, 0, ARRAY_SIZE(texts));
	tcase_add_test(t, nests);
	tcase_add_test(t, data_holds_no_tag);
	tcase_add_test(t, document);
	tcase_add_test(t, colours_are_variables);
	tcase_add_test(t, memory_is_sticky);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	return support_main(suite());
}
