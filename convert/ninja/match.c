/* SPDX-License-Identifier: MIT */
#include "convert/ninja/match.h"

#include "command/ninja_hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
#define LOOK_MAX 64		/* at so many of one command, for the best */

/* Chains */

static int make_chains(struct ninja_chains *c, size_t n)
{
	c->n = n;
	c->next = malloc((n + 1) * sizeof *c->next);
	c->taken = calloc(n + 1, sizeof *c->taken);
	c->from = malloc((n + 1) * sizeof *c->from);
	c->from_run = calloc(n + 1, sizeof *c->from_run);
	return c->next && c->taken && c->from && c->from_run ? 0 : -ENOMEM;
}

/* In front of the others of the hash. */
static int add_first(struct ninja_chains *c, uint64_t hash, uint32_t item)
{
	if (!index_find(&c->first, hash, 0, &c->next[item]))
		c->next[item] = NONE;
	return index_put(&c->first, hash, 0, item);
}

static uint32_t first_of(const struct ninja_chains *c, uint64_t hash)
{
	uint32_t first;

	return index_find(&c->first, hash, 0, &first) ? first : NONE;
}

static int64_t distance(int64_t a, int64_t b)
{
	if (a < 0)
		return INT64_MAX;
	return a > b ? a - b : b - a;
}

/* Of those behind first that were not taken in this run, the one whose time is nearest;
 * first itself if all were. */
static uint32_t take(struct ninja_chains *c, uint32_t first, uint32_t run,
		     const int64_t *time_ms, int64_t wanted_ms)
{
	uint32_t at = c->from_run[first] == run ? c->from[first] : first, best;
	unsigned looked = 0;

	while (at != NONE && c->taken[at] == run)
		at = c->next[at];
	c->from[first] = at;
	c->from_run[first] = run;
	for (best = at; at != NONE && looked++ < LOOK_MAX; at = c->next[at]) {
		if (c->taken[at] != run &&
		    distance(time_ms[at], wanted_ms) < distance(time_ms[best], wanted_ms))
			best = at;
	}
	if (best == NONE)
		return first;
	c->taken[best] = run;
	return best;
}

/* What there is to find */

static int chain_edges(struct ninja_place *p)
{
	const struct ninja_build *n = &p->build;
	struct buf text = BUF_INIT;
	int r = make_chains(&p->commands, n->n_edges);

	if (!r)
		r = make_chains(&p->responses, n->n_edges);
	for (size_t i = n->n_edges; !r && i > 0; i--) {
		const struct ninja_edge *e = &n->edge[i - 1];
		size_t command, response;

		if (ninja_edge_is_phony(e))
			continue;
		buf_clear(&text);
		ninja_build_command(n, e, &text);
		command = text.len;
		buf_adds(&text, NINJA_HASH_RSPFILE);
		response = text.len;
		ninja_build_rspfile(n, e, &text);
		r = buf_error(&text);
		if (!r && command)
			r = add_first(&p->commands, ninja_hash_murmur(text.data, command),
				      (uint32_t)i - 1);
		if (!r && text.len > response)
			r = add_first(&p->responses, ninja_hash_murmur(text.data, text.len),
				      (uint32_t)i - 1);
	}
	buf_release(&text);
	return r;
}

static int chain_lines(struct ninja_place *p)
{
	const struct ninja_log *log = &p->log;
	int r = make_chains(&p->lines, log->n);

	for (size_t i = log->n; !r && i > 0; i--) {
		if (i == 1 || log->line[i - 1].run != log->line[i - 2].run)
			r = add_first(&p->lines, log->line[i - 1].hash, (uint32_t)i - 1);
	}
	return r;
}

/* What the log says of edges. */
static int time_edges(struct ninja_place *p)
{
	const struct ninja_build *n = &p->build;

	p->edge_ms = malloc((n->n_edges + 1) * sizeof *p->edge_ms);
	if (!p->edge_ms)
		return -ENOMEM;
	memset(p->edge_ms, 0xff, n->n_edges * sizeof *p->edge_ms);
	for (size_t i = 0; p->has_log && i < p->log.n; i++) {
		uint32_t path = text_table_find(&n->path, p->log.line[i].output);
		uint32_t edge = path == NO_TEXT ? NO_EDGE : n->producer[path];

		if (edge != NO_EDGE)
			p->edge_ms[edge] = p->log.line[i].start_ms;
	}
	return 0;
}

/* Most need no log: it is read when it is asked for first. */
static int look_at_log(struct ninja_place *p)
{
	struct slice builddir = { "", 0 };
	struct buf path = BUF_INIT;
	int r;

	if (p->looked)
		return 0;
	p->looked = true;
	if (p->has_build)
		builddir = ninja_build_variable(&p->build, "builddir");
	if (!builddir.len || *builddir.p != '/') {
		buf_adds(&path, p->dir);
		buf_addc(&path, '/');
	}
	buf_add(&path, builddir.p, builddir.len);
	buf_adds(&path, "/" NINJA_LOG_NAME);
	r = buf_error(&path);
	if (!r)
		r = ninja_log_read(&p->log, buf_str(&path), p->read, NULL);
	buf_release(&path);
	p->has_log = !r;
	if (!r)
		r = chain_lines(p);
	else
		r = r == -ENOMEM ? r : 0;
	return !r && p->has_build ? time_edges(p) : r;
}

/* Matching */

struct matching {
	struct ninja_place *p;
	const struct ninja_task *task;
	struct ninja_match *match;
	size_t n;
	uint32_t run;		/* number */
	struct ninja_chains **chains;	/* of each task that has several to choose from ... */
	uint32_t *first;		/* ... from here on */
	size_t n_several;
	int64_t zero_ms;	/* when the run's ninja began */
};

static uint32_t find_edge(struct ninja_place *p, const struct ninja_task *t,
			  struct ninja_chains **chains)
{
	uint32_t first = NONE;

	*chains = &p->responses;
	if (t->hashed)
		first = first_of(*chains, t->murmur);
	if (first == NONE) {
		*chains = &p->commands;
		if (t->hashed)
			first = first_of(*chains, t->murmur);
		if (first == NONE && t->whole)
			first = first_of(*chains, t->command);
	}
	return first;
}

static int find(struct matching *m, size_t i)
{
	const struct ninja_task *t = &m->task[i];
	uint32_t first = NONE;
	int r;

	if (m->p->has_build)
		first = find_edge(m->p, t, &m->chains[i]);
	if (first == NONE) {
		r = look_at_log(m->p);
		if (r)
			return r;
		m->chains[i] = &m->p->lines;
		if (m->p->has_log && t->hashed)
			first = first_of(&m->p->lines, m->p->log.version < 7 ? t->murmur : t->rapid);
	}
	m->first[i] = first;
	m->n_several += first != NONE && m->chains[i]->next[first] != NONE;
	return 0;
}

static void settle(struct matching *m, size_t i, uint32_t item)
{
	if (m->chains[i] == &m->p->lines)
		m->match[i].line = item;
	else
		m->match[i].edge = item;
}

static int by_size(const void *a, const void *b)
{
	const int64_t *one = a, *two = b;

	return (*one > *two) - (*one < *two);
}

/* From the tasks that are certain. */
static int find_zero(struct matching *m)
{
	int64_t *zero = malloc((m->n + 1) * sizeof *zero);
	size_t n = 0;

	if (!zero)
		return -ENOMEM;
	for (size_t i = 0; i < m->n; i++) {
		const struct ninja_match *match = &m->match[i];
		int64_t ms = -1;

		if (match->edge != NO_EDGE)
			ms = m->p->edge_ms[match->edge];
		else if (match->line != NO_LINE)
			ms = m->p->log.line[match->line].start_ms;
		if (ms >= 0 && m->task[i].done)
			zero[n++] = m->task[i].start_us / 1000 - ms;
	}
	if (n) {
		qsort(zero, n, sizeof *zero, by_size);
		m->zero_ms = zero[n / 2];
	}
	free(zero);
	return 0;
}

/* Edges may have the same command: the log's times tell them apart. */
static int choose(struct matching *m)
{
	int64_t *line_ms;
	int r = look_at_log(m->p);

	if (r)
		return r;
	r = find_zero(m);
	line_ms = malloc((m->p->log.n + 1) * sizeof *line_ms);
	if (r || !line_ms) {
		free(line_ms);
		return -ENOMEM;
	}
	for (size_t i = 0; i < m->p->log.n; i++)
		line_ms[i] = m->p->log.line[i].start_ms;
	for (size_t i = 0; i < m->n; i++) {
		uint32_t first = m->first[i];
		bool line = m->chains[i] == &m->p->lines;

		if (first == NONE || m->chains[i]->next[first] == NONE)
			continue;
		settle(m, i, take(m->chains[i], first, m->run, line ? line_ms : m->p->edge_ms,
				  m->task[i].start_us / 1000 - m->zero_ms));
	}
	free(line_ms);
	return 0;
}

static int match_all(struct matching *m)
{
	int r = 0;

	for (size_t i = 0; !r && i < m->n; i++) {
		m->match[i] = (struct ninja_match){ NO_EDGE, NO_LINE };
		r = find(m, i);
		if (!r && m->first[i] != NONE && m->chains[i]->next[m->first[i]] == NONE)
			settle(m, i, m->first[i]);
	}
	return r || !m->n_several ? r : choose(m);
}

int ninja_match(struct ninja_place *p, const struct ninja_run *run, uint32_t number,
		const struct ninja_task *task, struct ninja_match *match)
{
	struct matching m = { .p = p, .task = task, .match = match, .n = run->n_tasks,
		.run = number, .zero_ms = run->open_us / 1000 };
	int r = 0;

	if (p->has_build && !p->commands.next)
		r = chain_edges(p);
	m.chains = malloc((m.n + 1) * sizeof *m.chains);
	m.first = malloc((m.n + 1) * sizeof *m.first);
	if (!m.chains || !m.first)
		r = -ENOMEM;
	if (!r)
		r = match_all(&m);
	free(m.chains);
	free(m.first);
	return r;
}
