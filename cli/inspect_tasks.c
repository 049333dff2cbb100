/* SPDX-License-Identifier: MIT */
#include "base/cursor.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/inspect.h"
#include "cli/output_file.h"
#include "inspect/background.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Inspections in the background: asked about, waited for, cancelled. */

static int read_id(unsigned *id, const struct args *a, struct error *err)
{
	const char *text = a->operand[0];
	uint64_t n;

	if (!cursor_slice_u64(slice_of(text), &n) || !n || n > UINT32_MAX)
		return error_say(err, -EINVAL, "%s: expected the id of an inspection in the "
				 "background, such as 1, not '%s'", a->command->name, text);
	*id = (unsigned)n;
	return 0;
}

static unsigned percent_of(const struct background_task *t)
{
	return t->progress.n ? t->progress.line[t->progress.n - 1].percent : 0;
}

static void write_json(struct json *j, const struct background_task *t)
{
	json_object(j, NULL);
	json_int(j, "id", t->id);
	json_str(j, "process", t->process);
	json_str(j, "archive", *t->archive ? t->archive : NULL);
	json_int(j, "pid", t->progress.pid);
	json_bool(j, "runs", t->runs);
	json_known(j, "status", t->runs ? -1 : t->status);
	json_int(j, "percent", percent_of(t));
	json_array(j, "progress");
	for (size_t i = 0; i < t->progress.n; i++) {
		json_array(j, NULL);
		json_int(j, NULL, t->progress.line[i].percent);
		json_str(j, NULL, t->progress.line[i].message);
		json_array_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

static void write_text(struct buf *out, const struct background_task *t)
{
	for (size_t i = 0; i < t->progress.n; i++) {
		buf_addf(out, "%3u %%  ", t->progress.line[i].percent);
		text_add_name(out, t->progress.line[i].message, 0);
		buf_addc(out, '\n');
	}
	if (*t->archive) {
		buf_adds(out, "archive: ");
		text_add_name(out, t->archive, 0);
		buf_addc(out, '\n');
	}
}

static void write_row(struct buf *out, const struct background_task *t)
{
	buf_addf(out, "%4u  %3u %%  ", t->id, percent_of(t));
	text_add_name(out, t->process, 0);
	if (t->progress.n) {
		buf_adds(out, "  ");
		text_add_name(out, t->progress.line[t->progress.n - 1].message, 0);
	}
	buf_addc(out, '\n');
}

static int status_of_one(unsigned id, bool as_json, struct error *err)
{
	struct background_task t;
	struct buf out = BUF_INIT;
	struct json j;
	int r = background_read(&t, id, err);

	if (!r && as_json) {
		json_init(&j, &out, false);
		write_json(&j, &t);
		buf_addc(&out, '\n');
	} else if (!r) {
		write_text(&out, &t);
	}
	background_release(&t);
	return r ? r : output_end(&out, 0, NULL, err);
}

/* One that was forgotten meanwhile is left out. */
static int status_of_all(bool as_json, struct error *err)
{
	struct buf out = BUF_INIT;
	struct json j;
	unsigned *id;
	size_t n;
	int r = background_list(&id, &n, err);

	json_init(&j, &out, false);
	if (as_json)
		json_array(&j, NULL);
	for (size_t i = 0; !r && i < n; i++) {
		struct background_task t;
		struct error gone;

		if (!background_read(&t, id[i], &gone)) {
			if (as_json)
				write_json(&j, &t);
			else
				write_row(&out, &t);
		}
		background_release(&t);
	}
	if (as_json) {
		json_array_end(&j);
		buf_addc(&out, '\n');
	} else if (!r && !out.len) {
		buf_adds(&out, "No inspection runs in the background.\n");
	}
	free(id);
	if (r)
		buf_release(&out);
	return r ? r : output_end(&out, 0, NULL, err);
}

int inspect_run_status(struct args *a, void *values, struct error *err)
{
	const struct inspect_arguments *o = values;
	unsigned id;
	int r;

	if (!a->n)
		return status_of_all(o->json, err);
	r = read_id(&id, a, err);
	return r ? r : status_of_one(id, o->json, err);
}

/* The exit status is that of the inspection. */
int inspect_run_wait(struct args *a, void *values, struct error *err)
{
	struct background_task t;
	unsigned id;
	int r = read_id(&id, a, err);

	(void)values;
	if (!r)
		r = background_wait(id, err);
	if (r)
		return r;
	r = background_read(&t, id, err);
	if (!r)
		r = t.status >= 0 ? t.status : EXIT_MISUSE;
	background_release(&t);
	return r;
}

int inspect_run_cancel(struct args *a, void *values, struct error *err)
{
	unsigned *ids = NULL, id;
	size_t n = 0;
	int r;

	(void)values;
	if (strcmp(a->operand[0], "all")) {
		r = read_id(&id, a, err);
		return r ? r : background_cancel(id, err);
	}
	r = background_list(&ids, &n, err);
	for (size_t i = 0; i < n; i++) {
		struct error why;
		int error = background_cancel(ids[i], &why);

		if (error && error != -ENOENT && !r) {
			r = error;
			*err = why;
		}
	}
	free(ids);
	return r;
}
