/* SPDX-License-Identifier: MIT */
#include "report/whatif_output.h"

#include "analyse/names.h"
#include "base/json.h"

#include <math.h>

static void add_name(struct json *j, const struct rerun *r, uint32_t task)
{
	struct buf name = BUF_PART_OF(j->out);

	name_add_task(&name, r->s->rec, &r->s->rec->task[task]);
	json_str(j, "task", buf_str(&name));
	buf_release(&name);
}

static void begin(struct json *j, struct buf *out, const struct rerun *r, int64_t memory_kb)
{
	json_init(j, out, false);
	json_object(j, NULL);
	json_str(j, "format", "buildbeat whatif 1");
	json_str(j, "recording", r->s->rec->path);
	json_int(j, "recorded_wall_us", r->s->wall_us);
	json_bool(j, "recorded_whole", build_is_good(r->s->result));
	json_int(j, "recorded_jobs", r->jobs);
	json_known(j, "recorded_cores", r->s->cores);
	json_real(j, "others_cores", r->chain->free.others, 4);
	json_known(j, "memory_limit_kb", memory_kb > 0 ? memory_kb : -1);
	json_real(j, "model_error", (double)r->base_us / (double)r->s->wall_us - 1, 4);
}

int whatif_json(struct buf *out, const struct forecast *f, const struct rerun *r, int64_t memory_kb)
{
	struct json j;

	begin(&j, out, r, memory_kb);
	json_int(&j, "wall_us", f->wall_us);
	json_int(&j, "wall_low_us", f->low_us);
	json_int(&j, "wall_high_us", f->high_us);
	json_int(&j, "jobs", f->jobs);
	json_real(&j, "cores", f->cores > 0 ? f->cores : NAN, 4);
	json_real(&j, "cpu_share", f->busy >= 0 ? f->busy : NAN, 4);
	json_int(&j, "running_most", f->running_most);
	json_known(&j, "memory_kb", f->memory_kb);
	json_known(&j, "memory_us", f->memory_kb < 0 ? -1 : f->memory_us);
	json_bool(&j, "memory_exceeded", memory_kb > 0 && f->memory_kb > memory_kb);
	json_array(&j, "memory_tasks");
	for (size_t i = 0; i < f->n_largest; i++) {
		json_object(&j, NULL);
		add_name(&j, r, f->largest[i]);
		json_object_end(&j);
	}
	json_array_end(&j);
	json_array(&j, "chain");
	for (size_t i = 0; i < f->n_chain; i++) {
		json_object(&j, NULL);
		add_name(&j, r, f->chain[i].task);
		json_int(&j, "start_us", f->chain[i].start_us);
		json_int(&j, "wall_us", f->chain[i].end_us - f->chain[i].start_us);
		json_str(&j, "waited_for", f->chain[i].for_worker ? "worker" : "task");
		json_object_end(&j);
	}
	json_array_end(&j);
	json_object_end(&j);
	return buf_error(out);
}

int whatif_curve_json(struct buf *out, const struct rerun_curve *c, const struct rerun *r, int64_t memory_kb)
{
	struct json j;

	begin(&j, out, r, memory_kb);
	json_int(&j, "knee_jobs", c->point[c->knee].jobs);
	json_int(&j, "best_jobs", c->point[c->best].jobs);
	json_known(&j, "safe_jobs", memory_kb > 0 ? rerun_curve_safe(c, memory_kb) : -1);
	json_array(&j, "points");
	for (size_t i = 0; i < c->n; i++) {
		json_object(&j, NULL);
		json_int(&j, "jobs", c->point[i].jobs);
		json_int(&j, "wall_us", c->point[i].wall_us);
		json_known(&j, "memory_kb", c->point[i].memory_kb);
		json_object_end(&j);
	}
	json_array_end(&j);
	json_object_end(&j);
	return buf_error(out);
}
