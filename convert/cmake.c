/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/cursor.h"
#include "base/str.h"
#include "convert/builder.h"
#include "convert/cmake_snippet.h"
#include "convert/converters.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Data of CMake's instrumentation (cmake-instrumentation(7), data version 1): an index file, which
 * CMake gives to callbacks, with the snippets that it lists; or the directory of the data or the
 * build directory, with all snippets in it.
 */

#define DATA "/.cmake/instrumentation/v1/data"
#define SLACK_US 1000		/* CMake writes times in milliseconds */

struct data {
	const char *path;		/* of the import */
	struct error *err;
	char dir[PATH_MAX];		/* of the snippets */
	size_t n;
	struct cmake_snippet *snippet;
};

static int no_memory(const struct data *d)
{
	return error_sys(d->err, -ENOMEM, d->path, NULL);
}

/* Finding the snippets */

static int add_snippet(struct data *d, const char *name)
{
	char path[PATH_MAX];
	struct cmake_snippet *s;
	int r;

	if (snprintf(path, sizeof path, "%s/%s", d->dir, name) >= (int)sizeof path)
		return error_sys(d->err, -ENAMETOOLONG, d->path, NULL);
	s = array_add(&d->snippet, &d->n, sizeof *s);
	if (!s)
		return no_memory(d);
	r = cmake_snippet_read(s, path, d->err);
	if (r)
		d->n--;
	return r;
}

static int add_directory(struct data *d)
{
	DIR *dir = opendir(d->dir);
	struct dirent *entry;
	int r = dir ? 0 : error_sys(d->err, -errno, d->dir, NULL);

	while (!r && (errno = 0, entry = readdir(dir))) {
		if (str_ends(entry->d_name, ".json") && entry->d_name[0] != '.')
			r = add_snippet(d, entry->d_name);
	}
	if (!r && errno)
		r = error_sys(d->err, -errno, d->dir, NULL);
	if (dir)
		closedir(dir);
	if (!r && !d->n)
		r = error_set(d->err, -EINVAL, d->dir, 0, 0,
			      "no snippets of CMake in this directory");
	return r;
}

static int add_listed(struct data *d, const struct json_value *list)
{
	int r = 0;

	if (!list || list->type != JSON_LIST)
		return error_set(d->err, -EINVAL, d->path, 1, 0, "an index without snippets");
	for (const struct json_value *s = list->first; s; s = s->next) {
		if (!*json_text(s))
			return error_set(d->err, -EINVAL, d->path, 1, 0,
					 "expected the name of a file as snippet");
		r = add_snippet(d, json_text(s));
		if (r)
			return r;
	}
	return 0;
}

static bool is_dir(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* The index names the directory of the data, but both may have been moved since. */
static int set_directory(struct data *d, const struct json_value *root)
{
	const char *written = json_member_text(root, "dataDir");
	const char *slash = strrchr(d->path, '/');

	if (*written && is_dir(written))
		snprintf(d->dir, sizeof d->dir, "%s", written);
	else if (slash)		/* DIR/index/index-TIME.json */
		snprintf(d->dir, sizeof d->dir, "%.*s/..", (int)(slash - d->path), d->path);
	else
		snprintf(d->dir, sizeof d->dir, "..");
	return strlen(d->dir) + 1 == sizeof d->dir ?
	       error_sys(d->err, -ENAMETOOLONG, d->path, NULL) : 0;
}

static void add_system(struct builder *b, const struct json_value *system)
{
	static const char *const keys[][2] = {
		{ "hostname", "host" }, { "OSRelease", "kernel" }, { "OSPlatform", "machine" },
	};
	int64_t cores = json_member_number(system, "numberOfLogicalCPU", 0, 0);
	int64_t memory_mb = json_member_number(system, "totalPhysicalMemory", 0, 0);

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (*json_member_text(system, keys[i][0]))
			builder_build(b, keys[i][1], json_member_text(system, keys[i][0]));
	}
	if (cores > 0)
		builder_build_number(b, "cores", cores);
	if (memory_mb > 0 && memory_mb < INT64_MAX / 1024)
		builder_build_number(b, "memory_kb", memory_mb * 1024);
}

static int read_index(struct data *d, struct builder *b)
{
	struct json_document index;
	int64_t version;
	int r = json_read_file(&index, d->path, d->err);

	if (r)
		return r;
	version = json_member_number(index.root, "version", 0, -1);
	if (version < 0)
		r = error_set(d->err, -EINVAL, d->path, 1, 0, "not an index of CMake");
	else if (version != 1)
		r = error_set(d->err, -EINVAL, d->path, 1, 0, "an index of version %lld, not 1",
			      (long long)version);
	if (!r)
		r = set_directory(d, index.root);
	if (!r)
		r = add_listed(d, json_member(index.root, "snippets"));
	if (!r) {
		add_system(b, json_member(index.root, "staticSystemInformation"));
		if (*json_member_text(index.root, "buildDir"))
			builder_build(b, "cwd", json_member_text(index.root, "buildDir"));
	}
	json_document_release(&index);
	return r;
}

/* The data of a build directory, or the directory itself. */
static int read_data(struct data *d, struct builder *b)
{
	if (!is_dir(d->path))
		return read_index(d, b);
	if ((snprintf(d->dir, sizeof d->dir, "%s" DATA, d->path) >= (int)sizeof d->dir ||
	     !is_dir(d->dir)) &&
	    snprintf(d->dir, sizeof d->dir, "%s", d->path) >= (int)sizeof d->dir)
		return error_sys(d->err, -ENAMETOOLONG, d->path, NULL);
	return add_directory(d);
}

bool cmake_recognise(const struct convert_file *file)
{
	char dir[PATH_MAX];

	if (file->is_dir)
		return snprintf(dir, sizeof dir, "%s" DATA, file->path) < (int)sizeof dir &&
		       is_dir(dir);
	return file->len && memmem(file->head, file->len, "\"snippets\"", 10) &&
	       memmem(file->head, file->len, "\"dataDir\"", 9);
}

/* Into the recording */

static const char *kind_of(const struct cmake_snippet *s)
{
	static const struct {
		const char *role, *kind;
	} kinds[] = {
		{ "compile", "compile" }, { "link", "link" }, { "test", "test" },
		{ "ctest", "test" }, { "configure", "configure" }, { "generate", "configure" },
		{ "install", "install" }, { "cmakeInstall", "install" }, { "build", "make" },
		{ "cmakeBuild", "make" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(s->role, kinds[i].role))
			return kinds[i].kind;
	}
	return *s->command ? NULL : "other";
}

/* Containers come first, and of those that start together the longest. */
static int by_time(const void *x, const void *y)
{
	const struct cmake_snippet *a = x, *b = y;
	int order = array_order(b->contains, a->contains);

	order = order ? order : array_order(a->start_us, b->start_us);
	order = order ? order : array_order(b->duration_us, a->duration_us);
	return order ? order : strcmp(a->name, b->name);
}

/* A snippet that contains others. Their instance is added for the first of them. */
struct container {
	const struct cmake_snippet *snippet;
	uint32_t task, instance;
};

/* The instance of the shortest container around a snippet, of several the one that starts last;
 * otherwise top. */
static uint32_t instance_for(struct builder *b, struct container *c, size_t n,
			     const struct cmake_snippet *s, uint32_t top)
{
	struct container *outer = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct cmake_snippet *o = c[i].snippet;

		if (o != s && s->start_us + SLACK_US >= o->start_us &&
		    s->start_us + s->duration_us <= o->start_us + o->duration_us + SLACK_US &&
		    (!outer || o->duration_us <= outer->snippet->duration_us))
			outer = &c[i];
	}
	if (outer && outer->instance == NO_INDEX)
		outer->instance = builder_instance(b, strcmp(outer->snippet->role, "ctest") ?
						   "cmake" : "ctest", NULL,
						   outer->snippet->command, outer->task);
	return outer ? outer->instance : top;
}

static uint32_t add_task(struct builder *b, uint32_t instance, const struct cmake_snippet *s,
			 int64_t zero_us)
{
	struct builder_task task;
	uint32_t at;

	builder_task_init(&task);
	task.name = s->name;
	task.kind = kind_of(s);
	task.key = s->target;
	task.command = s->command;
	task.start_us = s->start_us - zero_us;
	task.end_us = task.start_us + s->duration_us;
	task.state = s->result > 0 ? TASK_FAILED : TASK_DONE;
	task.status = s->result < 0 || s->result > 255 ? -1 : (int32_t)(s->result << 8);
	at = builder_task(b, instance, &task);
	if (s->outputs && s->outputs->first) {
		for (const struct json_value *o = s->outputs->first->next; o; o = o->next)
			builder_out(b, at, json_text(o));
	}
	return at;
}

/* The command of a link lists its inputs: outputs of other snippets. */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_word(struct builder *b, uint32_t task, const struct cmake_snippet *s,
		     struct slice word, const char *const *names, size_t n)
{
	char text[PATH_MAX];
	const char *key = text;

	while (word.len && strchr("\"'", word.p[0])) {
		word.p++;
		word.len--;
	}
	while (word.len && strchr("\"'", word.p[word.len - 1]))
		word.len--;
	if (!word.len || word.len >= sizeof text)
		return;
	memcpy(text, word.p, word.len);
	text[word.len] = '\0';
	if (strcmp(text, s->name) && bsearch(&key, names, n, sizeof *names, by_text))
		builder_after(b, task, text);
}

static void add_inputs(struct builder *b, uint32_t task, const struct cmake_snippet *s,
		       const char *const *names, size_t n)
{
	struct cursor c;
	struct slice word;

	if (strcmp(s->role, "link") && strcmp(s->role, "custom"))
		return;
	cursor_init(&c, s->command, strlen(s->command));
	while (!cursor_at_end(&c)) {
		if (cursor_until(&c, ' ', &word))
			add_word(b, task, s, word, names, n);
	}
}

static const char **output_names(const struct data *d, size_t *n)
{
	const char **names = array_new_zero(d->n, sizeof *names);

	*n = 0;
	for (size_t i = 0; names && i < d->n; i++) {
		if (d->snippet[i].outputs)
			names[(*n)++] = d->snippet[i].name;
	}
	if (names)
		qsort(names, *n, sizeof *names, by_text);
	return names;
}

static void add_tasks(struct builder *b, const struct data *d, struct container *c,
		      const char *const *names, size_t n_names)
{
	const struct cmake_snippet *first = &d->snippet[0];
	size_t n = 0;
	uint32_t top;

	for (size_t i = 1; i < d->n; i++) {
		if (d->snippet[i].start_us < first->start_us)
			first = &d->snippet[i];
	}
	builder_start_wall(b, first->start_us * 1000);
	builder_build(b, "tool", "cmake");
	builder_build(b, "command", d->snippet[0].contains && *d->snippet[0].command ?
		      d->snippet[0].command : "cmake");
	top = builder_instance(b, "cmake", NULL, NULL, NO_INDEX);
	for (size_t i = 0; i < d->n; i++) {
		const struct cmake_snippet *s = &d->snippet[i];
		uint32_t task = add_task(b, instance_for(b, c, n, s, top), s, first->start_us);

		if (s->contains)
			c[n++] = (struct container){ s, task, NO_INDEX };
		add_inputs(b, task, s, names, n_names);
	}
}

static int build(struct builder *b, struct data *d)
{
	struct container *containers = array_new_zero(d->n, sizeof *containers);
	const char **names;
	size_t n;
	int r = 0;

	if (d->n)
		qsort(d->snippet, d->n, sizeof *d->snippet, by_time);
	names = output_names(d, &n);
	if (!containers || !names)
		r = no_memory(d);
	else if (d->n)
		add_tasks(b, d, containers, names, n);
	else
		builder_build(b, "tool", "cmake");
	free(containers);
	free(names);
	return r;
}

int cmake_read(struct recording *rec, const char *path, struct error *err)
{
	struct data d = { .path = path, .err = err };
	struct builder b;
	int r;

	builder_init(&b, rec, path);
	r = read_data(&d, &b);
	if (!r)
		r = build(&b, &d);
	r = builder_end(&b, r, path, err);
	for (size_t i = 0; i < d.n; i++)
		cmake_snippet_release(&d.snippet[i]);
	free(d.snippet);
	return r;
}
