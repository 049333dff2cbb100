/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "cli/command.h"
#include "cli/inspect.h"
#include "cli/output_file.h"
#include "inspect/archive_list.h"
#include "report/inspect/archives_json.h"

#include <errno.h>
#include <unistd.h>

/* Archives: listed and removed. */

/* Why it ended, or that it did not. */
static const char *state_of(const struct inspect_entry *e)
{
	return e->runs ? "running" : *e->end ? e->end : "killed";
}

static void write_row(struct buf *out, const struct inspect_entry *e)
{
	if (e->end_us >= 0)
		buf_addf(out, "%5zu snapshot%s", e->n_snapshots, e->n_snapshots == 1 ? " " : "s");
	else
		buf_addf(out, "%5s snapshots", "-");
	buf_addf(out, "  %-12s", !*e->heap ? "" : e->heap[0] == 's' ? "sampled heap" : "exact heap");
	buf_adds(out, "  ");
	text_add_name(out, e->path, 0);
	buf_adds(out, "  ");
	text_add_name(out, state_of(e), 0);
	buf_addc(out, '\n');
}

static void write_list(struct buf *out, const struct inspect_list *l, bool as_json)
{
	struct json j;

	json_init(&j, out, false);
	if (as_json)
		json_array(&j, NULL);
	for (size_t i = 0; i < l->n; i++) {
		if (as_json)
			archives_json_entry(&j, &l->entry[i]);
		else
			write_row(out, &l->entry[i]);
	}
	if (as_json)
		json_array_end(&j);
	else if (!l->n)
		buf_adds(out, "There are no archives of inspections.\n");
}

int inspect_run_list(struct args *a, void *values, struct error *err)
{
	const struct inspect_arguments *o = values;
	struct inspect_list l = INSPECT_LIST_INIT;
	struct buf out = BUF_INIT;
	int r = 0;

	if (!a->n)
		r = inspect_list_below(&l, ".", err);
	for (int i = 0; !r && i < a->n; i++)
		r = access(a->operand[i], F_OK) ? error_sys(err, -errno, a->operand[i], NULL) :
		    inspect_list_below(&l, a->operand[i], err);
	if (!r)
		write_list(&out, &l, o->json);
	inspect_list_release(&l);
	return r ? r : output_end(&out, 0, NULL, err);
}

int inspect_run_delete(struct args *a, void *values, struct error *err)
{
	(void)values;
	return inspect_archive_delete(a->operand[0], err);
}
