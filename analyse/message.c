/* SPDX-License-Identifier: MIT */
#include "analyse/message.h"

#include "base/array.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PIECES_MAX 24
#define LINE_MAX_BYTES 2000	/* of a line that are looked at */
#define STEPS_MAX 20000		/* to match a line, which may be made to take longest */
#define GRAMS 65536		/* hashes of MESSAGE_PLAIN_LEAST bytes */

const char *const message_word[MESSAGE_KINDS] = {
	[MESSAGE_ERROR] = "error", [MESSAGE_WARNING] = "warning", [MESSAGE_REPORT] = "report",
	[MESSAGE_BEFORE] = "before", [MESSAGE_AFTER] = "after",
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
	const char *tool;
	enum message_is is;
	size_t n;
	struct piece piece[PIECES_MAX];
	uint32_t next;		/* of the same hash, or of the same tool; from 1, 0: none */
};

struct message_rules {
	size_t n;
	struct template *template;
	uint32_t first[GRAMS];	/* template of each hash, from 1 */
	uint8_t has[GRAMS / 8];	/* a bit for each hash that has one: it stays in the processor's cache */
};

static const struct message_rules *(*load)(void);

void message_rules_from(const struct message_rules *(*loader)(void))
{
	load = loader;
}

const struct message_rules *message_rules_used(void)
{
	return load ? load() : NULL;
}

struct message_rules *message_rules_new(void)
{
	return calloc(1, sizeof(struct message_rules));
}

void message_rules_free(struct message_rules *m)
{
	if (m)
		free(m->template);
	free(m);
}

/* Templates */

static uint32_t gram_at(const char *p)
{
	const unsigned char *u = (const unsigned char *)p;

	return (u[0] | (uint32_t)u[1] << 8 | (uint32_t)u[2] << 16) * UINT32_C(2654435761) >> 16;
}

static int read_name(struct piece *p, struct cursor *c, const char *template, struct error *err)
{
	const char *end = memchr(c->p, '}', (size_t)(c->end - c->p));
	struct slice name;

	if (!end)
		return error_say(err, -EINVAL, "'%.200s': a brace is not closed", template);
	name = (struct slice){ c->p + 1, (size_t)(end - c->p - 1) };
	c->p = end + 1;
	for (p->is = FILE_NAME; p->is < PIECE_KINDS; p->is++) {
		if (slice_is(name, piece_word[p->is]))
			return 0;
	}
	return error_say(err, -EINVAL, "'%.200s': expected {file}, {line}, {column}, {message}, {word}, {blank} "
			 "or {any}", template);
}

static int read_pieces(struct template *t, const char *template, struct error *err)
{
	struct cursor c;

	cursor_init(&c, template, strlen(template));
	while (!cursor_at_end(&c)) {
		struct piece *p = &t->piece[t->n];
		const char *brace;

		if (t->n++ == PIECES_MAX)
			return error_say(err, -EINVAL, "'%.200s': expected at most %d pieces", template, PIECES_MAX);
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
		rare += p[i] == ' ' ? 0 : islower((unsigned char)p[i]) ? 2 : 3;
	return rare;
}

/* The rarest bytes of a template, or NULL. */
static const char *find_gram(const struct template *t)
{
	const char *best = NULL;

	for (size_t i = 0; i < t->n; i++) {
		const struct slice *s = &t->piece[i].text;

		for (size_t at = 0; t->piece[i].is == PLAIN && at + MESSAGE_PLAIN_LEAST <= s->len; at++) {
			if (!best || rareness(s->p + at) > rareness(best))
				best = s->p + at;
		}
	}
	return best;
}

int message_rules_add(struct message_rules *m, const char *tool, enum message_is is,
		      const char *template, struct error *err)
{
	struct template read = { .tool = tool, .is = is }, *t;
	int r = read_pieces(&read, template, err);
	const char *gram = r ? NULL : find_gram(&read);
	uint32_t *first;

	if (r)
		return r;
	if (!gram && is != MESSAGE_AFTER)
		return error_say(err, -EINVAL, "'%.200s': expected at least %d characters of plain text in a row",
				 template, MESSAGE_PLAIN_LEAST);
	t = m ? array_add(&m->template, &m->n, sizeof *t) : &read;
	if (!t)
		return error_sys(err, -ENOMEM, NULL, "messages");
	*t = read;
	if (!m || is == MESSAGE_AFTER)
		return 0;
	first = &m->first[gram_at(gram)];
	t->next = *first;
	*first = (uint32_t)m->n;
	m->has[gram_at(gram) / 8] |= (uint8_t)(1 << gram_at(gram) % 8);
	return 0;
}

/* Matching */

struct matching {
	const struct template *t;
	const char *end;
	unsigned steps;
	struct message found;
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

/* Text of any length: the shortest that lets the rest fit. */
static bool match_text(struct matching *m, size_t i, const char *at)
{
	const struct piece *p = &m->t->piece[i], *next = i + 1 < m->t->n ? p + 1 : NULL;
	const char *to = at;

	if (p->is != ANY) {
		if (at == m->end || is_blank(*at))
			return false;
		to++;
	}
	for (;; to++) {
		if (!next)
			to = m->end;
		else if (next->is == PLAIN)
			to = memmem(to, (size_t)(m->end - to), next->text.p, next->text.len);
		if (!to || (p->is == WORD && (memchr(at, ' ', (size_t)(to - at)) ||
					      memchr(at, '\t', (size_t)(to - at)))))
			return false;
		if (match(m, i + 1, to))
			break;
		if (to == m->end)
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
	if (++m->steps > STEPS_MAX)
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

static bool fits(const struct template *t, struct slice line, struct message *found)
{
	struct matching m = { .t = t, .end = line.p + line.len, .found = { .tool = t->tool, .is = t->is } };

	if (!match(&m, 0, line.p))
		return false;
	if (!m.found.text.len) {
		m.found.text = line;
		m.found.whole = true;
	}
	*found = m.found;
	return true;
}

/* A template's rank: by what it is, then by its place. */
static bool is_before(const struct template *a, const struct template *b)
{
	return a->is != b->is ? a->is < b->is : a < b;
}

bool message_find(const struct message_rules *m, struct slice line, struct message *found)
{
	const struct template *best = NULL;

	line = trimmed(line);
	for (size_t i = 0; i + MESSAGE_PLAIN_LEAST <= line.len; i++) {
		uint32_t gram = gram_at(line.p + i);

		if (!(m->has[gram / 8] & 1 << gram % 8))
			continue;
		for (uint32_t k = m->first[gram]; k; k = m->template[k - 1].next) {
			const struct template *t = &m->template[k - 1];

			if ((!best || is_before(t, best)) && fits(t, line, found))
				best = t;
		}
	}
	return best;
}

bool message_goes_on(const struct message_rules *m, const char *tool, struct slice line,
		     struct message *found)
{
	line = trimmed(line);
	for (size_t i = 0; i < m->n; i++) {
		const struct template *t = &m->template[i];

		if (t->is == MESSAGE_AFTER && !strcmp(t->tool, tool) && fits(t, line, found))
			return true;
	}
	return false;
}
