/* SPDX-License-Identifier: MIT */
#include "analyse/output_marks.h"

#include "analyse/cost.h"
#include "base/array.h"
#include "base/hash.h"
#include "base/minmax.h"
#include "base/search.h"
#include "base/sort.h"
#include "recording/event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * How the lines of a build's output find the tasks that wrote them. Example: make prints
 *
 *	gcc  -c "a.c"
 *	a.c:1: warning: ...
 *
 * and the recording has a task with the command "gcc -c a.c". The first line is equal to that
 * command, so it is a mark of the task: output behind it, up to the next mark, can be the task's.
 * If several tasks have this command, the times at which each of them can have printed it decide.
 *
 * make prints a command as it is in the makefile. If it runs it without a shell, the recording has
 * its words. So blanks, quotes and backslashes are not compared. A recorded command may be
 * truncated: it is looked up by its first KEY_LEN characters, and compared wholly if it is whole.
 */
#define KEY_LEN 400

/* The next command of the same target is looked for among this many tasks that follow. */
#define NEXT_COMMAND 256

/* If more tasks have one command, their times are not compared: the cost grows with the square. */
#define EQUAL_MAX 1000

struct hashing {
	uint64_t hash, key;
	size_t n;
};

static void hash_text(struct hashing *h, const char *p, size_t len)
{
	for (const char *end = p + len; p < end; p++) {
		if (output_is_skipped(*p))
			continue;
		h->hash = hash_fnv64_more(h->hash, p, 1);
		if (++h->n == KEY_LEN)
			h->key = h->hash;
	}
}

static uint64_t key_of(const struct hashing *h)
{
	return h->n < KEY_LEN ? h->hash : h->key;
}

#define HASHING_INIT { .hash = UINT64_C(0xcbf29ce484222325) }

/* Commands */

static void read_command(struct output_command *c, const char *text)
{
	struct hashing h = HASHING_INIT;
	size_t len = strlen(text);
	const char *mark = len > 10 ? memmem(text + len - 10, 10, "~#", 2) : NULL, *end;

	c->truncated = mark;
	if (mark)
		len = (size_t)(mark - text);
	for (const char *p = text; p < text + len; p = end + 1) {
		end = memchr(p, '\n', len - (size_t)(p - text));
		if (!end)
			end = text + len;
		hash_text(&h, p, (size_t)(end - p));
		if (p == text)
			c->key = key_of(&h);
		else
			c->more_lines++;
	}
	c->hash = h.hash;
}

static int order(const void *a, const void *b)
{
	const struct output_command *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return array_order(x->task, y->task);
}

/* Does make print the command of the task? It does not print that of $(shell ...). */
static bool is_printed(const struct output_marks *m, const struct task *t)
{
	return output_is(&m->rec->instance[t->instance], BUILD_TOOL_COMMANDS) && t->start_us >= 0 &&
		!task_is_shell(t) && !m->buried[t->instance];
}

/* Find the tasks whose output make collects until they end (make -O). A note of the instance says
 * since when it does; it is written with the first such task. */
static int find_collected(struct output_marks *m)
{
	const struct recording *rec = m->rec;
	int64_t *since_us = array_new_zero(rec->n_instances, sizeof *since_us);

	if (!since_us)
		return -ENOMEM;
	for (uint32_t i = 0; i < rec->n_instances; i++)
		since_us[i] = INT64_MAX;
	for (size_t i = 0; i < rec->n_notes; i++) {
		const struct note *n = &rec->note[i];

		if (n->task == NO_INDEX && n->instance < rec->n_instances &&
		    !strcmp(n->text, EVENT_NOTE_COLLECTS))
			since_us[n->instance] = n->time_us;
	}
	for (size_t i = 0; i < rec->n_tasks; i++)
		m->collected[i] = rec->task[i].start_us >= since_us[rec->task[i].instance] &&
			!task_is_shell(&rec->task[i]);
	free(since_us);
	for (size_t i = 0; i < rec->n_notes; i++) {
		if (rec->note[i].task != NO_INDEX && !strcmp(rec->note[i].text, EVENT_NOTE_DIRECT))
			m->collected[rec->note[i].task] = false;
	}
	for (uint32_t i = 0; i < rec->n_instances; i++) {
		uint32_t parent = rec->instance[i].parent_task;

		for (; parent != NO_INDEX && !m->buried[i];
		     parent = rec->instance[rec->task[parent].instance].parent_task)
			m->buried[i] = m->collected[parent] ||
				output_is(&rec->instance[rec->task[parent].instance], BUILD_TOOL_RECIPES);
	}
	return 0;
}

int output_marks_init(struct output_marks *m, const struct recording *rec, struct output_pipes *pipes)
{
	*m = (struct output_marks){ .rec = rec, .pipes = pipes, .pending = NO_INDEX };
	m->command = calloc(rec->n_tasks ? rec->n_tasks : 1, sizeof *m->command);
	m->synced = calloc(rec->n_tasks ? rec->n_tasks : 1, sizeof *m->synced);
	m->printed_us = calloc(rec->n_tasks ? rec->n_tasks : 1, sizeof *m->printed_us);
	m->collected = array_new_zero(rec->n_tasks, sizeof *m->collected);
	m->buried = array_new_zero(rec->n_instances, sizeof *m->buried);
	if (!m->command || !m->synced || !m->printed_us || !m->collected || !m->buried)
		return -ENOMEM;
	if (find_collected(m))
		return -ENOMEM;
	for (uint32_t i = 0; i < rec->n_tasks; i++) {
		struct output_command *c = &m->command[m->n_commands];
		const char *text;

		if (!is_printed(m, &rec->task[i]))
			continue;
		text = recording_command(rec, &rec->task[i]);
		if (!*text)
			continue;
		c->task = i;
		read_command(c, text);
		m->n_commands++;
	}
	qsort(m->command, m->n_commands, sizeof *m->command, order);
	for (uint32_t i = 0; i < rec->n_instances; i++)
		m->has_ninja |= output_is(&rec->instance[i], BUILD_TOOL_STATUS);
	return recording_command_error(rec);
}

void output_marks_release(struct output_marks *m)
{
	free_all(m->command, m->synced, m->printed_us, m->collected, m->buried, m->mark);
}

static uint32_t find_command(const struct output_marks *m, uint64_t key)
{
	struct search_range s = search_all(m->n_commands);

	while (search_next(&s))
		search_past(&s, m->command[s.at].key < key);
	return s.at < m->n_commands && m->command[s.at].key == key ? (uint32_t)s.at : NO_INDEX;
}

/* Lines */

static int new_mark(struct output_marks *m, uint32_t group, uint32_t pipe, uint64_t first, uint64_t n_lines,
		    int64_t from_us, int64_t to_us)
{
	struct output_mark *mark = array_add(&m->mark, &m->n, sizeof *m->mark);

	if (!mark)
		return -ENOMEM;
	*mark = (struct output_mark){
		.line = first, .n_lines = n_lines, .from_us = from_us, .to_us = to_us,
		.pipe = pipe, .group = group, .task = NO_INDEX,
	};
	return 0;
}

/* A command can have several lines: the further ones distinguish commands that begin alike. Lines in other
 * pipes may be between them. */
static int next_of_pending(struct output_marks *m, const struct output_line *line)
{
	struct hashing h = { .hash = m->pending_hash };
	uint64_t key = m->command[m->pending].key;
	uint32_t at = m->pending, n = ++m->pending_lines;

	hash_text(&h, line->text.p, line->text.len);
	m->pending_hash = h.hash;
	m->pending = NO_INDEX;
	for (uint32_t i = at; i < m->n_commands && m->command[i].key == key; i++) {
		const struct output_command *c = &m->command[i];

		if (c->more_lines == n && (c->hash == h.hash || c->truncated))
			return new_mark(m, i, m->pending_pipe, m->pending_line,
					line->number - m->pending_line + 1, m->pending_from_us, line->to_us);
		if (c->more_lines > n && m->pending == NO_INDEX)
			m->pending = i;
	}
	return 0;
}

static int add_command(struct output_marks *m, const struct output_line *line, uint32_t pipe)
{
	struct hashing h = HASHING_INIT;
	uint64_t key;
	uint32_t at;

	if (!m->n_commands || !line->begins || line->stream == OUTPUT_STDERR)
		return 0;
	if (m->pending != NO_INDEX && pipe == m->pending_pipe && line->number > m->pending_line)
		return next_of_pending(m, line);
	hash_text(&h, line->text.p, line->text.len);
	key = key_of(&h);
	at = h.n ? find_command(m, key) : NO_INDEX;
	if (at == NO_INDEX)
		return 0;
	for (uint32_t i = at; i < m->n_commands && m->command[i].key == key; i++) {
		const struct output_command *c = &m->command[i];

		if (!c->more_lines && (c->hash == h.hash || c->truncated))
			return new_mark(m, i, pipe, line->number, 1, line->from_us, line->to_us);
		if (c->more_lines && m->pending == NO_INDEX) {
			m->pending = i;
			m->pending_pipe = pipe;
			m->pending_lines = 0;
			m->pending_hash = h.hash;
			m->pending_line = line->number;
			m->pending_from_us = line->from_us;
		}
	}
	return 0;
}

int output_marks_add(struct output_marks *m, const struct output_line *line)
{
	uint32_t pipe = output_pipes_of_line(m->pipes, line);
	int r;

	/* a task may print the command of another one */
	if (output_pipes_is_own(m->pipes, pipe))
		return m->collected[pipe] ? add_command(m, line, pipe) : 0;
	r = output_ninja_add(m, line, pipe);
	return r ? r : add_command(m, line, pipe);
}

/* Times */

/*
 * Find when each command can have been printed. A make does one thing at a time. So it prints a
 * command between its previous event, a start or an end of any task, and the start of the task.
 * What it has collected it prints after the end of the target's last command, and before its next
 * event or its own end.
 */
static int find_windows(struct output_marks *m)
{
	const struct recording *rec = m->rec;
	struct keyed *event = array_new_zero(2 * rec->n_tasks, sizeof *event);
	int64_t *last = array_new_zero(rec->n_instances, sizeof *last);
	size_t n = 0;
	int r = event && last ? 0 : -ENOMEM;

	if (r)
		goto out;
	for (uint32_t i = 0; i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[i];

		if (t->start_us < 0)
			continue;
		event[n++] = (struct keyed){ (uint64_t)t->start_us, 2 * (int64_t)i };
		if (t->end_us >= t->start_us)
			event[n++] = (struct keyed){ (uint64_t)t->end_us, 2 * (int64_t)i + 1 };
	}
	r = sort_keyed(event, n);
	if (r)
		goto out;
	for (uint32_t i = 0; i < rec->n_instances; i++)
		last[i] = MAX(rec->instance[i].open_us, 0);
	for (size_t i = 0; i < n; i++) {
		uint32_t task = (uint32_t)(event[i].value / 2), in = rec->task[task].instance;

		if (!(event[i].value & 1))
			m->printed_us[task] = last[in];
		last[in] = (int64_t)event[i].key;
	}
	/* Backwards, last[] is the next event of the instance, or its end. */
	for (uint32_t i = 0; i < rec->n_instances; i++)
		last[i] = rec->instance[i].close_us < 0 ? INT64_MAX : rec->instance[i].close_us;
	for (size_t i = n; i; i--) {
		uint32_t task = (uint32_t)(event[i - 1].value / 2), in = rec->task[task].instance;

		if (event[i - 1].value & 1)
			m->synced[task] = (struct output_window){ (int64_t)event[i - 1].key,
								  last[in] };
		last[in] = (int64_t)event[i - 1].key;
	}
out:
	free_all(event, last);
	return r;
}

/* What is collected of a target is printed after its last command, so all of its commands get the
 * window of that one. */
static void join_targets(struct output_marks *m)
{
	const struct recording *rec = m->rec;

	for (uint32_t i = (uint32_t)rec->n_tasks; i-- > 0;) {
		const struct task *t = &rec->task[i];

		for (uint32_t k = i + 1; k < rec->n_tasks && k < i + NEXT_COMMAND; k++) {
			const struct task *next = &rec->task[k];

			if (next->instance != t->instance || next->start_us < t->end_us ||
			    next->end_us < 0 || !*t->name || strcmp(next->name, t->name))
				continue;
			if (m->synced[k].end_us > m->synced[i].end_us)
				m->synced[i].end_us = m->synced[k].end_us;
			break;
		}
	}
}

/* Can the command of the task have been printed when and where the line was written? */
static bool fits(const struct output_marks *m, uint32_t task, const struct output_mark *mark)
{
	const struct task *t = &m->rec->task[task];

	if (m->pipes->outer[0][t->instance] != mark->pipe)
		return false;
	if (!m->collected[task])
		return mark->from_us <= t->start_us && mark->to_us >= m->printed_us[task];
	return t->end_us >= 0 && mark->to_us >= m->synced[task].begin_us &&
		mark->from_us <= m->synced[task].end_us;
}

static uint32_t group_end(const struct output_marks *m, uint32_t at)
{
	uint32_t end = at + 1;

	while (end < m->n_commands && m->command[end].key == m->command[at].key &&
	       m->command[end].hash == m->command[at].hash)
		end++;
	return end;
}

static int end_order(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	return array_order((int64_t)x->key, (int64_t)y->key);
}

/*
 * If as many equal lines as tasks are of one make, the k-th line is the k-th task's: a make prints
 * commands in the order of their starts, or of their ends if it collects output.
 */
static bool find_in_order(struct output_marks *m, const size_t *mark, size_t n, uint32_t from,
			  uint32_t to, struct keyed *order_of)
{
	const struct recording *rec = m->rec;
	const struct output_mark *first = &m->mark[mark[0]];
	uint32_t in = NO_INDEX;
	bool collected = false;
	size_t k = 0;

	for (uint32_t i = from; i < to; i++) {
		uint32_t task = m->command[i].task;
		const struct task *t = &rec->task[task];

		if (m->pipes->outer[0][t->instance] != first->pipe)
			continue;
		if (in == NO_INDEX) {
			in = t->instance;
			collected = m->collected[task];
		}
		if (k == n || t->instance != in || m->collected[task] != collected)
			return false;
		order_of[k++] = (struct keyed){ (uint64_t)(collected ? t->end_us : t->start_us), task };
	}
	if (k < n)
		return false;
	qsort(order_of, n, sizeof *order_of, end_order);
	for (size_t i = 0; i < n; i++) {
		if (!fits(m, (uint32_t)order_of[i].value, &m->mark[mark[i]]))
			return false;
	}
	for (size_t i = 0; i < n; i++)
		m->mark[mark[i]].task = (uint32_t)order_of[i].value;
	return true;
}

static uint32_t find_by_time(const struct output_marks *m, const struct output_mark *mark,
			     uint32_t from, uint32_t to)
{
	uint32_t found = NO_INDEX;

	if (to - from > EQUAL_MAX)
		return NO_INDEX;
	for (uint32_t i = from; i < to; i++) {
		if (!fits(m, m->command[i].task, mark))
			continue;
		if (found != NO_INDEX)
			return NO_INDEX;
		found = m->command[i].task;
	}
	return found;
}

/* Marks of equal commands that were written to one pipe. */
static int resolve_group(struct output_marks *m, const struct keyed *key, size_t n)
{
	uint32_t from = (uint32_t)(key[0].key >> 32), to = group_end(m, from);
	size_t *mark = calloc(n, sizeof *mark);
	struct keyed *order_of = calloc(n, sizeof *order_of);
	bool done = false;
	int r = mark && order_of ? 0 : -ENOMEM;

	if (r)
		goto out;
	for (size_t i = 0; i < n; i++)
		mark[i] = (size_t)key[i].value;
	done = find_in_order(m, mark, n, from, to, order_of);
	for (size_t i = 0; !done && i < n; i++)
		m->mark[mark[i]].task = find_by_time(m, &m->mark[mark[i]], from, to);
out:
	free_all(mark, order_of);
	return r;
}

static int resolve_commands(struct output_marks *m)
{
	struct keyed *key = calloc(m->n ? m->n : 1, sizeof *key);
	size_t n = 0;
	int r = key ? 0 : -ENOMEM;

	if (r)
		goto out;
	for (size_t i = 0; i < m->n; i++) {
		if (!m->mark[i].ninja)
			key[n++] = (struct keyed){ (uint64_t)m->mark[i].group << 32 | m->mark[i].pipe, (int64_t)i };
	}
	r = sort_keyed(key, n);
	if (r)
		goto out;
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && key[end].key == key[i].key; end++)
			;
		r = resolve_group(m, key + i, end - i);
		if (r)
			goto out;
	}
out:
	free(key);
	return r;
}

/* Lines are in the order of their times, so a mark also bounds the times of the lines before and
 * behind. */
static void find_order(struct output_marks *m)
{
	int64_t after_us = 0, before_us = INT64_MAX;

	/* the order in which several pipes were read says less */
	for (size_t i = 0; m->pipes->any && i < m->n; i++) {
		m->mark[i].after_us = 0;
		m->mark[i].before_us = INT64_MAX;
	}
	if (m->pipes->any)
		return;
	for (size_t i = 0; i < m->n; i++) {
		struct output_mark *mark = &m->mark[i];
		int64_t us = mark->task == NO_INDEX ? 0 : mark->ninja ? m->rec->task[mark->task].end_us :
			m->collected[mark->task] ? m->synced[mark->task].begin_us :
			/* later than this event, which may be the end of another task */
			m->printed_us[mark->task] + 1;

		after_us = MAX(us, after_us);
		mark->after_us = after_us;
	}
	for (size_t i = m->n; i > 0; i--) {
		struct output_mark *mark = &m->mark[i - 1];
		int64_t us = mark->task == NO_INDEX || mark->ninja ? INT64_MAX :
			m->collected[mark->task] ? m->synced[mark->task].end_us :
			m->rec->task[mark->task].start_us;

		before_us = MIN(us, before_us);
		mark->before_us = before_us;
	}
}

int output_marks_resolve(struct output_marks *m)
{
	int r = find_windows(m);

	if (r)
		return r;
	join_targets(m);
	r = resolve_commands(m);
	if (!r)
		r = output_ninja_resolve(m);
	find_order(m);
	return r;
}
