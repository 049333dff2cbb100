/* SPDX-License-Identifier: MIT */
/*
 * The readers of other tools' files on any bytes. An input is a line with the format's name, or with
 * "cmake-snippet" or "detect", and then the file. With "detect", the content decides the format.
 */
#include "convert/cmake_snippet.h"
#include "convert/convert.h"
#include "tests/fuzz.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The promises of recording.h, for any input. */

static void check_tasks(const struct recording *rec)
{
	for (size_t i = 0; i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[i];

		check(t->instance < rec->n_instances && *t->kind && t->name && t->key);
		check(t->start_us >= -1 && t->queued_us >= -1);
		check(t->end_us == -1 || t->end_us <= rec->last_us);
		check(recording_task_end_us(rec, t) >= t->start_us);
		check(t->first_after + t->n_after <= rec->n_after);
		check(t->first_out + t->n_out <= rec->n_out);
		check(recording_command(rec, t) != NULL);
		/* what has a name in words has one in JSON */
		check(*t->name || !*t->key);
	}
}

static void check_rest(const struct recording *rec)
{
	for (size_t i = 0; i < rec->n_instances; i++) {
		uint32_t parent = rec->instance[i].parent_task;

		check(parent == NO_INDEX || parent < rec->n_tasks);
		check(parent == NO_INDEX || rec->task[parent].instance < i);
	}
	for (size_t i = 0; i < rec->n_spans; i++) {
		const struct span *s = &rec->span[i];

		check(s->instance < rec->n_instances && s->begin_us <= s->end_us && s->name);
		check(s->task == NO_INDEX || s->task < rec->n_tasks);
	}
	for (size_t i = 0; i < rec->n_series; i++) {
		for (size_t k = 1; k < rec->series[i].n; k++)
			check(rec->series[i].time_ms[k] > rec->series[i].time_ms[k - 1]);
	}
}

static void read_snippet(const char *path)
{
	struct cmake_snippet s;
	struct error err = { 0 };

	if (cmake_snippet_read(&s, path, &err)) {
		check(*err.message);
		return;
	}
	check(*s.name && *s.role && s.start_us >= 0 && s.duration_us >= 0);
	cmake_snippet_release(&s);
}

/* In parts, there are as many tasks, spans and notes. */
struct counts {
	size_t tasks, spans, notes;
};

static int count_parts(void *context, struct recording *rec, const struct recording_parts *parts,
		       struct error *err)
{
	struct counts *n = context;
	int64_t last_us = 0;
	int r = 1;

	(void)err;
	do {
		if (parts)
			r = parts->next(parts->context);
		check_tasks(rec);
		check_rest(rec);
		for (size_t i = 0; parts && i < rec->n_tasks; i++) {
			check(rec->task[i].start_us >= last_us);
			check(rec->task[i].seq == ++n->tasks);
			last_us = rec->task[i].start_us;
		}
		n->tasks += parts ? 0 : rec->n_tasks;
		n->spans += rec->n_spans;
		n->notes += rec->n_notes;
	} while (parts && r > 0);
	return r < 0 ? r : 0;
}

static void read_parts(const struct converter *c, const char *path, const struct recording *whole)
{
	struct counts n = { 0 };
	struct error err = { 0 };
	int r = converter_pass(c, &path, 1, count_parts, &n, &err);

	check(!r == !!whole->path);
	check(n.tasks == whole->n_tasks && n.spans == whole->n_spans && n.notes == whole->n_notes);
}

static void read_whole(const struct converter *c, const char *path)
{
	struct recording rec = RECORDING_INIT;
	struct error err = { 0 };
	int r = converter_read(c, &rec, &path, 1, &err);

	if (c->pass)
		read_parts(c, path, &rec);

	check(r <= 0 && (!r || (*err.message && !rec.n_tasks)));
	check_tasks(&rec);
	check_rest(&rec);
	recording_release(&rec);
}

static void read_detected(const char *path)
{
	struct error err = { 0 };
	const struct converter *c = converter_of(path, &err);

	check(c || *err.message);
	if (c)
		read_whole(c, path);
}

FUZZ_TARGET(convert)
{
	const uint8_t *eol = size ? memchr(data, '\n', size < 20 ? size : 20) : NULL;
	const struct converter *c;
	char name[21] = "", path[64];
	int fd;

	if (!eol)
		return 0;
	memcpy(name, data, (size_t)(eol - data));
	c = converter_named(name);
	if (!c && strcmp(name, "cmake-snippet") && strcmp(name, "detect"))
		return 0;
	eol++;
	size -= (size_t)(eol - data);
	fd = memfd_create("fuzz", 0);
	check(fd >= 0 && write(fd, eol, size) == (ssize_t)size);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (c)
		read_whole(c, path);
	else if (!strcmp(name, "detect"))
		read_detected(path);
	else
		read_snippet(path);
	close(fd);
	return 0;
}
