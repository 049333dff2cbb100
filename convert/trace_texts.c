/* SPDX-License-Identifier: MIT */
#include "convert/trace_texts.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)1 << TRACE_TEXTS_CHUNK_BITS)
#define SLOTS_FIRST 1024
#define CHUNKS_MAX ((size_t)1 << (32 - TRACE_TEXTS_CHUNK_BITS))

/* A new piece of memory for a text of len bytes; a longer one has it alone. */
static char *add_chunk(struct trace_texts *x, size_t len)
{
	char **grown = x->n_chunks < CHUNKS_MAX ?
		array_grow(x->chunk, x->n_chunks, sizeof *grown) : NULL;

	if (!grown)
		return NULL;
	x->chunk = grown;
	grown[x->n_chunks] = malloc(len < CHUNK ? CHUNK : len + 1);
	if (!grown[x->n_chunks])
		return NULL;
	x->used = !x->n_chunks;		/* number 0 is no text */
	return grown[x->n_chunks++];
}

uint32_t trace_texts_add(struct trace_texts *x, const char *text, size_t len)
{
	size_t at;
	char *to;

	len = strnlen(text, len);
	if ((!x->n_chunks || x->used >= CHUNK || CHUNK - x->used <= len) && !add_chunk(x, len + 1))
		return 0;
	at = x->used;
	to = x->chunk[x->n_chunks - 1] + at;
	memcpy(to, text, len);
	to[len] = '\0';
	x->used += len + 1;
	return (uint32_t)((x->n_chunks - 1) << TRACE_TEXTS_CHUNK_BITS | at);
}

void trace_texts_close(struct trace_texts *x)
{
	heap_unmap(x->slot, (x->mask + 1) * sizeof *x->slot);
	x->slot = NULL;
}

static size_t slot_of(const struct trace_texts *x, const char *text, size_t len)
{
	uint64_t hash = hash_bytes(0, text, len);

	return (size_t)(hash ^ hash >> 32) & x->mask;
}

static int grow(struct trace_texts *x)
{
	struct trace_texts bigger = *x;

	bigger.mask = x->slot ? 2 * x->mask + 1 : SLOTS_FIRST - 1;
	bigger.slot = heap_map(NULL, 0, (bigger.mask + 1) * sizeof *bigger.slot);
	if (!bigger.slot)
		return -1;
	for (size_t i = 0; x->slot && i <= x->mask; i++) {
		const char *text = trace_texts_at(x, x->slot[i]);
		size_t to;

		if (!text)
			continue;
		to = slot_of(&bigger, text, strlen(text));
		while (bigger.slot[to])
			to = (to + 1) & bigger.mask;
		bigger.slot[to] = x->slot[i];
	}
	trace_texts_close(x);
	*x = bigger;
	return 0;
}

uint32_t trace_texts_once(struct trace_texts *x, const char *text, size_t len)
{
	size_t i;

	len = strnlen(text, len);
	if ((!x->slot || x->n >= x->mask / 4 * 3) && grow(x))
		return 0;
	for (i = slot_of(x, text, len); x->slot[i]; i = (i + 1) & x->mask) {
		const char *there = trace_texts_at(x, x->slot[i]);

		if (!strncmp(there, text, len) && !there[len])
			return x->slot[i];
	}
	x->slot[i] = trace_texts_add(x, text, len);
	x->n += x->slot[i] != 0;
	return x->slot[i];
}

void trace_texts_release(struct trace_texts *x)
{
	for (size_t i = 0; i < x->n_chunks; i++)
		free(x->chunk[i]);
	free(x->chunk);
	trace_texts_close(x);
	*x = (struct trace_texts){ 0 };
}
