/* SPDX-License-Identifier: MIT */
#include "cli/class_rules.h"
#include "report/inspect/class_plot.h"
#include "report/inspect_page.h"
#include "tests/made_inspection.h"
#include "tests/nomem.h"
#include "tests/support.h"
#include "tests/unpack.h"

/* An inspection with its classes and its page. */
struct shown {
	struct made_inspection made;
	struct class_rules_read rules;	/* has the names of the classes */
	struct classes classes[2];
	struct buf page;
	struct unpacked data;
};

static void classify(struct shown *w)
{
	struct error err = { .line = 0 };

	ck_assert_int_eq(class_rules_read(&w->rules, NULL, w->made.inspection.program, &err), 0);
	for (int kind = 0; kind < 2; kind++) {
		struct classifier *c;

		ck_assert_int_eq(classifier_new(&c, kind, &w->rules.file, &w->made.inspection, &err), 0);
		for (size_t i = 0; i < w->made.n; i++)
			ck_assert_int_eq(classifier_add(c, &w->made.snapshot[i]), 0);
		ck_assert_int_eq(classifier_done(c, &w->classes[kind]), 0);
		classifier_free(c);
	}
}

static int write_page(struct shown *w)
{
	struct inspect_page *p = NULL;
	struct call_tree tree;
	int r = call_tree_make(&tree, &w->made.inspection);

	if (!r)
		r = inspect_page_new(&p, &w->made.inspection, &tree, &w->rules.file);
	for (size_t i = 0; !r && i < w->made.n; i++)
		r = inspect_page_add(p, &w->made.snapshot[i]);
	if (!r)
		r = inspect_page_write(&w->page, p, &w->classes[0],
				       w->made.inspection.n_stacks ? &w->classes[1] : NULL, NULL);
	inspect_page_free(p);
	call_tree_release(&tree);
	return r;
}

static void show(struct shown *w)
{
	const char *data, *end;

	classify(w);
	ck_assert_int_eq(write_page(w), 0);
	data = strstr(w->page.data, "id=\"data\">");
	ck_assert_ptr_nonnull(data);
	data += strlen("id=\"data\">");
	end = strstr(data, "</script>");
	unpack(&w->data, data, (size_t)(end - data));
}

static void release(struct shown *w)
{
	unpacked_release(&w->data);
	buf_release(&w->page);
	for (int i = 0; i < 2; i++)
		classes_release(&w->classes[i]);
	class_rules_release(&w->rules);
	made_inspection_release(&w->made);
}

static void show_random(struct shown *w, uint64_t seed)
{
	*w = (struct shown){ .page = BUF_INIT };
	made_inspection_random(&w->made, &(struct made_inspection_wish){
		.mappings = seed * 13 % 90, .stacks = seed % 5 ? seed * 71 % 900 : 0,
		.snapshots = 1 + seed % 12, .hostile = seed % 2, .seed = seed,
		.depth = 1 + (unsigned)(seed * 3 % 30),
	});
	show(w);
}

/* The mappings and the rows of the tree add up to the snapshot, whatever is left out. */
static void check_snapshot(const struct shown *w, size_t s)
{
	const struct snapshot *snapshot = &w->made.snapshot[s];
	size_t n = w->made.n, rows = unpacked_numbers(&w->data, "parent")->n;
	int64_t live = 0, peak = 0;

	for (int v = 0; v < MAPPING_VALUES; v++) {
		const char *name = support_path("kb%d", v);
		size_t maps = unpacked_numbers(&w->data, name)->n / n;
		int64_t sum = 0;

		for (size_t i = 0; i < maps; i++)
			sum += unpacked_at(&w->data, name, i * n + s);
		ck_assert_int_eq(sum, snapshot_sum_kb(snapshot, v));
		ck_assert_int_eq(unpacked_at(&w->data, support_path("class%d", v), s), sum);
	}
	for (size_t i = 0; i < rows; i++) {
		ck_assert_int_le(unpacked_at(&w->data, "parent", i), (int64_t)i);
		live += unpacked_at(&w->data, "live", i * (n + 1) + s);
		peak += unpacked_at(&w->data, "live", i * (n + 1) + n);
	}
	for (size_t i = 0; i < snapshot->n_sites; i++)
		live -= (int64_t)snapshot->site[i].live_bytes;
	ck_assert_int_eq(live, 0);
	for (size_t i = 0; s + 1 == n && i < snapshot->n_sites; i++)
		peak -= (int64_t)snapshot->site[i].peak_bytes;
	ck_assert(s + 1 != n || peak == 0);
}

TEST_LOOP(sums, 25)
{
	struct shown w;

	show_random(&w, (uint64_t)_i);
	for (size_t s = 0; s < w.made.n; s++)
		check_snapshot(&w, s);
	release(&w);
}

/* A mapping has its values where it is. */
TEST_LOOP(mappings, 10)
{
	struct shown w;
	size_t n, row = 0;

	show_random(&w, (uint64_t)_i);
	n = w.made.n;
	for (size_t i = 0; i < w.made.snapshot[n - 1].n; i++) {
		const struct mapping *m = &w.made.snapshot[n - 1].mapping[i];
		const struct unpacked_text *file = unpacked_text(&w.data, "file");

		while (!unpacked_at(&w.data, "kb0", row * n + n - 1))
			row++;
		ck_assert_uint_eq(((uint64_t)(uint32_t)unpacked_at(&w.data, "high", row) << 20 |
				   (uint64_t)unpacked_at(&w.data, "low", row)) << 12, m->start);
		for (int v = 0; v < MAPPING_VALUES; v++)
			ck_assert_int_eq(unpacked_at(&w.data, support_path("kb%d", v), row * n + n - 1),
					 m->kb[v]);
		ck_assert_uint_lt((size_t)unpacked_at(&w.data, "file", row), file->n);
		if (_i % 2 == 0)
			ck_assert_str_eq(file->line[unpacked_at(&w.data, "file", row)],
					 w.made.inspection.names.name[m->file].p);
		row++;
	}
	release(&w);
}

/* What the page says in words, of the compilation whose values are known. */
TEST(words)
{
	struct shown w = { .page = BUF_INIT };
	const char *const said[] = {
		"Memory of cc1plus 12345", "6 snapshots in 5.00 s",
		"At 4.00 s the process was largest, with 261 MiB in memory: 82 % ",
		"From 2.00 s to 4.00 s it grew by 139 MiB, 58 % of its growth: 88 % ",
		"Its allocations had about 210 MiB at 4.00 s: 95 % ",
		"The charts and tables need JavaScript.",
	};

	made_inspection_compile(&w.made);
	show(&w);
	for (size_t i = 0; i < ARRAY_SIZE(said); i++)
		ck_assert_msg(strstr(w.page.data, said[i]), "%s", said[i]);
	ck_assert_int_eq(unpacked_text(&w.data, "function")->n, 19);
	ck_assert_str_eq(unpacked_text(&w.data, "function")->line[0], "_start");
	release(&w);
}

/* Names cannot end a script or bring anything from outside. */
TEST(hostile)
{
	struct shown w = { .page = BUF_INIT };
	size_t scripts = 0;

	made_inspection_random(&w.made, &(struct made_inspection_wish){
		.mappings = 80, .stacks = 300, .snapshots = 3, .hostile = true, .seed = 5 });
	w.made.inspection.command = "</script><script>alert(1)</script>";
	w.made.inspection.host = w.made.inspection.program = "<img src=x onerror=alert(1)>";
	w.made.inspection.end = "<!--\x01\xff";
	show(&w);
	for (const char *p = w.page.data; (p = strstr(p, "</script")); p++)
		scripts++;
	ck_assert_uint_eq(scripts, 3);
	ck_assert_ptr_null(strstr(w.page.data, "<img"));
	ck_assert_ptr_null(strstr(w.page.data, "<!--"));
	ck_assert_ptr_null(strstr(w.page.data, "https://"));
	release(&w);
}

/* 10,000 stacks of like size in 100 snapshots, the worst case, and one that has nothing. */
TEST(sizes)
{
	struct shown w = { .page = BUF_INIT };

	made_inspection_random(&w.made, &(struct made_inspection_wish){
		.mappings = 500, .stacks = 10000, .snapshots = 100, .seed = 1 });
	show(&w);
	ck_assert_uint_lt(w.page.len, 8 << 20);
	release(&w);
	w = (struct shown){ .page = BUF_INIT };
	made_inspection_init(&w.made);
	show(&w);
	ck_assert_ptr_nonnull(strstr(w.page.data, "There is no snapshot"));
	release(&w);
}

/* A picture by gnuplot with its script and data, which may be run again; and on a terminal. */
TEST(plots)
{
	int64_t time_us[6];
	struct shown w = { .page = BUF_INIT };
	struct class_plot p = { .time_us = time_us, .keep = true };
	struct buf out = BUF_INIT;
	struct error err;

	SKIP_IF(!support_has("gnuplot"));
	made_inspection_compile(&w.made);
	show(&w);
	for (size_t i = 0; i < w.made.n; i++)
		time_us[i] = w.made.snapshot[i].time_us;
	p.in = &w.made.inspection;
	p.memory = &w.classes[0];
	p.heap = &w.classes[1];
	p.path = strdup(support_path("%s/picture.svg", support_tmpdir()));
	ck_assert_msg(!class_plot_draw(&p, &out, &err), "%s", err.message);
	ck_assert_ptr_nonnull(strstr(support_text(p.path), "<title>Memory of cc1plus 12345</title>"));
	ck_assert_ptr_nonnull(strstr(support_text(p.path),
				     "garbage-collected memory max 214 MiB, at the end 181 MiB"));
	support_expect(support_tmpdir(), 0, "", "",
		       "LC_ALL=C.UTF-8 gnuplot memory.gnuplot && grep -q '</svg>' memory.svg");
	free((char *)p.path);
	p.path = NULL;
	p.format = PLOT_TERM;
	ck_assert_msg(!class_plot_draw(&p, &out, &err), "%s", err.message);
	support_is_golden(&out, "inspect_term.txt");
	w.classes[0].n_snapshots = 0;
	ck_assert_int_eq(class_plot_draw(&p, &out, &err), -ENODATA);
	buf_release(&out);
	release(&w);
}

/* inspect show --format on an archive. */
TEST(formats)
{
	static const struct { const char *options, *check; } good[] = {
		{ "html -o x.html", "grep -q '^<!DOCTYPE html' x.html" },
		{ "pprof -o x.gz", "gzip -t x.gz" },
		{ "pprof --snapshot 2 | gzip -dc", "true" },
		{ "collapsed --snapshot 1 | tail -n 1 | grep -q 'xcalloc 262144$'", "true" },
		{ "collapsed | head -n 1 | grep -q 'alloc_page 117440512$'", "true" },
		{ "heaptrack -o x.txt", "grep -q '^PEAK MEMORY CONSUMERS' x.txt" },
		{ "json -o x.json", "grep -q '^{' x.json" },
		{ "text -o x.text", "grep -q cc1plus x.text" },
	};
	static const struct { const char *options, *message; } bad[] = {
		{ "svg", "--format svg needs -o FILE" },
		{ "png -o -", "--format png needs -o FILE" },
		{ "html --keep", "--keep is for --format svg, png and pdf" },
		{ "html --top 3", "--top is for text and JSON" },
		{ "html --snapshot 2", "--snapshot is not for --format html" },
		{ "collapsed --snapshot 7", "there is no snapshot 7: the archive has 6" },
		{ "html -o no/x.html", "no/x.html: cannot write" },
		{ "pprof -o /dev/full", "No space left" },
	};
	const char *dir = support_tmpdir();

	support_expect(dir, 0, "", "", TOP_BUILDDIR "/tests/gen_inspection a");
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		support_expect(dir, 0, NULL, "", TOP_BUILDDIR "/buildbeat inspect show a --format %s "
			       "&& %s", good[i].options, good[i].check);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		support_expect(dir, 2, "", bad[i].message, TOP_BUILDDIR "/buildbeat inspect show a "
			       "--format %s", bad[i].options);
	support_expect(dir, 0, "", "", TOP_BUILDDIR "/tests/gen_inspection b 0 2 5");
	support_expect(dir, 2, "", "the allocations were not counted", TOP_BUILDDIR
		       "/buildbeat inspect show b --format collapsed");
	support_expect(dir, 0, NULL, "", TOP_BUILDDIR "/buildbeat inspect show b --format html -o b.html");
}

TEST(no_memory)
{
	struct shown w = { .page = BUF_INIT };
	int r = -ENOMEM;

	made_inspection_compile(&w.made);
	classify(&w);
	for (long n = 0; r; n++) {
		buf_release(&w.page);
		nomem_after(n);
		r = write_page(&w);
		ck_assert(nomem_failed() == (r != 0));
		nomem_after(-1);
		ck_assert(!r || r == -ENOMEM);
	}
	release(&w);
}

TEST_MAIN(inspect_page);
