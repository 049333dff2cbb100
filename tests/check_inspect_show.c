/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "cli/class_rules.h"
#include "inspect/archive_files.h"
#include "report/inspect/inspect_outputs.h"
#include "report/inspect/maps.h"
#include "tests/made_inspection.h"
#include "tests/nomem.h"
#include "tests/recorded.h"
#include "tests/support.h"

/* What inspect show prints of generated inspections. */

static void *copy(const void *array, size_t size)
{
	void *made = malloc(size + 1);

	if (made && size)
		memcpy(made, array, size);
	return made;
}

static int read_made(void *from, size_t i, struct snapshot *s, struct error *err)
{
	const struct made_inspection *m = from;
	const struct snapshot *made = &m->snapshot[i];

	(void)err;
	snapshot_release(s);
	*s = *made;
	s->mapping = copy(made->mapping, made->n * sizeof *made->mapping);
	s->site = copy(made->site, made->n_sites * sizeof *made->site);
	s->range = copy(made->range, made->n_ranges * sizeof *made->range);
	s->resident = NULL;
	s->n_resident = 0;
	return s->mapping && s->site && s->range ? 0 : -ENOMEM;
}

static const struct inspect_view_wish any = {
	.shown = INSPECT_VIEW_CHOOSE, .base = INSPECT_VIEW_CHOOSE,
};

/* The anonymous mapping was mapped by the stacks of the mapped sites, one after the other. */
static void add_ranges(struct made_inspection *m)
{
	for (size_t k = 0; k < m->n; k++) {
		struct snapshot *s = &m->snapshot[k];
		const struct mapping *anonymous = s->mapping;
		uint64_t at;

		while (*m->inspection.names.name[anonymous->file].p)
			anonymous++;
		at = anonymous->start;
		for (size_t i = 0; i < s->n_sites; i++) {
			const struct site *site = &s->site[i];

			if (!site->mapped)
				continue;
			*(struct mapped_range *)array_add(&s->range, &s->n_ranges, sizeof *s->range) =
				(struct mapped_range){ at, at + site->live_bytes, site->stack };
			at += site->live_bytes;
		}
	}
}

static void make_view(struct inspect_view *v, struct made_inspection *m,
		      const struct class_rules_read *rules, const struct inspect_view_wish *wish)
{
	struct inspect_view_wish whole = *wish;
	struct error err = { 0 };

	whole.rules = &rules->file;
	whole.rules_name = rules->name;
	ck_assert_msg(!inspect_view_make(v, &m->inspection, read_made, m, &whole, &err), "%s",
		      err.message);
}

static void read_rules(struct class_rules_read *rules, const char *name)
{
	struct error err = { 0 };

	ck_assert_int_eq(class_rules_read(rules, name, "", &err), 0);
}

/* The compilation */

static const struct {
	const char *golden;
	unsigned parts, width;
} texts[] = {
	{ "inspect-80.txt", 0x0f, 80 }, { "inspect-120.txt", 0x0f, 120 },
	{ "inspect-trees.txt", 0x30, 100 }, { "inspect-maps.txt", 0x40, 120 },
	{ "inspect.json", 0, 0 },
};

TEST_EACH(compilation, texts)
{
	struct inspect_show_options o = { .parts = texts[_i].parts, .top = 10 };
	const struct style style = { .width = texts[_i].width };
	struct class_rules_read rules;
	RELEASED(made_inspection, m);
	RELEASED(inspect_view, v);
	RELEASED(buf, out = BUF_INIT);

	made_inspection_compile(&m);
	add_ranges(&m);
	read_rules(&rules, "gcc");
	make_view(&v, &m, &rules, &any);
	if (o.parts)
		ck_assert_int_eq(inspect_text(&out, &v, &o, &style), 0);
	else
		ck_assert_int_eq(inspect_json(&out, &v, &o), 0);
	support_is_golden(&out, texts[_i].golden);
	class_rules_release(&rules);
}

/* Properties of generated ones */

static void make_random(struct made_inspection *m, int i)
{
	uint64_t state = (uint64_t)i;
	const struct made_inspection_wish wish = {
		.mappings = 1 + (size_t)random_below(&state, 50), .stacks = 1 + (size_t)random_below(&state, 150),
		.snapshots = 1 + (size_t)random_below(&state, 5), .hostile = i % 2, .seed = (uint64_t)i,
	};

	made_inspection_random(m, &wish);
}

/* A node has what its children have, and what is allocated there itself. */
static void check_tree(const struct heap_tree *t, const int64_t total[HEAP_VALUES])
{
	int64_t *below = calloc(t->n, sizeof *below);

	for (int v = 0; v < HEAP_VALUES; v++) {
		ck_assert_int_eq(t->node[0].value[v], total[v]);
		memset(below, 0, t->n * sizeof *below);
		for (size_t i = t->n - 1; i; i--) {
			ck_assert_uint_lt(t->node[i].parent, i);
			ck_assert_int_ge(t->node[i].value[v], below[i]);
			below[t->node[i].parent] += t->node[i].value[v];
		}
		ck_assert_int_ge(t->node[0].value[v], below[0]);
	}
	free(below);
}

TEST_LOOP(trees, 40)
{
	int64_t sum[HEAP_VALUES] = { 0 };
	struct class_rules_read rules;
	RELEASED(made_inspection, m);
	RELEASED(inspect_view, v);

	make_random(&m, _i);
	read_rules(&rules, "default");
	make_view(&v, &m, &rules, &any);
	check_tree(&v.top_down, v.line[v.shown].heap);
	check_tree(&v.bottom_up, v.line[v.shown].heap);
	for (size_t i = 0; i < v.sites.n; i++) {
		for (int h = 0; h < HEAP_VALUES; h++)
			sum[h] += v.sites.site[i].value[VIEW_SHOWN][h];
	}
	ck_assert_mem_eq(sum, v.line[v.shown].heap, sizeof sum);
	class_rules_release(&rules);
}

/* The number in a JSON text behind the last of these keys, each behind the one before. */
static int64_t number_in(const char *json, const char *const *keys)
{
	for (; *keys; keys++) {
		json = strstr(json, *keys);
		ck_assert_ptr_nonnull(json);
		json += strlen(*keys);
	}
	return strtoll(json + strspn(json, "\": "), NULL, 10);
}

/* What is in A, and the difference to B, is what is in B. */
TEST_LOOP(differences, 12)
{
	static const char *const difference[] = { "\"memory_classes\"", "\"difference\"", "rss_kb", NULL };
	struct inspect_show_options o = { .top = 10 };
	struct class_rules_read rules;
	RELEASED(made_inspection, m);

	make_random(&m, _i);
	read_rules(&rules, "gcc");
	for (size_t a = 0; a < m.n; a++) {
		for (size_t b = 0; b < m.n; b++) {
			const struct inspect_view_wish wish = { .shown = b, .base = a };
			struct buf out = BUF_INIT;
			struct inspect_view v;

			make_view(&v, &m, &rules, &wish);
			ck_assert_int_eq(inspect_json(&out, &v, &o), 0);
			ck_assert_int_eq((int64_t)snapshot_sum_kb(&m.snapshot[a], MAPPING_RSS) +
					 number_in(buf_str(&out), difference),
					 (int64_t)snapshot_sum_kb(&m.snapshot[b], MAPPING_RSS));
			buf_release(&out);
			inspect_view_release(&v);
		}
	}
	class_rules_release(&rules);
}

static int64_t live_with(struct made_inspection *m, const struct class_rules_read *rules,
			 const char *stack)
{
	struct inspect_view_wish wish = any;
	struct inspect_view v;
	int64_t live;

	wish.stack = stack;
	make_view(&v, m, rules, &wish);
	live = v.top_down.node[0].value[HEAP_LIVE_BYTES];
	ck_assert_int_eq(live, v.bottom_up.node[0].value[HEAP_LIVE_BYTES]);
	inspect_view_release(&v);
	return live;
}

/* Of a table whose last line ends with "N of ALL mappings". */
static size_t shown_rows(const char *text, size_t all)
{
	char end[64];
	const char *p;

	snprintf(end, sizeof end, " of %zu mappings\n", all);
	ck_assert_ptr_nonnull(strstr(text, end));
	p = strstr(text, end);
	while (p > text && p[-1] >= '0' && p[-1] <= '9')
		p--;
	return strtoul(p, NULL, 10);
}

/* Mappings that a filter has, and those that it has not, are all mappings. */
TEST_LOOP(filters, 12)
{
	static const char *const pairs[][2] = {
		{ "^/usr", "^([^/]|/[^u]|$)" }, { "^$", "." }, { "heap", "^([^[]|$)|^\\[[^h]" },
	};
	struct class_rules_read rules;
	RELEASED(made_inspection, m);

	make_random(&m, _i);
	read_rules(&rules, "default");
	for (size_t k = 0; k < ARRAY_SIZE(pairs); k++) {
		const struct snapshot *s = &m.snapshot[m.n - 1];
		size_t n[2] = { 0 };

		for (int side = 0; side < 2; side++) {
			struct maps_wish wish = { .names = &m.inspection.names };
			struct buf out = BUF_INIT;
			struct pattern pattern;
			struct doc d;

			ck_assert_int_eq(pattern_init(&pattern, pairs[k][side], NULL), 0);
			wish.file = &pattern;
			doc_init_terminal(&d, &out, &(struct style){ 0 });
			maps_table(&d, s, &wish);
			doc_release(&d);
			n[side] = shown_rows(buf_str(&out), s->n);
			buf_release(&out);
			pattern_release(&pattern);
		}
		ck_assert_uint_eq(n[0] + n[1], s->n);
	}
	ck_assert_int_eq(live_with(&m, &rules, ""), live_with(&m, &rules, NULL));
	ck_assert_int_le(live_with(&m, &rules, "alloc"), live_with(&m, &rules, NULL));
	class_rules_release(&rules);
}

static int print_all(struct buf *out, struct made_inspection *m)
{
	const struct inspect_show_options o = { .parts = ~0u, .top = 10 };
	struct class_rules_read rules;
	struct inspect_view_wish wish = any;
	struct inspect_view v;
	struct error err = { 0 };
	int r = class_rules_read(&rules, NULL, "cc1plus", &err);

	wish.rules = &rules.file;
	wish.rules_name = rules.name;
	if (!r) {
		r = inspect_view_make(&v, &m->inspection, read_made, m, &wish, &err);
		r = r ? r : inspect_text(out, &v, &o, &(struct style){ .width = 90 });
		r = r ? r : inspect_json(out, &v, &o);
		inspect_view_release(&v);
	}
	class_rules_release(&rules);
	return r;
}

/* Each allocation fails once: nothing is printed without an error, and nothing is lost. */
TEST_LOOP(no_memory, 20)
{
	RELEASED(made_inspection, m);
	int r = -ENOMEM;
	bool failed;

	made_inspection_compile(&m);
	add_ranges(&m);
	for (long n = _i; r; n += 20) {
		struct buf out = BUF_INIT;

		nomem_after(n);
		r = print_all(&out, &m);
		failed = nomem_failed();
		nomem_after(-1);
		ck_assert_msg(failed == (r != 0), "allocation %ld: %d", n, r);
		ck_assert(!r || r == -ENOMEM);
		buf_release(&out);
	}
}

TEST(no_snapshot)
{
	struct inspect_show_options o = { .parts = ~0u, .top = 10 };
	struct class_rules_read rules;
	RELEASED(made_inspection, m);
	RELEASED(inspect_view, v);
	RELEASED(buf, out = BUF_INIT);

	made_inspection_init(&m);
	read_rules(&rules, "gcc");
	make_view(&v, &m, &rules, &any);
	ck_assert_int_eq(inspect_text(&out, &v, &o, &(struct style){ 0 }), 0);
	ck_assert_ptr_nonnull(strstr(buf_str(&out), "There is no snapshot of cc1plus.\n"));
	ck_assert_int_eq(inspect_json(&out, &v, &o), 0);
	class_rules_release(&rules);
}

/* The command */

static const char *archive_of(const struct made_inspection *m)
{
	struct inspect_archive *a;
	struct error err = { 0 };
	static char path[4096];

	ck_assert_msg(!inspect_archive_create(&a, support_tmpdir(), NULL, &m->inspection,
					      STORE_ACCESS_USER, &err), "%s", err.message);
	snprintf(path, sizeof path, "%s", inspect_archive_path(a));
	for (size_t i = 0; i < m->n; i++)
		ck_assert_int_eq(inspect_archive_add_snapshot(a, &m->snapshot[i]), 0);
	ck_assert_int_eq(inspect_archive_end(a, "the process ended", &err), 0);
	ck_assert_int_eq(inspect_archive_set_symbols(path, &m->inspection, &err), 0);
	return path;
}

static const struct {
	const char *options;
	int status;
	const char *out, *message;	/* in what it prints */
} commands[] = {
	{ "", 0, "cc1plus had 261 MiB at 4.0 s: 83 % garbage-collected memory (make_node 43 %", "" },
	{ "--snapshot 2", 0, "in snapshot 2, growth since snapshot 1", "" },
	{ "--snapshot 3,2", 0, "What grew most from snapshot 2 to 3", "" },
	{ "--rules default", 0, "(rules default)", "" },
	{ "--file cc1plus", 0, "3 of 7 mappings", "" },
	{ "--file cc1plus --permissions x", 0, "1 of 7 mappings", "" },
	{ "--address 400010", 0, "400010 is 0x10 bytes into the mapping, 0x10 bytes into the file", "" },
	{ "--address 0x1", 0, "1 is in no mapping", "" },
	{ "--view callers", 0, "and who called it", "" },
	{ "--json", 0, "\"summary\": \"cc1plus had 261 MiB", "" },
	{ "--snapshot 7", 2, "", "there is no snapshot 7: the inspection has 6" },
	{ "--snapshot 0", 2, "", "option '--snapshot': expected one or two numbers" },
	{ "--snapshot 1,", 2, "", "option '--snapshot': expected one or two numbers" },
	{ "--address wxyz", 2, "", "option '--address': expected a hexadecimal number" },
	{ "--file '('", 2, "", "not a regular expression: '('" },
	{ "--stack '(a)\\1'", 2, "", "a reference to a group is not supported" },
	{ "--rules gc", 2, "", "did you mean 'gcc'?" },
	{ "--view tre", 2, "", "expected overview" },
	{ "--view tree -- make", 2, "", "too many operands: 'make'" },
};

TEST_EACH(command, commands)
{
	RELEASED(made_inspection, m);
	const char *path;
	struct run r;

	made_inspection_compile(&m);
	add_ranges(&m);
	path = archive_of(&m);
	support_run(&r, NULL, "%s/buildbeat inspect show '%s' %s", TOP_BUILDDIR, path,
		    commands[_i].options);
	ck_assert_msg(r.status == commands[_i].status, "%d: %s", r.status, buf_str(&r.err));
	ck_assert_msg(strstr(buf_str(&r.out), commands[_i].out) != NULL, "%.1000s",
		      buf_str(&r.out));
	ck_assert_msg(strstr(buf_str(&r.err), commands[_i].message) != NULL, "%s", buf_str(&r.err));
	if (!*commands[_i].message)
		ck_assert_str_eq(buf_str(&r.err), "");
}

/* A directory with archives stands for the newest one. */
TEST(directory)
{
	RELEASED(made_inspection, m);
	struct run r;

	made_inspection_compile(&m);
	for (int n = 0; n < 3; n++) {
		support_run(&r, NULL, "%s/buildbeat inspect show '%s' --view overview", TOP_BUILDDIR,
			    support_tmpdir());
		ck_assert_msg(r.status == (n ? 0 : 2), "%s", buf_str(&r.err));
		ck_assert_msg(strstr(buf_str(n ? &r.out : &r.err), n ? "cc1plus had 261 MiB" :
				     "not an archive of an inspection") != NULL, "%s", buf_str(&r.err));
		ck_assert_msg((strstr(buf_str(&r.err), "2 archives; showing the newest, ") != NULL) == (n == 2),
			      "%s", buf_str(&r.err));
		archive_of(&m);
	}
}

/* Of a process that has ended only what was left in its heap is known. */
TEST(after_the_end)
{
	RELEASED(buf, out = BUF_INIT);
	struct class_rules_read rules;
	RELEASED(made_inspection, m);
	struct inspect_show_options o = { .parts = 1U << INSPECT_OVERVIEW };
	RELEASED(inspect_view, v);

	made_inspection_compile(&m);
	m.snapshot[m.n - 1].ended = true;
	m.snapshot[m.n - 1].n = 0;
	read_rules(&rules, "gcc");
	make_view(&v, &m, &rules, &any);
	ck_assert_int_eq(inspect_text(&out, &v, &o, &(struct style){ 0 }), 0);
	ck_assert_msg(strstr(buf_str(&out), "         -         -") != NULL &&
		      strstr(buf_str(&out), "-        -  left at the end\n") != NULL, "%s",
		      buf_str(&out));
	class_rules_release(&rules);
}

/* The key of the configuration, which the option overrides. */
TEST(configured)
{
	const char *dir = support_tmpdir();
	RELEASED(made_inspection, m);
	char path[4096];

	made_inspection_compile(&m);
	snprintf(path, sizeof path, "%s", archive_of(&m));
	support_writes(support_path("%s/mine.yaml", dir), "rules:\n- name: code of the compiler\n"
		       "  permissions: x\n");
	support_writes(support_path("%s/buildbeat.yaml", dir), "inspect:\n  processes:\n"
		       "    cc1|cc1plus: {classes: mine.yaml}\n");
	support_expect(dir, 0, NULL, "", "chmod 755 . && %s/buildbeat inspect show '%s' | "
		       "grep 'code of the compiler' >out", TOP_BUILDDIR, path);
	support_expect(dir, 1, "", "", "%s/buildbeat inspect show --rules gcc '%s' | "
		       "grep 'code of the compiler'", TOP_BUILDDIR, path);
	support_writes(support_path("%s/mine.yaml", dir), "rules:\n- name: a\n  file: '('\n");
	support_expect(dir, 2, "", "mine.yaml:3:9: not a regular expression: '('",
		       "%s/buildbeat inspect show '%s'", TOP_BUILDDIR, path);
}

/* JSON of names with anything in them is JSON. */
TEST_LOOP(hostile_json, 4)
{
	struct made_inspection m;
	const char *path;

	SKIP_IF(!support_has("python3"));
	make_random(&m, 2 * _i + 1);
	path = archive_of(&m);
	support_expect(NULL, 0, "", "", "%s/buildbeat inspect show '%s' --json | "
		       "python3 -c 'import json,sys; json.load(sys.stdin)'", TOP_BUILDDIR, path);
	made_inspection_release(&m);
}

TEST_MAIN(inspect_show);
