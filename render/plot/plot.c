#include "plot_run.h"

#include "gnuplot.h"
#include "outfile.h"
#include "script.h"
#include "svg.h"
#include "workplace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *const plot_word[PLOTS + 1] = { "cpu", "disk", "memory", NULL };
const char *const plot_format_word[PLOT_FORMATS + 1] = { "svg", "png", "pdf", "term", NULL };

/* Stretches a picture is cut into: not more than it has columns of pixels. */
#define STRETCHES 1000
#define TIMEOUT_MS 60000

/* What is in a file that is as gnuplot wanted it: a disk that fills up is not always
 * an error to it. */
static bool is_whole(const struct buf *picture, enum plot_format format)
{
	static const struct {
		const char *begin, *end;
		size_t n_begin, n_end;
	} marks[] = {
		[PLOT_SVG] = { "<?xml", "</svg>", 5, 6 },
		[PLOT_PNG] = { "\x89PNG\r\n\x1a\n", "IEND\xae\x42\x60\x82", 8, 8 },
		[PLOT_PDF] = { "%PDF-", "%%EOF", 5, 5 },
	};
	size_t len = picture->len, begin = marks[format].n_begin, end = marks[format].n_end;

	while (len && format != PLOT_PNG && picture->data[len - 1] == '\n')
		len--;
	return len > begin + end && !memcmp(picture->data, marks[format].begin, begin) &&
	       !memcmp(picture->data + len - end, marks[format].end, end);
}

struct drawing {
	const struct plot *plot;
	const struct figure *figure;
	struct workplace place;
	struct buf script, data;
	char script_name[32], data_name[32], picture_name[32];
};

static int put(const char *directory, const char *name, const struct buf *text,
	       struct error *err)
{
	struct buf path = BUF_INIT;
	int r;

	buf_addf(&path, "%s/%s", directory, name);
	r = buf_error(&path) ? buf_error(&path) : outfile_write(buf_str(&path), text, err);
	buf_release(&path);
	return r;
}

static int put_both(const struct drawing *d, const char *directory, struct error *err)
{
	int r = put(directory, d->data_name, &d->data, err);

	return r ? r : put(directory, d->script_name, &d->script, err);
}

static int keep(const struct drawing *d, struct error *err)
{
	return d->plot->keep ? put_both(d, d->plot->directory, err) : 0;
}

static void add_description(struct svg *svg, const struct figure *f)
{
	svg_text(svg, f->subtitle);
	for (size_t i = 0; i < f->n_panes; i++) {
		const struct pane *p = &f->pane[i];

		svg_text(svg, ". ");
		svg_text(svg, p->title);
		for (size_t j = 0; j < p->n_layers; j++) {
			svg_text(svg, j ? "; " : ": ");
			svg_text(svg, p->layer[j].label);
			svg_text(svg, " ");
			svg_text(svg, p->layer[j].figures);
		}
	}
}

/* gnuplot escapes no '>', which XML wants after "]]". */
static void add_markup(struct buf *b, const char *from, const char *until)
{
	const char *next;

	while ((next = memmem(from, (size_t)(until - from), "]]>", 3))) {
		buf_add(b, from, (size_t)(next - from));
		buf_adds(b, "]]&gt;");
		from = next + 3;
	}
	buf_add(b, from, (size_t)(until - from));
}

/* gnuplot's own title and description say what drew the picture, not what it shows. */
static void describe(struct buf *picture, const struct figure *f)
{
	const char *begin = memmem(picture->data, picture->len, "<title>", 7);
	const char *end = memmem(picture->data, picture->len, "</desc>", 7);
	struct buf text = BUF_INIT;
	struct svg svg;

	if (!begin || !end || end < begin)
		return;
	svg_init(&svg, &text);
	buf_add(&text, picture->data, (size_t)(begin - picture->data));
	svg_begin(&svg, "title");
	svg_text(&svg, f->title);
	svg_end(&svg);
	svg_begin(&svg, "desc");
	add_description(&svg, f);
	svg_end(&svg);
	add_markup(&text, end + strlen("</desc>"), picture->data + picture->len);
	buf_release(picture);
	*picture = text;
}

static int deliver(const struct drawing *d, struct error *err)
{
	struct buf picture = BUF_INIT;
	int r = workplace_read(&picture, d->place.path, d->picture_name);

	if (!r && d->plot->format == PLOT_SVG && is_whole(&picture, PLOT_SVG))
		describe(&picture, d->figure);
	r = r ? r : buf_error(&picture);

	if (r && r != -ENOENT)
		error_sys(err, r, d->picture_name, NULL);
	else if (r || !is_whole(&picture, d->plot->format))
		r = error_set(err, -EIO, NULL, 0, 0, "gnuplot failed: %s is not whole",
			      d->picture_name);
	else
		r = put(d->plot->directory, d->picture_name, &picture, err);
	buf_release(&picture);
	return r;
}

static int run(const struct drawing *d, int timeout_ms, struct buf *out, struct error *err)
{
	struct gnuplot g = {
		.directory = d->place.path, .script = d->script_name,
		.timeout_ms = timeout_ms, .stop_fd = d->plot->stop_fd,
	};

	return gnuplot_run(&g, out, err);
}

static int draw(struct drawing *d, struct buf *out, int timeout_ms, struct error *err)
{
	struct buf drawn = BUF_INIT;
	int r;

	if (buf_error(&d->script) || buf_error(&d->data))
		return error_sys(err, -ENOMEM, NULL, "gnuplot's script");
	r = workplace_begin(&d->place, err);
	if (!r)
		r = put_both(d, d->place.path, err);
	if (!r)
		r = keep(d, err);
	if (!r)
		r = run(d, timeout_ms, &drawn, err);
	if (!r && d->plot->format != PLOT_TERM)
		r = deliver(d, err);
	else if (!r)
		term_finish(out, &drawn, d->plot->colour);
	workplace_end(&d->place);
	buf_release(&drawn);
	return r;
}

static void write_down(struct drawing *d, const struct figure *f)
{
	const struct plot *p = d->plot;

	if (p->format == PLOT_TERM) {
		term_add_data(&d->data, f);
		term_add(&d->script, f, p->columns ? p->columns : 80, p->lines ? p->lines : 24);
	} else {
		script_add_data(&d->data, f);
		script_add(&d->script, f, p->format);
	}
}

int plot_draw_within(const struct plot *p, const struct summary *s, const struct panels *panels,
		     struct buf *out, int timeout_ms, struct error *err)
{
	struct figure f;
	struct drawing d = { .plot = p, .figure = &f };
	const char *word = plot_word[p->chart];
	int r = figure_make(&f, p->chart, s, panels, p->format == PLOT_TERM ?
			    term_stretches(p->columns ? p->columns : 80) : STRETCHES);

	snprintf(d.script_name, sizeof d.script_name, "%s.gnuplot", word);
	snprintf(d.data_name, sizeof d.data_name, "%s.data", word);
	snprintf(d.picture_name, sizeof d.picture_name, "%s.%s", word,
		 plot_format_word[p->format]);
	if (r == -ENODATA) {
		error_set(err, r, NULL, 0, 0, "nothing was recorded that %s shows",
			  p->format == PLOT_TERM ? word : d.picture_name);
	} else if (r) {
		error_sys(err, r, NULL, word);
	} else {
		write_down(&d, &f);
		r = draw(&d, out, timeout_ms, err);
	}
	buf_release(&d.script);
	buf_release(&d.data);
	figure_release(&f);
	return r;
}

int plot_draw(const struct plot *p, const struct summary *s, const struct panels *panels,
	      struct buf *out, struct error *err)
{
	return plot_draw_within(p, s, panels, out, TIMEOUT_MS, err);
}
