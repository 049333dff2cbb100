/* SPDX-License-Identifier: MIT */
#include "tests/plotted.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

void plotted_begin(struct plotted *d)
{
	d->dir = strdup(support_path("%s/pictures", support_tmpdir()));
	d->err = (struct error){ 0 };
	buf_init(&d->out);
	ck_assert_int_eq(mkdir(d->dir, 0755), 0);
	ck_assert_int_eq(mkdir(support_path("%s/tmp", support_tmpdir()), 0755), 0);
	setenv("TMPDIR", support_path("%s/tmp", support_tmpdir()), 1);
	ck_assert_int_eq(panels_make(&d->panels, &d->r.sum), 0);
}

void plotted_read(struct plotted *d, const char *path)
{
	recorded_read(&d->r, path);
	plotted_begin(d);
}

void plotted_release(struct plotted *d)
{
	panels_release(&d->panels);
	recorded_release(&d->r);
	buf_release(&d->out);
	free((char *)d->dir);
}

int plotted_within(struct plotted *d, const struct plot *p, int timeout_ms)
{
	struct plot plot = *p;

	if (!plot.directory)
		plot.directory = d->dir;
	plot.timeout_ms = timeout_ms;
	return plot_draw(&plot, &d->r.sum, &d->panels, &d->out, &d->err);
}

void plotted_draw(struct plotted *d, const struct plot *p)
{
	ck_assert_msg(plotted_within(d, p, LONG_MS) == 0, "%s", d->err.message);
}

static size_t entries(const char *path)
{
	DIR *dir = opendir(path);
	size_t n = 0;

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

void plotted_left(const struct plotted *d, size_t n)
{
	ck_assert_uint_eq(entries(d->dir), n);
	ck_assert_uint_eq(entries(getenv("TMPDIR")), 0);
}

void plotted_file(const struct plotted *d, struct buf *text, const char *name)
{
	support_read(text, support_path("%s/%s", d->dir, name));
}

void plotted_says(const struct buf *text, const char *const *words)
{
	for (; *words; words++)
		ck_assert_msg(memmem(text->data, text->len, *words, strlen(*words)) != NULL,
			      "\"%s\" is not in it", *words);
}

void plotted_is_clean_svg(struct plotted *d, const struct buf *svg, const char *name)
{
	struct run r;

	ck_assert_ptr_null(strstr(svg->data, "<script"));
	ck_assert_ptr_null(strstr(svg->data, "href='h"));
	ck_assert_ptr_null(strstr(svg->data, "href=\"h"));
	ck_assert_ptr_null(strstr(svg->data, "url(h"));
	ck_assert_ptr_null(strstr(svg->data, "GNUPLOT"));
	if (!support_has("xmllint"))
		return;
	support_run(&r, d->dir, "xmllint --noout %s", name);
	ck_assert_str_eq(r.err.data, "");
	ck_assert_int_eq(r.status, 0);
}

void plotted_lines_fit(const struct buf *text, size_t columns)
{
	for (const char *p = text->data, *end; *p; p = end + 1) {
		end = strchr(p, '\n');
		ck_assert_ptr_nonnull(end);
		ck_assert_msg((size_t)(end - p) <= columns, "%.*s", (int)(end - p), p);
		ck_assert_msg(end == p || end[-1] != ' ', "blanks after %.*s", (int)(end - p), p);
	}
}

bool plotted_begins(void)
{
	setenv("TZ", "UTC", 1);
	tzset();
	if (!support_has("gnuplot"))
		fputs("there is no gnuplot\n", stderr);
	return support_has("gnuplot");
}
