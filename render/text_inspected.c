/* SPDX-License-Identifier: MIT */
#include "analyse/names.h"
#include "render/show.h"

static void add_process(struct buf *out, const struct recording *rec,
			const struct inspected_process *p)
{
	struct buf name = BUF_PART_OF(out);

	buf_adds(out, "  ");
	text_add_name(out, p->program, 40);
	buf_addf(out, " %d", (int)p->pid);
	if (p->task != NO_INDEX) {
		buf_adds(out, " of ");
		name_add_task(&name, rec, &rec->task[p->task]);
		text_add_name(out, buf_str(&name), 0);
	}
	if (p->start_us >= 0) {
		buf_adds(out, ", at ");
		text_add_time(out, p->start_us);
	}
	if (p->n_snapshots >= 0)
		buf_addf(out, ", %lld snapshot%s", (long long)p->n_snapshots,
			 p->n_snapshots == 1 ? "" : "s");
	if (*p->heap)
		buf_addf(out, ", %s heap", p->heap[0] == 'e' ? "exact" : "sampled");
	buf_adds(out, "\n    ");
	text_add_name(out, p->archive, 0);
	buf_addc(out, '\n');
	buf_release(&name);
}

void text_inspected(struct buf *out, const struct view *v, const struct inspected *x, size_t top,
		    const struct style *style)
{
	size_t n = 0;

	for (size_t i = 0; x && i < x->n; i++) {
		if (!view_has_task(v, x->process[i].task))
			continue;
		if (n++ == top)
			break;
		if (n == 1)
			text_title(out, style, "Inspected processes");
		add_process(out, v->sum->rec, &x->process[i]);
	}
}
