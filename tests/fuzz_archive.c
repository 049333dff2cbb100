/* SPDX-License-Identifier: MIT */
/*
 * The readers of archives on any bytes. An input is files, each after a line "== NAME" and
 * before a newline. A name is a path in a build's tree ("tasks", "columns/wall_us",
 * "sys/proc_stat"), "message" of its commit, "note" on it, or "before", the dictionary of
 * the build before. Files of oe-build-perf-test are "results", "metadata", "buildstats".
 */
#include "archive/columns.h"
#include "archive/import_oe_run.h"
#include "archive/build.h"
#include "archive/build_tasks.h"
#include "archive/notes_text.h"
#include "archive/union.h"
#include "base/arena.h"
#include "recording/recording.h"
#include "tests/fuzz.h"

#include <git2/sys/mempack.h>
#include <git2/sys/repository.h>
#include <stdlib.h>
#include <string.h>

#define FILES_MAX 32

struct file {
	char name[64];
	struct buf content;
};

struct input {
	struct file file[FILES_MAX];
	size_t n;
};

static bool next_file(struct input *in, const uint8_t **at, const uint8_t *end)
{
	const uint8_t *eol = memchr(*at, '\n', (size_t)(end - *at)), *next;
	struct file *f = &in->file[in->n];
	size_t n;

	if (in->n == FILES_MAX || !eol || eol - *at < 4 || memcmp(*at, "== ", 3))
		return false;
	n = (size_t)(eol - *at) - 3;
	if (n >= sizeof f->name || memchr(*at + 3, '\0', n))
		return false;
	*f = (struct file){ .content = BUF_INIT };
	memcpy(f->name, *at + 3, n);
	eol++;
	next = memmem(eol, (size_t)(end - eol), "\n== ", 4);
	if (!next)
		next = end - (end > eol && end[-1] == '\n');
	buf_add(&f->content, eol, (size_t)(next - eol));
	check(!buf_error(&f->content));
	in->n++;
	*at = next < end ? next + 1 : end;
	return *at < end;
}

static struct buf *file_of(struct input *in, const char *name)
{
	static struct buf none;

	for (size_t i = 0; i < in->n; i++) {
		if (!strcmp(in->file[i].name, name))
			return &in->file[i].content;
	}
	return &none;
}

/* A build, in a repository in memory */

static struct archive *memory_archive(git_odb_backend **memory)
{
	static char path[] = "memory";
	static struct archive a = { .path = path };
	git_odb *odb;

	git_libgit2_init();
	check(!git_odb_new(&odb) && !git_mempack_new(memory) &&
	      !git_odb_add_backend(odb, *memory, 1) && !git_repository_wrap_odb(&a.git, odb));
	git_odb_free(odb);
	return &a;
}

/* The part of the input in that directory: "" or with its slash. */
static void put_files(git_treebuilder *tree, struct archive *a, struct input *in,
		      const char *directory)
{
	size_t n = strlen(directory);

	for (size_t i = 0; i < in->n; i++) {
		const char *name = in->file[i].name;
		struct buf *content = &in->file[i].content;
		git_oid id;

		if (strncmp(name, directory, n) || strchr(name + n, '/'))
			continue;
		check(!git_blob_create_from_buffer(&id, a->git, buf_str(content), content->len));
		/* Not every name is valid in a tree. */
		git_treebuilder_insert(NULL, tree, name + n, &id, GIT_FILEMODE_BLOB);
	}
}

static git_treebuilder *new_tree(struct archive *a)
{
	git_treebuilder *tree;

	check(!git_treebuilder_new(&tree, a->git, NULL));
	return tree;
}

static void put_directory(git_treebuilder *build, struct archive *a, struct input *in,
			  const char *name, const char *directory)
{
	git_treebuilder *tree = new_tree(a);
	git_oid id;

	put_files(tree, a, in, directory);
	check(!git_treebuilder_write(&id, tree) &&
	      !git_treebuilder_insert(NULL, build, name, &id, GIT_FILEMODE_TREE));
	git_treebuilder_free(tree);
}

static git_oid put_build(struct archive *a, struct input *in)
{
	const char *message = buf_str(file_of(in, "message"));
	git_treebuilder *build = new_tree(a);
	git_signature *by = NULL;
	git_tree *tree = NULL;
	git_oid id;

	put_files(build, a, in, "");
	put_directory(build, a, in, BUILD_COLUMNS, BUILD_COLUMNS "/");
	put_directory(build, a, in, "sys", "sys/");
	check(!git_treebuilder_write(&id, build) && !git_tree_lookup(&tree, a->git, &id) &&
	      !git_signature_new(&by, "a", "a", 0, 0));
	check(!git_commit_create_v(&id, a->git, NULL, by, by, NULL,
				   *message ? message : "Run-Id: a\n", tree, 0));
	git_signature_free(by);
	git_tree_free(tree);
	git_treebuilder_free(build);
	return id;
}

/* The promises of values.h, and a place for every error. */
static void check_values(const struct values *f)
{
	for (size_t i = 0; i < f->n_tasks; i++) {
		check(f->task[i].name && f->task[i].kind);
		check(!i || strcmp(f->task[i - 1].name, f->task[i].name) < 0);
		for (int c = 0; c < COLUMNS; c++)
			check(!f->column[c] || f->column[c][i] >= -1);
	}
	for (int t = 0; t < TOTALS; t++)
		check(f->total[t] >= -1);
}

static void check_recording(const struct recording *rec)
{
	for (size_t i = 0; i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[i];

		check(t->instance < rec->n_instances && t->name && *t->kind);
		check(t->start_us >= 0 && (t->end_us == -1 || t->end_us >= t->start_us));
		check(recording_task_end_us(rec, t) >= t->start_us && t->end_us <= rec->last_us);
	}
	for (size_t i = 0; i < rec->n_series; i++) {
		for (size_t k = 1; k < rec->series[i].n; k++)
			check(rec->series[i].time_ms[k] > rec->series[i].time_ms[k - 1]);
	}
}

static void read_build(struct archive *a, const char *name)
{
	struct recording rec = RECORDING_INIT;
	struct values f;
	struct error err = { 0 };
	int r = archive_values(a, name, &f, &err);

	check(!r || *err.message);
	if (!r) {
		check_values(&f);
		r = archive_recording(a, name, &rec, &err);
		check(!r || *err.message);
		check_recording(&rec);
		recording_release(&rec);
	}
	values_release(&f);
}

/* Dictionaries */

static void read_union(struct archive *a, const git_oid *commit, const struct buf *before)
{
	struct builds builds = { .texts = arena_new() };
	struct tasks_union all = { 0 };
	struct build_place now, was;
	struct error err = { 0 };
	struct tasks_of of;
	struct message m;
	int r = build_find(a, &now, &m, commit, &err);

	message_release(&m);
	if (r > 0) {
		was = now;
		check(!git_blob_create_from_buffer(&was.tasks, a->git, before->data, before->len));
		r = 0;
		for (int i = 0; !r && i < 4; i++) {
			r = union_add(&all, &of, &builds, a, i & 1 ? &now : &was, &err);
			for (size_t k = 0; !r && k < of.n; k++)
				check(union_tasks(&all, &of)[k] < builds.n_tasks);
		}
	}
	union_release(&all);
	free(builds.task);
	arena_free(builds.texts);
}

static void grow_dictionary(const struct buf *before)
{
	struct values_task task[] = { { "a", "cc" }, { "b", "" } };
	struct values f = { .n_tasks = 2, .task = task };
	struct build_tasks d = BUILD_TASKS_INIT;

	check(!build_tasks_make(&d, &f, before->data, before->len));
	check(d.n >= 2 && d.line[0] < d.n && d.line[1] < d.n && d.line[0] != d.line[1]);
	build_tasks_release(&d);
}

/* Columns: a column that was read is written unchanged. */
static void read_column(const struct buf *in)
{
	struct buf out = BUF_INIT;
	int64_t *value;
	size_t n;

	if (column_count(in->data, in->len, &n))
		return;
	value = malloc((n + 1) * sizeof *value);
	check(value && !column_read(in->data, in->len, value, n));
	column_write(&out, value, n);
	check(out.len <= in->len &&
	      !memcmp(out.data + out.len - 2 * n, in->data + in->len - 2 * n, 2 * n));
	buf_release(&out);
	free(value);
}

/* Notes: notes that were read are written so that they read the same. */

static void read_line(struct arena *texts, struct slice line)
{
	struct buf out = BUF_INIT;
	enum note_line what;
	struct known k, again;

	check(!note_line_read(&what, &k, texts, line));
	if (what == NOTE_SAYS) {
		note_line_add(&out, &k);
		check(!buf_error(&out) && out.len && out.data[out.len - 1] == '\n');
		check(!note_line_read(&what, &again, texts,
				      (struct slice){ out.data, out.len - 1 }));
		check(what == NOTE_SAYS && note_is_about(&k, &again) &&
		      k.time_s == again.time_s && !strcmp(k.reason, again.reason) &&
		      !strcmp(k.by, again.by));
	}
	buf_release(&out);
}

static void read_note(struct buf *note)
{
	struct slice all = slice_of(buf_str(note)), line, part[3];
	struct arena *texts = arena_new();
	struct buf out = BUF_INIT;
	struct cursor c;
	bool whole;

	cursor_init(&c, all.p, all.len);
	while (cursor_line(&c, &line, &whole))
		read_line(texts, line);
	for (size_t i = 0; i < 3; i++)
		part[i] = (struct slice){ all.p + i * (all.len / 3), all.len / 3 };
	note_merge(&out, part[0], part[1], part[2]);
	buf_clear(&out);
	note_merge(&out, all, all, all);
	check(!buf_error(&out));
	buf_release(&out);
	arena_free(texts);
}

/* oe-build-perf-test */

static void read_recording(struct recording *rec, int error)
{
	struct values f = VALUES_INIT;

	if (!error) {
		check_recording(rec);
		check(!values_make(&f, rec));
		check_values(&f);
	}
	values_release(&f);
	recording_release(rec);
}

static const struct json_value *read_json(struct json_document *doc, struct input *in,
					  const char *name)
{
	const struct buf *b = file_of(in, name);
	struct error err = { 0 };

	return b->data && !json_read_text(doc, b->data, b->len, name, 1, &err) ? doc->root : NULL;
}

static void read_run(struct input *in)
{
	struct json_document results = { 0 }, metadata = { 0 }, builds = { 0 };
	struct import_oe_run run = { .path = "run", .commit = "1234",
				     .results = read_json(&results, in, "results"),
				     .metadata = read_json(&metadata, in, "metadata") };
	const struct json_value *all = read_json(&builds, in, "buildstats");
	struct recording rec = RECORDING_INIT;
	struct error err = { 0 };

	if (run.results)
		read_recording(&rec, import_oe_tests(&rec, &run, &err));
	for (const struct json_value *v = run.results && all ? all->first : NULL; v; v = v->next) {
		rec = (struct recording)RECORDING_INIT;
		if (v->name && v->type == JSON_LIST)
			read_recording(&rec, import_oe_build(&rec, &run, v->name, v, &err));
	}
	if (run.results)
		json_document_release(&results);
	if (run.metadata)
		json_document_release(&metadata);
	if (all)
		json_document_release(&builds);
}

FUZZ_TARGET(archive)
{
	static git_odb_backend *memory;
	static struct archive *a;
	struct input in = { .n = 0 };
	const uint8_t *at = data, *end = data + size;
	git_oid commit;

	if (!a)
		a = memory_archive(&memory);
	while (next_file(&in, &at, end))
		;
	commit = put_build(a, &in);
	read_build(a, git_oid_tostr_s(&commit));
	read_union(a, &commit, file_of(&in, "before"));
	grow_dictionary(file_of(&in, "before"));
	for (size_t i = 0; i < in.n; i++)
		read_column(&in.file[i].content);
	read_note(file_of(&in, "note"));
	read_run(&in);
	git_mempack_reset(memory);
	for (size_t i = 0; i < in.n; i++)
		buf_release(&in.file[i].content);
	return 0;
}
