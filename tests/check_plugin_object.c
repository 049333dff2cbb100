/* SPDX-License-Identifier: MIT */
/* The shared object, its header, its page and the example. */
#include "base/array.h"
#include "recording/recording.h"
#include "recording/tally.h"
#include "tests/make_host.h"
#include "tests/paths.h"
#include "tests/recorded.h"
#include "tests/support.h"

#define EXAMPLE TOP_SRCDIR "/examples/host/host.c"

static void prints(const char *expected, const char *command)
{
	struct run r;

	support_run(&r, support_tmpdir(), "%s", command);
	ck_assert_msg(r.status == 0, "%s: %d\n%s%s", command, r.status, r.out.data, r.err.data);
	if (expected)
		ck_assert_str_eq(r.out.data, expected);
}

/* It exports only what hosts look up. */
TEST(exports)
{
	prints("buildbeat_get_api\nbuildbeat_gmk_setup\nplugin_is_GPL_compatible\n",
	       "nm -D --defined-only " PLUGIN " | sed 's/.* //' | LC_ALL=C sort");
}

TEST(needs_libc_only)
{
	SKIP_IF(!make_host_can());		/* the libraries of the sanitizers */
	prints("libc.so.6\n", "readelf -d " PLUGIN " | sed -n '/NEEDED/s/.*\\[\\(.*\\)\\]/\\1/p'");
}

/*
 * Code and data, in bytes. What is compiled as developers do is watched closely; other compilers,
 * processors and flags, such as those of distributions' packages, add some.
 */
#if defined __x86_64__ && __GNUC__ == 12 && defined __OPTIMIZE__ && !defined __SSP_STRONG__
#define PLUGIN_SIZE_MAX 233000
#define PLUGIN_RELOCATIONS_MAX 320
#else
#define PLUGIN_SIZE_MAX 264000
#define PLUGIN_RELOCATIONS_MAX 400
#endif

TEST(small)
{
	struct run r;

	SKIP_IF(!make_host_can());
	support_run(&r, support_tmpdir(), "size -B " PLUGIN " | awk 'NR == 2 { print $1 + $2 }'");
	ck_assert_int_gt(atoi(r.out.data), 100000);
	ck_assert_int_lt(atoi(r.out.data), PLUGIN_SIZE_MAX);
}

/* Every make resolves its relocations when it loads the object; a table of pointers adds
 * some. */
TEST(few_relocations)
{
	struct run r;

	SKIP_IF(!make_host_can());
	support_run(&r, support_tmpdir(), "readelf -rW " PLUGIN " | grep -c RELATIVE");
	ck_assert_int_lt(atoi(r.out.data), PLUGIN_RELOCATIONS_MAX);
}

#define MACROS "#include <buildbeat_plugin.h>\n" \
	"unsigned f(const struct buildbeat_api *, struct buildbeat_session *);\n" \
	"unsigned f(const struct buildbeat_api *api, struct buildbeat_session *s)\n{\n" \
	"\tBUILDBEAT_SPAN(api, s, 0, \"a\");\n\tBUILDBEAT_TASK_AND_SPAN(api, s, \"task\", \"b\");\n" \
	"\treturn BUILDBEAT_HAS(api, used) ? BUILDBEAT_LOCATION(api) : 0;\n}\n"

/* Each header of the plugin compiles alone, and the public one with its macros in C++ too. */
TEST(headers_alone)
{
	static const char *const headers[] = {
		"beat", "buildbeat_plugin", "children", "got", "procs", "session", "tally_count", "tally_clock", "tally_parts", "ticket",
	};

	for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
		prints("", support_path("echo '#include \"plugin/%s.h\"' > a.c && %s -std=gnu11 -D_GNU_SOURCE"
					" -Wall -Wextra -Werror -I%s -fsyntax-only a.c", headers[i], TEST_CC,
					TOP_SRCDIR));
	support_writes(support_path("%s/a.c", support_tmpdir()), MACROS);
	prints("", TEST_CC " -std=c89 -pedantic -Wall -Wextra -Werror -I" TOP_SRCDIR
	       "/plugin -fsyntax-only a.c");
	if (support_has("c++"))
		prints("", "cp a.c a.cc && c++ -std=c++11 -pedantic -Wall -Wextra -Werror"
		       " -I" TOP_SRCDIR "/plugin -fsyntax-only a.cc");
}

TEST(example_works)
{
	struct tally_table tallies = TALLY_TABLE_INIT;
	struct recording rec = RECORDING_INIT;

	SKIP_IF(!make_host_can());
	prints("", TEST_CC " -Wall -Wextra -Werror -I" TOP_SRCDIR "/plugin " EXAMPLE " -o host -ldl");
	support_expect(support_tmpdir(), 1, "one\n", "",
		       "unset MAKEFILES; BUILDBEAT_PLUGIN=" PLUGIN
		       " ./host 'echo one' 'sleep 0.1' 'exit 3' 'echo never'");
	recorded_open(&rec, support_path("%s/buildstats/latest", support_tmpdir()), NULL);
	ck_assert_uint_eq(rec.n_tasks, 3);
	ck_assert_str_eq(rec.task[1].name, "sleep 0.1");
	ck_assert_int_ge(rec.task[1].end_us - rec.task[1].start_us, 100000);
	ck_assert_int_eq(rec.task[2].status, 3);
	ck_assert_int_eq(recording_build_number(&rec, "status"), 3);
	recording_release(&rec);
	ck_assert_int_eq(tally_read(&tallies, support_path("%s/buildstats/latest", support_tmpdir()), -1,
				    INT64_MAX, NULL, NULL), 0);
	ck_assert_uint_eq(tallies.n_rows, 1);
	ck_assert_uint_eq(tallies.row[0].count, 3);
	ck_assert_str_eq(tallies.location[0].function, "run");
	tally_release(&tallies);
	prints("one\n", "BUILDBEAT_PLUGIN=/nonexistent.so ./host 'echo one'");
}

/* Undo troff's escapes. */
static void unescape(struct buf *b)
{
	size_t to = 0;

	for (size_t i = 0; i < b->len; i++) {
		char c = b->data[i];

		if (c == '\\' && b->data[i + 1] == '(') {
			c = '\'';
			i += 3;
		} else if (c == '\\') {
			c = b->data[++i] == 'e' ? '\\' : b->data[i];
		}
		b->data[to++] = c;
	}
	buf_cut(b, to);
}

/* The page shows the example unchanged. */
TEST(page_has_the_example)
{
	static const char open[] = ".Bd -literal\n", close[] = ".Ed\n";
	RELEASED(buf, page, example);
	char *at, *end = NULL;

	support_read(&page, TOP_SRCDIR "/man/buildbeat-plugin.3");
	support_read(&example, EXAMPLE);
	at = strstr(page.data, ".Sh EXAMPLES");
	ck_assert_ptr_nonnull(at);
	at = strstr(at, open);
	ck_assert_ptr_nonnull(at);
	at += strlen(open);
	end = strstr(at, close);
	ck_assert_ptr_nonnull(end);
	buf_cut(&page, (size_t)(end - page.data));
	memmove(page.data, at, strlen(at) + 1);
	page.len = strlen(page.data);
	unescape(&page);
	ck_assert_str_eq(page.data, example.data);
}

TEST_MAIN(plugin_object);
