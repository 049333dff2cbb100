/* SPDX-License-Identifier: MIT */
#include "cli/diff_samples.h"

#include "base/arena.h"
#include "base/array.h"
#include "cli/numberlines.h"
#include "cli/output.h"
#include "compare/lines.h"
#include "stats/samples.h"

#include <errno.h>
#include <stdlib.h>

/* Of those told to differ, one in twenty may be no different; less than a hundredth does
 * not matter. */
static const struct samples_rules rules = { .rate = 0.05, .least_effect = 0.01 };

struct pairs {
	struct arena *texts;
	struct line_id *id;
	struct samples *samples;
	size_t n;
};

static int add_pair(void *context, const struct numberline *line)
{
	struct pairs *p = context;
	struct line_id *id = array_grow(p->id, p->n, sizeof *id);
	struct samples *samples;

	if (!id)
		return -ENOMEM;
	p->id = id;
	samples = array_grow(p->samples, p->n, sizeof *samples);
	if (!samples)
		return -ENOMEM;
	p->samples = samples;
	id[p->n] = line->id;
	id[p->n].text = arena_text(p->texts, line->id.text, line->id.len);
	if (!id[p->n].text)
		return -ENOMEM;
	return samples_compare(&samples[p->n++], line->list[0].value, line->list[0].n,
			       line->list[1].value, line->list[1].n);
}

static int print(struct pairs *p)
{
	struct buf out = BUF_INIT;
	int r = samples_judge(p->samples, p->n, &rules);

	for (size_t i = 0; !r && i < p->n; i++) {
		line_samples(&out, &p->id[i], &p->samples[i]);
		r = buf_error(&out);
	}
	return output_end(&out, r, NULL, NULL);
}

int diff_samples(const char *path, struct error *err)
{
	static const char *const name[] = { "base", "new", NULL };
	struct pairs p = { .texts = arena_new() };
	int r = 0;

	if (!p.texts)
		r = error_sys(err, -ENOMEM, path, NULL);
	if (!r)
		r = numberlines_read(path, name, add_pair, &p, err);
	if (!r && (r = print(&p)))
		error_sys(err, r, path, NULL);
	free(p.samples);
	free(p.id);
	arena_free(p.texts);
	return r;
}
