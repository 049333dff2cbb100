/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "cli/command.h"
#include "tests/support.h"

#include <limits.h>

/* The parser of command lines, on a table of its own. */

struct values {
	bool all, bare;
	int64_t number;
	const char *text, *where;
	int choice;
	struct word_list list;
	int mode;
	unsigned set;
	double share;
};

static const char *const colours[] = { "red", "green", NULL };
static const char *const modes[] = { "off", "on", "full", NULL };

#define OPTIONS struct values
static const struct option table[] = {
	{ OPT_FLAG('a', "all", all, "h") },
	{ OPT_FLAG('b', "bare", bare, "h") },
	{ OPT_NUMBER('n', "number", number, -5, 100, "N", "h") },
	{ OPT_TEXT('t', "text", text, "T", "h") },
	{ OPT_CHOICE(0, "colour", choice, colours, "C", "h") },
	{ OPT_LIST('l', "list", list, "L", "h") },
	{ OPT(OPTION_WORDS, struct word_list, 'w', "words", list, "W", "h") },
	{ OPT_MODE('m', "mode", mode, modes, "full", "h") },
	{ OPT_SWITCH(0, "where", where, "W", "h") },
	{ OPT_SET(0, "set", set, colours, "S", "h") },
	{ OPT(OPTION_SHARE, double, 0, "share", share, "P", "h"), .max = 1 },
	{ 0 }
};

#define WORDS_MAX 24

/* "-" separates operands; result: the values as text */
static const struct {
	const char *words[WORDS_MAX];
	bool runs;
	const char *result;	/* NULL: refused */
	const char *message;	/* part of the message */
} cases[] = {
	{ { "-ab" }, false, "ab 0 - red []", NULL },
	{ { "-abtx" }, false, "ab 0 x red []", NULL },
	{ { "-n", "7", "-n8" }, false, "-- 8 - red []", NULL },
	{ { "--number=-5", "--text", "--all" }, false, "-- -5 --all red []", NULL },
	{ { "--all", "--no-all", "--bare" }, false, "-b 0 - red []", NULL },
	{ { "--colour=green", "op", "--all" }, false, "a- 0 - green [op]", NULL },
	{ { "op", "--all", "--", "--bare" }, false, "a- 0 - red [op,--bare]", NULL },
	{ { "-a", "op", "--all", "--", "-b" }, true, "a- 0 - red [op,--all,--,-b]", NULL },
	{ { "-a", "--", "-b", "--" }, true, "a- 0 - red [-b,--]", NULL },
	{ { "-" }, false, "-- 0 - red [-]", NULL },
	{ { "-la", "--list=b" }, false, "-- 0 - red [] a b", NULL },
	{ { "-l", "a", "b" }, false, "-- 0 - red [b] a", NULL },
	{ { "--words", "a", "b", "-a", "c" }, false, "a- 0 - red [c] a b", NULL },
	{ { "--words=a", "b", "--words", "c", "--", "d" }, false, "-- 0 - red [d] a b c", NULL },
	{ { "-wa", "b", "-w", "c" }, false, "-- 0 - red [] a b c", NULL },
	{ { "--words", "-a" }, false, "-- 0 - red [] -a", NULL },
	{ { "--set", "green" }, false, "-- 0 - red [] set 2", NULL },
	{ { "--set=green", "--set=red" }, false, "-- 0 - red [] set 3", NULL },
	{ { "--share=12.5%" }, false, "-- 0 - red [] share 0.125", NULL },
	{ { "--share", "1" }, false, "-- 0 - red [] share 1", NULL },
	{ { "--mode", "full" }, false, "-- 0 - red [full] mode 1", NULL },
	{ { "--mode=full", "op" }, false, "-- 0 - red [op] mode 2", NULL },
	{ { "-ma", "--mode=on" }, false, "a- 0 - red [] mode 1", NULL },
	{ { "--mode", "--mode=off" }, false, "-- 0 - red []", NULL },
	{ { "--mode", "--", "-a" }, true, "-- 0 - red [-a] mode 1", NULL },
	{ { "--mode=" }, false, NULL, "option '--mode': expected off, on or full, not ''" },
	{ { "--mode=fulll" }, false, NULL, "expected off, on or full, not 'fulll'" },
	{ { "--where", "x" }, false, "-- 0 - red [x] where any", NULL },
	{ { "--where=x", "--where=yes" }, false, "-- 0 - red [] where any", NULL },
	{ { "--where", "--where=x" }, false, "-- 0 - red [] where x", NULL },
	{ { "--where=x", "--no-where" }, false, "-- 0 - red []", NULL },
	{ { "--where=x", "--where=off" }, false, "-- 0 - red []", NULL },
	{ { "--where=" }, false, NULL, "option '--where': expected a text, not an empty value" },
	{ { "--no-mode" }, false, NULL, "unknown option '--no-mode'" },
	{ { "--set=green,blue" }, false, NULL, "expected red or green, not 'blue'" },
	{ { "--set=green," }, false, NULL, "expected red or green, not ''" },
	{ { "--share=-1" }, false, NULL, "expected a share such as 5% or 0.05, not '-1'" },
	{ { "--share=101%" }, false, NULL, "expected a share of at most 100%" },
	{ { "--share=5percent" }, false, NULL, "expected a share" },
	{ { "--all=true" }, false, NULL, "takes no value" },
	{ { "--no-number" }, false, NULL, "unknown option '--no-number'" },
	{ { "--number" }, false, NULL, "needs a value: N" },
	{ { "--number=" }, false, NULL, "whole number from -5 to 100, not ''" },
	{ { "-n101" }, false, NULL, "whole number from -5 to 100, not '101'" },
	{ { "-n", "7x" }, false, NULL, "not '7x'" },
	{ { "-n", "99999999999999999999" }, false, NULL, "whole number" },
	{ { "--colour", "blue" }, false, NULL, "expected red or green, not 'blue'" },
	{ { "--text=" }, false, NULL, "expected a text" },
	{ { "--numbr=3" }, false, NULL, "did you mean '--number'?" },
	{ { "--cloour=red" }, false, NULL, "did you mean '--colour'?" },
	{ { "--zzzzzz" }, false, NULL, "see: buildbeat help test" },
	{ { "-x" }, false, NULL, "unknown option '-x'" },
	{ { "-ax" }, false, NULL, "unknown option '-x'" },
	{ { "1", "2", "3", "4" }, false, NULL, "too many operands: '4'" },
};

static void describe(struct buf *b, const struct values *v, const struct args *a)
{
	buf_addf(b, "%c%c %lld %s %s [", v->all ? 'a' : '-', v->bare ? 'b' : '-',
		 (long long)v->number, v->text ? v->text : "-", colours[v->choice]);
	for (int i = 0; i < a->n; i++)
		buf_addf(b, "%s%s", i ? "," : "", a->operand[i]);
	buf_adds(b, "]");
	for (size_t i = 0; i < v->list.n; i++)
		buf_addf(b, " %s", v->list.item[i]);
	if (v->mode)
		buf_addf(b, " mode %d", v->mode);
	if (v->where)
		buf_addf(b, " where %s", *v->where ? v->where : "any");
	if (v->set)
		buf_addf(b, " set %u", v->set);
	if (v->share > 0)
		buf_addf(b, " share %g", v->share);
}

/* Stores in out what options_parse() writes to standard error. */
static bool parse(struct args *a, struct values *v, int i, struct buf *out)
{
	struct command c = {
		.name = "test", .operands = cases[i].runs ? "[X...]" : "[X] [Y] [Z]",
		.runs = cases[i].runs, .options = table,
	};
	static char words[WORDS_MAX + 1][32] = { "test" };
	static char *argv[WORDS_MAX + 2] = { words[0] };	/* it has the operands */
	int argc = 1, saved = dup(2), file;
	bool ok;
	const char *path = support_path("%s/err", support_tmpdir());

	for (; cases[i].words[argc - 1]; argc++)
		argv[argc] = strcpy(words[argc], cases[i].words[argc - 1]);
	file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	ck_assert_int_ge(file, 0);
	dup2(file, 2);
	close(file);
	*v = (struct values){ 0 };
	ok = options_parse(a, &c, v, argc, argv);
	dup2(saved, 2);
	close(saved);
	support_read(out, path);
	return ok;
}

TEST_EACH(command_lines, cases)
{
	RELEASED(buf, said = BUF_INIT, got = BUF_INIT);
	struct values v;
	struct args a;
	bool ok = parse(&a, &v, _i, &said);

	if (cases[_i].result) {
		ck_assert_msg(ok, "%s", buf_str(&said));
		describe(&got, &v, &a);
		ck_assert_str_eq(buf_str(&got), cases[_i].result);
		ck_assert_ptr_null(a.operand[a.n]);
		ck_assert_str_eq(buf_str(&said), "");
	} else {
		ck_assert(!ok);
		ck_assert_int_eq(a.status, EXIT_MISUSE);
		ck_assert_msg(strstr(buf_str(&said), cases[_i].message) != NULL,
			      "'%s' is not in: %s", cases[_i].message, buf_str(&said));
		ck_assert_ptr_eq(strchr(said.data, '\n'), said.data + said.len - 1);
	}
	options_release(&a);
}

TEST(long_lists)
{
	static char words[WORD_LIST_MAX + 2][8];
	char *argv[WORD_LIST_MAX + 4] = { words[0], strcpy(words[1], "-w") };
	const struct command c = { .name = "test", .operands = "", .options = table };
	struct values v = { 0 };
	struct args a;

	for (int i = 0; i < WORD_LIST_MAX; i++)
		argv[2 + i] = words[0];
	strcpy(words[0], "word");
	ck_assert(options_parse(&a, &c, &v, WORD_LIST_MAX + 2, argv));
	ck_assert_uint_eq(v.list.n, WORD_LIST_MAX);
	options_release(&a);
	ck_assert_int_eq(option_set(option_find(table, "words"), &v, "more", NULL), -EINVAL);
}

/* The message about a wrong word is truncated if there are very many choices. */
TEST(many_choices)
{
	static char word[64][16];
	static const char *choices[65];
	const struct option o = { .name = "x", .kind = OPTION_CHOICE, .choices = choices };
	struct error err;
	int value = 0;

	for (int i = 0; i < 64; i++) {
		snprintf(word[i], sizeof word[i], "choice-%02d", i);
		choices[i] = word[i];
	}
	ck_assert_int_eq(option_set(&o, &value, "none", &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.message, "expected choice-00, choice-01"));
	ck_assert_int_eq(option_set(&o, &value, "choice-63", &err), 0);
	ck_assert_int_eq(value, 63);
}

static int n_commands(void)
{
	int n = 0;

	while (commands[n])
		n++;
	return n;
}

/* The tables of all commands keep the rules of options.h. */
TEST_LOOP(tables, n_commands())
{
	const struct command *c = commands[_i];
	size_t n = 0;

	ck_assert_ptr_nonnull(c->operands);
	for (const struct option *o = c->options; o && o->name; o++, n++) {
		ck_assert_ptr_eq(option_find(c->options, o->name), o);
		ck_assert_str_ne(o->name, "help");
		ck_assert(o->letter != 'h');
		ck_assert(strncmp(o->name, "no-", 3) != 0);
		ck_assert_ptr_nonnull(o->help);
		ck_assert_int_eq(o->kind == OPTION_FLAG, o->argument == NULL);
		if (o->kind != OPTION_TEXT)
			ck_assert_int_eq(o->kind == OPTION_CHOICE || o->kind == OPTION_SET ||
					 o->kind == OPTION_MODE, o->choices != NULL);
		for (const struct option *p = o + 1; p->name; p++)
			ck_assert(!o->letter || o->letter != p->letter);
	}
	ck_assert_uint_lt(n, OPTIONS_MAX);
}

static const struct {
	const char *usage;
	int least, most;
} operands[] = {
	{ "", 0, 0 }, { "[REC]", 0, 1 }, { "[A B]", 0, 2 }, { "[TASK] [REASON]", 0, 2 },
	{ "[TASK|METRIC]", 0, 1 }, { "PATH...", 1, INT_MAX }, { "[REC...]", 0, INT_MAX },
	{ "[--] CMD...", 1, INT_MAX }, { "NAME [--] CMD...", 2, INT_MAX },
	{ "-- WORD...", 1, INT_MAX }, { "A... [B] C", 2, INT_MAX },
};

TEST_EACH(usage_limits_operands, operands)
{
	int least, most;

	options_operands(operands[_i].usage, &least, &most);
	ck_assert_int_eq(least, operands[_i].least);
	ck_assert_int_eq(most, operands[_i].most);
}

TEST_MAIN(options);
