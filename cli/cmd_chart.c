/* SPDX-License-Identifier: MIT */
#include "base/file.h"
#include "base/outfile.h"
#include "base/str.h"
#include "cli/command.h"
#include "cli/openrec.h"
#include "cli/output_file.h"
#include "compare/pairs.h"
#include "convert/zstd.h"
#include "launch/hold.h"
#include "launch/notice.h"
#include "render/chart/bootchart.h"
#include "render/plot/plot.h"
#include "report/diff_view.h"
#include "report/inspected_find.h"
#include "report/log_page.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum chart_name { CHART_BOOT, CHART_CPU, CHART_DISK, CHART_MEMORY, CHARTS };

static const char *const chart_word[CHARTS + 1] = {
	"bootchart", "cpu", "disk", "memory", NULL
};

struct chart_arguments {
	const char *config;
	const char *base;
	const char *into;
	int only;		/* CHARTS: all */
	int format;
	int by;
	const char *compare;
	bool keep;
};

#define OPTIONS struct chart_arguments
static const struct option options[] = {
	OPENREC_OPTIONS(config, base),
	{ OPT_TEXT('o', "output", into, "FILE|DIR",
	  "write the bootchart to FILE.svg, or all charts to DIR (default: the recording)") },
	{ OPT_CHOICE(0, "only", only, chart_word, "CHART",
	  "draw only CHART: bootchart, cpu, disk or memory (default: all)") },
	{ OPT_CHOICE(0, "format", format, plot_format_word, "FORMAT",
	  "format of cpu, disk and memory: svg, png, pdf, or term (text) (default svg)") },
	{ OPT_CHOICE('b', "by", by, lanes_word, "WHAT",
	  "group tasks into rows by worker, recipe, directory or kind (default worker)") },
	{ OPT_TEXT(0, "compare", compare, "REC",
	  "colour the tasks of the bootchart by their difference from the build REC") },
	{ OPT_FLAG(0, "keep", keep, "keep gnuplot's scripts and data beside the charts") },
	{ 0 }
};

/* A build that is drawn. */
struct drawn {
	struct recording rec;
	struct summary sum;
	struct panels panels;	/* of the build of the charts; empty for --compare */
	struct output *output;	/* of it, NULL: none */
	struct output_tasks lines;
	struct output_excerpt excerpt;
	struct inspected_found inspected;
	struct buf archives;	/* before the paths of their archives in a link */
	struct pairs pairs;	/* of the build of --compare, as the next */
	struct buf words;
	const char *warning;
};

static int drawn_read(struct drawn *d, const char *base, const char *what, struct error *err)
{
	int r = openrec(&d->rec, 0, base, what, err);

	if (!r && (r = summary_make(&d->sum, &d->rec)))
		r = error_sys(err, r, d->rec.path, NULL);
	return r;
}

/* The tasks of `now` in the build to compare with. */
static int drawn_compare(struct drawn *other, const struct drawn *now, struct error *err)
{
	int r = pairs_make(&other->pairs, &other->sum, &now->sum);

	diff_add_warning(&other->words, &other->pairs.diff);
	other->warning = other->words.len ? buf_str(&other->words) : NULL;
	r = r ? r : buf_error(&other->words);
	return r ? error_sys(err, r, other->rec.path, NULL) : 0;
}

static void drawn_release(struct drawn *d)
{
	pairs_release(&d->pairs);
	buf_release(&d->words);
	output_close(d->output);
	output_tasks_release(&d->lines);
	output_excerpt_release(&d->excerpt);
	inspected_release(&d->inspected);
	buf_release(&d->archives);
	panels_release(&d->panels);
	summary_release(&d->sum);
	recording_release(&d->rec);
}

/* One run of the command. */
struct job {
	const struct chart_arguments *args;
	struct buf into;	/* of --output, a link replaced with its directory */
	const char *dir;
	bool to_stdout, to_file;	/* the bootchart alone */
	bool failed, no_gnuplot;
};

static bool is_dir(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* Does the run draw this chart? A bootchart cannot be drawn as text. */
static bool wanted(const struct job *j, enum chart_name chart)
{
	if (j->args->only != CHARTS)
		return j->args->only == (int)chart;
	if (j->to_stdout || j->to_file)
		return chart == CHART_BOOT;
	return chart != CHART_BOOT || j->args->format != PLOT_TERM;
}

/* An option that would have no effect is an error. */
static int check_options(const struct job *j, struct error *err)
{
	const struct chart_arguments *a = j->args;

	if ((j->to_stdout || j->to_file) && a->only != CHARTS && a->only != CHART_BOOT)
		return error_say(err, -EINVAL, "with --only %s, --output is a directory, not '%s'",
				 chart_word[a->only], a->into);
	if (!wanted(j, CHART_CPU) && !wanted(j, CHART_DISK) && !wanted(j, CHART_MEMORY) &&
	    (a->format != PLOT_SVG || a->keep))
		return error_say(err, -EINVAL, "%s is not for the bootchart, which is always SVG "
				 "and not drawn by gnuplot", a->keep ? "--keep" : "--format");
	if (!wanted(j, CHART_BOOT) && a->compare)
		return error_say(err, -EINVAL, "--compare is for the bootchart, which is left out");
	return 0;
}

static int set_target(struct job *j, const char *recording, struct error *err)
{
	const struct chart_arguments *a = j->args;

	buf_adds(&j->into, a->into ? a->into : "");
	if (a->into && is_dir(a->into) && openrec_follow(&j->into))
		return error_sys(err, -ENOMEM, a->into, NULL);
	j->dir = a->into ? buf_str(&j->into) : is_dir(recording) ? recording : ".";
	j->to_stdout = a->into && !strcmp(a->into, "-");
	j->to_file = a->into && !is_dir(a->into) && str_ends(a->into, ".svg");
	if (check_options(j, err))
		return -EINVAL;
	if (j->to_stdout || j->to_file || a->format == PLOT_TERM)
		return 0;
	if (!is_dir(j->dir) && (str_ends(j->dir, ".svg") || str_ends(j->dir, ".png") ||
				str_ends(j->dir, ".pdf")))
		return error_say(err, -EINVAL, "--output is a directory, or a file that ends in "
				 ".svg for the bootchart alone, not '%s'", j->dir);
	if (!a->into && access(j->dir, W_OK))
		return error_set(err, -errno, j->dir, 0, 0, "cannot write the charts here: %s; "
				 "write them elsewhere with --output", strerror(errno));
	if (mkdir(j->dir, 0777) && errno != EEXIST)
		return error_sys(err, -errno, j->dir, NULL);
	return 0;
}

/* The charts are independent: if one cannot be drawn, the others still are. */
static void failed(struct job *j, const struct error *err)
{
	notice_error(err);
	j->failed = true;
}

static int write_bootchart(const struct job *j, struct buf *text, struct error *err)
{
	struct buf path = BUF_INIT;
	int r;

	if (j->to_stdout)
		return output_end(text, 0, NULL, err);
	buf_adds(&path, j->dir);
	if (!j->to_file)
		buf_adds(&path, "/bootchart.svg");
	r = buf_error(&path) ? error_sys(err, buf_error(&path), NULL, NULL) :
		j->to_file ? outfile_write(path.data, text, err) :
		outfile_replace(path.data, text, err);
	if (!r)
		output_path(path.data);
	buf_release(&path);
	return r;
}

static void draw_bootchart(struct job *j, const struct drawn *d, const struct drawn *other)
{
	struct chart_other compared = {
		.sum = &other->sum, .same = other->pairs.same, .n_same = other->pairs.n_same,
		.n_only_here = other->pairs.n_only_now, .n_only_there = other->pairs.n_only_base,
		.warning = other->warning,
	};
	struct chart_input in = {
		.sum = &d->sum, .panels = &d->panels,
		.other = other->rec.path ? &compared : NULL,
		.by = (enum lanes_by)j->args->by, .lines = d->lines.lines,
		.excerpt = &d->excerpt, .inspected = &d->inspected.inspected,
		.archives = buf_str((struct buf *)&d->archives),
	};
	struct error err = { 0 };
	struct buf text = BUF_INIT;
	struct chart chart;
	int r = chart_make(&chart, &in);

	if (!r)
		r = bootchart_write(&text, &chart);
	if (r)
		error_sys(&err, r, d->rec.path, "cannot draw");
	else
		r = write_bootchart(j, &text, &err);
	if (r)
		failed(j, &err);
	buf_release(&text);
	chart_release(&chart);
}

/* A signal that would end us ends gnuplot first, which leaves nothing behind. */
static int draw_held(struct plot *p, const struct drawn *d, struct buf *out, struct error *err)
{
	struct hold hold;
	int r;

	fflush(stdout);		/* gnuplot may take a while */
	hold_begin(&hold);
	p->stop_fd = hold.fd;
	r = plot_draw(p, &d->sum, &d->panels, out, err);
	hold_end(&hold);
	return r;
}

/* A missing gnuplot is reported once, and is no failure where nobody asked for one of its charts. Its errors
 * are reported with the chart. */
static void plot_failed(struct job *j, enum plot_chart chart, int error, struct error *err)
{
	j->no_gnuplot = error == -ENOENT;
	if (j->no_gnuplot && j->args->only == CHARTS && j->args->format == PLOT_SVG && !j->args->keep) {
		notice("only the bootchart was drawn: %s", err->message);
		return;
	}
	if (!*err->path && !j->no_gnuplot)
		snprintf(err->path, sizeof err->path, "%s", plot_word[chart]);
	failed(j, err);
}

static void draw_plot(struct job *j, enum plot_chart chart, const struct drawn *d)
{
	const struct chart_arguments *a = j->args;
	struct style style = output_style();
	struct plot p = {
		.chart = chart, .format = (enum plot_format)a->format, .directory = j->dir,
		.keep = a->keep, .columns = style.width, .colour = style.colour,
	};
	struct error err = { 0 };
	struct buf out = BUF_INIT;
	int r = draw_held(&p, d, &out, &err);

	if (r == -ENODATA && a->only == CHARTS)
		notice("%s: not drawn: %s", plot_word[chart], err.message);
	else if (r)
		plot_failed(j, chart, r, &err);
	else if (a->format == PLOT_TERM)
		output_end(&out, 0, NULL, &err);
	else
		printf("%s/%s.%s\n", j->dir, plot_word[chart], plot_format_word[a->format]);
	buf_release(&out);
}

/* The page with the build's output, to which the bootchart links. */
static void read_log(struct job *j, struct drawn *d)
{
	struct error err = { 0 };
	int r;

	if (!wanted(j, CHART_BOOT) || j->to_stdout || j->to_file || !is_dir(d->rec.path))
		return;
	r = output_open(&d->output, d->rec.path, &zstd_codec, &err);
	if (r == -ENOENT)
		return;
	if (!r && ((r = output_find_tasks(&d->lines, d->output, &d->rec)) ||
		   (r = output_excerpt_make(&d->excerpt, d->output, &d->lines, &d->rec))))
		error_sys(&err, r, d->rec.path, "cannot read the build's output");
	if (!r)
		return;
	output_tasks_release(&d->lines);
	output_excerpt_release(&d->excerpt);
	d->excerpt = (struct output_excerpt){ 0 };
	failed(j, &err);
}

/* The archives of inspected processes, to which the bootchart links: by a path that is right from where
 * the chart is. */
static void find_inspected(struct job *j, struct drawn *d)
{
	char path[PATH_MAX];
	struct error err = { 0 };

	if (!wanted(j, CHART_BOOT) || !is_dir(d->rec.path))
		return;
	if (inspected_find(&d->inspected, &d->rec, &err))
		failed(j, &err);
	if (!d->inspected.inspected.n || (!j->args->into && !strcmp(j->dir, d->rec.path)))
		return;
	if (!file_absolute(path, d->rec.path))
		buf_addf(&d->archives, "%s/", path);
}

static void write_log(struct job *j, const struct drawn *d)
{
	struct buf text = BUF_INIT, path = BUF_INIT;
	struct error err = { 0 };
	int r;

	buf_addf(&path, "%s/" CHART_LOG_PAGE, j->dir);
	r = log_page_write(&text, &d->sum, &d->lines, d->output);
	if (!r)
		r = buf_error(&path);
	if (r)
		error_sys(&err, r, d->rec.path, "cannot write the build's output");
	else
		r = outfile_replace(path.data, &text, &err);
	if (r)
		failed(j, &err);
	else
		output_path(path.data);
	buf_release(&text);
	buf_release(&path);
}

static void draw(struct job *j, struct drawn *d, const struct drawn *other)
{
	read_log(j, d);
	find_inspected(j, d);
	if (wanted(j, CHART_BOOT))
		draw_bootchart(j, d, other);
	if (d->lines.lines)
		write_log(j, d);
	for (size_t i = 0; i < PLOTS && !j->no_gnuplot; i++) {
		if (wanted(j, CHART_CPU + i))
			draw_plot(j, (enum plot_chart)i, d);
	}
}

static const struct chart_arguments defaults = { .only = CHARTS };

static int run_chart(struct args *a, void *values, struct error *err)
{
	const struct chart_arguments *s = values;
	struct drawn d = { .rec = RECORDING_INIT }, other = { .rec = RECORDING_INIT };
	struct job j = { .args = s };
	int r = drawn_read(&d, s->base, a->operand[0], err);

	if (!r && (r = panels_make(&d.panels, &d.sum)))
		r = error_sys(err, r, d.rec.path, NULL);
	if (!r && s->compare)
		r = drawn_read(&other, s->base, s->compare, err);
	if (!r && s->compare)
		r = drawn_compare(&other, &d, err);
	if (!r)
		r = set_target(&j, d.rec.path, err);
	if (!r)
		draw(&j, &d, &other);
	drawn_release(&other);
	drawn_release(&d);
	buf_release(&j.into);
	return j.failed ? EXIT_MISUSE : r;
}

COMMAND(chart, "[REC]", "Draw a build as bootchart, CPU, disk and memory charts", COMMAND_KEYS);
