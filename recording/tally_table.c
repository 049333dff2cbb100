/* SPDX-License-Identifier: MIT */
#include "recording/tally_reader.h"

#include "base/array.h"
#include "base/minmax.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* NUMBER_NAME: of the name of a thread, if threads are merged */
enum number_kind { NUMBER_LOCATION, NUMBER_THREAD, NUMBER_NAME };

#define ALL_THREADS "*"

/* A row of a process, and what it had when it was seen last. There can be millions. */
struct tally_entry {
	uint32_t location;	/* index */
	uint16_t birth, death;	/* numbers of the process */
	uint32_t epoch;		/* of the host; with another one, all but balance is 0 */
	uint32_t balance;
	uint32_t row;		/* the newest; NO_INDEX: none */
	uint32_t run_sample, queue_sample;	/* tally_pack() */
	uint32_t histograms;	/* index, NO_INDEX: all 0 */
	uint64_t count, run_total, self_total, queue_total, amount_total;
};

struct tally_histograms {
	uint64_t run[TALLY_BUCKETS], queue[TALLY_BUCKETS];
};

_Static_assert(TALLY_SLOTS <= UINT16_MAX, "");

int tally_reader_new(struct tally_reader **out, struct tally_table *t, int64_t from_us,
		     int64_t to_us)
{
	struct tally_reader *r = calloc(1, sizeof *r);
	uint32_t none;

	*out = r;
	if (!r)
		return -ENOMEM;
	r->t = t;
	r->arena = arena_new();
	r->from_us = from_us;
	r->to_us = to_us;
	r->process = NO_INDEX;
	if (!r->arena)
		return -ENOMEM;
	r->processes.arena = r->phases.arena = r->names.arena = r->arena;
	return name_table_add(&r->phases, slice_of(""), &none);
}

void tally_reader_free(struct tally_reader *r)
{
	if (!r)
		return;
	name_table_release(&r->processes);
	name_table_release(&r->phases);
	name_table_release(&r->names);
	index_release(&r->numbers);
	index_release(&r->entries);
	index_release(&r->living);
	index_release(&r->rows);
	index_release(&r->links);
	free_all(r->entry, r->histograms, r->host, r->row_epoch);
	arena_free(r->arena);
	free(r);
}

static uint64_t sum(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

/* How much a value grew. One that shrank began again. */
static uint64_t growth(uint64_t now, uint64_t was)
{
	return now >= was ? now - was : now;
}

/* Names and numbers */

int tally_table_at(struct tally_reader *r, int64_t time_us, struct slice inst, uint64_t n_lost)
{
	struct tally_table *t = r->t;
	struct tally_process *p;
	struct tally_host *h;
	int64_t *moment;

	r->applies = time_us <= r->to_us;
	r->counts = time_us > r->from_us;
	if (name_table_add(&r->processes, inst, &r->process))
		return -ENOMEM;
	if (r->process == t->n_processes) {
		p = array_add(&t->process, &t->n_processes, sizeof *p);
		if (!p)
			return -ENOMEM;
		*p = (struct tally_process){
			.instance = r->processes.name[r->process].p, .pid = -1, .clock = "", .unit = "",
			.amount = "", .amount_unit = "",
		};
		h = array_add(&r->host, &r->n_hosts, sizeof *h);
		if (!h)
			return -ENOMEM;
		*h = (struct tally_host){ .everyone = NO_INDEX, .fd = -1 };
	}
	p = &t->process[r->process];
	h = &r->host[r->process];
	if (r->applies && r->counts)
		p->n_lost = sum(p->n_lost, growth(n_lost, h->n_lost));
	h->n_lost = r->applies ? n_lost : h->n_lost;
	if (t->n_moments && t->moment_us[t->n_moments - 1] == time_us)
		return 0;
	moment = array_add(&t->moment_us, &t->n_moments, sizeof *moment);
	if (!moment)
		return -ENOMEM;
	*moment = time_us;
	return 0;
}

static bool find_number(const struct tally_reader *r, enum number_kind kind, uint32_t number,
			uint32_t *at)
{
	return index_find(&r->numbers, r->process, (uint64_t)kind << 32 | number, at);
}

static int enter(struct tally_reader *r, enum number_kind kind, uint32_t number, size_t at)
{
	return index_put(&r->numbers, r->process, (uint64_t)kind << 32 | number, (uint32_t)at);
}

int tally_table_location(struct tally_reader *r, uint32_t number, int32_t line,
			 struct slice function, struct slice file)
{
	struct tally_table *t = r->t;
	struct tally_location *l;
	uint32_t known;

	if (find_number(r, NUMBER_LOCATION, number, &known))
		return 0;
	l = array_add(&t->location, &t->n_locations, sizeof *l);
	if (!l)
		return -ENOMEM;
	*l = (struct tally_location){
		.function = arena_text(r->arena, function.p, function.len),
		.file = arena_text(r->arena, file.p, file.len), .line = line, .process = r->process,
	};
	return l->function && l->file ? enter(r, NUMBER_LOCATION, number, t->n_locations - 1) : -ENOMEM;
}

static int add_thread(struct tally_reader *r, struct slice name, uint32_t *at)
{
	struct tally_table *t = r->t;
	struct tally_thread *thread = array_add(&t->thread, &t->n_threads, sizeof *thread);

	if (!thread)
		return -ENOMEM;
	*at = (uint32_t)t->n_threads - 1;
	*thread = (struct tally_thread){ arena_text(r->arena, name.p, name.len), r->process };
	return thread->name ? 0 : -ENOMEM;
}

/* The thread of all with a similar name. */
static int merge_thread(struct tally_reader *r, struct slice given, uint32_t *at)
{
	const char *text = arena_text(r->arena, given.p, given.len);
	char similar[sizeof ((struct tally_slot *)NULL)->name * 4];
	struct slice name = { similar, 0 };
	uint32_t number;

	if (!text)
		return -ENOMEM;
	name.len = tally_similar_name(similar, sizeof similar, text);
	if (name_table_add(&r->names, name, &number))
		return -ENOMEM;
	if (find_number(r, NUMBER_NAME, number, at))
		return 0;
	return add_thread(r, name, at) ? -ENOMEM : enter(r, NUMBER_NAME, number, *at);
}

int tally_table_thread(struct tally_reader *r, uint32_t number, struct slice name)
{
	uint32_t at;
	int error;

	if (find_number(r, NUMBER_THREAD, number, &at))
		return 0;
	error = r->t->merge_threads ? merge_thread(r, name, &at) : add_thread(r, name, &at);
	return error ? error : enter(r, NUMBER_THREAD, number, at);
}

int tally_table_phase(struct tally_reader *r, struct slice name)
{
	return name_table_add(&r->phases, name, &r->host[r->process].phase);
}

void tally_table_reset(struct tally_reader *r)
{
	r->host[r->process].epoch++;
}

int tally_table_link(struct tally_reader *r, uint32_t parent, uint32_t child)
{
	struct tally_table *t = r->t;
	uint32_t from, to, known;
	struct tally_link *l;

	if (!find_number(r, NUMBER_LOCATION, parent, &from) || !find_number(r, NUMBER_LOCATION,
									    child, &to))
		return 1;
	if (index_find(&r->links, from, to, &known))
		return 0;
	l = array_add(&t->link, &t->n_links, sizeof *l);
	if (!l)
		return -ENOMEM;
	*l = (struct tally_link){ from, to };
	return index_put(&r->links, from, to, 1);
}

/* Rows */

static struct tally_host *host_of(const struct tally_reader *r, const struct tally_entry *e)
{
	return &r->host[r->t->location[e->location].process];
}

static int new_row(struct tally_reader *r, const struct tally_entry *e, uint32_t birth,
		   uint32_t death, uint32_t *at)
{
	struct tally_table *t = r->t;
	struct tally_row *row = array_add(&t->row, &t->n_rows, sizeof *row);
	uint32_t *epoch = row ? array_add(&r->row_epoch, &r->n_epochs, sizeof *epoch) : NULL;

	if (!epoch)
		return -ENOMEM;
	*at = (uint32_t)t->n_rows - 1;
	*row = (struct tally_row){
		.location = e->location, .birth = birth, .death = death,
		.phase = host_of(r, e)->phase,
	};
	*epoch = host_of(r, e)->epoch;
	return 0;
}

static int find_thread(struct tally_reader *r, uint32_t process, uint32_t number, uint32_t *at)
{
	struct tally_host *h = &r->host[process];

	if (number)
		return !index_find(&r->numbers, process, (uint64_t)NUMBER_THREAD << 32 | number, at);
	if (h->everyone == NO_INDEX && add_thread(r, slice_of(ALL_THREADS), &h->everyone))
		return -ENOMEM;
	*at = h->everyone;
	return 0;
}

/* The threads of an entry are known. */
static uint32_t thread_of(struct tally_reader *r, const struct tally_entry *e, uint32_t number)
{
	uint32_t at = 0;

	find_thread(r, r->t->location[e->location].process, number, &at);
	return at;
}

/* Several entries have one row if threads are merged. */
static int find_row_of_phase(struct tally_reader *r, struct tally_entry *e)
{
	uint32_t birth = thread_of(r, e, e->birth), death = thread_of(r, e, e->death);
	uint64_t a = (uint64_t)e->location << 32 | host_of(r, e)->phase;
	uint64_t b = (uint64_t)birth << 32 | death;

	if (index_find(&r->rows, a, b, &e->row))
		return 0;
	return new_row(r, e, birth, death, &e->row) ? -ENOMEM : index_put(&r->rows, a, b, e->row);
}

/* The row of the entry in this phase, empty after a reset. */
static int find_row(struct tally_reader *r, struct tally_entry *e, struct tally_row **row)
{
	const struct tally_host *h = host_of(r, e);

	if ((e->row == NO_INDEX || r->t->row[e->row].phase != h->phase) && find_row_of_phase(r, e))
		return -ENOMEM;
	*row = &r->t->row[e->row];
	if (r->row_epoch[e->row] != h->epoch) {
		r->row_epoch[e->row] = h->epoch;
		**row = (struct tally_row){
			.location = e->location, .birth = (*row)->birth, .death = (*row)->death,
			.phase = h->phase,
		};
	}
	return 0;
}

static int find_entry(struct tally_reader *r, const struct tally_values *v,
		      struct tally_entry **out)
{
	uint64_t threads = (uint64_t)v->birth << 16 | v->death;
	uint32_t location, thread, at;
	struct tally_entry *e;
	int error;

	if (!find_number(r, NUMBER_LOCATION, v->location, &location))
		return 1;
	if (!index_find(&r->entries, location, threads, &at)) {
		error = find_thread(r, r->process, v->birth, &thread);
		if (!error)
			error = find_thread(r, r->process, v->death, &thread);
		if (error)
			return error;
		e = array_add(&r->entry, &r->n_entries, sizeof *e);
		if (!e)
			return -ENOMEM;
		*e = (struct tally_entry){
			.location = location, .birth = (uint16_t)v->birth, .death = (uint16_t)v->death,
			.row = NO_INDEX, .histograms = NO_INDEX, .epoch = r->host[r->process].epoch,
		};
		at = (uint32_t)r->n_entries - 1;
		if (index_put(&r->entries, location, threads, at))
			return -ENOMEM;
	}
	*out = &r->entry[at];
	return 0;
}

/* to, if it is not NULL, gets the growth. */
static int add_histogram(struct tally_reader *r, const uint64_t **to, uint64_t *was,
			 const uint64_t *now)
{
	uint64_t *add = NULL;

	for (unsigned i = 0; i < TALLY_BUCKETS; i++) {
		uint64_t more = growth(now[i], was[i]);

		was[i] = now[i];
		if (!more || !to)
			continue;
		if (!add)
			add = *to ? (uint64_t *)(uintptr_t)*to :
				arena_alloc(r->arena, TALLY_BUCKETS * sizeof *add);
		if (!add)
			return -ENOMEM;
		*to = add;
		add[i] = sum(add[i], more);
	}
	return 0;
}

static int add_histograms(struct tally_reader *r, struct tally_row *row, struct tally_entry *e,
			  const struct tally_values *v)
{
	struct tally_histograms *h;
	int error = 0;

	if (!v->has_run && !v->has_queue)
		return 0;
	if (e->histograms == NO_INDEX) {
		h = array_add(&r->histograms, &r->n_histograms, sizeof *h);
		if (!h)
			return -ENOMEM;
		memset(h, 0, sizeof *h);
		e->histograms = (uint32_t)r->n_histograms - 1;
	}
	h = &r->histograms[e->histograms];
	if (v->has_run)
		error = add_histogram(r, row ? &row->run.histogram : NULL, h->run, v->run);
	if (!error && v->has_queue)
		error = add_histogram(r, row ? &row->queue.histogram : NULL, h->queue, v->queue);
	return error;
}

/* With a chance of n in all. */
static bool is_chosen(struct tally_reader *r, uint64_t n, uint64_t all)
{
	r->dice = r->dice * 6364136223846793005u + 1442695040888963407u;
	return n >= all || (double)(r->dice >> 11) * 0x1p-53 * (double)all < (double)n;
}

static void add_values(struct tally_reader *r, struct tally_row *row, const struct tally_entry *e,
		       const struct tally_values *v)
{
	uint64_t more = growth(v->count, e->count);

	row->count = sum(row->count, more);
	row->run.total = sum(row->run.total, growth(v->run_total, e->run_total));
	row->self_total = sum(row->self_total, growth(v->self_total, e->self_total));
	row->queue.total = sum(row->queue.total, growth(v->queue_total, e->queue_total));
	row->amount_total = sum(row->amount_total, growth(v->amount_total, e->amount_total));
	row->run.max = MAX(row->run.max, v->run_max);
	row->queue.max = MAX(row->queue.max, v->queue_max);
	row->amount_max = MAX(row->amount_max, v->amount_max);
	/* The sample of a window is one that was taken in it. */
	if ((tally_pack(v->run_sample) != e->run_sample ||
	     tally_pack(v->queue_sample) != e->queue_sample) &&
	    (!r->t->merge_threads || is_chosen(r, more, row->count))) {
		row->run.sample = v->run_sample;
		row->queue.sample = v->queue_sample;
	}
}

int tally_table_values(struct tally_reader *r, const struct tally_values *v)
{
	struct tally_row *row = NULL;
	struct tally_entry *e;
	int error = find_entry(r, v, &e);

	if (error)
		return error;
	if (e->epoch != host_of(r, e)->epoch || v->count < e->count) {
		e->epoch = host_of(r, e)->epoch;
		e->count = e->run_total = e->self_total = e->queue_total = e->amount_total = 0;
		e->run_sample = e->queue_sample = 0;
		if (e->histograms != NO_INDEX)
			memset(&r->histograms[e->histograms], 0, sizeof *r->histograms);
	}
	if (r->counts && (v->count != e->count || v->has_run || v->has_queue)) {
		error = find_row(r, e, &row);
		if (error)
			return error;
		add_values(r, row, e, v);
	}
	error = add_histograms(r, row, e, v);
	e->balance = v->balance;
	e->count = v->count;
	e->run_total = v->run_total;
	e->self_total = v->self_total;
	e->run_sample = tally_pack(v->run_sample);
	e->queue_total = v->queue_total;
	e->queue_sample = tally_pack(v->queue_sample);
	e->amount_total = v->amount_total;
	return error;
}

/* The end */

/* Those that were reset, or have nothing new. */
static void drop_rows(struct tally_reader *r)
{
	struct tally_table *t = r->t;
	size_t n = 0;

	for (size_t i = 0; i < t->n_rows; i++) {
		const struct tally_row *row = &t->row[i];
		uint32_t process = t->location[row->location].process;

		if (r->row_epoch[i] != r->host[process].epoch ||
		    (!row->count && !row->run.histogram && !row->queue.histogram && !row->amount_total))
			continue;
		t->row[n++] = *row;
	}
	t->n_rows = n;
}

/* Births and deaths of a location and a thread of birth. */
static int add_living(struct tally_reader *r)
{
	struct tally_table *t = r->t;
	size_t first = t->n_rows, n = first;
	uint32_t at;

	r->n_epochs = t->n_rows;
	for (size_t i = 0; i < r->n_entries; i++) {
		const struct tally_entry *e = &r->entry[i];
		uint32_t birth;

		if (!e->balance)
			continue;
		birth = thread_of(r, e, e->birth);
		if (!index_find(&r->living, e->location, birth, &at) &&
		    (new_row(r, e, birth, TALLY_STILL_ALIVE, &at) ||
		     index_put(&r->living, e->location, birth, at)))
			return -ENOMEM;
		t->row[at].count = (uint32_t)(t->row[at].count + e->balance);
	}
	for (size_t i = first; i < t->n_rows; i++) {
		/* A death can be seen without its birth. */
		if (t->row[i].count && t->row[i].count <= INT32_MAX)
			t->row[n++] = t->row[i];
	}
	t->n_rows = n;
	return 0;
}

static int by_time(const void *a, const void *b)
{
	return array_order(*(const int64_t *)a, *(const int64_t *)b);
}

static void sort_moments(struct tally_reader *r)
{
	struct tally_table *t = r->t;
	size_t n = 0;

	if (t->n_moments)
		qsort(t->moment_us, t->n_moments, sizeof *t->moment_us, by_time);
	t->from_us = t->to_us = -1;
	for (size_t i = 0; i < t->n_moments; i++) {
		int64_t moment = t->moment_us[i];

		if (!n || t->moment_us[n - 1] != moment)
			t->moment_us[n++] = moment;
		if (moment <= r->from_us)
			t->from_us = moment;
		if (moment <= r->to_us)
			t->to_us = moment;
	}
	t->n_moments = n;
}

int tally_table_finish(struct tally_reader *r)
{
	struct tally_table *t = r->t;
	const char **phase = arena_alloc(r->arena, r->phases.n * sizeof *phase);

	if (!phase)
		return -ENOMEM;
	for (size_t i = 0; i < r->phases.n; i++)
		phase[i] = r->phases.name[i].p;
	t->phase = phase;
	t->n_phases = r->phases.n;
	sort_moments(r);
	drop_rows(r);
	return add_living(r);
}
