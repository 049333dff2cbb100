/* SPDX-License-Identifier: MIT */
#include "inspect/archive_files.h"
#include "inspect/archive_list.h"
#include "tests/made_inspection.h"
#include "tests/support.h"

#include <sys/utsname.h>

/* Progress */

static struct inspect_progress_list read_progress(const char *dir)
{
	struct inspect_progress_list l;
	struct error err = { 0 };

	ck_assert_msg(!inspect_progress_read(&l, dir, &err), "%s", err.message);
	return l;
}

TEST(progress)
{
	RELEASED(made_inspection, m);
	struct inspect_archive *a;
	struct inspect_progress_list l;
	const char *path;

	made_inspection_compile(&m);
	path = support_path("%s/mine", support_tmpdir());
	ck_assert_int_eq(inspect_archive_create(&a, NULL, path, &m.inspection, STORE_ACCESS_USER,
						NULL), 0);
	l = read_progress(path);
	ck_assert(l.runs && !l.n && l.pid == getpid());
	inspect_progress_release(&l);
	ck_assert_int_eq(inspect_archive_add_progress(a, 1, "start\n"), 0);
	ck_assert_int_eq(inspect_archive_add_progress(a, 80, "snapshots"), 0);
	ck_assert_int_eq(inspect_archive_add_progress(a, 8, "back"), 0);
	l = read_progress(path);
	ck_assert(l.runs && l.n == 3);
	ck_assert_uint_eq(l.line[0].percent, 1);
	ck_assert_str_eq(l.line[0].message, "start\n");
	ck_assert_uint_eq(l.line[2].percent, 80);
	inspect_progress_release(&l);
	ck_assert_int_eq(inspect_archive_add_progress(a, 1000, "done"), 0);
	inspect_archive_end(a, "", NULL);
	l = read_progress(path);
	ck_assert_uint_eq(l.line[3].percent, 100);
	inspect_progress_release(&l);
}

/* An inspector that was killed, at each byte of its file. */
TEST(killed)
{
	RELEASED(made_inspection, m);
	struct inspect_progress_list l;
	struct inspect_reader *r;
	RELEASED(buf, text = BUF_INIT);
	const char *base = support_tmpdir(), *path = support_path("%s/mine", base), *file;
	pid_t pid;
	int status;

	made_inspection_compile(&m);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		struct inspect_archive *a;

		if (inspect_archive_create(&a, NULL, path, &m.inspection, STORE_ACCESS_USER, NULL) ||
		    inspect_archive_add_snapshot(a, &m.snapshot[0]) ||
		    inspect_archive_add_progress(a, 1, "start") ||
		    inspect_archive_add_progress(a, 40, "1 of 2"))
			_exit(1);
		raise(SIGKILL);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
	l = read_progress(path);
	ck_assert(!l.runs && l.pid == pid);
	ck_assert_uint_eq(l.n, 3);
	ck_assert_uint_eq(l.line[2].percent, 100);
	ck_assert_str_eq(l.line[2].message, INSPECT_PROGRESS_DIED);
	inspect_progress_release(&l);
	ck_assert_int_eq(inspect_reader_open(&r, path, NULL), 0);
	ck_assert_uint_eq(inspect_reader_inspection(r)->n_snapshots, 1);
	ck_assert_ptr_null(inspect_reader_warning(r));
	inspect_reader_close(r);
	file = support_path("%s/" INSPECT_PROGRESS_LOG, path);
	support_read(&text, file);
	for (size_t len = (size_t)(strchr(text.data, '\n') - text.data); len < text.len; len++) {
		support_write(file, text.data, len);
		l = read_progress(path);
		ck_assert(l.n && l.n <= 3 && l.line[l.n - 1].percent == 100);
		inspect_progress_release(&l);
	}
}

TEST(history)
{
	RELEASED(made_inspection, m);
	struct inspect_archive *a;
	struct inspect_reader *r;
	const struct inspect_look *look;
	const char *path;
	size_t n;

	made_inspection_compile(&m);
	path = support_path("%s/mine", support_tmpdir());
	ck_assert_int_eq(inspect_archive_create(&a, NULL, path, &m.inspection, STORE_ACCESS_USER,
						NULL), 0);
	for (int64_t i = 0; i < 200; i++) {
		const struct process_values v = {
			.user_ticks = (uint64_t)i, .system_ticks = 7, .minor_faults = UINT64_C(1) << 40,
			.rss_kb = (uint64_t)(i * i), .threads = 3, .has_io = i % 2, .read_kb = i % 2,
		};

		ck_assert_int_eq(inspect_archive_add_values(a, i * 1000, &v), 0);
	}
	ck_assert_int_eq(inspect_archive_end(a, "", NULL), 0);
	ck_assert_int_eq(inspect_reader_open(&r, path, NULL), 0);
	look = inspect_reader_history(r, &n);
	ck_assert_uint_eq(n, 200);
	for (size_t i = 0; i < n; i++) {
		ck_assert_int_eq(look[i].time_us, (int64_t)i * 1000);
		ck_assert_uint_eq(look[i].process.rss_kb, i * i);
		ck_assert_uint_eq(look[i].process.has_io, i % 2);
		ck_assert_uint_eq(look[i].process.read_kb, i % 2);
	}
	inspect_reader_close(r);
}

/* Lists */

#define DAY_US (INT64_C(86400) * 1000000)

/* An archive of this program, begun at start_us, with n snapshots. */
static const char *add_archive(const char *base, const char *program, int64_t start_us, size_t n)
{
	struct made_inspection m;
	struct inspect_archive *a;
	const char *path;

	made_inspection_compile(&m);
	m.inspection.program = program;
	m.inspection.start_us = start_us;
	ck_assert_int_eq(inspect_archive_create(&a, base, NULL, &m.inspection, STORE_ACCESS_USER,
						NULL), 0);
	path = support_path("%s", inspect_archive_path(a));
	for (size_t i = 0; i < n; i++)
		ck_assert_int_eq(inspect_archive_add_snapshot(a, &m.snapshot[i]), 0);
	ck_assert_int_eq(inspect_archive_end(a, "the process ended", NULL), 0);
	made_inspection_release(&m);
	return path;
}

TEST(lists)
{
	const char *dir = support_tmpdir();
	struct inspect_list l = INSPECT_LIST_INIT;
	struct error err = { 0 };

	ck_assert_int_eq(inspect_list_below(&l, dir, &err), 0);
	ck_assert_uint_eq(l.n, 0);
	add_archive(support_path("%s/inspect", dir), "ld", 5 * DAY_US, 2);
	add_archive(support_path("%s/buildstats/1/inspect", dir), "cc1plus", 6 * DAY_US, 1);
	add_archive(support_path("%s/buildstats/2/inspect", dir), "ld", 4 * DAY_US, 3);
	ck_assert_int_eq(symlink("2", support_path("%s/buildstats/latest", dir)), 0);
	ck_assert_int_eq(mkdir(support_path("%s/inspect/other", dir), 0700), 0);
	support_writes(support_path("%s/inspect/file", dir), "");
	ck_assert_int_eq(inspect_list_below(&l, dir, &err), 0);
	ck_assert_uint_eq(l.n, 3);
	ck_assert_str_eq(l.entry[0].program, "cc1plus");
	ck_assert_str_eq(l.entry[0].name, "1970-01-07 00-00-00 - builder - cc1plus 12345");
	ck_assert_str_eq(l.entry[0].path, support_path("%s/buildstats/1/inspect/%s", dir,
						       l.entry[0].name));
	ck_assert_int_eq(l.entry[0].start_us, 6 * DAY_US);
	ck_assert_uint_eq(l.entry[2].n_snapshots, 3);
	ck_assert_str_eq(l.entry[2].end, "the process ended");
	ck_assert_str_eq(l.entry[2].heap, "sampled");
	ck_assert_int_eq(l.entry[2].pid, 12345);
	ck_assert(!l.entry[2].runs);
	inspect_list_release(&l);
	ck_assert_int_eq(inspect_list_below(&l, support_path("%s/buildstats/2", dir), &err), 0);
	ck_assert_uint_eq(l.n, 1);
	inspect_list_release(&l);
	ck_assert_int_eq(inspect_list_below(&l, support_path("%s/buildstats", dir), &err), 0);
	ck_assert_uint_eq(l.n, 2);
	inspect_list_release(&l);
	ck_assert_int_eq(inspect_list_below(&l, support_path("%s/inspect", dir), &err), 0);
	ck_assert_uint_eq(l.n, 1);
	inspect_list_release(&l);
}

TEST(deletes)
{
	const char *base = support_path("%s/inspect", support_tmpdir());
	const char *path = add_archive(base, "ld", DAY_US, 1), *link, *running;
	RELEASED(made_inspection, m);
	struct inspect_archive *a;
	struct error err = { 0 };
	struct utsname u;

	ck_assert_int_eq(uname(&u), 0);
	link = support_path("%s/link", base);
	ck_assert_int_eq(symlink(path, link), 0);
	ck_assert_int_eq(inspect_archive_delete(base, &err), -EINVAL);
	ck_assert_int_eq(inspect_archive_delete(link, &err), -ENOTDIR);
	ck_assert_int_eq(inspect_archive_delete(support_path("%s/none", base), &err), -ENOENT);
	ck_assert(support_exists(path));
	/* files of others are in no archive, but a directory with images is */
	ck_assert_int_eq(mkdir(support_path("%s/heap", path), 0700), 0);
	support_writes(support_path("%s/heap/1-2.0.heap", path), "");
	ck_assert_int_eq(inspect_archive_delete(path, &err), 0);
	ck_assert(!support_exists(path));
	/* one that runs */
	made_inspection_compile(&m);
	m.inspection.host = u.nodename;
	ck_assert_int_eq(inspect_archive_create(&a, base, NULL, &m.inspection, STORE_ACCESS_USER,
						NULL), 0);
	running = support_path("%s", inspect_archive_path(a));
	ck_assert_int_eq(inspect_archive_delete(running, &err), -EBUSY);
	ck_assert_ptr_nonnull(strstr(err.message, "still runs"));
	inspect_archive_end(a, "", NULL);
	ck_assert_int_eq(inspect_archive_delete(running, &err), 0);
}

/* Archives of ld at days 1 to 9, and of as at day 3. */
static const struct {
	struct inspect_retention limits;
	size_t removed;
	const char *left;	/* days of ld, and "a" */
} retained[] = {
	{ { 0, 0 }, 0, "9876543a21" },
	{ { 100, 100 }, 0, "9876543a21" },
	{ { 2, 0 }, 7, "98a" },
	{ { 0, 4 }, 7, "987" },
	{ { 2, 8 }, 7, "98a" },
	{ { 1, 2 }, 9, "9" },
	{ { 1, 2 }, 8, "9a" },
};

/* The limits of the case; archives of "as" have none in the last one. */
static void limits_of(struct inspect_retention *limits, void *context, const char *host,
		      const char *program)
{
	size_t i = *(const size_t *)context;

	ck_assert_str_eq(host, "builder");
	if (i + 1 < ARRAY_SIZE(retained) || strcmp(program, "as"))
		*limits = retained[i].limits;
}

TEST_EACH(retains, retained)
{
	const char *base = support_tmpdir();
	RELEASED(inspect_list, l = INSPECT_LIST_INIT);
	RELEASED(buf, left = BUF_INIT);
	struct error err = { 0 };
	size_t removed, which = (size_t)_i;

	for (int day = 1; day < 10; day++)
		add_archive(base, "ld", day * DAY_US, 0);
	add_archive(base, "as", 3 * DAY_US - 1, 0);
	ck_assert_int_eq(inspect_archive_retain(base, limits_of, &which, 10 * DAY_US, &removed,
						&err), 0);
	ck_assert_uint_eq(removed, retained[_i].removed);
	ck_assert_int_eq(inspect_list_add(&l, base, &err), 0);
	for (size_t i = 0; i < l.n; i++)
		buf_addc(&left, *l.entry[i].program == 'a' ? 'a' :
			 (char)('0' + l.entry[i].start_us / DAY_US));
	ck_assert_str_eq(buf_str(&left), retained[_i].left);
}

/* As a user. */
TEST(command)
{
	const char *dir = support_tmpdir();

	support_expect(dir, 0, "There are no archives of inspections.\n", "",
		       TOP_BUILDDIR "/buildbeat inspect list");
	support_expect(dir, 0, "[]\n", "", TOP_BUILDDIR "/buildbeat inspect list --json");
	add_archive(support_path("%s/inspect", dir), "ld\n", DAY_US, 2);
	add_archive(support_path("%s/buildstats/1/inspect", dir), "as", 2 * DAY_US, 1);
	support_expect(dir, 0, "    1 snapshot   sampled heap  buildstats/1/inspect/1970-01-03 00-00-00 "
		       "- builder - as 12345  the process ended\n"
		       "    2 snapshots  sampled heap  inspect/1970-01-02 00-00-00 - builder - ld_ 12345"
		       "  the process ended\n", "", TOP_BUILDDIR "/buildbeat inspect list");
	support_expect(dir, ANY_STATUS, "ld\n 2 t7 False\n", NULL,
		       TOP_BUILDDIR "/buildbeat inspect list --json inspect | "
		       "python3 -c 'import json, sys; x = json.load(sys.stdin)[0]; "
		       "print(x[\"program\"], x[\"snapshots\"], x[\"task\"], x[\"runs\"])'");
	support_expect(dir, 0, "", "", TOP_BUILDDIR "/buildbeat inspect delete inspect/*");
	support_expect(dir, 0, "There are no archives of inspections.\n", "",
		       TOP_BUILDDIR "/buildbeat inspect list inspect");
	support_expect(dir, 2, "", "none: No such file or directory",
		       TOP_BUILDDIR "/buildbeat inspect list inspect none");
	support_expect(dir, 2, "", "too many operands: 'x'",
		       TOP_BUILDDIR "/buildbeat inspect capabilities x");
	support_expect(dir, 2, "", "too many operands: 'x'",
		       TOP_BUILDDIR "/buildbeat inspect settings x");
	support_expect(dir, 2, "", "y.yaml:1:17: expected",
		       "echo 'inspect: {keep: x}' >y.yaml; " TOP_BUILDDIR "/buildbeat inspect settings -c y.yaml");
	support_expect(dir, 2, "", "not an archive of an inspection",
		       TOP_BUILDDIR "/buildbeat inspect delete inspect");
	support_expect(dir, 2, "", "too many operands: 'b'",
		       TOP_BUILDDIR "/buildbeat inspect delete a b");
}

TEST_MAIN(inspect_list);
