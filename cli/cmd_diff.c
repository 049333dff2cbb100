#include "arena.h"
#include "command.h"
#include "lines.h"
#include "numberlines.h"
#include "output.h"
#include "report.h"
#include "samples.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

struct diff_arguments {
	const char *samples;
};

static const struct option options[] = {
	{ .name = "samples", .letter = 's', .kind = OPTION_TEXT, .argument = "FILE",
	  .help = "compare the pairs of samples in FILE, a line of JSON each",
	  .offset = offsetof(struct diff_arguments, samples) },
	{ 0 }
};

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
	if (!r)
		output_write(&out);
	buf_release(&out);
	return r;
}

static int compare_samples(const char *path, struct error *err)
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

static int run(const struct command *c, int argc, char **argv)
{
	struct diff_arguments d = { 0 };
	struct error err = { 0 };
	struct args a;
	int r;

	if (!options_parse(&a, c, &d, argc, argv))
		return a.status;
	if (d.samples)
		r = compare_samples(d.samples, &err);
	else
		r = error_set(&err, -EINVAL, NULL, 0, 0, "diff: option '--samples' is missing");
	if (r)
		report_error(&err);
	args_release(&a);
	return r ? EXIT_MISUSE : EXIT_GOOD;
}

const struct command cmd_diff = {
	.name = "diff",
	.summary = "Tell what differs, and how sure that is",
	.operands = "",
	.options = options,
	.run = run,
};
