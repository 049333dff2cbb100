/* SPDX-License-Identifier: MIT */
#include "analyse/answer_parts.h"

#include "base/minmax.h"
#include "base/saturate.h"
#include "base/text.h"

#include <string.h>

#define PART_SHORT 0.02		/* of the wall time in which tasks waited for memory */
#define CPU_MOST 0.8		/* of all cores: a build that uses more could not be much faster */
#define CPU_FREE 0.75		/* of all cores: at most this is busy */
#define CPU_WANTED 0.02		/* of the time of tasks: those that use less wait, or sleep */

/* The machine */

/* Of all cores, -1: not known. */
static double busy_share(const struct answer_work *w)
{
	const struct host *h = &w->s->host;

	return h->user_us < 0 ? -1 : summary_host_share(w->s, sat_add(h->user_us, MAX(h->system_us, 0)));
}

/* Of the wall time, by how much less CPU time the build got than its tasks could have used, one core each. */
static int64_t lacked_us(const struct summary *s)
{
	double wanted_us = 0;

	for (size_t k = 1; k < s->n_levels; k++)
		wanted_us += (double)k * (double)s->level_us[k];
	return wanted_us > (double)s->cpu_us ?
	       (int64_t)((1 - (double)s->cpu_us / wanted_us) * (double)s->wall_us) : 0;
}

void answer_say_others(struct answer_work *w)
{
	const struct summary *s = w->s;
	int64_t others_us = summary_others_us(s), idle_us;
	double share = summary_host_share(s, others_us);

	if (others_us < 0 || share < ANSWER_PART_LEAST ||
	    (double)s->cpu_us < CPU_WANTED * (double)s->running_sum_us)
		return;
	/* what was idle, the build could have used, too */
	idle_us = answer_times_idle_us(s, 0, s->wall_us);
	if (idle_us < 0)
		return;
	others_us = MIN((others_us - idle_us) / s->cores, lacked_us(s));
	if (!answer_is_part(w, others_us))
		return;
	answer_add_percent(w, "Other processes used ", share, " of the CPU time, this build ");
	answer_add_percent(w, "", summary_cpu_share(s), "");
	w->others_us = others_us;
	answer_end(w, ANSWER_OTHERS, NULL, w->others_us);
}

/* The build had the cores, and used them. */
void answer_say_cores(struct answer_work *w)
{
	const struct summary *s = w->s;
	double share = summary_cpu_share(s), of_kind;
	const char *kind;

	if (share < CPU_MOST || !answer_is_part(w, s->wall_us))
		return;
	answer_add_percent(w, "The build used ", share, " of ");
	answer_add_number(w, "", s->cores, s->cores == 1 ? " core" : " cores");
	kind = answer_times_kind(s, &of_kind);
	if (kind && of_kind >= ANSWER_PART_ONE && strcmp(kind, "other")) {
		answer_add_percent(w, ", ", of_kind, " of that in tasks of kind ");
		answer_add(w, kind);
	}
	answer_add(w, ", so more workers would help little");
	answer_end(w, ANSWER_CORES, NULL, s->cpu_us / s->cores);
}

/* Where dependencies are not known and no sentence explains as much, or there is no other sentence. */
void answer_say_unused(struct answer_work *w)
{
	const struct summary *s = w->s;
	double busy = busy_share(w);
	int64_t idle_us = (int64_t)((1 - busy) * (double)s->wall_us);

	if (busy < 0 || busy > CPU_FREE || !s->n_ran || (s->cores < 2 && !s->rec->source.one_core) ||
	    !answer_is_part(w, idle_us) || (w->a->n && (w->c->waits.has_dependencies ||
						    w->a->sentence[0].explains_us >= idle_us)))
		return;
	answer_add_percent(w, "The cores were idle ", 1 - busy, " of the time; ");
	buf_addf(&w->text, "%.1f tasks ran at once on average, ", (double)s->running_sum_us / (double)s->wall_us);
	answer_add_number(w, "", s->running_max, " at most");
	answer_end(w, ANSWER_UNUSED, NULL, idle_us);
}

void answer_say_memory(struct answer_work *w)
{
	const struct host *h = &w->s->host;
	int64_t stalled_us = h->stalled_us[PRESSURE_MEMORY_SOME];
	bool stalled = h->pressure_span_us > 0 &&
		       (double)stalled_us >= PART_SHORT * (double)h->pressure_span_us;

	if (!answer_is_part(w, w->s->wall_us) || (h->oom_kills <= 0 && !stalled))
		return;
	if (h->oom_kills > 0)
		answer_add_number(w, "Memory ran out: the kernel killed ", h->oom_kills,
			   h->oom_kills == 1 ? " process" : " processes");
	else
		answer_add(w, "Memory was short");
	if (h->swapped_out_bytes > 0) {
		answer_add(w, h->oom_kills > 0 ? "; " : ": ");
		text_add_bytes(&w->text, h->swapped_out_bytes);
		answer_add(w, " were swapped out");
	}
	if (stalled)
		answer_add_percent(w, h->swapped_out_bytes > 0 || h->oom_kills > 0 ?
			    ", and programs waited for memory " : ": programs waited for it ",
			    (double)stalled_us / (double)h->pressure_span_us, " of the time");
	answer_end(w, ANSWER_MEMORY, NULL, h->oom_kills > 0 ? w->s->wall_us : stalled_us);
}

void answer_say_disk(struct answer_work *w)
{
	const struct host *h = &w->s->host;
	int64_t stalled_us = h->stalled_us[PRESSURE_IO_SOME];
	double share = summary_host_share(w->s, h->iowait_us);

	if (h->pressure_span_us > 0 && stalled_us >= 0) {
		if (!answer_is_part(w, stalled_us))
			return;
		answer_add_percent(w, "Programs waited for disks ", (double)stalled_us /
			    (double)h->pressure_span_us, " of the time");
		answer_end(w, ANSWER_DISK, NULL, stalled_us);
	} else if (share >= ANSWER_PART_LEAST && answer_is_part(w, w->s->wall_us)) {
		answer_add_percent(w, "The CPUs were idle and waited for disks ", share, " of the time");
		answer_end(w, ANSWER_DISK, NULL, (int64_t)(share * (double)w->s->wall_us));
	}
}

/* What ready tasks waited for */

/*
 * Workers are missing only if cores were free while tasks waited. Otherwise cores are missing, as in any build
 * with more tasks than workers. Where that is not known, there must have been fewer workers than cores.
 */
void answer_say_workers(struct answer_work *w)
{
	const struct summary *s = w->s;
	const struct answer_span *wait = &w->times.waited[QUEUE_WORKER];
	int64_t explains_us = MIN(wait->us, s->wall_us - w->c->dependency_us), idle_us, cores_us;

	if (!w->c->waits.has_dependencies || !answer_is_part(w, wait->us) || answer_is_bound(w) ||
	    summary_cpu_share(s) >= CPU_MOST)
		return;
	idle_us = answer_times_idle_us(s, wait->from_us, wait->until_us);
	cores_us = s->cores * (wait->until_us - wait->from_us);
	if (idle_us >= 0 && cores_us > 0 ? (double)idle_us < (1 - CPU_FREE) * (double)cores_us :
	    s->running_max >= s->cores || summary_cpu_share(s) > CPU_FREE)
		return;
	if (idle_us >= 0)
		explains_us = MIN(explains_us, idle_us / s->cores);
	if (!answer_is_part(w, explains_us))
		return;
	answer_add_percent(w, "Ready tasks waited for a free worker ", (double)wait->us /
		    (double)s->wall_us, " of the time, with ");
	if (s->running_max > 1)
		answer_add_number(w, "", s->running_max, " tasks at once at most");
	else
		answer_add(w, "one task at a time");
	if (idle_us >= 0)
		buf_addf(&w->text, " while %.1f of %lld cores were idle", (double)idle_us * (double)s->cores /
			 (double)cores_us, (long long)s->cores);
	else
		answer_add_number(w, " on ", s->cores, s->cores > 1 ? " cores" : " core");
	answer_add(w, ": more workers (-j) would help");
	if (build_is_good(s->result))
		answer_add_time(w, "; the longest chain of dependencies takes ", w->c->dependency_us, "");
	answer_end(w, ANSWER_WORKERS, NULL, explains_us);
}

void answer_say_load(struct answer_work *w)
{
	const struct answer_span *wait = &w->times.waited[QUEUE_LOAD];

	if (wait->until_us < 0 || !answer_is_part(w, wait->us))
		return;
	answer_add_percent(w, "Ready tasks waited for the limit of the load average (-l) ",
		    (double)wait->us / (double)w->s->wall_us, " of the time");
	answer_end(w, ANSWER_LOAD, &(struct answer_span){ wait->from_us, wait->until_us, 0,
							    NO_INDEX }, wait->us);
}

void answer_say_pool(struct answer_work *w)
{
	const struct answer_span *wait = &w->times.waited[QUEUE_POOL];
	const struct recording *rec = w->s->rec;
	uint32_t pool;

	if (wait->until_us < 0 || !answer_is_part(w, wait->us))
		return;
	pool = rec->task[wait->task].pool;
	answer_add_percent(w, "Ready tasks waited for a pool ", (double)wait->us / (double)w->s->wall_us,
		    " of the time");
	if (pool != NO_INDEX) {
		answer_add(w, ", longest for ");
		text_add_name(&w->text, rec->pool[pool].name, ANSWER_NAME_COLUMNS);
		answer_add_number(w, " (depth ", rec->pool[pool].depth, ")");
	}
	answer_end(w, ANSWER_POOL, wait, wait->us);
}

