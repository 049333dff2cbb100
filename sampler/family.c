/* SPDX-License-Identifier: MIT */
#include "sampler/family.h"

#include "base/minmax.h"
#include "sampler/cputime.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define OUT_SIZE 65536

int family_init(struct family *f, int dir_fd)
{
	*f = (struct family){ .log = LOG_CLOSED };
	f->member = calloc(FAMILY_MAX, sizeof *f->member);
	f->head = calloc(FAMILY_HEADS, sizeof *f->head);
	if (!f->member || !f->head || buf_reserve(&f->out, OUT_SIZE + EVENT_MAX)) {
		family_release(f);
		return -ENOMEM;
	}
	buf_adds(&f->out, PROCESS_LOG_HEADER);
	return log_open(&f->log, dir_fd, PROCESS_LOG_NAME);
}

void family_release(struct family *f)
{
	log_close(&f->log);
	buf_release(&f->out);
	free(f->member);
	free(f->head);
	*f = (struct family){ .log = LOG_CLOSED };
}

/* Members by number */

static uint32_t *head_of(const struct family *f, int32_t pid)
{
	return &f->head[(uint32_t)pid % FAMILY_HEADS];
}

struct member *family_find(const struct family *f, int32_t pid)
{
	for (uint32_t i = *head_of(f, pid); i; i = f->member[i - 1].next) {
		if (f->member[i - 1].pid == pid)
			return &f->member[i - 1];
	}
	return NULL;
}

static struct member *take_free(struct family *f)
{
	struct member *m;

	if (f->free) {
		m = &f->member[f->free - 1];
		f->free = m->next;
		return m;
	}
	return f->top < FAMILY_MAX ? &f->member[f->top++] : NULL;
}

static void give_back(struct family *f, struct member *m)
{
	uint32_t number = (uint32_t)(m - f->member) + 1, *at = head_of(f, m->pid);

	while (*at != number)
		at = &f->member[*at - 1].next;
	*at = m->next;
	m->pid = 0;
	m->next = f->free;
	f->free = number;
	f->n--;
}

/* Lines */

void family_flush(struct family *f)
{
	log_append(&f->log, &f->out);
	buf_clear(&f->out);
}

int family_error(const struct family *f)
{
	return f->log.error;
}

static void add_line(struct family *f, const struct process_line *l)
{
	process_log_add(&f->out, l);
	if (f->out.len >= OUT_SIZE)
		family_flush(f);
}

void family_lost(struct family *f, int64_t t_us, uint64_t n)
{
	struct process_line l = { .word = PROCESS_LOST, .time_us = t_us };

	l.n_lost = n < INT64_MAX ? (int64_t)n : INT64_MAX;
	add_line(f, &l);
}

/* Events */

struct member *family_birth(struct family *f, int32_t pid, int32_t parent, int64_t t_us)
{
	const struct member *p = family_find(f, parent);
	struct member *m = family_find(f, pid);
	uint32_t *head = head_of(f, pid);

	if (m)
		family_death(f, m, t_us, PROCESS_ENDED);
	f->n_born++;
	m = take_free(f);
	if (!m) {
		f->n_without_room++;
		return NULL;
	}
	*m = (struct member){ .pid = pid, .parent = parent, .threads = 1, .next = *head,
			      .start_us = t_us, .exec_us = -1, .zombie_us = -1,
			      .adopted_us = -1, .cpu_us = -1, .delay_us = -1 };
	event_end_init(&m->sum, -1);
	if (p) {
		m->command_len = p->command_len;
		memcpy(m->command, p->command, p->command_len);
	}
	*head = (uint32_t)(m - f->member) + 1;
	f->n++;
	return m;
}

void family_command(struct member *m, char *words, size_t len)
{
	struct buf b;

	buf_init_fixed(&b, m->command, sizeof m->command);
	process_log_command(&b, words, len);
	m->command_len = (uint16_t)b.len;
}

void family_death(struct family *f, struct member *m, int64_t t_us, enum process_word word)
{
	struct process_line l;

	cputime_split(&m->sum, m->cpu_us);
	l = (struct process_line){
		.word = word, .time_us = MAX(t_us, m->start_us),
		.pid = m->pid, .parent = m->parent,
		.command = { m->command, m->command_len }, .end = m->sum,
		.delay_us = m->delay_us,
	};

	l.wall_us = l.time_us - m->start_us;
	l.exec_us = m->exec_us < 0 ? -1 : m->exec_us - m->start_us;
	add_line(f, &l);
	give_back(f, m);
}

void family_forget(struct family *f, struct member *m)
{
	f->n_born--;
	give_back(f, m);
}
