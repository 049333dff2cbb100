/* SPDX-License-Identifier: MIT */
#include "launch/cache_log.h"

#include "base/array.h"
#include "base/minmax.h"
#include "command/command_name.h"
#include "command/kind.h"
#include "command/shell.h"
#include "launch/cache_words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Logs */

static int add_entry(struct cache_log *l, struct slice name, enum task_cache result)
{
	struct cache_entry *added;
	uint32_t number;
	int r = name_table_add(&l->names, name, &number);

	added = r ? NULL : array_add(&l->entry, &l->n_entries, sizeof *added);
	if (!added)
		return -ENOMEM;
	*added = (struct cache_entry){ number, result };
	l->has_relative |= name.len && *name.p != '/';
	return 0;
}

static enum task_cache result_of(struct slice counter)
{
	return slice_is(counter, "direct_cache_hit") ? CACHE_DIRECT :
	       slice_is(counter, "preprocessed_cache_hit") ? CACHE_PREPROCESSED :
	       slice_is(counter, "cache_miss") ? CACHE_MISS : CACHE_UNKNOWN;
}

/* Since ccache 4.11, a link of several files has no name: its counter is its name. */
#define LINK "called_for_link"

static int name_link(struct cache_log *l, struct slice counter)
{
	struct cache_entry *e = &l->entry[l->n_entries - 1];

	return e->name == name_table_find(&l->names, slice_of("")) ?
	       name_table_add(&l->names, counter, &e->name) : 0;
}

/* A call whose counters have no result could not be cached: it failed, or linked ... */
static int parse_ccache(struct cache_log *l, struct slice text)
{
	struct slice line;
	struct cursor c;
	bool complete;
	int r = 0;

	cursor_init(&c, text.p, text.len);
	while (cursor_line(&c, &line, &complete)) {
		if (slice_starts(line, "# "))
			r = add_entry(l, (struct slice){ line.p + 2, line.len - 2 },
				      CACHE_UNCACHEABLE);
		else if (l->n_entries && complete && result_of(line) != CACHE_UNKNOWN)
			l->entry[l->n_entries - 1].result = result_of(line);
		else if (l->n_entries && complete && slice_is(line, LINK))
			r = name_link(l, line);
		if (r)
			return r;
	}
	return 0;
}

/* "[NAME]: WHAT" at the end of a line: its parts. */
static bool find_said(struct slice line, struct slice *name, struct slice *what)
{
	const char *p = memmem(line.p, line.len, "]: ", 3), *open;

	if (!p)
		return false;
	open = memrchr(line.p, '[', (size_t)(p - line.p));
	if (!open || open + 1 == p)
		return false;
	*name = (struct slice){ open + 1, (size_t)(p - open - 1) };
	*what = (struct slice){ p + 3, (size_t)(line.p + line.len - p - 3) };
	return true;
}

static int parse_sccache(struct cache_log *l, struct slice text)
{
	static const struct {
		const char *begins;
		enum task_cache result;
	} said[] = {
		{ "Cache hit in ", CACHE_HIT },
		{ "Cache miss in ", CACHE_MISS },
		{ "Cache none in ", CACHE_UNCACHEABLE },
		{ "Cache recache in ", CACHE_UNCACHEABLE },
		{ "Cache read error", CACHE_MISS },
		{ "Cache timed out ", CACHE_MISS },
	};
	struct slice line, name, what;
	struct cursor c;
	bool complete;
	int r = 0;

	cursor_init(&c, text.p, text.len);
	while (!r && cursor_line(&c, &line, &complete)) {
		if (!find_said(line, &name, &what))
			continue;
		for (size_t i = 0; !r && i < ARRAY_SIZE(said); i++) {
			if (slice_starts(what, said[i].begins))
				r = add_entry(l, name, said[i].result);
		}
	}
	return r;
}

int cache_log_parse(struct cache_log *l, struct slice text)
{
	int r = l->kind == CACHE_CCACHE ? parse_ccache(l, text) : parse_sccache(l, text);

	if (r)
		return r;
	for (size_t i = 0; i < l->n_entries; i++) {
		enum task_cache result = l->entry[i].result;

		l->misses += result == CACHE_MISS;
		l->uncacheable += result == CACHE_UNCACHEABLE;
		l->hits += result != CACHE_MISS && result != CACHE_UNCACHEABLE;
	}
	return 0;
}

void cache_log_release(struct cache_log *l)
{
	name_table_release(&l->names);
	free_all(l->entry, l->candidate);
	*l = (struct cache_log){ .names = NAME_TABLE_INIT };
}

/* Candidates */

/* The task whose command is searched. */
struct search {
	struct cache_log *l;
	uint32_t task;
	bool compiles;		/* its kind is compile or link */
	bool calls;		/* a word of it is ccache */
	struct buf dir;		/* where it runs */
	struct buf path;
};

static int add_candidate(struct search *s, uint32_t name, int rank)
{
	struct cache_log *l = s->l;
	struct cache_candidate *added;

	for (size_t i = l->n_candidates; i > 0 && l->candidate[i - 1].task == s->task; i--) {
		struct cache_candidate *c = &l->candidate[i - 1];

		if (c->name == name) {
			c->rank = MAX(c->rank, rank);
			return 0;
		}
	}
	added = array_add(&l->candidate, &l->n_candidates, sizeof *added);
	if (!added)
		return -ENOMEM;
	*added = (struct cache_candidate){ name, s->task, rank };
	return 0;
}

/* An absolute path as ccache's base_dir rewrites it: relative to the directory of the call. */
static uint32_t find_relative(struct search *s, struct slice word)
{
	struct slice dir = { s->dir.data, s->dir.len };
	size_t same = 0;

	while (dir.len > 1 && dir.p[dir.len - 1] == '/')
		dir.len--;
	for (size_t i = 0; i < word.len && i <= dir.len; i++) {
		if (i == dir.len ? word.p[i] == '/' : word.p[i] == '/' && dir.p[i] == '/')
			same = i + 1;
		if (i == dir.len || word.p[i] != dir.p[i])
			break;
	}
	buf_clear(&s->path);
	if (same <= dir.len) {
		buf_adds(&s->path, "../");
		for (size_t i = same; i < dir.len; i++) {
			if (dir.p[i] == '/')
				buf_adds(&s->path, "../");
		}
	}
	buf_add(&s->path, word.p + same, word.len - same);
	return name_table_find(&s->l->names, (struct slice){ s->path.data, s->path.len });
}

static int take_word(void *context, struct slice word, bool after_cache)
{
	struct search *s = context;
	uint32_t name = name_table_find(&s->l->names, word);

	s->calls |= after_cache;
	if (name == NAME_TABLE_NONE && *word.p == '/' && s->l->has_relative && s->dir.len)
		name = find_relative(s, word);
	if (name == NAME_TABLE_NONE)
		return buf_error(&s->path);
	return add_candidate(s, name, after_cache ? 2 : s->compiles);
}

/* Where the command runs: "cd DIR && COMMAND", or in the directory of the instance. */
static int find_dir(struct search *s, const char *command, const char *dir)
{
	struct slice word;
	struct cursor c;

	buf_clear(&s->dir);
	buf_adds(&s->dir, dir);
	cursor_init(&c, command, strlen(command));
	if (shell_word(&c, &word) && slice_is(word, "cd") && shell_word(&c, &word)) {
		if (*word.p == '/')
			buf_clear(&s->dir);
		else
			buf_addc(&s->dir, '/');
		shell_add_plain(&s->dir, word);
	}
	return buf_error(&s->dir);
}

/* The name of the object without its directory: that of -o, or of the source. */
static int add_object(struct search *s, const char *command)
{
	const char *dot;
	struct slice object;
	uint32_t name;

	command_name_add(&s->path, command, strlen(command));
	object = shell_base_name((struct slice){ buf_str(&s->path), s->path.len });
	dot = memrchr(object.p, '.', object.len);
	if (dot && !slice_ends(object, ".o")) {
		buf_cut(&s->path, (size_t)(dot - s->path.data));
		buf_adds(&s->path, ".o");
		object = shell_base_name((struct slice){ buf_str(&s->path), s->path.len });
	}
	name = name_table_find(&s->l->names, object);
	return buf_error(&s->path) ? buf_error(&s->path) : name == NAME_TABLE_NONE ? 0 :
	       add_candidate(s, name, 1 + !!strstr(command, "sccache"));
}

static int add_link(struct search *s)
{
	uint32_t name = name_table_find(&s->l->names, slice_of(LINK));

	return name == NAME_TABLE_NONE ? 0 : add_candidate(s, name, s->calls ? 2 : 1);
}

int cache_log_add_task(struct cache_log *l, uint32_t task, const char *command, const char *dir)
{
	const char *kind = kind_of_command(command, strlen(command));
	struct search s = { .l = l, .task = task, .dir = BUF_INIT, .path = BUF_INIT,
		.compiles = !strcmp(kind, "compile") || !strcmp(kind, "link") };
	const struct cache_words words = { &s, take_word };
	size_t before = l->n_candidates;
	int r;

	if (!strcmp(kind, "make"))
		return 0;
	if (l->kind == CACHE_SCCACHE) {
		r = strcmp(kind, "compile") ? 0 : add_object(&s, command);
	} else {
		r = find_dir(&s, command, dir);
		if (!r)
			r = cache_words_find(&words, command);
		if (!r && l->n_candidates == before && !strcmp(kind, "link"))
			r = add_link(&s);
	}
	buf_release(&s.dir);
	buf_release(&s.path);
	return r;
}

/* Joining */

struct group {
	const struct recording *rec;
	size_t n_tasks, n_entries;
	const struct cache_candidate *task;	/* by start */
	const enum task_cache *entry;
};

/* The result of a task that called the cache several times is the worst of its calls. */
static enum task_cache worst(const enum task_cache *entry, size_t n)
{
	enum task_cache w = CACHE_UNKNOWN;

	for (size_t i = 0; i < n; i++) {
		if (entry[i] == CACHE_MISS || (w != CACHE_MISS && entry[i] != CACHE_UNCACHEABLE &&
					       entry[i] > w))
			w = entry[i];
	}
	return w ? w : n ? CACHE_UNCACHEABLE : CACHE_UNKNOWN;
}

static bool all_equal(const enum task_cache *entry, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (entry[i] != entry[0])
			return false;
	}
	return true;
}

static void set(const struct group *g, enum task_cache *result, size_t from, size_t to,
		enum task_cache is)
{
	for (size_t i = from; i < to; i++) {
		enum task_cache both[2] = { result[g->task[i].task], is };

		result[g->task[i].task] = both[0] ? worst(both, 2) : is;
	}
}

/* The tasks beginning with `from` that overlap, each with an earlier one: returns the first one after
 * them. */
static size_t overlapping(const struct group *g, size_t from)
{
	int64_t end_us = 0;
	size_t i = from;

	do {
		int64_t own_us = recording_task_end_us(g->rec, &g->rec->task[g->task[i].task]);

		end_us = MAX(own_us, end_us);
		i++;
	} while (i < g->n_tasks && g->rec->task[g->task[i].task].start_us < end_us);
	return i;
}

static void join_group(const struct group *g, enum task_cache *result)
{
	size_t each = g->n_tasks ? g->n_entries / g->n_tasks : 0;

	if (g->n_tasks == 1) {
		set(g, result, 0, 1, worst(g->entry, g->n_entries));
		return;
	}
	if (!each || (g->n_entries % g->n_tasks && !all_equal(g->entry, g->n_entries)))
		return;
	for (size_t i = 0, end; i < g->n_tasks; i = end) {
		const enum task_cache *entry = g->entry + i * each;

		end = overlapping(g, i);
		if (end - i == 1 || all_equal(entry, (end - i) * each))
			set(g, result, i, end, worst(entry, (end - i) * each));
	}
}

static int by_name(const void *a, const void *b, void *recording)
{
	const struct cache_candidate *x = a, *y = b;
	const struct recording *rec = recording;

	if (x->name != y->name)
		return array_order(x->name, y->name);
	if (x->rank != y->rank)
		return array_order(y->rank, x->rank);
	return array_order(rec->task[x->task].start_us, rec->task[y->task].start_us);
}

/* All entries by name, in the order of the log; begin[name] is the place of the first. */
static enum task_cache *sort_entries(const struct cache_log *l, size_t *begin)
{
	enum task_cache *sorted = array_new(l->n_entries, sizeof *sorted);
	size_t at = 0;

	if (!sorted)
		return NULL;
	for (size_t i = 0; i < l->n_entries; i++)
		begin[l->entry[i].name]++;
	for (size_t i = 0; i < l->names.n; i++) {
		size_t n = begin[i];

		begin[i] = at;
		at += n;
	}
	for (size_t i = 0; i < l->n_entries; i++)
		sorted[begin[l->entry[i].name]++] = l->entry[i].result;
	for (size_t i = l->names.n; i > 0; i--)
		begin[i] = begin[i - 1];
	begin[0] = 0;
	return sorted;
}

int cache_log_join(struct cache_log *l, const struct recording *rec, enum task_cache *result)
{
	size_t *begin = array_new_zero(l->names.n + 1, sizeof *begin);
	enum task_cache *sorted = begin ? sort_entries(l, begin) : NULL;

	if (sorted && l->n_candidates)
		qsort_r(l->candidate, l->n_candidates, sizeof *l->candidate, by_name,
			(void *)(uintptr_t)rec);
	for (size_t i = 0, end; sorted && i < l->n_candidates; i = end) {
		const struct cache_candidate *c = &l->candidate[i];
		struct group g = { .rec = rec, .task = c, .entry = sorted + begin[c->name],
			.n_entries = begin[c->name + 1] - begin[c->name] };

		for (end = i; end < l->n_candidates && l->candidate[end].name == c->name; end++)
			g.n_tasks += l->candidate[end].rank == c->rank;
		join_group(&g, result);
	}
	free_all(begin, sorted);
	return sorted ? 0 : -ENOMEM;
}
