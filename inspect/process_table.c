/* SPDX-License-Identifier: MIT */
#include "inspect/process_table.h"

#include "base/array.h"
#include "base/readfile.h"
#include "sampler/parse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IO_MAX 1024

int process_table_init(struct process_table *t)
{
	*t = (struct process_table){ .n = 0 };
	return process_list_init(&t->list);
}

void process_table_release(struct process_table *t)
{
	free(t->row);
	buf_release(&t->words);
	process_list_release(&t->list);
	*t = (struct process_table){ .list = { .proc_fd = -1, .list_fd = -1 } };
}

static void read_io(const struct process_list *l, struct process_row *row)
{
	char text[IO_MAX];
	struct root_text io = { text, 0, sizeof text };
	struct want want[] = { { .key = "read_bytes" }, { .key = "write_bytes" } };

	row->read_kb = row->written_kb = -1;
	if (!root_read_process(l->proc_fd, row->process->pid, "io", &io) ||
	    parse_keyed(&io, want, 2) != 2)
		return;
	row->read_kb = (int64_t)(want[0].value / 1024);
	row->written_kb = (int64_t)(want[1].value / 1024);
}

/* "0" is that of a process that runs, or that the reader must not see. */
static void read_wait(const struct process_list *l, struct process_row *row)
{
	char path[32];

	snprintf(path, sizeof path, "%d/wchan", (int)row->process->pid);
	if (readfile_line(l->proc_fd, path, row->wait_channel, sizeof row->wait_channel) < 0 ||
	    !strcmp(row->wait_channel, "0"))
		row->wait_channel[0] = '\0';
}

static void fill_row(struct process_table *t, struct process_row *row)
{
	process_list_add_words(&t->list, row->process, &t->words);
	buf_addc(&t->words, '\0');
	read_io(&t->list, row);
	read_wait(&t->list, row);
}

/* The words of all commands are in one buffer, which moves while it grows. */
static int set_words(struct process_table *t)
{
	const char *p = t->words.data;

	if (buf_error(&t->words))
		return buf_error(&t->words);
	for (size_t i = 0; i < t->n; i++) {
		t->row[i].words = p;
		p += strlen(p) + 1;
	}
	return 0;
}

int process_table_read(struct process_table *t, const struct live_build *build,
		       bool (*shown)(void *context, const struct listed *p, bool of_build),
		       void *context)
{
	int r = process_list_read(&t->list);

	t->n = 0;
	free(t->row);
	t->row = r ? NULL : array_new_zero(t->list.n + 1, sizeof *t->row);
	if (!t->row)
		return r ? r : -ENOMEM;
	if (build)
		live_build_select(build, &t->list);
	buf_clear(&t->words);
	for (size_t i = 0; i < t->list.n; i++) {
		struct listed *p = &t->list.process[i];
		bool of_build = p->selected;

		p->selected = !p->kernel && shown(context, p, of_build);
		if (!p->selected)
			continue;
		t->row[t->n] = (struct process_row){
			.process = p, .of_build = of_build,
			.task = build ? live_build_task(build, &t->list, p) : NULL };
		fill_row(t, &t->row[t->n++]);
	}
	return set_words(t);
}
