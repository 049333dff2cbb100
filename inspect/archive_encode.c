/* SPDX-License-Identifier: MIT */
#include "base/field.h"
#include "base/hex.h"
#include "inspect/archive_format.h"
#include "recording/series.h"

#include <string.h>

const struct archive_log_info archive_logs[ARCHIVE_LOGS] = {
	[ARCHIVE_MAPS] = { "maps.log", "buildbeat inspection maps 1" },
	[ARCHIVE_HEAP] = { "heap.log", "buildbeat inspection heap 1" },
	[ARCHIVE_PAGES] = { "pages.log", "buildbeat inspection pages 1" },
};

void archive_site_values(int64_t values[ARCHIVE_SITE_VALUES], const struct site *s)
{
	const uint64_t all[ARCHIVE_SITE_VALUES] = {
		s->allocations, s->frees, s->allocated, s->live, s->live_bytes, s->peak_bytes,
		s->temporary, s->error_bytes,
	};

	memcpy(values, all, sizeof all);
}

static void add_hex(struct buf *b, uint64_t n)
{
	char text[16];
	size_t at = sizeof text;

	do {
		text[--at] = hex_digit((unsigned)n);
		n >>= 4;
	} while (n);
	buf_add(b, text + at, sizeof text - at);
}

static void add_text(struct buf *b, const struct inspection *x, uint32_t number)
{
	struct slice text = number < x->names.n ? x->names.name[number] : slice_of("");

	buf_addc(b, '\t');
	field_add(b, text.p, text.len, ARCHIVE_TEXT_MAX);
}

/* A number of something, or "-". */
static void add_number(struct buf *b, uint32_t number)
{
	if (number == INSPECTION_NONE)
		buf_addc(b, '-');
	else
		buf_addu(b, number);
}

static void add_key_line(struct buf *b, const char *word, uint64_t key)
{
	buf_adds(b, word);
	add_hex(b, key);
	buf_addc(b, '\n');
}

static void begin_block(struct buf *b, size_t number, bool all)
{
	buf_adds(b, "snapshot ");
	buf_addu(b, number);
	if (all)
		buf_adds(b, " " ARCHIVE_WORD_ALL);
}

static void end_block(struct buf *b, size_t number)
{
	buf_adds(b, "end ");
	buf_addu(b, number);
	buf_addc(b, '\n');
}

void archive_encode_values(struct buf *b, const struct process_values *v)
{
	const uint64_t value[] = {
		v->user_ticks, v->system_ticks, v->minor_faults, v->major_faults, v->rss_kb,
		v->threads, v->read_kb, v->written_kb,
	};

	for (size_t i = 0; i < (v->has_io ? 8 : 6); i++) {
		if (i)
			buf_addc(b, ' ');
		buf_addu(b, value[i]);
	}
}

/* maps.log */

static bool same_mapping(const struct mapping *a, const struct mapping *b)
{
	return a->end == b->end && a->offset == b->offset && a->inode == b->inode &&
	       a->device_major == b->device_major && a->device_minor == b->device_minor &&
	       a->file == b->file && !strcmp(a->permissions, b->permissions);
}

static void add_range(struct buf *b, const char *word, uint64_t start, uint64_t last)
{
	buf_adds(b, word);
	add_hex(b, start);
	buf_addc(b, '-');
	add_hex(b, last);
}

static void add_values(struct buf *b, const uint64_t *from, const uint64_t *to, size_t n)
{
	series_add_values(b, (const int64_t *)from, (const int64_t *)to, n);
}

static void add_mapping(struct buf *b, const struct inspection *x, const struct mapping *m)
{
	add_range(b, "map ", m->start, m->end);
	buf_addc(b, ' ');
	buf_adds(b, m->permissions);
	buf_addc(b, ' ');
	add_hex(b, m->offset);
	buf_addc(b, ' ');
	add_hex(b, m->device_major);
	buf_addc(b, ':');
	add_hex(b, m->device_minor);
	buf_addc(b, ' ');
	buf_addu(b, m->inode);
	buf_addc(b, ' ');
	add_values(b, NULL, m->kb, MAPPING_VALUES);
	add_text(b, x, m->file);
	buf_addc(b, '\n');
}

static void change_mapping(struct buf *b, const struct mapping *old, const struct mapping *m)
{
	if (!memcmp(old->kb, m->kb, sizeof m->kb))
		return;
	buf_adds(b, "+ ");
	add_hex(b, m->start);
	buf_addc(b, ' ');
	add_values(b, old->kb, m->kb, MAPPING_VALUES);
	buf_addc(b, '\n');
}

static void add_snapshot_words(struct buf *b, const struct snapshot *s)
{
	const struct { bool set; const char *word; } words[] = {
		{ s->frozen, " " ARCHIVE_WORD_FROZEN }, { s->ended, " " ARCHIVE_WORD_ENDED },
		{ s->has_heap, " " ARCHIVE_WORD_HEAP }, { s->has_pages, " " ARCHIVE_WORD_PAGES },
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (words[i].set)
			buf_adds(b, words[i].word);
}

static void begin_maps(struct buf *b, size_t number, bool all, const struct snapshot *s)
{
	begin_block(b, number, false);
	buf_addc(b, ' ');
	buf_addi(b, s->time_us);
	buf_addc(b, ' ');
	buf_addi(b, s->took_us);
	add_snapshot_words(b, s);
	if (all)
		buf_adds(b, " " ARCHIVE_WORD_ALL);
	buf_adds(b, "\nvalues ");
	archive_encode_values(b, &s->process);
	buf_addc(b, '\n');
}

void archive_encode_maps(struct buf *b, size_t number, const struct inspection *x,
			 const struct snapshot *before, const struct snapshot *s)
{
	size_t at = 0, n = before ? before->n : 0;

	begin_maps(b, number, !before, s);
	for (size_t i = 0; i <= s->n; i++) {
		uint64_t start = i < s->n ? s->mapping[i].start : UINT64_MAX;

		for (; at < n && before->mapping[at].start < start; at++)
			add_key_line(b, "gone ", before->mapping[at].start);
		if (i == s->n)
			break;
		if (at < n && before->mapping[at].start == start) {
			if (same_mapping(&before->mapping[at], &s->mapping[i]))
				change_mapping(b, &before->mapping[at], &s->mapping[i]);
			else
				add_mapping(b, x, &s->mapping[i]);
			at++;
		} else {
			add_mapping(b, x, &s->mapping[i]);
		}
	}
	end_block(b, number);
}

/* heap.log */

static void add_module(struct buf *b, const struct inspection *x, const struct module *m)
{
	add_range(b, "module ", m->start, m->end);
	buf_addc(b, ' ');
	add_hex(b, m->bias);
	buf_addc(b, ' ');
	buf_adds(b, *m->build_id ? m->build_id : "-");
	add_text(b, x, m->file);
	buf_addc(b, '\n');
}

static void add_stacks(struct buf *b, const struct inspection *x, const struct archive_written *w)
{
	for (size_t i = w->modules; i < x->n_modules; i++)
		add_module(b, x, &x->module[i]);
	for (size_t i = w->frames; i < x->n_frames; i++) {
		buf_adds(b, "frame ");
		add_hex(b, x->frame[i].address);
		buf_addc(b, ' ');
		add_number(b, x->frame[i].module);
		buf_addc(b, '\n');
	}
	for (size_t i = w->stacks; i < x->n_stacks; i++) {
		buf_adds(b, "stack ");
		add_number(b, x->stack[i].parent);
		buf_addc(b, ' ');
		buf_addu(b, x->stack[i].frame);
		buf_addc(b, '\n');
	}
}

static void add_site_key(struct buf *b, char word, const struct site *s)
{
	buf_addc(b, word);
	buf_addc(b, ' ');
	buf_addu(b, s->stack);
	if (s->mapped)
		buf_addc(b, 'm');
}

static void add_site(struct buf *b, const struct site *old, const struct site *s)
{
	int64_t from[ARCHIVE_SITE_VALUES] = { 0 }, to[ARCHIVE_SITE_VALUES];

	archive_site_values(to, s);
	if (old)
		archive_site_values(from, old);
	if (old && !memcmp(from, to, sizeof to))
		return;
	add_site_key(b, '+', s);
	buf_addc(b, ' ');
	series_add_values(b, from, to, ARCHIVE_SITE_VALUES);
	buf_addc(b, '\n');
}

static void add_sites(struct buf *b, const struct snapshot *before, const struct snapshot *s)
{
	size_t at = 0, n = before ? before->n_sites : 0;

	for (size_t i = 0; i <= s->n_sites; i++) {
		uint64_t key = i < s->n_sites ? archive_site_key(&s->site[i]) : UINT64_MAX;

		for (; at < n && archive_site_key(&before->site[at]) < key; at++) {
			add_site_key(b, '-', &before->site[at]);
			buf_addc(b, '\n');
		}
		if (i == s->n_sites)
			break;
		if (at < n && archive_site_key(&before->site[at]) == key)
			add_site(b, &before->site[at++], &s->site[i]);
		else
			add_site(b, NULL, &s->site[i]);
	}
}

static void add_ranges(struct buf *b, const struct snapshot *before, const struct snapshot *s)
{
	size_t at = 0, n = before ? before->n_ranges : 0;

	for (size_t i = 0; i <= s->n_ranges; i++) {
		const struct mapped_range *r = i < s->n_ranges ? &s->range[i] : NULL;
		uint64_t start = r ? r->start : UINT64_MAX;

		for (; at < n && before->range[at].start < start; at++)
			add_key_line(b, "gone ", before->range[at].start);
		if (!r)
			break;
		if (at < n && before->range[at].start == start) {
			const struct mapped_range *old = &before->range[at++];

			if (old->end == r->end && old->stack == r->stack)
				continue;
		}
		add_range(b, "range ", r->start, r->end);
		buf_addc(b, ' ');
		buf_addu(b, r->stack);
		buf_addc(b, '\n');
	}
}

void archive_encode_heap(struct buf *b, size_t number, const struct inspection *x,
			 const struct archive_written *written, const struct snapshot *before,
			 const struct snapshot *s)
{
	begin_block(b, number, !before);
	buf_addc(b, '\n');
	add_stacks(b, x, written);
	add_sites(b, before, s);
	add_ranges(b, before, s);
	end_block(b, number);
}

/* pages.log */

void archive_encode_pages(struct buf *b, size_t number, const struct snapshot *before,
			  const struct snapshot *s)
{
	size_t at = 0, n = before ? before->n_resident : 0;

	begin_block(b, number, !before);
	buf_addc(b, '\n');
	for (size_t i = 0; i <= s->n_resident; i++) {
		uint64_t start = i < s->n_resident ? s->resident[i].start : UINT64_MAX;

		for (; at < n && before->resident[at].start < start; at++)
			add_key_line(b, "gone ", before->resident[at].start);
		if (i == s->n_resident)
			break;
		if (at < n && before->resident[at].start == start &&
		    before->resident[at++].end == s->resident[i].end)
			continue;
		add_range(b, "pages ", start, s->resident[i].end);
		buf_addc(b, '\n');
	}
	end_block(b, number);
}
