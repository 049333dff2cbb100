/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/field.h"
#include "render/plot/plot_page.h"
#include "tests/paths.h"
#include "tests/plotted.h"

#include <errno.h>
#include <string.h>

/* Charts of builds of all sorts, with any names of tasks. */

/* %s: a file that must not appear */
static const char *const hostile[] = {
	"'; system('touch %s'); '", "\"; system(\"touch %s\") #", "`touch %s`", "$(touch %s)",
	"'.system('touch %s').'", "x\n!touch %s\n", "x'\nsystem 'touch %s'\n#", "@touch\\\n!touch %s",
	"a_b^{c}{/Symbol x}", "%d %s %n 100%", "\\", "x\\", "''", "'", "\"", "#", "a;b", "~a{.8-}",
	"\xff\xfe\xc3(", "\x01\x1b[31m\x7f", ("\xe2\x80\xae" "backwards"), "\xef\xbf\xbf\xef\xbf\xbe",
	"''", "'''", "\"\"", "'.`touch %s`.'", "\\\"", "\\140touch %s\\140", "\\n", "@x", "@", "$",
	"</text></svg><script>alert(1)</script>", "]]>&amp;<!--", "\xe6\x97\xa5\xe6\x9c\xac",
};

static void add_hostile(struct buf *tasks, const char *name)
{
	struct buf text = BUF_INIT;
	const char *mark = strstr(name, "%s");

	buf_add(&text, name, mark ? (size_t)(mark - name) : strlen(name));
	if (mark) {
		buf_adds(&text, support_path("%s/executed", support_tmpdir()));
		buf_adds(&text, mark + 2);
	}
	field_add(tasks, text.data, text.len, 2000);
	buf_release(&text);
}

static void make_hostile(struct plotted *d, const char *name)
{
	struct buf tasks = BUF_INIT, build = BUF_INIT;

	buf_adds(&tasks, "open\t0\tm\t10\t0\t10\tmake\t4.3\t/src\tmake\n"
			 "start\t1000000\tm.1\t11\t\t\t");
	add_hostile(&tasks, name);
	buf_adds(&tasks, "\t\tcc\ndone\t4000000\tm.1\t0\nclose\t5000000\tm\n");
	buf_adds(&build, "end_us: 5000000\nstatus: 0\ncommand: ");
	add_hostile(&build, name);
	buf_adds(&build, "\nhost: ");
	add_hostile(&build, name);
	buf_addc(&build, '\n');
	recorded_make(&d->r, buf_str(&build), buf_str(&tasks), "@2000 0=m.1:90,,90\n");
	plotted_begin(d);
	buf_release(&tasks);
	buf_release(&build);
}

TEST_EACH(names_are_only_names, hostile)
{
	static const enum plot_format formats[] = { PLOT_SVG, PLOT_TERM };
	struct plotted d;
	struct buf svg;

	make_hostile(&d, hostile[_i]);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		struct plot p = { .chart = PLOT_MEMORY, .format = formats[i], .keep = i == 0 };

		plotted_draw(&d, &p);
		ck_assert(!support_exists(support_path("%s/executed", support_tmpdir())));
	}
	plotted_file(&d, &svg, "memory.svg");
	plotted_is_clean_svg(&d, &svg, "memory.svg");
	plotted_says(&svg, (const char *const[]){ ": 90 MiB", "Memory: ", NULL });
	plotted_says(&d.out, (const char *const[]){ ": 90 MiB", NULL });
	plotted_lines_fit(&d.out, 200);
	buf_release(&svg);
	plotted_left(&d, 3);
	plotted_release(&d);
}

TEST(long_names_are_shortened)
{
	struct plot p = { .chart = PLOT_MEMORY };
	char name[901];
	struct plotted d;
	struct buf svg;

	memset(name, 'n', sizeof name - 1);
	memcpy(name, "begin", 5);
	strcpy(name + sizeof name - 4, "end");
	make_hostile(&d, name);
	plotted_draw(&d, &p);
	plotted_file(&d, &svg, "memory.svg");
	ck_assert_ptr_null(strstr(svg.data, "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
				  "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"));
	plotted_says(&svg, (const char *const[]){ "beginnnn", "max 90 MiB", NULL });
	buf_release(&svg);
	plotted_release(&d);
}

/* Builds of all sorts */

#define STAT "buildbeat proc_stat 1 1000 user:10ms:c system:10ms:c iowait:10ms:c steal:10ms:c\n"
#define MEMINFO "buildbeat proc_meminfo 1 1000 free:1MiB:g cached:1MiB:g total:1MiB:g\n"

static const struct {
	const char *what, *build, *tasks, *stat, *meminfo;
	int result[PLOTS];	/* drawing the charts */
	const char *says;	/* in one chart */
} builds[] = {
	{ "nothing at all", "", NULL, NULL, NULL, { -ENODATA, -ENODATA, -ENODATA }, NULL },
	{ "tasks without samples", "cores: 4\nend_us: 9000000\n",
	  "open\t0\tm\t10\t0\t10\tmake\nstart\t1000000\tm.1\t11\t\t\ta\t\tcc\n"
	  "done\t8000000\tm.1\t0\n", NULL, NULL, { 0, -ENODATA, -ENODATA }, "cores: 4" },
	{ "samples without tasks", "cores: 4\nend_us: 3000000\n", NULL,
	  STAT "@0 \n100,50\n200,20,10,1\n100\n", MEMINFO "@0 100,100,1000\n-50\n1\n2\n",
	  { 0, -ENODATA, 0 }, "their memory over time was not recorded" },
	{ "one sample", "cores: 1\nend_us: 500000\n", NULL, STAT "@0 1\n", MEMINFO "@0 1,1,9\n",
	  { -ENODATA, -ENODATA, -ENODATA }, NULL },
	{ "two samples, one core", "cores: 1\nend_us: 1000000\n", NULL, STAT "@0 \n50,50\n", NULL,
	  { 0, -ENODATA, -ENODATA }, "user: mean 50 %" },
	{ "a gap", "cores: 1\nend_us: 60000000\n", NULL, STAT "@0 \n50,50\n!50000 10\n50\n", NULL,
	  { 0, -ENODATA, -ENODATA }, "system" },
	{ "unfinished, of no length", "cores: 2\n", "open\t0\tm\t10\t0\t10\tmake\n", NULL, NULL,
	  { -ENODATA, -ENODATA, -ENODATA }, NULL },
	{ "unfinished", "cores: 2\n", "open\t0\tm\t10\t0\t10\tmake\n"
	  "start\t1000\tm.1\t11\t\t\ta\t\tcc\nstart\t700000\tm.2\t12\t\t\tb\t\tcc\n", NULL, NULL,
	  { 0, -ENODATA, -ENODATA }, "unfinished" },
	{ "cores not known, a day", "end_us: 86400000000\n", NULL,
	  STAT "@0 \n@1000 100\n@86400000 86000\n", NULL, { 0, -ENODATA, -ENODATA }, "12 h" },
	{ "samples behind the end", "cores: 2\nend_us: 1000000\n", NULL,
	  STAT "@0 \n@2000 100\n@9000 100,100\n", NULL, { 0, -ENODATA, -ENODATA }, "user" },
	{ "absurd numbers", "cores: 2\nend_us: 4611686018427387904\n", NULL,
	  STAT "@0 \n@1000 4611686018427387904\n",
	  MEMINFO "@0 1,1,4611686018427387904\n@9000 4611686018427387904,5,1\n",
	  { 0, -ENODATA, 0 }, "user" },
};

static void put_series(const char *name, const char *text)
{
	if (text)
		support_writes(support_path("%s/%s", support_tmpdir(), name), text);
}

TEST_EACH(builds_of_all_sorts, builds)
{
	struct buf all = BUF_INIT, svg;
	struct plotted d;

	put_series("proc_stat.log", builds[_i].stat);
	put_series("proc_meminfo.log", builds[_i].meminfo);
	recorded_make(&d.r, builds[_i].build, builds[_i].tasks ? builds[_i].tasks : "", NULL);
	plotted_begin(&d);
	for (unsigned chart = 0; chart < PLOTS; chart++) {
		struct plot p = { .chart = (enum plot_chart)chart }, term = p;
		const char *name = support_path("%s.svg", plot_word[chart]);
		int r = plotted_within(&d, &p, LONG_MS);

		ck_assert_msg(r == builds[_i].result[chart], "%s: %s: %d %s", builds[_i].what,
			      plot_word[chart], r, d.err.message);
		term.format = PLOT_TERM;
		ck_assert_int_eq(plotted_within(&d, &term, LONG_MS), r);
		ck_assert_int_eq(support_exists(support_path("%s/%s", d.dir, name)), !r);
		if (r)
			continue;
		plotted_file(&d, &svg, name);
		plotted_is_clean_svg(&d, &svg, name);
		buf_add(&all, svg.data, svg.len);
		buf_release(&svg);
	}
	if (builds[_i].says)
		ck_assert_ptr_nonnull(strstr(buf_str(&all), builds[_i].says));
	buf_release(&all);
	plotted_release(&d);
}

/* Unknown values are not drawn: seconds 1 to 50 are missing. */
TEST(gaps_are_gaps)
{
	struct plot p = { .chart = PLOT_CPU, .keep = true };
	struct plotted d;
	struct buf data;

	support_writes(support_path("%s/proc_stat.log", support_tmpdir()),
		       STAT "@0 \n50,50\n!50000 10\n50\n");
	recorded_make(&d.r, "cores: 1\nend_us: 60000000\n", "", NULL);
	plotted_begin(&d);
	plotted_draw(&d, &p);
	plotted_file(&d, &data, "cpu.data");
	plotted_says(&data, (const char *const[]){ "\n0 50 50 0 0\n1.02 50 50 0 0\n\n49.98 ", NULL });
	buf_release(&data);
	plotted_release(&d);
}

TEST(peak_of_a_long_build)
{
	struct plot p = { .chart = PLOT_MEMORY };
	struct plotted d;
	struct buf svg;

	recorded_make(&d.r, "end_us: 9000000000\n", "open\t0\tm\t10\t0\t10\tmake\t4.3\t/src\tmake\n"
		      "start\t1000000\tm.1\t11\t\t\tlong\t\tcc\n"
		      "start\t50000000\tm.2\t12\t\t\tshort\t\tld\ndone\t55000000\tm.2\t0\n"
		      "done\t8000000000\tm.1\t0\n", "@2000 0=m.1:90,,90\n@51000 1=m.2:500,,500\n1-\n");
	plotted_begin(&d);
	plotted_draw(&d, &p);
	plotted_file(&d, &svg, "memory.svg");
	plotted_says(&svg, (const char *const[]){ "Around the peak", "max 500 MiB", "max 90 MiB",
					  "590 MiB at 51.0 s", "Memory of the tasks", NULL });
	buf_release(&svg);
	plotted_release(&d);
}

TEST_PROGRAM(plot_builds)
{
	SKIP_PROGRAM_IF(!plotted_begins());
	return support_main();
}
