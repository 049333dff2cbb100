/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_EXAMPLES_MAKE_LIB_IX_H
#define BUILDBEAT_EXAMPLES_MAKE_LIB_IX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* arena.c: memory that is freed all at once */
struct ix_arena { struct ix_block *last; };
void *ix_alloc(struct ix_arena *a, size_t size);
void ix_arena_free(struct ix_arena *a);

/* postings.c: the places of one word, ascending */
struct ix_postings { uint32_t *place; uint32_t n, cap; };
void ix_postings_add(struct ix_postings *p, uint32_t place);
size_t ix_postings_and(const struct ix_postings *a, const struct ix_postings *b,
		       uint32_t distance, uint32_t *out);

/* table.c: word -> postings */
struct ix_word { const char *text; uint32_t hash; struct ix_postings at; };
struct ix_table { struct ix_word *slot; uint32_t n, cap; struct ix_arena texts; };
struct ix_postings *ix_table_get(struct ix_table *t, const char *text, bool create);
void ix_table_free(struct ix_table *t);

/* token.c: text -> lower-case words */
bool ix_next_word(FILE *f, char *word, size_t size);

/* stopwords.c: made by stopwords.awk */
bool ix_is_stopword(const char *word);

/* varint.c: small numbers in few bytes */
size_t ix_varint_put(uint8_t *to, uint32_t n);
size_t ix_varint_get(const uint8_t *from, size_t len, uint32_t *n);

/* index.c, store.c, rank.c, corpus.c */
int ix_index_file(struct ix_table *t, FILE *f, uint32_t *words);
int ix_store(const struct ix_table *t, const char *path);
int ix_load(struct ix_table *t, const char *path);
void ix_rank(const struct ix_table *t, size_t top, FILE *out);
void ix_corpus(FILE *out, uint32_t words, uint32_t seed);

#endif
