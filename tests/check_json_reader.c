/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "convert/json_reader.h"
#include "tests/support.h"

#include <inttypes.h>

static const char *file_of(const void *text, size_t len)
{
	const char *path = support_path("%s/x.json", support_tmpdir());

	support_write(path, text, len);
	return path;
}

/* A value on one line: members as name=, texts in quotes. */
static void add_value(struct buf *b, const struct json_value *v)
{
	static const char *const words[] = { "null", "false", "true" };

	if (v->name)
		buf_addf(b, "%s=", v->name);
	switch (v->type) {
	case JSON_NUMBER:
		buf_adds(b, v->text);
		break;
	case JSON_TEXT:
		buf_addf(b, "'%s'", v->text);
		break;
	case JSON_LIST:
	case JSON_OBJECT:
		buf_addc(b, v->type == JSON_LIST ? '[' : '{');
		for (const struct json_value *in = v->first; in; in = in->next) {
			add_value(b, in);
			buf_adds(b, in->next ? " " : "");
		}
		buf_addc(b, v->type == JSON_LIST ? ']' : '}');
		break;
	default:
		buf_adds(b, words[v->type]);
	}
}

/* Whole documents */

static const struct { const char *text, *is; } documents[] = {
	{ "{}", "{}" },
	{ "[]", "[]" },
	{ " 12 ", "12" },
	{ "\"\"", "''" },
	{ "[1, -2.50e+3, true, false, null, \"a\"]", "[1 -2.50e+3 true false null 'a']" },
	{ "{\"a\":{\"b\":[{\"c\":{}},[[]]]},\"d\":\"\\u00e9\\n\\\"\"}",
	  "{a={b=[{c={}} [[]]]} d='\xc3\xa9\n\"'}" },
	{ "[\"\\ud83d\\ude00 \xff\"]", "['\xf0\x9f\x98\x80 \xff']" },
	{ "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00E9\\u20aC\"",
	  "'\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac'" },
	/* Half a pair of surrogates is U+FFFD. */
	{ "[\"\\ud83d\",\"\\ude00x\",\"\\ud83d\\n\",\"\\ud83d\\u0041\",\"\\ud83d\\ud83d\\ude00\"]",
	  "['\xef\xbf\xbd' '\xef\xbf\xbdx' '\xef\xbf\xbd\n' '\xef\xbf\xbd" "A' "
	  "'\xef\xbf\xbd\xf0\x9f\x98\x80']" },
};

TEST_EACH(document, documents)
{
	RELEASED(json_document, doc, same);
	struct error err = { 0 };
	RELEASED(buf, b = BUF_INIT);

	ck_assert_msg(!json_read_file(&doc, file_of(documents[_i].text, strlen(documents[_i].text)),
				      &err), "%s", err.message);
	add_value(&b, doc.root);
	ck_assert_str_eq(buf_str(&b), documents[_i].is);
	ck_assert(!json_read_text(&same, documents[_i].text, strlen(documents[_i].text), "x", 1, &err));
	buf_clear(&b);
	add_value(&b, same.root);
	ck_assert_str_eq(buf_str(&b), documents[_i].is);
}

TEST(members)
{
	static const char text[] = "{\"n\": 7, \"t\": \"text\", \"o\": {\"n\": \"1.5\"}, \"n\": 8}";
	RELEASED(json_document, doc);

	ck_assert(!json_read_text(&doc, text, sizeof text - 1, "x", 1, NULL));
	ck_assert_int_eq(json_member_number(doc.root, "n", 0, -1), 7);
	ck_assert_int_eq(json_member_number(json_member(doc.root, "o"), "n", 3, -1), 1500);
	ck_assert_int_eq(json_member_number(doc.root, "t", 0, -1), -1);
	ck_assert_int_eq(json_member_number(doc.root, "none", 0, -5), -5);
	ck_assert_str_eq(json_member_text(doc.root, "t"), "text");
	ck_assert_str_eq(json_member_text(doc.root, "n"), "");
	ck_assert_ptr_null(json_member(json_member(doc.root, "none"), "n"));
	ck_assert_ptr_null(json_member(json_member(doc.root, "t"), "n"));
}

/* Numbers */

static const struct { const char *text; int decimals; bool ok; int64_t is; } numbers[] = {
	{ "0", 6, true, 0 },
	{ "-0.0", 6, true, 0 },
	{ "1.5", 0, true, 2 },
	{ "1.4999999999999999999999999999999", 0, true, 1 },
	{ "1.5", 6, true, 1500000 },
	{ "15e-1", 3, true, 1500 },
	{ "-1.25E+1", 3, true, -12500 },
	{ "0.0000005", 6, true, 1 },
	{ "0.00000049", 6, true, 0 },
	{ "1e-300", 6, true, 0 },
	{ "0e300", 6, true, 0 },
	{ "1700000000.123456789", 6, true, 1700000000123457 },
	{ "1700000000123.4565", 3, true, 1700000000123457 },
	{ "9223372036854775807", 0, true, INT64_MAX },
	{ "-9223372036854775807", 0, true, -INT64_MAX },
	{ "9223372036854775808", 0, false, 0 },
	{ "9223372036854775808e-1", 0, true, 922337203685477581 },
	{ "184467440737095516160000e-6", 0, true, 184467440737095516 },
	{ "1e19", 0, false, 0 },
	{ "1e99999999999999999999", 0, false, 0 },
	{ "12345678901234567", 6, false, 0 },
	{ "\"2.5\"", 1, true, 25 },
	{ "\"\"", 0, false, 0 },
	{ "\"-\"", 0, false, 0 },
	{ "\".\"", 0, false, 0 },
	{ "\"1.2.3\"", 0, false, 0 },
	{ "\"12 kB\"", 0, false, 0 },
	{ "\"nan\"", 0, false, 0 },
	{ "null", 0, false, 0 },
	{ "[]", 0, false, 0 },
};

TEST_EACH(number, numbers)
{
	RELEASED(json_document, doc);
	int64_t is = 4711;

	ck_assert(!json_read_text(&doc, numbers[_i].text, strlen(numbers[_i].text), "x", 1, NULL));
	ck_assert_msg(json_number(doc.root, numbers[_i].decimals, &is) == numbers[_i].ok,
		      "%s", numbers[_i].text);
	ck_assert_msg(is == (numbers[_i].ok ? numbers[_i].is : 4711), "%s: %" PRId64,
		      numbers[_i].text, is);
}

static const struct { const char *text; bool ok; double is; } doubles[] = {
	{ "0", true, 0 },
	{ "4.605e-8", true, 4.605e-8 },
	{ "-1.25E+1", true, -12.5 },
	{ "0.1", true, 0.1 },
	{ "9007199254740993", true, 9007199254740992.0 },
	{ "1e999", true, INFINITY },
	{ "\"2.5\"", false, 0 },
	{ "null", false, 0 },
	{ "[1]", false, 0 },
};

TEST_EACH(exact_number, doubles)
{
	RELEASED(json_document, doc);
	double is = 4711;

	ck_assert(!json_read_text(&doc, doubles[_i].text, strlen(doubles[_i].text), "x", 1, NULL));
	ck_assert_msg(json_double(doc.root, &is) == doubles[_i].ok, "%s", doubles[_i].text);
	ck_assert_msg(is == (doubles[_i].ok ? doubles[_i].is : 4711), "%s: %.17g",
		      doubles[_i].text, is);
}

/* Parts */

static int add_part(void *context, const struct json_value *value, unsigned line)
{
	struct buf *b = context;

	buf_addf(b, "%u:", line);
	add_value(b, value);
	buf_addc(b, ' ');
	return json_member(value, "stop") ? -ECANCELED : 0;
}

static const struct { const char *text, *parts; enum json_end end; unsigned line; } large[] = {
	{ "[]", "", JSON_WHOLE, 1 },
	{ "{}", "", JSON_WHOLE, 1 },
	{ "[1,\n\n2,[3],\n{\"a\":[4]}]\n", "1:1 3:2 3:[3] 4:{a=[4]} ", JSON_WHOLE, 5 },
	{ "{\"a\":[1],\n\"list\":[1,\n{\"list\":[2]}\n],\"b\":{}}",
	  "1:a=[1] 2:1 3:{list=[2]} 4:b={} ", JSON_WHOLE, 4 },
	{ "{\"list\":{\"x\":1}}", "1:list={x=1} ", JSON_WHOLE, 1 },
	{ "[[1],\n", "1:[1] ", JSON_OPEN, 2 },
	{ "[[1]", "1:[1] ", JSON_OPEN, 1 },
	{ "[", "", JSON_OPEN, 1 },
	{ "{\"list\":[1,2", "1:1 1:2 ", JSON_OPEN, 1 },
	{ "[[1],[2,\n{\"a\":", "1:[1] ", JSON_CUT, 2 },
	{ "[[1],\"a", "1:[1] ", JSON_CUT, 1 },
	{ "[[1],nul", "1:[1] ", JSON_CUT, 1 },
	{ "[[1],-", "1:[1] ", JSON_CUT, 1 },
	{ "{\"b\":{},\"a\":", "1:b={} ", JSON_CUT, 1 },
};

TEST_EACH(parts, large)
{
	const char *path = file_of(large[_i].text, strlen(large[_i].text));
	RELEASED(buf, b = BUF_INIT);
	struct json_parts p = { "list", add_part, &b };
	struct error err = { 0 };
	enum json_end end = JSON_CUT;
	unsigned line = 0;

	ck_assert_msg(!json_read_parts(path, &p, &end, &line, &err), "%s", err.message);
	ck_assert_str_eq(buf_str(&b), large[_i].parts);
	ck_assert_int_eq(end, large[_i].end);
	ck_assert_int_eq(line, large[_i].line);
	ck_assert_int_eq(json_read_parts(path, &p, NULL, NULL, &err),
			 end == JSON_WHOLE ? 0 : -EINVAL);
}

/* Many parts, compressed: each is whole, has its line, and reading can be stopped. */
TEST(packed)
{
	const char *path = support_path("%s/x.json.gz", support_tmpdir());
	RELEASED(buf, text = BUF_INIT, b = BUF_INIT);
	struct json_parts p = { NULL, add_part, &b };
	struct run r;

	for (int i = 1; i <= 30000; i++)
		buf_addf(&text, "%s{\"i\":%d}%s", i == 1 ? "[" : "", i,
			 i == 30000 ? ",\n{\"stop\":1}]" : ",\n");
	file_of(text.data, text.len);
	support_expect(support_tmpdir(), 0, NULL, NULL, "gzip -k x.json");
	ck_assert_int_eq(json_read_parts(path, &p, NULL, NULL, NULL), -ECANCELED);
	ck_assert_ptr_nonnull(strstr(buf_str(&b), " 29999:{i=29999} 30000:{i=30000} 30001:{stop=1} "));
	support_run(&r, support_tmpdir(), "head -c 30000 x.json.gz > cut && mv cut x.json.gz");
	ck_assert_int_eq(json_read_parts(path, &p, NULL, NULL, NULL), -EINVAL);
	support_run(&r, support_tmpdir(), "printf 'xxxxxxxxxxxxxx' >> x.json.gz");
	ck_assert_int_eq(json_read_parts(path, &p, NULL, NULL, NULL), -EINVAL);
}

/* A document is read through a window: the result does not depend on its end. */
TEST(windows)
{
	static const char doc[] =
		"[{\"a\\u00e9\\ud83d\\ude00\\n\" : -12.5e+3 , \"b\":[true,false,null]},\n"
		"\"\\\\ \\\"\", 7, {} , [ ] ]\n";
	struct json_document whole, read;
	RELEASED(buf, text = BUF_INIT, is = BUF_INIT, wanted = BUF_INIT);
	struct error err = { 0 };

	ck_assert(!json_read_text(&whole, doc, sizeof doc - 1, "x", 1, &err));
	add_value(&wanted, whole.root);
	json_document_release(&whole);
	for (size_t split = 0; split < sizeof doc; split++) {
		buf_clear(&text);
		buf_clear(&is);
		while (text.len < 131072 - split)
			buf_addc(&text, text.len % 100 == 99 ? '\n' : ' ');
		buf_add(&text, doc, sizeof doc - 1);
		ck_assert_msg(!json_read_file(&read, file_of(text.data, text.len), &err),
			      "%zu: %u:%u: %s", split, err.line, err.column, err.message);
		add_value(&is, read.root);
		ck_assert_str_eq(buf_str(&is), buf_str(&wanted));
		json_document_release(&read);
		text.data[text.len - 3] = '}';
		ck_assert_int_eq(json_read_file(&read, file_of(text.data, text.len), &err), -EINVAL);
		ck_assert_uint_eq(err.line, 1 + (131072 - split) / 100 + 1);
		ck_assert_uint_eq(err.column, 21);
		ck_assert_str_eq(err.message, "not JSON: expected ',' or ']'");
	}
}

/* Errors have line and column. */

static const struct { const char *text; unsigned line, column; const char *message; } bad[] = {
	{ "", 1, 1, "no data" },
	{ "\n\n", 3, 1, "no data" },
	{ "[1,\n 2 x]", 2, 4, "not JSON: expected ',' or ']'" },
	{ "{\"a\":1\t\t]", 1, 9, "not JSON: expected ',' or '}'" },
	{ "{\"a\" 1}", 1, 6, "not JSON: expected ':'" },
	{ "{\"a\":1,}", 1, 8, "not JSON: expected a name in quotes" },
	{ "{a:1}", 1, 2, "not JSON: expected a name in quotes" },
	{ "[1,]", 1, 4, "not JSON: expected a value" },
	{ "[1]\n]", 2, 1, "not JSON: text after the end" },
	{ "[1] \n {}", 2, 2, "not JSON: text after the end" },
	{ "[tru]", 1, 2, "not JSON: expected a value" },
	{ "[nulls]", 1, 6, "not JSON: expected ',' or ']'" },
	{ "['a']", 1, 2, "not JSON: expected a value" },
	{ "[\v]", 1, 2, "not JSON: expected a value" },
	{ "[01]", 1, 2, "not JSON: not a number" },
	{ "[1.]", 1, 2, "not JSON: not a number" },
	{ "[ -]", 1, 3, "not JSON: not a number" },
	{ "[1e+]", 1, 2, "not JSON: not a number" },
	{ "[+1]", 1, 2, "not JSON: expected a value" },
	{ "[\"\\x\"]", 1, 4, "not JSON: not an escape" },
	{ "[\"ab\\u12g4\"]", 1, 6, "not JSON: not an escape" },
	{ "[\"\\u123\"]", 1, 4, "not JSON: not an escape" },
	{ "[\"a\tb\"]", 1, 4, "not JSON: a control character in a string" },
	{ "[\"a\nb\"]", 1, 4, "not JSON: a control character in a string" },
	{ "[1,", 1, 4, "the JSON text is truncated" },
	{ "[\n\"ab\\", 2, 5, "the JSON text is truncated" },
	{ "{\"a\"", 1, 5, "the JSON text is truncated" },
	{ "[tr", 1, 4, "the JSON text is truncated" },
};

static void check_error(const char *text, size_t len, struct error *err)
{
	struct json_document doc;
	RELEASED(buf, b = BUF_INIT);
	struct json_parts p = { NULL, add_part, &b };
	struct error of_parts = { 0 };
	const char *path = file_of(text, len);

	ck_assert_int_eq(json_read_file(&doc, path, err), -EINVAL);
	ck_assert_int_eq(json_read_parts(path, &p, NULL, NULL, &of_parts), -EINVAL);
	ck_assert_str_eq(err->path, path);
	ck_assert_str_eq(err->message, of_parts.message);
}

TEST_EACH(wrong, bad)
{
	struct error err = { 0 };

	check_error(bad[_i].text, strlen(bad[_i].text), &err);
	ck_assert_str_eq(err.message, bad[_i].message);
	ck_assert_int_eq(err.line, bad[_i].line);
	ck_assert_int_eq(err.column, bad[_i].column);
}

/* The limits of depth, of a string and of a value. */
TEST(bounds)
{
	RELEASED(buf, b = BUF_INIT);
	struct error err = { 0 };

	for (int i = 0; i <= JSON_DEPTH_MAX; i++)
		buf_addc(&b, '[');
	check_error(b.data, b.len, &err);
	ck_assert_str_eq(err.message, "nested deeper than 64 levels");
	buf_clear(&b);
	buf_adds(&b, "[\"");
	while (b.len <= JSON_TEXT_MAX)
		buf_adds(&b, "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
	check_error(b.data, b.len, &err);
	ck_assert_str_eq(err.message, "a string or number is longer than 16 MiB");
	buf_clear(&b);
	buf_adds(&b, "[[");
	while (b.len < JSON_VALUE_MAX / 16)
		buf_adds(&b, "[],[],[],[],[],[],[],[],");
	check_error(b.data, b.len, &err);
	ck_assert_str_eq(err.message, "a value needs more than 64 MiB of memory");
}

TEST(no_file)
{
	struct json_document doc;
	struct error err = { 0 };

	ck_assert_int_eq(json_read_file(&doc, support_path("%s/none", support_tmpdir()), &err), -ENOENT);
	ck_assert_str_eq(err.message, "cannot open: No such file or directory");
	ck_assert_int_eq(json_read_file(&doc, support_tmpdir(), &err), -EISDIR);
	ck_assert_int_eq(json_read_text(&doc, "[1,\n]", 5, "within", 40, &err), -EINVAL);
	ck_assert_str_eq(err.path, "within");
	ck_assert_int_eq(err.line, 41);
}

TEST_MAIN(json_reader);
