/* SPDX-License-Identifier: MIT */
#include "analyse/build_output.h"

#include <errno.h>

bool build_output_matters(const struct summary *s)
{
	return s->n_state[TASK_FAILED] || s->n_state[TASK_KILLED] || s->result == BUILD_FAILED || s->result == BUILD_KILLED;
}

int build_output_read(struct build_output *b, const struct summary *s, const struct recording_codec *codec,
		      struct error *err)
{
	const struct recording *rec = s->rec;
	int r;

	*b = (struct build_output){ 0 };
	if (!rec->path)
		return 0;
	r = output_open(&b->output, rec->path, codec, err);
	if (r)
		return r == -ENOENT || r == -ENOTDIR ? 0 : r;
	r = output_find_tasks(&b->tasks, b->output, rec);
	if (!r && build_output_matters(s)) {
		r = first_errors_find(&b->errors, b->output, &b->tasks, s);
		if (!r)
			r = output_nearby_find(&b->nearby, b->output, &b->tasks, rec);
	}
	return r ? error_sys(err, r, rec->path, "cannot read the build's output") : 0;
}

int build_output_read_failure(struct build_output *b, const struct summary *s,
			      const struct recording_codec *codec, struct error *err)
{
	*b = (struct build_output){ 0 };
	return build_output_matters(s) ? build_output_read(b, s, codec, err) : 0;
}

void build_output_release(struct build_output *b)
{
	output_nearby_release(&b->nearby);
	first_errors_release(&b->errors);
	output_tasks_release(&b->tasks);
	output_close(b->output);
	*b = (struct build_output){ 0 };
}
