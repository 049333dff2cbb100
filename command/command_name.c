/* SPDX-License-Identifier: MIT */
#include "command/command_name.h"

#include "base/array.h"
#include "base/minmax.h"
#include "command/kind.h"
#include "command/shell.h"

#include <string.h>

#define NESTING_MAX 4
#define WORD_MAX 200

/* Is a task called after this program? */
enum called { NONE, PASSED, SHELL };

static enum called called(struct slice program)
{
#define P(name, kind, called, carried) ROW_##called(name)
#define ROW_NONE(name)
#define ROW_PASSED(name) { name, PASSED },
#define ROW_SHELL(name) { name, SHELL },
	static const struct {
		const char *name;
		enum called called;
	} programs[] = {
#include "command/programs.def"
	};

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		if (slice_is(program, programs[i].name))
			return programs[i].called;
	}
	return NONE;
}

/* Words of the shell and programs that only run another one. */
static bool is_passed_over(struct slice word)
{
	if (shell_is_assignment(word) || word.p[0] == '>' || word.p[0] == '<')
		return true;
	return called(shell_base_name(word)) == PASSED;
}

/* Is it more than a temporary file between two passes of a compiler? */
static bool is_lasting(struct slice word)
{
	return word.len && !slice_starts(word, "/tmp/") && !slice_starts(word, "/dev/");
}

/* The words of a simple command that can name a task. */
struct said {
	struct slice program;
	struct slice output;		/* -o, or > */
	struct slice directory;		/* make -C */
	struct slice operand, second;
};

static struct slice value_of(struct slice word, const char *option)
{
	size_t n = strlen(option);

	return (struct slice){ word.p + n, word.len - n };
}

static void take_output(struct said *said, struct slice word)
{
	shell_unquote(&word);
	if (is_lasting(word) && !slice_starts(word, "&"))
		said->output = word;
}

/* The file after ">", in the same word or the next one. */
static void take_redirection(struct said *said, const char *arrow, struct slice word,
			     struct cursor *c)
{
	struct slice to;

	while (arrow < word.p + word.len && *arrow == '>')
		arrow++;
	to = (struct slice){ arrow, (size_t)(word.p + word.len - arrow) };
	if (!to.len && !shell_word(c, &to))
		return;
	if (arrow - 1 == word.p || word.p[0] != '2')
		take_output(said, to);
}

static void take_option(struct said *said, struct slice word, struct cursor *c)
{
	struct slice next;

	if (slice_is(word, "-o") || slice_is(word, "--output") || slice_is(word, "--crate-name")) {
		if (shell_word(c, &next))
			take_output(said, next);
	} else if (slice_starts(word, "-o") && slice_ends(word, ".o")) {
		take_output(said, value_of(word, "-o"));
	} else if (slice_starts(word, "--output=")) {
		take_output(said, value_of(word, "--output="));
	} else if (slice_is(word, "-C") || slice_is(word, "-f") || slice_is(word, "-I") ||
		   slice_is(word, "-x") || slice_is(word, "-MF") || slice_is(word, "-MT") ||
		   slice_is(word, "-MQ") || slice_is(word, "-include") ||
		   slice_is(word, "-dumpbase") || slice_is(word, "-dumpdir") ||
		   slice_is(word, "-imultiarch")) {
		if (shell_word(c, &next) && slice_is(word, "-C"))
			said->directory = next;
	}
}

static void take_word(struct said *said, struct slice word, struct cursor *c)
{
	const char *arrow = shell_begins_quoted(word.p, word.p + word.len)
			    ? NULL : memchr(word.p, '>', word.len);

	if (arrow && (arrow == word.p || (arrow[-1] != '-' && arrow[-1] != '='))) {
		take_redirection(said, arrow, word, c);
	} else if (word.p[0] == '-' && word.len > 1) {
		take_option(said, word, c);
	} else if (word.p[0] == '<') {
		return;
	} else if (!said->operand.len) {
		said->operand = word;
	} else if (!said->second.len) {
		said->second = word;
	}
}

/* The first word that is a program; c has the rest. */
static bool find_program(struct cursor *c, struct slice *program)
{
	struct slice word;
	bool found = false;

	while (shell_word(c, &word)) {
		if (is_passed_over(word)) {
			if (!shell_is_assignment(word) && !strchr("<>", word.p[0])) {
				*program = word;
				found = true;
			}
		} else if (!found || word.p[0] != '-') {
			*program = word;
			return true;
		}
	}
	return found;
}

/* "sh -c text": text. */
static bool find_text(struct cursor c, struct slice program, struct slice *text)
{
	struct slice option;

	return called(shell_base_name(program)) == SHELL && shell_word(&c, &option) &&
	       option.p[0] == '-' && slice_ends(option, "c") && shell_word(&c, text) &&
	       shell_unquote(text);
}

static void add_word(struct buf *b, struct slice word)
{
	shell_unquote(&word);
	buf_add(b, word.p, MIN(word.len, WORD_MAX));
}

static bool is_archive(struct slice word)
{
	shell_unquote(&word);
	return slice_ends(word, ".a");
}

static void add_said(struct buf *b, const struct said *said, const char *kind)
{
	bool makes = strcmp(kind, "make") && strcmp(kind, "test") && strcmp(kind, "shell");

	if (makes && said->output.len) {
		add_word(b, said->output);
		return;
	}
	if (!strcmp(kind, "archive") && is_archive(said->second)) {
		add_word(b, said->second);
		return;
	}
	if (!strcmp(kind, "compile") && said->operand.len) {
		add_word(b, said->operand);
		return;
	}
	add_word(b, shell_base_name(said->program));
	if (said->directory.len || said->operand.len) {
		buf_addc(b, ' ');
		add_word(b, said->directory.len ? said->directory : said->operand);
	}
}

static void add_name(struct buf *b, const char *command, size_t len, unsigned nesting)
{
	struct said said = { .output = { "", 0 } };
	struct slice part, word;
	const char *kind = kind_and_command(command, len, &part);
	struct cursor c;

	cursor_init(&c, part.p, part.len);
	while (cursor_byte(&c, '@') || cursor_byte(&c, '+') || cursor_byte(&c, '-') ||
	       cursor_byte(&c, ' ') || cursor_byte(&c, '(') || cursor_byte(&c, ':'))
		;
	if (!find_program(&c, &said.program))
		return;
	if (nesting < NESTING_MAX && find_text(c, said.program, &word)) {
		add_name(b, word.p, word.len, nesting + 1);
		return;
	}
	while (shell_word(&c, &word))
		take_word(&said, word, &c);
	add_said(b, &said, kind);
}

void command_name_add(struct buf *b, const char *command, size_t len)
{
	add_name(b, command, len, 0);
}
