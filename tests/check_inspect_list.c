/* SPDX-License-Identifier: MIT */
#include "inspect/archive.h"
#include "inspect/archive_list.h"
#include "tests/made_inspection.h"
#include "tests/support.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Progress */

static struct inspect_progress_list read_progress(const char *dir)
{
	struct inspect_progress_list l;
	struct error err = { 0 };

	ck_assert_msg(!inspect_progress_read(&l, dir, &err), "%s", err.message);
	return l;
}

START_TEST(progress)
{
	struct made_inspection m;
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
	made_inspection_release(&m);
}
END_TEST

/* An inspector that was killed, at each byte of its file. */
START_TEST(killed)
{
	struct made_inspection m;
	struct inspect_progress_list l;
	struct inspect_reader *r;
	struct buf text = BUF_INIT;
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
	buf_release(&text);
	made_inspection_release(&m);
}
END_TEST

START_TEST(history)
{
	struct made_inspection m;
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
	made_inspection_release(&m);
}
END_TEST

int main(void)
{
	return support_main("inspect_list", TEST(progress), TEST(killed),
			    TEST(history));
}
