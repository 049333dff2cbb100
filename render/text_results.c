/* SPDX-License-Identifier: MIT */
/* What was found out about tasks after the build. */
#include "recording/results.h"

#include "render/facts.h"
#include "render/text_results.h"

void text_files(struct buf *out, const struct view *v, size_t top, const struct style *style)
{
	const struct recording *rec = v->sum->rec;
	size_t n = 0;

	for (size_t i = 0; i < v->n_tasks; i++) {
		const struct task *t = &rec->task[v->task[i]];

		for (uint32_t k = 0; k < t->n_files; k++) {
			char memory[32];
			struct buf b;

			if (!n++)
				text_title(out, style, "Files");
			if (n > top)
				continue;
			buf_init_fixed(&b, memory, sizeof memory);
			text_add_bytes(&b, rec->file[t->first_file + k].bytes);
			text_add_blanks(out, b.len < 9 ? 9 - b.len : 0);
			buf_adds(out, buf_str(&b));
			buf_adds(out, "  ");
			text_add_name(out, rec->file[t->first_file + k].path,
				      style->width > 18 ? style->width - 12 : 0);
			buf_addc(out, '\n');
		}
	}
	if (n > top)
		buf_addf(out, "  and %zu more\n", n - top);
}

void text_caches(struct facts *f, const struct view *v)
{
	size_t n[TASK_CACHES] = { 0 };

	for (size_t i = 0; i < v->n_tasks; i++)
		n[v->sum->rec->task[v->task[i]].cache]++;
	for (int c = 1; c < TASK_CACHES; c++) {
		if (!n[c])
			continue;
		if (v->n_tasks > 1)
			buf_addf(&f->part, "%zu ", n[c]);
		buf_adds(&f->part, results_cache_title((enum task_cache)c));
		fact_part(f);
	}
	fact_end(f, "cache", TONE_PLAIN);
}
