/* SPDX-License-Identifier: MIT */
#include "archive/pack.h"

#include "base/array.h"
#include "base/sha1.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_SIZE 12
#define FANOUT 256
#define IDX_HEADER (8 + FANOUT * 4)
#define IDX_ENTRY (GIT_OID_RAWSZ + 4 + 4)
#define OBJECT_MAX (256u << 20)		/* of a damaged pack */
#define SIZE_MAX_BYTES (1u << 31)	/* offsets of four bytes in the index */

static const unsigned char header[HEADER_SIZE] = { 'P', 'A', 'C', 'K', 0, 0, 0, 2 };
static const unsigned char idx_header[8] = { 0xff, 't', 'O', 'c', 0, 0, 0, 2 };

void pack_release(struct pack *p)
{
	buf_release(&p->bytes);
	free(p->entry);
	index_release(&p->by_id);
	deflateEnd(&p->z);
	*p = (struct pack)PACK_INIT;
}

static void keys(const git_oid *id, uint64_t key[2])
{
	memcpy(key, id->id, 2 * sizeof *key);
}

const struct pack_entry *pack_find(const struct pack *p, const git_oid *id)
{
	uint64_t key[2];
	uint32_t at;

	keys(id, key);
	return index_find(&p->by_id, key[0], key[1], &at) && at < p->n &&
	       git_oid_equal(&p->entry[at].id, id) ? &p->entry[at] : NULL;
}

/* The new entry, whose bytes follow. */
static struct pack_entry *begin_entry(struct pack *p, const git_oid *id)
{
	struct pack_entry *e;
	uint64_t key[2];

	if (!p->bytes.len)
		buf_add(&p->bytes, header, sizeof header);
	keys(id, key);
	e = array_grow(p->entry, p->n, sizeof *e);
	if (!e)
		return NULL;
	p->entry = e;
	if (index_put(&p->by_id, key[0], key[1], (uint32_t)p->n))
		return NULL;
	e += p->n++;
	*e = (struct pack_entry){ .id = *id, .at = p->bytes.len };
	return e;
}

/* An entry whose bytes are not whole must not be found: libgit2 writes an object again if that
 * failed, and reads it. */
static int drop_entry(struct pack *p, int error)
{
	p->n--;
	return error;
}

static int end_entry(struct pack *p, struct pack_entry *e)
{
	if (buf_error(&p->bytes))
		return drop_entry(p, buf_error(&p->bytes));
	e->end = p->bytes.len;
	if (e->end > SIZE_MAX_BYTES - SHA1_SIZE)
		return drop_entry(p, buf_fail(&p->bytes, -EFBIG));
	e->crc = (uint32_t)crc32(0, (unsigned char *)p->bytes.data + e->at,
				 (unsigned)(e->end - e->at));
	return 0;
}

static int pack_deflate(struct pack *p, const void *data, size_t len)
{
	int r = p->z.state ? deflateReset(&p->z) : deflateInit(&p->z, Z_BEST_SPEED);

	if (r != Z_OK || len > UINT_MAX || buf_reserve(&p->bytes, deflateBound(&p->z, len)))
		return -ENOMEM;
	p->z.next_in = (unsigned char *)data;
	p->z.avail_in = (unsigned)len;
	p->z.next_out = (unsigned char *)p->bytes.data + p->bytes.len;
	p->z.avail_out = (unsigned)(p->bytes.cap - p->bytes.len);
	if (deflate(&p->z, Z_FINISH) != Z_STREAM_END)
		return -EIO;
	p->bytes.len += p->z.total_out;
	return 0;
}

int pack_add(struct pack *p, const git_oid *id, git_object_t type, const void *data, size_t len)
{
	unsigned byte = (unsigned)type << 4 | (len & 15);
	struct pack_entry *e;
	int r;

	if (pack_find(p, id))
		return 0;
	e = begin_entry(p, id);
	if (!e)
		return -ENOMEM;
	for (size_t rest = len >> 4; rest; rest >>= 7) {
		buf_addc(&p->bytes, (char)(byte | 0x80));
		byte = rest & 0x7f;
	}
	buf_addc(&p->bytes, (char)byte);
	r = pack_deflate(p, data, len);
	return r ? drop_entry(p, buf_fail(&p->bytes, r)) : end_entry(p, e);
}

static const unsigned char *read_header(const struct pack *p, const struct pack_entry *e,
					git_object_t *type, size_t *len)
{
	const unsigned char *at = (const unsigned char *)p->bytes.data + e->at;

	*type = (git_object_t)(*at >> 4 & 7);
	*len = *at & 15;
	for (int shift = 4; *at++ & 0x80; shift += 7)
		*len |= (size_t)(*at & 0x7f) << shift;
	return at;
}

void pack_header(const struct pack *p, const struct pack_entry *e, git_object_t *type, size_t *len)
{
	read_header(p, e, type, len);
}

int pack_read(const struct pack *p, const struct pack_entry *e, void *to, size_t len)
{
	git_object_t type;
	size_t size;
	const unsigned char *packed = read_header(p, e, &type, &size);
	uLongf unpacked = len;
	size_t packed_len = (size_t)((unsigned char *)p->bytes.data + e->end - packed);

	return size == len && uncompress(to, &unpacked, packed, packed_len) == Z_OK ? 0 : -EIO;
}

/* Reading */

static uint32_t number(const void *data)
{
	const unsigned char *p = data;

	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

bool pack_idx_is_sane(const struct buf *idx, uint64_t pack_size)
{
	const char *offset, *large, *end = idx->data + idx->len - 2 * SHA1_SIZE;
	size_t n;

	if (idx->len < IDX_HEADER + 2 * SHA1_SIZE || pack_size < HEADER_SIZE + SHA1_SIZE)
		return false;
	if (memcmp(idx->data, idx_header, sizeof idx_header))
		return true;
	n = number(idx->data + IDX_HEADER - 4);
	if ((idx->len - IDX_HEADER - 2 * SHA1_SIZE) / IDX_ENTRY < n)
		return false;
	offset = idx->data + IDX_HEADER + n * (GIT_OID_RAWSZ + 4);
	large = offset + n * 4;
	for (size_t i = 0; i < n; i++) {
		uint64_t at = number(offset + i * 4);

		if (at >> 31) {
			at &= INT32_MAX;
			if (at >= (size_t)(end - large) / 8)
				return false;
			at = (uint64_t)number(large + at * 8) << 32 | number(large + at * 8 + 4);
		}
		if (at < HEADER_SIZE || at >= pack_size - SHA1_SIZE)
			return false;
	}
	return true;
}

static int by_place(const void *a, const void *b)
{
	const struct pack_entry *x = a, *y = b;

	return array_order((int64_t)x->at, (int64_t)y->at);
}

/* The entries of the pack file in its order, without their ends. */
static struct pack_entry *list_entries(const struct buf *idx, size_t n)
{
	const char *ids = idx->data + IDX_HEADER;
	const char *crcs = ids + n * GIT_OID_RAWSZ, *offsets = crcs + n * 4;
	struct pack_entry *list = array_new_zero(n + 1, sizeof *list);

	for (size_t i = 0; list && i < n; i++) {
		memcpy(list[i].id.id, ids + i * GIT_OID_RAWSZ, GIT_OID_RAWSZ);
		list[i].crc = number(crcs + i * 4);
		list[i].at = number(offsets + i * 4);
	}
	if (list)
		qsort(list, n, sizeof *list, by_place);
	return list;
}

/* The content of a delta is read from the repository. */
static int add_read(struct pack *p, git_odb *odb, const git_oid *id)
{
	git_odb_object *object;
	int r;

	if (git_odb_read(&object, odb, id))
		return -EINVAL;
	r = pack_add(p, id, git_odb_object_type(object), git_odb_object_data(object),
		     git_odb_object_size(object));
	git_odb_object_free(object);
	return r;
}

static int join_entry(struct pack *p, const struct pack_entry *from, size_t end,
		      const struct buf *pack, git_odb *odb)
{
	struct pack_entry *e;

	if (from->at < HEADER_SIZE || from->at >= end || end > pack->len - SHA1_SIZE)
		return -EINVAL;
	if (crc32(0, (unsigned char *)pack->data + from->at, (unsigned)(end - from->at)) != from->crc)
		return -EINVAL;
	if (pack_find(p, &from->id))
		return 0;
	if ((pack->data[from->at] >> 4 & 7) > GIT_OBJECT_TAG)
		return add_read(p, odb, &from->id);
	e = begin_entry(p, &from->id);
	if (!e)
		return -ENOMEM;
	buf_add(&p->bytes, pack->data + from->at, end - from->at);
	return end_entry(p, e);
}

bool pack_idx_is_intact(const struct buf *b)
{
	unsigned char sum[SHA1_SIZE];

	if (b->len < SHA1_SIZE)
		return false;
	sha1(sum, b->data, b->len - SHA1_SIZE);
	return !memcmp(sum, b->data + b->len - SHA1_SIZE, SHA1_SIZE);
}

static int join_all(struct pack *p, const struct buf *pack, const struct buf *idx, git_odb *odb)
{
	size_t n = number(idx->data + IDX_HEADER - 4), last = pack->len - SHA1_SIZE;
	struct pack_entry *list;
	int r = 0;

	if (n != number(pack->data + 8) ||
	    idx->len != IDX_HEADER + n * IDX_ENTRY + 2 * SHA1_SIZE || !pack_idx_is_intact(idx))
		return -EINVAL;
	list = list_entries(idx, n);
	for (size_t i = 0; list && !r && i < n; i++)
		r = join_entry(p, &list[i], i + 1 < n ? list[i + 1].at : last, pack, odb);
	free(list);
	return list ? r : -ENOMEM;
}

int pack_join(struct pack *p, const struct buf *pack, const struct buf *idx, git_odb *odb)
{
	size_t n = p->n, len = p->bytes.len;
	int r = -EINVAL;

	if (pack->len >= HEADER_SIZE + SHA1_SIZE && !memcmp(pack->data, header, 8) &&
	    idx->len >= IDX_HEADER && !memcmp(idx->data, idx_header, sizeof idx_header))
		r = join_all(p, pack, idx, odb);
	if (r) {
		p->n = n;
		if (p->bytes.len > len)
			buf_cut(&p->bytes, len);
	}
	return r;
}

/* Unpacks the object at *at, which becomes the place after it. Returns NULL at the first that is damaged. */
static void *unpack_next(const struct buf *pack, size_t *at, git_object_t *type, size_t *len)
{
	const unsigned char *p = (unsigned char *)pack->data + *at;
	const unsigned char *end = (unsigned char *)pack->data + pack->len - SHA1_SIZE;
	z_stream z = { 0 };
	void *to = NULL;
	int shift = 4;

	if (p >= end)
		return NULL;
	*type = (git_object_t)(*p >> 4 & 7);
	*len = *p & 15;
	for (; *p & 0x80 && p + 1 < end && shift < 32; shift += 7)
		*len |= (size_t)(*++p & 0x7f) << shift;
	p++;
	if (*type < GIT_OBJECT_COMMIT || *type > GIT_OBJECT_TAG || *len > OBJECT_MAX ||
	    inflateInit(&z) != Z_OK)
		return NULL;
	to = malloc(*len + 1);
	z.next_in = (unsigned char *)p;
	z.avail_in = (unsigned)(end - p);
	z.next_out = to;
	z.avail_out = (unsigned)*len + 1;
	if (to && (inflate(&z, Z_FINISH) != Z_STREAM_END || z.total_out != *len)) {
		free(to);
		to = NULL;
	}
	*at = (size_t)((const char *)z.next_in - pack->data);
	inflateEnd(&z);
	return to;
}

int pack_salvage(struct pack *p, const struct buf *pack)
{
	size_t at = HEADER_SIZE, len;
	git_object_t type;
	void *data;
	git_oid id;
	int r = 0;

	if (pack->len < HEADER_SIZE + SHA1_SIZE)
		return 0;
	while (!r && (data = unpack_next(pack, &at, &type, &len))) {
		r = git_odb_hash(&id, data, len, type) ? -ENOMEM :
		    pack_add(p, &id, type, data, len);
		free(data);
	}
	return r;
}

/* The end */

static void add_number(struct buf *out, uint32_t n)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		buf_addc(out, (char)(n >> shift));
}

static void add_sum(struct buf *out)
{
	unsigned char sum[SHA1_SIZE];

	if (buf_error(out))
		return;
	sha1(sum, out->data, out->len);
	buf_add(out, sum, sizeof sum);
}

static int by_id(const void *a, const void *b)
{
	return git_oid_cmp(&((const struct pack_entry *)a)->id, &((const struct pack_entry *)b)->id);
}

int pack_end(struct pack *p, struct buf *idx)
{
	struct pack_entry *e = array_new(p->n, sizeof *e);
	size_t at = 0;

	if (!p->bytes.len)
		buf_add(&p->bytes, header, sizeof header);
	if (!e || buf_error(&p->bytes)) {
		free(e);
		return -ENOMEM;
	}
	for (int i = 0; i < 4; i++)
		p->bytes.data[8 + i] = (char)(p->n >> (24 - 8 * i));
	add_sum(&p->bytes);
	if (p->n) {
		memcpy(e, p->entry, p->n * sizeof *e);
		qsort(e, p->n, sizeof *e, by_id);
	}
	buf_add(idx, idx_header, sizeof idx_header);
	for (unsigned first = 0; first < FANOUT; first++) {
		while (at < p->n && e[at].id.id[0] <= first)
			at++;
		add_number(idx, (uint32_t)at);
	}
	for (size_t i = 0; i < p->n; i++)
		buf_add(idx, e[i].id.id, GIT_OID_RAWSZ);
	for (size_t i = 0; i < p->n; i++)
		add_number(idx, e[i].crc);
	for (size_t i = 0; i < p->n; i++)
		add_number(idx, (uint32_t)e[i].at);
	free(e);
	if (!buf_error(&p->bytes))
		buf_add(idx, p->bytes.data + p->bytes.len - SHA1_SIZE, SHA1_SIZE);
	add_sum(idx);
	return buf_error(&p->bytes) ? buf_error(&p->bytes) : buf_error(idx);
}
