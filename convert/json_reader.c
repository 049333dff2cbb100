/* SPDX-License-Identifier: MIT */
#include "convert/json_reader.h"

#include "convert/gunzip.h"

#include <errno.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#define CHUNK 65536
#define READ_SIZE 131072

/* Memory of values: taken piece by piece, given back all at once, kept for the next. */

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

static void *take(struct json_memory *m, size_t size)
{
	struct chunk **at = m->current ? &m->current->next : &m->first;

	size = (size + sizeof(void *) - 1) & ~(sizeof(void *) - 1);
	m->taken += size;
	if (m->taken > JSON_VALUE_MAX)
		return NULL;
	if (!m->current || m->current->size - m->used < size) {
		size_t room = size > CHUNK ? size : CHUNK;

		if (!*at || (*at)->size < size) {
			struct chunk *c = malloc(sizeof *c + room);

			if (!c)
				return NULL;
			*c = (struct chunk){ *at, room };
			*at = c;
		}
		m->current = *at;
		m->used = 0;
	}
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

/* The reader */

/* In front of each block libyajl has: it does not look at what it gets. */
struct yajl_block {
	struct yajl_block *prev, *next;
	max_align_t memory[];
};

struct reader {
	const struct json_parts *parts;	/* NULL: the document is the only one */
	struct json_memory *memory;
	struct json_value *root;
	struct json_value *open[JSON_DEPTH_MAX];	/* those of the part */
	struct json_value *last[JSON_DEPTH_MAX];	/* in each of them */
	unsigned depth;
	unsigned part_depth;	/* values that begin there are parts */
	bool begun;
	const char *name;	/* of the member to come */
	unsigned part_line;
	/* where it is */
	const char *path;
	const char *counted;	/* lines are counted up to here */
	const char *line_start;	/* NULL: before what is in memory */
	const char *text;
	size_t before_line;	/* bytes of the line in front of text */
	unsigned line;
	int error;
	struct error *err;
	/* libyajl's */
	yajl_handle yajl;
	size_t largest;		/* it asked for */
	jmp_buf no_memory;
	struct yajl_block blocks;	/* head of a ring */
};

static void count_lines(struct reader *r, const char *end)
{
	const char *eol;

	while (r->counted < end && (eol = memchr(r->counted, '\n', (size_t)(end - r->counted)))) {
		r->line++;
		r->counted = r->line_start = eol + 1;
	}
	if (r->counted < end)
		r->counted = end;
}

static int fail(struct reader *r, const char *end, const char *message)
{
	size_t column;

	count_lines(r, end);
	column = r->line_start ? (size_t)(end - r->line_start) : r->before_line + (size_t)(end - r->text);
	r->error = error_set(r->err, -EINVAL, r->path, r->line,
			     column < UINT32_MAX ? (unsigned)column + 1 : 0, "%s", message);
	return r->error;
}

static const char *here(struct reader *r)
{
	return r->text + yajl_get_bytes_consumed(r->yajl);
}

static int stop_full(struct reader *r)
{
	if (r->memory->taken > JSON_VALUE_MAX)
		fail(r, here(r), "one value takes more memory than it may");
	else
		r->error = error_sys(r->err, -ENOMEM, r->path, "cannot read");
	return 0;
}

static const char *keep_text(struct reader *r, const char *text, size_t len)
{
	char *copy = take(r->memory, len + 1);

	if (!copy)
		return NULL;
	memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

static int give_part(struct reader *r, struct json_value *value)
{
	if (!r->parts) {
		r->root = value;
		return 1;
	}
	r->error = r->parts->part(r->parts->context, value, r->part_line);
	give_back(r->memory);
	return !r->error;
}

/* A value of the part, linked to where it belongs. NULL: the reading stops. */
static struct json_value *add_value(struct reader *r, enum json_type type, const char *text,
				    size_t len)
{
	struct json_value *value = take(r->memory, sizeof *value);
	unsigned above = r->depth - 1;

	if (value)
		*value = (struct json_value){ type, r->name, "", len, NULL, NULL };
	if (value && text)
		value->text = keep_text(r, text, len);
	if (!value || !value->text) {
		stop_full(r);
		return NULL;
	}
	r->name = NULL;
	if (r->depth == r->part_depth) {
		if (r->parts)
			count_lines(r, here(r));
		r->part_line = r->line;
	} else if (r->last[above]) {
		r->last[above] = r->last[above]->next = value;
	} else {
		r->last[above] = r->open[above]->first = value;
	}
	return value;
}

static int scalar(struct reader *r, enum json_type type, const char *text, size_t len)
{
	struct json_value *value;

	if (r->parts && !r->depth) {
		fail(r, here(r), "neither a list nor an object");
		return 0;
	}
	r->begun = true;
	value = add_value(r, type, text, len);
	return value && (r->depth != r->part_depth || give_part(r, value));
}

static int on_null(void *context)
{
	return scalar(context, JSON_NULL, NULL, 0);
}

static int on_bool(void *context, int yes)
{
	return scalar(context, yes ? JSON_TRUE : JSON_FALSE, NULL, 0);
}

static int on_number(void *context, const char *text, size_t len)
{
	return scalar(context, JSON_NUMBER, text, len);
}

static int on_text(void *context, const unsigned char *text, size_t len)
{
	return scalar(context, JSON_TEXT, (const char *)text, len);
}

static int on_name(void *context, const unsigned char *text, size_t len)
{
	struct reader *r = context;

	r->name = keep_text(r, (const char *)text, len);
	return r->name ? 1 : stop_full(r);
}

/* What holds the parts is no value itself. */
static bool holds_parts(struct reader *r, enum json_type type)
{
	if (!r->parts || r->depth != r->part_depth)
		return false;
	if (!r->depth)
		return true;
	return type == JSON_LIST && r->name && r->parts->list && !strcmp(r->name, r->parts->list);
}

static int begin(struct reader *r, enum json_type type)
{
	struct json_value *value;

	if (r->depth == JSON_DEPTH_MAX) {
		fail(r, here(r), "nested too deep");
		return 0;
	}
	r->begun = true;
	if (holds_parts(r, type)) {
		r->part_depth = ++r->depth;
		r->name = NULL;
		give_back(r->memory);
		return 1;
	}
	value = add_value(r, type, NULL, 0);
	if (!value)
		return 0;
	r->open[r->depth] = value;
	r->last[r->depth++] = NULL;
	return 1;
}

static int end(struct reader *r)
{
	r->depth--;
	if (r->depth == r->part_depth)
		return give_part(r, r->open[r->depth]);
	if (r->depth < r->part_depth)
		r->part_depth = r->depth;
	return 1;
}

static int on_object(void *context)
{
	return begin(context, JSON_OBJECT);
}

static int on_list(void *context)
{
	return begin(context, JSON_LIST);
}

static int on_end(void *context)
{
	return end(context);
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_null, .yajl_boolean = on_bool, .yajl_number = on_number,
	.yajl_string = on_text, .yajl_start_map = on_object, .yajl_map_key = on_name,
	.yajl_end_map = on_end, .yajl_start_array = on_list, .yajl_end_array = on_end,
};

/*
 * libyajl does not ask whether it got the memory it wanted: when it does not, we
 * leave it by a jump. All it has are our blocks, and they are freed together.
 */

static void unlink_block(struct yajl_block *b)
{
	b->prev->next = b->next;
	b->next->prev = b->prev;
}

static void link_block(struct reader *r, struct yajl_block *b)
{
	b->prev = &r->blocks;
	b->next = r->blocks.next;
	b->next->prev = r->blocks.next = b;
}

static struct yajl_block *block_of(void *memory)
{
	return (struct yajl_block *)((char *)memory - offsetof(struct yajl_block, memory));
}

static void *yajl_resize(void *context, void *memory, size_t size)
{
	struct reader *r = context;
	struct yajl_block *old = memory ? block_of(memory) : NULL, *b;

	if (size > r->largest)
		r->largest = size;
	if (old)
		unlink_block(old);
	b = size <= JSON_TEXT_MAX ? realloc(old, sizeof *b + size) : NULL;
	if (b)
		link_block(r, b);
	else if (old)
		link_block(r, old);
	if (!b)
		longjmp(r->no_memory, 1);
	return b->memory;
}

static void *yajl_take(void *context, size_t size)
{
	return yajl_resize(context, NULL, size);
}

static void yajl_give(void *context, void *memory)
{
	struct yajl_block *b = memory ? block_of(memory) : NULL;

	(void)context;
	if (!b)
		return;
	unlink_block(b);
	free(b);
}

static void free_blocks(struct reader *r)
{
	struct yajl_block *next;

	for (struct yajl_block *b = r->blocks.next; b != &r->blocks; b = next) {
		next = b->next;
		free(b);
	}
}

static int no_memory(struct reader *r)
{
	if (r->largest > JSON_TEXT_MAX)
		return fail(r, r->yajl ? here(r) : r->text, "a text is too long");
	r->error = error_sys(r->err, -ENOMEM, r->path, "cannot read");
	return r->error;
}

static int open_reader(struct reader *r)
{
	yajl_alloc_funcs memory = { yajl_take, yajl_resize, yajl_give, r };

	r->blocks.prev = r->blocks.next = &r->blocks;
	r->memory = calloc(1, sizeof *r->memory);
	if (!r->memory || setjmp(r->no_memory))
		return no_memory(r);
	r->yajl = yajl_alloc(&callbacks, &memory, r);
	yajl_config(r->yajl, yajl_dont_validate_strings, 1);
	return 0;
}

static void close_reader(struct reader *r)
{
	free_blocks(r);
	if (!r->root)
		free_memory(r->memory);
}

/* libyajl's word for what is wrong, without its picture of the place. */
static int bad_text(struct reader *r)
{
	char *said = (char *)yajl_get_error(r->yajl, 0, NULL, 0);
	const char *colon = strchr(said, ':');
	const char *why = colon ? colon + 1 + strspn(colon + 1, " ") : said;
	char message[128];

	snprintf(message, sizeof message, "not JSON: %.*s", (int)strcspn(why, ".\n"), why);
	yajl_free_error(r->yajl, (unsigned char *)said);
	return fail(r, here(r), message);
}

static int feed(struct reader *r, const char *text, size_t len)
{
	r->line_start = r->text ? NULL : text;
	r->text = r->counted = text;
	if (setjmp(r->no_memory))
		return no_memory(r);
	switch (yajl_parse(r->yajl, (const unsigned char *)text, len)) {
	case yajl_status_ok:
		break;
	case yajl_status_client_canceled:
		return r->error;
	default:
		return bad_text(r);
	}
	count_lines(r, text + len);
	r->before_line = r->line_start ? (size_t)(text + len - r->line_start) :
			 r->before_line + len;
	return 0;
}

/* Everything was fed: is the document complete? */
static bool complete(struct reader *r)
{
	r->text = r->counted = "";
	r->line_start = NULL;
	if (setjmp(r->no_memory)) {
		no_memory(r);
		return false;
	}
	return yajl_complete_parse(r->yajl) == yajl_status_ok;
}

static int cut_short(struct reader *r)
{
	return fail(r, r->text, r->begun ? "ends in the middle" : "nothing is in it");
}

static int feed_file(struct reader *r, struct gunzip *g)
{
	char *chunk = malloc(READ_SIZE);
	ssize_t n = chunk ? 1 : error_sys(r->err, -ENOMEM, r->path, "cannot read");
	int error = 0;

	while (n > 0 && !error) {
		n = gunzip_read(g, chunk, READ_SIZE, r->err);
		if (n > 0)
			error = feed(r, chunk, (size_t)n);
	}
	r->text = r->counted = "";
	free(chunk);
	return n < 0 ? (int)n : error;
}

static int feed_path(struct reader *r)
{
	struct gunzip *g;
	int error = 0;

	g = gunzip_open(r->path, &error, r->err);
	if (!g)
		return error;
	error = feed_file(r, g);
	gunzip_close(g);
	return error;
}

int json_read_parts(const char *path, const struct json_parts *parts, enum json_end *end_of,
		    unsigned *line, struct error *err)
{
	struct reader r = { .parts = parts, .path = path, .line = 1, .err = err };
	int error = open_reader(&r);

	if (!error)
		error = feed_path(&r);
	if (!error && complete(&r)) {
		if (end_of)
			*end_of = JSON_WHOLE;
	} else if (!error && !r.error) {
		if (!end_of || !r.depth)
			error = cut_short(&r);
		else
			*end_of = r.depth == r.part_depth && !r.name ? JSON_OPEN : JSON_CUT;
	}
	if (line)
		*line = r.line;
	close_reader(&r);
	return error ? error : r.error;
}

static int read_document(struct reader *r, struct json_document *doc, const char *text, size_t len)
{
	int error = open_reader(r);

	if (!error)
		error = text ? feed(r, text, len) : feed_path(r);
	if (!error && !complete(r))
		error = r->error ? r->error : cut_short(r);
	if (error && r->root)
		r->root = NULL;
	*doc = error ? (struct json_document){ 0 } : (struct json_document){ r->root, r->memory };
	close_reader(r);
	return error;
}

int json_read_file(struct json_document *doc, const char *path, struct error *err)
{
	struct reader r = { .path = path, .line = 1, .err = err };

	return read_document(&r, doc, NULL, 0);
}

int json_read_text(struct json_document *doc, const char *text, size_t len,
		   const char *path, unsigned first_line, struct error *err)
{
	struct reader r = { .path = path, .line = first_line, .err = err };

	return read_document(&r, doc, text, len);
}

void json_document_release(struct json_document *doc)
{
	free_memory(doc->memory);
	*doc = (struct json_document){ 0 };
}
