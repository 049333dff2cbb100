/* SPDX-License-Identifier: MIT */
#include "analyse/message.h"

#include "analyse/shipped_messages.h"
#include "base/array.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PIECES_MAX 24
#define LINE_MAX_BYTES 2000	/* of a line that are looked at */
#define STEPS_MAX 20000		/* to match a line, which may be made to take longest */
#define SHOWN(s) (int)((s).len < 200 ? (s).len : 200), (s).p
#define ENDING ".abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
#define GRAMS 65536		/* hashes of MESSAGE_PLAIN_LEAST bytes */

const char *const message_word[MESSAGE_KINDS] = {
	[MESSAGE_ERROR] = "error", [MESSAGE_WARNING] = "warning", [MESSAGE_REPORT] = "report",
	[MESSAGE_BEFORE] = "before", [MESSAGE_AFTER] = "after", [MESSAGE_CHAIN] = "chain",
};

enum piece_is { PLAIN, FILE_NAME, LINE, COLUMN, MESSAGE, WORD, BLANK, ANY, PIECE_KINDS };

static const char *const piece_word[PIECE_KINDS] = {
	[FILE_NAME] = "file", [LINE] = "line", [COLUMN] = "column", [MESSAGE] = "message", [WORD] = "word",
	[BLANK] = "blank", [ANY] = "any",
};

struct piece {
	enum piece_is is;
	struct slice text;	/* PLAIN: of the template */
};

struct template {
	struct slice tool;
	enum message_is is;
	size_t n;
	struct piece piece[PIECES_MAX];
	struct slice plain;	/* that must be in the line, */
	size_t gram;		/* where in it the bytes are by which it is found */
	uint32_t next;		/* of the same hash, from 1; 0: none */
};

struct message_rules {
	size_t n;
	struct template *template;
	uint32_t first[GRAMS];	/* template of each hash, from 1 */
	uint32_t has[GRAMS / 32];	/* a bit for each hash that has one: it stays in the processor's cache */
};

/* Templates */

/* The last MESSAGE_PLAIN_LEAST bytes as one number, after this one. */
static uint32_t next_bytes(uint32_t bytes, char c)
{
	return bytes >> 8 | (uint32_t)(unsigned char)c << 16;
}

static uint32_t gram_of(uint32_t bytes)
{
	return bytes * UINT32_C(2654435761) >> 16;
}

static int read_name(struct piece *p, struct cursor *c, struct slice template, struct error *err)
{
	const char *end = memchr(c->p, '}', (size_t)(c->end - c->p));
	struct slice name;

	if (!end)
		return error_say(err, -EINVAL, "'%.*s': a brace is not closed", SHOWN(template));
	name = (struct slice){ c->p + 1, (size_t)(end - c->p - 1) };
	c->p = end + 1;
	for (p->is = FILE_NAME; p->is < PIECE_KINDS; p->is++) {
		if (slice_is(name, piece_word[p->is]))
			return 0;
	}
	return error_say(err, -EINVAL, "'%.*s': expected {file}, {line}, {column}, {message}, {word}, {blank} "
			 "or {any}", SHOWN(template));
}

static int read_pieces(struct template *t, struct slice template, struct error *err)
{
	struct cursor c;

	cursor_init(&c, template.p, template.len);
	while (!cursor_at_end(&c)) {
		struct piece *p = &t->piece[t->n];
		const char *brace;

		if (t->n++ == PIECES_MAX)
			return error_say(err, -EINVAL, "'%.*s': expected at most %d pieces", SHOWN(template), PIECES_MAX);
		if (*c.p == '{') {
			if (read_name(p, &c, template, err))
				return -EINVAL;
			continue;
		}
		brace = memchr(c.p, '{', (size_t)(c.end - c.p));
		*p = (struct piece){ PLAIN, { c.p, (size_t)((brace ? brace : c.end) - c.p) } };
		c.p = brace ? brace : c.end;
	}
	return 0;
}

/* How rare these bytes are in lines that are no messages: signs and capitals are. */
static int rareness(const char *p)
{
	int rare = 0;

	for (int i = 0; i < MESSAGE_PLAIN_LEAST; i++)
		rare += p[i] == ' ' ? 1 : islower((unsigned char)p[i]) ? 2 : 4;
	return rare;
}

/* Finds the rarest bytes of a template. */
static bool find_gram(struct template *t)
{
	for (size_t i = 0; i < t->n; i++) {
		struct slice s = t->piece[i].text;

		for (size_t at = 0; t->piece[i].is == PLAIN && at + MESSAGE_PLAIN_LEAST <= s.len; at++) {
			if (t->plain.p && rareness(s.p + at) <= rareness(t->plain.p + t->gram))
				continue;
			t->plain = s;
			t->gram = at;
		}
	}
	return t->plain.p;
}

int message_template_check(const char *template, enum message_is is, struct error *err)
{
	struct template t = { .is = is };
	int r = strchr(template, '\n') ? error_say(err, -EINVAL, "'%.200s': expected one line", template) :
		read_pieces(&t, slice_of(template), err);

	if (!r && is != MESSAGE_AFTER && !find_gram(&t))
		return error_say(err, -EINVAL, "'%.200s': expected at least %d characters of plain text in a row",
				 template, MESSAGE_PLAIN_LEAST);
	return r;
}

/* After the earlier ones. A wrong one was refused where it came from. */
static bool add_template(struct message_rules *m, struct slice tool, enum message_is is, struct slice text)
{
	struct template *t = array_add(&m->template, &m->n, sizeof *t);
	uint32_t *first, gram;

	if (!t)
		return false;
	*t = (struct template){ .tool = tool, .is = is };
	if (read_pieces(t, text, NULL) || (!find_gram(t) && (is != MESSAGE_AFTER || !t->n))) {
		m->n--;
		return true;
	}
	if (is == MESSAGE_AFTER)
		return true;
	gram = gram_of(next_bytes(next_bytes(next_bytes(0, t->plain.p[t->gram]), t->plain.p[t->gram + 1]),
				  t->plain.p[t->gram + 2]));
	for (first = &m->first[gram]; *first; )
		first = &m->template[*first - 1].next;
	*first = (uint32_t)m->n;
	m->has[gram / 32] |= UINT32_C(1) << gram % 32;
	return true;
}

static bool add_lines(struct message_rules *m, const char *lines)
{
	struct cursor c;
	struct slice kind, tool, template;
	enum message_is is;

	cursor_init(&c, lines, strlen(lines));
	while (cursor_until(&c, '\t', &kind) && cursor_until(&c, '\t', &tool) && cursor_until(&c, '\n', &template)) {
		for (is = 0; is < MESSAGE_KINDS && !slice_is(kind, message_word[is]); is++)
			;
		if (is < MESSAGE_KINDS && !add_template(m, tool, is, template))
			return false;
	}
	return true;
}

static struct {
	const char *text, *(*read)(void);
	struct message_rules *rules;
} used;

void message_rules_own(const char *text, const char *(*read)(void))
{
	if (used.rules)
		free(used.rules->template);
	free(used.rules);
	used.rules = NULL;
	used.text = text;
	used.read = read;
}

const struct message_rules *message_rules_used(void)
{
	struct message_rules *m;

	if (used.rules)
		return used.rules;
	m = calloc(1, sizeof *m);
	if (!m)
		return NULL;
	if (!used.text && used.read)
		used.text = used.read();
	if (!add_lines(m, used.text ? used.text : "") || !add_lines(m, shipped_messages)) {
		free(m->template);
		free(m);
		return NULL;
	}
	return used.rules = m;
}

/* Matching */

struct matching {
	const struct template *t;
	const char *end;
	unsigned *steps;	/* of the whole line */
	struct message_found found;
};

static bool match(struct matching *m, size_t i, const char *at);

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool match_number(struct matching *m, size_t i, const char *at)
{
	struct cursor c = { at, m->end, 0 };
	uint64_t n;

	if (!cursor_u64(&c, &n) || !match(m, i + 1, c.p))
		return false;
	*(m->t->piece[i].is == LINE ? &m->found.line : &m->found.column) = n;
	return true;
}

/* Where the text that begins here must end at the latest. */
static const char *text_limit(const struct matching *m, enum piece_is is, const char *at)
{
	const char *to = at;

	if (is == FILE_NAME)
		to = memmem(at, (size_t)(m->end - at), ": ", 2);
	while (is == WORD && to < m->end && !is_blank(*to))
		to++;
	return is == ANY || !to ? m->end : to;
}

/* Text of any length: the shortest that lets the rest fit. */
static bool match_text(struct matching *m, size_t i, const char *at)
{
	const struct piece *p = &m->t->piece[i], *next = i + 1 < m->t->n ? p + 1 : NULL;
	const char *limit = text_limit(m, p->is, at), *to = at;

	if (p->is == FILE_NAME) {
		if (at == limit || is_blank(*at))
			return false;
		to++;
	}
	for (;; to++) {
		if (!next)
			to = limit;
		else if (next->is == PLAIN)
			to = memmem(to, (size_t)(m->end - to), next->text.p, next->text.len);
		if (!to || to > limit)
			return false;
		if (match(m, i + 1, to))
			break;
		if (to == limit)
			return false;
	}
	if (p->is == FILE_NAME)
		m->found.file = (struct slice){ at, (size_t)(to - at) };
	return true;
}

/* It begins here, whatever is behind it. */
static bool match_message(struct matching *m, size_t i, const char *at)
{
	if (at == m->end || is_blank(*at) || (i + 1 < m->t->n && !match(m, i + 1, at)))
		return false;
	m->found.text = (struct slice){ at, (size_t)(m->end - at) };
	return true;
}

/* Does the line fit the pieces from i on? */
static bool match(struct matching *m, size_t i, const char *at)
{
	const struct piece *p = &m->t->piece[i];
	const char *to = at;

	if (i == m->t->n)
		return at == m->end;
	if (++*m->steps > STEPS_MAX)
		return false;
	switch (p->is) {
	case PLAIN:
		return (size_t)(m->end - at) >= p->text.len && !memcmp(at, p->text.p, p->text.len) &&
			match(m, i + 1, at + p->text.len);
	case LINE:
	case COLUMN:
		return match_number(m, i, at);
	case BLANK:
		while (to < m->end && is_blank(*to))
			to++;
		/* alone it is an empty line */
		return (to > at || m->t->n == 1) && match(m, i + 1, to);
	case MESSAGE:
		return match_message(m, i, at);
	default:
		return match_text(m, i, at);
	}
}

static struct slice trimmed(struct slice line)
{
	if (line.len > LINE_MAX_BYTES)
		line.len = LINE_MAX_BYTES;
	while (line.len && isspace((unsigned char)line.p[line.len - 1]))
		line.len--;
	return line;
}

static bool fits(const struct template *t, struct slice line, unsigned *steps, struct message_found *found)
{
	struct matching m = { .t = t, .end = line.p + line.len, .steps = steps,
		.found = { .tool = t->tool, .is = t->is } };

	if (!match(&m, 0, line.p))
		return false;
	/* its ending can be plain text of the template: {file}.go */
	while (m.found.file.len && m.found.file.p + m.found.file.len < m.end &&
	       memchr(ENDING, m.found.file.p[m.found.file.len], sizeof ENDING - 1))
		m.found.file.len++;
	if (!m.found.text.len) {
		m.found.text = line;
		m.found.whole = true;
	}
	*found = m.found;
	return true;
}

/* Is the plain text there of which the gram ends here? */
static bool has_plain(const struct template *t, struct slice line, size_t end)
{
	size_t back = t->gram + MESSAGE_PLAIN_LEAST;

	return end >= back && line.len - (end - back) >= t->plain.len &&
		!memcmp(line.p + end - back, t->plain.p, t->plain.len);
}

/* Of several templates that fit: one of the tool, then the first. */
static bool is_before(const struct template *a, const struct template *b, struct slice tool)
{
	bool of_tool = slice_equal(a->tool, tool);

	if (!b || (tool.len && of_tool != slice_equal(b->tool, tool)))
		return !b || of_tool;
	return a < b;
}

bool message_find(const struct message_rules *m, struct slice tool, struct slice line,
		  struct message_found *found)
{
	const struct template *best = NULL;
	unsigned steps = 0;
	uint32_t bytes = 0;

	line = trimmed(line);
	for (size_t i = 0; i < line.len; i++) {
		uint32_t gram;

		bytes = next_bytes(bytes, line.p[i]);
		gram = gram_of(bytes);
		if (!(m->has[gram / 32] >> gram % 32 & 1))
			continue;
		for (uint32_t k = m->first[gram]; k; k = m->template[k - 1].next) {
			const struct template *t = &m->template[k - 1];

			if (has_plain(t, line, i + 1) && is_before(t, best, tool) && fits(t, line, &steps, found))
				best = t;
		}
	}
	return best;
}

bool message_goes_on(const struct message_rules *m, struct slice tool, bool next, struct slice line,
		     struct message_found *found)
{
	unsigned steps = 0;

	line = trimmed(line);
	for (size_t i = 0; i < m->n; i++) {
		const struct template *t = &m->template[i];
		bool any = t->n == 1 && t->piece[0].is == MESSAGE;

		if (t->is == MESSAGE_AFTER && slice_equal(t->tool, tool) && (next || !any) &&
		    fits(t, line, &steps, found))
			return true;
	}
	return false;
}
