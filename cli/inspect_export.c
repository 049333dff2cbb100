/* SPDX-License-Identifier: MIT */
#include "cli/inspect_export.h"

#include "base/array.h"
#include "base/outfile.h"
#include "cli/output_file.h"
#include "launch/hold.h"
#include "live/page_shell.h"
#include "report/html.h"
#include "report/inspect/class_plot.h"
#include "report/inspect/collapsed.h"
#include "report/inspect/heaptrack.h"
#include "report/inspect/pprof.h"
#include "report/inspect_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const inspect_format_words[INSPECT_FORMATS + 1] = {
	"text", "json", "html", "svg", "png", "pdf", "term", "pprof", "collapsed", "heaptrack", NULL
};

/* Archives over time: the page, and gnuplot's areas */

struct over_time {
	struct inspect_reader *reader;
	const struct inspection *in;
	struct classifier *classifier[2];	/* by enum classify_kind */
	struct classes classes[2];
	struct call_tree tree;
	struct inspect_page *page;		/* NULL: not wanted */
	int64_t *time_us;
	bool has_heap;
};

static int read_all(struct over_time *t, struct error *err)
{
	struct snapshot s = { 0 };
	int r = 0;

	for (size_t i = 0; !r && i < t->in->n_snapshots; i++) {
		r = inspect_reader_snapshot(t->reader, i, &s, err);
		if (r)
			break;
		t->time_us[i] = s.time_us;
		t->has_heap |= s.has_heap;
		for (int kind = 0; !r && kind < 2; kind++)
			r = classifier_add(t->classifier[kind], &s);
		if (!r && t->page)
			r = inspect_page_add(t->page, &s);
		if (r)
			error_sys(err, r, NULL, "inspect");
	}
	snapshot_release(&s);
	return r;
}

static int begin_over_time(struct over_time *t, const struct class_rule_file *rules, bool page,
			   struct error *err)
{
	int r = 0;

	t->time_us = calloc(t->in->n_snapshots + 1, sizeof *t->time_us);
	if (!t->time_us)
		r = -ENOMEM;
	if (!r && page)
		r = call_tree_make(&t->tree, t->in);
	if (!r && page)
		r = inspect_page_new(&t->page, t->in, &t->tree, rules);
	if (r)
		return error_sys(err, r, NULL, "inspect");
	for (int kind = 0; !r && kind < 2; kind++)
		r = classifier_new(&t->classifier[kind], kind, rules, t->in, err);
	return r;
}

static int read_classes(struct over_time *t, const struct class_rule_file *rules, bool page,
			struct error *err)
{
	int r = begin_over_time(t, rules, page, err);

	if (!r)
		r = read_all(t, err);
	for (int kind = 0; !r && kind < 2; kind++) {
		r = classifier_done(t->classifier[kind], &t->classes[kind]);
		if (r)
			error_sys(err, r, NULL, "inspect");
	}
	return r;
}

static void end_over_time(struct over_time *t)
{
	for (int kind = 0; kind < 2; kind++) {
		classifier_free(t->classifier[kind]);
		classes_release(&t->classes[kind]);
	}
	inspect_page_free(t->page);
	call_tree_release(&t->tree);
	free(t->time_us);
}

/* A signal that would end us ends gnuplot first, which leaves nothing behind. */
static int draw(const struct over_time *t, enum plot_format format,
		const struct inspect_arguments *o, struct buf *out, struct error *err)
{
	struct style style = output_style();
	struct class_plot p = {
		.in = t->in, .memory = &t->classes[CLASSIFY_MEMORY],
		.heap = t->has_heap ? &t->classes[CLASSIFY_HEAP] : NULL, .time_us = t->time_us,
		.path = format == PLOT_TERM ? NULL : o->output, .format = format, .keep = o->keep,
		.columns = style.width, .colour = style.colour,
	};
	struct hold hold;
	int r;

	hold_begin(&hold);
	p.stop_fd = hold.fd;
	r = class_plot_draw(&p, out, err);
	hold_end(&hold);
	return r;
}

static int write_over_time(struct buf *out, struct inspect_reader *reader,
			   const struct class_rule_file *rules, const struct inspect_arguments *o,
			   struct error *err)
{
	struct over_time t = { .reader = reader, .in = inspect_reader_inspection(reader) };
	const struct html_site site = { .path = "/inspection", .rec = o->site,
					.navigate = page_shell_bar };
	bool page = o->format == INSPECT_FORMAT_HTML;
	int r = read_classes(&t, rules, page, err);

	if (!r && page) {
		r = inspect_page_write(out, t.page, &t.classes[CLASSIFY_MEMORY],
				       t.has_heap ? &t.classes[CLASSIFY_HEAP] : NULL,
				       o->site ? &site : NULL);
		if (r)
			error_sys(err, r, NULL, "inspect");
	} else if (!r) {
		r = draw(&t, (enum plot_format)(PLOT_SVG + o->format - INSPECT_FORMAT_SVG), o, out,
			 err);
	}
	end_over_time(&t);
	return r;
}

/* The heap of one snapshot */

/* Values at the peak are in the last snapshot that has a heap. */
static int read_heap(struct snapshot *s, struct inspect_reader *reader, size_t wanted,
		     struct error *err)
{
	const struct inspection *in = inspect_reader_inspection(reader);
	size_t i = wanted == INSPECT_SNAPSHOT_CHOOSE ? in->n_snapshots : wanted + 1;
	int r = 0;

	if (i > in->n_snapshots)
		return error_say(err, -EINVAL, "there is no snapshot %zu: the archive has %zu", i,
				 in->n_snapshots);
	for (; !r && i-- > 0;) {
		r = inspect_reader_snapshot(reader, i, s, err);
		if (!r && s->has_heap)
			return 0;
		if (wanted != INSPECT_SNAPSHOT_CHOOSE)
			break;
	}
	return r ? r : error_say(err, -ENODATA, "the allocations were not counted: inspect run "
				 "--heap does so");
}

static int write_heap(struct buf *out, struct inspect_reader *reader, size_t wanted, int format,
		      struct error *err)
{
	const struct inspection *in = inspect_reader_inspection(reader);
	bool peak = wanted == INSPECT_SNAPSHOT_CHOOSE;
	struct call_tree tree = { 0 };
	struct snapshot s = { 0 };
	int r = read_heap(&s, reader, wanted, err);

	if (r) {
		snapshot_release(&s);
		return r;
	}
	if (format == INSPECT_FORMAT_PPROF)
		r = pprof_write(out, in, &s, peak);
	else
		r = call_tree_make(&tree, in);
	if (!r && format == INSPECT_FORMAT_COLLAPSED)
		r = collapsed_write(out, &tree, &s, peak);
	else if (!r && format == INSPECT_FORMAT_HEAPTRACK)
		r = heaptrack_write(out, in, &tree, &s);
	if (r)
		error_sys(err, r, NULL, "inspect");
	call_tree_release(&tree);
	snapshot_release(&s);
	return r;
}

static bool is_picture(const struct inspect_arguments *o)
{
	return o->format >= INSPECT_FORMAT_SVG && o->format <= INSPECT_FORMAT_PDF;
}

/* Options of the text have no effect on these. */
static int check(const struct args *a, const struct inspect_arguments *o, struct error *err)
{
	static const char *const others[] = {
		"view", "file", "permissions", "address", "stack", "top", "json"
	};
	const char *word = inspect_format_words[o->format];
	bool to_terminal = (!o->output || !strcmp(o->output, OUTFILE_STDOUT)) && isatty(1);

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		if (options_given(a, others[i]))
			return error_say(err, -EINVAL, "inspect show: --%s is for text and JSON, "
					 "not for --format %s", others[i], word);
	}
	if (options_given(a, "snapshot") && o->format < INSPECT_FORMAT_PPROF)
		return error_say(err, -EINVAL, "inspect show: --snapshot is not for --format %s, "
				 "which has all snapshots", word);
	if (o->site && o->format != INSPECT_FORMAT_HTML)
		return error_say(err, -EINVAL, "inspect show: --site is for --format html");
	if (o->keep && !is_picture(o))
		return error_say(err, -EINVAL, "inspect show: --keep is for --format svg, png and "
				 "pdf");
	if ((is_picture(o) && (!o->output || !strcmp(o->output, OUTFILE_STDOUT))) ||
	    (o->format == INSPECT_FORMAT_PPROF && to_terminal))
		return error_say(err, -EINVAL, "inspect show: --format %s needs -o FILE", word);
	return 0;
}

int inspect_export(struct inspect_reader *reader, const struct class_rule_file *rules,
		   size_t snapshot, const struct args *a, const struct inspect_arguments *o,
		   struct error *err)
{
	struct buf out = BUF_INIT;
	int r = check(a, o, err);

	if (!r && o->format >= INSPECT_FORMAT_PPROF)
		r = write_heap(&out, reader, snapshot, o->format, err);
	else if (!r)
		r = write_over_time(&out, reader, rules, o, err);
	if (r || is_picture(o))
		buf_release(&out);
	else if (o->output)
		r = output_file(&out, 0, o->output, err);
	else
		r = output_end(&out, 0, NULL, err);
	if (!r && o->output)
		output_path(o->output);
	return r;
}
