/* SPDX-License-Identifier: MIT */
#include "rerun/model.h"

#include "base/array.h"
#include "base/minmax.h"
#include "base/sort.h"
#include "command/build_tool.h"
#include "recording/recording.h"
#include "rerun/model_parts.h"
#include "rerun/model_ranks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Nodes and edges */

static uint32_t *indices(size_t n)
{
	uint32_t *p = array_new(n + 1, sizeof *p);

	return p ? memset(p, 0xff, (n + 1) * sizeof *p) : NULL;
}

uint32_t model_add_node(struct model_builder *b, enum rerun_kind kind, uint32_t instance)
{
	struct rerun_model *m = b->m;
	struct rerun_node *room = array_make_room(m->node, &b->nodes_cap, m->n, sizeof *room);

	if (!room) {
		b->error = -ENOMEM;
		return 0;
	}
	m->node = room;
	m->node[m->n] = (struct rerun_node){
		.kind = (uint8_t)kind, .threads = 1, .task = NO_INDEX, .instance = instance,
		.host = NO_INDEX, .pool = NO_INDEX, .rank = NO_INDEX,
	};
	return (uint32_t)m->n++;
}

void model_add_edge(struct model_builder *b, uint32_t from, uint32_t to)
{
	struct model_edge *room = array_make_room(b->edge, &b->edges_cap, b->n_edges, sizeof *room);

	if (!room) {
		b->error = -ENOMEM;
		return;
	}
	b->edge = room;
	b->edge[b->n_edges++] = (struct model_edge){ from, to };
}

uint32_t model_add_serial(struct model_builder *b, uint32_t after, int64_t from_us, int64_t until_us,
			   uint32_t instance, double share)
{
	double got_us, wall_us = (double)(until_us - from_us);
	uint32_t n;

	if (until_us <= from_us)
		return after;
	n = model_add_node(b, RERUN_SERIAL, instance);
	if (b->error)
		return after;
	got_us = (double)free_cores_got_us(b->free, from_us, until_us);
	b->m->node[n].cpu_us = got_us * share * b->factor;
	b->m->node[n].wait_us = wall_us * (1 - share) * b->factor;
	model_add_edge(b, after, n);
	return n;
}

/* Tasks */

bool model_hosts(const struct model_builder *b, uint32_t i)
{
	return model_task(b, i)->hosts && b->end_us[i] > model_task(b, i)->start_us;
}

static void set_work(struct model_builder *b, struct rerun_node *node, uint32_t i)
{
	double need_us = (double)b->free->need_us[i], cpu_us;
	const struct cost *cost = &b->s->nest[i].cost;

	node->threads = b->free->threads[i];
	cpu_us = cost->measured ? (double)cost->cpu_us / node->threads : need_us;
	node->cpu_us = MIN(cpu_us, need_us);
	node->wait_us = need_us - node->cpu_us;
	if (b->effect) {
		const struct rerun_effect *e = &b->effect[i];
		double factor = (double)e->factor / e->parts;

		if (e->hit && node->cpu_us > RERUN_HIT_CPU_US) {
			node->cpu_us = RERUN_HIT_CPU_US;
			node->wait_us = 0;
		}
		node->cpu_us *= factor;
		node->wait_us *= factor;
	}
}

static void add_task(struct model_builder *b, uint32_t i)
{
	const struct task *t = model_task(b, i);
	bool shell = task_is_shell(t), host = model_hosts(b, i);
	struct rerun_node *node = &b->m->node[i];
	uint32_t end;

	*node = (struct rerun_node){
		.kind = shell ? (host ? RERUN_JOINT : RERUN_SERIAL) : host ? RERUN_HOST : RERUN_TASK, .threads = 1,
		.task = i, .instance = t->instance, .host = NO_INDEX,
		.pool = shell ? NO_INDEX : t->pool, .rank = NO_INDEX,
	};
	b->end[i] = i;
	if (!host) {
		set_work(b, node, i);
		node->kb = t->max_rss_kb > t->peak_kb ? (uint32_t)MIN(t->max_rss_kb, UINT32_MAX) : t->peak_kb;
		return;
	}
	end = model_add_node(b, RERUN_JOINT, t->instance);
	if (b->error)
		return;
	b->m->node[end].host = shell ? NO_INDEX : i;
	b->m->node[end].task = i;
	b->end[i] = end;
}

/* What its host itself needed to start it: a worker was free, and it had not just started another task. */
static double host_time_us(const struct model_builder *b, uint32_t i, const int64_t *started_us)
{
	const struct wait_task *wait = &b->waits->task[i];
	const struct task *t = model_task(b, i);
	int64_t us = wait->us[QUEUE_OTHER];

	if (wait->ready_us < 0 || task_is_shell(t))
		return 0;
	if (started_us[t->instance] >= 0)
		us = MIN(us, t->start_us - started_us[t->instance]);
	else
		us = 0;		/* see open_instance() */
	us = MAX(us, 0);
	return (double)free_cores_got_us(b->free, t->start_us - us, t->start_us);
}

/* A host records a start before it has seen the end that it waited for. */
static bool ended_before(const struct model_builder *b, uint32_t before, uint32_t i)
{
	return before != NO_INDEX && b->end[before] != NO_INDEX && b->place[before] < b->place[i] &&
	       b->end_us[before] <= model_task(b, i)->start_us + WAIT_STAMP_US;
}

static bool wait_for(struct model_builder *b, uint32_t before, uint32_t i)
{
	if (!ended_before(b, before, i))
		return false;
	model_add_edge(b, b->end[before], i);
	b->awaited[before] |= model_task(b, before)->instance == model_task(b, i)->instance;
	return true;
}

/* All tasks of the target that made it, such as the members of an archive, but for lines that others
 * follow. */
static bool wait_for_target(struct model_builder *b, uint32_t maker, uint32_t i)
{
	const struct target *g;
	bool any = false;

	if (maker == NO_INDEX || b->s->nest[maker].target == NO_INDEX)
		return false;
	g = &b->s->target[b->s->nest[maker].target];
	any = wait_for(b, maker, i);
	for (uint32_t k = g->first_task; g->n_tasks > 1 && k != NO_INDEX; k = b->s->nest[k].next) {
		if (k != maker && !b->m->node[k].keeps && model_task(b, k)->instance == model_task(b, i)->instance)
			any |= wait_for(b, k, i);
	}
	return any;
}

/* The node of a group, with what is behind it; groups behind it have smaller numbers. */
static uint32_t group_node(struct model_builder *b, uint32_t group)
{
	const struct needs *needs = &b->waits->needs;

	for (uint32_t g = 0; g <= group; g++) {
		const struct needs_group *node = &needs->node[g];

		if (b->group[g] != NO_INDEX)
			continue;
		b->group[g] = model_add_node(b, RERUN_JOINT, node->instance);
		for (uint32_t k = node->first; !b->error && k < node->first + node->n; k++) {
			uint32_t at = needs->member[k];

			if (at >= needs->n_tasks) {
				model_add_edge(b, b->group[at - needs->n_tasks], b->group[g]);
				continue;
			}
			at = needs_within(b->s, at, node->instance);
			if (at != NO_INDEX && b->end[at] != NO_INDEX) {
				model_add_edge(b, b->end[at], b->group[g]);
				b->awaited[at] = true;
			}
		}
	}
	return b->group[group];
}

static bool wait_for_targets(struct model_builder *b, uint32_t i)
{
	const struct needs *needs = &b->waits->needs;
	const struct task *t = model_task(b, i);
	bool any = false;

	for (size_t k = t->first_after; k < (size_t)t->first_after + t->n_after && !b->error; k++) {
		uint32_t group = needs->group[k];

		any |= wait_for_target(b, needs_within(b->s, needs->maker[k], t->instance), i);
		if (group != NO_INDEX && needs->node[group].last != NO_INDEX &&
		    ended_before(b, needs->node[group].last, i)) {
			model_add_edge(b, group_node(b, group), i);
			any = true;
		}
	}
	return any;
}

/* A host that records what its tasks wait for: make, ninja, bitbake. Others run one task after the other, as
 * far as anybody knows. */
static bool is_script(const struct instance *in)
{
	const struct build_tool *tool = build_tool_of(in->tool);

	return in->level < 0 && !tool->ninja && !tool->recipes;
}

#define SCRIPT_TASKS 100	/* that run at once, at most */

/* The task of the script that ended last before this one began; between them the script works itself. */
static bool wait_for_script(struct model_builder *b, uint32_t i)
{
	uint32_t in = model_task(b, i)->instance, last = NO_INDEX;

	for (uint32_t k = b->at_task[in]; k-- > b->first_task[in] && k + SCRIPT_TASKS > b->at_task[in]; ) {
		if (ended_before(b, b->tasks[k], i) && (last == NO_INDEX || b->end_us[b->tasks[k]] > b->end_us[last]))
			last = b->tasks[k];
	}
	if (last == NO_INDEX)
		return false;
	b->awaited[last] = true;
	model_add_edge(b, model_add_serial(b, b->end[last], b->end_us[last], model_task(b, i)->start_us, in, 1), i);
	return true;
}

static void link_task(struct model_builder *b, uint32_t i)
{
	const struct wait_task *wait = &b->waits->task[i];
	const struct task *t = model_task(b, i);
	struct rerun_node *node;
	bool any;

	if (task_is_shell(t)) {
		uint32_t before = b->last_shell[t->instance];

		model_add_edge(b, before == NO_INDEX ? b->ready[t->instance] : before, i);
		b->last_shell[t->instance] = b->end[i];
		return;
	}
	any = wait_for_targets(b, i);
	if (is_script(&b->rec->instance[t->instance]))
		any |= wait_for_script(b, i);
	b->at_task[t->instance]++;
	if (b->rec->instance[t->instance].level >= 0 && wait_for(b, wait->line, i)) {
		node = b->m->node;
		any = true;
		if (!node[wait->line].keeps && !task_is_shell(model_task(b, wait->line))) {
			node[wait->line].keeps = true;
			node[i].goes_on = true;
		}
	}
	any |= wait_for(b, wait->order, i);
	if (!any)
		model_add_edge(b, b->ready[t->instance], i);
}

/* Parts and lists */

/* Copies of tasks that wait for the same. What waited for such a task waits for all its parts. */
static void split_tasks(struct model_builder *b)
{
	struct rerun_model *m = b->m;
	size_t n = m->n, n_edges = b->n_edges;
	uint32_t *joint = b->effect ? array_new(n + 1, sizeof *joint) : NULL;

	if (!joint) {
		b->error = b->effect ? -ENOMEM : 0;
		return;
	}
	memset(joint, 0xff, (n + 1) * sizeof *joint);
	for (uint32_t i = 0; i < b->rec->n_tasks && !b->error; i++) {
		if (b->end[i] != i || b->effect[i].parts <= 1 || m->node[i].kind != RERUN_TASK)
			continue;
		joint[i] = model_add_node(b, RERUN_JOINT, model_task(b, i)->instance);
		for (unsigned p = 1; p < b->effect[i].parts && !b->error; p++) {
			uint32_t copy = model_add_node(b, RERUN_TASK, model_task(b, i)->instance);

			if (b->error)
				break;
			m->node[copy] = m->node[i];
			m->node[copy].goes_on = m->node[copy].keeps = false;
			model_add_edge(b, copy, joint[i]);
		}
	}
	for (size_t k = 0; k < n_edges && !b->error; k++) {
		struct model_edge e = b->edge[k];

		for (unsigned p = 1; joint[e.to] != NO_INDEX && p < b->effect[e.to].parts && !b->error; p++)
			model_add_edge(b, e.from, joint[e.to] + p);
		if (joint[e.from] != NO_INDEX)
			b->edge[k].from = joint[e.from];
	}
	for (uint32_t i = 0; i < n && !b->error; i++) {
		if (joint[i] != NO_INDEX)
			model_add_edge(b, i, joint[i]);
	}
	free(joint);
}

/* Nodes that are looked at one after the other are neighbours: this saves a sixth of the time of a simulation. */
static int arrange_nodes(struct model_builder *b)
{
	struct rerun_model *m = b->m;
	struct keyed *k = array_new(m->n + 1, sizeof *k);
	uint32_t *moved = array_new(m->n + 1, sizeof *moved);
	struct rerun_node *node = array_new(m->n + 1, sizeof *node);
	int r = k && moved && node ? 0 : -ENOMEM;

	m->of_task = indices(b->rec->n_tasks);
	for (uint32_t i = 0; !r && i < m->n; i++)
		k[i] = (struct keyed){ m->node[i].task == NO_INDEX ? 0 : b->place[m->node[i].task], i };
	r = r ? r : !m->of_task ? -ENOMEM : sort_keyed(k, m->n);
	for (size_t i = 0; !r && i < m->n; i++)
		k[i].key = m->node[k[i].value].instance;
	r = r ? r : sort_keyed(k, m->n);
	for (uint32_t i = 0; !r && i < m->n; i++)
		moved[k[i].value] = i;
	for (uint32_t i = 0; !r && i < m->n; i++) {
		struct rerun_node *to = &node[moved[i]];

		*to = m->node[i];
		if (to->host != NO_INDEX)
			to->host = moved[to->host];
		if (i < b->rec->n_tasks && b->end[i] != NO_INDEX)
			m->of_task[i] = moved[i];
	}
	for (size_t e = 0; !r && e < b->n_edges; e++)
		b->edge[e] = (struct model_edge){ moved[b->edge[e].from], moved[b->edge[e].to] };
	if (!r) {
		m->start = moved[m->start];
		m->end = moved[m->end];
		free(m->node);
		m->node = node;
		node = NULL;
	}
	free_all(k, moved, node);
	return r;
}

static int make_lists(struct model_builder *b)
{
	struct rerun_model *m = b->m;

	m->first_next = array_new_zero(m->n + 2, sizeof *m->first_next);
	m->next = array_new(b->n_edges + 1, sizeof *m->next);
	m->n_waits = array_new_zero(m->n + 1, sizeof *m->n_waits);
	m->place = array_new_zero(m->n + 1, sizeof *m->place);
	if (!m->first_next || !m->next || !m->n_waits || !m->place)
		return -ENOMEM;
	for (size_t k = 0; k < b->n_edges; k++) {
		m->first_next[b->edge[k].from + 1]++;
		m->n_waits[b->edge[k].to]++;
	}
	for (size_t i = 0; i < m->n; i++)
		m->first_next[i + 1] += m->first_next[i];
	for (size_t k = b->n_edges; k--; )
		m->next[--m->first_next[b->edge[k].from + 1]] = b->edge[k].to;
	/* each first_next[i + 1] is now where those of i begin */
	memmove(m->first_next, m->first_next + 1, m->n * sizeof *m->first_next);
	m->first_next[m->n] = (uint32_t)b->n_edges;
	for (uint32_t i = 0; i < m->n; i++)
		m->place[i] = m->node[i].task == NO_INDEX ? 0 : b->place[m->node[i].task];
	return 0;
}

static bool is_given(const struct model_builder *b, uint32_t i)
{
	uint32_t around = b->rec->instance[i].parent_task;

	return is_script(&b->rec->instance[i]) ||
	       (around != NO_INDEX && !is_script(&b->rec->instance[model_task(b, around)->instance]));
}

static void make_instances(struct model_builder *b)
{
	for (uint32_t i = 0; i < b->rec->n_instances; i++)
		b->m->instance[i] = (struct rerun_instance){
			.scope = b->waits->workers[i].scope, .jobs = b->waits->workers[i].jobs,
			.passes = b->rec->instance[i].level >= 0, .given = is_given(b, i),
		};
}

/* All together */

static int allocate(struct model_builder *b)
{
	size_t n = b->rec->n_tasks, n_instances = b->rec->n_instances;
	struct rerun_model *m = b->m;

	b->place = indices(n);
	b->end = indices(n);
	b->end_us = array_new_zero(n + 1, sizeof *b->end_us);
	b->awaited = array_new_zero(n + 1, sizeof *b->awaited);
	b->linked = array_new_zero(n + 1, sizeof *b->linked);
	b->group = indices(b->waits->needs.n_groups);
	b->first_task = array_new_zero(n_instances + 2, sizeof *b->first_task);
	b->tasks = indices(n);
	b->at_task = indices(n_instances);
	b->of_host = indices(n);
	b->ready = indices(n_instances);
	b->done = indices(n_instances);
	b->closed = indices(n_instances);
	b->last_shell = indices(n_instances);
	b->close_us = array_new_zero(n_instances + 1, sizeof *b->close_us);
	b->last_us = array_new_zero(n_instances + 1, sizeof *b->last_us);
	m->instance = array_new_zero(n_instances + 1, sizeof *m->instance);
	b->nodes_cap = n + n / 4 + 4 * n_instances + 16;
	m->node = array_new_zero(b->nodes_cap, sizeof *m->node);
	return b->place && b->end && b->end_us && b->awaited && b->linked && b->group && b->first_task && b->tasks && b->at_task &&
	       b->of_host && b->ready && b->done && b->closed && b->last_shell && b->close_us && b->last_us &&
	       m->instance && m->node ? 0 : -ENOMEM;
}

static void release(struct model_builder *b)
{
	free_all(b->place, b->end, b->end_us, b->awaited, b->linked, b->group, b->first_task, b->tasks, b->at_task, b->of_host,
		 b->ready, b->done, b->closed, b->last_shell, b->close_us, b->last_us, b->edge, b->effect);
}

static void add_tasks(struct model_builder *b)
{
	const struct summary *s = b->s;

	b->m->n = b->rec->n_tasks;
	for (uint32_t i = 0; i < b->rec->n_tasks; i++)
		b->m->node[i] = (struct rerun_node){ .kind = RERUN_JOINT, .threads = 1, .task = NO_INDEX,
			.host = NO_INDEX, .pool = NO_INDEX, .rank = NO_INDEX };
	b->m->start = model_add_node(b, RERUN_JOINT, 0);
	b->m->end = model_add_node(b, RERUN_JOINT, 0);
	for (size_t k = 0; k < s->n_ran; k++) {
		uint32_t i = s->order[k];

		b->place[i] = (uint32_t)k;
		b->end_us[i] = recording_task_end_us(b->rec, model_task(b, i));
		b->first_task[model_task(b, i)->instance + 1]++;
	}
	for (size_t i = 0; i < b->rec->n_instances; i++)
		b->first_task[i + 1] += b->first_task[i];
	for (size_t k = s->n_ran; k--; )
		b->tasks[--b->first_task[model_task(b, s->order[k])->instance + 1]] = s->order[k];
	memmove(b->first_task, b->first_task + 1, b->rec->n_instances * sizeof *b->first_task);
	b->first_task[b->rec->n_instances] = (uint32_t)s->n_ran;
	memcpy(b->at_task, b->first_task, b->rec->n_instances * sizeof *b->at_task);
	for (size_t k = 0; k < s->n_ran && !b->error; k++)
		add_task(b, s->order[k]);
}

static int link_tasks(struct model_builder *b)
{
	int64_t *started_us = array_new(b->rec->n_instances + 1, sizeof *started_us);

	if (!started_us)
		return -ENOMEM;
	memset(started_us, 0xff, (b->rec->n_instances + 1) * sizeof *started_us);
	for (size_t k = 0; k < b->s->n_ran && !b->error; k++) {
		uint32_t i = b->s->order[k];

		if (!b->effect || b->effect[i].factor > 0)
			b->m->node[i].host_us = (float)host_time_us(b, i, started_us);
		if (!b->linked[i])
			link_task(b, i);
		if (!task_is_shell(model_task(b, i)))
			started_us[model_task(b, i)->instance] = model_task(b, i)->start_us;
	}
	free(started_us);
	return b->error;
}

int rerun_model_make(struct rerun_model *m, const struct summary *s, const struct waits *w,
		      const struct free_cores *f, const struct rerun_change *change, struct error *err)
{
	struct model_builder b = { .s = s, .rec = s->rec, .waits = w, .free = f, .m = m };
	int r;

	*m = (struct rerun_model){ .s = s, .cores = f->cores, .others = f->others,
				    .n_instances = s->rec->n_instances, .n_pools = s->rec->n_pools };
	if (!w->has_dependencies)
		return error_say(err, -ENODATA, "%s: it is not recorded what the tasks waited for", s->rec->path);
	r = change ? rerun_change_effects(&b.effect, change, s, err) : 0;
	if (!r)
		r = allocate(&b);
	if (!r) {
		make_instances(&b);
		add_tasks(&b);
		model_find_close(&b);
		r = b.error;
	}
	if (!r) {
		model_host_all(&b);
		r = b.error;
	}
	if (!r)
		r = link_tasks(&b);
	if (!r) {
		model_close_instances(&b);
		split_tasks(&b);
		r = b.error;
	}
	if (!r)
		r = arrange_nodes(&b);
	if (!r)
		r = make_lists(&b);
	if (!r)
		r = rerun_ranks_fill(m, b.effect);
	release(&b);
	return r == -ENOMEM ? error_sys(err, r, s->rec->path, NULL) : r;
}

void rerun_model_release(struct rerun_model *m)
{
	free_all(m->node, m->first_next, m->next, m->n_waits, m->place, m->of_task, m->instance, m->of_rank);
	*m = (struct rerun_model){ 0 };
}
