/* SPDX-License-Identifier: MIT */
#include "analyse/answer_parts.h"

#include "base/minmax.h"
#include "base/saturate.h"
#include "base/text.h"

#define PART_SHORT 0.02		/* of the wall time in which tasks waited for memory */
#define CPU_FULL 0.9		/* at least this is busy */
#define CPU_FREE 0.75		/* of all cores: at most this is busy */
#define CPU_WANTED 0.02		/* of the time of tasks: those that use less wait, or sleep */

/* The machine */

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
	if (idle_us < 0 || !answer_is_part(w, (others_us - idle_us) / s->cores))
		return;
	answer_add_percent(w, "Other processes used ", share, " of the CPU time, this build ");
	answer_add_percent(w, "", summary_cpu_share(s), "");
	answer_end(w, ANSWER_OTHERS, NULL, (others_us - idle_us) / s->cores);
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

/* Workers are missing; and cores too, if the CPU was busy. */
void answer_say_workers(struct answer_work *w)
{
	const struct summary *s = w->s;
	const struct host *h = &s->host;
	const struct answer_span *wait = &w->times.waited[QUEUE_WORKER];
	int64_t spare_us = s->wall_us - w->c->dependency_us;
	double busy = h->user_us < 0 ? -1 :
		summary_host_share(s, sat_add(h->user_us, MAX(h->system_us, 0)));

	if (!w->c->waits.has_dependencies || !answer_is_part(w, wait->us) || answer_is_bound(w))
		return;
	answer_add_percent(w, "Ready tasks waited for a free worker ", (double)wait->us /
		    (double)s->wall_us, " of the time, with ");
	if (s->running_max > 1)
		answer_add_number(w, "", s->running_max, " tasks at once at most");
	else
		answer_add(w, "one task at a time");
	if (s->cores > 0)
		answer_add_number(w, " on ", s->cores, busy >= CPU_FULL ? " busy core" : " core");
	answer_add(w, s->cores > 1 ? "s" : "");
	if (s->running_max < s->cores && busy >= 0 && busy < CPU_FREE)
		answer_add(w, ": more workers (-j) would help");
	if (answer_is_whole(s))
		answer_add_time(w, "; the longest chain of dependencies takes ", w->c->dependency_us, "");
	answer_end(w, ANSWER_WORKERS, NULL, MIN(wait->us, spare_us));
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
