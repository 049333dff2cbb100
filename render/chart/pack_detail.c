/* SPDX-License-Identifier: MIT */
#include "render/chart/pack_detail.h"

#include "base/array.h"
#include "base/minmax.h"
#include "base/sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How many dependencies a chart has of one task, those that ended last, and of all. */
#define DEPEND_MOST 40
#define DEPENDS_MAX 30000

/* A shorter time in the queue is not worth a line. */
#define WAIT_LEAST_US 1000

/* Tools */

static size_t tool_index(struct pack_tasks *p, const char *tool)
{
	size_t i = 0;

	while (i < p->n_tools && strcmp(p->tool[i], tool) != 0)
		i++;
	if (i == p->n_tools && i < PACK_TOOLS_MAX)
		p->tool[p->n_tools++] = tool;
	return i < PACK_TOOLS_MAX ? i : PACK_TOOLS_MAX - 1;
}

/* Most builds have one tool: then there is no column. */
int pack_detail_tools(struct pack_tasks *p)
{
	const struct summary *s = p->chart->sum;
	const struct recording *rec = s->rec;
	uint8_t *tool = array_new_zero(rec->n_instances, 1);

	if (!tool)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->n_ran; i++)
		tool[rec->task[s->order[i]].instance] = 1;
	for (size_t i = 0; i < rec->n_instances; i++) {
		const char *name = rec->instance[i].tool;

		if (tool[i])
			tool[i] = (uint8_t)tool_index(p, name ? name : "");
	}
	for (uint32_t i = 0; p->n_tools > 1 && i < s->n_ran; i++)
		pack_column_add(&p->column[TASKS_TOOL], tool[rec->task[s->order[i]].instance]);
	free(tool);
	return 0;
}

/* What was found out after the build: without it there are no columns. */
void pack_detail_results(struct pack_tasks *p)
{
	const struct summary *s = p->chart->sum;
	const struct recording *rec = s->rec;

	for (uint32_t i = 0; i < s->n_ran; i++) {
		const struct task *t = &rec->task[s->order[i]];

		if (rec->has_files)
			pack_column_add(&p->column[TASKS_FILES],
					pack_size(MAX(t->files_bytes, 0)));
		if (rec->has_cache)
			pack_column_add(&p->column[TASKS_CACHE], t->cache);
	}
}

/* The time from when a task was ready until it started */

static void add_wait(struct pack_tasks *p, uint32_t i)
{
	const struct summary *s = p->chart->sum;
	uint32_t task = s->order[i];
	const struct wait_task *q = &p->chart->chain.waits.task[task];

	if (wait_queue_us(&p->chart->chain.waits, s->rec, task) < WAIT_LEAST_US)
		return;
	pack_column_add(&p->column[WAITED_TASK], i);
	for (int cause = 0; cause < QUEUE_CAUSES; cause++)
		pack_column_add(&p->column[WAITED_WORKER + cause],
				(uint32_t)to_unit(p->per_us, q->us[cause]));
}

/* Dependencies */

static bool later(const void *ctx, uint32_t a, uint32_t b)
{
	const struct pack_tasks *p = ctx;
	const struct recording *rec = p->chart->sum->rec;
	int64_t x = recording_task_end_us(rec, &rec->task[a]);
	int64_t y = recording_task_end_us(rec, &rec->task[b]);

	return x != y ? x > y : a < b;
}

/* Each of those that made what the task waited for, once: how many; made has room for all. */
static size_t find_makers(uint32_t *made, const struct pack_tasks *p, const struct task *t)
{
	const uint32_t *maker = p->chart->chain.waits.needs.maker + t->first_after;
	size_t n = 0, n_different = 0;

	for (uint32_t i = 0; i < t->n_after; i++) {
		if (maker[i] != NO_INDEX && p->position[maker[i]] != NO_INDEX)
			made[n++] = maker[i];
	}
	sort_top(made, n, n, later, p);
	for (size_t i = 0; i < n; i++) {
		if (!n_different || made[n_different - 1] != made[i])
			made[n_different++] = made[i];
	}
	return n_different;
}

/* The one that it waited for last is there anyway. */
static size_t add_dependencies(struct pack_tasks *p, uint32_t *made, uint32_t i)
{
	const struct summary *s = p->chart->sum;
	size_t n = find_makers(made, p, &s->rec->task[s->order[i]]);
	size_t shown = MIN(n, DEPEND_MOST);

	if (!n || (n == 1 && p->chart->chain.waits.task[s->order[i]].before == made[0]))
		return 0;
	pack_column_add(&p->column[DEPEND_TASK], i);
	pack_column_add(&p->column[DEPEND_ALL], (uint32_t)n);
	pack_column_add(&p->column[DEPEND_LENGTH], (uint32_t)shown);
	for (size_t k = 0; k < shown; k++)
		pack_column_adds(&p->column[DEPEND], (int32_t)(i - p->position[made[k]]));
	return shown;
}

int pack_detail_waits(struct pack_tasks *p, const uint32_t *longest, size_t n)
{
	const struct summary *s = p->chart->sum;
	size_t most = 0, n_depends = 0;
	uint32_t *made;

	for (size_t i = 0; i < n; i++) {
		uint32_t n_after = s->rec->task[s->order[longest[i]]].n_after;

		most = MAX(n_after, most);
	}
	made = array_new(most, sizeof *made);
	if (!made)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		add_wait(p, longest[i]);
		if (n_depends < DEPENDS_MAX)
			n_depends += add_dependencies(p, made, longest[i]);
	}
	free(made);
	return 0;
}

/* What tasks wrote, line by line. */
void pack_detail_log(struct pack_tasks *p)
{
	const struct output_excerpt *x = p->chart->excerpt;
	const char *line = x ? x->text.data : NULL, *last = x && line ? line + x->text.len : NULL;
	struct buf text = BUF_PART_OF(&p->log);

	for (size_t i = 0; line && i < x->n; i++) {
		const char *end = memchr(line, '\n', (size_t)(last - line));

		if (p->position[x->task[i]] != NO_INDEX) {
			pack_column_adds(&p->column[LOG_TASK], (int32_t)p->position[x->task[i]]);
			buf_clear(&text);
			buf_add(&text, line, (size_t)(end - line));
			pack_text(&p->log, buf_str(&text), EXCERPT_WIDTH);
		}
		line = end + 1;
	}
	buf_release(&text);
}
