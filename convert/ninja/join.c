/* SPDX-License-Identifier: MIT */
#include "convert/ninja/join.h"

#include "base/array.h"
#include "base/hex.h"
#include "command/build_tool.h"
#include "command/ninja_hash.h"
#include "convert/ninja/directory.h"
#include "convert/ninja/edge.h"
#include "convert/ninja/ninja_log.h"
#include "recording/event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AT_ONCE 65536		/* bytes */
#define IN_MEMORY_MAX ((size_t)256 << 20)
#define COMPARED_MAX 64		/* edges of one command, to find the best */
#define NONE UINT32_MAX

/* A command that a ninja ran. */
struct ran {
	uint32_t task;		/* in the recording */
	bool in_log;		/* item is a line of the log; otherwise twice the index of an edge,
				   plus 1 if the hash includes the response file */
	uint32_t item;		/* first of the candidates, then the chosen one, or NONE */
};

/* Edges or lines of the log, by the hash of their command. Items with the same hash are in a
 * list. */
struct candidates {
	struct index first;	/* hash, is it with the response file -> item */
	struct candidate {
		int64_t start_ms;	/* in the log, -1: not known */
		uint32_t next;
		uint32_t taken;		/* by the run of this number */
		uint32_t from, from_run;	/* of the first: run from_run has taken all
						   before `from` */
	} *item;
};

/* One process of ninja. */
struct ninja_run {
	const struct instance *in;
	struct ran *ran;
	size_t n_ran;
	char *dir, *file;	/* NULL: its tasks have their names */
};

/* The files that runs in one directory share. */
struct place {
	const char *dir;
	bool has_graph, has_log, log_read;
	struct ninja_graph graph;
	struct ninja_log log;
	struct candidates edges, lines;
};

struct join {
	const struct recording *rec;
	struct store *store;	/* where lines go; NULL: they stay in `lines` */
	struct buf *lines;
	infile_reader *read;
	struct index notes;	/* task -> its note with hashes */
	size_t n_ran, n_runs;
	struct ran *ran;
	struct ninja_run *run;
	uint32_t run_number;	/* from 1 */
	struct buf text;	/* names, each with a NUL */
	size_t n_names, name_cap;
	const char **name;
};

/* Which tasks */

/* The instances of ninja without a named task. Of instances with the same id only the newest
 * counts, because lines are about that one. */
static int find_unnamed(const struct recording *rec, bool *unnamed)
{
	struct index newest = INDEX_INIT;
	int r = 0;

	for (uint32_t i = 0; !r && i < rec->n_instances; i++) {
		const struct instance *in = &rec->instance[i];
		char id[INSTANCE_ID_MAX] = "";
		uint64_t key[2];
		uint32_t before;

		memcpy(id, in->id, strlen(in->id));
		memcpy(key, id, sizeof key);
		unnamed[i] = *in->cwd == '/' &&
			     build_tool_of(in->tool)->ninja;
		if (index_find(&newest, key[0], key[1], &before))
			unnamed[before] = false;
		r = index_put(&newest, key[0], key[1], i);
	}
	for (size_t i = 0; i < rec->n_tasks; i++) {
		if (rec->task[i].named)
			unnamed[rec->task[i].instance] = false;
	}
	index_release(&newest);
	return r;
}

static int by_run(const void *a, const void *b, void *recording)
{
	const struct recording *rec = recording;
	const struct task *one = &rec->task[((const struct ran *)a)->task];
	const struct task *two = &rec->task[((const struct ran *)b)->task];
	int order = array_order(one->instance, two->instance);

	order = order ? order : array_order(one->start_us, two->start_us);
	return order ? order : array_order((int64_t)one->seq, (int64_t)two->seq);
}

static int find_notes(struct join *j)
{
	const struct recording *rec = j->rec;
	int r = 0;

	for (size_t i = 0; i < rec->n_notes; i++) {
		if (rec->note[i].task != NO_INDEX &&
		    !strncmp(rec->note[i].text, NINJA_HASH_NOTE, strlen(NINJA_HASH_NOTE)))
			r = index_put(&j->notes, rec->note[i].task, 0, (uint32_t)i);
		if (r)
			return r;
	}
	return 0;
}

/* All commands by run, then by start. */
static int find_runs(struct join *j)
{
	const struct recording *rec = j->rec;
	bool *unnamed = array_new_zero(rec->n_instances, sizeof *unnamed), sorted = true;
	int r = unnamed ? find_unnamed(rec, unnamed) : -ENOMEM;

	for (uint32_t i = 0; !r && i < rec->n_tasks; i++) {
		struct ran *ran;

		if (!unnamed[rec->task[i].instance] || rec->task[i].start_us < 0)
			continue;
		ran = array_add(&j->ran, &j->n_ran, sizeof *ran);
		if (!ran) {
			r = -ENOMEM;
			break;
		}
		*ran = (struct ran){ .task = i };
		sorted &= j->n_ran == 1 || by_run(ran - 1, ran, (void *)(uintptr_t)rec) < 0;
	}
	free(unnamed);
	if (!r && !sorted)
		qsort_r(j->ran, j->n_ran, sizeof *j->ran, by_run, (void *)(uintptr_t)rec);
	if (!r && j->n_ran)
		r = find_notes(j);
	for (size_t i = 0; !r && i < j->n_ran; i++) {
		const struct instance *in = &rec->instance[rec->task[j->ran[i].task].instance];
		struct ninja_run *run;

		if (j->n_runs && j->run[j->n_runs - 1].in == in) {
			j->run[j->n_runs - 1].n_ran++;
			continue;
		}
		run = array_add(&j->run, &j->n_runs, sizeof *run);
		if (run)
			*run = (struct ninja_run){ in, &j->ran[i], 1, NULL, NULL };
		else
			r = -ENOMEM;
	}
	return r;
}

/* Which edge */

static int candidates_add(struct candidates *c, uint64_t hash, bool response, uint32_t item)
{
	c->item[item].next = NONE;
	index_find(&c->first, hash, response, &c->item[item].next);
	return index_put(&c->first, hash, response, item);
}

static int candidates_init(struct candidates *c, size_t n)
{
	c->item = array_new(n + 1, sizeof *c->item);
	for (size_t i = 0; c->item && i < n; i++)
		c->item[i] = (struct candidate){ .start_ms = -1 };
	return c->item ? 0 : -ENOMEM;
}

static int read_graph(struct join *j, struct place *p, const char *file)
{
	struct buf text = BUF_INIT;
	int r = ninja_graph_read(&p->graph, p->dir, file, j->read, NULL);

	p->has_graph = !r;
	if (r)
		return r == -ENOMEM ? r : 0;
	r = candidates_init(&p->edges, 2 * p->graph.n_edges);
	for (size_t i = p->graph.n_edges; !r && i > 0; i--) {
		const struct ninja_edge *e = &p->graph.edge[i - 1];
		uint32_t item = 2 * (uint32_t)(i - 1);
		size_t len;

		if (ninja_edge_is_phony(e))
			continue;
		len = ninja_edge_command(&p->graph, e, &text);
		r = buf_error(&text);
		if (!r && len)
			r = candidates_add(&p->edges, ninja_hash_murmur(text.data, len), false,
					   item);
		if (!r && text.len > len)
			r = candidates_add(&p->edges, ninja_hash_murmur(text.data, text.len), true,
					   item + 1);
	}
	buf_release(&text);
	return r;
}

static int read_log(struct join *j, struct place *p)
{
	struct slice builddir = { "", 0 };
	struct buf path = BUF_INIT;
	int r;

	if (p->log_read)
		return 0;
	p->log_read = true;
	if (p->has_graph)
		builddir = ninja_graph_variable(&p->graph, "builddir");
	if (!builddir.len || *builddir.p != '/')
		buf_addf(&path, "%s/", p->dir);
	buf_add(&path, builddir.p, builddir.len);
	buf_adds(&path, "/" NINJA_LOG_NAME);
	r = buf_error(&path);
	if (!r)
		r = ninja_log_read(&p->log, buf_str(&path), j->read, NULL);
	buf_release(&path);
	p->has_log = !r;
	if (r)
		return r == -ENOMEM ? r : 0;
	r = candidates_init(&p->lines, p->log.n);
	for (size_t i = p->log.n; !r && i > 0; i--) {
		const struct ninja_log_line *l = &p->log.line[i - 1];

		if (i == 1 || l->run != l[-1].run)
			r = candidates_add(&p->lines, l->hash, false, (uint32_t)i - 1);
		p->lines.item[i - 1].start_ms = l->start_ms;
	}
	for (size_t i = 0; !r && p->has_graph && i < p->log.n; i++) {
		uint32_t edge = ninja_graph_producer(&p->graph, p->log.line[i].output);

		if (edge != NINJA_NO_EDGE)
			p->edges.item[2 * edge].start_ms = p->edges.item[2 * edge + 1].start_ms =
				p->log.line[i].start_ms;
	}
	return r;
}

/* Find the first candidate for a command in build.ninja or in the log. */
static void find_candidate(struct join *j, const struct place *p, struct ran *ran)
{
	const char *command = recording_command(j->rec, &j->rec->task[ran->task]);
	size_t len = strlen(command);
	bool rapid = ran->in_log && p->log.version >= 7;
	uint64_t murmur = ninja_hash_murmur(command, len), hash, other;
	uint32_t note;
	struct cursor c;

	ran->item = NONE;
	hash = rapid ? ninja_hash_rapid(command, len) : murmur;
	if (index_find(&j->notes, ran->task, 0, &note)) {
		const char *text = j->rec->note[note].text + strlen(NINJA_HASH_NOTE);

		cursor_init(&c, text, strlen(text));
		if (!hex_u64(&c, &other) || !cursor_byte(&c, ' ') ||
		    (rapid && !hex_u64(&c, &other)))
			return;
		hash = other;
	} else if (!len) {
		return;
	}
	if (ran->in_log)
		index_find(&p->lines.first, hash, 0, &ran->item);
	else if (!index_find(&p->edges.first, hash, 1, &ran->item) &&
		 !index_find(&p->edges.first, hash, 0, &ran->item) && len)
		index_find(&p->edges.first, murmur, 0, &ran->item);
}

static struct candidate *candidates_of(const struct place *p, const struct ran *ran)
{
	return ran->in_log ? p->lines.item : p->edges.item;
}

static bool has_several(const struct place *p, const struct ran *ran)
{
	return ran->item != NONE && candidates_of(p, ran)[ran->item].next != NONE;
}

static uint64_t distance(int64_t a, int64_t b)
{
	return a < 0 ? INT64_MAX : (uint64_t)llabs(a - b);
}

/* Take the candidate whose start is nearest, of those that this run has not taken; the first if
 * it has taken all. */
static uint32_t take_candidate(struct candidate *c, uint32_t first, uint32_t run, int64_t wanted_ms)
{
	uint32_t at = c[first].from_run == run ? c[first].from : first, best;

	while (at != NONE && c[at].taken == run)
		at = c[at].next;
	c[first].from = at;
	c[first].from_run = run;
	best = at;
	for (unsigned n = 0; at != NONE && n < COMPARED_MAX; n++, at = c[at].next) {
		if (c[at].taken != run &&
		    distance(c[at].start_ms, wanted_ms) < distance(c[best].start_ms, wanted_ms))
			best = at;
	}
	if (best == NONE)
		return first;
	c[best].taken = run;
	return best;
}

/* If several edges have the same command, their times in the log decide. The tasks with only one
 * edge show which time is 0 in the log. Most runs do not need the log. */
static int match(struct join *j, struct place *p, const struct ninja_run *run)
{
	int64_t *zero_ms = array_new(run->n_ran, sizeof *zero_ms);
	int64_t begin_ms = run->in->open_us / 1000;
	bool log_needed = false;
	size_t n = 0;
	int r;

	if (!zero_ms)
		return -ENOMEM;
	for (struct ran *ran = run->ran; ran < run->ran + run->n_ran; ran++) {
		find_candidate(j, p, ran);
		log_needed |= ran->item == NONE || has_several(p, ran);
	}
	r = log_needed ? read_log(j, p) : 0;
	for (struct ran *ran = run->ran; !r && ran < run->ran + run->n_ran; ran++) {
		const struct task *t = &j->rec->task[ran->task];
		int64_t start_ms;

		if (ran->item == NONE && p->has_log) {
			ran->in_log = true;
			find_candidate(j, p, ran);
		}
		if (ran->item == NONE || has_several(p, ran) || t->state != TASK_DONE)
			continue;
		start_ms = candidates_of(p, ran)[ran->item].start_ms;
		if (start_ms >= 0)
			zero_ms[n++] = t->start_us / 1000 - start_ms;
	}
	if (n)
		begin_ms = ninja_log_median(zero_ms, n);
	free(zero_ms);
	j->run_number++;
	for (struct ran *ran = run->ran; !r && ran < run->ran + run->n_ran; ran++) {
		int64_t wanted_ms = j->rec->task[ran->task].start_us / 1000 - begin_ms;

		if (has_several(p, ran))
			ran->item = take_candidate(candidates_of(p, ran), ran->item, j->run_number,
						   wanted_ms);
	}
	return r;
}

/* Lines */

static void put_name(struct join *j, struct slice name)
{
	buf_add(&j->text, name.p, name.len);
	buf_addc(&j->text, '\0');
	j->n_names++;
}

static int64_t when(const struct task *t)
{
	return t->end_us >= 0 ? t->end_us : t->start_us;
}

static void forget_names(struct join *j)
{
	buf_clear(&j->text);
	j->n_names = 0;
}

/* Fill `name` with the names that were put. */
static int list_names(struct join *j)
{
	const char *p = j->text.data;

	for (size_t i = 0; !buf_error(&j->text) && i < j->n_names; i++, p += strlen(p) + 1) {
		const char **grown = array_make_room(j->name, &j->name_cap, i, sizeof *grown);

		if (!grown)
			return -ENOMEM;
		(j->name = grown)[i] = p;
	}
	return buf_error(&j->text);
}

/* Lines of the names that were put. */
static int add_names(struct join *j, const struct task *t,
		     size_t add(struct buf *, int64_t, const char *, uint64_t,
				const char *const *, size_t))
{
	int r = list_names(j);

	for (size_t done = 0; !r && done < j->n_names;)
		done += add(j->lines, when(t), j->rec->instance[t->instance].id, t->seq,
			    j->name + done, j->n_names - done);
	forget_names(j);
	return r;
}

/* The line that names a task; the names that follow are its other outputs. */
static int add_task(struct join *j, const struct task *t, struct slice name, struct slice rule,
		    const char *kind)
{
	int r;

	buf_clear(&j->text);
	put_name(j, name);
	put_name(j, rule);
	r = buf_error(&j->text);
	if (!r)
		event_add_name(j->lines, when(t), j->rec->instance[t->instance].id, t->seq,
			       j->text.data, j->text.data + name.len + 1, kind);
	forget_names(j);
	return r;
}

static int add_place(struct join *j, struct ninja_graph *g, const struct task *t,
		     const struct ninja_edge *e)
{
	struct event_place p = { .file = g->file[e->file], .line = (int32_t)e->line };
	struct ninja_pool pool;

	if (ninja_edge_pool(g, e, &pool)) {
		buf_clear(&j->text);
		buf_add(&j->text, pool.name.p, pool.name.len);
		p.pool = buf_str(&j->text);
		p.depth = pool.depth;
	}
	event_add_place(j->lines, when(t), j->rec->instance[t->instance].id, t->seq, &p);
	buf_clear(&j->text);
	return buf_error(j->lines);
}

static void put_waits(struct join *j, struct ninja_waits *w, const struct ninja_edge *e)
{
	uint32_t before = NINJA_NO_EDGE, edge;

	for (size_t i = 0; i < e->all_in; i++, before = edge) {
		edge = ninja_waits_for(w, e, i);
		if (edge != NINJA_NO_EDGE && edge != before)
			put_name(j, ninja_edge_out(w->graph, &w->graph->edge[edge], 0));
	}
}

/* The phony edges that were named since. */
static int add_groups(struct join *j, struct ninja_waits *w, const struct task *t)
{
	const char *id = j->rec->instance[t->instance].id;
	uint32_t group;
	int r = 0;

	while (!r && (group = ninja_waits_group(w)) != NINJA_NO_EDGE) {
		const struct ninja_edge *e = &w->graph->edge[group];

		put_name(j, ninja_edge_out(w->graph, e, 0));
		put_waits(j, w, e);
		r = list_names(j);
		for (size_t done = 1; !r && done < j->n_names;)
			done += event_add_group(j->lines, when(t), id, j->name[0], j->name + done,
						j->n_names - done);
		forget_names(j);
	}
	return r;
}

static int add_edge(struct join *j, struct ninja_graph *g, struct ninja_waits *w,
		    const struct task *t, const struct ninja_edge *e)
{
	int r = add_task(j, t, ninja_edge_out(g, e, 0), ninja_edge_rule(g, e),
			 ninja_edge_kind(g, e));

	if (!r)
		r = add_place(j, g, t, e);
	for (size_t i = 1; i < e->all_out; i++)
		put_name(j, ninja_edge_out(g, e, i));
	if (!r)
		r = add_names(j, t, event_add_out);
	put_waits(j, w, e);
	if (!r)
		r = add_names(j, t, event_add_after);
	return r ? r : add_groups(j, w, t);
}

static int add_logged(struct join *j, const struct ninja_log *log, const struct task *t,
		      size_t line)
{
	size_t n = ninja_log_run(log, line);
	int r = add_task(j, t, log->line[line].output, (struct slice){ "", 0 }, NULL);

	for (size_t i = 1; i < n; i++)
		put_name(j, log->line[line + i].output);
	return r ? r : add_names(j, t, event_add_out);
}

/* Append the lines so far to the recording. */
static int flush(struct join *j)
{
	if (j->store)
		store_append(j->store, j->lines);
	return j->lines->len > IN_MEMORY_MAX ? -EFBIG : buf_error(j->lines);
}

static int join_run(struct join *j, struct place *p, const struct ninja_run *run)
{
	struct ninja_waits waits = { .graph = NULL };
	int r = match(j, p, run);

	if (!r && p->has_graph)
		r = ninja_waits_init(&waits, &p->graph);
	for (size_t i = 0; !r && i < run->n_ran; i++) {
		const struct ran *ran = &run->ran[i];

		if (ran->item != NONE && !ran->in_log)
			waits.ran[ran->item / 2] = true;
	}
	for (size_t i = 0; !r && i < run->n_ran; i++) {
		const struct ran *ran = &run->ran[i];
		const struct task *t = &j->rec->task[ran->task];

		if (ran->item != NONE)
			r = ran->in_log ? add_logged(j, &p->log, t, ran->item) :
			    add_edge(j, &p->graph, &waits, t, &p->graph.edge[ran->item / 2]);
		if (!r && j->lines->len > AT_ONCE)
			r = flush(j);
	}
	ninja_waits_release(&waits);
	return r;
}

/* All runs in the place of this one, whose files are read once. */
static int join_place(struct join *j, struct ninja_run *first)
{
	char *dir = first->dir, *file = first->file;
	struct place p = { .dir = dir };
	int r = read_graph(j, &p, file);

	for (struct ninja_run *run = first; !r && run < j->run + j->n_runs; run++) {
		if (!run->dir || strcmp(run->dir, dir) || strcmp(run->file, file))
			continue;
		r = join_run(j, &p, run);
		if (run != first)
			free_all(run->dir, run->file);
		run->dir = run->file = NULL;
	}
	if (p.has_graph)
		ninja_graph_release(&p.graph);
	if (p.has_log)
		ninja_log_release(&p.log);
	index_release(&p.edges.first);
	index_release(&p.lines.first);
	free_all(p.edges.item, p.lines.item, dir, file);
	first->dir = first->file = NULL;
	return r;
}

static int join_all(struct join *j)
{
	int r = find_runs(j);

	if (r)
		goto out;
	for (size_t i = 0; i < j->n_runs; i++) {
		r = ninja_find_files(&j->run[i].dir, &j->run[i].file, j->run[i].in);
		if (r)
			goto out;
	}
	for (size_t i = 0; i < j->n_runs; i++) {
		if (j->run[i].dir)
			r = join_place(j, &j->run[i]);
		if (r)
			goto out;
	}
out:
	for (size_t i = 0; i < j->n_runs; i++)
		free_all(j->run[i].dir, j->run[i].file);
	index_release(&j->notes);
	free_all(j->ran, j->run, j->name);
	buf_release(&j->text);
	return r ? r : flush(j);
}

int ninja_join(struct store *s)
{
	const struct recording_options tasks = { .tasks_only = true };
	struct recording rec = RECORDING_INIT;
	struct buf lines = BUF_INIT;
	struct join j = { .rec = &rec, .store = s, .lines = &lines, .read = infile_read_regular };
	int r = recording_read_as(&rec, s->path, &tasks, NULL);

	if (!r)
		r = join_all(&j);
	buf_release(&lines);
	recording_release(&rec);
	return r ? r : store_error(s);
}

int ninja_join_unnamed(struct buf *lines, const struct recording *rec)
{
	struct join j = { .rec = rec, .lines = lines, .read = infile_read_ours };
	int r = join_all(&j);

	return r == -EFBIG ? 0 : r;
}
