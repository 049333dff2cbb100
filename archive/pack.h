/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_PACK_H
#define BUILDBEAT_ARCHIVE_PACK_H

#include "archive/git.h"
#include "base/buf.h"
#include "base/index.h"

#include <stdbool.h>
#include <zlib.h>

/* A pack of git without deltas, in memory. */
struct pack {
	struct buf bytes;
	size_t n;
	struct pack_entry {
		git_oid id;
		uint32_t crc;
		size_t at, end;		/* in bytes */
	} *entry;			/* in the order of bytes */
	struct index by_id;
	z_stream z;
};

#define PACK_INIT { .bytes = BUF_INIT }

void pack_release(struct pack *p);

/* Adds an object unless the pack has it. Returns 0 or a negative errno. */
int pack_add(struct pack *p, const git_oid *id, git_object_t type, const void *data, size_t len);

/* Adds all objects of a pack file, given with its index; the content of deltas is read from odb.
 * Returns 0, or after -EINVAL (damaged), -ENOMEM and -EFBIG p is as before. */
int pack_join(struct pack *p, const struct buf *pack, const struct buf *idx, git_odb *odb);

/* Adds the objects of a pack file without its index, up to the first damaged one; without deltas. Returns 0
 * or -ENOMEM. */
int pack_salvage(struct pack *p, const struct buf *pack);

/* Whether an index has its checksum. */
bool pack_idx_is_intact(const struct buf *idx);

/* Whether the offsets of an index are in its pack file of that size; libgit2 1.5 does not check that,
 * and crashes. Also true for an index of the old version 1. */
bool pack_idx_is_sane(const struct buf *idx, uint64_t pack_size);

/* NULL if the pack does not have it. */
const struct pack_entry *pack_find(const struct pack *p, const git_oid *id);

/* The type and size of an object. */
void pack_header(const struct pack *p, const struct pack_entry *e, git_object_t *type, size_t *len);

/* Its content, of that size. Returns 0 or -EIO. */
int pack_read(const struct pack *p, const struct pack_entry *e, void *to, size_t len);

/* Completes bytes and writes the index (version 2); nothing can be added afterwards. Returns 0 or
 * -ENOMEM. */
int pack_end(struct pack *p, struct buf *idx);

#endif
