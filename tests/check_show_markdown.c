/* SPDX-License-Identifier: MIT */
#include "base/field.h"
#include "report/show_output.h"
#include "tests/paths.h"
#include "tests/recorded.h"
#include "tests/support.h"
#include "write/markdown.h"

/* `show --markdown` as a parser of GitHub's Markdown reads it (tests/markdown.py): names of any kind
 * are text, and nothing else. */

#define MARKDOWN "python3 -B " TOP_SRCDIR "/tests/markdown.py " TOP_BUILDDIR "/buildbeat "

static const char *const pieces[] = {
	"|", "\\|", "`", "```", "``", "<", "<b>", "</code>", "<!--", "-->", "<script>", "*", "**", "_", "__",
	"[", "](http://x.y)", "![", "~~", "\n", "\r\n", "\t", "@octocat", "@org/team", ":smile:", ":+1:",
	":100:", "#1", "#123", "GH-7", "!9", "&amp;", "&#42;", "&", "\\", "\\\\", "http://a.b/c", "https://x.y",
	"www.x.y", "a@b.cd", "# x", "- ", "1. ", "> ", "    ", "  ", " ", "---", "===", "|---|", "$x$", "$$",
	"\033[31m", "\342\200\256", "\303\251", "\xff", "lib/", "a.o", "x", "%", "%s", "'", "\"", "{{", "::error::",
};

/* One to six of them; a name with a blank after a slash is no worse than others. */
static void add_hostile(struct buf *b, uint64_t *state)
{
	for (uint64_t n = 1 + random_below(state, 6); n; n--)
		buf_adds(b, pieces[random_below(state, sizeof pieces / sizeof *pieces)]);
}

static void add_field(struct buf *b, const struct buf *text)
{
	buf_addc(b, '\t');
	field_add(b, text->data, text->len, 1000);
}

static void write_hostile(const char *dir, uint64_t seed, unsigned n)
{
	RELEASED(buf, text = BUF_INIT, name = BUF_INIT);
	uint64_t state = seed;

	buf_adds(&text, "buildbeat tasks 1\nopen\t0\tm\t10\t0\t10,9\tmake\t4.3\t/b\tmake\n");
	for (unsigned i = 1; i <= n; i++) {
		buf_addf(&text, "start\t%u\tm.%u\t%u\t\t", 1000 * i, i, 100 + i);
		for (int field = 0; field < 2; field++) {
			buf_clear(&name);
			add_hostile(&name, &state);
			add_field(&text, &name);
			buf_adds(&text, field ? "" : "\t");
		}
		buf_addf(&text, "\n%s\t%u\tm.%u\t%d\t%u\t0\t%u\n", random_below(&state, 3) ? "done" :
			 "fail", 1000 * i + 900, i, 0, 10 * i, 100 * i);
	}
	support_expect(NULL, 0, NULL, NULL, "mkdir -p '%s'", dir);
	support_write(support_path("%s/tasks.log", dir), text.data, text.len);
	buf_clear(&text);
	buf_clear(&name);
	buf_adds(&text, "buildbeat build 1\ncwd: /b\ncores: 2\nend_us: 1000000\nstatus: 2\nuser_us: 900\n"
		 "system_us: 100\ncommand:");
	add_hostile(&name, &state);
	add_field(&text, &name);
	buf_addc(&text, '\n');
	support_write(support_path("%s/build", dir), text.data, text.len);
}

TEST_LOOP(hostile_names, 20)
{
	const char *dir = support_path("%s/rec", support_tmpdir());
	struct run r;

	SKIP_IF(!support_has("cmark-gfm") || !support_has("python3"));
	write_hostile(dir, (uint64_t)_i, 60);
	support_run(&r, NULL, MARKDOWN "%s", dir);
	ck_assert_msg(!r.status, "seed %d: %s%s", _i, r.out.data, r.err.data);
}

/* What a failed task wrote cannot end the block it is in. */
TEST(last_lines)
{
	const char *dir = support_tmpdir();
	struct run r;

	SKIP_IF(!support_can_be_loaded());
	support_writes(support_path("%s/Makefile", dir), "all:\n\t@sh ./step\n");
	support_writes(support_path("%s/step", dir), "printf '%s\\n' '```' '# title' '</code></pre>' "
		       "'````' '| a | b |' '@octocat'\nexit 3\n");
	support_run(&r, dir, "unset MAKEFLAGS MFLAGS MAKELEVEL; " TOP_BUILDDIR
		    "/buildbeat record --log -- make >out 2>&1; cat out");
	support_run(&r, dir, TOP_BUILDDIR "/buildbeat show --markdown");
	ck_assert_int_eq(r.status, 0);
	ck_assert_msg(strstr(r.out.data, "\n`````text\n$ sh ./step\n```\n# title\n</code></pre>\n````\n"
			     "| a | b |\n@octocat\n") != NULL, "%s", r.out.data);
}

/* GitHub ignores a summary of more than 1 MiB. */
TEST(limit)
{
	const char *dir = support_path("%s/rec", support_tmpdir());
	struct run r;

	write_hostile(dir, 1, 30000);
	support_run(&r, NULL, TOP_BUILDDIR "/buildbeat show -m -t 1000000 -b target,program '%s'", dir);
	ck_assert_int_eq(r.status, 0);
	ck_assert_uint_lt(r.out.len, SHOW_MARKDOWN_MAX);
	ck_assert_uint_gt(r.out.len, SHOW_MARKDOWN_MAX / 2);
	ck_assert_ptr_nonnull(strstr(r.out.data, "**total**"));
	ck_assert_ptr_nonnull(strstr(r.out.data, "Every task over time"));
}

TEST_MAIN(show_markdown);
