/* SPDX-License-Identifier: MIT */
/* Snapshots of tallies for the host: rows, and JSON with the keys of Chromium. */
#include "base/array.h"
#include "base/file.h"
#include "base/index.h"
#include "base/json.h"
#include "plugin/session.h"
#include "plugin/tally_count.h"
#include "plugin/tally_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STILL_ALIVE "Still_Alive"
#define ALL_THREADS "*"
#define CHUNK 65536

/* Runs that live, of a location and a thread of birth. */
struct living {
	uint32_t location, birth;
	uint32_t n;		/* modulo 2^32 while rows are added */
};

struct snapshot {
	const struct tally_head *head;
	const struct tally_place **place;	/* by number; NULL: unknown */
	struct living *living;
	size_t n_living;
	struct index index;
	int r;
	void (*row)(const struct buildbeat_tally *row, void *data);
	void *data;
};

static __attribute__((cold))
void keep_place(void *data, const struct tally_place *place, const char *texts)
{
	struct snapshot *n = data;

	(void)texts;
	n->place[place->number] = place;
}

static void add_living(struct snapshot *n, const struct tally_level *l)
{
	struct living *living;
	uint32_t at;

	if (!index_find(&n->index, l->location, l->birth, &at)) {
		at = (uint32_t)n->n_living;
		living = array_add(&n->living, &n->n_living, sizeof *living);
		if (!living || index_put(&n->index, l->location, l->birth, at)) {
			n->r = -ENOMEM;
			return;
		}
		*living = (struct living){ .location = l->location, .birth = l->birth };
	}
	n->living[at].n += l->balance;
}

static const char *slot_name(const struct snapshot *n, uint32_t number)
{
	return tally_slot(n->head, number)->name;
}

static void begin_row(struct snapshot *n, struct buildbeat_tally *row, uint32_t location)
{
	const struct tally_place *place = n->place[location];

	*row = (struct buildbeat_tally){ .size = sizeof *row, .function = "", .file = "" };
	if (!place)
		return;
	row->line = place->line;
	row->function = (const char *)(place + 1);
	row->file = row->function + place->function_len;
}

static __attribute__((cold)) void give_row(void *data, const struct tally_level *l)
{
	struct snapshot *n = data;
	struct buildbeat_tally row;

	if (l->balance)
		add_living(n, l);
	if (!l->count && l->birth)
		return;
	begin_row(n, &row, l->location);
	row.birth_thread = l->birth ? slot_name(n, l->birth) : ALL_THREADS;
	row.death_thread = l->death ? slot_name(n, l->death) : ALL_THREADS;
	row.count = l->count;
	row.run_total = l->run_total;
	row.run_self = l->self_total;
	row.run_max = l->run_max;
	row.run_sample = l->run_sample;
	row.queue_total = l->queue_total;
	row.queue_max = l->queue_max;
	row.queue_sample = l->queue_sample;
	row.amount_total = l->amount_total;
	row.amount_max = l->amount_max;
	row.run_histogram = (const uint32_t *)(uintptr_t)l->run;
	row.queue_histogram = (const uint32_t *)(uintptr_t)l->queue;
	n->row(&row, n->data);
}

static void give_living(struct snapshot *n)
{
	struct buildbeat_tally row;

	for (size_t i = 0; i < n->n_living; i++) {
		const struct living *l = &n->living[i];

		/* A death can be seen without its birth. */
		if (!l->n || l->n > INT32_MAX)
			continue;
		begin_row(n, &row, l->location);
		row.birth_thread = slot_name(n, l->birth);
		row.death_thread = STILL_ALIVE;
		row.count = l->n;
		n->row(&row, n->data);
	}
}

/* 0, or -ENOMEM when some rows may be missing. Release in any case. */
static int take_rows(struct snapshot *n, const struct tally_local *l)
{
	struct tally_visitor v = { .data = n, .location = keep_place, .row = give_row };

	n->head = tally_head(l);
	n->place = calloc(TALLY_LOCATIONS, sizeof *n->place);
	if (!n->place)
		return -ENOMEM;
	tally_image_walk(l->image, (size_t)TALLY_PAGES * TALLY_PAGE, &v);
	if (!n->r)
		give_living(n);
	return n->r;
}

static void release_snapshot(struct snapshot *n)
{
	free(n->living);
	free(n->place);
	index_release(&n->index);
}

static const struct tally_local *tallies_of(const struct buildbeat_session *s)
{
	const struct tally_local *l = tally_here;

	return l && l->image && tally_head(l)->stamp &&
	       !memcmp(tally_head(l)->inst, s->store.inst, sizeof s->store.inst) ? l : NULL;
}

__attribute__((cold)) void tally_snapshot(struct buildbeat_session *s,
		    void (*row)(const struct buildbeat_tally *row, void *data), void *data)
{
	const struct tally_local *l = tallies_of(s);
	struct snapshot n = { .row = row, .data = data };

	if (!l || !row)
		return;
	take_rows(&n, l);
	release_snapshot(&n);
}

/* JSON */

struct dump {
	struct json json;
	struct buf b;
	bool is_time;
	int fd, r;
	const struct snapshot *snapshot;
};

static void flush(struct dump *d, size_t more_than)
{
	if (d->b.len <= more_than)
		return;
	if (!d->r)
		d->r = buf_error(&d->b) ? buf_error(&d->b) : file_write_all(d->fd, d->b.data, d->b.len);
	buf_clear(&d->b);
}

/* Chromium's are whole milliseconds. */
static void add_ms(struct dump *d, const char *key, uint64_t n, bool is_time)
{
	if (is_time)
		json_real(&d->json, key, (double)n / 1e6, 6);
	else
		json_int(&d->json, key, n > INT64_MAX ? INT64_MAX : (int64_t)n);
}

static void add_location(struct dump *d, const char *key, const char *function, const char *file,
			 int32_t line)
{
	json_object(&d->json, key);
	json_str(&d->json, "function_name", function);
	json_str(&d->json, "file_name", file);
	json_int(&d->json, "line_number", line);
	json_object_end(&d->json);
}

static void add_place(struct dump *d, const char *key, uint32_t location)
{
	const struct tally_place *p = d->snapshot->place[location];
	const char *function = (const char *)(p + 1);

	if (p)
		add_location(d, key, function, function + p->function_len, p->line);
}

static __attribute__((cold)) void dump_link(void *data, uint32_t parent, uint32_t child)
{
	struct dump *d = data;

	flush(d, CHUNK / 2);
	json_object(&d->json, NULL);
	add_place(d, "parent_location", parent);
	add_place(d, "child_location", child);
	json_object_end(&d->json);
}

static __attribute__((cold)) void dump_row(const struct buildbeat_tally *row, void *data)
{
	struct dump *d = data;

	flush(d, CHUNK / 2);
	if (!row->count)
		return;		/* amounts and histograms, which are not in it */
	json_object(&d->json, NULL);
	json_str(&d->json, "birth_thread", row->birth_thread);
	json_str(&d->json, "death_thread", row->death_thread);
	add_location(d, "location", row->function, row->file, row->line);
	json_object(&d->json, "death_data");
	json_int(&d->json, "count", row->count > INT64_MAX ? INT64_MAX : (int64_t)row->count);
	add_ms(d, "run_ms", row->run_total, d->is_time);
	add_ms(d, "run_ms_max", row->run_max, d->is_time);
	add_ms(d, "run_ms_sample", row->run_sample, d->is_time);
	add_ms(d, "self_ms", row->run_self, d->is_time);
	add_ms(d, "queue_ms", row->queue_total, true);
	add_ms(d, "queue_ms_max", row->queue_max, true);
	add_ms(d, "queue_ms_sample", row->queue_sample, true);
	json_object_end(&d->json);
	json_object_end(&d->json);
}

__attribute__((cold)) int32_t tally_dump(struct buildbeat_session *s, int32_t fd)
{
	const struct tally_local *l = tallies_of(s);
	struct dump d = { .fd = fd, .b = BUF_INIT };
	struct snapshot n = { .row = dump_row, .data = &d };
	struct tally_visitor links = { .data = &d, .link = dump_link };

	if (!l)
		return -ENOENT;
	d.snapshot = &n;
	d.is_time = tally_head(l)->shift == TALLY_TIME_SHIFT;
	json_init(&d.json, &d.b, false);
	json_object(&d.json, NULL);
	json_int(&d.json, "process_id", tally_head(l)->pid);
	json_str(&d.json, "process_type", "host");
	json_str(&d.json, "unit", tally_head(l)->unit);
	json_array(&d.json, "list");
	d.r = take_rows(&n, l);
	json_array_end(&d.json);
	json_array(&d.json, "descendants");
	if (!d.r)
		tally_image_walk(l->image, (size_t)TALLY_PAGES * TALLY_PAGE, &links);
	json_array_end(&d.json);
	json_object_end(&d.json);
	buf_addc(&d.b, '\n');
	flush(&d, 0);
	buf_release(&d.b);
	release_snapshot(&n);
	return d.r;
}
