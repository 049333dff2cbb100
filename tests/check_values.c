/* SPDX-License-Identifier: MIT */
#include "analyse/values.h"
#include "analyse/names.h"
#include "base/array.h"
#include "tests/paths.h"
#include "tests/recorded.h"
#include "tests/support.h"

/* The compared values of a build: recordings in, rows calculated by hand out. */

#define BUILD "buildbeat build 1\nstart_wall_ns: 1795254192308544204\nstart_mono_ns: 5\n"

static const struct { const char *name, *becomes; } names[] = {
	{ "store.o", "store.o" },
	{ "/tmp/ccAb12Xy.s", "/tmp/*.s" },
	{ "/tmp/tmp.Qe4rTz9w1K/lib/a.o", "/tmp/tmp.*/lib/a.o" },
	{ "gcc -o /tmp/cc8fGh21.o a.c", "gcc -o /tmp/*.o a.c" },
	{ "x --out=/var/tmp/build-1234567/a", "x --out=/var/tmp/build-*/a" },
	{ "/tmp/build/a.o", "/tmp/build/a.o" },
	{ "/tmp/project-2/a.o", "/tmp/project-2/a.o" },
	{ "/tmp/README/a.o", "/tmp/README/a.o" },
	{ "/tmp/Makefile", "/tmp/Makefile" },
	{ "/home/tmp/ccAb12Xy.s", "/home/tmp/ccAb12Xy.s" },
	{ "/tmp/", "/tmp/" },
	{ "a\\tb\\nc", "a b c" },
};

TEST_EACH(cleaned_names, names)
{
	RELEASED(recorded, r);
	RELEASED(buf, name = BUF_INIT);

	recorded_make(&r, BUILD, support_path("open\t0\tm\t10\t0\t10,9\tmake\t4.3\t/src\tmake\n"
		      "start\t1\tm.1\t11\t\t\t%s\t\tcc\n", names[_i].name), NULL);
	name_add_stable(&name, &r.rec, &r.rec.task[0]);
	ck_assert_str_eq(buf_str(&name), names[_i].becomes);
}

/* Long names are shortened between characters. */
TEST(long_names)
{
	char text[601];
	RELEASED(recorded, r);
	RELEASED(buf, name = BUF_INIT);

	for (size_t i = 0; i < 300; i++)
		memcpy(text + 2 * i, "\xc3\xa9", 2);
	text[600] = '\0';
	recorded_make(&r, BUILD, support_path("open\t0\tm\t10\t0\t10,9\tmake\t4.3\t/src\tmake\n"
		      "start\t1\tm.1\t11\t\t\tx%s\t\tcc\n", text), NULL);
	name_add_stable(&name, &r.rec, &r.rec.task[0]);
	ck_assert_uint_eq(name.len, 239);
}

static int64_t value(const struct values *f, const char *task, enum value_column c)
{
	size_t row = values_find(f, task);

	ck_assert_msg(row < f->n_tasks, "no task %s", task);
	return f->column[c] ? f->column[c][row] : -1;
}

static void make(struct values *f, const struct recorded *r)
{
	ck_assert_int_eq(values_make(f, &r->rec), 0);
	for (size_t i = 1; i < f->n_tasks; i++)
		ck_assert_int_lt(strcmp(f->task[i - 1].name, f->task[i].name), 0);
}

/* A target of two lines, a make within a make, a failed, a killed and an unfinished task. */
TEST(of_a_recording)
{
	static const struct {
		const char *task;
		enum value_column column;
		int64_t value;
	} rows[] = {
		{ "lib: a.o", COLUMN_WALL_US, 2000000 }, { "lib: a.o", COLUMN_USER_US, 1500000 },
		{ "lib: a.o", COLUMN_START_US, 1000000 }, { "lib: a.o", COLUMN_STATUS, 0 },
		{ "lib: a.o", COLUMN_WRITTEN_BYTES, 512000 }, { "lib: b.o", COLUMN_READ_BYTES, 4096 },
		/* rm, then ar: the sum, but the maximum of the memory */
		{ "lib: lib.a", COLUMN_RUNS, 2 }, { "lib: lib.a", COLUMN_WALL_US, 2000000 },
		{ "lib: lib.a", COLUMN_USER_US, 200000 }, { "lib: lib.a", COLUMN_MAX_RSS_KB, 8000 },
		{ "lib: lib.a", COLUMN_START_US, 4000000 },
		/* without the tasks of the make in lib */
		{ "lib", COLUMN_WALL_US, 1000000 }, { "lib", COLUMN_USER_US, 100000 },
		{ "lib", COLUMN_SYSTEM_US, 50000 }, { "lib", COLUMN_MINOR_FAULTS, -1 },
		{ "app", COLUMN_STATUS, 1 }, { "app", COLUMN_WALL_US, 2500000 },
		{ "slow", COLUMN_STATUS, STATUS_UNFINISHED },
	};
	RELEASED(recorded, r);
	RELEASED(values, f);

	recorded_read(&r, TOP_SRCDIR "/tests/data/recordings/nested");
	make(&f, &r);
	ck_assert_uint_eq(f.n_tasks, 7);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		ck_assert_msg(value(&f, rows[i].task, rows[i].column) == rows[i].value,
			      "%s: %s is %lld", rows[i].task, metric_column_name[rows[i].column],
			      (long long)value(&f, rows[i].task, rows[i].column));
	ck_assert_uint_eq(values_find(&f, "never"), f.n_tasks);
	ck_assert(values_get(&f, values_find(&f, "lib: a.o"), METRIC_CPU) == 1800000);
	ck_assert(isnan(values_get(&f, values_find(&f, "slow"), METRIC_MEMORY)));
	ck_assert_int_eq(f.total[TOTAL_WALL_US], 10000000);
	ck_assert_int_eq(f.total[TOTAL_USER_US], 6000000);
	ck_assert_int_eq(f.total[TOTAL_STATUS], 2);
	ck_assert_int_eq(f.total[TOTAL_TASKS], 8);
	ck_assert_int_eq(f.total[TOTAL_FAILED], 3);
	ck_assert(metric_total(f.total, METRIC_CPU) == 7000000);
	ck_assert_int_eq(f.start_s, 1795254192);
	ck_assert_str_eq(values_fact(&f, "branch"), "main");
	ck_assert_ptr_null(values_fact(&f, "boot_id"));
	ck_assert_str_eq(values_fact(&f, "uses"), "make 4.3");
}

/* Names of recipes are without versions. */
TEST(of_bitbake)
{
	RELEASED(recorded, r);
	RELEASED(values, f);
	size_t task;

	recorded_read(&r, TOP_SRCDIR "/tests/data/oe/genuine");
	make(&f, &r);
	ck_assert_uint_gt(f.n_packages, 1);
	for (size_t i = 0; i < f.n_packages; i++) {
		ck_assert(!i || strcmp(f.package[i - 1].name, f.package[i].name) < 0);
		ck_assert_ptr_nonnull(strchr(f.package[i].version, '-'));
	}
	task = values_find(&f, "image: do_compile");
	ck_assert_uint_lt(task, f.n_tasks);
	ck_assert_str_eq(values_version(&f, task), "1.0-r0");
	ck_assert_str_eq(values_version(&f, values_find(&f, "epoch-native: do_compile")),
			 "1:2.3+git0+abcdef1234-r0");
}

TEST(of_nothing)
{
	RELEASED(recorded, r);
	RELEASED(values, f);

	recorded_make(&r, "buildbeat build 1\n", NULL, NULL);
	make(&f, &r);
	ck_assert_uint_eq(f.n_tasks, 0);
	ck_assert_uint_eq(values_find(&f, "a"), 0);
	ck_assert(isnan(metric_total(f.total, METRIC_IO)));
}

/* For any recording rows and totals agree. */
TEST_LOOP(of_chance, 10)
{
	RELEASED(recorded, r);
	RELEASED(values, f);
	int64_t runs = 0;

	recorded_random(&r, 500, (uint64_t)_i);
	make(&f, &r);
	for (size_t i = 0; i < f.n_tasks; i++)
		runs += f.column[COLUMN_RUNS][i];
	ck_assert_int_eq(runs, f.total[TOTAL_TASKS]);
}

TEST_MAIN(values);
