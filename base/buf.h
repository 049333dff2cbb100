/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_BUF_H
#define BUILDBEAT_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A byte buffer with a sticky error: write freely, ask buf_error() once.
 * It grows on the heap, or it uses memory of the caller (fixed). A call whose text does not fit
 * adds nothing and sets the error. data is NUL-terminated once something was added or buf_str()
 * was called.
 */
struct buf {
	char *data;
	size_t len;
	size_t cap;
	bool fixed;
	int error;		/* 0, -ENOMEM, -ENOBUFS or that of buf_fail() */
	struct buf *whole;	/* gets the error of this buffer too; may be NULL */
};

#define BUF_INIT { 0 }

/* A buffer for a part of what is written to `out`, so that one buf_error(out) is enough. */
#define BUF_PART_OF(out) { .whole = (out) }

void buf_init(struct buf *b);
void buf_init_fixed(struct buf *b, char *memory, size_t cap);
void buf_release(struct buf *b);

/* Make it empty and clear the error; the memory is kept. */
void buf_clear(struct buf *b);

/* Shorten to len bytes; len <= b->len. */
void buf_cut(struct buf *b, size_t len);

/* Make room for n more bytes and a NUL. 0 or the sticky error. */
int buf_reserve(struct buf *b, size_t n);

/* Where up to n bytes may be written, NULL if there is no room; buf_end() takes their end. */
static inline char *buf_begin(struct buf *b, size_t n)
{
	return (b->error || b->cap - b->len <= n) && buf_reserve(b, n) ? NULL : b->data + b->len;
}

static inline void buf_end(struct buf *b, char *end)
{
	*end = '\0';
	b->len = (size_t)(end - b->data);
}

void buf_add(struct buf *b, const void *p, size_t n);
void buf_adds(struct buf *b, const char *s);
void buf_addc(struct buf *b, char c);
void buf_addu(struct buf *b, uint64_t n);	/* decimal */
void buf_addi(struct buf *b, int64_t n);
/* Write n in decimal to memory that has room for BUF_NUMBER_MAX bytes. Returns its end; there is no
 * NUL. */
#define BUF_NUMBER_MAX 20
char *buf_put_number(char *to, int64_t n);
char *buf_put_unsigned(char *to, uint64_t n);

void buf_addf(struct buf *b, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The content as a C string, "" if nothing was added. The buffer owns it. */
const char *buf_str(struct buf *b);

/* Set the error, if there is none yet: the content is wrong. Returns the error. */
int buf_fail(struct buf *b, int error);

int buf_error(const struct buf *b);

#endif
