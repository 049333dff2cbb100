/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_TRACE_TEXTS_H
#define BUILDBEAT_CONVERT_TRACE_TEXTS_H

#include <stddef.h>
#include <stdint.h>

/*
 * The texts of a trace. A number of four bytes stands for each: 0 is no text. They are in pieces
 * of memory that neither move nor are copied, because a trace of millions of events has as many
 * texts.
 */
struct trace_texts {
	size_t n_chunks;
	char **chunk;		/* from malloc() */
	size_t used;		/* of the last one */
	size_t n;		/* texts that were added once */
	uint32_t *slot;		/* private: their hash table */
	size_t mask;
};

/* The number of a text, up to its first NUL: equal texts have the same number. 0: out of memory. */
uint32_t trace_texts_once(struct trace_texts *x, const char *text, size_t len);

/* The same for a text that hardly occurs twice: it always gets a new number. */
uint32_t trace_texts_add(struct trace_texts *x, const char *text, size_t len);

#define TRACE_TEXTS_CHUNK_BITS 20

/* The text, NULL for 0. */
static inline const char *trace_texts_at(const struct trace_texts *x, uint32_t number)
{
	return number ? x->chunk[number >> TRACE_TEXTS_CHUNK_BITS] +
			(number & ((1u << TRACE_TEXTS_CHUNK_BITS) - 1)) : NULL;
}

/* Free the table alone: no text can be added once any more. */
void trace_texts_close(struct trace_texts *x);

void trace_texts_release(struct trace_texts *x);

#endif
