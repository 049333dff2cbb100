/* SPDX-License-Identifier: MIT */
#include "launch/tasklog.h"

#include "base/file.h"
#include "command/build_tool.h"
#include "convert/ninja/join.h"
#include "recording/event.h"
#include "recording/layout.h"
#include "recording/recording.h"
#include "recording/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROVED_MAX 50000		/* tasks that are read at the end of a build: 0.1 s */

/* Processes with an open instance; a pid may have several. */
struct open_pids {
	size_t n, cap;
	struct {
		char inst[INSTANCE_ID_MAX];
		int32_t pid;
	} *item;
};

static int remember_pid(struct open_pids *o, struct slice inst, int64_t pid)
{
	if (inst.len >= INSTANCE_ID_MAX)
		return 0;
	if (o->n == o->cap) {
		size_t cap = o->cap ? 2 * o->cap : 64;
		void *grown = realloc(o->item, cap * sizeof *o->item);

		if (!grown)
			return -ENOMEM;
		o->item = grown;
		o->cap = cap;
	}
	memcpy(o->item[o->n].inst, inst.p, inst.len);
	o->item[o->n].inst[inst.len] = '\0';
	o->item[o->n++].pid = (int32_t)pid;
	return 0;
}

static void forget_instance(struct open_pids *o, struct slice inst)
{
	for (size_t i = o->n; i > 0; i--) {
		if (slice_is(inst, o->item[i - 1].inst)) {
			o->item[i - 1] = o->item[--o->n];
			return;
		}
	}
}

/* The text after STORE_NOTE_PREFIX, written by the plugin. */
static void take_note(struct tasklog *t, struct event *e)
{
	struct slice text = event_field(e);
	size_t skip = strlen(STORE_NOTE_PREFIX);

	if (e->seq || t->note[0] || text.len <= skip || memcmp(text.p, STORE_NOTE_PREFIX, skip))
		return;
	snprintf(t->note, sizeof t->note, "%.*s", (int)(text.len - skip), text.p + skip);
}

/* The tool is after pid, level and ancestors. */
static bool is_ninja(struct event e)
{
	for (int i = 0; i < 3; i++)
		event_field(&e);
	return build_tool_find(event_field(&e))->ninja;
}

static int scan_line(struct tasklog *t, struct open_pids *o, struct slice line)
{
	struct event e;

	if (event_parse(line, &e) != EVENT_PARSED)
		return 0;
	if (e.kind == EVENT_CLOSE)
		forget_instance(o, e.inst);
	if (e.kind == EVENT_NOTE)
		take_note(t, &e);
	t->tasks += e.kind == EVENT_START;
	if (e.kind != EVENT_OPEN)
		return 0;
	t->instances++;
	t->ninjas += is_ninja(e);
	return remember_pid(o, e.inst, event_number(&e));
}

static int scan_file(struct tasklog *t, struct open_pids *o, int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char line[EVENT_MAX + 1];
	bool whole = true;
	int r = 0;

	if (!f) {
		r = -errno;
		file_close(fd);
		return r;
	}
	while (!r && fgets(line, sizeof line, f)) {
		size_t n = strlen(line);

		whole = n && line[n - 1] == '\n';
		if (whole)
			r = scan_line(t, o, (struct slice){ line, n - 1 });
	}
	if (!r && ferror(f))
		r = -EIO;
	t->torn |= !whole;
	fclose(f);
	return r;
}

static bool is_tasks_log(const char *name)
{
	size_t n = strlen(name);

	return !strncmp(name, LAYOUT_TASKS_PREFIX, strlen(LAYOUT_TASKS_PREFIX)) && n > 4 &&
	       !strcmp(name + n - 4, ".log");
}

int tasklog_scan(int dir_fd, struct tasklog *t)
{
	struct open_pids open_pids = { 0 };
	DIR *dir = file_open_dir_at(dir_fd, ".");
	struct dirent *entry;
	int r = dir ? 0 : -errno;

	*t = (struct tasklog){ 0 };
	while (!r && (entry = readdir(dir))) {
		if (is_tasks_log(entry->d_name))
			r = scan_file(t, &open_pids, dir_fd, entry->d_name);
	}
	for (size_t i = 0; i < open_pids.n; i++) {
		if (open_pids.item[i].pid > 0 && !kill(open_pids.item[i].pid, 0))
			t->alive++;
	}
	free(open_pids.item);
	if (dir)
		closedir(dir);
	return r;
}

int tasklog_prove(struct buf *out, const struct tasklog *t, const char *path)
{
	const struct recording_options options = { .proof = true };
	struct recording rec = RECORDING_INIT;
	int r = 0;

	if (t->tasks <= PROVED_MAX && !(r = recording_read_as(&rec, path, &options, NULL))) {
		proof_add_processes(out, &rec.proof, &rec);
		/* that a process has not ended is known if it exists */
		if (!out->len && rec.proof.n_unclosed > t->alive)
			proof_add_unclosed(out, &rec.proof);
		r = buf_error(out);
	}
	recording_release(&rec);
	return r;
}
