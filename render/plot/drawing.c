/* SPDX-License-Identifier: MIT */
#include "render/plot/drawing.h"

#include "base/outfile.h"
#include "render/chart/svg.h"
#include "render/plot/gnuplot.h"
#include "render/plot/script.h"
#include "render/plot/workplace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct work {
	const struct drawing *drawing;
	struct workplace place;
	char script_name[32], data_name[32], picture_name[32];
};

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

static int put(const char *directory, const char *name, const struct buf *text,
	       struct error *err)
{
	struct buf path = BUF_INIT;
	int r;

	buf_addf(&path, "%s/%s", directory, name);
	r = buf_error(&path) ? buf_error(&path) : outfile_replace(buf_str(&path), text, err);
	buf_release(&path);
	return r;
}

static int put_both(const struct work *w, const char *directory, struct error *err)
{
	int r = put(directory, w->data_name, &w->drawing->data, err);

	return r ? r : put(directory, w->script_name, &w->drawing->script, err);
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
static void describe(struct buf *picture, const struct drawing *d)
{
	const char *begin = memmem(picture->data, picture->len, "<title>", 7);
	const char *end = memmem(picture->data, picture->len, "</desc>", 7);
	struct buf text = BUF_INIT;
	struct markup svg;

	if (!begin || !end || end < begin)
		return;
	markup_init(&svg, &text);
	buf_add(&text, picture->data, (size_t)(begin - picture->data));
	markup_begin(&svg, "title");
	markup_text(&svg, d->title);
	markup_end(&svg);
	markup_begin(&svg, "desc");
	markup_text(&svg, d->description.data ? d->description.data : "");
	markup_end(&svg);
	add_markup(&text, end + strlen("</desc>"), picture->data + picture->len);
	buf_release(picture);
	*picture = text;
}

static int deliver(const struct work *w, struct error *err)
{
	const struct drawing *d = w->drawing;
	struct buf picture = BUF_INIT;
	int r = workplace_read(&picture, w->place.path, w->picture_name);

	if (!r && d->format == PLOT_SVG && is_whole(&picture, PLOT_SVG))
		describe(&picture, d);
	r = r ? r : buf_error(&picture);

	if (r && r != -ENOENT)
		error_sys(err, r, w->picture_name, NULL);
	else if (r || !is_whole(&picture, d->format))
		r = error_set(err, -EIO, NULL, 0, 0, "gnuplot failed: %s is not whole",
			      w->picture_name);
	else
		r = d->named ? outfile_write(d->path, &picture, err) :
		    outfile_replace(d->path, &picture, err);
	buf_release(&picture);
	return r;
}

static int run(const struct work *w, struct buf *out, struct error *err)
{
	const struct drawing *d = w->drawing;
	struct gnuplot g = {
		.directory = w->place.path, .script = w->script_name,
		.timeout_ms = d->timeout_ms, .stop_fd = d->stop_fd,
	};

	return gnuplot_run(&g, out, err);
}

int drawing_draw(const struct drawing *d, struct buf *out, struct error *err)
{
	struct work w = { .drawing = d };
	struct buf drawn = BUF_INIT;
	int r;

	snprintf(w.script_name, sizeof w.script_name, "%s.gnuplot", d->word);
	snprintf(w.data_name, sizeof w.data_name, "%s.data", d->word);
	snprintf(w.picture_name, sizeof w.picture_name, "%s.%s", d->word, plot_format_word[d->format]);
	if (buf_error(&d->script) || buf_error(&d->data) || buf_error(&d->description))
		return error_sys(err, -ENOMEM, NULL, "gnuplot's script");
	r = workplace_begin(&w.place, err);
	if (!r)
		r = put_both(&w, w.place.path, err);
	if (!r && d->keep_in)
		r = put_both(&w, d->keep_in, err);
	if (!r)
		r = run(&w, &drawn, err);
	if (!r && d->format != PLOT_TERM)
		r = deliver(&w, err);
	else if (!r)
		term_finish(out, &drawn, d->colour);
	workplace_end(&w.place);
	buf_release(&drawn);
	return r;
}

void drawing_release(struct drawing *d)
{
	buf_release(&d->script);
	buf_release(&d->data);
	buf_release(&d->description);
}
