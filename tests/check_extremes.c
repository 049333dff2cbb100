/* SPDX-License-Identifier: MIT */
/*
 * Recordings with the largest and smallest numbers anywhere: show and the chart draw what
 * they can. A build with sanitizers also sees overflows.
 */
#include "analyse/values.h"
#include "base/array.h"
#include "convert/convert.h"
#include "report/show_output.h"
#include "tests/drawn.h"
#include "tests/recorded.h"
#include "tests/support.h"

static const char *const files[] = {
	"build", "tasks.log", "proc_tasks.log", "proc_stat.log", "proc_meminfo.log",
	"proc_diskstats.log", "proc_pressure.log",
};

static const char *const edges[] = {
	"9223372036854775807", "-9223372036854775808", "4611686018427387904", "-1", "0",
	"18446744073709551615", "9007199254740993", "2147483648", "1000000000000000",
};

/* The file with one in `often` of its numbers replaced; names of formats stay. */
static void make_extreme(const char *from, const char *to, uint64_t often, uint64_t *state)
{
	RELEASED(buf, in, out = BUF_INIT);
	const char *p;

	support_read(&in, from);
	p = strchr(buf_str(&in), '\n');
	ck_assert_ptr_nonnull(p);
	buf_add(&out, in.data, (size_t)(p - in.data));
	while (*p) {
		size_t n = strspn(p, "0123456789");

		if (n && !random_below(state, often))
			buf_adds(&out, edges[random_below(state, ARRAY_SIZE(edges))]);
		else
			buf_add(&out, p, n ? n : 1);
		p += n ? n : 1;
	}
	support_write(to, out.data, out.len);
}

static void show(const struct summary *sum)
{
	const struct selection all = { 0 };
	const struct style style = { .width = 80 };
	RELEASED(buf, out = BUF_INIT);
	RELEASED(chain, chain);
	RELEASED(answer, answer);
	RELEASED(view, v);
	const struct build_output output = { 0 };
	struct idle idle;
	struct doc d;

	ck_assert_int_eq(view_make(&v, sum, &all), 0);
	idle_find(&idle, sum->rec);
	ck_assert_int_eq(chain_make(&chain, sum), 0);
	ck_assert_int_eq(answer_make(&answer, sum, &chain, &idle), 0);
	for (int i = 0; i <= VALUE_SORTS; i++) {
		struct show_options o = {
			.sort = (enum value)i, .top = 10, .tasks = i % 2,
			.chain = &chain, .answer = &answer, .output = &output,
		};

		buf_clear(&out);
		doc_init_terminal(&d, &out, &style);
		ck_assert_int_eq(show_doc(&d, &v, &o), 0);
		doc_release(&d);
		buf_clear(&out);
		ck_assert_int_eq(show_json(&out, &v, &o), 0);
	}
	buf_clear(&out);
	drawn(&out, sum, sum);
	ck_assert_uint_gt(out.len, 1000);
}

TEST_LOOP(any_number, 120)
{
	uint64_t state = (uint64_t)_i;
	RELEASED(recording, rec = RECORDING_INIT);
	struct error err = { 0 };
	RELEASED(values, values = VALUES_INIT);
	struct summary sum;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		make_extreme(support_path(TOP_SRCDIR "/tests/data/recordings/nested/%s", files[i]),
			     support_path("%s/%s", support_tmpdir(), files[i]),
			     (uint64_t[]){ 2, 10, 40 }[_i % 3], &state);
	/* Damage is reported; only the rest is shown. */
	if (recording_read(&rec, support_tmpdir(), &convert_formats, &err)) {
		ck_assert_str_ne(err.message, "");
		return;
	}
	ck_assert_int_eq(summary_make(&sum, &rec), 0);
	show(&sum);
	ck_assert_int_eq(values_make(&values, &rec), 0);
	summary_release(&sum);
}

TEST_MAIN(extremes);
