/* SPDX-License-Identifier: MIT */
#include "cli/options.h"

#include "base/array.h"
#include "base/cursor.h"
#include "base/nearest.h"
#include "base/pattern.h"
#include "cli/command.h"
#include "cli/moved.h"
#include "command/redact.h"
#include "launch/notice.h"
#include "report/amount.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 80		/* of the usage */

struct options_text {
	struct options_text *next;
	char text[];
};

const struct option *option_find(const struct option *table, const char *name)
{
	for (; table && table->name; table++) {
		if (!strcmp(table->name, name))
			return table;
	}
	return NULL;
}

const char *option_key(const struct option *o)
{
	return o->key ? o->key : o->name;
}

bool options_given(const struct args *a, const char *name)
{
	const struct option *o = option_find(a->table, name);

	return o && a->given & (UINT64_C(1) << (o - a->table));
}

bool options_chosen(const struct args *a, const char *name)
{
	const struct option *o = option_find(a->table, name);

	return o && (a->given | a->configured) & (UINT64_C(1) << (o - a->table));
}

const char *options_keep(struct args *a, const char *text)
{
	size_t n = strlen(text) + 1;
	struct options_text *t = malloc(sizeof *t + n);

	if (!t)
		return NULL;
	memcpy(t->text, text, n);
	t->next = a->texts;
	a->texts = t;
	return t->text;
}

void options_release(struct args *a)
{
	while (a->texts) {
		struct options_text *next = a->texts->next;

		free(a->texts);
		a->texts = next;
	}
}

/* One value */

static int set_flag(bool *value, const char *text, struct error *err)
{
	static const char *const words[] = { "false", "true", "no", "yes", "off", "on" };

	if (!text) {
		*value = true;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!strcmp(text, words[i])) {
			*value = i % 2;
			return 0;
		}
	}
	return error_say(err, -EINVAL, "expected true or false, not '%s'", text);
}

static int set_text(const char **value, const char *text, struct error *err)
{
	if (!*text)
		return error_say(err, -EINVAL, "expected a text, not an empty value");
	*value = text;
	return 0;
}

static int set_switch(const char **value, const char *text, struct error *err)
{
	struct error unused;
	bool on = false;

	if (!set_flag(&on, text, &unused)) {
		*value = on ? "" : NULL;
		return 0;
	}
	return set_text(value, text, err);
}

static int set_number(const struct option *o, int64_t *value, const char *text,
		      struct error *err)
{
	int64_t n;

	if (!cursor_slice_i64(slice_of(text), &n) || n < o->min || n > o->max)
		return error_say(err, -EINVAL, "expected a whole number from %lld to %lld, not "
				 "'%s'", (long long)o->min, (long long)o->max, text);
	*value = n;
	return 0;
}

static int set_choice(const struct option *o, int *value, const char *text,
		      struct error *err)
{
	char words[256] = "";
	size_t len = 0;

	for (int i = 0; o->choices[i]; i++) {
		if (!strcmp(text, o->choices[i])) {
			*value = i;
			return 0;
		}
		if (len < sizeof words)
			len += (size_t)snprintf(words + len, sizeof words - len, "%s%s",
						!i ? "" : o->choices[i + 1] ? ", " : " or ",
						o->choices[i]);
	}
	return error_say(err, -EINVAL, "expected %s, not '%s'", words, text);
}

/* The words between commas, each a choice. */
static int set_set(const struct option *o, unsigned *value, const char *text,
		   struct error *err)
{
	unsigned set = *value;
	char word[64];
	size_t len;
	int choice;

	do {
		len = strcspn(text, ",");
		snprintf(word, sizeof word, "%.*s", (int)len, text);
		if (set_choice(o, &choice, word, err))
			return -EINVAL;
		set |= 1U << choice;
		text += len;
	} while (*text++);
	*value = set;
	return 0;
}

static int set_share(const struct option *o, double *value, const char *text,
		     struct error *err)
{
	double share;

	if (!amount_read_share(&share, text))
		return error_say(err, -EINVAL, "expected a share such as 5%% or 0.05, not '%s'",
				 text);
	if (o->max && share > (double)o->max)
		return error_say(err, -EINVAL, "expected a share of at most %lld%%, not '%s'",
				 100 * (long long)o->max, text);
	*value = share;
	return 0;
}

static int set_amount(struct amount *value, const char *text, struct error *err)
{
	if (!amount_read(value, text))
		return error_say(err, -EINVAL, "expected an amount such as 2s, 500ms, 128KiB or "
				 "16MiB, not '%s'", text);
	return 0;
}

static int set_time(int64_t *us, const char *text, struct error *err)
{
	if (!amount_read_time(us, text))
		return error_say(err, -EINVAL, "expected a time such as 90s, 500ms or 5min, not "
				 "'%s'", text);
	return 0;
}

static int add_item(struct word_list *list, const char *text, struct error *err)
{
	if (list->n == WORD_LIST_MAX)
		return error_say(err, -EINVAL, "expected at most %d values", WORD_LIST_MAX);
	if (set_text(&list->item[list->n], text, err))
		return -EINVAL;
	list->n++;
	return 0;
}

static int add_secret(struct word_list *list, const char *text, struct error *err)
{
	const char *why = redact_why_not(text);

	if (why)
		return error_say(err, -EINVAL, "%s, not '%.100s'", why, text);
	if (list->n == REDACT_PATTERNS_MAX)
		return error_say(err, -EINVAL, "expected at most %d patterns", REDACT_PATTERNS_MAX);
	return add_item(list, text, err);
}

static int set_regex(const char **value, const char *text, struct error *err)
{
	struct pattern pattern;
	int r = pattern_init(&pattern, text, err);

	pattern_release(&pattern);
	*value = text;
	return r == -ENOMEM ? error_sys(err, r, NULL, "a regular expression") : r;
}

static int add_regex(struct word_list *list, const char *text, struct error *err)
{
	const char *unused;
	int r = set_regex(&unused, text, err);

	return r ? r : add_item(list, text, err);
}

int option_set(const struct option *o, void *values, const char *text, struct error *err)
{
	void *value = (char *)values + o->offset;

	switch (o->kind) {
	case OPTION_FLAG:
		return set_flag(value, text, err);
	case OPTION_NUMBER:
		return set_number(o, value, text, err);
	case OPTION_SWITCH:
		return set_switch(value, text, err);
	case OPTION_MODE:
		return set_choice(o, value, text ? text : o->choices[1], err);
	case OPTION_CHOICE:
		return set_choice(o, value, text, err);
	case OPTION_SET:
		return set_set(o, value, text, err);
	case OPTION_SHARE:
		return set_share(o, value, text, err);
	case OPTION_AMOUNT:
		return set_amount(value, text, err);
	case OPTION_TIME:
		return set_time(value, text, err);
	case OPTION_REGEX:
		return set_regex(value, text, err);
	case OPTION_REGEXES:
		return add_regex(value, text, err);
	case OPTION_PATTERN:
		*(const char **)value = text;
		return 0;
	case OPTION_SECRETS:
		return add_secret(value, text, err);
	case OPTION_LIST:
	case OPTION_WORDS:
		return add_item(value, text, err);
	case OPTION_TEXT:
	case OPTION_PATH:
	case OPTION_REPO:
		return set_text(value, text, err);
	case OPTION_MAP:
	case OPTION_MAPS:
	case OPTION_NAMED:
		break;
	}
	return -EINVAL;
}

/* The command line */

struct parser {
	struct args *args;
	const struct command *command;
	void *values;
	int i, argc;		/* argv[i] is parsed next */
	char **argv;
};

__attribute__((format(printf, 2, 3)))
static bool misuse(struct parser *p, const char *format, ...)
{
	char message[700];
	va_list ap;

	va_start(ap, format);
	vsnprintf(message, sizeof message, format, ap);
	va_end(ap);
	notice("%s: %s", p->command->name, message);
	p->args->status = EXIT_MISUSE;
	return false;
}

static bool unknown_option(struct parser *p, const char *word, size_t len)
{
	const struct option *table = p->command->options, *now;
	const char *names[OPTIONS_MAX + 2], *near, *part;
	char name[80];
	bool no = len > 4 && !strncmp(word, "no-", 3);
	size_t n = 0;

	if (!no)
		names[n++] = "help";
	for (; table && table->name; table++) {
		if (!no || option_has_opposite(table))
			names[n++] = table->name;
	}
	names[n] = NULL;
	snprintf(name, sizeof name, "%.*s", (int)len, word);
	now = moved_option(p->command->options, name);
	part = moved_part(p->command->name, name);
	if (part)
		return misuse(p, "unknown option '%s%s'; use: buildbeat %s", len > 1 ? "--" : "-", name, part);
	if (now && len == 1 && now->letter)
		return misuse(p, "unknown option '-%s'; use -%c %s", name, now->letter, now->argument);
	if (now)
		return misuse(p, "unknown option '%s%s'; use --%s%s%s", len > 1 ? "--" : "-", name, now->name,
			      now->argument ? " " : "", now->argument ? now->argument : "");
	near = len > 1 ? nearest_word(no ? name + 3 : name, names) : NULL;
	if (near)
		return misuse(p, "unknown option '%s%s'; did you mean '--%s%s'?",
			      len > 1 ? "--" : "-", name, no ? "no-" : "", near);
	if (p->command->runs)
		return misuse(p, "unknown option '%s%s'; see: buildbeat help %s; options of CMD "
			      "follow it", len > 1 ? "--" : "-", name, p->command->name);
	return misuse(p, "unknown option '%s%s'; see: buildbeat help %s",
		      len > 1 ? "--" : "-", name, p->command->name);
}

static bool apply(struct parser *p, const struct option *o, const char *value)
{
	struct error err;

	p->args->given |= UINT64_C(1) << (o - p->command->options);
	if (option_set(o, p->values, value, &err))
		return misuse(p, "option '--%s': %s", o->name, err.message);
	return true;
}

/* The further values of an option that takes several words. */
static bool apply_words(struct parser *p, const struct option *o)
{
	while (o->kind == OPTION_WORDS && p->i + 1 < p->argc && p->argv[p->i + 1][0] != '-') {
		if (!apply(p, o, p->argv[++p->i]))
			return false;
	}
	return true;
}

/* The value is the next word. */
static bool apply_next(struct parser *p, const struct option *o)
{
	if (p->i + 1 < p->argc)
		return apply(p, o, p->argv[++p->i]) && apply_words(p, o);
	return misuse(p, "option '--%s' needs a value: %s", o->name, o->argument);
}

static bool help_asked(struct parser *p)
{
	options_print_help(p->command);
	p->args->status = EXIT_GOOD;
	return false;
}

static bool parse_long(struct parser *p, const char *word)
{
	const struct option *table = p->command->options;
	size_t len = strcspn(word, "=");
	const char *value = word[len] ? word + len + 1 : NULL;
	const struct option *o;
	char name[64];

	snprintf(name, sizeof name, "%.*s", (int)len, word);
	if (!strcmp(name, "help") && !value)
		return help_asked(p);
	o = option_find(table, name);
	if (!o && !strncmp(name, "no-", 3)) {
		o = option_find(table, name + 3);
		if (o && option_has_opposite(o) && !value)
			return apply(p, o, "false");
		o = NULL;
	}
	if (!o)
		return unknown_option(p, word, len);
	if (o->kind == OPTION_FLAG && value)
		return misuse(p, "option '--%s' takes no value", name);
	if (option_stands_alone(o) || value)
		return apply(p, o, value) && apply_words(p, o);
	return apply_next(p, o);
}

/* -abc, -ofile, -o file */
static bool parse_short(struct parser *p, const char *letters)
{
	for (; *letters; letters++) {
		const struct option *o = p->command->options;

		if (*letters == 'h')
			return help_asked(p);
		while (o && o->name && o->letter != *letters)
			o++;
		if (!o || !o->name)
			return unknown_option(p, letters, 1);
		if (!option_stands_alone(o))
			return !letters[1] ? apply_next(p, o) :
			       apply(p, o, letters + 1) && apply_words(p, o);
		if (!apply(p, o, NULL))
			return false;
	}
	return true;
}

static bool parse_words(struct parser *p)
{
	struct args *a = p->args;
	bool options = true;

	a->operand = p->argv + 1;
	for (p->i = 1; p->i < p->argc; p->i++) {
		char *word = p->argv[p->i];
		bool ok = true;

		if (options && !strcmp(word, "--"))
			options = false;
		else if (options && word[0] == '-' && word[1] == '-')
			ok = parse_long(p, word + 2);
		else if (options && word[0] == '-' && word[1])
			ok = parse_short(p, word + 1);
		else {
			a->operand[a->n++] = word;
			if (p->command->runs)
				options = false;
		}
		if (!ok)
			return false;
	}
	a->operand[a->n] = NULL;
	return true;
}

void options_operands(const char *usage, int *least, int *most)
{
	bool optional = false;

	*least = *most = 0;
	for (const char *word = usage, *end; *word; word = end + strspn(end, " ")) {
		end = word + strcspn(word, " ");
		optional |= *word == '[';
		if (word[*word == '['] != '-') {
			*least += !optional;
			if (memmem(word, (size_t)(end - word), "...", 3))
				*most = INT_MAX;
			*most += *most < INT_MAX;
		}
		optional &= end[-1] != ']';
	}
}

bool options_parse(struct args *a, const struct command *c, void *values, int argc,
		   char **argv)
{
	struct parser p = { a, c, values, 0, argc, argv };

	int least, most;

	*a = (struct args){ .command = c, .table = c->options };
	if (!parse_words(&p))
		return false;
	options_operands(c->operands, &least, &most);
	if (a->n < least && c->runs)
		return misuse(&p, "too few operands; expected: %s, such as: buildbeat %s %.*s-- make",
			      c->operands, c->name, (int)strcspn(c->operands, "["), c->operands);
	if (a->n < least)
		return misuse(&p, "too few operands; expected: %s; see: buildbeat help %s",
			      c->operands, c->name);
	if (a->n > most)
		return misuse(&p, "too many operands: '%.200s'", a->operand[most]);
	return true;
}

/* The usage */

/* Returns the new column; a word that does not fit goes to the next line. */
static int print_word(const char *word, int column, int indent)
{
	int n = (int)strlen(word) + 1;

	if (column + n > WIDTH) {
		printf("\n%*s", indent, "");
		column = indent;
	}
	printf(" %s", word);
	return column + n;
}

static void print_usage(const struct command *c)
{
	int indent = printf("usage: buildbeat %s", c->name), column = indent;
	char word[80];

	for (const struct option *o = c->options; o && o->name; o++) {
		const char *space = o->argument ? " " : "";
		const char *argument = o->argument ? o->argument : "";

		if (o->argument && option_stands_alone(o))
			snprintf(word, sizeof word, "[--%s[=%s]]", o->name, argument);
		else if (o->letter)
			snprintf(word, sizeof word, "[-%c%s%s]", o->letter, space, argument);
		else
			snprintf(word, sizeof word, "[--%s%s%s]", o->name, space, argument);
		column = print_word(word, column, indent);
	}
	if (*c->operands)
		print_word(c->operands, column, indent);
	putchar('\n');
}

static void print_option(const struct option *o)
{
	char left[80];
	int n = o->letter ? snprintf(left, sizeof left, "-%c, ", o->letter)
			  : snprintf(left, sizeof left, "    ");

	snprintf(left + n, sizeof left - (size_t)n, o->argument && option_stands_alone(o) ? "--%s%s%s]" : "--%s%s%s",
		 o->name, o->argument && option_stands_alone(o) ? "[=" : o->argument ? " " : "",
		 o->argument ? o->argument : "");
	printf("  %-26s %s\n", left, o->help);
}

static void print_parts(const struct command *c)
{
	bool any = false;

	for (size_t i = 0; commands[i]; i++) {
		if (!command_is_part(commands[i], c))
			continue;
		printf("%s  %-26s %s\n", any ? "" : "\nThe commands are:\n", commands[i]->name, commands[i]->summary);
		any = true;
	}
}

void options_print_help(const struct command *c)
{
	print_usage(c);
	printf("\n%s.\n\n", c->summary);
	for (const struct option *o = c->options; o && o->name; o++)
		print_option(o);
	printf("  %-26s %s\n", "-h, --help", "print this help");
	print_parts(c);
	if (c->hidden || !strcmp(c->name, "help"))	/* described there */
		printf("\nSee buildbeat(1).\n");
	else
		printf("\nSee buildbeat-%.*s(1).\n", (int)strcspn(c->name, " "), c->name);
}
