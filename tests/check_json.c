/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "tests/support.h"

#include <math.h>

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

START_TEST(compact)
{
	struct buf b = BUF_INIT;
	struct json j;

	json_init(&j, &b, true);
	fill(&j);
	ck_assert_str_eq(buf_str(&b), "{\"name\":\"" TEXT "\",\"least\":-9223372036854775808,"
			 "\"list\":[true,null,0.333,null,null,4.605e-08,0.333333333333,null,{},[]]}\n");
	buf_release(&b);
}
END_TEST

START_TEST(spread)
{
	struct buf b = BUF_INIT;
	struct json j;

	json_init(&j, &b, false);
	fill(&j);
	ck_assert_str_eq(buf_str(&b), "{\n  \"name\": \"" TEXT "\",\n"
			 "  \"least\": -9223372036854775808,\n  \"list\": [\n    true,\n"
			 "    null,\n    0.333,\n    null,\n    null,\n    4.605e-08,\n    0.333333333333,\n    null,\n    {},\n    []\n  ]\n}\n");
	buf_release(&b);
}
END_TEST

/* Another parser reads it and returns the text. */
START_TEST(python_agrees)
{
	struct buf b = BUF_INIT;
	struct json j;
	const char *path = support_path("%s/x.json", support_tmpdir());

	if (!support_has("python3"))
		return;
	json_init(&j, &b, false);
	fill(&j);
	support_write(path, b.data, b.len);
	support_expect(NULL, 0, NULL, NULL,
		       "python3 -c 'import json; d = json.load(open(\"%s\", encoding=\"utf-8\"));"
		       "assert d[\"name\"].startswith(\"a \\\"b\\\" \\\\ \\n\\t\\x01\\x7f caf\\xe9 \\ufffd\\U00010348\");"
		       "assert len(d[\"list\"]) == 10'", path);
	buf_release(&b);
}
END_TEST

int main(void)
{
	return support_main("json", TEST(compact), TEST(spread), TEST(python_agrees));
}
