/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "base/minmax.h"
#include "base/outfile.h"
#include "base/str.h"
#include "trace/sink.h"
#include "trace/trace_formats.h"
#include "trace/whole.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define GZIP_FORMAT (15 + 16)	/* of zlib: the largest window, with gzip's header */
#define GZIP_LEVEL 4		/* 8 % larger than with 6, in half the time */
#define PACKED_SIZE ((size_t)128 << 10)

struct writing {
	struct outfile out;
	struct error *err;
	z_stream z;
	unsigned char *packed;	/* PACKED_SIZE bytes; NULL: the file is not packed */
};

/* A recording among others: its machine has a name of its own. */
struct machine {
	struct buf name;
	int64_t offset_ns;	/* its start after that of the first one to start */
};

static int pack(struct writing *w, struct buf *in, int how)
{
	int r = 0;

	w->z.next_in = (unsigned char *)in->data;
	w->z.avail_in = (unsigned)in->len;
	do {
		w->z.next_out = w->packed;
		w->z.avail_out = PACKED_SIZE;
		deflate(&w->z, how);
		r = outfile_add(&w->out, w->packed, PACKED_SIZE - w->z.avail_out, w->err);
	} while (!r && !w->z.avail_out);
	return r;
}

static int flush_packed(void *context, struct buf *in)
{
	struct writing *w = context;
	int r = w->packed ? pack(w, in, Z_NO_FLUSH) :
		outfile_add(&w->out, in->data, in->len, w->err);

	buf_clear(in);
	return r;
}

static int begin_packing(struct writing *w)
{
	w->packed = malloc(PACKED_SIZE);
	if (w->packed && deflateInit2(&w->z, GZIP_LEVEL, Z_DEFLATED, GZIP_FORMAT, 8,
				      Z_DEFAULT_STRATEGY) == Z_OK)
		return 0;
	free(w->packed);
	w->packed = NULL;
	return -ENOMEM;
}

static int begin_file(struct writing *w, const char *path, struct error *err)
{
	int r = outfile_begin(&w->out, path, err);

	w->err = err;
	if (!r && str_ends(path, ".gz"))
		r = begin_packing(w);
	return r;
}

/* rest: what was not flushed. */
static int end_file(struct writing *w, struct buf *rest, const char *path, int r)
{
	if (!r)
		r = buf_error(rest);
	if (!r)
		r = w->packed ? pack(w, rest, Z_FINISH) : flush_packed(w, rest);
	if (r == -ENOMEM)
		error_sys(w->err, r, path, "cannot write");
	if (w->packed)
		deflateEnd(&w->z);
	free(w->packed);
	return outfile_end(&w->out, r, w->err);
}

/* Machines */

static bool is_taken(const struct machine *m, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(m[i].name.data, m[n].name.data))
			return true;
	}
	return false;
}

/* Its host, or its directory; with a number if others have that name. */
static void name_machine(struct machine *m, size_t n, const struct recording *rec)
{
	const char *host = recording_build(rec, "host");
	const char *slash = rec->path ? strrchr(rec->path, '/') : NULL;
	const char *name = host && *host ? host : slash ? slash + 1 : rec->path;
	unsigned number = 1;

	buf_adds(&m[n].name, name && *name ? name : "build");
	while (!buf_error(&m[n].name) && is_taken(m, n)) {
		buf_clear(&m[n].name);
		buf_addf(&m[n].name, "%s (%u)", name && *name ? name : "build", ++number);
	}
}

/* By the wall clocks of the machines, where they are known. NULL: out of memory. */
static struct machine *find_machines(const struct recording *rec, size_t n)
{
	struct machine *m = calloc(n, sizeof *m);
	int64_t first_ns = INT64_MAX;
	int error = m ? 0 : -ENOMEM;

	for (size_t i = 0; i < n; i++) {
		if (rec[i].start_wall_ns > 0 && rec[i].start_wall_ns < first_ns)
			first_ns = rec[i].start_wall_ns;
	}
	for (size_t i = 0; i < n && !error; i++) {
		if (rec[i].start_wall_ns > 0)
			m[i].offset_ns = rec[i].start_wall_ns - first_ns;
		name_machine(m, i, &rec[i]);
		error = buf_error(&m[i].name);
	}
	for (size_t i = 0; i < n && m && error; i++)
		buf_release(&m[i].name);
	if (!error)
		return m;
	free(m);
	return NULL;
}

static void free_machines(struct machine *m, size_t n)
{
	for (size_t i = 0; i < n && m; i++)
		buf_release(&m[i].name);
	free(m);
}

/* Traces */

static int write_trace(struct sink *s, const struct recording *rec, struct whole *whole)
{
	struct sink_start start = { rec->start_wall_ns, rec->start_mono_ns };
	int r;

	whole->rec = rec;
	s->ops->begin(s, &start);
	r = whole_write(s, whole);
	s->ops->end(s);
	return r;
}

/* In parts. A path that ends in .gz is packed by gzip. */
static int write_file(const struct sink_ops *ops, const struct recording *rec, const char *path,
		      struct error *err)
{
	struct writing w = { .err = err };
	struct whole whole = { .first_flow = 1, .flush = flush_packed, .context = &w };
	struct sink s = { 0 };
	int r = begin_file(&w, path, err);

	if (!r)
		r = sink_init(&s, ops);
	if (!r)
		r = write_trace(&s, rec, &whole);
	r = end_file(&w, &s.out, path, r);
	sink_release(&s);
	return r;
}

int tracefile_chrome(const struct recording *rec, const char *path, struct error *err)
{
	return write_file(&sink_chrome, rec, path, err);
}

int tracefile_perfetto(const struct recording *rec, const char *path, struct error *err)
{
	return write_file(&sink_perfetto, rec, path, err);
}

/* One array: each machine has its own numbers of processes. */
static int merge_chrome(struct sink *s, struct whole *whole, const struct machine *m,
			const struct recording *rec, size_t n)
{
	int r = 0;

	s->ops->begin(s, NULL);
	for (size_t i = 0; i < n && !r; i++) {
		whole->rec = &rec[i];
		whole->machine = m[i].name.data;
		s->offset_us = m[i].offset_ns / 1000;
		r = whole_write(s, whole);
		s->first_pid += (uint32_t)rec[i].n_instances + 1;
	}
	s->ops->end(s);
	return r;
}

int tracefile_merge_chrome(const struct recording *rec, size_t n, const char *path,
			   struct error *err)
{
	struct writing w = { .err = err };
	struct whole whole = { .first_flow = 1, .flush = flush_packed, .context = &w };
	struct machine *m = find_machines(rec, n);
	struct sink s = { 0 };
	int r = begin_file(&w, path, err);

	if (!r)
		r = m ? sink_init(&s, &sink_chrome) : -ENOMEM;
	if (!r)
		r = merge_chrome(&s, &whole, m, rec, n);
	r = end_file(&w, &s.out, path, r);
	sink_release(&s);
	free_machines(m, n);
	return r;
}

/* Archives */

#define TAR_BLOCK 512

struct tar_header {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type, link[100],
	     magic[6], version[2], rest[247];
};
_Static_assert(sizeof(struct tar_header) == TAR_BLOCK, "size of a header of tar");

static void add_member(struct buf *tar, const char *name, const char *text, size_t len)
{
	static const char zeros[TAR_BLOCK];
	struct tar_header h = { .mode = "0000644", .uid = "0000000", .gid = "0000000",
				.mtime = "00000000000", .sum = "       ", .type = '0',
				.magic = "ustar", .version = { '0', '0' } };
	unsigned sum = 0;

	snprintf(h.name, sizeof h.name, "%s", name);
	snprintf(h.size, sizeof h.size, "%011llo", (unsigned long long)len & 077777777777);
	h.sum[7] = ' ';
	for (size_t i = 0; i < sizeof h; i++)
		sum += ((const unsigned char *)&h)[i];
	snprintf(h.sum, sizeof h.sum, "%06o", sum & 0777777);
	buf_add(tar, &h, sizeof h);
	buf_add(tar, text, len);
	buf_add(tar, zeros, -len % TAR_BLOCK);
}

/* The name of a file for the trace of a machine. */
static void member_name(char out[100], const struct machine *m, size_t i)
{
	int n = snprintf(out, 100, "%zu-%.60s", i + 1, m[i].name.data);

	for (char *p = out; *p; p++) {
		if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
		      (*p >= '0' && *p <= '9') || strchr("._-", *p)))
			*p = '-';
	}
	snprintf(out + n, 100 - (size_t)n, ".pftrace");
}

static int64_t since_boot_ns(const struct recording *rec)
{
	return MAX(rec->start_mono_ns, 0);
}

/* How Perfetto relates the traces: by the clocks since boot, whose difference follows from the wall
 * clocks. The wall clock is the common one: on the first clock, earlier times may be negative. */
static void add_manifest(struct buf *tar, const struct machine *m, const struct recording *rec,
			 size_t n)
{
	struct buf text = BUF_PART_OF(tar);
	char name[100], first[100];
	struct json j;

	member_name(first, m, 0);
	json_init(&j, &text, true);
	json_object(&j, NULL);
	json_object(&j, "perfetto_manifest");
	json_int(&j, "version", 1);
	if (rec[0].start_wall_ns > 0) {
		json_object(&j, "trace_time");
		json_str(&j, "clock", "REALTIME");
		json_str(&j, "file", first);
		json_object_end(&j);
	}
	json_array(&j, "files");
	for (size_t i = 0; i < n; i++) {
		member_name(name, m, i);
		json_object(&j, NULL);
		json_str(&j, "path", name);
		json_object(&j, "machine");
		json_str(&j, "name", m[i].name.data);
		json_object_end(&j);
		if (i) {
			json_object(&j, "clocks");
			json_str(&j, "clock", "BOOTTIME");
			json_object(&j, "sync_to");
			json_str(&j, "file", first);
			json_str(&j, "clock", "BOOTTIME");
			json_object_end(&j);
			json_int(&j, "offset_ns", since_boot_ns(&rec[0]) - m[0].offset_ns -
				 since_boot_ns(&rec[i]) + m[i].offset_ns);
			json_object_end(&j);
		}
		json_object_end(&j);
	}
	json_array_end(&j);
	json_object_end(&j);
	json_object_end(&j);
	add_member(tar, "perfetto_manifest.json", text.data, text.len);
	buf_release(&text);
}

/* A header has the size: each trace is in memory first. */
static int keep_packed(void *context, struct buf *out)
{
	struct buf *trace = context;

	buf_add(trace, out->data, out->len);
	buf_clear(out);
	return buf_error(trace);
}

static int add_trace(struct buf *tar, const struct machine *m, size_t i,
		     const struct recording *rec)
{
	struct buf trace = BUF_PART_OF(tar);
	struct whole whole = { .machine = m[i].name.data, .first_flow = 1, .flush = keep_packed,
			       .context = &trace };
	char name[100];
	struct sink s;
	int r = sink_init(&s, &sink_perfetto);

	if (!r)
		r = write_trace(&s, rec, &whole);
	if (!r)
		r = buf_error(&s.out) ? buf_error(&s.out) : keep_packed(&trace, &s.out);
	member_name(name, m, i);
	if (!r)
		add_member(tar, name, trace.data, trace.len);
	sink_release(&s);
	buf_release(&trace);
	return r ? r : buf_error(tar);
}

int tracefile_merge_perfetto(const struct recording *rec, size_t n, const char *path,
			     struct error *err)
{
	static const char end[2 * TAR_BLOCK];
	struct writing w = { .err = err };
	struct machine *m = find_machines(rec, n);
	struct buf tar = BUF_INIT;
	int r = begin_file(&w, path, err);

	if (!r && !m)
		r = -ENOMEM;
	if (!r)
		add_manifest(&tar, m, rec, n);
	for (size_t i = 0; i < n && !r; i++) {
		r = add_trace(&tar, m, i, &rec[i]);
		if (!r)
			r = flush_packed(&w, &tar);
	}
	buf_add(&tar, end, sizeof end);
	r = end_file(&w, &tar, path, r);
	buf_release(&tar);
	free_machines(m, n);
	return r;
}
