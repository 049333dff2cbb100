/* SPDX-License-Identifier: MIT */
#include "convert/json_reader.h"

#include "base/buf.h"
#include "base/hex.h"
#include "base/minmax.h"
#include "convert/gunzip.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK 65536
#define WINDOW 131072
#define END (-1)

/* Memory of values: taken piece by piece, given back all at once, and kept for the next part. */

struct chunk {
	struct chunk *next;
	size_t size;
	max_align_t memory[];
};

struct json_memory {
	struct chunk *first, *current;
	size_t used;		/* of current */
	size_t taken;		/* in all */
};

static bool next_chunk(struct json_memory *m, size_t size)
{
	struct chunk **at = m->current ? &m->current->next : &m->first;
	size_t room = MAX(size, CHUNK);

	if (!*at || (*at)->size < size) {
		struct chunk *c = malloc(sizeof *c + room);

		if (!c)
			return false;
		*c = (struct chunk){ *at, room };
		*at = c;
	}
	m->current = *at;
	m->used = 0;
	return true;
}

static void *take(struct json_memory *m, size_t size)
{
	size = (size + sizeof(void *) - 1) & ~(sizeof(void *) - 1);
	m->taken += size;
	if (m->taken > JSON_VALUE_MAX)
		return NULL;
	if ((!m->current || m->current->size - m->used < size) && !next_chunk(m, size))
		return NULL;
	m->used += size;
	return (char *)m->current->memory + m->used - size;
}

static void give_back(struct json_memory *m)
{
	m->current = NULL;
	m->used = m->taken = 0;
}

static void free_memory(struct json_memory *m)
{
	struct chunk *next;

	for (struct chunk *c = m ? m->first : NULL; c; c = next) {
		next = c->next;
		free(c);
	}
	free(m);
}

/*
 * The text: all of it, or a window of a file that always has the next token in one piece. A
 * function that fails sets error, except where the text ends too early.
 */

struct reader {
	const char *p, *end;	/* bytes not used yet */
	uint64_t end_offset;	/* of end, in the text */
	uint64_t line_start;	/* the same, of the line */
	unsigned line;
	struct gunzip *file;	/* NULL: no more than there is */
	struct buf window;
	struct json_memory *memory;
	const struct json_parts *parts;	/* NULL: the document is one value */
	bool in_part;
	const char *path;
	int error;
	struct error *err;
};

static uint64_t offset_of(const struct reader *r)
{
	return r->end_offset - (uint64_t)(r->end - r->p);
}

/* An error at the next byte. Returns false, for its callers to return. */
static bool fail(struct reader *r, const char *message)
{
	uint64_t column = offset_of(r) - r->line_start;

	r->error = error_set(r->err, -EINVAL, r->path, r->line,
			     column < UINT32_MAX ? (unsigned)column + 1 : 0, "%s", message);
	return false;
}

static bool no_memory(struct reader *r)
{
	r->error = error_sys(r->err, -ENOMEM, r->path, "cannot read");
	return false;
}

/* Read more of the file behind the bytes not used yet, which may move. */
static bool refill(struct reader *r)
{
	size_t left = (size_t)(r->end - r->p);
	ssize_t n;

	if (!r->file || r->error)
		return false;
	if (left > JSON_TEXT_MAX)
		return fail(r, "a string or number is longer than 16 MiB");
	if (left && r->p != r->window.data)
		memmove(r->window.data, r->p, left);
	r->window.len = left;
	if (buf_reserve(&r->window, WINDOW))
		return no_memory(r);
	n = gunzip_read(r->file, r->window.data + left, WINDOW, r->err);
	r->p = r->window.data;
	r->end = r->p + left;
	if (n < 0)
		r->error = (int)n;
	if (n <= 0)
		return false;
	r->end += n;
	r->end_offset += (uint64_t)n;
	return true;
}

/* Returns the first byte of the next token, or END. Tokens contain no newlines. */
static int skip_space(struct reader *r)
{
	for (;; r->p++) {
		if (r->p == r->end && !refill(r))
			return END;
		if (*r->p == '\n') {
			r->line++;
			r->line_start = offset_of(r) + 1;
		} else if (*r->p != ' ' && *r->p != '\t' && *r->p != '\r') {
			return (unsigned char)*r->p;
		}
	}
}

static void *take_memory(struct reader *r, size_t size)
{
	void *memory = take(r->memory, size);

	if (!memory && r->memory->taken > JSON_VALUE_MAX)
		fail(r, "a value needs more than 64 MiB of memory");
	else if (!memory)
		no_memory(r);
	return memory;
}

/* Strings */

#define EACH_BYTE(c) (UINT64_C(0x0101010101010101) * (c))
#define BYTES_BELOW(x, c) (((x) - EACH_BYTE(c)) & ~(x) & EACH_BYTE(0x80))

/* The first byte that ends a string, begins an escape or is a control character. Of eight bytes
 * the lowest bit of the mask is exact; those above may be a borrow's. */
static const char *plain_end(const char *p, const char *end)
{
	uint64_t x, mask;

	for (; end - p >= 8; p += 8) {
		memcpy(&x, p, 8);
		x = le64toh(x);
		mask = BYTES_BELOW(x, ' ') | BYTES_BELOW(x ^ EACH_BYTE('"'), 1) |
		       BYTES_BELOW(x ^ EACH_BYTE('\\'), 1);
		if (mask)
			return p + __builtin_ctzll(mask) / 8;
	}
	while (p < end && (unsigned char)*p >= ' ' && *p != '"' && *p != '\\')
		p++;
	return p;
}

/* The length of the next string as written, without its quotes. */
static bool find_string(struct reader *r, size_t *len, bool *escaped)
{
	const char *p;

	*escaped = false;
	for (*len = 0;; *len += 2) {
		while ((p = plain_end(r->p + 1 + *len, r->end)) == r->end) {
			*len = (size_t)(p - r->p) - 1;
			if (!refill(r))
				return false;
		}
		*len = (size_t)(p - r->p) - 1;
		if (*len > JSON_TEXT_MAX)
			return fail(r, "a string or number is longer than 16 MiB");
		if (*p == '"')
			return true;
		if (*p != '\\') {
			r->p = p;
			return fail(r, "not JSON: a control character in a string");
		}
		*escaped = true;
		if (r->end - p < 2 && !refill(r))
			return false;
	}
}

static bool parse_hex(const char *p, const char *end, uint32_t *code)
{
	int high = end - p < 4 ? -1 : hex_byte(p);
	int low = high < 0 ? -1 : hex_byte(p + 2);

	*code = low < 0 ? 0 : (uint32_t)high << 8 | (uint32_t)low;
	return low >= 0;
}

static char *put_utf8(char *to, uint32_t code)
{
	int n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	for (int i = n - 1; i; i--, code >>= 6)
		to[i] = (char)(0x80 | (code & 0x3f));
	to[0] = (char)(n == 1 ? code : (0xf00u >> n & 0xff) | code);
	return to + n;
}

/* Write the character of the escape at *p, which is behind the backslash. Half a pair of
 * surrogates becomes U+FFFD. NULL: not an escape. */
static char *put_escape(char *to, const char **p, const char *end)
{
	static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
	const char *name = memchr(names, **p, sizeof names - 1);
	uint32_t code, low;

	if (name) {
		++*p;
		*to = bytes[name - names];
		return to + 1;
	}
	if (**p != 'u' || !parse_hex(*p + 1, end, &code))
		return NULL;
	*p += 5;
	if (code >> 10 == 0xd800 >> 10 && end - *p >= 6 && !memcmp(*p, "\\u", 2) &&
	    parse_hex(*p + 2, end, &low) && low >> 10 == 0xdc00 >> 10) {
		*p += 6;
		code = 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff);
	}
	return put_utf8(to, code >> 11 == 0xd800 >> 11 ? 0xfffd : code);
}

/* The next token is a string: its text, in memory. NULL on failure. */
static const char *read_string(struct reader *r, size_t *len)
{
	const char *p, *end;
	char *text, *to;
	bool escaped;
	size_t plain;

	if (!find_string(r, len, &escaped))
		return NULL;
	to = text = take_memory(r, *len + 1);
	if (!text)
		return NULL;
	p = r->p + 1;
	end = p + *len;
	for (; escaped && (plain = (size_t)(plain_end(p, end) - p)) < (size_t)(end - p);) {
		memcpy(to, p, plain);
		p += plain + 1;
		to = put_escape(to + plain, &p, end);
		if (!to) {
			r->p = p;
			fail(r, "not JSON: not an escape");
			return NULL;
		}
	}
	memcpy(to, p, (size_t)(end - p));
	to += end - p;
	*to = '\0';
	*len = (size_t)(to - text);
	r->p = end + 1;
	return text;
}

/* Numbers and words */

static const char *digits_end(const char *p, const char *end)
{
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p;
}

/* -? (0 | 1-9 digits) (. digits)? ((e|E) (+|-)? digits)? */
static bool is_number(const char *p, const char *end)
{
	const char *from;

	p += *p == '-';
	from = p;
	p = digits_end(p, end);
	if (p == from || (*from == '0' && p - from > 1))
		return false;
	if (p < end && *p == '.') {
		from = p + 1;
		p = digits_end(from, end);
		if (p == from)
			return false;
	}
	if (p < end && (*p | 0x20) == 'e') {
		from = p + 1;
		from += from < end && (*from == '+' || *from == '-');
		p = digits_end(from, end);
		if (p == from)
			return false;
	}
	return p == end;
}

static bool is_of_number(char c)
{
	return (c >= '0' && c <= '9') || c == '.' || c == '-' || c == 'e' || c == 'E' || c == '+';
}

static const char *read_number(struct reader *r, size_t *len)
{
	bool more = true;
	char *text;

	for (*len = 0; more; *len += more) {
		if (r->p + *len == r->end)
			more = refill(r);
		if (more)
			more = is_of_number(r->p[*len]);
	}
	if (r->error)
		return NULL;
	if (!is_number(r->p, r->p + *len)) {
		if (r->p + *len != r->end)
			fail(r, "not JSON: not a number");
		return NULL;
	}
	text = take_memory(r, *len + 1);
	if (text) {
		memcpy(text, r->p, *len);
		text[*len] = '\0';
		r->p += *len;
	}
	return text;
}

static bool read_word(struct reader *r, const char *word)
{
	for (size_t i = 0; word[i]; i++) {
		if (r->p + i == r->end && !refill(r))
			return false;
		if (r->p[i] != word[i])
			return fail(r, "not JSON: expected a value");
	}
	r->p += strlen(word);
	return true;
}

/* Values */

static bool read_items(struct reader *r, struct json_value *in, unsigned depth);

/* NULL on failure. */
static struct json_value *read_value(struct reader *r, const char *name, unsigned depth)
{
	int c = skip_space(r);
	struct json_value *v = c == END ? NULL : take_memory(r, sizeof *v);
	bool ok;

	if (!v)
		return NULL;
	*v = (struct json_value){ .name = name, .text = "" };
	switch (c) {
	case '"':
		v->type = JSON_TEXT;
		v->text = read_string(r, &v->len);
		ok = v->text;
		break;
	case '{':
	case '[':
		v->type = c == '{' ? JSON_OBJECT : JSON_LIST;
		ok = read_items(r, v, depth);
		break;
	case 'n':
		v->type = JSON_NULL;
		ok = read_word(r, "null");
		break;
	case 't':
		v->type = JSON_TRUE;
		ok = read_word(r, "true");
		break;
	case 'f':
		v->type = JSON_FALSE;
		ok = read_word(r, "false");
		break;
	default:
		v->type = JSON_NUMBER;
		if (c != '-' && (c < '0' || c > '9')) {
			ok = fail(r, "not JSON: expected a value");
			break;
		}
		v->text = read_number(r, &v->len);
		ok = v->text;
	}
	return ok ? v : NULL;
}

static bool read_name(struct reader *r, const char **name)
{
	size_t len;
	int c;

	if (*r->p != '"')
		return fail(r, "not JSON: expected a name in quotes");
	*name = read_string(r, &len);
	c = *name ? skip_space(r) : END;
	if (c != END && c != ':')
		return fail(r, "not JSON: expected ':'");
	r->p += c == ':';
	return c == ':';
}

static bool read_part(struct reader *r, const char *name, unsigned depth)
{
	int c = skip_space(r);
	unsigned line = r->line;
	struct json_value *v;

	if (c == '[' && depth == 1 && name && r->parts->list && !strcmp(name, r->parts->list)) {
		r->in_part = false;
		give_back(r->memory);
		return read_items(r, NULL, depth);
	}
	v = read_value(r, name, depth);
	if (v)
		r->error = r->parts->part(r->parts->context, v, line);
	give_back(r->memory);
	r->in_part = !v;
	return v && !r->error;
}

/*
 * From an opening bracket to behind its closing one: the values become those of in; if it is NULL
 * each is a part. depth is the number of brackets around this one.
 */
static bool read_items(struct reader *r, struct json_value *in, unsigned depth)
{
	char close = *r->p == '{' ? '}' : ']';
	struct json_value **next = in ? &in->first : NULL;
	const char *name = NULL;
	int c;

	if (depth == JSON_DEPTH_MAX)
		return fail(r, "nested deeper than 64 levels");
	r->p++;
	for (bool first = true;; first = false) {
		c = skip_space(r);
		if (c == close && first)
			break;
		if (c == END)
			return false;
		r->in_part |= !in;
		if (close == '}' && !read_name(r, &name))
			return false;
		if (!in && !read_part(r, name, depth + 1))
			return false;
		if (in) {
			*next = read_value(r, name, depth + 1);
			if (!*next)
				return false;
			next = &(*next)->next;
		}
		c = skip_space(r);
		if (c == END)
			return false;
		if (c == close)
			break;
		if (c != ',')
			return fail(r, close == '}' ? "not JSON: expected ',' or '}'" :
				    "not JSON: expected ',' or ']'");
		r->p++;
	}
	r->p++;
	return true;
}

/* Documents */

/* text NULL: read the file. */
static int open_reader(struct reader *r, const char *text, size_t len)
{
	r->p = text ? text : "";
	r->end = r->p + len;
	r->end_offset = len;
	r->memory = calloc(1, sizeof *r->memory);
	if (!r->memory)
		no_memory(r);
	else if (!text)
		r->file = gunzip_open(r->path, &r->error, r->err);
	return r->error;
}

static void close_reader(struct reader *r)
{
	gunzip_close(r->file);
	buf_release(&r->window);
}

static bool at_end(struct reader *r)
{
	return skip_space(r) == END ? !r->error : fail(r, "not JSON: text after the end");
}

static void fail_truncated(struct reader *r, bool empty)
{
	r->p = r->end;
	fail(r, empty ? "no data" : "the JSON text is truncated");
}

int json_read_parts(const char *path, const struct json_parts *parts, enum json_end *end_of,
		    unsigned *line, struct error *err)
{
	struct reader r = { .parts = parts, .path = path, .line = 1, .err = err };
	int c = open_reader(&r, NULL, 0) ? END : skip_space(&r);
	bool whole = false;

	if (c == '[' || c == '{')
		whole = read_items(&r, NULL, 0) && at_end(&r);
	else if (c != END)
		fail(&r, "not JSON: expected a list or an object");
	if (!whole && !r.error && (!end_of || c == END))
		fail_truncated(&r, c == END);
	if (end_of)
		*end_of = whole ? JSON_WHOLE : r.in_part ? JSON_CUT : JSON_OPEN;
	if (line)
		*line = r.line;
	close_reader(&r);
	free_memory(r.memory);
	return r.error;
}

static int read_document(struct json_document *doc, struct reader *r, const char *text, size_t len)
{
	struct json_value *root = NULL;
	bool empty = false;

	if (!open_reader(r, text, len)) {
		empty = skip_space(r) == END;
		root = read_value(r, NULL, 0);
	}
	if ((!root || !at_end(r)) && !r->error)
		fail_truncated(r, empty);
	close_reader(r);
	*doc = (struct json_document){ 0 };
	if (r->error)
		free_memory(r->memory);
	else
		*doc = (struct json_document){ root, r->memory };
	return r->error;
}

int json_read_file(struct json_document *doc, const char *path, struct error *err)
{
	struct reader r = { .path = path, .line = 1, .err = err };

	return read_document(doc, &r, NULL, 0);
}

int json_read_text(struct json_document *doc, const char *text, size_t len,
		   const char *path, unsigned first_line, struct error *err)
{
	struct reader r = { .path = path, .line = first_line, .err = err };

	return read_document(doc, &r, text, len);
}

void json_document_release(struct json_document *doc)
{
	free_memory(doc->memory);
	*doc = (struct json_document){ 0 };
}
