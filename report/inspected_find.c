/* SPDX-License-Identifier: MIT */
#include "report/inspected_find.h"

#include "base/array.h"
#include "base/buf.h"
#include "inspect/archive_files.h"
#include "recording/suspended.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The numbers are those of an archive, which can be any. */
static int64_t start_ns(const struct inspect_entry *e)
{
	long hz = sysconf(_SC_CLK_TCK);

	return hz > 0 && e->start_ticks < INT64_MAX / 1000000000 ?
	       (int64_t)e->start_ticks * (1000000000 / hz) : 0;
}

static void fill(struct inspected_process *p, const struct recording *rec,
		 const struct inspect_entry *e)
{
	const struct inspected_origin origin = {
		.task = e->task, .ancestors = e->ancestors, .pid = e->pid,
		.start_us = suspended_since_start_us(rec, start_ns(e)),
		.inspected_us = suspended_since_start_us(rec, e->start_ns),
	};

	*p = (struct inspected_process){
		.archive = e->path + strlen(rec->path) + 1, .program = e->program, .pid = e->pid,
		.heap = e->heap, .start_us = origin.inspected_us,
		.n_snapshots = e->end_us < 0 ? -1 : (int64_t)e->n_snapshots,
		.task = inspected_task(rec, &origin),
	};
}

static int by_start(const void *a, const void *b)
{
	const struct inspected_process *x = a, *y = b;
	int order = array_order(x->start_us, y->start_us);

	return order ? order : strcmp(x->archive, y->archive);
}

int inspected_find(struct inspected_found *x, const struct recording *rec, struct error *err)
{
	struct inspected *found = &x->inspected;
	struct buf path = BUF_INIT;
	int r;

	if (!rec->path)
		return 0;
	buf_addf(&path, "%s/" INSPECT_ARCHIVES, rec->path);
	r = buf_error(&path) ? error_sys(err, buf_error(&path), rec->path, NULL) :
	    inspect_list_add(&x->list, path.data, err);
	buf_release(&path);
	if (r || !x->list.n)
		return r;
	found->process = calloc(x->list.n, sizeof *found->process);
	if (!found->process)
		return error_sys(err, -ENOMEM, rec->path, NULL);
	for (; found->n < x->list.n; found->n++)
		fill(&found->process[found->n], rec, &x->list.entry[found->n]);
	qsort(found->process, found->n, sizeof *found->process, by_start);
	return 0;
}

void inspected_release(struct inspected_found *x)
{
	free(x->inspected.process);
	inspect_list_release(&x->list);
	*x = (struct inspected_found)INSPECTED_INIT;
}
