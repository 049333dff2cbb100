/* SPDX-License-Identifier: MIT */
#include "analyse/profile_match.h"
#include "analyse/profile_view.h"
#include "convert/json_reader.h"
#include "report/profile_output.h"
#include "report/profile_page.h"
#include "tests/paths.h"
#include "tests/recorded.h"
#include "tests/support.h"

/* A recording with everything that a profile is made of. */
struct made {
	struct recorded r;
	struct chain chain;
	struct profile p;
};

static void finish(struct made *m, int64_t from_us, int64_t to_us)
{
	ck_assert_int_eq(chain_make(&m->chain, &m->r.sum), 0);
	m->p = (struct profile)PROFILE_INIT;
	ck_assert_int_eq(profile_add_tasks(&m->p, &m->r.sum, &m->chain.waits, from_us, to_us), 0);
}

static void make_random(struct made *m, uint64_t seed)
{
	recorded_random(&m->r, 1 + (unsigned)(seed * 11 % 600), seed);
	finish(m, -1, INT64_MAX);
}

static void make_text(struct made *m, const char *tasks)
{
	recorded_make(&m->r, "cwd: /src\nend_us: 2000000\nstatus: 0\n", tasks, NULL);
	finish(m, -1, INT64_MAX);
}

static void release(struct made *m)
{
	profile_release(&m->p);
	chain_release(&m->chain);
	recorded_release(&m->r);
}

static void random_wish(struct profile_wish *w, uint64_t *state)
{
	*w = (struct profile_wish){ .similar = random_below(state, 2), .reverse = random_below(state, 2) };
	w->merged = (unsigned)random_below(state, 1u << PROFILE_KEYS);
	for (uint64_t n = random_below(state, 4); n; n--) {
		uint8_t key = (uint8_t)random_below(state, PROFILE_KEYS);

		if (!memchr(w->group.column, key, w->group.n))
			w->group.column[w->group.n++] = key;
		w->merged &= ~(1u << key);
	}
	for (uint64_t n = random_below(state, 3); n; n--)
		w->sort.column[w->sort.n++] = (uint8_t)random_below(state, PROFILE_COLUMNS);
}

static void view_make(struct profile_view *v, const struct profile *p, const struct profile_wish *w)
{
	struct error err = { 0 };
	int r = profile_view_make(v, p, w, &err);

	ck_assert_msg(!r, "%d: %s", r, err.message);
}

/* Sums */

/* What the tasks say, added up without any row. */
static void totals(const struct made *m, int64_t *count, int64_t *living, int64_t *run,
		   int64_t *queue)
{
	*count = *living = *run = *queue = 0;
	for (uint32_t i = 0; i < m->r.rec.n_tasks; i++) {
		const struct task *t = &m->r.rec.task[i];
		int64_t wait_us = wait_queue_us(&m->chain.waits, &m->r.rec, i);

		if (t->start_us < 0 && t->queued_us < 0)
			continue;
		*count += t->end_us >= 0;
		*living += t->end_us < 0;
		*run += t->end_us >= 0 ? m->r.sum.nest[i].cost.wall_us * 1000 : 0;
		*queue += t->end_us >= 0 && wait_us >= 0 ? wait_us * 1000 : 0;
	}
}

static void check_parts(const struct profile_row *row)
{
	int64_t sum = 0;

	for (int k = 0; k < QUEUE_CAUSES; k++)
		sum += row->sum[PROFILE_WAIT + k];
	ck_assert_int_eq(sum, row->sum[PROFILE_QUEUE]);
}

static void check_view(const struct profile_view *v)
{
	for (size_t i = 0; i < v->n_nodes; i++) {
		const struct profile_node *n = &v->node[i];
		struct profile_row sum = PROFILE_ROW_INIT;
		uint32_t members = 0;

		check_parts(n->sum);
		if (profile_is_row(v, n))
			continue;
		for (uint32_t k = 0; k < n->n_children; k++) {
			const struct profile_node *child = &v->node[v->child[n->first_child + k]];

			ck_assert_uint_eq(child->parent, i);
			ck_assert_uint_eq(child->depth, n->depth + 1);
			profile_row_add(&sum, child->sum);
			members += child->n;
		}
		ck_assert_uint_eq(members, n->n);
		for (int k = 0; k < PROFILE_SUMS; k++)
			ck_assert_int_eq(sum.sum[k], n->sum->sum[k]);
		for (int k = 0; k < PROFILE_MAXES && n->n; k++)
			ck_assert_int_eq(sum.max[k], n->sum->max[k]);
	}
}

TEST(sums_are_totals)
{
	uint64_t state = 3;

	for (uint64_t seed = 0; seed < 120; seed++) {
		int64_t count, living, run, queue;
		struct profile_view v;
		struct profile_wish w;
		struct made m;

		make_random(&m, seed);
		totals(&m, &count, &living, &run, &queue);
		random_wish(&w, &state);
		view_make(&v, &m.p, &w);
		check_view(&v);
		ck_assert_int_eq(v.node[0].sum->sum[PROFILE_COUNT], count);
		ck_assert_int_eq(v.node[0].sum->sum[PROFILE_LIVING], living);
		ck_assert_int_eq(v.node[0].sum->sum[PROFILE_RUN], run);
		ck_assert_int_eq(v.node[0].sum->sum[PROFILE_QUEUE], queue);
		profile_view_release(&v);
		release(&m);
	}
}

/* Two moments that meet have together what the whole has. */
TEST(windows_add_up)
{
	for (uint64_t seed = 1; seed < 60; seed++) {
		struct profile first = PROFILE_INIT, second = PROFILE_INIT, rest = PROFILE_INIT;
		int64_t sum[2] = { 0 }, at_us;
		struct made m;

		make_random(&m, seed);
		at_us = m.r.sum.wall_us / 2;
		ck_assert_int_eq(profile_add_tasks(&first, &m.r.sum, &m.chain.waits, -1, at_us), 0);
		free(m.p.row_of);
		m.p.row_of = NULL;
		ck_assert_int_eq(profile_add_tasks(&second, &m.r.sum, &m.chain.waits, at_us, INT64_MAX), 0);
		for (size_t i = 0; i < first.n_rows; i++)
			sum[0] += first.row[i].sum[PROFILE_COUNT];
		for (size_t i = 0; i < second.n_rows; i++)
			sum[0] += second.row[i].sum[PROFILE_COUNT];
		for (size_t i = 0; i < m.p.n_rows; i++)
			sum[1] += m.p.row[i].sum[PROFILE_COUNT];
		ck_assert_int_eq(sum[0], sum[1]);
		/* and the whole without the first half has the second */
		ck_assert_int_eq(profile_difference(&rest, &first, &m.p), 0);
		for (size_t i = 0; i < rest.n_rows; i++)
			sum[1] -= rest.row[i].sum[PROFILE_COUNT];
		for (size_t i = 0; i < first.n_rows; i++)
			sum[1] -= first.row[i].sum[PROFILE_COUNT];
		ck_assert_int_eq(sum[1], 0);
		profile_release(&first);
		profile_release(&second);
		profile_release(&rest);
		release(&m);
	}
}

/* Differences */

TEST(nothing_differs_from_itself)
{
	for (uint64_t seed = 0; seed < 40; seed++) {
		struct profile d = PROFILE_INIT;
		struct made a, b;

		make_random(&a, seed);
		make_random(&b, seed);
		ck_assert_int_eq(profile_difference(&d, &a.p, &b.p), 0);
		ck_assert_uint_eq(d.n_rows, 0);
		profile_release(&d);
		release(&a);
		release(&b);
	}
}

#define OPEN "open\t0\tm\t10\t0\t10\tmake\t4.3\t/src\tmake -j2\n"
#define RUN(n, from, to, name) "start\t" #from "000\tm." #n "\t\t\t\t" name "\t\tcc -c x.c\n" \
	"done\t" #to "000\tm." #n "\t0\t5000\t1000\t2048\n"

static int64_t count_of(const struct profile *p, const char *name, enum profile_sum k)
{
	int64_t n = 0;

	for (size_t i = 0; i < p->n_rows; i++)
		if (!strcmp(profile_text(p, p->row[i].key[PROFILE_NAME]), name))
			n += p->row[i].sum[k];
	return n;
}

TEST(difference_of_two)
{
	struct profile d = PROFILE_INIT;
	struct profile_view v;
	struct profile_wish w = { .similar = true };
	struct made a, b;

	make_text(&a, OPEN RUN(1, 10, 20, "a") RUN(2, 30, 50, "b") RUN(3, 60, 65, "gone"));
	make_text(&b, OPEN RUN(1, 10, 20, "a") RUN(2, 30, 57, "b") RUN(3, 60, 61, "new")
		  RUN(4, 70, 72, "new"));
	ck_assert_int_eq(profile_difference(&d, &a.p, &b.p), 0);
	ck_assert_int_eq(count_of(&d, "new", PROFILE_COUNT), 2);
	ck_assert_int_eq(count_of(&d, "new", PROFILE_RUN), 3000000);
	ck_assert_int_eq(count_of(&d, "gone", PROFILE_COUNT), -1);
	ck_assert_int_eq(count_of(&d, "b", PROFILE_COUNT), 0);
	ck_assert_int_eq(count_of(&d, "b", PROFILE_RUN), 7000000);
	for (size_t i = 0; i < d.n_rows; i++)
		ck_assert_str_ne(profile_text(&d, d.row[i].key[PROFILE_NAME]), "a");
	view_make(&v, &d, &w);
	ck_assert(isnan(profile_view_number(&v, &v.node[0], PROFILE_C_MAX)));
	ck_assert(isnan(profile_view_number(&v, &v.node[0], PROFILE_C_P50)));
	/* 2 - 1 runs, 3000 - 5000 + 7000 us */
	ck_assert_double_eq(profile_view_number(&v, &v.node[0], PROFILE_C_MEAN), 5000000);
	profile_view_release(&v);
	profile_release(&d);
	release(&a);
	release(&b);
}

/* Percentiles */

static int by_value(const void *a, const void *b)
{
	return array_order(*(const int64_t *)a, *(const int64_t *)b);
}

TEST(percentiles)
{
	uint64_t state = 9;

	for (int i = 0; i < 300; i++) {
		struct profile_value value[60];
		size_t n = (size_t)random_below(&state, 60), all = 0;
		static int64_t sorted[60 * 20];

		for (size_t k = 0; k < n; k++) {
			value[k] = (struct profile_value){ (int64_t)random_below(&state, 50),
				1 + (int64_t)random_below(&state, i % 2 ? 20 : 1) };
			for (int64_t c = 0; c < value[k].n; c++)
				sorted[all++] = value[k].value;
		}
		qsort(sorted, all, sizeof *sorted, by_value);
		for (double q = .05; q < 1; q += .45) {
			/* the first of which at least the share q is not larger */
			size_t at = (size_t)ceil(q * (double)all - 1e-9);

			ck_assert_int_eq(profile_quantile(value, n, q),
					 all ? sorted[at ? at - 1 : 0] : -1);
		}
	}
}

TEST(percentiles_of_groups)
{
	uint64_t state = 5;

	for (uint64_t seed = 1; seed < 40; seed++) {
		struct profile_wish w;
		struct profile_view v;
		struct made m;

		make_random(&m, seed);
		random_wish(&w, &state);
		view_make(&v, &m.p, &w);
		for (size_t i = 0; i < v.n_nodes; i++) {
			const struct profile_node *n = &v.node[i];
			int64_t *run = malloc((m.r.rec.n_tasks + 1) * sizeof *run);
			size_t all = 0, at;

			for (size_t t = 0; t < m.r.rec.n_tasks; t++) {
				for (uint32_t k = 0; k < n->n; k++)
					if (m.p.row_of[t] == v.member[n->first + k] &&
					    m.r.rec.task[t].end_us >= 0)
						run[all++] = m.r.sum.nest[t].cost.wall_us * 1000;
			}
			qsort(run, all, sizeof *run, by_value);
			at = (size_t)ceil(.95 * (double)all - 1e-9);
			if (all)
				ck_assert_double_eq(profile_view_number(&v, n, PROFILE_C_P95),
						    (double)run[at ? at - 1 : 0]);
			else
				ck_assert(isnan(profile_view_number(&v, n, PROFILE_C_P95)));
			free(run);
		}
		profile_view_release(&v);
		release(&m);
	}
}

/* Sorting, filtering */

TEST(sorted)
{
	uint64_t state = 12;

	for (uint64_t seed = 0; seed < 60; seed++) {
		struct profile_wish w;
		struct profile_view v;
		struct made m;

		make_random(&m, seed);
		random_wish(&w, &state);
		w.group.n = 0;
		w.sort = (struct profile_list){ 1, { (uint8_t)(PROFILE_FIRST_NUMBER +
			random_below(&state, PROFILE_COLUMNS - PROFILE_FIRST_NUMBER)) } };
		view_make(&v, &m.p, &w);
		for (size_t n = profile_view_sort(&v, &v.node[0], 20), i = 1; i < n; i++) {
			double a = profile_view_number(&v, &v.node[v.child[i - 1]], w.sort.column[0]);
			double b = profile_view_number(&v, &v.node[v.child[i]], w.sort.column[0]);

			if (w.reverse)
				ck_assert(isnan(a) || (!isnan(b) && a <= b));
			else
				ck_assert(isnan(b) || (!isnan(a) && a >= b));
		}
		profile_view_release(&v);
		release(&m);
	}
}

static const struct { const char *filter; unsigned rows; } filters[] = {
	{ "A.o", 1 }, { "lib", 2 }, { "/^lib\\/.*o$/", 1 }, { "/^(a|b)\\.o$/", 1 }, { "nothing", 0 },
	{ "compile", 3 }, { "make", 3 }, { "worker-2", 1 }, { "20 ms", 1 }, { "/x|20 ms/", 2 }, { "", 3 },
};

#define THREE OPEN "start\t10000\tm.1\t\t0\t\ta.o\t\tcc -c a.c\ndone\t30000\tm.1\n" \
	"start\t10000\tm.2\t\t1\t\tlib/b.o\t\tcc -c b.c\ndone\t20000\tm.2\n" \
	"start\t40000\tm.3\t\t0\t\tlib\\\\x\t\tcc -c c.c\ndone\t55000\tm.3\n"

TEST_EACH(filtered, filters)
{
	struct profile_wish w = { .filter = filters[_i].filter };
	struct profile_view v;
	struct made m;

	make_text(&m, THREE);
	view_make(&v, &m.p, &w);
	ck_assert_msg(v.n_members == filters[_i].rows, "%s: %zu rows", w.filter, v.n_members);
	profile_view_release(&v);
	release(&m);
}

TEST(merged_threads)
{
	struct profile_wish w = { .similar = true, .group = { 1, { PROFILE_DIED } } };
	struct profile_view v;
	struct made m;
	size_t n;

	make_text(&m, THREE);
	view_make(&v, &m.p, &w);
	ck_assert_uint_eq(v.node[0].n_children, 1);
	ck_assert_str_eq(profile_view_text(&v, &v.node[1], PROFILE_DIED, &n), "worker-*");
	ck_assert_ptr_null(profile_view_text(&v, &v.node[0], PROFILE_NAME, &n));
	ck_assert_uint_eq(n, 3);
	profile_view_release(&v);
	w.similar = false;
	view_make(&v, &m.p, &w);
	ck_assert_uint_eq(v.node[0].n_children, 2);
	profile_view_release(&v);
	release(&m);
}

/* A worker's number is free when its task has ended. */
TEST(workers)
{
	struct made m;

	make_text(&m, OPEN RUN(1, 10, 20, "a") RUN(2, 15, 50, "b") RUN(3, 20, 30, "c")
		  RUN(4, 35, 40, "d"));
	for (size_t i = 0; i < m.p.n_rows; i++) {
		const struct profile_row *row = &m.p.row[i];
		const char *name = profile_text(&m.p, row->key[PROFILE_NAME]);

		ck_assert_str_eq(profile_text(&m.p, row->key[PROFILE_DIED]),
				 *name == 'b' ? "worker-2" : "worker-1");
		ck_assert_str_eq(profile_text(&m.p, row->key[PROFILE_BORN]), "make");
	}
	release(&m);
}

/* Tallies of hosts */

TEST(tallies)
{
	static const uint64_t histogram[TALLY_BUCKETS] = { [11] = 3, [21] = 1 };
	struct tally_row rows[] = {
		{ .location = 0, .birth = 0, .death = 1, .count = 4, .run = { 2000000, 1048576, 1024,
		  histogram }, .queue = { 9000, 3000, 1000, NULL }, .self_total = 1500000 },
		{ .location = 0, .birth = 0, .death = TALLY_STILL_ALIVE, .count = 2 },
	};
	struct tally_location location = { "work()", "/src/lib/a.c", 7, 0 };
	struct tally_thread threads[] = { { "main", 0 }, { "Worker-3", 0 } };
	struct tally_process process = { "m", 10, "wall", "ns", "", "", 0, false, false };
	const char *phase = "compile";
	struct tally_table t = { .n_rows = 2, .row = rows, .n_locations = 1, .location = &location,
		.n_threads = 2, .thread = threads, .n_phases = 1, .phase = &phase, .n_processes = 1,
		.process = &process, .from_us = -1 };
	struct profile_wish w = { .group = { 1, { PROFILE_KIND } } };
	struct profile_view v;
	struct made m;

	make_text(&m, THREE);
	ck_assert_int_eq(profile_add_tallies(&m.p, &t, &m.r.rec), 0);
	ck_assert_int_eq(count_of(&m.p, "work()", PROFILE_COUNT), 4);
	ck_assert_int_eq(count_of(&m.p, "work()", PROFILE_LIVING), 2);
	ck_assert_int_eq(count_of(&m.p, "work()", PROFILE_RUN), 2000000);
	ck_assert_int_eq(count_of(&m.p, "work()", PROFILE_SELF), 1500000);
	ck_assert_int_eq(count_of(&m.p, "work()", PROFILE_QUEUE), 9000);
	view_make(&v, &m.p, &w);
	ck_assert_uint_eq(v.node[0].n_children, 2);
	for (size_t i = 0; i < v.n_nodes; i++) {
		size_t n;
		const char *kind = profile_view_text(&v, &v.node[i], PROFILE_KIND, &n);

		check_parts(v.node[i].sum);
		if (v.node[i].depth == 1 && kind && !strcmp(kind, "tally"))
			/* the middle of 1024 to 2047 ns */
			ck_assert_double_eq(profile_view_number(&v, &v.node[i], PROFILE_C_P50), 1536);
	}
	profile_view_release(&v);
	release(&m);
}

/* Outputs */

static const struct style plain = { 0 };

static int write_text(struct buf *out, struct profile_view *v, const struct profile_list *columns,
		      size_t most, const struct style *style)
{
	struct doc d;
	int r;

	doc_init_terminal(&d, out, style);
	r = profile_doc(&d, v, columns, most, false);
	doc_release(&d);
	return r;
}

TEST(text_fits)
{
	for (uint64_t seed = 0; seed < 30; seed++) {
		const struct style style = { .width = 40 + (unsigned)seed * 5 };
		struct profile_wish w = { .similar = true, .group = { seed % 3, { PROFILE_KIND,
			PROFILE_NAME } } };
		struct profile_view v;
		struct buf out = BUF_INIT;
		struct made m;

		make_random(&m, seed);
		view_make(&v, &m.p, &w);
		ck_assert_int_eq(write_text(&out, &v, &(struct profile_list){ .n = 0 }, 0, &style), 0);
		ck_assert_ptr_nonnull(strstr(buf_str(&out), "worth of data\n"));
		profile_view_release(&v);
		buf_release(&out);
		release(&m);
	}
}

#define GOLDEN OPEN RUN(1, 10, 20, "a.o") RUN(2, 12, 50, "lib/b.o") \
	"place\t12000\tm.2\tlib/Makefile\t7\n" RUN(3, 21, 31, "c.o") \
	"start\t52000\tm.4\t\t\t\tprog\t\tcc -o prog a.o\nafter\t52000\tm.4\ta.o\tlib/b.o\tc.o\n" \
	"done\t92000\tm.4\t0\t30000\t2000\t9000\nstart\t93000\tm.5\t\t\t\ttest \"<\\\\n>\"\t\tsh t\n"

/* Nobody waited for a process of one task: what it used is the last sample. */
TEST(lower_bound)
{
	struct profile_wish w = { .similar = true };
	struct profile_view v;
	struct buf out = BUF_INIT;
	struct made m;

	recorded_make(&m.r, "cwd: /src\nend_us: 2000000\n", OPEN
		      RUN(1, 10, 1500, "a.o") RUN(2, 20, 40, "b.o"),
		      "@1000 0=m.1:100,90\n");
	finish(&m, -1, INT64_MAX);
	view_make(&v, &m.p, &w);
	ck_assert_int_eq(write_text(&out, &v, &(struct profile_list){ .n = 0 }, 0, &plain), 0);
	ck_assert_ptr_nonnull(strstr(buf_str(&out), "\nCPU time and storage are at least as shown: of 1 task, they "
				     "are the last sample\n"));
	profile_view_release(&v);
	buf_release(&out);
	release(&m);
}

TEST_LOOP(golden, 2)
{
	struct profile_wish w = { .similar = true, .sort = { 2, { PROFILE_C_COUNT, PROFILE_C_RUN } } };
	struct profile_list columns = { 0 };
	struct error err = { 0 };
	struct profile_view v;
	struct buf out = BUF_INIT;
	struct made m;

	make_text(&m, GOLDEN);
	w.group.n = _i > 0;
	w.group.column[0] = PROFILE_KIND;
	ck_assert_int_eq(profile_list_parse(&columns, "count,living,run,p50,queue,worker,other,cpu,memory,"
					    "name,file,line,born,died", false, &err), 0);
	view_make(&v, &m.p, &w);
	ck_assert_int_eq(write_text(&out, &v, &columns, 0, &plain), 0);
	support_is_golden(&out, _i ? "profile_grouped.txt" : "profile.txt");
	profile_view_release(&v);
	buf_release(&out);
	release(&m);
}

TEST(json_golden)
{
	struct profile_wish w = { .group = { 2, { PROFILE_PID, PROFILE_HOST } },
		.sort = { 1, { PROFILE_C_RUN } } };
	struct profile_view v;
	struct buf out = BUF_INIT;
	struct made m;

	make_text(&m, GOLDEN);
	ck_assert_int_eq(profile_pair_tasks(&m.p, &m.r.sum, &m.chain), 0);
	view_make(&v, &m.p, &w);
	ck_assert_int_eq(profile_json_write(&out, &v, "rec", 0), 0);
	support_is_golden(&out, "profile.json");
	profile_view_release(&v);
	buf_release(&out);
	release(&m);
}

/* Names of any bytes are data of the page, never its markup. */
TEST(page_of_hostile_names)
{
	static const char *const bad[] = { "</script><script>alert(1)</script>", "<!--", "]]>",
		"&lt;img src=x onerror=alert(1)>", "\xff\xfe", "\x01\x02" };
	struct buf tasks = BUF_INIT, out = BUF_INIT;
	struct made m;

	buf_adds(&tasks, OPEN);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		buf_addf(&tasks, "start\t%zu\tm.%zu\t\t\t\t%s\ndone\t%zu\tm.%zu\n", i, i + 1, bad[i],
			 i + 5, i + 1);
	make_text(&m, buf_str(&tasks));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		const struct profile_snapshot s = { .title = bad[i], .profile = &m.p,
			.dir = bad[i], .chart = bad[i] };
		const struct profile_page page = { .title = bad[i], .snapshot = &s, .n_snapshots = 1,
			.wish = { .filter = bad[i] } };

		buf_clear(&out);
		ck_assert_int_eq(profile_page_write(&out, &page), 0);
		ck_assert_ptr_null(strstr(buf_str(&out), "alert(1)</script>"));
		ck_assert_ptr_null(strstr(buf_str(&out), "<img"));
		/* the name of SVG, which is no address, is the only one */
		for (const char *p = buf_str(&out); (p = strstr(p, "http://")); p++)
			ck_assert_int_eq(strncmp(p, "http://www.w3.org/2000/svg\"", 27), 0);
		ck_assert_ptr_null(strstr(buf_str(&out), "https://"));
	}
	buf_release(&tasks);
	buf_release(&out);
	release(&m);
}

TEST(ten_thousand_locations)
{
	struct profile_wish w = { .similar = true, .group = { 1, { PROFILE_KIND } },
		.sort = { 2, { PROFILE_C_P95, PROFILE_NAME } } };
	struct buf tasks = BUF_INIT, out = BUF_INIT;
	struct profile_view v;
	struct made m;

	buf_adds(&tasks, OPEN);
	for (int i = 1; i <= 10000; i++)
		buf_addf(&tasks, "start\t%d\tm.%d\t\t%d\t\tdir%d/name%d\n"
			 "place\t%d\tm.%d\tMakefile\t%d\ndone\t%d\tm.%d\n", 10 * i, i, i % 100, i % 7, i,
			 10 * i, i, i, 10 * i + 5, i);
	make_text(&m, buf_str(&tasks));
	ck_assert_uint_eq(m.p.n_rows, 10000);
	view_make(&v, &m.p, &w);
	check_view(&v);
	ck_assert_int_eq(write_text(&out, &v, &(struct profile_list){ .n = 0 }, 5, &plain), 0);
	ck_assert_ptr_nonnull(strstr(buf_str(&out), "10000 rows (9995 hidden)"));
	profile_view_release(&v);
	buf_release(&tasks);
	buf_release(&out);
	release(&m);
}

TEST_MAIN(profile);
