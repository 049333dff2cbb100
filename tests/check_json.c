/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/json.h"
#include "base/utf8.h"
#include "tests/recorded.h"
#include "tests/support.h"

static void fill(struct json *j)
{
	json_object(j, NULL);
	json_str(j, "name", "a \"b\" \\ \n\t\x01\x7f caf\xc3\xa9 \xff\xf0\x90\x8d\x88\xed\xa0\x80");
	json_int(j, "least", INT64_MIN);
	json_array(j, "list");
	json_bool(j, NULL, true);
	json_null(j, NULL);
	json_real(j, NULL, 1.0 / 3, 3);
	json_real(j, NULL, NAN, 3);
	json_real(j, NULL, -INFINITY, 0);
	json_shortest(j, NULL, 4.605e-8);
	json_shortest(j, NULL, 1.0 / 3);
	json_shortest(j, NULL, INFINITY);
	json_object(j, NULL);
	json_object_end(j);
	json_array(j, NULL);
	json_array_end(j);
	json_array_end(j);
	json_object_end(j);
}

#define TEXT "a \\\"b\\\" \\\\ \\n\\t\\u0001\\u007f caf\xc3\xa9 \xef\xbf\xbd\xf0\x90\x8d\x88" \
	"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"

/* Spread, and compact. */
static const char *const written[] = {
	"{\n  \"name\": \"" TEXT "\",\n  \"least\": -9223372036854775808,\n  \"list\": [\n    true,\n"
	"    null,\n    0.333,\n    null,\n    null,\n    4.605e-08,\n    0.333333333333,\n    null,\n    {},\n    []\n  ]\n}\n",
	"{\"name\":\"" TEXT "\",\"least\":-9223372036854775808,"
	"\"list\":[true,null,0.333,null,null,4.605e-08,0.333333333333,null,{},[]]}\n",
};

TEST_EACH(is_written, written)
{
	RELEASED(buf, b = BUF_INIT);
	struct json j;

	json_init(&j, &b, _i);
	fill(&j);
	ck_assert_str_eq(buf_str(&b), written[_i]);
}

/* Another parser reads it and returns the text. */
TEST(python_agrees)
{
	RELEASED(buf, b = BUF_INIT);
	struct json j;
	const char *path = support_path("%s/x.json", support_tmpdir());

	SKIP_IF(!support_has("python3"));
	json_init(&j, &b, false);
	fill(&j);
	support_write(path, b.data, b.len);
	support_expect(NULL, 0, NULL, NULL,
		       "python3 -c 'import json; d = json.load(open(\"%s\", encoding=\"utf-8\"));"
		       "assert d[\"name\"].startswith(\"a \\\"b\\\" \\\\ \\n\\t\\x01\\x7f caf\\xe9 \\ufffd\\U00010348\");"
		       "assert len(d[\"list\"]) == 10'", path);
}

/* A character at a time. */
static void add_slowly(struct buf *b, const char *s, size_t len)
{
	uint32_t code;

	for (size_t i = 0, n; i < len; i += n) {
		n = utf8_decode((const unsigned char *)s + i, len - i, &code);
		if (code >= UTF8_BAD_BYTE)
			buf_adds(b, UTF8_REPLACEMENT);
		else if (code == '"' || code == '\\')
			buf_addf(b, "\\%c", (char)code);
		else if (code == '\n' || code == '\t')
			buf_adds(b, code == '\n' ? "\\n" : "\\t");
		else if (utf8_is_unsafe(code) && code > 0xffff)
			buf_addf(b, "\\u%04x\\u%04x", (unsigned)(0xd7c0 + (code >> 10)),
				 (unsigned)(0xdc00 + (code & 0x3ff)));
		else if (utf8_is_unsafe(code))
			buf_addf(b, "\\u%04x", (unsigned)code);
		else
			buf_add(b, s + i, n);
	}
}

static uint64_t seed = 14;

/* Texts of all lengths: mostly plain, or any bytes, or any characters. */
static size_t random_text(char *text, size_t room)
{
	static const char *const odd[] = { "\"", "\\", "\n", "\x7f", "\xe2\x80\xae", "caf\xc3\xa9",
		"\xf3\xa0\x80\x81", "\xff", "\xe2\x82", "\x1f", "\x80" };
	unsigned rare = 1 + (unsigned)random_below(&seed, 60);
	size_t len = random_below(&seed, room), n = 0;

	while (n < len) {
		const char *add = odd[random_below(&seed, ARRAY_SIZE(odd))];

		if (random_below(&seed, rare) || strlen(add) > len - n) {
			text[n++] = (char)(' ' + (int)random_below(&seed, 95));
			continue;
		}
		memcpy(text + n, add, strlen(add));
		n += strlen(add);
	}
	return len;
}

TEST(as_slowly)
{
	static char text[20000];

	for (int i = 0; i < 3000; i++) {
		size_t len = random_text(text, i % 100 ? 100 : sizeof text);
		struct buf quick = BUF_INIT, slow = BUF_INIT;
		struct json j;

		json_init(&j, &quick, true);
		json_array(&j, NULL);
		json_strn(&j, NULL, text, len);
		json_array_end(&j);
		buf_adds(&slow, "[\"");
		add_slowly(&slow, text, len);
		buf_adds(&slow, "\"]\n");
		ck_assert_msg(!strcmp(buf_str(&quick), buf_str(&slow)), "%zu:\n%s%s", len, quick.data, slow.data);
		buf_release(&quick);
		buf_release(&slow);
	}
}

struct misuse {
	const char *calls;
	bool wrong;
};

/* { } [ ] open and close. A letter is a value with a name, 1 one without a name; O and A begin an
 * object and an array with a name. */
static const struct misuse misuses[] = {
	{ "{a}", false }, { "[1]", false }, { "{A11]b}", false }, { "[{a}{O}}]", false }, { "1", false },
	{ "[1][1]", true }, { "11", true }, { "{1}", true }, { "[a]", true }, { "a", true }, { "O}", true }, { "A]", true },
	{ "{[]}", true }, { "{{}}", true }, { "[O}]", true }, { "[A]]", true },
	{ "{]", true }, { "[}", true }, { "}", true }, { "]", true }, { "[1]]", true },
	{ "{A]1}", true }, { "[{}a]", true }, { "{A}]", true },
};

static void write_calls(struct json *j, const char *calls)
{
	for (const char *c = calls; *c; c++) {
		if (*c == '{' || *c == 'O')
			json_object(j, *c == 'O' ? "name" : NULL);
		else if (*c == '[' || *c == 'A')
			json_array(j, *c == 'A' ? "name" : NULL);
		else if (*c == '}')
			json_object_end(j);
		else if (*c == ']')
			json_array_end(j);
		else
			json_int(j, *c == '1' ? NULL : "name", 1);
	}
}

TEST_EACH(misuse_is_an_error, misuses)
{
	const struct misuse *m = &misuses[_i];
	RELEASED(buf, b = BUF_INIT);
	struct json j;

	support_tolerates_misuse = true;
	json_init(&j, &b, true);
	write_calls(&j, m->calls);
	ck_assert_msg(buf_error(&b) == (m->wrong ? -EINVAL : 0), "%s: %d", m->calls, buf_error(&b));
}

TEST(misuse_aborts_in_tests)
{
	struct buf b = BUF_INIT;
	struct json j;
	int status;
	pid_t pid = fork();

	if (!pid) {
		json_init(&j, &b, true);
		write_calls(&j, "[a");
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

/* Nothing is known of the 65th level, and all of those below it. */
TEST(very_deep)
{
	RELEASED(buf, b = BUF_INIT);
	struct json j;

	support_tolerates_misuse = true;
	json_init(&j, &b, true);
	for (int i = 0; i < 64; i++)
		write_calls(&j, i ? "O" : "{");
	write_calls(&j, "A111O}]a");
	for (int i = 0; i < 64; i++)
		write_calls(&j, i % 7 ? "}" : "b}");
	ck_assert_int_eq(buf_error(&b), 0);
	write_calls(&j, "b");
	ck_assert_int_eq(buf_error(&b), -EINVAL);
}

TEST_MAIN(json);
