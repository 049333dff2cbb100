/* SPDX-License-Identifier: MIT */
#include "render/plot/drawing.h"

#include "base/outfile.h"
#include "base/readfile.h"
#include "base/trust.h"
#include "render/chart/svg.h"
#include "render/plot/gnuplot.h"
#include "render/plot/script.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TIMEOUT_MS 60000

struct work {
	const struct drawing *drawing;
	char path[512];		/* of gnuplot's own directory below TMPDIR or /tmp */
	char script_name[32], data_name[32], picture_name[32];
};

static int begin_work(struct work *w, struct error *err)
{
	const char *base = getenv("TMPDIR");
	int r;

	if (!base || !*base)
		base = "/tmp";
	/* gnuplot does what the script in there says */
	r = trust_path(base, err);
	if (r)
		return r;
	if (snprintf(w->path, sizeof w->path, "%s/buildbeat-plot-XXXXXX", base) >=
	    (int)sizeof w->path) {
		r = error_sys(err, -ENAMETOOLONG, base, NULL);
	} else if (!mkdtemp(w->path)) {
		r = -errno;
		error_sys(err, r, w->path, "cannot make a directory to work in");
	}
	if (r)
		*w->path = '\0';
	return r;
}

/* gnuplot and the programs it runs make files only, no directories. */
static void end_work(const struct work *w)
{
	DIR *dir = *w->path ? opendir(w->path) : NULL;
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	if (*w->path)
		rmdir(w->path);
}

/* Whether a picture is complete: gnuplot does not always report a full disk. */
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
	char path[PATH_MAX];
	int r;

	snprintf(path, sizeof path, "%s/%s", w->path, w->picture_name);
	r = readfile_at(&picture, AT_FDCWD, path, SIZE_MAX);
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

int drawing_draw(const struct drawing *d, struct buf *out, struct error *err)
{
	struct work w = { .drawing = d };
	struct gnuplot g = {
		.directory = w.path, .script = w.script_name,
		.timeout_ms = d->timeout_ms ? d->timeout_ms : TIMEOUT_MS, .stop_fd = d->stop_fd,
	};
	struct buf drawn = BUF_INIT;
	int r;

	snprintf(w.script_name, sizeof w.script_name, "%s.gnuplot", d->word);
	snprintf(w.data_name, sizeof w.data_name, "%s.data", d->word);
	snprintf(w.picture_name, sizeof w.picture_name, "%s.%s", d->word,
		 plot_format_word[d->format]);
	if (buf_error(&d->script) || buf_error(&d->data) || buf_error(&d->description))
		return error_sys(err, -ENOMEM, NULL, "gnuplot's script");
	r = begin_work(&w, err);
	if (!r)
		r = put_both(&w, w.path, err);
	if (!r && d->keep_in)
		r = put_both(&w, d->keep_in, err);
	if (!r)
		r = gnuplot_run(&g, &drawn, err);
	if (!r && d->format != PLOT_TERM)
		r = deliver(&w, err);
	else if (!r)
		term_finish(out, &drawn, d->colour);
	end_work(&w);
	buf_release(&drawn);
	return r;
}

void drawing_release(struct drawing *d)
{
	buf_release(&d->script);
	buf_release(&d->data);
	buf_release(&d->description);
}
