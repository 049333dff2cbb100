/* SPDX-License-Identifier: MIT */
#include "archive/notes_text.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/hex.h"

#include <errno.h>
#include <string.h>

#define SECOND_NS 1000000000

static const char *const kind_word[] = {
	[KNOWN_ACCEPTED] = "accept",
	[KNOWN_ACKNOWLEDGED] = "ack",
};

#define KINDS ARRAY_SIZE(kind_word)
#define EVERY (METRIC_BIT(METRICS) - 1)

/* Blanks at the ends of a text are escaped because the reader skips blanks. */
static void add_escaped(struct buf *out, const char *text, const char *special)
{
	const char *first = text;

	for (; *text; text++) {
		bool outer = *text == ' ' && (text == first || !text[1]);

		if (*text == '\n')
			buf_adds(out, "\\n");
		else if ((unsigned char)*text < ' ' || *text == 0x7f || outer)
			buf_addf(out, "\\x%02x", (unsigned)(unsigned char)*text);
		else if (strchr(special, *text))
			buf_addf(out, "\\%c", *text);
		else
			buf_addc(out, *text);
	}
}

static void add_quoted(struct buf *out, const char *text)
{
	buf_addc(out, '"');
	add_escaped(out, text, "\"\\");
	buf_addc(out, '"');
}

static void add_metrics(struct buf *out, unsigned metrics)
{
	const char *comma = "";

	if ((metrics & EVERY) == EVERY) {
		buf_adds(out, "all");
		return;
	}
	for (enum metric m = 0; m < METRICS; m++) {
		if (!(metrics & METRIC_BIT(m)))
			continue;
		buf_adds(out, comma);
		buf_adds(out, metric_word[m]);
		comma = ",";
	}
}

/* A bracket at its end would be read as a tag. */
static void add_reason(struct buf *out, const char *reason)
{
	size_t n = strlen(reason);
	struct buf text = BUF_PART_OF(out);

	add_escaped(&text, reason, "\\");
	if (n && reason[n - 1] == ']') {
		buf_cut(&text, text.len - 1);
		buf_adds(&text, "\\x5d");
	}
	buf_adds(out, buf_str(&text));
	buf_release(&text);
}

static void add_tag(struct buf *out, const char *name, const char *value)
{
	struct buf text = BUF_PART_OF(out);

	if (!value)
		return;
	add_escaped(&text, value, "\\");
	buf_addf(out, " [%s: ", name);
	for (const char *p = buf_str(&text); *p; p++) {
		if (*p == '[' || *p == ']')
			buf_addf(out, "\\x%02x", *p);
		else
			buf_addc(out, *p);
	}
	buf_addc(out, ']');
	buf_release(&text);
}

void note_line_add(struct buf *out, const struct known *k)
{
	buf_adds(out, kind_word[k->kind]);
	buf_addc(out, ' ');
	add_metrics(out, k->metrics);
	buf_addc(out, ' ');
	if (*k->pattern)
		add_quoted(out, k->pattern);
	else
		buf_adds(out, "total");
	buf_adds(out, " by ");
	add_quoted(out, k->by);
	buf_adds(out, " at ");
	clock_add_iso(out, k->time_s * SECOND_NS);
	buf_adds(out, ": ");
	add_reason(out, k->reason);
	add_tag(out, "owner", k->owner);
	add_tag(out, "bug", k->bug);
	add_tag(out, "fixed by", k->fixed_by);
	add_tag(out, "everywhere", k->everywhere);
	buf_adds(out, k->invalid ? " [invalid]\n" : "\n");
}

/* An invalid escape is kept, because notes can be written by hand. */
static void add_byte(struct buf *out, struct cursor *c)
{
	size_t left = (size_t)(c->end - c->p);
	int byte = left >= 4 && c->p[0] == '\\' && c->p[1] == 'x' ? hex_byte(c->p + 2) : -1;

	if (byte > 0) {
		buf_addc(out, (char)byte);
		c->p += 4;
	} else if (left >= 2 && *c->p == '\\' && c->p[1] && strchr("n\"\\", c->p[1])) {
		buf_addc(out, c->p[1] == 'n' ? '\n' : c->p[1]);
		c->p += 2;
	} else {
		buf_addc(out, *c->p++);
	}
}

/* Returns NULL when out of memory. */
static const char *keep_text(struct arena *texts, struct buf *text)
{
	return buf_error(text) ? NULL : arena_text(texts, buf_str(text), text->len);
}

/* Returns false if there is no quoted text. *text is NULL when out of memory. */
static bool read_quoted(const char **text, struct arena *texts, struct cursor *c)
{
	struct buf b = BUF_INIT;
	bool closed;

	if (!cursor_byte(c, '"'))
		return false;
	while (!cursor_at_end(c) && *c->p != '"')
		add_byte(&b, c);
	closed = cursor_byte(c, '"');
	*text = keep_text(texts, &b);
	buf_release(&b);
	return closed;
}

static bool read_pattern(const char **text, struct arena *texts, struct cursor *c)
{
	if (!cursor_literal(c, "total"))
		return read_quoted(text, texts, c);
	*text = "";
	return true;
}

static bool read_kind(struct known *k, struct cursor *c)
{
	struct slice word;

	if (!cursor_word(c, &word, SIZE_MAX))
		return false;
	for (size_t i = 0; i < KINDS; i++) {
		if (slice_is(word, kind_word[i])) {
			k->kind = (enum known_kind)i;
			return true;
		}
	}
	return false;
}

static bool read_metrics(struct known *k, struct cursor *c)
{
	struct slice list, word;
	struct cursor words;

	if (!cursor_word(c, &list, SIZE_MAX))
		return false;
	k->metrics = slice_is(list, "all") ? EVERY : 0;
	cursor_init(&words, list.p, list.len);
	while (!slice_is(list, "all") && cursor_until(&words, ',', &word)) {
		enum metric m = 0;

		while (m < METRICS && !slice_is(word, metric_word[m]))
			m++;
		if (m == METRICS)
			return false;
		k->metrics |= METRIC_BIT(m);
	}
	return k->metrics;
}

static const char *read_text(struct arena *texts, struct cursor *c)
{
	struct buf b = BUF_INIT;
	const char *text;

	while (!cursor_at_end(c)) {
		if (*c->p == '"')
			buf_addc(&b, *c->p++);
		else
			add_byte(&b, c);
	}
	text = keep_text(texts, &b);
	buf_release(&b);
	return text;
}

/* Takes the last tag from the end of the line. Returns 1, 0 if there is none, or -ENOMEM. */
static int take_tag(struct known *k, struct arena *texts, struct cursor *c)
{
	const struct { const char *name, **value; } tags[] = {
		{ "[owner: ", &k->owner }, { "[bug: ", &k->bug }, { "[fixed by: ", &k->fixed_by },
		{ "[everywhere: ", &k->everywhere },
	};
	const char *from = c->end;
	struct cursor tag;

	if (c->end == c->p || c->end[-1] != ']')
		return 0;
	while (from > c->p && *from != '[')
		from--;
	if (*from != '[' || (from > c->p && from[-1] != ' '))
		return 0;
	cursor_init(&tag, from, (size_t)(c->end - from));
	k->invalid |= cursor_literal(&tag, "[invalid]");
	tag.end--;
	for (size_t i = 0; i < ARRAY_SIZE(tags) && tag.p == from; i++) {
		if (!cursor_literal(&tag, tags[i].name))
			continue;
		*tags[i].value = read_text(texts, &tag);
		if (!*tags[i].value)
			return -ENOMEM;
	}
	if (tag.p == from)
		return 0;
	for (c->end = from; c->end > c->p && c->end[-1] == ' '; c->end--)
		;
	return 1;
}

/* Skips a word and the blanks around it. */
static bool pass_word(struct cursor *c, const char *word)
{
	cursor_blanks(c);
	if (!cursor_literal(c, word))
		return false;
	cursor_blanks(c);
	return true;
}

/* *r: -ENOMEM if a tag could not be kept. */
static bool read_line(int *r, struct known *k, struct arena *texts, struct cursor *c)
{
	if (!read_kind(k, c))
		return false;
	cursor_blanks(c);
	if (!read_metrics(k, c))
		return false;
	cursor_blanks(c);
	if (!read_pattern(&k->pattern, texts, c) || !pass_word(c, "by") ||
	    !read_quoted(&k->by, texts, c) || !pass_word(c, "at") ||
	    !clock_parse_iso(c, &k->time_s) || !cursor_byte(c, 'Z') || !pass_word(c, ":"))
		return false;
	while ((*r = take_tag(k, texts, c)) > 0)
		;
	k->reason = read_text(texts, c);
	return true;
}

int note_line_read(enum note_line *what, struct known *k, struct arena *texts,
		   struct slice line)
{
	struct cursor c;
	int r = 0;

	cursor_init(&c, line.p, line.len);
	while (c.end > c.p && (c.end[-1] == '\r' || c.end[-1] == ' ' || c.end[-1] == '\t'))
		c.end--;
	cursor_blanks(&c);
	*k = (struct known){ 0 };
	*what = NOTE_SAYS_NOTHING;
	if (cursor_at_end(&c) || *c.p == '#')
		return 0;
	*what = read_line(&r, k, texts, &c) ? NOTE_SAYS : NOTE_DAMAGED;
	if (*what == NOTE_SAYS && (!k->pattern || !k->by || !k->reason))
		return -ENOMEM;
	return r;
}

bool note_is_about(const struct known *a, const struct known *b)
{
	return a->kind == b->kind && (a->metrics & EVERY) == (b->metrics & EVERY) &&
	       !strcmp(a->pattern, b->pattern);
}

static bool has_line(struct slice text, struct slice line)
{
	struct slice other;
	struct cursor c;
	bool complete;

	cursor_init(&c, text.p, text.len);
	while (cursor_line(&c, &other, &complete)) {
		if (other.len == line.len && !memcmp(other.p, line.p, line.len))
			return true;
	}
	return false;
}

/* Adds the lines of one side that are in the merged note. */
static void add_lines(struct buf *out, struct slice base, struct slice one, struct slice other,
		      bool only_new)
{
	struct slice line;
	struct cursor c;
	bool complete;

	cursor_init(&c, one.p, one.len);
	while (cursor_line(&c, &line, &complete)) {
		bool in_other = has_line(other, line);

		if (in_other ? only_new : has_line(base, line))
			continue;
		buf_add(out, line.p, line.len);
		buf_addc(out, '\n');
	}
}

void note_merge(struct buf *out, struct slice base, struct slice ours, struct slice theirs)
{
	add_lines(out, base, ours, theirs, false);
	add_lines(out, base, theirs, ours, true);
}
