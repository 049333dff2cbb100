/* SPDX-License-Identifier: MIT */
/* Ids of recordings, tasks and spans; W3C's traceparent, with the cases of its test suite. */
#include "base/array.h"
#include "recording/identity.h"
#include "tests/support.h"

#define TRACE "0af7651916cd43dd8448eb211c80319c"
#define PARENT "b7ad6b7169203331"

static const struct {
	const char *text;
	int flags;		/* -1: wrong */
} vectors[] = {
	{ "00-" TRACE "-" PARENT "-01", 1 },
	{ "00-" TRACE "-" PARENT "-00", 0 },
	{ "00-" TRACE "-" PARENT "-ff", 255 },
	{ "cc-" TRACE "-" PARENT "-01", 1 },
	{ "cc-" TRACE "-" PARENT "-01-what-the-future-will-be-like", 1 },
	{ "cc-" TRACE "-" PARENT "-01.what-the-future-will-not-be-like", -1 },
	{ "cc-" TRACE "-" PARENT "-01x", -1 },
	{ "ff-" TRACE "-" PARENT "-01", -1 },
	{ "00-" TRACE "-" PARENT "-01-", -1 },
	{ "00-" TRACE "-" PARENT "-01-what-the-future-will-be-like", -1 },
	{ "00-" TRACE "-" PARENT "-0", -1 },
	{ "00-" TRACE "-" PARENT "-.0", -1 },
	{ "00-" TRACE "-" PARENT "-0G", -1 },
	{ "00-" TRACE "-" PARENT "-0A", -1 },
	{ "00-" TRACE "-" PARENT "", -1 },
	{ "00-" TRACE "-B7ad6b7169203331-01", -1 },
	{ "00-0Af7651916cd43dd8448eb211c80319c-" PARENT "-01", -1 },
	{ "00-00000000000000000000000000000000-" PARENT "-01", -1 },
	{ "00-" TRACE "-0000000000000000-01", -1 },
	{ "00-" TRACE "1-" PARENT "-01", -1 },
	{ "00-" TRACE "-" PARENT "1-01", -1 },
	{ "00-.af7651916cd43dd8448eb211c80319c-" PARENT "-01", -1 },
	{ "00_" TRACE "-" PARENT "-01", -1 },
	{ ".0-" TRACE "-" PARENT "-01", -1 },
	{ "0-" TRACE "-" PARENT "-01", -1 },
	{ " 00-" TRACE "-" PARENT "-01", -1 },
	{ "00-" TRACE "-" PARENT "-01 ", -1 },
	{ "", -1 }, { "00", -1 }, { "00-", -1 },
};

TEST_EACH(traceparent, vectors)
{
	const char *text = vectors[_i].text;
	struct identity id = { .flags = 77 };
	char again[IDENTITY_TRACEPARENT_SIZE];

	ck_assert_int_eq(identity_parse(&id, slice_of(text)), vectors[_i].flags >= 0);
	ck_assert_uint_eq(id.flags, vectors[_i].flags < 0 ? 77 : vectors[_i].flags);
	if (vectors[_i].flags < 0)
		return;
	ck_assert_str_eq(id.trace, TRACE);
	ck_assert_uint_eq(id.parent, UINT64_C(0xb7ad6b7169203331));
	identity_traceparent(again, &id, id.parent);
	ck_assert_str_eq(again, support_path("00-" TRACE "-" PARENT "-0%d", vectors[_i].flags & 1));
}

TEST(tracestate)
{
	char text[514];

	memset(text, 'a', sizeof text);
	ck_assert(identity_is_tracestate(slice_of("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE")));
	ck_assert(identity_is_tracestate((struct slice){ text, 512 }));
	ck_assert(!identity_is_tracestate((struct slice){ text, 513 }));
	ck_assert(!identity_is_tracestate(slice_of("")));
	ck_assert(!identity_is_tracestate(slice_of("a=b\n")));
	ck_assert(!identity_is_tracestate(slice_of("a=\xff")));
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The same in every process; different for builds that started apart, tasks and spans. */
TEST(ids)
{
	static const char *const build[] = {
		"buildbeat build 1\nstart_wall_ns: 1700000000000000000\nstart_mono_ns: 5\n",
		"buildbeat build 1\nstart_wall_ns: 1700000000000000000\nstart_mono_ns: 6\n",
		"buildbeat build 1\nstart_wall_ns: 1700000000000000001\nstart_mono_ns: 5\n"
		"traceparent: 00-" TRACE "-" PARENT "-01\n",
		"buildbeat build 1\nstart_wall_ns: 1700000000000000001\nstart_mono_ns: 6\n"
		"traceparent: 00-" TRACE "-" PARENT "-01\ntraceparent: bad\n",
	};
	size_t n = 0, each = 50000;
	uint64_t *all = malloc((each * 2 + 8) * ARRAY_SIZE(build) * sizeof *all);
	struct identity id[ARRAY_SIZE(build)];

	for (size_t i = 0; i < ARRAY_SIZE(build); i++) {
		support_writes(support_path("%s/build", support_tmpdir()), build[i]);
		ck_assert(identity_of_path(&id[i], support_tmpdir()));
		all[n++] = identity_build(&id[i]);
		all[n++] = identity_hash(&id[i], "a1", 0, 0);
		all[n++] = identity_hash(&id[i], "a2", 0, 0);
		for (uint64_t k = 1; k <= each; k++) {
			all[n++] = identity_hash(&id[i], "a1", k, 0);
			all[n++] = identity_hash(&id[i], "a1", k % 7, k);
		}
	}
	ck_assert_str_ne(id[0].trace, id[1].trace);
	ck_assert_str_eq(id[2].trace, TRACE);
	ck_assert_str_eq(id[3].trace, TRACE);
	ck_assert_uint_eq(id[0].parent, 0);
	qsort(all, n, sizeof *all, by_id);
	ck_assert_uint_ne(all[0], 0);
	for (size_t i = 1; i < n; i++)
		ck_assert_uint_ne(all[i], all[i - 1]);
	free(all);
	/* exporters of other versions must find the same */
	ck_assert_str_eq(id[0].trace, "9db75943cf09636b0163a0b3d4c71097");
	ck_assert_uint_eq(identity_hash(&id[0], "a1", 1, 2), UINT64_C(0xf0b4647e7984889e));
}

/* Collectors and scripts keep them, so each version computes the same ids. */
TEST(lasting_ids)
{
	static const char *const build[] = {
		"start_wall_ns: 1700000000000000000\nstart_mono_ns: 5\n",
		"start_wall_ns: 1700000000000000000\nstart_mono_ns: 5\ntraceparent: 00-" TRACE "-" PARENT "-01\n",
		"start_wall_ns: -1700000000000000000\n",
	};
	struct buf b = BUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(build); i++) {
		char parent[IDENTITY_TRACEPARENT_SIZE], hex[IDENTITY_HEX_SIZE];
		const char *text = support_path("buildbeat build 1\n%s", build[i]);
		struct identity id = { .flags = 0 };

		buf_addf(&b, "%d", identity_of_build(&id, text, strlen(text)));
		identity_traceparent(parent, &id, identity_build(&id));
		buf_addf(&b, " %s", parent);
		for (uint64_t k = 0; k < 3; k++) {
			identity_hex(hex, identity_hash(&id, "mreeb", k, k ? 3 - k : 7));
			buf_addf(&b, " %s", hex);
		}
		buf_addc(&b, '\n');
	}
	support_is_golden(&b, "identity.txt");
	buf_release(&b);
}

/* Names with numbers of copies are unique, whatever the names are. */
TEST(names)
{
	static const struct {
		const char *name;
		uint32_t copy;
		const char *shown;
	} rows[] = {
		{ "a", 0, "a" }, { "a", 1, "a" }, { "a", 2, "a#2" }, { "a#2", 1, "a#2#1" },
		{ "a#2", 2, "a#2#2" }, { "a#2#1", 1, "a#2#1#1" }, { "C#", 1, "C#" }, { "C#", 3, "C##3" },
		{ "", 1, "" }, { "#1", 1, "#1#1" }, { "7", 1, "7" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct buf b = BUF_INIT;

		identity_add(&b, IDENTITY_NAMES, 0, 1, rows[i].name, rows[i].copy);
		ck_assert_str_eq(buf_str(&b), rows[i].shown);
		buf_release(&b);
	}
}

/* The tasks around a task, the outermost first. */
TEST(stack_of_tasks)
{
	struct instance instance[] = { { .parent_task = NO_INDEX, .id = "a" }, { .parent_task = 0, .id = "b" },
				       { .parent_task = 1, .id = "c" } };
	struct task task[] = { { .name = "all", .instance = 0, .seq = 1 }, { .name = "lib", .instance = 1, .seq = 1 },
			       { .name = "x.o", .instance = 2, .seq = 1 } };
	struct recording rec = { .instance = instance, .n_instances = 3, .task = task, .n_tasks = 3 };
	static const char *const stack[] = { "all", "all$lib", "all$lib$x.o" };
	RELEASED(buf, b = BUF_INIT);
	struct identity id;

	identity_of(&id, &rec);
	for (uint32_t i = 0; i < 3; i++) {
		buf_clear(&b);
		identity_add_stack(&b, &id, &rec, i, NO_INDEX, IDENTITY_NAMES);
		ck_assert_str_eq(buf_str(&b), stack[i]);
	}
}

TEST_MAIN(identity);
