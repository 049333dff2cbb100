/* SPDX-License-Identifier: MIT */
#include "live/catalogue.h"
#include "live/reply.h"
#include "live/source.h"
#include "tests/support.h"
#include "tests/unpack.h"

#include <inttypes.h>

/* /api/v1/chart, as a reader replies to it. */

#define HEAD "buildbeat build 1\nstart_wall_ns: 1795261795000000000\nstart_mono_ns: 0\ncommand: make\n" \
	"cores: 2\ntool: make\ncwd: /src\n"
#define END "end_us: 9000000\nstatus: 0\n"
#define TASKS "buildbeat tasks 1\nopen\t0\ttop\t99999999\t0\t99999999\tmake\t4.3\t/src\tmake -j2\n" \
	"start\t1000000\ttop.1\t11\t0\tcompile\ta.o\t\tcc -c a.c\n" \
	"start\t1500000\ttop.2\t12\t1\tcompile\tb.o\t\tcc -c b.c\n" \
	"done\t3000000\ttop.1\t0\t1000000\t0\t1000\n"
#define MORE "fail\t4000000\ttop.2\t2\t1000000\t0\t1000\n" \
	"start\t5000000\ttop.4\t13\t0\tlink\tapp\t\tcc -o app a.o\n" \
	"done\t9000000\ttop.4\t0\t1000000\t0\t1000\nclose\t9000000\ttop\n"

struct asked {
	struct reply reply;
	int64_t data, elapsed_us;
	bool unchanged, running;
	struct unpacked u;	/* if it is not unchanged */
};

static struct catalogue catalogue;
static struct source source;

static void write_recording(const char *name, const char *tasks, bool ended)
{
	support_run(&(struct run){ 0 }, NULL, "mkdir -p %s/%s", support_tmpdir(), name);
	support_writes(support_path("%s/%s/build", support_tmpdir(), name), ended ? HEAD END : HEAD);
	support_writes(support_path("%s/%s/tasks.log", support_tmpdir(), name), tasks);
	/* That of another machine runs as long as its files are new. */
	if (ended)
		support_run(&(struct run){ 0 }, NULL, "touch -d 2020-01-01 %s/%s/*", support_tmpdir(), name);
}

static void start(const char *id)
{
	struct error err = { 0 };

	ck_assert_int_eq(catalogue_open(&catalogue, support_tmpdir(), &err), 0);
	ck_assert_int_eq(source_init(&source, &catalogue, id), 0);
}

static void stop(void)
{
	source_release(&source);
	catalogue_release(&catalogue);
}

static int64_t number_after(const char *text, const char *key)
{
	const char *p = strstr(text, key);

	ck_assert_ptr_nonnull(p);
	return strtoll(p + strlen(key), NULL, 10);
}

static void ask(struct asked *a, const char *query)
{
	struct error err = { 0 };
	char *end;

	*a = (struct asked){ 0 };
	source_update(&source, &err);
	reply_make(&a->reply, &source, "/api/v1/chart", query, strlen(query), false);
	if (a->reply.status != 200)
		return;
	ck_assert_str_eq(a->reply.type, "application/x-buildbeat");
	end = memchr(a->reply.body.data, '\n', a->reply.body.len);
	ck_assert_ptr_nonnull(end);
	*end = 0;
	a->data = number_after(a->reply.body.data, "\"data\":");
	a->elapsed_us = number_after(a->reply.body.data, "\"elapsed_us\":");
	a->unchanged = strstr(a->reply.body.data, "\"unchanged\":true");
	a->running = strstr(a->reply.body.data, "\"is_running\":true");
	if (a->unchanged)
		ck_assert_uint_eq(a->reply.body.len, (size_t)(end + 1 - a->reply.body.data));
	else
		unpack(&a->u, end + 1, a->reply.body.len - (size_t)(end + 1 - a->reply.body.data));
}

static void done(struct asked *a)
{
	unpacked_release(&a->u);
	buf_release(&a->reply.body);
}

/* The ids of tasks are in the data, which are sent once. */
TEST(data_and_ids)
{
	struct asked a;
	char have[40];

	write_recording("one", TASKS MORE, true);
	start("one");
	ask(&a, "rec=one");
	ck_assert_int_eq(a.reply.status, 200);
	ck_assert(!a.unchanged && !a.running);
	ck_assert_int_eq(a.elapsed_us, 9000000);
	ck_assert_int_eq(unpacked_json(&a.u, "tasks"), 3);
	ck_assert_ptr_nonnull(strstr(a.u.json, "\"instances\":[\"top\"]"));
	ck_assert_ptr_nonnull(strstr(a.u.json, "\"running\":false"));
	for (size_t i = 0; i < 3; i++) {
		static const int64_t seq[] = { 1, 2, 4 };

		ck_assert_int_eq(unpacked_at(&a.u, "seq", i), seq[i]);
		ck_assert_int_eq(unpacked_at(&a.u, "instance", i), 0);
	}
	snprintf(have, sizeof have, "rec=one&have=%" PRId64, a.data);
	done(&a);
	ask(&a, have);
	ck_assert(a.unchanged);
	done(&a);
	ask(&a, "rec=one&have=17");
	ck_assert(!a.unchanged);
	done(&a);
	stop();
}

/* A recording that got more tasks has other data. */
TEST(grown)
{
	struct asked a;
	int64_t before;

	write_recording("one", TASKS, false);
	start("one");
	ask(&a, "rec=one");
	ck_assert_int_eq(unpacked_json(&a.u, "tasks"), 2);
	ck_assert(a.running && strstr(a.u.json, "\"running\":true") && strstr(a.u.json, "1 running"));
	ck_assert_int_gt(a.elapsed_us, 9000000);
	before = a.data;
	done(&a);
	write_recording("one", TASKS MORE, true);
	for (int64_t tasks = 0; tasks != 3;) {	/* a reader rests after reading */
		ask(&a, "rec=one");
		tasks = unpacked_json(&a.u, "tasks");
		ck_assert(a.data != before || tasks == 2);
		done(&a);
	}
	stop();
}

TEST(compared)
{
	struct asked a;

	write_recording("one", TASKS MORE, true);
	write_recording("two", TASKS, false);
	start("one");
	ask(&a, "rec=one&with=two");
	ck_assert_int_eq(a.reply.status, 200);
	ck_assert_ptr_nonnull(strstr(a.u.json, "\"ghost\":{"));
	ck_assert_int_eq((int64_t)unpacked_numbers(&a.u, "other_wall")->n, 2);
	done(&a);
	ask(&a, "rec=one");
	ck_assert_ptr_nonnull(strstr(a.u.json, "\"ghost\":null"));
	done(&a);
	ask(&a, "rec=one&with=three");
	ck_assert_int_eq(a.reply.status, 404);
	done(&a);
	stop();
}

static const char *const wrong[] = {
	"rec=one&have=-1", "rec=one&have=x", "rec=one&have=99999999999999999999", "rec=one&have=1&have=2",
	"rec=one&with=..%2fone", "rec=one&with=%00", "rec=one&with=/etc",
};

TEST_EACH(wrong_parameters, wrong)
{
	struct asked a;

	write_recording("one", TASKS MORE, true);
	start("one");
	ask(&a, wrong[_i]);
	ck_assert_msg(a.reply.status == 400 || a.reply.status == 404, "%s: %d", wrong[_i], a.reply.status);
	ck_assert_ptr_nonnull(strstr(buf_str(&a.reply.body), "\"error\""));
	done(&a);
	stop();
}

TEST_MAIN(live_chart);
