#include "event.h"
#include "field.h"
#include "figure.h"
#include "gnuplot.h"
#include "plot_run.h"
#include "recorded.h"
#include "support.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The charts that gnuplot draws, with a real gnuplot. */

#define NESTED TOP_SRCDIR "/tests/data/recordings/nested"
#define LONG_MS 60000

/* A recording and what is drawn of it, in directories of their own. */
struct drawn {
	struct recorded r;
	struct panels panels;
	const char *dir;	/* where pictures go */
	struct buf out;
	struct error err;
};

static void drawn_begin(struct drawn *d)
{
	d->dir = strdup(support_path("%s/pictures", support_tmpdir()));
	d->err = (struct error){ 0 };
	buf_init(&d->out);
	ck_assert_int_eq(mkdir(d->dir, 0755), 0);
	ck_assert_int_eq(mkdir(support_path("%s/tmp", support_tmpdir()), 0755), 0);
	setenv("TMPDIR", support_path("%s/tmp", support_tmpdir()), 1);
	ck_assert_int_eq(panels_make(&d->panels, &d->r.sum), 0);
}

static void drawn_read(struct drawn *d, const char *path)
{
	recorded_read(&d->r, path);
	drawn_begin(d);
}

static void drawn_release(struct drawn *d)
{
	panels_release(&d->panels);
	recorded_release(&d->r);
	buf_release(&d->out);
	free((char *)d->dir);
}

static int draw_within(struct drawn *d, const struct plot *p, int timeout_ms)
{
	struct plot plot = *p;

	if (!plot.directory)
		plot.directory = d->dir;
	return plot_draw_within(&plot, &d->r.sum, &d->panels, &d->out, timeout_ms, &d->err);
}

static void draw(struct drawn *d, const struct plot *p)
{
	ck_assert_msg(draw_within(d, p, LONG_MS) == 0, "%s", d->err.message);
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

/* n files where the pictures go; nobody left any where gnuplot worked. */
static void left(const struct drawn *d, size_t n)
{
	ck_assert_uint_eq(entries(d->dir), n);
	ck_assert_uint_eq(entries(getenv("TMPDIR")), 0);
}

static void drawn_file(const struct drawn *d, struct buf *text, const char *name)
{
	support_read(text, support_path("%s/%s", d->dir, name));
}

/* What is drawn */

static const char *const nested_says[PLOTS][8] = {
	[PLOT_CPU] = { "CPU: make -j2 all doc", "forge", "failed with exit status 2 after 10.0 s",
		       "2026-11-21", "user: mean 37 %, max 95 %", "Running tasks", "cores: 2" },
	[PLOT_DISK] = { "make -j2 all doc", "read", "written", "busy", " in total" },
	[PLOT_MEMORY] = { "Memory: make", "available", "all memory: 7.8 GiB", "lib: b.o: 150 MiB",
			  "lib: a.o: 100 MiB", "peak: 250 MiB at 2.00 s" },
};

static void says(const struct buf *text, const char *const *words)
{
	for (; *words; words++)
		ck_assert_msg(memmem(text->data, text->len, *words, strlen(*words)) != NULL,
			      "\"%s\" is not in it", *words);
}

static void is_clean_svg(struct drawn *d, const struct buf *svg, const char *name)
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
	support_run_release(&r);
}

START_TEST(pictures)
{
	static const char *const magic[] = {
		[PLOT_SVG] = "<?xml", [PLOT_PNG] = "\x89PNG", [PLOT_PDF] = "%PDF-",
	};
	struct plot p = { .chart = (enum plot_chart)(_i / PLOT_TERM),
			  .format = (enum plot_format)(_i % PLOT_TERM) };
	const char *name = support_path("%s.%s", plot_word[p.chart], plot_format_word[p.format]);
	struct drawn d;
	struct buf picture;

	drawn_read(&d, NESTED);
	draw(&d, &p);
	left(&d, 1);
	drawn_file(&d, &picture, name);
	ck_assert_uint_gt(picture.len, 1000);
	ck_assert_mem_eq(picture.data, magic[p.format], strlen(magic[p.format]));
	if (p.format == PLOT_SVG) {
		is_clean_svg(&d, &picture, name);
		says(&picture, nested_says[p.chart]);
		says(&picture, (const char *const[]){ "<title>", "<desc>forge, ", NULL });
	}
	buf_release(&picture);
	drawn_release(&d);
}
END_TEST

START_TEST(the_same_again)
{
	struct plot p = { .chart = (enum plot_chart)_i };
	struct drawn d;
	struct buf first, second;

	drawn_read(&d, NESTED);
	draw(&d, &p);
	drawn_file(&d, &first, support_path("%s.svg", plot_word[_i]));
	draw(&d, &p);
	drawn_file(&d, &second, support_path("%s.svg", plot_word[_i]));
	ck_assert_str_eq(first.data, second.data);
	buf_release(&first);
	buf_release(&second);
	drawn_release(&d);
}
END_TEST

static const struct {
	const char *name;
	enum plot_format format;
	enum plot_chart chart;
} goldens[] = {
	{ "plot-cpu", PLOT_SVG, PLOT_CPU }, { "plot-disk", PLOT_SVG, PLOT_DISK },
	{ "plot-memory", PLOT_SVG, PLOT_MEMORY }, { "plot-memory-term", PLOT_TERM, PLOT_MEMORY },
};

static void is_golden(const struct drawn *d, const char *file, const char *golden)
{
	const char *path = support_path("%s/tests/golden/%s", TOP_SRCDIR, golden);
	struct buf text, expected;

	drawn_file(d, &text, file);
	if (getenv("UPDATE_GOLDEN"))
		support_write(path, text.data, text.len);
	support_read(&expected, path);
	ck_assert_str_eq(text.data, expected.data);
	buf_release(&text);
	buf_release(&expected);
}

/* Of the script and the data; what gnuplot makes of them is its own. */
START_TEST(golden)
{
	struct plot p = { .chart = goldens[_i].chart, .format = goldens[_i].format, .keep = true,
			  .columns = 80, .lines = 24 };
	const char *word = plot_word[p.chart];
	struct drawn d;

	drawn_read(&d, NESTED);
	draw(&d, &p);
	is_golden(&d, support_path("%s.gnuplot", word),
		  support_path("%s.gnuplot", goldens[_i].name));
	is_golden(&d, support_path("%s.data", word), support_path("%s.data", goldens[_i].name));
	drawn_release(&d);
}
END_TEST

START_TEST(kept_files_draw_it_again)
{
	struct plot p = { .chart = (enum plot_chart)_i, .keep = true };
	const char *word = plot_word[_i];
	struct drawn d;
	struct buf svg;
	struct run r;

	drawn_read(&d, NESTED);
	draw(&d, &p);
	left(&d, 3);
	unlink(support_path("%s/%s.svg", d.dir, word));
	support_run(&r, d.dir, "LC_ALL=C.UTF-8 gnuplot %s.gnuplot", word);
	ck_assert_str_eq(r.err.data, "");
	ck_assert_int_eq(r.status, 0);
	drawn_file(&d, &svg, support_path("%s.svg", word));
	ck_assert_ptr_nonnull(strstr(svg.data, nested_says[_i][0]));
	buf_release(&svg);
	support_run_release(&r);
	drawn_release(&d);
}
END_TEST

/* In a terminal */

static void lines_fit(const struct buf *text, size_t columns)
{
	for (const char *p = text->data, *end; *p; p = end + 1) {
		end = strchr(p, '\n');
		ck_assert_ptr_nonnull(end);
		ck_assert_msg((size_t)(end - p) <= columns, "%.*s", (int)(end - p), p);
		ck_assert_msg(end == p || end[-1] != ' ', "blanks after %.*s", (int)(end - p), p);
	}
}

static const unsigned widths[] = { 40, 80, 132 };

START_TEST(terminal)
{
	struct drawn d;

	drawn_read(&d, NESTED);
	for (unsigned chart = 0; chart < PLOTS; chart++) {
		struct plot p = { .chart = (enum plot_chart)chart, .format = PLOT_TERM,
				  .columns = widths[_i], .lines = 20 };

		buf_clear(&d.out);
		draw(&d, &p);
		lines_fit(&d.out, widths[_i]);
		if (widths[_i] > 40)
			says(&d.out, nested_says[chart]);
		ck_assert_ptr_null(strpbrk(d.out.data, "\033\f"));
	}
	left(&d, 0);
	drawn_release(&d);
}
END_TEST

START_TEST(terminal_colours)
{
	struct plot p = { .chart = PLOT_CPU, .format = PLOT_TERM, .colour = true };
	struct drawn d;

	drawn_read(&d, NESTED);
	draw(&d, &p);
	says(&d.out, (const char *const[]){ "\033[0;34m#\033[0m user: mean", "|\033[0;34m##", NULL });
	drawn_release(&d);
}
END_TEST

/* Names */

/* %s: a file that must not come to be. */
static const char *const hostile[] = {
	"'; system('touch %s'); '", "\"; system(\"touch %s\") #", "`touch %s`", "$(touch %s)",
	"'.system('touch %s').'", "x\n!touch %s\n", "x'\nsystem 'touch %s'\n#", "@touch\\\n!touch %s",
	"a_b^{c}{/Symbol x}", "%d %s %n 100%", "\\", "x\\", "''", "'", "\"", "#", "a;b", "~a{.8-}",
	"\xff\xfe\xc3(", "\x01\x1b[31m\x7f", "\xe2\x80\xae" "backwards", "\xef\xbf\xbf\xef\xbf\xbe",
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

static void make_hostile(struct drawn *d, const char *name)
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
	drawn_begin(d);
	buf_release(&tasks);
	buf_release(&build);
}

START_TEST(names_are_only_names)
{
	static const enum plot_format formats[] = { PLOT_SVG, PLOT_TERM };
	struct drawn d;
	struct buf svg;

	make_hostile(&d, hostile[_i]);
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		struct plot p = { .chart = PLOT_MEMORY, .format = formats[i], .keep = i == 0 };

		draw(&d, &p);
		ck_assert(!support_exists(support_path("%s/executed", support_tmpdir())));
	}
	drawn_file(&d, &svg, "memory.svg");
	is_clean_svg(&d, &svg, "memory.svg");
	says(&svg, (const char *const[]){ ": 90 MiB", "Memory: ", NULL });
	says(&d.out, (const char *const[]){ ": 90 MiB", NULL });
	lines_fit(&d.out, 200);
	buf_release(&svg);
	left(&d, 3);
	drawn_release(&d);
}
END_TEST

START_TEST(long_names_are_shortened)
{
	struct plot p = { .chart = PLOT_MEMORY };
	char name[901];
	struct drawn d;
	struct buf svg;

	memset(name, 'n', sizeof name - 1);
	memcpy(name, "begin", 5);
	strcpy(name + sizeof name - 4, "end");
	make_hostile(&d, name);
	draw(&d, &p);
	drawn_file(&d, &svg, "memory.svg");
	ck_assert_ptr_null(strstr(svg.data, "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
				  "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"));
	says(&svg, (const char *const[]){ "beginnnn", "n...n", "end: 90 MiB", NULL });
	buf_release(&svg);
	drawn_release(&d);
}
END_TEST

/* Builds of all sorts */

#define STAT "buildbeat proc_stat 1 1000 user:10ms:c system:10ms:c iowait:10ms:c steal:10ms:c\n"
#define MEMINFO "buildbeat proc_meminfo 1 1000 free:1MiB:g cached:1MiB:g total:1MiB:g\n"

static const struct {
	const char *what, *build, *tasks, *stat, *meminfo;
	int result[PLOTS];	/* of drawing the charts */
	const char *says;	/* in one of them */
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
	  { 0, -ENODATA, -ENODATA }, "no end recorded" },
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

START_TEST(builds_of_all_sorts)
{
	struct buf all = BUF_INIT, svg;
	struct drawn d;

	put_series("proc_stat.log", builds[_i].stat);
	put_series("proc_meminfo.log", builds[_i].meminfo);
	recorded_make(&d.r, builds[_i].build, builds[_i].tasks ? builds[_i].tasks : "", NULL);
	drawn_begin(&d);
	for (unsigned chart = 0; chart < PLOTS; chart++) {
		struct plot p = { .chart = (enum plot_chart)chart }, term = p;
		const char *name = support_path("%s.svg", plot_word[chart]);
		int r = draw_within(&d, &p, LONG_MS);

		ck_assert_msg(r == builds[_i].result[chart], "%s: %s: %d %s", builds[_i].what,
			      plot_word[chart], r, d.err.message);
		term.format = PLOT_TERM;
		ck_assert_int_eq(draw_within(&d, &term, LONG_MS), r);
		ck_assert_int_eq(support_exists(support_path("%s/%s", d.dir, name)), !r);
		if (r)
			continue;
		drawn_file(&d, &svg, name);
		is_clean_svg(&d, &svg, name);
		buf_add(&all, svg.data, svg.len);
		buf_release(&svg);
	}
	if (builds[_i].says)
		ck_assert_ptr_nonnull(strstr(buf_str(&all), builds[_i].says));
	buf_release(&all);
	drawn_release(&d);
}
END_TEST

/* Where nothing is known nothing is drawn: 1 to 50 seconds are missing. */
/* What the tasks have together in one plot of memory is what they have one by one in the
 * other, but for those apart that had not begun when they were counted in. */

static const struct layer *find_layer(const struct pane *p, const char *label)
{
	for (size_t i = 0; i < p->n_layers; i++) {
		if (!strcmp(p->layer[i].label, label))
			return &p->layer[i];
	}
	return NULL;
}

static bool is_between_samples(const struct pane *p, const struct series *s, size_t stretch)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->time_ms[i] * 1000 >= pane_time_us(p, stretch) &&
		    s->time_ms[i] * 1000 <= pane_time_us(p, stretch + 1))
			return false;
	}
	return true;
}

static const char *const of_memory[] = { "16 8", "200 60", "3000 300" };

START_TEST(tasks_add_up)
{
	size_t compared = 0, equal = 0;
	const struct layer *tasks;
	const struct series *s;
	struct panels panels;
	struct recorded r;
	struct figure f;
	struct run run;

	support_run(&run, NULL, TOP_BUILDDIR "/tests/gen_recording %s/rec %s %d", support_tmpdir(),
		    of_memory[_i], _i);
	ck_assert_int_eq(run.status, 0);
	support_run_release(&run);
	recorded_read(&r, support_path("%s/rec", support_tmpdir()));
	ck_assert_int_eq(panels_make(&panels, &r.sum), 0);
	ck_assert_int_eq(figure_make(&f, PLOT_MEMORY, &r.sum, &panels, 1000), 0);
	s = recording_series(&r.rec, "proc_meminfo");
	tasks = find_layer(&f.pane[0], "tasks");
	ck_assert_ptr_nonnull(tasks);
	/* Of the whole build, with the tasks apart or all at once. */
	ck_assert_int_eq(f.pane[1].until_us, f.pane[0].until_us);
	for (size_t j = 0; j < f.pane[1].n; j++) {
		int64_t sum = 0;

		if (tasks->value[j] == BAND_ABSENT || !is_between_samples(&f.pane[0], s, j))
			continue;
		for (size_t i = 0; i < f.pane[1].n_layers; i++)
			sum += f.pane[1].layer[i].value[j];
		ck_assert_int_le(sum, tasks->value[j]);
		equal += sum == tasks->value[j];
		compared++;
	}
	ck_assert_uint_gt(compared, 500);
	ck_assert_uint_gt(equal, compared * 3 / 4);
	figure_release(&f);
	panels_release(&panels);
	recorded_release(&r);
}
END_TEST

START_TEST(gaps_are_gaps)
{
	struct plot p = { .chart = PLOT_CPU, .keep = true };
	struct drawn d;
	struct buf data;

	support_writes(support_path("%s/proc_stat.log", support_tmpdir()),
		       STAT "@0 \n50,50\n!50000 10\n50\n");
	recorded_make(&d.r, "cores: 1\nend_us: 60000000\n", "", NULL);
	drawn_begin(&d);
	draw(&d, &p);
	drawn_file(&d, &data, "cpu.data");
	says(&data, (const char *const[]){ "\n0 50 50 0 0\n1.02 50 50 0 0\n\n49.98 ", NULL });
	buf_release(&data);
	drawn_release(&d);
}
END_TEST

START_TEST(peak_of_a_long_build)
{
	struct plot p = { .chart = PLOT_MEMORY };
	struct drawn d;
	struct buf svg;

	recorded_make(&d.r, "end_us: 9000000000\n", "open\t0\tm\t10\t0\t10\tmake\t4.3\t/src\tmake\n"
		      "start\t1000000\tm.1\t11\t\t\tlong\t\tcc\n"
		      "start\t50000000\tm.2\t12\t\t\tshort\t\tld\ndone\t55000000\tm.2\t0\n"
		      "done\t8000000000\tm.1\t0\n", "@2000 0=m.1:90,,90\n@51000 1=m.2:500,,500\n1-\n");
	drawn_begin(&d);
	draw(&d, &p);
	drawn_file(&d, &svg, "memory.svg");
	says(&svg, (const char *const[]){ "Around the peak", "short: 500 MiB", "long: 90 MiB",
					  "590 MiB at 51.0 s", "all tasks at once", NULL });
	buf_release(&svg);
	drawn_release(&d);
}
END_TEST

/* What goes wrong */

static void fake_gnuplot(const char *script)
{
	const char *bin = support_path("%s/bin", support_tmpdir());
	const char *path = support_path("%s/gnuplot", bin);

	ck_assert_int_eq(mkdir(bin, 0755), 0);
	if (script) {
		support_writes(path, script);
		ck_assert_int_eq(chmod(path, 0755), 0);
	}
	setenv("PATH", script ? support_path("%s:%s", bin, getenv("PATH")) : bin, 1);
}

static const struct {
	const char *script;	/* instead of gnuplot; NULL: there is none */
	int result;
	const char *says;
} faults[] = {
	{ NULL, -ENOENT, "gnuplot is not installed (package gnuplot-nox)" },
	{ "#!/bin/sh\necho >&2; echo plot x >&2; echo '     ^' >&2\n"
	  "echo '\"cpu.gnuplot\" line 7: no such thing' >&2; exit 1\n", -EIO,
	  "gnuplot failed: \"cpu.gnuplot\" line 7: no such thing" },
	{ "#!/bin/sh\nprintf 'gnuplot: \\033[31mcannot\\n' >&2; exit 3\n", -EIO,
	  "gnuplot failed: gnuplot: \\x1b[31mcannot" },
	{ "#!/bin/sh\nexit 1\n", -EIO, "gnuplot failed: it did not say why" },
	{ "#!/bin/sh\nkill -9 $$\n", -EIO, "gnuplot failed: killed by SIGKILL" },
	{ "#!/bin/sh\nexec sleep 100\n", -EIO, "gnuplot did not end within 300 ms" },
	{ "#!/bin/sh\nexec sleep 100 >&- 2>&-\n", -EIO, "gnuplot did not end within 300 ms" },
	{ "#!/bin/sh\ntrue\n", -EIO, "cpu.svg is not whole" },
	{ "#!/bin/sh\necho '<?xml version=\"1.0\"?><svg>' > cpu.svg\n", -EIO,
	  "cpu.svg is not whole" },
	{ "#!/bin/sh\nyes | head -c 1000000; yes | head -c 1000000 >&2; exit 1\n", -EIO,
	  "gnuplot failed: y" },
};

START_TEST(faults_are_told)
{
	struct plot p = { .chart = PLOT_CPU };
	char *path = strdup(getenv("PATH"));
	struct drawn d;

	drawn_read(&d, NESTED);
	fake_gnuplot(faults[_i].script);
	ck_assert_int_eq(draw_within(&d, &p, strstr(faults[_i].says, "within") ? 300 : LONG_MS),
			 faults[_i].result);
	/* What tidies up afterwards is a program too. */
	setenv("PATH", path, 1);
	free(path);
	ck_assert_msg(strstr(d.err.message, faults[_i].says) != NULL, "%s", d.err.message);
	left(&d, 0);
	drawn_release(&d);
}
END_TEST

START_TEST(old_picture_stays)
{
	struct plot p = { .chart = PLOT_CPU };
	struct drawn d;
	struct buf svg;

	drawn_read(&d, NESTED);
	support_writes(support_path("%s/cpu.svg", d.dir), "old");
	fake_gnuplot("#!/bin/sh\nexit 1\n");
	ck_assert_int_eq(draw_within(&d, &p, LONG_MS), -EIO);
	drawn_file(&d, &svg, "cpu.svg");
	ck_assert_str_eq(svg.data, "old");
	buf_release(&svg);
	left(&d, 1);
	drawn_release(&d);
}
END_TEST

static const struct {
	const char *directory, *tmpdir;
	bool keep;
} places[] = {
	{ "/proc/self", NULL, false }, { "/proc/self", NULL, true },
	{ "/no/such/directory", NULL, false }, { "/dev/null", NULL, true },
	{ NULL, "/no/such/directory", false }, { NULL, "/proc/self", true },
};

START_TEST(unfit_places)
{
	struct plot p = { .chart = PLOT_CPU, .directory = places[_i].directory,
			  .keep = places[_i].keep };
	const char *tmpdir;
	struct drawn d;

	drawn_read(&d, NESTED);
	tmpdir = strdup(getenv("TMPDIR"));
	if (places[_i].tmpdir)
		setenv("TMPDIR", places[_i].tmpdir, 1);
	ck_assert_int_lt(draw_within(&d, &p, LONG_MS), 0);
	ck_assert_str_ne(d.err.message, "");
	ck_assert_str_ne(d.err.path, "");
	setenv("TMPDIR", tmpdir, 1);
	left(&d, 0);
	free((char *)tmpdir);
	drawn_release(&d);
}
END_TEST

/* As a disk that is full before the script is there, or while gnuplot draws. */
static const rlim_t sizes[] = { 100, 12000 };

START_TEST(no_room)
{
	struct rlimit limit = { sizes[_i], RLIM_INFINITY };
	struct plot p = { .chart = PLOT_CPU };
	struct drawn d;

	drawn_read(&d, NESTED);
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_lt(draw_within(&d, &p, LONG_MS), 0);
	limit.rlim_cur = RLIM_INFINITY;
	setrlimit(RLIMIT_FSIZE, &limit);
	ck_assert_str_ne(d.err.message, "");
	left(&d, 0);
	drawn_release(&d);
}
END_TEST

START_TEST(who_ignores_children)
{
	struct plot p = { .chart = PLOT_CPU };
	struct drawn d;

	drawn_read(&d, NESTED);
	signal(SIGCHLD, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	draw(&d, &p);
	left(&d, 1);
	drawn_release(&d);
}
END_TEST

#define LOOP(tcase, test, list) \
	tcase_add_loop_test(tcase, test, 0, sizeof (list) / sizeof *(list))

int main(void)
{
	Suite *s = suite_create("plot");
	TCase *t = tcase_create("plot");

	if (!support_has("gnuplot")) {
		fputs("there is no gnuplot\n", stderr);
		return 77;
	}
	setenv("TZ", "UTC", 1);
	tzset();
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, pictures, 0, PLOTS * PLOT_TERM);
	tcase_add_loop_test(t, the_same_again, 0, PLOTS);
	tcase_add_loop_test(t, kept_files_draw_it_again, 0, PLOTS);
	LOOP(t, golden, goldens);
	LOOP(t, terminal, widths);
	tcase_add_test(t, terminal_colours);
	LOOP(t, names_are_only_names, hostile);
	tcase_add_test(t, long_names_are_shortened);
	LOOP(t, builds_of_all_sorts, builds);
	tcase_add_loop_test(t, tasks_add_up, 0, sizeof of_memory / sizeof *of_memory);
	tcase_add_test(t, gaps_are_gaps);
	tcase_add_test(t, peak_of_a_long_build);
	LOOP(t, faults_are_told, faults);
	tcase_add_test(t, old_picture_stays);
	LOOP(t, unfit_places, places);
	LOOP(t, no_room, sizes);
	tcase_add_test(t, who_ignores_children);
	suite_add_tcase(s, t);
	return support_main(s);
}
