/* SPDX-License-Identifier: MIT */
#include "analyse/summary.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/minmax.h"
#include "base/saturate.h"
#include "base/sort.h"
#include "command/build_tool.h"
#include "command/kind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum build_result summary_build_result(const struct recording *rec, int *status)
{
	int64_t exited = recording_build_number(rec, "status");
	int64_t signal = recording_build_number(rec, "signal");

	*status = 0;
	if (signal > 0) {
		*status = (int)signal;
		return BUILD_KILLED;
	}
	if (exited > 0) {
		*status = (int)exited;
		return BUILD_FAILED;
	}
	if (!exited)
		return BUILD_OK;
	return rec->end_us >= 0 ? BUILD_ENDED : BUILD_UNFINISHED;
}

/* A note of an instance, see buildbeat-recording(5). */
static const char *find_reason(const struct recording *rec, enum build_result result)
{
	static const char failed[] = "failed: ";
	const char *reason = NULL;

	for (size_t i = 0; i < rec->n_notes && result != BUILD_OK; i++) {
		const char *text = rec->note[i].text;

		if (rec->note[i].task != NO_INDEX)
			continue;
		if (!strcmp(text, "interrupted"))
			return text;
		if (!reason && !strncmp(text, failed, strlen(failed)))
			reason = text + strlen(failed);
	}
	return reason;
}

static bool is_lost(const struct recording *rec, const struct task *t)
{
	return rec->lost.tasks && t->start_us < 0 && t->queued_us < 0;
}

/* Tasks by start, those that never started behind them, lost ones at the end. */
static int fill_order(struct summary *s)
{
	const struct recording *rec = s->rec;
	struct keyed *k = array_new(rec->n_tasks, sizeof *k);
	size_t queued = s->n_tasks, lost = rec->n_tasks;

	if (!k)
		return -ENOMEM;
	for (size_t i = rec->n_tasks; i-- > 0; ) {
		if (!task_ran(&rec->task[i]))
			s->order[is_lost(rec, &rec->task[i]) ? --lost : --queued] = (uint32_t)i;
	}
	for (size_t i = 0; i < rec->n_tasks; i++) {
		if (task_ran(&rec->task[i]))
			k[s->n_ran++] = (struct keyed){ (uint64_t)rec->task[i].start_us,
							(int64_t)i };
	}
	if (sort_keyed(k, s->n_ran)) {
		free(k);
		return -ENOMEM;
	}
	for (size_t i = 0; i < s->n_ran; i++)
		s->order[i] = (uint32_t)k[i].value;
	free(k);
	return 0;
}

static int fill_by_end(struct summary *s)
{
	struct keyed *k = array_new(s->n_ran, sizeof *k);
	int r = k ? 0 : -ENOMEM;

	if (r)
		goto out;
	for (size_t i = 0; i < s->n_ran; i++) {
		const struct task *t = &s->rec->task[s->order[i]];

		k[i] = (struct keyed){ (uint64_t)recording_task_end_us(s->rec, t), s->order[i] };
	}
	r = sort_keyed(k, s->n_ran);
	if (r)
		goto out;
	for (size_t i = 0; i < s->n_ran; i++)
		s->by_end[i] = (uint32_t)k[i].value;
out:
	free(k);
	return r;
}

#define STEP_MOST_US 1000000

static int64_t coarser(int64_t step_us, int64_t time_us)
{
	while (time_us % step_us)
		step_us /= 10;
	return step_us;
}

static void find_step(struct summary *s)
{
	s->step_us = s->n_ran ? STEP_MOST_US : 1;
	for (size_t i = 0; i < s->n_ran && s->step_us > 1; i++) {
		const struct task *t = &s->rec->task[s->order[i]];

		s->step_us = coarser(s->step_us, t->start_us);
		if (t->end_us >= 0)
			s->step_us = coarser(s->step_us, t->end_us);
	}
}

static void count_states(struct summary *s)
{
	for (size_t i = 0; i < s->rec->n_tasks; i++) {
		if (is_lost(s->rec, &s->rec->task[i]))
			continue;
		s->n_tasks++;
		s->n_state[s->rec->task[i].state]++;
		s->n_hosting += s->rec->task[i].hosts;
		s->n_said_no += task_said_no(&s->rec->task[i]);
	}
}

static int64_t bytes(int64_t blocks)
{
	return blocks < 0 ? -1 : sat_mul(blocks, 512);
}

static int64_t bytes_of_blocks(const struct summary *s, const char *key)
{
	return bytes(recording_build_number(s->rec, key));
}

/* The tasks of a server are not children of the launcher, which then measures only a part of the
 * build. Does a server exist whose use is unknown? */
static bool has_unknown_server(const struct recording *rec)
{
	const char *command = recording_build(rec, "command");
	bool any = false, unknown = false;
	struct slice program = { "", 0 };

	for (size_t i = 0; i < rec->n_instances; i++) {
		bool server = build_tool_of(rec->instance[i].tool)->recipes;

		any |= server;
		unknown |= server && rec->instance[i].used_user_us < 0;
	}
	if (command)
		kind_and_program(command, strlen(command), &program);
	return unknown || (!any && build_tool_find(program)->recipes);
}

static int64_t both(int64_t a, int64_t b)
{
	return a < 0 || b < 0 ? -1 : sat_add(a, b);
}

/* Add what servers used. Without a launcher that is the whole build, if it is known of all of the
 * instances that no other one started. */
static void add_servers(struct summary *s)
{
	const struct recording *rec = s->rec;
	bool launched = s->user_us >= 0 && s->system_us >= 0, all = rec->n_instances > 0;

	for (size_t i = 0; !launched && i < rec->n_instances; i++)
		all &= rec->instance[i].used_user_us >= 0 || rec->instance[i].only_spans ||
		       rec->instance[i].parent_task != NO_INDEX;
	s->cpu_exact = launched ? !has_unknown_server(rec) : all;
	if (!launched)
		s->user_us = s->system_us = s->read_bytes = s->written_bytes = 0;
	for (size_t i = 0; s->cpu_exact && i < rec->n_instances; i++) {
		const struct instance *server = &rec->instance[i];

		if (server->used_user_us < 0)
			continue;
		s->user_us = both(s->user_us, server->used_user_us);
		s->system_us = both(s->system_us, server->used_system_us);
		s->read_bytes = both(s->read_bytes, bytes(server->used_in_blocks));
		s->written_bytes = both(s->written_bytes, bytes(server->used_out_blocks));
	}
}

/* The launcher waits for no process whose parent was killed: then it knows less than the samples. */
static void take_sampled(struct summary *s, const struct cost *sum)
{
	int64_t cpu_us = sat_add(s->user_us, s->system_us);

	bool reads = s->read_bytes >= 0 && sum->read_bytes > s->read_bytes;
	bool writes = s->written_bytes >= 0 && sum->written_bytes > s->written_bytes;

	s->at_least = sum->at_least && (sum->cpu_us > cpu_us || reads || writes);
	if (!s->at_least)
		return;
	if (sum->cpu_us > cpu_us)
		s->user_us = sum->cpu_us - s->system_us;
	if (reads)
		s->read_bytes = sum->read_bytes;
	if (writes)
		s->written_bytes = sum->written_bytes;
}

/* The values of the launcher and of servers; without them, the sum of the tasks. */
static void fill_used(struct summary *s)
{
	struct cost sum = { 0 };
	bool parts = false;	/* user and system: samples have only their sum */

	s->user_us = recording_build_number(s->rec, "user_us");
	s->system_us = recording_build_number(s->rec, "system_us");
	s->read_bytes = bytes_of_blocks(s, "in_blocks");
	s->written_bytes = bytes_of_blocks(s, "out_blocks");
	add_servers(s);
	for (size_t i = 0; i < s->rec->n_tasks; i++) {
		cost_add(&sum, &s->nest[i].cost);
		parts |= s->rec->task[i].user_us >= 0;
	}
	if (s->cpu_exact) {
		take_sampled(s, &sum);
	} else {
		s->at_least = sum.at_least;
		s->user_us = parts ? sum.user_us : -1;
		s->system_us = parts ? sum.system_us : -1;
		s->read_bytes = sum.read_bytes ? sum.read_bytes : -1;
		s->written_bytes = sum.written_bytes ? sum.written_bytes : -1;
	}
	s->cpu_us = s->cpu_exact ? sat_add(s->user_us, s->system_us) : sum.measured ? sum.cpu_us : -1;
}

static int fill_running(struct summary *s)
{
	int64_t unused;

	if (curve_running(&s->running, s->rec, s->order, s->by_end, s->n_ran))
		return -ENOMEM;
	s->running_max = curve_peak(&s->running, 0, s->wall_us, &unused);
	s->running_sum_us = curve_integral(&s->running, 0, s->wall_us);
	if (s->cores < 1)
		return 0;
	s->n_levels = s->cores < RUNNING_LEVELS_MAX ? (size_t)s->cores + 1 : RUNNING_LEVELS_MAX;
	s->level_us = calloc(s->n_levels, sizeof *s->level_us);
	if (!s->level_us)
		return -ENOMEM;
	curve_histogram(&s->running, 0, s->wall_us, s->level_us, s->n_levels);
	return 0;
}

static void add_peak_task(struct summary *s, uint32_t task, int64_t kb)
{
	size_t at = s->n_peak_tasks;

	while (at && s->peak_task[at - 1].memory_kb < kb) {
		if (at < PEAK_TASKS_MAX)
			s->peak_task[at] = s->peak_task[at - 1];
		at--;
	}
	if (at == PEAK_TASKS_MAX)
		return;
	s->peak_task[at] = (struct peak_task){ task, kb };
	s->n_peak_tasks += s->n_peak_tasks < PEAK_TASKS_MAX;
}

static int fill_memory(struct summary *s)
{
	const struct recording *rec = s->rec;
	uint32_t *kb;

	s->memory_peak_kb = (struct moment){ -1, -1 };
	if (!rec->n_memory)
		return 0;
	if (curve_task_memory(&s->memory_kb, rec))
		return -ENOMEM;
	s->memory_peak_kb.value = curve_peak(&s->memory_kb, 0, INT64_MAX,
					     &s->memory_peak_kb.time_us);
	kb = curve_task_memory_at(rec, s->memory_peak_kb.time_us);
	if (!kb)
		return -ENOMEM;
	for (size_t i = 0; i < rec->n_tasks; i++) {
		if (kb[i])
			add_peak_task(s, (uint32_t)i, kb[i]);
	}
	free(kb);
	return 0;
}

/*
 * Targets: a hash table by key and name for each instance, because one table of all tasks of
 * a large build would be in no cache.
 */
struct slot {
	uint32_t check;		/* more of the hash: other names are seldom compared */
	uint32_t target;	/* 1 + index, 0 is free */
};

struct table {
	size_t n;		/* tasks that ran */
	size_t first, mask;	/* in slot */
};

static bool is_target(const struct summary *s, uint32_t target, const struct task *t)
{
	const struct task *other = &s->rec->task[s->target[target].first_task];

	return !strcmp(other->name, t->name) &&
	       (other->key == t->key || !strcmp(other->key, t->key));
}

/* Slots for the targets of every instance, at most half of them used. NULL: out of memory. */
static struct slot *make_tables(struct table *table, const struct summary *s)
{
	const struct recording *rec = s->rec;
	size_t slots = 0;

	for (size_t i = 0; i < s->n_ran; i++)
		table[rec->task[s->order[i]].instance].n++;
	for (size_t i = 0; i < rec->n_instances; i++) {
		struct table *t = &table[i];

		t->first = slots;
		t->mask = 1;
		while (t->mask < 2 * t->n)
			t->mask = 2 * t->mask + 1;
		slots += t->mask + 1;
	}
	return array_new_zero(slots + 1, sizeof(struct slot));
}

static uint64_t hash_of_target(const struct task *t)
{
	return hash_bytes(hash_bytes(0, t->key, strlen(t->key)), t->name, strlen(t->name));
}

/* The slot of a task's target, free if the task is the first of it. */
static struct slot *find_slot(struct slot *slots, const struct table *table,
			      const struct summary *s, const struct task *t, uint64_t hash)
{
	uint32_t check = (uint32_t)(hash >> 32);

	for (size_t at = hash & table->mask;; at = (at + 1) & table->mask) {
		struct slot *slot = &slots[table->first + at];

		if (!slot->target)
			slot->check = check;
		if (!slot->target || (slot->check == check && is_target(s, slot->target - 1, t)))
			return slot;
	}
}

/* last: the last task of each target so far. slot: NULL for a task without a name, which is
 * a target of its own. */
static void add_to_target(struct summary *s, uint32_t task, struct slot *slot, uint32_t *last)
{
	const struct task *t = &s->rec->task[task];
	int64_t end_us = recording_task_end_us(s->rec, t);
	uint32_t at = slot && slot->target ? slot->target - 1 : (uint32_t)s->n_targets;
	struct target *g = &s->target[at];

	s->nest[task].target = at;
	if (at == s->n_targets) {
		*g = (struct target){ task, 0, t->start_us, end_us };
		s->n_targets++;
		if (slot)
			slot->target = at + 1;
	} else {
		s->nest[last[at]].next = task;
	}
	last[at] = task;
	g->n_tasks++;
	if (end_us > g->end_us)
		g->end_us = end_us;
}

/* A large build is in no cache: what the next tasks need is fetched ahead, and their hashes are
 * made ahead for that. */
#define AHEAD 16
#define HASHES 8		/* a power of two */

static int fill_targets(struct summary *s)
{
	const struct recording *rec = s->rec;
	struct table *table = array_new_zero(rec->n_instances, sizeof *table);
	struct slot *slots = table ? make_tables(table, s) : NULL;
	uint32_t *last = array_new(s->n_ran, sizeof *last);
	uint64_t hash[HASHES];
	bool ok;

	s->target = array_new(s->n_ran, sizeof *s->target);
	ok = slots && last && s->target;
	for (size_t i = 0; ok && i < s->n_ran + HASHES; i++) {
		const struct task *t;

		/* Not in a function of its own: gcc drops one that only prefetches. */
		if (i + AHEAD < s->n_ran) {
			__builtin_prefetch(&rec->task[s->order[i + AHEAD]].end_us);
			__builtin_prefetch(&rec->task[s->order[i + AHEAD]].key);
			__builtin_prefetch(&s->nest[s->order[i + AHEAD]].target, 1);
			__builtin_prefetch(rec->task[s->order[i + AHEAD / 2]].name);
		}
		if (i >= HASHES) {
			t = &rec->task[s->order[i - HASHES]];
			add_to_target(s, s->order[i - HASHES], *t->name ?
				      find_slot(slots, &table[t->instance], s, t,
						hash[i % HASHES]) : NULL, last);
		}
		if (i < s->n_ran) {
			const struct table *of = &table[rec->task[s->order[i]].instance];

			hash[i % HASHES] = hash_of_target(&rec->task[s->order[i]]);
			__builtin_prefetch(&slots[of->first + (hash[i % HASHES] & of->mask)], 1);
		}
	}
	free_all(table, slots, last);
	return ok ? 0 : -ENOMEM;
}

static int allocate(struct summary *s)
{
	size_t n = s->rec->n_tasks + 1;

	s->nest = array_new(n, sizeof *s->nest);
	s->order = array_new(n, sizeof *s->order);
	s->by_end = array_new(n, sizeof *s->by_end);
	return s->nest && s->order && s->by_end ? 0 : -ENOMEM;
}

int summary_make(struct summary *s, const struct recording *rec)
{
	*s = (struct summary){ .rec = rec };
	s->result = summary_build_result(rec, &s->status);
	s->reason = find_reason(rec, s->result);
	s->wall_us = rec->end_us >= 0 ? rec->end_us : rec->last_us;
	if (s->wall_us < 0)
		s->wall_us = 0;
	s->cores = recording_build_number(rec, "cores");
	count_states(s);
	if (allocate(s) || fill_order(s) || fill_by_end(s) || cost_fill(s->nest, rec, s->order, s->n_ran) ||
	    fill_targets(s) || fill_running(s) || fill_memory(s))
		return -ENOMEM;
	find_step(s);
	fill_used(s);
	host_fill(&s->host, rec);
	return 0;
}

void summary_release(struct summary *s)
{
	curve_release(&s->running);
	curve_release(&s->memory_kb);
	free_all(s->nest, s->order, s->by_end, s->target, s->level_us);
	*s = (struct summary){ 0 };
}

/* Ticks are coarse: of a short span they may come to more than there was. */
static double share(int64_t us, int64_t span_us, int64_t cores)
{
	double part;

	if (us < 0 || span_us <= 0 || cores < 1)
		return -1;
	part = (double)us / ((double)span_us * (double)cores);
	return MIN(part, 1);
}

double summary_cpu_share(const struct summary *s)
{
	return share(s->cpu_us, s->wall_us, s->cores);
}

double summary_host_share(const struct summary *s, int64_t us)
{
	return share(us, s->host.span_us, s->rec->source.one_core ? 1 : s->cores);
}

struct cost summary_target_cost(const struct summary *s, const struct target *g)
{
	struct cost sum = s->nest[g->first_task].cost;

	for (uint32_t i = s->nest[g->first_task].next; i != NO_INDEX; i = s->nest[i].next)
		cost_add(&sum, &s->nest[i].cost);
	return sum;
}

uint32_t summary_main_task(const struct summary *s, const struct target *g)
{
	uint32_t longest = g->first_task;

	for (uint32_t i = s->nest[longest].next; i != NO_INDEX; i = s->nest[i].next) {
		if (s->nest[i].cost.wall_us > s->nest[longest].cost.wall_us)
			longest = i;
	}
	return longest;
}

/* Before its end, a build is its tasks: what make and ninja use themselves is little. */
static bool is_known_so_far(const struct summary *s)
{
	return s->rec->end_us < 0 && s->cpu_us >= 0 && !has_unknown_server(s->rec);
}

int64_t summary_others_us(const struct summary *s)
{
	const struct host *h = &s->host;
	int64_t busy_us;

	if (h->user_us < 0 || h->span_us <= 0 || (!s->cpu_exact && !is_known_so_far(s)) || s->cores < 1 ||
	    s->rec->source.one_core)
		return -1;
	busy_us = sat_add(h->user_us, MAX(h->system_us, 0));
	return busy_us > s->cpu_us ? busy_us - s->cpu_us : 0;
}

int64_t summary_unseen_us(const struct summary *s)
{
	int64_t seen_us = 0;
	bool any = false;

	for (size_t i = 0; i < s->rec->n_programs; i++) {
		seen_us = sat_add(seen_us, s->rec->program[i].cpu_us);
		any = any || s->rec->program[i].n_measured;
	}
	if (!any || !s->cpu_exact)
		return -1;
	return s->cpu_us > seen_us ? s->cpu_us - seen_us : 0;
}

uint32_t summary_first_failure(const struct summary *s)
{
	uint32_t first = NO_INDEX;
	int64_t first_us = INT64_MAX;

	for (size_t i = 0; i < s->n_ran; i++) {
		const struct task *t = &s->rec->task[s->order[i]];
		int64_t end_us = recording_task_end_us(s->rec, t);

		if (!task_has_failed(t) || t->hosts ||
		    !strcmp(t->kind, "setscene") || end_us >= first_us)
			continue;
		first = s->order[i];
		first_us = end_us;
	}
	if (first == NO_INDEX && s->n_ran && task_said_no(&s->rec->task[s->order[s->n_ran - 1]]))
		return s->order[s->n_ran - 1];
	return first;
}
