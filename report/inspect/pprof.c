/* SPDX-License-Identifier: MIT */
#include "report/inspect/pprof.h"

#include "base/array.h"
#include "base/index.h"
#include "base/protobuf.h"
#include "base/text.h"
#include "render/chart/pack_code.h"

#include <errno.h>
#include <stdlib.h>

/* Fields of the messages in profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE, PROFILE_MAPPING, PROFILE_LOCATION, PROFILE_FUNCTION,
	PROFILE_STRING_TABLE, PROFILE_TIME_NANOS = 9, PROFILE_DURATION_NANOS, PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD, PROFILE_COMMENT, PROFILE_DEFAULT_SAMPLE_TYPE,
};
enum { VALUE_TYPE = 1, VALUE_UNIT };
enum { SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STR };
enum {
	MAPPING_ID = 1, MAPPING_START, MAPPING_LIMIT, MAPPING_OFFSET, MAPPING_FILENAME,
	MAPPING_BUILD_ID, MAPPING_HAS_FUNCTIONS, MAPPING_HAS_FILENAMES, MAPPING_HAS_LINES,
	MAPPING_HAS_INLINES,
};
enum { LOCATION_ID = 1, LOCATION_MAPPING_ID, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION_ID = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILENAME };

/* The first strings of the table. */
enum {
	WORD_NONE, WORD_COUNT, WORD_BYTES, WORD_SPACE, WORD_ALLOCATOR, WORD_MALLOC, WORD_MMAP,
	WORD_ALLOC_OBJECTS, WORD_ALLOC_SPACE, WORD_INUSE_OBJECTS, WORD_INUSE_SPACE, WORDS
};

static const char *const words[WORDS] = {
	"", "count", "bytes", "space", "allocator", "malloc", "mmap",
	"alloc_objects", "alloc_space", "inuse_objects", "inuse_space",
};

struct pprof {
	const struct inspection *in;
	const struct snapshot *s;
	bool peak;
	struct buf out, strings;
	uint32_t n_strings, n_functions;
	uint32_t *of_name;	/* number of a text in the table of strings, 0: not yet */
	bool *used;		/* the frames that have a location */
	struct index functions;	/* (name, source) -> id */
	int r;
};

/* A string of protobuf is UTF-8: other bytes are escaped. */
static uint32_t add_string(struct pprof *p, const char *text)
{
	struct buf clean = BUF_PART_OF(&p->strings);

	text_add_name(&clean, text, 0);
	protobuf_str(&p->strings, PROFILE_STRING_TABLE, buf_str(&clean));
	buf_release(&clean);
	return p->n_strings++;
}

static uint32_t name_string(struct pprof *p, uint32_t name)
{
	if (name == INSPECTION_NONE || !p->in->names.name[name].len)
		return WORD_NONE;
	if (!p->of_name[name])
		p->of_name[name] = add_string(p, p->in->names.name[name].p);
	return p->of_name[name];
}

static void add_type(struct pprof *p, unsigned field, uint32_t type, uint32_t unit)
{
	size_t begin = protobuf_begin(&p->out, field);

	protobuf_varint(&p->out, VALUE_TYPE, type);
	protobuf_varint(&p->out, VALUE_UNIT, unit);
	protobuf_end(&p->out, begin);
}

static void add_types(struct pprof *p)
{
	add_type(p, PROFILE_SAMPLE_TYPE, WORD_ALLOC_OBJECTS, WORD_COUNT);
	add_type(p, PROFILE_SAMPLE_TYPE, WORD_ALLOC_SPACE, WORD_BYTES);
	if (!p->peak)
		add_type(p, PROFILE_SAMPLE_TYPE, WORD_INUSE_OBJECTS, WORD_COUNT);
	add_type(p, PROFILE_SAMPLE_TYPE, WORD_INUSE_SPACE, WORD_BYTES);
	protobuf_varint(&p->out, PROFILE_DEFAULT_SAMPLE_TYPE, WORD_INUSE_SPACE);
	add_type(p, PROFILE_PERIOD_TYPE, WORD_SPACE, WORD_BYTES);
	protobuf_varint(&p->out, PROFILE_PERIOD, p->in->heap_period ? p->in->heap_period : 1);
	protobuf_varint(&p->out, PROFILE_TIME_NANOS,
			(uint64_t)(p->in->start_us + p->s->time_us) * 1000);
	protobuf_varint(&p->out, PROFILE_DURATION_NANOS, (uint64_t)p->s->time_us * 1000);
	protobuf_varint(&p->out, PROFILE_COMMENT, add_string(p, p->in->command));
}

/* Samples; a location has the number of its frame plus 1. */

static void add_sample(struct pprof *p, const struct site *site)
{
	size_t sample = protobuf_begin(&p->out, PROFILE_SAMPLE), part;

	part = protobuf_begin(&p->out, SAMPLE_LOCATION_ID);
	for (uint32_t i = site->stack; i != INSPECTION_NONE; i = p->in->stack[i].parent) {
		p->used[p->in->stack[i].frame] = true;
		protobuf_packed_varint(&p->out, p->in->stack[i].frame + UINT64_C(1));
	}
	protobuf_end(&p->out, part);
	part = protobuf_begin(&p->out, SAMPLE_VALUE);
	protobuf_packed_varint(&p->out, site->allocations);
	protobuf_packed_varint(&p->out, site->allocated);
	if (!p->peak)
		protobuf_packed_varint(&p->out, site->live);
	protobuf_packed_varint(&p->out, p->peak ? site->peak_bytes : site->live_bytes);
	protobuf_end(&p->out, part);
	part = protobuf_begin(&p->out, SAMPLE_LABEL);
	protobuf_varint(&p->out, LABEL_KEY, WORD_ALLOCATOR);
	protobuf_varint(&p->out, LABEL_STR, site->mapped ? WORD_MMAP : WORD_MALLOC);
	protobuf_end(&p->out, part);
	protobuf_end(&p->out, sample);
}

/* Locations and functions */

static uint32_t add_function(struct pprof *p, const struct frame_name *f)
{
	uint32_t id, name, source;
	size_t begin;

	if (index_find(&p->functions, f->function, f->source, &id))
		return id;
	id = ++p->n_functions;
	if (index_put(&p->functions, f->function, f->source, id))
		p->r = -ENOMEM;
	name = name_string(p, f->function);
	source = name_string(p, f->source);
	begin = protobuf_begin(&p->out, PROFILE_FUNCTION);
	protobuf_varint(&p->out, FUNCTION_ID, id);
	protobuf_varint(&p->out, FUNCTION_NAME, name);
	protobuf_varint(&p->out, FUNCTION_SYSTEM_NAME, name);
	if (source)
		protobuf_varint(&p->out, FUNCTION_FILENAME, source);
	protobuf_end(&p->out, begin);
	return id;
}

/* The innermost function first: each is inlined into the next one. */
static void add_lines(struct pprof *p, const struct frame *frame, struct buf *lines)
{
	const struct inspection *in = p->in;
	size_t left = in->n_frame_names;

	for (uint32_t i = frame->name; i < in->n_frame_names && left--;
	     i = in->frame_name[i].inlined_in) {
		uint32_t function = add_function(p, &in->frame_name[i]);
		size_t begin = protobuf_begin(lines, LOCATION_LINE);

		protobuf_varint(lines, LINE_FUNCTION_ID, function);
		if (in->frame_name[i].line)
			protobuf_varint(lines, LINE_LINE, in->frame_name[i].line);
		protobuf_end(lines, begin);
	}
}

static void add_location(struct pprof *p, uint32_t number, struct buf *lines)
{
	const struct frame *frame = &p->in->frame[number];
	size_t begin;

	buf_clear(lines);
	add_lines(p, frame, lines);
	begin = protobuf_begin(&p->out, PROFILE_LOCATION);
	protobuf_varint(&p->out, LOCATION_ID, number + UINT64_C(1));
	if (frame->module != INSPECTION_NONE)
		protobuf_varint(&p->out, LOCATION_MAPPING_ID, frame->module + UINT64_C(1));
	protobuf_varint(&p->out, LOCATION_ADDRESS, frame->address);
	buf_add(&p->out, lines->data, lines->len);
	protobuf_end(&p->out, begin);
}

static void add_mapping(struct pprof *p, uint32_t number)
{
	const struct module *module = &p->in->module[number];
	const struct mapping *mapping = snapshot_find(p->s, module->start);
	uint32_t file = name_string(p, module->file);
	uint32_t build_id = *module->build_id ? add_string(p, module->build_id) : 0;
	bool named = p->in->n_frame_names > 0;
	size_t begin = protobuf_begin(&p->out, PROFILE_MAPPING);

	protobuf_varint(&p->out, MAPPING_ID, number + UINT64_C(1));
	protobuf_varint(&p->out, MAPPING_START, module->start);
	protobuf_varint(&p->out, MAPPING_LIMIT, module->end);
	if (mapping)
		protobuf_varint(&p->out, MAPPING_OFFSET, mapping->offset);
	protobuf_varint(&p->out, MAPPING_FILENAME, file);
	if (build_id)
		protobuf_varint(&p->out, MAPPING_BUILD_ID, build_id);
	for (unsigned field = MAPPING_HAS_FUNCTIONS; named && field <= MAPPING_HAS_INLINES; field++)
		protobuf_varint(&p->out, field, 1);
	protobuf_end(&p->out, begin);
}

static void add_all(struct pprof *p)
{
	struct buf lines = BUF_PART_OF(&p->out);

	for (int i = 0; i < WORDS; i++)
		add_string(p, words[i]);
	add_types(p);
	for (size_t i = 0; i < p->s->n_sites; i++)
		add_sample(p, &p->s->site[i]);
	for (uint32_t i = 0; i < p->in->n_modules; i++)
		add_mapping(p, i);
	for (uint32_t i = 0; i < p->in->n_frames; i++) {
		if (p->used[i])
			add_location(p, i, &lines);
	}
	buf_add(&p->out, p->strings.data, p->strings.len);
	buf_release(&lines);
}

int pprof_write(struct buf *out, const struct inspection *in, const struct snapshot *s, bool peak)
{
	struct pprof p = { .in = in, .s = s, .peak = peak, .functions = INDEX_INIT };

	p.strings.whole = &p.out;
	p.of_name = array_new_zero(in->names.n, sizeof *p.of_name);
	p.used = array_new_zero(in->n_frames, sizeof *p.used);
	if (!p.of_name || !p.used)
		p.r = -ENOMEM;
	if (!p.r)
		add_all(&p);
	if (!p.r)
		p.r = buf_error(&p.out);
	if (!p.r)
		p.r = pack_gzip(out, p.out.data, p.out.len);
	index_release(&p.functions);
	buf_release(&p.out);
	buf_release(&p.strings);
	free(p.of_name);
	free(p.used);
	return p.r;
}
