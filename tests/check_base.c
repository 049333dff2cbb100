/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/clock.h"
#include "base/cursor.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/hex.h"
#include "base/index.h"
#include "base/minmax.h"
#include "base/name_table.h"
#include "base/readfile.h"
#include "base/search.h"
#include "base/str.h"
#include "tests/support.h"

#include <sys/resource.h>

/* The small helpers that every room uses. */

TEST(heads_and_tails)
{
	const struct slice word = { "do_compile", 10 }, none = { NULL, 0 };

	ck_assert(str_starts("do_compile", "do_") && str_starts("a", "") && !str_starts("do", "do_"));
	ck_assert(str_ends("tasks.log", ".log") && str_ends("a", "") && !str_ends("og", ".log"));
	ck_assert(slice_starts(word, "do_") && !slice_starts(word, "do_compiled"));
	ck_assert(slice_ends(word, "compile") && !slice_ends(word, "xdo_compile"));
	ck_assert(slice_equal(none, none) && !slice_equal(word, none));
	ck_assert(!slice_starts(none, "a") && !slice_ends(none, "a"));
}

TEST(digits)
{
	for (int i = 0; i < 256; i++) {
		char c = (char)i;
		bool is_digit = (i >= '0' && i <= '9') || (i >= 'a' && i <= 'f') ||
				(i >= 'A' && i <= 'F');

		ck_assert_int_eq(hex_value(c) >= 0, is_digit);
	}
	for (unsigned i = 0; i < 256; i++) {
		const char two[2] = { hex_digit(i >> 4), hex_digit(i) };

		ck_assert_int_eq(hex_byte(two), (int)i);
	}
	ck_assert_int_eq(hex_byte("g0"), -1);
	ck_assert_int_eq(hex_byte("0g"), -1);
}

/* Values published by the authors of the hash. */
TEST(fnv)
{
	ck_assert_uint_eq(hash_fnv64("", 0), 0xcbf29ce484222325u);
	ck_assert_uint_eq(hash_fnv64("foobar", 6), 0x85944171f73967e8u);
	ck_assert_uint_eq(hash_fnv64_more(hash_fnv64("foo", 3), "bar", 3), 0x85944171f73967e8u);
	ck_assert_uint_eq(hash_fnv32("foobar", 6), 0xbf9cf968u);
}

static const struct {
	const char *text;
	int64_t time_s;		/* -1: no time */
} times[] = {
	{ "1970-01-01T00:00:00Z", 0 },
	{ "2026-11-21T08:39:24Z", 1795250364 },
	{ "2024-02-29T23:59:60Z", 1709251200 },
	{ "2261-12-31T23:59:59Z", 9214646399 },
	{ "1969-12-31T23:59:59Z", -1 },
	{ "2262-01-01T00:00:00Z", -1 },
	{ "2026-13-21T08:39:24Z", -1 },
	{ "2026-00-21T08:39:24Z", -1 },
	{ "2026-11-32T08:39:24Z", -1 },
	{ "2026-11-21T24:39:24Z", -1 },
	{ "2026-11-21T08:60:24Z", -1 },
	{ "2026-11-21 08:39:24Z", -1 },
	{ "2026-11-21T08:39:2", -1 },
	{ "26-11-21T08:39:24Z", -1 },
	{ "", -1 },
};

TEST_EACH(time_text, times)
{
	const char *text = times[_i].text;
	int64_t time_s = -1;
	struct cursor c;

	cursor_init(&c, text, strlen(text));
	ck_assert_int_eq(clock_parse_iso(&c, &time_s), times[_i].time_s >= 0);
	ck_assert_int_eq(time_s, times[_i].time_s);
	if (time_s >= 0)
		ck_assert(cursor_literal(&c, "Z") && cursor_at_end(&c));
}

/*
 * The real size of a block says nothing about the capacity of its array: an allocator may report
 * less or more than was requested. So the array must not ask for it.
 */
/* Texts get numbers in their order, with and without copies. */
TEST_LOOP(names, 2)
{
	struct name_table t = { .arena = _i ? arena_new() : NULL };
	char text[1000][8] = { "" };
	uint32_t number;

	ck_assert_uint_eq(name_table_find(&t, slice_of("a")), NAME_TABLE_NONE);
	for (uint32_t i = 0; i < 2000; i++) {
		snprintf(text[i % 1000], sizeof *text, "%.*x", i % 1000 != 0, i % 1000);
		ck_assert_int_eq(name_table_add(&t, slice_of(text[i % 1000]), &number), 0);
		ck_assert_uint_eq(number, i % 1000);
		ck_assert_uint_eq(t.n, i < 1000 ? i + 1 : 1000);
	}
	for (uint32_t i = 0; i < 1000; i++) {
		ck_assert_uint_eq(name_table_find(&t, slice_of(text[i])), i);
		ck_assert_str_eq(t.name[i].p, text[i]);
		ck_assert_int_eq(t.name[i].p == text[i], !_i);
	}
	ck_assert_int_eq(name_table_add(&t, (struct slice){ NULL, 0 }, &number), 0);
	ck_assert_uint_eq(number, 0);
	ck_assert_uint_eq(name_table_find(&t, slice_of("x")), NAME_TABLE_NONE);
	name_table_release(&t);
	arena_free(t.arena);
}

TEST_LOOP(growth, 40)
{
	size_t expected = (size_t)_i * 7, cap = 0, moved = 0;
	uint32_t *a = NULL, *b = NULL, *before;

	for (uint32_t i = 0; i < 1000; i++) {
		if (i == 5)
			b = array_expect(b, &cap, expected, sizeof *b);
		a = array_grow(a, i, sizeof *a);
		before = b;
		b = array_make_room(b, &cap, i, sizeof *b);
		ck_assert(a && b && cap > i);
		moved += i >= 5 && i < expected && b != before;
		a[i] = b[i] = i;
	}
	ck_assert_uint_eq(moved, 0);
	for (uint32_t i = 0; i < 1000; i++)
		ck_assert(a[i] == i && b[i] == i);
	b = array_expect(b, &cap, SIZE_MAX, sizeof *b);
	ck_assert(b && cap >= 1000 && cap < SIZE_MAX && b[999] == 999);
	ck_assert(!array_make_room(b, &cap, SIZE_MAX / 8, sizeof *b));
	ck_assert(cap < SIZE_MAX / 8 && b[999] == 999);
	free(a);
	free(b);
}

TEST(new_arrays)
{
	uint64_t *a = array_new(3, sizeof *a), *zero = array_new_zero(3, sizeof *zero);
	char *none = array_new(0, sizeof *a), *none_zero = array_new_zero(0, sizeof *a);

	ck_assert(a && zero && none && none_zero);
	ck_assert_uint_eq(zero[0] | zero[1] | zero[2], 0);
	ck_assert_int_eq(*none_zero, 0);
	free_all(a, zero, none, none_zero);
	/* the products are 8 and 0 in 64 bits */
	ck_assert(!array_new(SIZE_MAX / 8 + 2, 8) && !array_new_zero(SIZE_MAX / 8 + 2, 8));
	ck_assert(!array_new(SIZE_MAX / 8 + 1, 8) && !array_new_zero(SIZE_MAX / 8 + 1, 8));
}

TEST(search)
{
	static const int of[] = { 1, 3, 3, 3, 7, 9, 9 };
	struct search_range none = search_between(3, 1);

	for (size_t from = 0; from <= ARRAY_SIZE(of); from++) {
		for (size_t until = from; until <= ARRAY_SIZE(of); until++) {
			for (int wanted = 0; wanted <= 10; wanted++) {
				struct search_range s = search_between(from, until);
				size_t first = from, compared = 0;

				while (first < until && of[first] < wanted)
					first++;
				for (; search_next(&s); compared++) {
					ck_assert_uint_lt(s.at, until);
					search_past(&s, of[s.at] < wanted);
				}
				ck_assert_uint_eq(s.at, first);
				ck_assert_uint_le(compared, 3);
			}
		}
	}
	ck_assert(!search_next(&none));
	ck_assert_uint_eq(none.at, 3);
	ck_assert_uint_eq(search_all(ARRAY_SIZE(of)).high, ARRAY_SIZE(of));
}

TEST(smaller_and_larger)
{
	ck_assert_int_eq(MIN(-1, 1), -1);
	ck_assert_int_eq(MIN(1, -1), -1);
	ck_assert_int_eq(MAX(-1, 1), 1);
	ck_assert_int_eq(MAX(1, -1), 1);
	ck_assert_int_eq(MAX(1, 1 + 1) * 2, 4);
	ck_assert(MIN(NAN, 1.0) == 1.0 && MAX(NAN, 1.0) == 1.0);
}

static bool is_inherited(int fd)
{
	return !(fcntl(fd, F_GETFD) & FD_CLOEXEC);
}

/* With standard descriptors closed, and under a limit. */
TEST(copies)
{
	int low = open("/dev/null", O_RDONLY), copy = file_copy(low);
	struct rlimit few = { 16, 16 };

	ck_assert_int_lt(low, 12);
	ck_assert_int_ge(copy, 40);
	ck_assert(is_inherited(low) && !is_inherited(copy));
	close(copy);
	close(STDIN_FILENO);
	ck_assert(!setrlimit(RLIMIT_NOFILE, &few));
	copy = file_copy(low);
	ck_assert_int_ge(copy, 10);
	few.rlim_cur = 10;
	ck_assert(!setrlimit(RLIMIT_NOFILE, &few));
	close(copy);
	copy = file_copy(low);
	ck_assert_int_gt(copy, STDERR_FILENO);
	ck_assert_int_lt(copy, 10);
	while (copy >= 0)
		copy = file_copy(low);
	ck_assert_int_eq(copy, -EMFILE);
	ck_assert_int_eq(file_copy(9999), -EBADF);
}

/* Files of all sizes around the chunks and the limit. */
TEST_LOOP(limit, 7 * 7)
{
	static const size_t sizes[] = { 0, 1, 65535, 65536, 65537, 131072, 200000 };
	const char *path = support_path("%s/file", support_tmpdir());
	size_t size = sizes[_i % (int)ARRAY_SIZE(sizes)], max = sizes[_i / (int)ARRAY_SIZE(sizes)];
	char *text = calloc(1, size + 1);
	struct buf b = BUF_INIT;

	for (size_t i = 0; i < size; i++)
		text[i] = (char)(i % 251);
	support_write(path, text, size);
	buf_adds(&b, "head");
	ck_assert_int_eq(readfile_at(&b, AT_FDCWD, path, max), size > max ? -EFBIG : 0);
	ck_assert_uint_eq(b.len, 4 + (size > max ? max : size));
	ck_assert(!memcmp(b.data, "head", 4) && !memcmp(b.data + 4, text, b.len - 4));
	ck_assert_int_eq(b.data[b.len], '\0');
	buf_release(&b);
	free(text);
}

TEST(beginning)
{
	const char *path = support_path("%s/file", support_tmpdir());
	char text[8];

	support_writes(path, "one\ntwo\n");
	ck_assert_int_eq(readfile_start(AT_FDCWD, path, text, sizeof text), 7);
	ck_assert_str_eq(text, "one\ntwo");
	ck_assert_int_eq(readfile_line(AT_FDCWD, path, text, sizeof text), 3);
	ck_assert_str_eq(text, "one");
	ck_assert_int_eq(readfile_line(AT_FDCWD, "/nonexistent", text, sizeof text), -ENOENT);
	ck_assert_str_eq(text, "");
	ck_assert_int_eq(readfile_start(AT_FDCWD, "/", text, sizeof text), -EISDIR);
	ck_assert_str_eq(text, "");
}

/* A pipe delivers its content in pieces. */
TEST(pieces)
{
	RELEASED(buf, b = BUF_INIT);
	int fd[2], status;
	pid_t pid;

	ck_assert(!pipe2(fd, O_CLOEXEC));
	pid = fork();
	if (!pid) {
		for (int i = 0; i < 1000; i++) {
			if (write(fd[1], "0123456789", 10) != 10)
				_exit(1);
		}
		_exit(0);
	}
	close(fd[1]);
	ck_assert(!readfile_fd(&b, fd[0], SIZE_MAX));
	ck_assert_uint_eq(b.len, 10000);
	close(fd[0]);
	ck_assert(waitpid(pid, &status, 0) == pid && !status);
}

/* An empty element of PATH is the current directory, as for execvp(). */
TEST(program)
{
	static const char *const with_empty[] = { "/nonexistent::/bin", ":/bin", "/bin:", "" };
	const char *path = support_path("%s/tool", support_tmpdir());
	char found[PATH_MAX], *before = strdup(getenv("PATH"));

	support_writes(path, "");
	ck_assert(!chmod(path, 0755) && !chdir(support_tmpdir()));
	setenv("PATH", "/nonexistent", 1);
	ck_assert(!file_find_program(found, "tool"));
	setenv("PATH", support_path("/nonexistent:%s", support_tmpdir()), 1);
	ck_assert(file_find_program(found, "tool"));
	ck_assert_str_eq(found, path);
	for (size_t i = 0; i < ARRAY_SIZE(with_empty); i++) {
		setenv("PATH", with_empty[i], 1);
		ck_assert(file_find_program(found, "tool"));
		ck_assert_str_eq(found, "tool");
	}
	ck_assert(file_find_program(found, "./no/such"));
	ck_assert_str_eq(found, "./no/such");
	setenv("PATH", before, 1);
	free(before);
}

/* The descriptor is closed after an error too. */
TEST(written_and_closed)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(file_write_and_close(fd, "x", 1), -ENOSPC);
	ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
	ck_assert_int_eq(file_write_and_close(fd, "x", 1), -EBADF);
}

/* A table from which keys go, beside an array. */
TEST(removal)
{
	uint32_t value[64] = { 0 }, found;
	struct index x = INDEX_INIT;

	srand(7);
	for (uint32_t i = 1; i < 20000; i++) {
		unsigned key = (unsigned)rand() % 64;

		if (rand() % 3) {
			ck_assert_int_eq(index_put(&x, key, key * 3, i), 0);
			value[key] = i;
		} else {
			index_remove(&x, key, key * 3);
			value[key] = 0;
		}
		for (unsigned k = 0; k < 64; k++) {
			ck_assert_int_eq(index_find(&x, k, k * 3, &found), value[k] != 0);
			ck_assert(!value[k] || found == value[k]);
		}
	}
	index_release(&x);
	index_remove(&x, 1, 2);
}

TEST_MAIN(base);
