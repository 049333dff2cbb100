/* SPDX-License-Identifier: MIT */
#include "analyse/output_named.h"

#include "analyse/output.h"
#include "base/array.h"
#include "base/hash.h"
#include "base/search.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 4096		/* of a command */
#define FEW_WORDS 64		/* are not sorted */

struct output_word {
	uint64_t hash;		/* of what is behind the last slash */
	struct slice text;
};

struct slice output_named_path(struct slice s)
{
	while (s.len > 2 && s.p[0] == '.' && s.p[1] == '/') {
		s.p += 2;
		s.len -= 2;
	}
	return s;
}

static uint64_t hash_of(struct slice s)
{
	return hash_bytes(0, s.p, s.len);
}

/* Does the path end with the other one: "lib/a.c" and "a.c". */
static bool ends_with(struct slice path, struct slice end)
{
	return path.len > end.len && path.p[path.len - end.len - 1] == '/' &&
		!memcmp(path.p + path.len - end.len, end.p, end.len);
}

void output_add_skeleton(struct buf *b, const char *p, size_t len)
{
	char piece[256];
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		piece[n] = p[i];
		n += !output_is_skipped(p[i]);
		if (n == sizeof piece) {
			buf_add(b, piece, n);
			n = 0;
		}
	}
	buf_add(b, piece, n);
}

static bool has_pattern(struct slice s)
{
	return memchr(s.p, '*', s.len) || memchr(s.p, '?', s.len) || memchr(s.p, '[', s.len);
}

static int word_order(const void *a, const void *b)
{
	const struct output_word *x = a, *y = b;

	return (x->hash > y->hash) - (x->hash < y->hash);
}

static bool add_word(struct output_named *c, struct slice s)
{
	struct output_word *w = array_make_room(c->word, &c->words_room, c->n_words, sizeof *w);

	s = output_named_path(s);
	c->here |= s.len == 1 && *s.p == '.';
	c->compiles |= s.len == 2 && !memcmp(s.p, "-c", 2);
	if (!w || c->n_words >= WORDS_MAX)
		return false;
	c->word = w;
	w += c->n_words++;
	*w = (struct output_word){ hash_of(slice_base(s)), s };
	if (has_pattern(s)) {
		struct output_word first = c->word[c->n_patterns];

		c->word[c->n_patterns++] = *w;
		*w = first;
	}
	return true;
}

/* `echo "  CC a.o"`, and nothing else. */
static bool is_echo(const char *command)
{
	const char *at = command;

	if (!strncmp(at, "/bin/", 5))
		at += 5;
	return !strncmp(at, "echo ", 5) && at[5] != '-' && !at[strcspn(at, ";|&<>`$\n")];
}

void output_named_release(struct output_named *c)
{
	free(c->word);
	buf_release(&c->text);
	buf_release(&c->skeleton);
}

static bool add_words(struct output_named *c, const char *command, size_t len, const char *name)
{
	static const char apart[] = " \t\n\"'`;|&()<>=,";
	size_t name_len = strlen(name);
	const char *text;

	/* both end with a NUL */
	buf_add(&c->text, command, len + 1);
	buf_add(&c->text, name, name_len + 1);
	if (buf_error(&c->text))
		return false;
	text = c->text.data;
	for (const char *p = text; *p;) {
		size_t n = strcspn(p, apart);

		if (n && !add_word(c, (struct slice){ p, n }))
			return false;
		p += n;
		p += strspn(p, apart);
	}
	return !name_len || add_word(c, (struct slice){ text + len + 1, name_len });
}

void output_named_fill(struct output_named *c, const struct recording *rec, uint32_t task)
{
	const struct task *t = &rec->task[task];
	const char *command = recording_command(rec, t);
	size_t len = strlen(command);

	buf_clear(&c->text);
	buf_clear(&c->skeleton);
	*c = (struct output_named){
		.filled = true, .task = task, .text = c->text, .skeleton = c->skeleton, .word = c->word,
		.words_room = c->words_room,
		.unsure = !len || (len > 10 && memmem(command + len - 10, 10, "~#", 2)),
	};
	if (!add_words(c, command, len, t->nameless ? "" : t->name))
		c->unsure = true;
	c->sorted = c->n_words - c->n_patterns > FEW_WORDS;
	if (c->sorted)
		qsort(c->word + c->n_patterns, c->n_words - c->n_patterns, sizeof *c->word, word_order);
	c->echo = !c->unsure && is_echo(c->text.data);
}

const struct buf *output_named_skeleton(struct output_named *c)
{
	if (!c->skeleton.len && !c->unsure)
		output_add_skeleton(&c->skeleton, c->text.data, strlen(c->text.data));
	c->unsure |= buf_error(&c->skeleton) != 0;
	return &c->skeleton;
}

uint64_t output_named_echo(struct output_named *c)
{
	const struct buf *b = output_named_skeleton(c);
	size_t skip = c->text.len && *c->text.data == '/' ? 9 : 4;

	return c->unsure ? 0 : hash_bytes(0, b->data + skip, b->len - skip);
}

static enum naming look_for_word(const struct output_named *c, struct slice path)
{
	uint64_t hash = hash_of(slice_base(path));
	struct search_range s = search_all(c->sorted ? c->n_words - c->n_patterns : 0);
	const struct output_word *word = c->word + c->n_patterns;
	enum naming naming = NOT_NAMED;

	while (search_next(&s))
		search_past(&s, word[s.at].hash < hash);
	for (; s.at < c->n_words - c->n_patterns; s.at++) {
		if (word[s.at].hash != hash && c->sorted)
			break;
		if (word[s.at].hash != hash)
			continue;
		if (slice_equal(word[s.at].text, path))
			return NAMED;
		if (ends_with(word[s.at].text, path) || ends_with(path, word[s.at].text))
			naming = MAY_BE_NAMED;
	}
	return naming;
}

static bool fits_pattern(const struct output_named *c, struct slice path)
{
	char pattern[256], name[256];
	struct slice base = slice_base(path);

	for (size_t i = 0; i < c->n_patterns; i++) {
		struct slice of = slice_base(c->word[i].text);

		if (of.len >= sizeof pattern || base.len >= sizeof name)
			return true;
		memcpy(pattern, of.p, of.len);
		memcpy(name, base.p, base.len);
		pattern[of.len] = name[base.len] = '\0';
		if (!fnmatch(pattern, name, 0))
			return true;
	}
	return false;
}

/* A command such as `cppcheck src` reads all files in it. */
static bool has_directory(const struct output_named *c, struct slice path)
{
	if (c->compiles)
		return false;
	if (c->here)
		return true;
	for (size_t n = path.len; n-- > 1;) {
		if (path.p[n] == '/' && look_for_word(c, (struct slice){ path.p, n }) == NAMED)
			return true;
	}
	return false;
}

enum naming output_naming(const struct output_named *c, struct slice path)
{
	enum naming naming;

	if (c->unsure)
		return MAY_BE_NAMED;
	naming = look_for_word(c, path);
	if (naming != NOT_NAMED)
		return naming;
	return fits_pattern(c, path) || has_directory(c, path) ? MAY_BE_NAMED : NOT_NAMED;
}
