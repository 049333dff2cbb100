/* SPDX-License-Identifier: MIT */
#include "report/html.h"
#include "report/page_static.h"
#include "tests/support.h"

/* HTML, besides the markup of check_svg, byte for byte. */

TEST(nests)
{
	RELEASED(buf, b = BUF_INIT);
	struct markup h = { .out = &b, .html = true };

	markup_open(&h, "div", "scroll");
	markup_attr_int(&h, "tabindex", -1);
	markup_begin(&h, "p");
	markup_text(&h, "a");
	markup_leaf(&h, "b", NULL, "bold");
	markup_begin(&h, "br");
	markup_end(&h);
	markup_text(&h, "c");
	markup_end(&h);
	markup_open(&h, "div", NULL);
	markup_end(&h);
	markup_end(&h);
	ck_assert_str_eq(buf_str(&b), "<div class=\"scroll\" tabindex=\"-1\"><p>a<b>bold</b><br>\n"
			 "c</p>\n<div></div>\n</div>\n");
	ck_assert_uint_eq(h.depth, 0);
}

TEST(data_holds_no_tag)
{
	RELEASED(buf, b = BUF_INIT, json = BUF_INIT);
	struct markup h = { .out = &b, .html = true };

	buf_adds(&json, "[\"</script><!--\",\"<\"]");
	html_json(&h, "data", &json);
	ck_assert_str_eq(buf_str(&b), "<script type=\"application/json\" id=\"data\">"
			 "[\"\\u003c/script>\\u003c!--\",\"\\u003c\"]</script>\n");
	buf_clear(&json);
	buf_clear(&b);
	html_json(&h, "none", &json);
	ck_assert_str_eq(buf_str(&b), "<script type=\"application/json\" id=\"none\"></script>\n");
}

/* One root element, closed; the style sheet is in the page, which loads nothing from
 * elsewhere. */
TEST(document)
{
	RELEASED(buf, b = BUF_INIT);
	struct markup h;

	html_document(&h, &b, "a < b", NULL);
	markup_open(&h, "main", NULL);
	markup_leaf(&h, "h1", NULL, "A & B");
	html_document_end(&h);
	ck_assert_int_eq(strncmp(buf_str(&b), "<!DOCTYPE html>\n<html lang=\"en\">", 32), 0);
	ck_assert_ptr_nonnull(strstr(b.data, "<title>a &lt; b</title>"));
	ck_assert_ptr_nonnull(strstr(b.data, page_css));
	ck_assert_ptr_nonnull(strstr(b.data, "prefers-color-scheme:dark"));
	ck_assert_ptr_null(strstr(b.data, "http"));
	ck_assert_ptr_null(strstr(b.data, "@import"));
	ck_assert_ptr_null(strstr(b.data, "url("));
	ck_assert_str_eq(strstr(b.data, "<main>"), "<main><h1>A &amp; B</h1>\n</main>\n</body>\n</html>\n");
}

/* The colours of the style sheet are those of the palette. */
TEST(colours_are_variables)
{
	ck_assert_ptr_null(strstr(page_css, ":#"));
	ck_assert_ptr_null(strstr(page_css, " #"));
	ck_assert_ptr_null(strstr(page_css, "rgb("));
	ck_assert_ptr_null(strstr(page_css, "hsl("));
	ck_assert_ptr_null(strstr(page_css, "</"));
}

TEST(memory_is_sticky)
{
	char small[16];
	struct buf b;
	struct markup h;

	buf_init_fixed(&b, small, sizeof small);
	html_document(&h, &b, "title", NULL);
	markup_leaf(&h, "p", NULL, "text");
	html_document_end(&h);
	ck_assert_int_ne(buf_error(&b), 0);
}

TEST_MAIN(html);
