/* SPDX-License-Identifier: MIT */
#include "inspect/archive_files.h"
#include "inspect/archive_format.h"
#include "tests/made_inspection.h"
#include "tests/recorded.h"
#include "tests/support.h"

#include <sys/resource.h>

static struct inspect_archive *create(const struct inspection *x)
{
	struct inspect_archive *a;
	struct error err = { 0 };

	ck_assert_msg(!inspect_archive_create(&a, support_tmpdir(), NULL, x, STORE_ACCESS_USER,
					      &err), "%s: %s", err.path, err.message);
	return a;
}

/* The archive of a made inspection; its path is support's. */
static const char *write_all(const struct made_inspection *m)
{
	struct inspect_archive *a = create(&m->inspection);
	const char *path = support_path("%s", inspect_archive_path(a));
	struct error err;

	for (size_t i = 0; i < m->n; i++)
		ck_assert_int_eq(inspect_archive_add_snapshot(a, &m->snapshot[i]), 0);
	ck_assert_int_eq(inspect_archive_set_symbols(path, &m->inspection, &err), 0);
	ck_assert_int_eq(inspect_archive_end(a, m->inspection.end, &err), 0);
	return path;
}

static struct inspect_reader *open_archive(const char *path)
{
	struct inspect_reader *r;
	struct error err = { 0 };

	ck_assert_msg(!inspect_reader_open(&r, path, &err), "%s: %s", err.path, err.message);
	return r;
}

/* Equal */

static bool same_name(const struct inspection *a, uint32_t i, const struct inspection *b,
		      uint32_t k)
{
	return i < a->names.n && k < b->names.n && slice_equal(a->names.name[i], b->names.name[k]);
}

/* The name of a frame, and of those that it was inlined into. */
static void same_frame(const struct inspection *a, uint32_t i, const struct inspection *b,
		       uint32_t k)
{
	while (i != INSPECTION_NONE && k != INSPECTION_NONE) {
		const struct frame_name *f = &a->frame_name[i], *g = &b->frame_name[k];

		ck_assert(same_name(a, f->function, b, g->function));
		ck_assert(f->source == g->source || same_name(a, f->source, b, g->source));
		ck_assert_uint_eq(f->line, g->line);
		i = f->inlined_in;
		k = g->inlined_in;
	}
	ck_assert_uint_eq(i, k);
}

static void same_stacks(const struct inspection *a, const struct inspection *b)
{
	ck_assert_uint_eq(a->n_modules, b->n_modules);
	for (size_t i = 0; i < a->n_modules; i++) {
		ck_assert_uint_eq(a->module[i].start, b->module[i].start);
		ck_assert_uint_eq(a->module[i].end, b->module[i].end);
		ck_assert_uint_eq(a->module[i].bias, b->module[i].bias);
		ck_assert_str_eq(a->module[i].build_id, b->module[i].build_id);
		ck_assert(same_name(a, a->module[i].file, b, b->module[i].file));
	}
	ck_assert_uint_eq(a->n_frames, b->n_frames);
	for (size_t i = 0; i < a->n_frames; i++) {
		ck_assert(a->frame[i].address == b->frame[i].address &&
			  a->frame[i].module == b->frame[i].module);
		same_frame(a, a->frame[i].name, b, b->frame[i].name);
	}
	ck_assert_uint_eq(a->n_stacks, b->n_stacks);
	ck_assert(!a->n_stacks ||
		  !memcmp(a->stack, b->stack, a->n_stacks * sizeof *a->stack));
}

static void same_inspection(const struct inspection *a, const struct inspection *b)
{
	ck_assert_str_eq(a->host, b->host);
	ck_assert_str_eq(a->machine, b->machine);
	ck_assert_str_eq(a->command, b->command);
	ck_assert_str_eq(a->program, b->program);
	ck_assert_str_eq(a->task, b->task);
	ck_assert_str_eq(a->why, b->why);
	ck_assert_str_eq(a->end, b->end);
	ck_assert_int_eq(a->pid, b->pid);
	ck_assert_uint_eq(a->start_ticks, b->start_ticks);
	ck_assert_int_eq(a->start_us, b->start_us);
	ck_assert_int_eq(a->start_ns, b->start_ns);
	ck_assert_int_eq(a->heap, b->heap);
	ck_assert_uint_eq(a->heap_period, b->heap_period);
}

static void same_mappings(const struct inspection *x, const struct snapshot *a,
			  const struct inspection *y, const struct snapshot *b)
{
	ck_assert_uint_eq(a->n, b->n);
	for (size_t i = 0; i < a->n; i++) {
		const struct mapping *m = &a->mapping[i], *n = &b->mapping[i];

		ck_assert(m->start == n->start && m->end == n->end && m->offset == n->offset &&
			  m->inode == n->inode && m->device_major == n->device_major &&
			  m->device_minor == n->device_minor);
		ck_assert(!memcmp(m->kb, n->kb, sizeof m->kb));
		ck_assert_str_eq(m->permissions, n->permissions);
		ck_assert(same_name(x, m->file, y, n->file));
	}
}

static bool same_site(const struct site *a, const struct site *b)
{
	return a->stack == b->stack && a->mapped == b->mapped &&
	       a->allocations == b->allocations && a->frees == b->frees &&
	       a->allocated == b->allocated && a->live == b->live &&
	       a->live_bytes == b->live_bytes && a->peak_bytes == b->peak_bytes &&
	       a->temporary == b->temporary && a->error_bytes == b->error_bytes;
}

static void same_heap(const struct snapshot *a, const struct snapshot *b)
{
	ck_assert_uint_eq(a->n_sites, b->n_sites);
	for (size_t i = 0; i < a->n_sites; i++)
		ck_assert(same_site(&a->site[i], &b->site[i]));
	ck_assert_uint_eq(a->n_ranges, b->n_ranges);
	for (size_t i = 0; i < a->n_ranges; i++)
		ck_assert(a->range[i].start == b->range[i].start &&
			  a->range[i].end == b->range[i].end &&
			  a->range[i].stack == b->range[i].stack);
}

static void same_pages(const struct snapshot *a, const struct snapshot *b)
{
	ck_assert_uint_eq(a->n_resident, b->n_resident);
	ck_assert(!a->n_resident ||
		  !memcmp(a->resident, b->resident, a->n_resident * sizeof *a->resident));
}

static void same_values(const struct process_values *a, const struct process_values *b)
{
	ck_assert(a->user_ticks == b->user_ticks && a->system_ticks == b->system_ticks &&
		  a->minor_faults == b->minor_faults && a->major_faults == b->major_faults &&
		  a->rss_kb == b->rss_kb && a->threads == b->threads && a->has_io == b->has_io);
	ck_assert(!a->has_io || (a->read_kb == b->read_kb && a->written_kb == b->written_kb));
}

/* whole: b has the heap and the pages if a has them. */
static void same_snapshot(const struct inspection *x, const struct snapshot *a,
			  const struct inspection *y, const struct snapshot *b, bool whole)
{
	ck_assert_int_eq(a->time_us, b->time_us);
	ck_assert_int_eq(a->took_us, b->took_us);
	ck_assert(a->frozen == b->frozen && a->ended == b->ended);
	same_values(&a->process, &b->process);
	same_mappings(x, a, y, b);
	ck_assert(!whole || (a->has_heap == b->has_heap && a->has_pages == b->has_pages));
	ck_assert(a->has_heap || !b->has_heap);
	ck_assert(a->has_pages || !b->has_pages);
	if (b->has_heap)
		same_heap(a, b);
	if (b->has_pages)
		same_pages(a, b);
}

/* Are the snapshots of the archive the first of m? Read in a random order if there is a seed. */
static void is_prefix(const struct made_inspection *m, const char *path, bool whole,
		      uint64_t *random)
{
	struct inspect_reader *r = open_archive(path);
	const struct inspection *x = inspect_reader_inspection(r);
	struct snapshot s = { 0 };
	struct error err = { 0 };

	ck_assert_uint_le(x->n_snapshots, m->n);
	ck_assert(!whole || x->n_snapshots == m->n);
	for (size_t i = 0; i < x->n_snapshots; i++) {
		size_t which = random ? (size_t)random_below(random, x->n_snapshots) : i;

		ck_assert_msg(!inspect_reader_snapshot(r, which, &s, &err), "%s", err.message);
		same_snapshot(&m->inspection, &m->snapshot[which], x, &s, whole);
	}
	if (whole) {
		same_inspection(&m->inspection, x);
		ck_assert_ptr_null(inspect_reader_warning(r));
		if (m->inspection.heap)
			same_stacks(&m->inspection, x);
	}
	snapshot_release(&s);
	inspect_reader_close(r);
}

/* Generated inspections */

static void add_pages(struct snapshot *s, uint64_t *state)
{
	uint64_t at = 0x400000;

	s->has_pages = true;
	for (uint64_t n = random_below(state, 40); n; n--) {
		struct resident *p = array_add(&s->resident, &s->n_resident, sizeof *p);

		at += 4096 * random_below(state, 5);
		*p = (struct resident){ at, at + 4096 * (1 + random_below(state, 9)) };
		at = p->end;
	}
}

static void add_ranges(struct snapshot *s, size_t n_stacks, uint64_t *state)
{
	uint64_t at = UINT64_C(0x7f0000000000);

	for (uint64_t n = random_below(state, 20); n; n--) {
		struct mapped_range *p = array_add(&s->range, &s->n_ranges, sizeof *p);

		at += 4096 * random_below(state, 3);
		*p = (struct mapped_range){ at, at + 4096 * (1 + random_below(state, 3)),
					    (uint32_t)random_below(state, n_stacks) };
		at = p->end;
	}
}

/* Whatever a snapshot can have, and not all in each. */
static void vary(struct made_inspection *m, uint64_t *state)
{
	for (size_t i = 0; i < m->n; i++) {
		struct snapshot *s = &m->snapshot[i];

		s->frozen = !random_below(state, 3);
		s->ended = i + 1 == m->n;
		s->process.has_io = random_below(state, 2);
		s->process.read_kb = random_below(state, 1000);
		s->took_us = (int64_t)random_below(state, 100000);
		if (random_below(state, 2))
			add_pages(s, state);
		if (s->has_heap && random_below(state, 5))
			add_ranges(s, m->inspection.n_stacks, state);
		else if (!random_below(state, 3))
			s->has_heap = false;
	}
	if (m->n && m->inspection.heap)
		m->snapshot[m->n - 1].has_heap = true;
}

static void made(struct made_inspection *m, struct made_inspection_wish wish)
{
	uint64_t state = wish.seed + 77;

	made_inspection_random(m, &wish);
	vary(m, &state);
}

static const struct made_inspection_wish wishes[] = {
	{ .mappings = 0, .stacks = 0, .snapshots = 0, .seed = 1 },
	{ .mappings = 0, .stacks = 20, .snapshots = 3, .seed = 2 },
	{ .mappings = 1, .stacks = 0, .snapshots = 1, .seed = 3 },
	{ .mappings = 60, .stacks = 40, .snapshots = 20, .seed = 4 },
	{ .mappings = 60, .stacks = 40, .snapshots = 20, .hostile = true, .seed = 5 },
	{ .mappings = 300, .stacks = 0, .snapshots = 200, .hostile = true, .seed = 6 },
	{ .mappings = 10, .stacks = 300, .snapshots = 200, .depth = 60, .seed = 7 },
};

TEST_EACH(written_is_read, wishes)
{
	RELEASED(made_inspection, m);
	const char *path;
	uint64_t state = 4711;

	made(&m, wishes[_i]);
	path = write_all(&m);
	is_prefix(&m, path, true, NULL);
	is_prefix(&m, path, true, &state);
}

/* The largest that people will have: mappings of a program with 100,000 of them; snapshots. */
TEST_LOOP(large, 2)
{
	RELEASED(made_inspection, m);
	const struct made_inspection_wish wish[] = {
		{ .mappings = 100000, .snapshots = 3, .seed = 8 },
		{ .mappings = 30, .stacks = 30, .snapshots = 1000, .seed = 9 },
	};

	made(&m, wish[_i]);
	is_prefix(&m, write_all(&m), true, NULL);
}

/* Every byte in the name of a file, and the longest path. */
TEST(names)
{
	char text[4200];
	RELEASED(made_inspection, m);
	struct snapshot *s;
	uint32_t number;

	made_inspection_init(&m);
	s = made_inspection_snapshot(&m, 0);
	made_inspection_map(&m, s, "r--p", "", 4);
	for (unsigned i = 0; i < 256; i++)
		text[i] = (char)i;
	ck_assert_int_eq(name_table_add(&m.inspection.names, (struct slice){ text, 256 }, &number),
			 0);
	made_inspection_map(&m, s, "rw-s", "", 4)->file = number;
	memset(text, '\n', sizeof text);
	ck_assert_int_eq(name_table_add(&m.inspection.names,
					(struct slice){ text, sizeof text }, &number), 0);
	made_inspection_map(&m, s, "---p", "", 4)->file = number;
	is_prefix(&m, write_all(&m), true, NULL);
}

/* A process was killed while it wrote: each prefix of each file can be read. */
static const char *const prefix_of[] = { "archive", "maps.log", "heap.log", "pages.log",
					 "process.log", "progress.log", "symbols.log" };

TEST_EACH(prefixes, prefix_of)
{
	RELEASED(made_inspection, m);
	const char *path, *file;
	RELEASED(buf, text = BUF_INIT);
	size_t step;

	made(&m, (struct made_inspection_wish){ .mappings = 8, .stacks = 12, .snapshots = 6,
						.hostile = true, .seed = 10 });
	path = write_all(&m);
	file = support_path("%s/%s", path, prefix_of[_i]);
	support_read(&text, file);
	step = text.len / 3000 + 1;
	/* without its first line it is no archive */
	for (size_t len = _i ? 0 : strlen(ARCHIVE_META_HEADER) + 1; len < text.len; len += step) {
		support_write(file, text.data, len);
		is_prefix(&m, path, false, NULL);
	}
	support_write(file, text.data, text.len);
	is_prefix(&m, path, true, NULL);
	ck_assert_int_eq(unlink(file), 0);
	if (_i)
		is_prefix(&m, path, false, NULL);
}

/* A changed byte is noticed, or changes no more than values. */
TEST_EACH(damaged, prefix_of)
{
	RELEASED(made_inspection, m);
	RELEASED(buf, text = BUF_INIT);
	const char *path, *file;
	uint64_t state = 12;

	made(&m, (struct made_inspection_wish){ .mappings = 8, .stacks = 12, .snapshots = 6,
						.seed = 11 });
	path = write_all(&m);
	file = support_path("%s/%s", path, prefix_of[_i]);
	support_read(&text, file);
	for (unsigned i = 0; i < 500; i++) {
		size_t at = (size_t)random_below(&state, text.len);
		char was = text.data[at];
		struct inspect_reader *r;
		struct snapshot s = { 0 };
		struct error err;

		text.data[at] = (char)random_below(&state, 256);
		support_write(file, text.data, text.len);
		text.data[at] = was;
		if (inspect_reader_open(&r, path, &err))
			continue;
		for (size_t k = 0; k < inspect_reader_inspection(r)->n_snapshots; k++) {
			ck_assert_int_eq(inspect_reader_snapshot(r, k, &s, &err), 0);
			for (size_t j = 1; j < s.n; j++)
				ck_assert_uint_ge(s.mapping[j].start, s.mapping[j - 1].end);
		}
		snapshot_release(&s);
		inspect_reader_close(r);
	}
}

/* A block that has only what the one before it had, and no block: unchanged is left out. */
TEST(unchanged)
{
	RELEASED(made_inspection, m);
	RELEASED(buf, text = BUF_INIT);
	const char *path;

	made_inspection_compile(&m);
	for (size_t i = 1; i < m.n; i++) {
		struct snapshot *s = &m.snapshot[i];

		memcpy(s->mapping, m.snapshot[0].mapping, m.snapshot[0].n * sizeof *s->mapping);
		s->n = m.snapshot[0].n;
		s->has_heap = false;
	}
	path = write_all(&m);
	is_prefix(&m, path, true, NULL);
	support_read(&text, support_path("%s/maps.log", path));
	ck_assert_ptr_nonnull(strstr(text.data, "\nend 1\nsnapshot 2 "));
	ck_assert_ptr_null(strstr(strstr(text.data, "end 0\n"), "map "));
	ck_assert_ptr_null(strstr(strstr(text.data, "end 0\n"), "+ "));
}

/* No reader would accept it: nothing is written, and the archive goes on. */
TEST(wrong_snapshots)
{
	RELEASED(made_inspection, m);
	struct inspect_archive *a;
	const char *path;
	struct snapshot wrong;
	size_t all;

	made_inspection_compile(&m);
	a = create(&m.inspection);
	path = support_path("%s", inspect_archive_path(a));
	ck_assert_int_eq(inspect_archive_add_snapshot(a, &m.snapshot[0]), 0);
	wrong = m.snapshot[1];
	wrong.site[0].stack = 100000;
	ck_assert_int_eq(inspect_archive_add_snapshot(a, &wrong), -EINVAL);
	wrong = m.snapshot[2];
	wrong.mapping[1].start = wrong.mapping[0].start;
	ck_assert_int_eq(inspect_archive_add_snapshot(a, &wrong), -EINVAL);
	wrong = m.snapshot[3];
	wrong.mapping[1].kb[MAPPING_RSS] = UINT64_MAX;
	ck_assert_int_eq(inspect_archive_add_snapshot(a, &wrong), -EINVAL);
	ck_assert_int_eq(inspect_archive_set_symbols(path, &m.inspection, NULL), 0);
	ck_assert_int_eq(inspect_archive_end(a, m.inspection.end, NULL), 0);
	all = m.n;
	m.n = 1;
	is_prefix(&m, path, true, NULL);
	m.n = all;
}

/* The disk */

/* Write with a limit on the size of files, which are then removed like bytes of a full disk. */
static int write_limited(const struct made_inspection *m, size_t limit, size_t *kept)
{
	struct inspect_archive *a = create(&m->inspection);
	const char *path = support_path("%s", inspect_archive_path(a));
	struct rlimit was, now;
	struct error err = { 0 };
	int r = 0, end;

	getrlimit(RLIMIT_FSIZE, &was);
	now = (struct rlimit){ limit, was.rlim_max };
	setrlimit(RLIMIT_FSIZE, &now);
	for (*kept = 0; !r && *kept < m->n; *kept += !r)
		r = inspect_archive_add_snapshot(a, &m->snapshot[*kept]);
	setrlimit(RLIMIT_FSIZE, &was);
	end = inspect_archive_end(a, "the process ended", &err);
	ck_assert_int_eq(r, end);
	if (r)
		ck_assert_ptr_nonnull(strstr(err.message, "the archive is incomplete after "));
	is_prefix(m, path, false, NULL);
	{
		struct inspect_reader *reader = open_archive(path);

		ck_assert_uint_eq(inspect_reader_inspection(reader)->n_snapshots, *kept);
		ck_assert_str_eq(inspect_reader_inspection(reader)->end, "the process ended");
		ck_assert_ptr_null(inspect_reader_warning(reader));
		ck_assert_int_eq(!!r, !!inspect_reader_fact(reader, "error"));
		inspect_reader_close(reader);
	}
	return r;
}

TEST(full_disk)
{
	RELEASED(made_inspection, m);
	size_t kept, most = 0;

	made(&m, (struct made_inspection_wish){ .mappings = 30, .stacks = 40, .snapshots = 8,
						.seed = 13 });
	for (size_t limit = 1000; limit < 40000; limit += 777) {
		int r = write_limited(&m, limit, &kept);

		ck_assert(!r || r == -EFBIG);
		ck_assert_uint_ge(kept, most);
		most = kept;
	}
	ck_assert_uint_gt(most, 0);
}

TEST(read_only)
{
	struct made_inspection m;
	struct inspect_archive *a;
	struct error err = { 0 };
	const char *base = support_path("%s/base", support_tmpdir());

	SKIP_IF(!geteuid());
	made_inspection_compile(&m);
	ck_assert_int_eq(mkdir(base, 0500), 0);
	ck_assert_int_eq(inspect_archive_create(&a, base, NULL, &m.inspection, STORE_ACCESS_USER,
						&err), -EACCES);
	ck_assert_ptr_null(a);
	ck_assert_ptr_nonnull(strstr(err.message, "cannot make the archive"));
	made_inspection_release(&m);
}

/* The directory */

TEST(directory)
{
	RELEASED(made_inspection, m);
	struct inspect_archive *a, *other;
	struct error err = { 0 };
	struct stat st;
	const char *base = support_path("%s/inspect", support_tmpdir()), *name, *path;

	made_inspection_compile(&m);
	m.inspection.host = "a/b\n\xe2\x80\xaeh";
	m.inspection.program = "../ld\x1b\xff";
	ck_assert_int_eq(inspect_archive_create(&a, base, NULL, &m.inspection,
						STORE_ACCESS_GROUP, &err), 0);
	path = inspect_archive_path(a);
	ck_assert(!strncmp(path, base, strlen(base)));
	name = path + strlen(base) + 1;
	ck_assert_str_eq(name, "2026-11-23 21-51-49 - a_b__h - .._ld__ 12345");
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0750);
	ck_assert_int_eq(stat(support_path("%s/maps.log", path), &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0640);
	/* the same process, inspected twice */
	ck_assert_int_eq(inspect_archive_create(&other, base, NULL, &m.inspection,
						STORE_ACCESS_USER, &err), 0);
	ck_assert_str_eq(inspect_archive_path(other), support_path("%s 2", path));
	ck_assert_int_eq(stat(inspect_archive_path(other), &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0700);
	inspect_archive_end(other, "", NULL);
	inspect_archive_end(a, "", NULL);
	/* a path of the user's */
	path = support_path("%s/mine", base);
	ck_assert_int_eq(inspect_archive_create(&a, NULL, path, &m.inspection, STORE_ACCESS_USER,
						&err), 0);
	ck_assert_str_eq(inspect_archive_path(a), path);
	inspect_archive_end(a, "", NULL);
	ck_assert_int_eq(inspect_archive_create(&a, NULL, path, &m.inspection, STORE_ACCESS_USER,
						&err), -EEXIST);
}

/* Where others could replace it, there is no archive. */
TEST(others)
{
	RELEASED(made_inspection, m);
	struct inspect_archive *a;
	struct error err = { 0 };
	const char *base = support_path("%s/open", support_tmpdir());

	made_inspection_compile(&m);
	ck_assert_int_eq(mkdir(base, 0700), 0);
	ck_assert_int_eq(chmod(base, 0777), 0);
	ck_assert_int_eq(inspect_archive_create(&a, base, NULL, &m.inspection, STORE_ACCESS_USER,
						&err), -EPERM);
}

TEST(secrets)
{
	RELEASED(made_inspection, m);
	struct inspect_reader *r;

	made_inspection_compile(&m);
	m.inspection.command = "cc1plus -DPASSWORD=hunter2 -O2 x.cc";
	r = open_archive(write_all(&m));
	ck_assert_str_eq(inspect_reader_inspection(r)->command, "cc1plus -DPASSWORD=*** -O2 x.cc");
	inspect_reader_close(r);
}

TEST(no_archive)
{
	const char *dir = support_tmpdir();
	const struct { const char *text; int r; const char *message; } cases[] = {
		{ NULL, -ENOENT, "not an archive of an inspection" },
		{ "", -EINVAL, "not an archive of an inspection" },
		{ "buildbeat build 1\n", -EINVAL, "not an archive of an inspection" },
		{ "buildbeat inspection 1", -EINVAL, "later" },
		{ "buildbeat inspection 2\n", -EINVAL, "later version" },
	};
	struct inspect_reader *r;
	struct error err;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (cases[i].text)
			support_writes(support_path("%s/archive", dir), cases[i].text);
		ck_assert_int_eq(inspect_reader_open(&r, dir, &err), cases[i].r);
		ck_assert_ptr_nonnull(strstr(err.message, cases[i].message));
		ck_assert_ptr_null(r);
	}
	ck_assert_int_eq(inspect_reader_open(&r, support_path("%s/none", dir), &err), -ENOENT);
	ck_assert_int_eq(inspect_reader_open(&r, support_path("%s/archive", dir), &err), -ENOTDIR);
}

/* What the inspection knows later */
TEST(facts)
{
	RELEASED(made_inspection, m);
	struct inspect_archive *a;
	struct inspect_reader *r;
	const struct inspection *x;
	const char *path;

	made_inspection_compile(&m);
	m.inspection.heap = HEAP_OFF;
	m.inspection.task = "t\n7";
	a = create(&m.inspection);
	path = support_path("%s", inspect_archive_path(a));
	m.inspection.heap = HEAP_EXACT;
	m.inspection.heap_period = 0;
	ck_assert_int_eq(inspect_archive_add_snapshot(a, &m.snapshot[0]), 0);
	r = open_archive(path);
	x = inspect_reader_inspection(r);
	ck_assert_str_eq(x->task, "t\n7");
	ck_assert_int_eq(x->heap, HEAP_EXACT);
	ck_assert_str_eq(x->end, "");
	inspect_reader_close(r);
	ck_assert_int_eq(inspect_archive_end(a, "done", NULL), 0);
	r = open_archive(path);
	ck_assert_str_eq(inspect_reader_inspection(r)->end, "done");
	ck_assert_str_eq(inspect_reader_fact(r, "snapshots"), "1");
	inspect_reader_close(r);
}

TEST_MAIN(inspect_archive);
