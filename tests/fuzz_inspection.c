/* SPDX-License-Identifier: MIT */
/*
 * The reader of archives of inspections on any bytes. An input is a directory: lines "file NAME"
 * begin a file, and what follows is its content.
 */
#include "inspect/archive_files.h"
#include "tests/fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const files[] = {
	"archive", "maps.log", "heap.log", "pages.log", "process.log", "progress.log", "symbols.log",
};

static char dir[64];

static void remove_all(void)
{
	char path[128];

	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, files[i]);
		unlink(path);
	}
}

static void end(void)
{
	remove_all();
	rmdir(dir);
}

static void begin(void)
{
	if (*dir)
		return remove_all();
	/* where there is memory for files: no disk is written to */
	strcpy(dir, access("/dev/shm", W_OK) ? "/tmp/fuzz.XXXXXX" : "/dev/shm/fuzz.XXXXXX");
	check(mkdtemp(dir) && !atexit(end));
}

static const char *next_file(const char *p, const char *end_of, size_t *which)
{
	for (; p < end_of; p = p == end_of ? p : p + 1) {
		for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
			char line[32];
			size_t n = (size_t)snprintf(line, sizeof line, "file %s\n", files[i]);

			*which = i;
			if ((size_t)(end_of - p) >= n && !memcmp(p, line, n))
				return p;
		}
		p = memchr(p, '\n', (size_t)(end_of - p));
		if (!p)
			break;
	}
	return end_of;
}

static void write_files(const char *p, const char *end_of)
{
	size_t which, next;
	char path[128];

	for (p = next_file(p, end_of, &which); p < end_of; which = next) {
		const char *text = (const char *)memchr(p, '\n', (size_t)(end_of - p)) + 1;

		p = next_file(text, end_of, &next);
		snprintf(path, sizeof path, "%s/%s", dir, files[which]);
		fuzz_write(path, text, (size_t)(p - text));
	}
}

static void check_stacks(const struct inspection *x)
{
	for (size_t i = 0; i < x->n_modules; i++)
		check(x->module[i].file < x->names.n && x->module[i].start < x->module[i].end &&
		      strlen(x->module[i].build_id) < sizeof x->module[i].build_id);
	for (size_t i = 0; i < x->n_frames; i++) {
		check(x->frame[i].module == INSPECTION_NONE || x->frame[i].module < x->n_modules);
		check(x->frame[i].name == INSPECTION_NONE || x->frame[i].name < x->n_frame_names);
	}
	for (size_t i = 0; i < x->n_stacks; i++)
		check(x->stack[i].frame < x->n_frames &&
		      (x->stack[i].parent == INSPECTION_NONE || x->stack[i].parent < i));
	for (size_t i = 0; i < x->n_frame_names; i++) {
		const struct frame_name *f = &x->frame_name[i];

		check(f->function < x->names.n);
		check(f->source == INSPECTION_NONE || f->source < x->names.n);
		check(f->inlined_in == INSPECTION_NONE || f->inlined_in < i);
	}
	check(x->named_percent <= 100);
}

static void check_snapshot(const struct inspection *x, const struct snapshot *s)
{
	uint64_t kb = 0, live = 0;

	check(s->time_us >= 0);
	for (size_t i = 0; i < s->n; i++) {
		const struct mapping *m = &s->mapping[i];

		check(m->start < m->end && m->file < x->names.n && strlen(m->permissions) == 4);
		check(!i || m[-1].end <= m->start);
		kb += m->kb[MAPPING_RSS];
		check(kb <= UINT64_MAX >> 11);
	}
	for (size_t i = 0; i < s->n_sites; i++) {
		check(s->site[i].stack < x->n_stacks);
		live += s->site[i].live_bytes;
		check(live <= INT64_MAX);
	}
	for (size_t i = 0; i < s->n_ranges; i++)
		check(s->range[i].stack < x->n_stacks && s->range[i].start < s->range[i].end);
	for (size_t i = 0; i < s->n_resident; i++)
		check(s->resident[i].start < s->resident[i].end);
	check((s->has_heap || !s->n_sites) && (s->has_pages || !s->n_resident));
}

static void read_archive(void)
{
	struct inspect_reader *r;
	struct snapshot s = { 0 };
	struct error err = { 0 };

	if (inspect_reader_open(&r, dir, &err)) {
		check(!r && err.message[0]);
		return;
	}
	check_stacks(inspect_reader_inspection(r));
	/* what was found to be good stays so, also backward */
	for (size_t i = inspect_reader_inspection(r)->n_snapshots; i--;) {
		check(!inspect_reader_snapshot(r, i, &s, &err));
		check_snapshot(inspect_reader_inspection(r), &s);
	}
	snapshot_release(&s);
	inspect_reader_close(r);
}

FUZZ_TARGET(inspection)
{
	struct inspect_progress_list l;
	struct error err;

	begin();
	write_files((const char *)data, (const char *)data + size);
	read_archive();
	if (!inspect_progress_read(&l, dir, &err))
		check(l.n && l.line[l.n - 1].percent <= 100);
	inspect_progress_release(&l);
	return 0;
}
