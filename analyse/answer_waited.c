/* SPDX-License-Identifier: MIT */
#include "analyse/answer_parts.h"

#include "base/array.h"
#include "base/saturate.h"
#include "base/text.h"

#include <string.h>

/* Tasks of the path that used next to no CPU: they slept, or waited for something. */

#define CPU_NONE 0.02		/* of a task's time: with less it waits */
#define CPU_STARVED 0.005	/* the same where no core was free: a task gets more than that */
#define CORES_FREE 0.1		/* of all cores, on average */
#define DISK_BYTES 1000000	/* a second: with more it waits for disks */

/* By the program that does its work. */
static const char *waits_how(const char *program)
{
	static const struct { const char *program, *how; } list[] = {
		{ "sleep", " slept" }, { "flock", " waited for a lock" }, { "curl", " waited for the network" },
		{ "wget", " waited for the network" }, { "git", " waited for the network" },
		{ "ssh", " waited for the network" }, { "scp", " waited for the network" },
		{ "rsync", " waited for the network" }, { "svn", " waited for the network" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
		if (!strcmp(program, list[i].program))
			return list[i].how;
	}
	return NULL;
}

static int64_t wall_us(const struct answer_work *w, uint32_t task)
{
	return cost_wall_us(w->s->rec, &w->s->rec->task[task]);
}

/* Of a CPU, what a task that waits uses at most. */
static double most_of_cpu(const struct answer_work *w)
{
	int64_t idle_us = answer_times_idle_us(w->s, 0, w->s->wall_us);

	return idle_us < 0 || (double)idle_us >= CORES_FREE * (double)(w->s->wall_us * w->s->cores) ? CPU_NONE :
	       CPU_STARVED;
}

/* *cpu_us: how much it used. It also wanted the time in which it waited for a core, if that is known. */
static bool did_wait(const struct answer_work *w, uint32_t task, double most, int64_t *cpu_us)
{
	const struct cost_cpu *cpu = &w->s->nest[task].cpu;
	const struct cost *c = &w->s->nest[task].cost;
	int64_t us = wall_us(w, task), wanted_us;

	*cpu_us = sat_add(cpu->user_us, cpu->system_us);
	wanted_us = cost_knows(c, VALUE_DELAY) ? sat_add(*cpu_us, c->delay_us) : *cpu_us;
	return cpu->user_us >= 0 && !cpu->at_least && us > 0 && (double)wanted_us < most * (double)us;
}

static void add_how(struct answer_work *w, uint32_t task)
{
	const struct task *t = &w->s->rec->task[task];
	const struct cost *c = &w->s->nest[task].cost;
	const char *how = !strcmp(t->kind, "fetch") ? " waited for the network" : waits_how(t->program);

	if (!how && cost_knows(c, VALUE_IO) && (double)sat_add(c->read_bytes, c->written_bytes) * 1e6 >=
					       (double)DISK_BYTES * (double)c->wall_us)
		how = " waited for disks";
	answer_add(w, how ? how : " waited");
}

/* The program, where the name of the task does not say it. */
static void add_program(struct answer_work *w, uint32_t task)
{
	const struct task *t = &w->s->rec->task[task];

	if (!*t->program || strstr(t->name, t->program))
		return;
	answer_add(w, " (");
	text_add_name(&w->text, t->program, ANSWER_NAME_COLUMNS);
	answer_add(w, ")");
}

void answer_say_waited(struct answer_work *w)
{
	const struct chain *c = w->c;
	struct answer_span most = { -1, -1, 0, NO_INDEX };
	int64_t sum_us = 0, cpu_sum_us = 0, cpu_us, most_cpu_us = 0;
	double most_share = most_of_cpu(w);
	size_t n = 0;

	for (size_t i = 0; i < c->n_path; i++) {
		const struct task *t = &w->s->rec->task[c->path[i]];
		int64_t us = wall_us(w, c->path[i]);

		if (!answer_is_part(w, c->path_us) || !did_wait(w, c->path[i], most_share, &cpu_us))
			continue;
		n++;
		sum_us = sat_add(sum_us, us);
		cpu_sum_us = sat_add(cpu_sum_us, cpu_us);
		if (us <= most.us)
			continue;
		most = (struct answer_span){ t->start_us, t->start_us + us, us, c->path[i] };
		most_cpu_us = cpu_us;
	}
	if (!answer_is_part(w, sum_us))
		return;
	/* what the path is worth without dependencies is not known */
	if (!c->waits.has_dependencies && !answer_is_part(w, most.us))
		return;
	if (!c->waits.has_dependencies || answer_is_most(most.us, sum_us)) {
		answer_add_name(w, "", most.task, "");
		add_how(w, most.task);
		add_program(w, most.task);
		answer_add(w, " for ");
		answer_add_of_build(w, most.us);
		answer_add_percent(w, "; it used ", (double)most_cpu_us / (double)most.us, " of a CPU");
		answer_end(w, ANSWER_WAITED, &most, most.us);
		return;
	}
	answer_add_number(w, "", (int64_t)n, " tasks waited, one after the other, for ");
	answer_add_of_build(w, sum_us);
	answer_add_percent(w, " and used ", (double)cpu_sum_us / (double)sum_us, " of a CPU; ");
	answer_add_name(w, "", most.task, "");
	add_how(w, most.task);
	add_program(w, most.task);
	answer_add_time(w, " for ", most.us, "");
	answer_end(w, ANSWER_WAITED, NULL, sum_us);
}
