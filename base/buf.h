/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_BUF_H
#define BUILDBEAT_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A byte buffer with a sticky error: write freely, ask buf_error() once.
 * It either grows on the heap or lives in memory the caller lends (fixed);
 * what does not fit is dropped whole, call by call, and remembered as an error.
 * data is always NUL-terminated once something was added or buf_str() asked.
 */
struct buf {
	char *data;
	size_t len;
	size_t cap;
	bool fixed;
	int error;		/* 0, -ENOMEM or -ENOBUFS */
	struct buf *whole;	/* what fails here fails there too; may be NULL */
};

#define BUF_INIT { 0 }

/* A buffer for a part of what is written to `out`, so that one buf_error(out) is enough. */
#define BUF_PART_OF(out) { .whole = (out) }

void buf_init(struct buf *b);
void buf_init_fixed(struct buf *b, char *memory, size_t cap);
void buf_release(struct buf *b);

/* Empty, error forgotten, memory kept. */
void buf_clear(struct buf *b);

/* Shorten to len bytes; len <= b->len. */
void buf_cut(struct buf *b, size_t len);

/* Room for n more bytes and a NUL. 0 or the sticky error. */
int buf_reserve(struct buf *b, size_t n);

void buf_add(struct buf *b, const void *p, size_t n);
void buf_adds(struct buf *b, const char *s);
void buf_addc(struct buf *b, char c);
void buf_addu(struct buf *b, uint64_t n);	/* decimal */
void buf_addi(struct buf *b, int64_t n);
void buf_addf(struct buf *b, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The content as a C string, "" when nothing was added; owned by the buffer. */
const char *buf_str(struct buf *b);

int buf_error(const struct buf *b);

#endif
