/* SPDX-License-Identifier: MIT */
#include "analyse/first_error.h"
#include "analyse/shipped_messages.h"
#include "cli/configfile.h"
#include "cli/messages_config.h"
#include "tests/recorded.h"
#include "tests/support.h"

/* The rules by which lines are errors, warnings and what belongs to them. */

/* Builds that end well say these. */
static const char *const good[] = {
	"gcc -Wall -Werror -c error.c -o error.o", "  CC       lib/error.o", "[ 50%] Building C object error.c.o",
	"clang -DERROR=3 -include fatal.h -c warning.c", "echo '  error: none' >log", "0 errors, 0 warnings",
	"checking for error_at_line... no", "checking whether -Werror works... yes", "configure: creating ./config.status",
	"100%: Checks: 7, Failures: 0, Errors: 0", "# FAIL:  0", "# ERROR: 0", "PASS: tests/error.sh", "XFAIL: tests/error.sh",
	"ok 3 - fatal: is printed", "[       OK ] Errors.Fatal (0 ms)", "[  PASSED  ] 3 tests.", "test errors::fatal ... ok",
	"test result: ok. 3 passed; 0 failed; 0 ignored", "ok  \tdemo/errors\t0.004s", "--- PASS: TestError (0.00s)",
	"100% tests passed, 0 tests failed out of 3", "1/3 Test #1: errors ...........   Passed    0.00 sec",
	"1/3 errors OK              0.02s", "make[1]: Entering directory '/t/error: x'", "make: 'error' is up to date.",
	"make: [Makefile:3: all] Error 1 (ignored)", "make[2]: [Makefile:3: all] Error 127 (ignored)",
	"make: Nothing to be done for 'all'.", "[3/9] CC error.o", "ninja: no work to do.", "-- Found Errors: TRUE",
	"-- Looking for error.h - not found", "Could NOT find Doxygen (missing: DOXYGEN_EXECUTABLE)",
	"   Compiling thiserror v1.0.3", "    Finished `dev` profile [unoptimized] target(s) in 0.41s",
	"[INFO] BUILD SUCCESS", "BUILD SUCCESSFUL in 3s", "NOTE: recipe error-1.0-r0: task do_compile: Succeeded",
	"NOTE: Tasks Summary: Attempted 9 tasks of which 0 didn't need to be rerun and all succeeded.",
	"============================== 3 passed in 0.03s ===============================", "tests/test_error.py ...   [100%]",
	"==24==ERROR SUMMARY: 0 errors", "==24== ERROR SUMMARY: 0 errors from 0 contexts (suppressed: 0 from 0)",
	"libtool: link: ranlib .libs/liberror.a", "ld -r -o error.o a.o", "install -m 644 error.h /usr/include/error.h",
	"/usr/bin/ld: warning.o: in function `main':", "a.c: In function 'error':", "In file included from error.h:3:",
	"a.c:3:4: note: error: is a text", "    3 | error: x", "Installing error.3", "writing list of errors: done",
	"remote: Counting objects: 3, done.", "HEAD is now at 1234567 parse: an error has a line", "total errors: 0",
};

TEST_EACH(good_line, good)
{
	RELEASED(buf, plain = BUF_INIT);
	struct message_found m = { 0 };

	messages_config_use("/dev/null");
	if (first_error_line(NULL, NO_INDEX, (struct slice){ good[_i], strlen(good[_i]) }, &plain, &m))
		ck_assert_msg(m.is >= MESSAGE_BEFORE, "%.*s's %s: %s", (int)m.tool.len, m.tool.p,
			      message_word[m.is], good[_i]);
}

/* Rules of the user */

static const struct { const char *yaml, *message; } wrong[] = {
	{ "messages:\n- tool: x\n  eror: [abc]\n", "3:3: unknown key 'eror'; did you mean 'error'?" },
	{ "messages:\n- error: [abc]\n", "2:3: expected the name of a tool" },
	{ "messages:\n- tool: x\n", "2:3: 'x': expected error, warning or report" },
	{ "messages:\n- tool: x\n  after: [abc]\n", "2:3: 'x': expected error, warning or report" },
	{ "messages:\n- tool: x\n  error: ['abc {file']\n", "2:3: 'abc {file': a brace is not closed" },
	{ "messages:\n- tool: x\n  error: ['abc {files}']\n", "2:3: 'abc {files}': expected {file}, {line}, {column}, " },
	{ "messages:\n- tool: x\n  error: ['{file}: {any}']\n", "'{file}: {any}': expected at least 3 characters" },
	{ "messages:\n- tool: x\n  error: [abc]\n  after: ['{a}']\n", "'{a}': expected {file}" },
	{ "messages:\n- tool: x\n  error: ['a{any}a{any}a{any}a{any}a{any}a{any}a{any}a{any}a{any}a{any}a{any}a{any}abc']\n",
	  "expected at most 24 pieces" },
	{ "messages:\n- tool: x\n  error: [\"abc\\ndef\"]\n", "expected one line" },
	{ "messages:\n- tool: \"x\\ty\"\n  error: [abc]\n", "2:3: expected the name of a tool" },
	{ "messages: abc\n", "1:11: " },
};

TEST_EACH(wrong_rule, wrong)
{
	struct messages_config c = { 0 };
	struct args args = { 0 };
	struct error err = { 0 };
	RELEASED(buf, got = BUF_INIT);

	ck_assert_int_eq(configfile_parse_keys(&args, messages_config_keys, &c, wrong[_i].yaml,
					       strlen(wrong[_i].yaml), "file.yaml", &err), -EINVAL);
	ck_assert_str_eq(err.path, "file.yaml");
	buf_addf(&got, "%u:%u: %s", err.line, err.column, err.message);
	ck_assert_msg(strstr(buf_str(&got), wrong[_i].message) != NULL, "%s", buf_str(&got));
	messages_config_release(&c);
	options_release(&args);
}

/* "TOOL KIND": what the line is. */
static const char *kind_of(const char *tool, const char *line)
{
	static char text[100];
	struct message_found m;

	if (!message_find(message_rules_used(), slice_of(tool), slice_of(line), &m))
		return "nothing";
	snprintf(text, sizeof text, "%.*s %s", (int)m.tool.len, m.tool.p, message_word[m.is]);
	return text;
}

/* They come before the shipped ones, in their order; and a tool's before others in its message. */
TEST(order)
{
	const char *path = support_path("%s/own.yaml", support_tmpdir());

	support_writes(path, "messages:\n- tool: lint\n  warning: ['{file}:{line}:{column}: error: style: {message}']\n"
		       "  error: ['LINT {message}']\n  report: ['LINT failed{any}']\n  before: ['LINT of {any}', 'LINT failed{word}']\n"
		       "- tool: other\n  error: ['LINT {any}', '{word}Error: {message}']\n");
	messages_config_use(path);
	ck_assert_str_eq(kind_of("", "a.c:3:4: error: style: long"), "lint warning");
	ck_assert_str_eq(kind_of("", "a.c:3:4: error: x"), "gcc error");
	ck_assert_str_eq(kind_of("", "LINT x"), "lint error");
	ck_assert_str_eq(kind_of("", "LINT failed x"), "lint report");
	ck_assert_str_eq(kind_of("", "LINT failed"), "lint before");
	ck_assert_str_eq(kind_of("", "LINT of a.c"), "lint before");
	ck_assert_str_eq(kind_of("other", "LINT x"), "other error");
	ck_assert_str_eq(kind_of("", "ValueError: x"), "other error");
	ck_assert_str_eq(kind_of("node", "ValueError: x"), "node error");
	messages_config_use("/dev/null");
	ck_assert_str_eq(kind_of("", "ValueError: x"), "python error");
	ck_assert_str_eq(kind_of("", "LINT x"), "nothing");
}

/* What the build makes of messages.yaml is what a YAML parser reads there. */
TEST(shipped)
{
	messages_config_use(TOP_SRCDIR "/analyse/messages.yaml");
	ck_assert_str_eq(messages_config_lines(), shipped_messages);
}

/* What each piece fits. */
static const struct { const char *template, *line, *result; } pieces[] = {
	{ "abc {message}", "abc x y", "x y" }, { "abc {message}", "abc ", NULL }, { "abc {message}", "abc  x", NULL },
	{ "abc {message}", "xabc x", NULL }, { "abc{message} z", "abcx z", NULL }, { "abc {message}x{any}", "abc x y", "x y" },
	{ "abc", "abc", "abc" }, { "abc", "abc \t\r", "abc" }, { "abc", "abcd", NULL }, { "abc", "ab", NULL },
	{ "abc{word}", "abc", "abc" }, { "abc{word}", "abcx:y", "abcx:y" }, { "abc{word}", "abcx y", NULL },
	{ "abc{word}d", "abc d", NULL }, { "abc{word}d", "abcdd", "abcdd" }, { "abc{any}d", "abc x d", "abc x d" },
	{ "abc{any}d", "abc x", NULL }, { "abc{any}", "abc", "abc" }, { "abc{blank}d", "abc \td", "abc \td" },
	{ "abc{blank}d", "abcd", NULL }, { "{file}.abc: {message}", "a b.abc: c", "a b.abc|c" },
	{ "{file}.abc: {message}", " a.abc: c", NULL }, { "{file}.abc: {message}", ".abc: c", NULL },
	{ "{file}abc: {message}", "a: babc: c", NULL }, { "{file}(abc: {message}", "ab(abc: c", "ab|c" }, { "{file}-abc: {message}", "a.c-abc: c", "a.c|c" },
	{ "{file}(abc) {message}", "a.c(abc) c", "a.c|c" }, { "{file}.abc{any}", "a.abc", "a.abc|a.abc" },
	{ "{file}: abc {line}", "a: abc 12", "a|a: abc 12|12" }, { "abc {line}", "abc x", NULL }, { "abc {line}", "abc -1", NULL },
	{ "abc {line}", "abc 99999999999999999999", NULL }, { "{any}{line}{any}abc", "x1yabc", "x1yabc|1" },
};

TEST_EACH(piece, pieces)
{
	RELEASED(buf, rule = BUF_INIT, got = BUF_INIT);
	struct message_found m;

	ck_assert_int_eq(message_template_check(pieces[_i].template, MESSAGE_ERROR, NULL), 0);
	buf_addf(&rule, "error\tx\t%s\n", pieces[_i].template);
	message_rules_own(buf_str(&rule), NULL);
	if (message_find(message_rules_used(), slice_of(""), slice_of(pieces[_i].line), &m) && slice_is(m.tool, "x")) {
		if (m.file.len)
			buf_addf(&got, "%.*s|", (int)m.file.len, m.file.p);
		buf_add(&got, m.text.p, m.text.len);
		if (m.line)
			buf_addf(&got, "|%llu", (unsigned long long)m.line);
	}
	ck_assert_str_eq(buf_str(&got), pieces[_i].result ? pieces[_i].result : "");
	message_rules_own(NULL, NULL);
}

/* Any line */

static bool is_inside(struct slice part, struct slice line)
{
	return !part.len || (part.p >= line.p && part.p + part.len <= line.p + line.len);
}

static void check_any(const char *p, size_t len)
{
	/* in memory of this size, so that sanitizers see what is read behind it */
	char *copy = malloc(len ? len : 1);
	struct slice line = { memcpy(copy, p, len), len };
	const struct message_rules *rules = message_rules_used();
	struct message_found m = { 0 };

	if (message_find(rules, slice_of(""), line, &m))
		ck_assert(is_inside(m.text, line) && is_inside(m.file, line));
	m = (struct message_found){ 0 };
	if (message_goes_on(rules, slice_of("gcc"), true, line, &m))
		ck_assert(is_inside(m.text, line) && is_inside(m.file, line));
	free(copy);
}

/* Lines of pieces of templates */
TEST(random_lines)
{
	static const char *const parts[] = {
		"a.c", ":", "1", ": ", "error: ", "warning: ", " ", "\t", "{file}", "*** [", "] Error 1", "make", "ld: ", "\033[1m",
		"\xff", "\xc3", "undefined reference to ", "Traceback (most recent call last):", "(.text+0x5)", "Error", "E  ", "[", "\r",
		"FAIL", "==1==", "at ", " line ", "collect2: ", "CMake Error at ", "-->", ".py", "99999999999999999999", "\x80",
	};
	uint64_t seed = 3;

	messages_config_use("/dev/null");
	for (int i = 0; i < 20000; i++) {
		RELEASED(buf, line = BUF_INIT);

		for (uint64_t n = random_below(&seed, 16); n; n--) {
			const char *part = parts[random_below(&seed, ARRAY_SIZE(parts))];

			buf_add(&line, part, random_below(&seed, 20) ? strlen(part) : strlen(part) + 1);
		}
		check_any(buf_str(&line), line.len);
	}
}

/* Templates of several texts would take the third power of the length. */
TEST(slow_lines)
{
	static const char *const repeated[] = {
		"a:1:", ":1:1:", "a:1:1: ", " at x line 1", "ld: ", "(.text", ": ", "x/x Test ***", "sh: 1: ", "==1== at 1: (a:1", "_", "\t",
		"\xff", "Error: ",
	};
	static const char *const ends[] = {
		"", ": internal compiler error: ", " failed", "undefined reference to ", "Error", " FAIL ", ": No such file", " in @INC ",
		"***",
	};

	messages_config_use("/dev/null");
	for (size_t i = 0; i < ARRAY_SIZE(repeated) * ARRAY_SIZE(ends); i++) {
		RELEASED(buf, line = BUF_INIT);

		while (line.len < 1900 + i)
			buf_adds(&line, repeated[i % ARRAY_SIZE(repeated)]);
		buf_adds(&line, ends[i / ARRAY_SIZE(repeated)]);
		check_any(buf_str(&line), line.len);
	}
}

/* Templates can be as bad as they like. */
TEST(slow_template)
{
	RELEASED(buf, line = BUF_INIT);

	message_rules_own("error\tx\t{any}a{any}a{any}a{any}a{any}a{any}a{any}a{any}a{any}a{any}xyz!\n", NULL);
	while (line.len < 1900)
		buf_addc(&line, 'a');
	buf_adds(&line, "xyz!?");
	check_any(buf_str(&line), line.len);
	message_rules_own(NULL, NULL);
}

TEST_MAIN(message);
