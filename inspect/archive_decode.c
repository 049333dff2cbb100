/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/field.h"
#include "base/hex.h"
#include "inspect/archive_format.h"
#include "inspect/archive_merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A block that is being read. */
struct block {
	struct archive_decoder *d;
	struct snapshot *s;	/* of the block before it, and becomes that of this one */
	struct archive_merge mappings, sites, ranges, resident;
	struct archive_written from;	/* what the inspection had before the block */
	bool has_values;
};

#define DAMAGED (-EINVAL)

/* Words of a line */

static bool range_of(struct cursor *c, uint64_t *start, uint64_t *end)
{
	return hex_u64(c, start) && cursor_byte(c, '-') && hex_u64(c, end);
}

/* A number below limit. */
static bool number_below(struct cursor *c, size_t limit, uint32_t *n)
{
	uint64_t value;

	if (!cursor_u64(c, &value) || value >= limit || value >= INSPECTION_NONE)
		return false;
	*n = (uint32_t)value;
	return true;
}

static bool number_or_none(struct cursor *c, size_t limit, uint32_t *n)
{
	if (cursor_byte(c, '-')) {
		*n = INSPECTION_NONE;
		return true;
	}
	return number_below(c, limit, n);
}

/* VALUES: add the differences to value[]. They end at a tab, or with the line. */
static bool add_values(struct cursor *c, uint64_t *value, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int64_t change;

		if (cursor_at_end(c) || *c->p == '\t')
			return true;
		if (*c->p != ',') {
			if (!cursor_i64(c, &change))
				return false;
			value[i] += (uint64_t)change;
		}
		if (!cursor_byte(c, ','))
			break;
	}
	return cursor_at_end(c) || *c->p == '\t';
}

/* A tab and the text at the end of the line. 0, -ENOMEM or DAMAGED. */
static int text_of(struct cursor *c, struct inspection *x, uint32_t *number)
{
	size_t len;
	char *text;
	int r;

	if (!cursor_byte(c, '\t'))
		return DAMAGED;
	len = (size_t)(c->end - c->p);
	if (!memchr(c->p, '\\', len))
		return name_table_add(&x->names, (struct slice){ c->p, len }, number);
	text = malloc(len);
	if (!text)
		return -ENOMEM;
	memcpy(text, c->p, len);
	len = field_decode(text, len, NULL);
	r = name_table_add(&x->names, (struct slice){ text, len }, number);
	free(text);
	return r;
}

/* The rest of a "gone" line. */
static int gone_line(struct archive_merge *m, struct cursor *c)
{
	uint64_t key;

	if (!hex_u64(c, &key) || !cursor_at_end(c))
		return DAMAGED;
	return archive_merge_remove(m, key);
}

/* maps.log */

static int map_line(struct block *b, struct cursor *c)
{
	struct mapping m = { 0 }, *put;
	struct slice word;
	int r;

	if (!range_of(c, &m.start, &m.end) || !cursor_byte(c, ' ') ||
	    !cursor_word(c, &word, 4) || word.len != 4 || !cursor_byte(c, ' ') ||
	    !hex_u64(c, &m.offset) || !cursor_byte(c, ' ') ||
	    !hex_u32(c, &m.device_major) || !cursor_byte(c, ':') ||
	    !hex_u32(c, &m.device_minor) || !cursor_byte(c, ' ') ||
	    !cursor_u64(c, &m.inode) || !cursor_byte(c, ' ') ||
	    !add_values(c, m.kb, MAPPING_VALUES))
		return DAMAGED;
	memcpy(m.permissions, word.p, 4);
	r = text_of(c, b->d->x, &m.file);
	if (r)
		return r;
	put = archive_merge_put(&b->mappings, m.start);
	if (!put)
		return -ENOMEM;
	*put = m;
	return 0;
}

static int change_line(struct block *b, struct cursor *c)
{
	struct mapping *m;
	uint64_t start;

	if (!hex_u64(c, &start) || !cursor_byte(c, ' '))
		return DAMAGED;
	m = archive_merge_find(&b->mappings, start);
	return m && add_values(c, m->kb, MAPPING_VALUES) && cursor_at_end(c) ? 0 : DAMAGED;
}

bool archive_decode_values(struct cursor *c, struct process_values *v)
{
	uint64_t value[8];
	size_t n = 0;

	do {
		if (n == 8 || !cursor_u64(c, &value[n++]))
			return false;
	} while (cursor_byte(c, ' '));
	if (!cursor_at_end(c) || (n != 6 && n != 8) || value[5] > UINT32_MAX)
		return false;
	*v = (struct process_values){
		.user_ticks = value[0], .system_ticks = value[1], .minor_faults = value[2],
		.major_faults = value[3], .rss_kb = value[4], .threads = (uint32_t)value[5],
		.has_io = n == 8,
	};
	if (v->has_io) {
		v->read_kb = value[6];
		v->written_kb = value[7];
	}
	return archive_valid_values(v);
}

static int values_line(struct block *b, struct cursor *c)
{
	if (b->has_values || !archive_decode_values(c, &b->s->process))
		return DAMAGED;
	b->has_values = true;
	return 0;
}

static int maps_line(struct block *b, struct cursor *c)
{
	if (cursor_literal(c, "+ "))
		return change_line(b, c);
	if (cursor_literal(c, "map "))
		return map_line(b, c);
	if (cursor_literal(c, "gone "))
		return gone_line(&b->mappings, c);
	return cursor_literal(c, "values ") ? values_line(b, c) : DAMAGED;
}

/* heap.log */

static int module_line(struct block *b, struct cursor *c)
{
	struct inspection *x = b->d->x;
	struct module m = { 0 }, *added;
	struct slice id;
	int r;

	if (b->d->known)
		return 0;
	if (!range_of(c, &m.start, &m.end) || !cursor_byte(c, ' ') ||
	    !hex_u64(c, &m.bias) || !cursor_byte(c, ' ') ||
	    !cursor_word(c, &id, sizeof m.build_id - 1))
		return DAMAGED;
	for (size_t i = 0; i < id.len && !slice_is(id, "-"); i++) {
		if (hex_value(id.p[i]) < 0)
			return DAMAGED;
		m.build_id[i] = id.p[i];
	}
	r = text_of(c, x, &m.file);
	if (r)
		return r;
	added = array_add(&x->module, &x->n_modules, sizeof *added);
	if (!added)
		return -ENOMEM;
	*added = m;
	return 0;
}

static int frame_line(struct block *b, struct cursor *c)
{
	struct frame f = { .name = INSPECTION_NONE }, *added;
	struct inspection *x = b->d->x;

	if (b->d->known)
		return 0;
	if (!hex_u64(c, &f.address) || !cursor_byte(c, ' ') ||
	    !number_or_none(c, x->n_modules, &f.module) || !cursor_at_end(c))
		return DAMAGED;
	added = array_add(&x->frame, &x->n_frames, sizeof *added);
	if (!added)
		return -ENOMEM;
	*added = f;
	return 0;
}

static int stack_line(struct block *b, struct cursor *c)
{
	struct inspection *x = b->d->x;
	struct stack s, *added;

	if (b->d->known)
		return 0;
	if (!number_or_none(c, x->n_stacks, &s.parent) || !cursor_byte(c, ' ') ||
	    !number_below(c, x->n_frames, &s.frame) || !cursor_at_end(c))
		return DAMAGED;
	added = array_add(&x->stack, &x->n_stacks, sizeof *added);
	if (!added)
		return -ENOMEM;
	*added = s;
	return 0;
}

/* STACK or STACKm: fill in which site it is. */
static bool site_of(struct cursor *c, size_t n_stacks, struct site *s)
{
	if (!number_below(c, n_stacks, &s->stack))
		return false;
	s->mapped = cursor_byte(c, 'm');
	return true;
}

static int site_line(struct block *b, struct cursor *c)
{
	uint64_t value[ARCHIVE_SITE_VALUES];
	struct site which = { 0 }, *s;

	if (!site_of(c, b->d->x->n_stacks, &which) || !cursor_byte(c, ' '))
		return DAMAGED;
	s = archive_merge_put(&b->sites, archive_site_key(&which));
	if (!s)
		return -ENOMEM;
	archive_site_values((int64_t *)value, s);
	if (!add_values(c, value, ARCHIVE_SITE_VALUES) || !cursor_at_end(c))
		return DAMAGED;
	*s = (struct site){
		.stack = which.stack, .mapped = which.mapped, .allocations = value[0],
		.frees = value[1], .allocated = value[2], .live = value[3],
		.live_bytes = value[4], .peak_bytes = value[5], .temporary = value[6],
		.error_bytes = value[7],
	};
	return 0;
}

static int gone_site(struct block *b, struct cursor *c)
{
	struct site s = { 0 };

	if (!site_of(c, b->d->x->n_stacks, &s) || !cursor_at_end(c))
		return DAMAGED;
	return archive_merge_remove(&b->sites, archive_site_key(&s));
}

static int range_line(struct block *b, struct cursor *c)
{
	struct mapped_range m = { 0 }, *put;

	if (!range_of(c, &m.start, &m.end) || !cursor_byte(c, ' ') ||
	    !number_below(c, b->d->x->n_stacks, &m.stack) || !cursor_at_end(c))
		return DAMAGED;
	put = archive_merge_put(&b->ranges, m.start);
	if (!put)
		return -ENOMEM;
	*put = m;
	return 0;
}

static int heap_line(struct block *b, struct cursor *c)
{
	if (cursor_literal(c, "+ "))
		return site_line(b, c);
	if (cursor_literal(c, "stack "))
		return stack_line(b, c);
	if (cursor_literal(c, "frame "))
		return frame_line(b, c);
	if (cursor_literal(c, "module "))
		return module_line(b, c);
	if (cursor_literal(c, "range "))
		return range_line(b, c);
	if (cursor_literal(c, "- "))
		return gone_site(b, c);
	return cursor_literal(c, "gone ") ? gone_line(&b->ranges, c) : DAMAGED;
}

/* pages.log */

static int pages_line(struct block *b, struct cursor *c)
{
	struct resident p = { 0 }, *put;

	if (cursor_literal(c, "gone "))
		return gone_line(&b->resident, c);
	if (!cursor_literal(c, "pages ") || !range_of(c, &p.start, &p.end) || !cursor_at_end(c))
		return DAMAGED;
	put = archive_merge_put(&b->resident, p.start);
	if (!put)
		return -ENOMEM;
	*put = p;
	return 0;
}

/* Blocks */

static uint64_t mapping_key(const void *item)
{
	return ((const struct mapping *)item)->start;
}

static uint64_t site_key(const void *item)
{
	return archive_site_key(item);
}

static uint64_t range_key(const void *item)
{
	return ((const struct mapped_range *)item)->start;
}

static uint64_t resident_key(const void *item)
{
	return ((const struct resident *)item)->start;
}

static int merge_all(struct block *b)
{
	struct archive_merge *all[] = { &b->mappings, &b->sites, &b->ranges, &b->resident };
	int r = 0;

	for (size_t i = 0; !r && i < ARRAY_SIZE(all); i++)
		r = archive_merge_finish(all[i]);
	return r;
}

static void release_block(struct block *b)
{
	archive_merge_release(&b->mappings);
	archive_merge_release(&b->sites);
	archive_merge_release(&b->ranges);
	archive_merge_release(&b->resident);
}

/* The lists of the log are empty before a block that has everything. */
static void empty_list(struct snapshot *s, enum archive_log log)
{
	if (log == ARCHIVE_MAPS)
		s->n = 0;
	else if (log == ARCHIVE_PAGES)
		s->n_resident = 0;
	else
		s->n_sites = s->n_ranges = 0;
}

static bool first_words(struct block *b, struct cursor *c, enum archive_log log)
{
	struct snapshot *s = b->s;
	struct slice word;

	b->d->all = false;
	if (log == ARCHIVE_MAPS) {
		s->frozen = s->ended = s->has_heap = s->has_pages = false;
		if (!cursor_byte(c, ' ') || !cursor_i64(c, &s->time_us) ||
		    !cursor_byte(c, ' ') || !cursor_i64(c, &s->took_us))
			return false;
	}
	while (cursor_byte(c, ' ')) {
		if (!cursor_word(c, &word, 32))
			return false;
		b->d->all |= slice_is(word, ARCHIVE_WORD_ALL);
		if (log != ARCHIVE_MAPS)
			continue;
		s->frozen |= slice_is(word, ARCHIVE_WORD_FROZEN);
		s->ended |= slice_is(word, ARCHIVE_WORD_ENDED);
		s->has_heap |= slice_is(word, ARCHIVE_WORD_HEAP);
		s->has_pages |= slice_is(word, ARCHIVE_WORD_PAGES);
	}
	return cursor_at_end(c);
}

static int first_line(struct block *b, struct slice line, enum archive_log log)
{
	struct cursor c;
	uint64_t number;

	cursor_init(&c, line.p, line.len);
	if (!cursor_literal(&c, "snapshot ") || !cursor_u64(&c, &number) || number > UINT32_MAX ||
	    !first_words(b, &c, log))
		return DAMAGED;
	b->d->number = (size_t)number;
	if (b->d->all)
		empty_list(b->s, log);
	return 0;
}

static bool is_end(struct slice line, size_t number)
{
	struct cursor c;
	uint64_t n;

	cursor_init(&c, line.p, line.len);
	return cursor_literal(&c, "end ") && cursor_u64(&c, &n) && n == number &&
	       cursor_at_end(&c);
}

static int block_line(struct block *b, struct slice line, enum archive_log log)
{
	struct cursor c;

	cursor_init(&c, line.p, line.len);
	return log == ARCHIVE_MAPS ? maps_line(b, &c) : log == ARCHIVE_HEAP ? heap_line(b, &c) :
	       pages_line(b, &c);
}

static int finish(struct block *b, enum archive_log log)
{
	const struct inspection *x = b->d->x;
	int r = merge_all(b);

	if (r)
		return r;
	return archive_valid_block(log, x, b->s) && archive_valid_stacks(x, &b->from) &&
	       (log != ARCHIVE_MAPS || b->has_values) ? 1 : DAMAGED;
}

/* 1 at the end of the block, 0 at that of the file. */
static int lines(struct block *b, enum archive_log log)
{
	struct slice line;
	enum feed_line got = feed_line(b->d->feed, &line);
	int r;

	if (got == FEED_END)
		return b->d->feed->error;
	b->d->begun = true;
	r = got == FEED_WHOLE ? first_line(b, line, log) : got == FEED_TORN ? 0 : DAMAGED;
	if (r)
		return r;
	while (got == FEED_WHOLE) {
		got = feed_line(b->d->feed, &line);
		if (got == FEED_TOO_LONG)
			return DAMAGED;
		if (got != FEED_WHOLE)
			return b->d->feed->error;
		if (line.len && line.p[0] == 'e' && is_end(line, b->d->number)) {
			b->d->begun = false;
			return finish(b, log);
		}
		r = block_line(b, line, log);
		if (r)
			return r;
	}
	return 0;
}

int archive_decode(struct archive_decoder *d, enum archive_log log, struct snapshot *s)
{
	struct block b = {
		.d = d, .s = s,
		.mappings = ARCHIVE_MERGE(s->mapping, s->n, mapping_key),
		.sites = ARCHIVE_MERGE(s->site, s->n_sites, site_key),
		.ranges = ARCHIVE_MERGE(s->range, s->n_ranges, range_key),
		.resident = ARCHIVE_MERGE(s->resident, s->n_resident, resident_key),
		.from = { d->x->n_modules, d->x->n_frames, d->x->n_stacks },
	};
	int r;

	d->begun = false;
	r = lines(&b, log);
	release_block(&b);
	if (r != 1) {
		/* a block counts only as a whole */
		d->x->n_modules = b.from.modules;
		d->x->n_frames = b.from.frames;
		d->x->n_stacks = b.from.stacks;
	}
	return r;
}
