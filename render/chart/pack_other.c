/* SPDX-License-Identifier: MIT */
#include "render/chart/pack_other.h"

#include "analyse/names.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

/* Of each task there: our task, as 1 + its place in order, or 0. */
static uint32_t *find_ours(const struct chart *c)
{
	uint32_t *ours = array_new_zero(c->ghost->rec->n_tasks, sizeof *ours);

	for (size_t i = 0; ours && i < c->sum->n_ran; i++) {
		uint32_t same = c->other->same[c->sum->order[i]];

		if (same != NO_INDEX)
			ours[same] = (uint32_t)i + 1;
	}
	return ours;
}

static void add_name(struct pack_tasks *p, const struct recording *rec, const struct task *t)
{
	struct buf name = BUF_PART_OF(&p->names.out);

	name_add_stable(&name, rec, t);
	pack_column_add(&p->column[OTHER_NAME], pack_dictionary_add(&p->names, buf_str(&name)));
	buf_release(&name);
}

int pack_other_tasks(struct pack_tasks *p)
{
	const struct chart *c = p->chart;
	const struct summary *there = c->ghost;
	uint32_t *ours;

	if (!there)
		return 0;
	ours = find_ours(c);
	if (!ours)
		return -ENOMEM;
	for (size_t i = 0; i < c->sum->n_ran; i++)
		pack_column_add(&p->column[TASKS_DIFFERENCE], c->differences.here[i]);
	for (size_t i = 0; i < there->n_ran; i++) {
		const struct task *t = &there->rec->task[there->order[i]];
		int32_t start = to_unit(p->per_us, t->start_us);
		int32_t end = to_unit(p->per_us, recording_task_end_us(there->rec, t));

		pack_column_adds(&p->column[OTHER_START], start);
		pack_column_add(&p->column[OTHER_WALL], end > start ? (uint32_t)(end - start) : 0);
		pack_column_add(&p->column[OTHER_LANE], c->other_lanes.lane[i]);
		pack_column_add(&p->column[OTHER_TASK], ours[there->order[i]]);
		if (!ours[there->order[i]])
			add_name(p, there->rec, t);
	}
	free(ours);
	return 0;
}

static void add_scale(struct json *j, const struct differences *d)
{
	struct buf text = BUF_PART_OF(j->out);

	json_array(j, "scale");
	for (enum difference i = 0; i < DIFFERENCES; i++) {
		buf_clear(&text);
		differences_add_words(&text, d, i);
		json_object(j, NULL);
		json_str(j, "label", buf_str(&text));
		json_int(j, "colour", difference_colour[i]);
		json_object_end(j);
	}
	json_array_end(j);
	buf_release(&text);
}

static void add_top(struct json *j, const struct pack_tasks *p)
{
	const struct differences *d = &p->chart->differences;

	json_array(j, "top");
	for (size_t i = 0; i < d->n_top; i++) {
		json_object(j, NULL);
		json_known(j, "task", d->top[i].here == NO_INDEX ? -1 : (int64_t)d->top[i].here);
		json_known(j, "other", d->top[i].there == NO_INDEX ? -1 : (int64_t)d->top[i].there);
		json_int(j, "change_us", d->top[i].change_us);
		json_object_end(j);
	}
	json_array_end(j);
}

void pack_other_json(struct json *j, const struct pack_tasks *p)
{
	const struct chart *c = p->chart;

	if (!c->ghost) {
		json_null(j, "ghost");
		return;
	}
	json_object(j, "ghost");
	json_int(j, "tasks", (int64_t)c->ghost->n_ran);
	json_int(j, "lanes", c->other_lanes.n_lanes);
	json_int(j, "wall_us", c->ghost->wall_us);
	json_int(j, "common", (int64_t)c->other->n_same);
	json_int(j, "only_here", (int64_t)c->other->n_only_here);
	json_int(j, "only_there", (int64_t)c->other->n_only_there);
	json_str(j, "warning", c->other->warning);
	add_scale(j, &c->differences);
	add_top(j, p);
	json_object_end(j);
}
