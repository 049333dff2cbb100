/* SPDX-License-Identifier: MIT */
#include "convert/builder.h"
#include "recording/recording_write.h"
#include "tests/recorded.h"
#include "tests/same.h"
#include "tests/support.h"

static uint32_t add_task(struct builder *b, uint32_t instance, const char *name,
			 int64_t start_us, int64_t end_us, const char *command)
{
	struct builder_task t;

	builder_task_init(&t);
	t.name = name;
	t.start_us = start_us;
	t.end_us = end_us;
	t.command = command;
	t.status = 0;
	return builder_task(b, instance, &t);
}

/* A ninja, and a make inside its second task, added in any order. */
static void build(struct recording *rec, int64_t wall_ns)
{
	struct builder b;
	uint32_t ninja, make, late, sub;

	builder_init(&b, rec, "some.log");
	ninja = builder_instance(&b, "ninja", "1.11", NULL, NO_INDEX);
	late = add_task(&b, ninja, "late.o", 9000000, 9500000, "cc -c late.c -o late.o");
	sub = add_task(&b, ninja, "sub", 5000000, 8000000, "make -C sub");
	make = builder_instance(&b, "make", NULL, "make -C sub", sub);
	add_task(&b, make, "inner", 5100000, 7900000, "weird \t\n text");
	builder_after(&b, late, "sub");
	builder_after(&b, sub, "zero");
	builder_after(&b, late, "inner");
	builder_out(&b, late, "late.d");
	builder_span(&b, ninja, late, 9100000, 9200000, "Frontend");
	builder_note(&b, make, NO_INDEX, 6000000, "a note");
	builder_build(&b, "tool", "ninja");
	builder_warn(&b, "%d lines are strange", 3);
	if (wall_ns >= 0)
		builder_start_wall(&b, wall_ns);
	ck_assert_int_eq(builder_finish(&b), 0);
}

TEST(order_and_times)
{
	RELEASED(recording, rec);

	build(&rec, -1);
	ck_assert_uint_eq(rec.n_tasks, 3);
	ck_assert_str_eq(rec.task[0].name, "sub");
	ck_assert_str_eq(rec.task[1].name, "inner");
	ck_assert_str_eq(rec.task[2].name, "late.o");
	ck_assert_int_eq(rec.task[0].start_us, 0);
	ck_assert_int_eq(rec.task[1].start_us, 100000);
	ck_assert_int_eq(rec.task[2].end_us, 4500000);
	ck_assert_int_eq(rec.end_us, 4500000);
	ck_assert_int_eq(rec.span[0].begin_us, 4100000);
	ck_assert_uint_eq(rec.span[0].task, 2);
	ck_assert_int_eq(rec.note[0].time_us, 1000000);
	ck_assert_uint_eq(rec.instance[1].parent_task, 0);
	ck_assert(rec.task[0].hosts && !rec.task[1].hosts);
	ck_assert_int_eq(rec.instance[0].open_us, 0);
	ck_assert_int_eq(rec.instance[0].close_us, 4500000);
	ck_assert_int_eq(rec.instance[1].open_us, 100000);
	ck_assert_uint_eq(rec.task[2].n_after, 2);
	ck_assert_str_eq(rec.after[rec.task[2].first_after], "sub");
	ck_assert_str_eq(rec.after[rec.task[2].first_after + 1], "inner");
	ck_assert_str_eq(rec.after[rec.task[0].first_after], "zero");
	ck_assert_uint_eq(rec.task[2].n_out, 1);
	ck_assert_str_eq(rec.out[rec.task[2].first_out], "late.d");
	ck_assert_str_eq(rec.task[2].kind, "compile");
	ck_assert_str_eq(rec.task[0].kind, "make");
	ck_assert_str_eq(recording_command(&rec, &rec.task[1]), "weird \t\n text");
	ck_assert_str_eq(recording_command(&rec, &rec.task[0]), "make -C sub");
}

TEST(wall_clock_is_kept)
{
	RELEASED(recording, rec);

	build(&rec, 1700000000000000000);
	ck_assert_int_eq(rec.task[0].start_us, 5000000);
	ck_assert_str_eq(recording_build(&rec, "start_wall_ns"), "1700000000000000000");
	ck_assert_ptr_nonnull(recording_build(&rec, "start"));
}

TEST(written_and_read)
{
	struct recording rec, again;
	struct error err = { 0 };
	char path[PATH_MAX];

	build(&rec, 1700000000000000000);
	ck_assert_int_eq(recording_write(&rec, STORE_ACCESS_USER, support_tmpdir(), NULL, path, &err), 0);
	ck_assert_str_eq(path, support_path("%s/20231114221320", support_tmpdir()));
	recorded_open(&again, path, NULL);
	same_recordings(&rec, &again);
	recording_release(&again);
	ck_assert_int_eq(recording_write(&rec, STORE_ACCESS_USER, support_tmpdir(), NULL, path, &err), 0);
	ck_assert_str_eq(path, support_path("%s/20231114221320-2", support_tmpdir()));
	recording_release(&rec);
}

TEST(nothing_is_a_recording_too)
{
	RELEASED(recording, rec);
	struct builder b;

	builder_init(&b, &rec, "empty");
	ck_assert_int_eq(builder_finish(&b), 0);
	ck_assert_uint_eq(rec.n_tasks, 0);
	ck_assert_int_eq(rec.end_us, 0);
}

TEST_MAIN(builder);
