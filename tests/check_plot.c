/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "tests/plotted.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* gnuplot's charts, drawn by a real gnuplot. */

static const char *const nested_says[PLOTS][8] = {
	[PLOT_CPU] = { "CPU: make -j2 all doc", "forge", "failed with exit status 2 after 10.0 s",
		       "2026-11-21", "this build: mean 29 %, max 98 %", "Running tasks", "cores: 2" },
	[PLOT_DISK] = { "make -j2 all doc", "read", "written", "busy", " in total" },
	[PLOT_MEMORY] = { "Memory: make", "available", "all memory: 7.8 GiB", "b: mean 130 MiB",
			  "a: mean 14 MiB", "peak: 250 MiB at 2.00 s" },
};


TEST_LOOP(pictures, PLOTS * PLOT_TERM)
{
	static const char *const magic[] = {
		[PLOT_SVG] = "<?xml", [PLOT_PNG] = "\x89PNG", [PLOT_PDF] = "%PDF-",
	};
	struct plot p = { .chart = (enum plot_chart)(_i / PLOT_TERM),
			  .format = (enum plot_format)(_i % PLOT_TERM) };
	const char *name = support_path("%s.%s", plot_word[p.chart], plot_format_word[p.format]);
	struct plotted d;
	struct buf picture;

	plotted_read(&d, NESTED);
	plotted_draw(&d, &p);
	plotted_left(&d, 1);
	plotted_file(&d, &picture, name);
	ck_assert_uint_gt(picture.len, 1000);
	ck_assert_mem_eq(picture.data, magic[p.format], strlen(magic[p.format]));
	if (p.format == PLOT_SVG) {
		plotted_is_clean_svg(&d, &picture, name);
		plotted_says(&picture, nested_says[p.chart]);
		plotted_says(&picture, (const char *const[]){ "<title>", "<desc>forge, ", NULL });
	}
	buf_release(&picture);
	plotted_release(&d);
}

TEST_LOOP(the_same_again, PLOTS)
{
	struct plot p = { .chart = (enum plot_chart)_i };
	struct plotted d;
	struct buf first, second;

	plotted_read(&d, NESTED);
	plotted_draw(&d, &p);
	plotted_file(&d, &first, support_path("%s.svg", plot_word[_i]));
	plotted_draw(&d, &p);
	plotted_file(&d, &second, support_path("%s.svg", plot_word[_i]));
	ck_assert_str_eq(first.data, second.data);
	buf_release(&first);
	buf_release(&second);
	plotted_release(&d);
}

static const struct {
	const char *name;
	enum plot_format format;
	enum plot_chart chart;
} goldens[] = {
	{ "plot-cpu", PLOT_SVG, PLOT_CPU }, { "plot-disk", PLOT_SVG, PLOT_DISK },
	{ "plot-memory", PLOT_SVG, PLOT_MEMORY }, { "plot-memory-term", PLOT_TERM, PLOT_MEMORY },
};

static void is_golden(const struct plotted *d, const char *file, const char *golden)
{
	struct buf text;

	plotted_file(d, &text, file);
	support_is_golden(&text, golden);
	buf_release(&text);
}

/* Time of the script and the data; gnuplot's own time is not limited. */
TEST_EACH(golden, goldens)
{
	struct plot p = { .chart = goldens[_i].chart, .format = goldens[_i].format, .keep = true,
			  .columns = 80, .lines = 24 };
	const char *word = plot_word[p.chart];
	struct plotted d;

	plotted_read(&d, NESTED);
	plotted_draw(&d, &p);
	is_golden(&d, support_path("%s.gnuplot", word),
		  support_path("%s.gnuplot", goldens[_i].name));
	is_golden(&d, support_path("%s.data", word), support_path("%s.data", goldens[_i].name));
	plotted_release(&d);
}

TEST_LOOP(kept_files_draw_it_again, PLOTS)
{
	struct plot p = { .chart = (enum plot_chart)_i, .keep = true };
	const char *word = plot_word[_i];
	struct plotted d;
	struct buf svg;

	plotted_read(&d, NESTED);
	plotted_draw(&d, &p);
	plotted_left(&d, 3);
	unlink(support_path("%s/%s.svg", d.dir, word));
	support_expect(d.dir, 0, NULL, "", "LC_ALL=C.UTF-8 gnuplot %s.gnuplot", word);
	plotted_file(&d, &svg, support_path("%s.svg", word));
	ck_assert_ptr_nonnull(strstr(svg.data, nested_says[_i][0]));
	buf_release(&svg);
	plotted_release(&d);
}

/* In a terminal */

static const unsigned widths[] = { 40, 80, 132 };

TEST_EACH(terminal, widths)
{
	struct plotted d;

	plotted_read(&d, NESTED);
	for (unsigned chart = 0; chart < PLOTS; chart++) {
		struct plot p = { .chart = (enum plot_chart)chart, .format = PLOT_TERM,
				  .columns = widths[_i], .lines = 20 };

		buf_clear(&d.out);
		plotted_draw(&d, &p);
		plotted_lines_fit(&d.out, widths[_i]);
		if (widths[_i] > 40)
			plotted_says(&d.out, nested_says[chart]);
		ck_assert_ptr_null(strpbrk(d.out.data, "\033\f"));
	}
	plotted_left(&d, 0);
	plotted_release(&d);
}

TEST(terminal_colours)
{
	struct plot p = { .chart = PLOT_CPU, .format = PLOT_TERM, .colour = true };
	struct plotted d;

	plotted_read(&d, NESTED);
	plotted_draw(&d, &p);
	plotted_says(&d.out, (const char *const[]){ "\033[0;34m#\033[0m this build: mean",
						    "|\033[0;34m##", NULL });
	plotted_release(&d);
}

TEST_PROGRAM(plot)
{
	SKIP_PROGRAM_IF(!plotted_begins());
	return support_main();
}
