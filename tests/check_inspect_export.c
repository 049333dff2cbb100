/* SPDX-License-Identifier: MIT */
#include "base/text.h"
#include "report/inspect/collapsed.h"
#include "report/inspect/heaptrack.h"
#include "report/inspect/pprof.h"
#include "tests/made_inspection.h"
#include "tests/nomem.h"
#include "tests/support.h"

#include <inttypes.h>

/* A slow reference: each site's stack as a text, sorted, those of one text added up. */

struct line {
	char *text;
	uint64_t bytes;
};

static void add_function(struct buf *b, const char *name)
{
	size_t from = b->len;

	text_add_name(b, *name ? name : "?", 0);
	for (size_t i = from; i < b->len; i++) {
		if (b->data[i] == ';')
			b->data[i] = ':';
	}
}

static void add_inlined(struct buf *b, const struct inspection *in, uint32_t name)
{
	const struct frame_name *f = &in->frame_name[name];

	if (f->inlined_in != INSPECTION_NONE) {
		add_inlined(b, in, f->inlined_in);
		buf_addc(b, ';');
	}
	add_function(b, in->names.name[f->function].p);
}

/* masked: an address is only "#". */
static void add_stack(struct buf *b, const struct inspection *in, uint32_t stack, bool masked)
{
	const struct frame *f = &in->frame[in->stack[stack].frame];

	if (in->stack[stack].parent != INSPECTION_NONE) {
		add_stack(b, in, in->stack[stack].parent, masked);
		buf_addc(b, ';');
	}
	if (f->name != INSPECTION_NONE) {
		add_inlined(b, in, f->name);
		return;
	}
	if (f->module != INSPECTION_NONE) {
		const char *file = in->names.name[in->module[f->module].file].p;

		buf_adds(b, strrchr(file, '/') + 1);
		buf_addc(b, '!');
	}
	if (masked)
		buf_addc(b, '#');
	else
		buf_addf(b, "0x%" PRIx64, f->address - (f->module == INSPECTION_NONE ? 0 :
							in->module[f->module].bias));
}

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->text, ((const struct line *)b)->text);
}

static void add_reference(struct buf *out, const struct inspection *in, const struct snapshot *s,
			  bool peak, bool masked)
{
	struct line *line = calloc(s->n_sites + 1, sizeof *line);

	for (size_t i = 0; i < s->n_sites; i++) {
		struct buf b = BUF_INIT;

		add_stack(&b, in, s->site[i].stack, masked);
		line[i] = (struct line){ b.data, peak ? s->site[i].peak_bytes : s->site[i].live_bytes };
	}
	qsort(line, s->n_sites, sizeof *line, by_text);
	for (size_t i = 0; i < s->n_sites; i++) {
		if (i + 1 < s->n_sites && !strcmp(line[i].text, line[i + 1].text))
			line[i + 1].bytes += line[i].bytes;
		else if (line[i].bytes)
			buf_addf(out, "%s %" PRIu64 "\n", line[i].text, line[i].bytes);
		free(line[i].text);
	}
	free(line);
}

/* Sorted lines as one text. */
static void sort_lines(struct buf *out, const char *text)
{
	struct line *line = NULL;
	size_t n = 0;

	for (const char *p = text, *end; *p; p = end + 1) {
		struct line *l = array_add(&line, &n, sizeof *l);
		char *blank;

		end = strchr(p, '\n');
		l->text = strndup(p, (size_t)(end - p));
		blank = strrchr(l->text, ' ');
		l->bytes = strtoull(blank, NULL, 10);
		*blank = '\0';
	}
	if (n)
		qsort(line, n, sizeof *line, by_text);
	for (size_t i = 0; i < n; i++) {
		buf_addf(out, "%s %" PRIu64 "\n", line[i].text, line[i].bytes);
		free(line[i].text);
	}
	free(line);
}

static void check_collapsed(const struct inspection *in, const struct snapshot *s, bool peak)
{
	RELEASED(buf, out = BUF_INIT, sorted = BUF_INIT, reference = BUF_INIT);
	RELEASED(call_tree, tree);

	ck_assert_int_eq(call_tree_make(&tree, in), 0);
	ck_assert_int_eq(collapsed_write(&out, &tree, s, peak), 0);
	sort_lines(&sorted, buf_str(&out));
	add_reference(&reference, in, s, peak, false);
	ck_assert_str_eq(buf_str(&sorted), buf_str(&reference));
}

static void make_random(struct made_inspection *m, uint64_t seed)
{
	const struct made_inspection_wish wish = {
		.mappings = seed % 20, .stacks = 1 + seed * 37 % 700, .snapshots = 1 + seed % 4,
		.hostile = seed & 1, .depth = 1 + (unsigned)(seed * 7 % 60), .seed = seed,
	};

	made_inspection_random(m, &wish);
}

TEST_LOOP(collapsed_random, 60)
{
	RELEASED(made_inspection, m);

	make_random(&m, (uint64_t)_i);
	for (size_t i = 0; i < m.n; i++) {
		check_collapsed(&m.inspection, &m.snapshot[i], false);
		check_collapsed(&m.inspection, &m.snapshot[i], true);
	}
}

static void add_total(struct buf *b, const struct snapshot *s, bool peak)
{
	uint64_t objects = 0, space = 0, live = 0, bytes = 0;

	for (size_t i = 0; i < s->n_sites; i++) {
		objects += s->site[i].allocations;
		space += s->site[i].allocated;
		live += s->site[i].live;
		bytes += peak ? s->site[i].peak_bytes : s->site[i].live_bytes;
	}
	buf_addf(b, "alloc_objects count %" PRIu64 "\nalloc_space bytes %" PRIu64 "\n", objects, space);
	if (!peak)
		buf_addf(b, "inuse_objects count %" PRIu64 "\n", live);
	buf_addf(b, "inuse_space bytes %" PRIu64 "\n\n", bytes);
}

static void check_pprof(const struct inspection *in, const struct snapshot *s, bool peak)
{
	RELEASED(buf, out = BUF_INIT, reference = BUF_INIT, sorted = BUF_INIT);
	const char *stacks;
	struct run r;

	ck_assert_int_eq(pprof_write(&out, in, s, peak), 0);
	support_write(support_path("%s/heap.pb.gz", support_tmpdir()), out.data, out.len);
	support_run(&r, NULL, "python3 -B %s/tests/pprof_stacks.py %s/heap.pb.gz", TOP_SRCDIR,
		    support_tmpdir());
	ck_assert_msg(!r.status, "%s", r.err.data);
	add_total(&reference, s, peak);
	stacks = strstr(r.out.data, "\n\n");
	ck_assert_ptr_nonnull(stacks);
	buf_add(&sorted, r.out.data, (size_t)(stacks + 2 - r.out.data));
	sort_lines(&sorted, stacks + 2);
	add_reference(&reference, in, s, peak, true);
	ck_assert_str_eq(buf_str(&sorted), buf_str(&reference));
}

TEST_LOOP(pprof_random, 15)
{
	struct made_inspection m;

	SKIP_IF(!support_has("protoc"));
	make_random(&m, (uint64_t)_i);
	check_pprof(&m.inspection, &m.snapshot[m.n - 1], _i % 3 == 0);
	made_inspection_release(&m);
}

TEST(pprof_head)
{
	RELEASED(buf, out = BUF_INIT);
	struct made_inspection m;

	SKIP_IF(!support_has("protoc"));
	made_inspection_compile(&m);
	ck_assert_int_eq(pprof_write(&out, &m.inspection, &m.snapshot[2], false), 0);
	support_write(support_path("%s/heap.pb.gz", support_tmpdir()), out.data, out.len);
	support_expect(support_tmpdir(), ANY_STATUS, "mapping {\n  id: 1\n  memory_start: 4194304\n  memory_limit: 20971520\n"
			 "  filename: 12\n  build_id: 13\n  has_functions: true\n"
			 "  has_filenames: true\n  has_line_numbers: true\n  has_inline_frames: true\n}\n"
			 "string_table: \"/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus -quiet -O2 parser.cc\"\n"
			 "string_table: \"/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus\"\n"
			 "string_table: \"0000abc000000000000000000000000000000007\"\n"
			 "time_nanos: 1795470711000000000\nduration_nanos: 2000000000\n"
			 "period_type {\nperiod: 524288\n"
			 "default_sample_type: 10\n", NULL,
		       "gzip -dc heap.pb.gz | protoc -I %s/tests/data/inspect "
		       "--decode=perftools.profiles.Profile profile.proto | sed -n '/^mapping/,/^}/p;"
		       "/^string.*cc1plus/p;/^string.*0000abc0/p;/^[tdp]/p'", TOP_SRCDIR);
	made_inspection_release(&m);
}

static void write_all(struct buf *out, const struct made_inspection *m, size_t snapshot)
{
	RELEASED(call_tree, tree);

	ck_assert_int_eq(call_tree_make(&tree, &m->inspection), 0);
	ck_assert_int_eq(collapsed_write(out, &tree, &m->snapshot[snapshot], false), 0);
	buf_addc(out, '\n');
	ck_assert_int_eq(collapsed_write(out, &tree, &m->snapshot[snapshot], true), 0);
	buf_addc(out, '\n');
	ck_assert_int_eq(heaptrack_write(out, &m->inspection, &tree, &m->snapshot[snapshot]), 0);
}

TEST(texts)
{
	RELEASED(made_inspection, m);
	RELEASED(buf, out = BUF_INIT);

	made_inspection_compile(&m);
	write_all(&out, &m, m.n - 1);
	support_is_golden(&out, "inspect_export.txt");
}

/* The sums that heaptrack's text ends with, and its sections, of random heaps. */
TEST_LOOP(heaptrack_random, 20)
{
	RELEASED(made_inspection, m);
	RELEASED(buf, out = BUF_INIT);
	uint64_t calls = 0, temporary = 0;

	make_random(&m, (uint64_t)_i);
	write_all(&out, &m, m.n - 1);
	for (size_t i = 0; i < m.snapshot[m.n - 1].n_sites; i++) {
		calls += m.snapshot[m.n - 1].site[i].allocations;
		temporary += m.snapshot[m.n - 1].site[i].temporary;
	}
	ck_assert_ptr_nonnull(strstr(out.data, support_path("allocation functions: %" PRIu64 " (", calls)));
	ck_assert_ptr_nonnull(strstr(out.data, support_path("memory allocations: %" PRIu64 " (", temporary)));
}

/* An inspection without a heap or symbols is no error. */
TEST(empty)
{
	RELEASED(buf, out = BUF_INIT);
	RELEASED(made_inspection, m);

	made_inspection_init(&m);
	made_inspection_snapshot(&m, 0);
	write_all(&out, &m, 0);
	check_collapsed(&m.inspection, &m.snapshot[0], false);
	if (support_has("protoc"))
		check_pprof(&m.inspection, &m.snapshot[0], false);
}

static int try_all(struct buf *out, const struct made_inspection *m)
{
	const struct snapshot *s = &m->snapshot[m->n - 1];
	struct call_tree tree;
	int r = call_tree_make(&tree, &m->inspection);

	if (!r)
		r = collapsed_write(out, &tree, s, false);
	if (!r)
		r = heaptrack_write(out, &m->inspection, &tree, s);
	if (!r)
		r = pprof_write(out, &m->inspection, s, false);
	call_tree_release(&tree);
	return r;
}

TEST(no_memory)
{
	RELEASED(made_inspection, m);
	int r = -ENOMEM;

	made_inspection_compile(&m);
	for (long n = 0; r; n++) {
		struct buf out = BUF_INIT;

		nomem_after(n);
		r = try_all(&out, &m);
		ck_assert(nomem_failed() == (r != 0));
		nomem_after(-1);
		ck_assert(!r || r == -ENOMEM);
		buf_release(&out);
	}
}

TEST_MAIN(inspect_export);
