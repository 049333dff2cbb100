/* SPDX-License-Identifier: MIT */
#include "analyse/output_bitbake.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What a line says of its task is in its beginning. */
#define TEXT_MAX 4096

/* Names. Each kind begins with another letter. */

static uint64_t hash_name(char kind, struct slice recipe, struct slice task)
{
	uint64_t h = hash_fnv64(&kind, 1);

	h = hash_fnv64_more(h, recipe.p, recipe.len);
	h = hash_fnv64_more(h, " ", 1);
	return hash_fnv64_more(h, task.p, task.len);
}

static uint64_t hash_number(uint64_t number)
{
	return hash_fnv64_more(hash_fnv64("n", 1), (const char *)&number, sizeof number);
}

static uint64_t hash_log(struct slice path)
{
	return hash_name('l', path, (struct slice){ "", 0 });
}

/* The number that the plugin gives to FILE:TASK; see plugin/bitbake/lib/buildbeat/taskid.py. */
static uint64_t number_of(struct slice id)
{
	uint32_t crc = UINT32_MAX, a = 1, b = 0;

	for (size_t i = 0; i < id.len; i++) {
		crc ^= (unsigned char)id.p[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
		a = (a + (unsigned char)id.p[i]) % 65521;
		b = (b + a) % 65521;
	}
	return (uint64_t)~crc << 16 | b | UINT64_C(1) << 48;
}

/* "mc:arm:app-2-r3" without the multiconfig. */
static const char *recipe_of(const char *key)
{
	const char *end = strncmp(key, "mc:", 3) ? NULL : strchr(key + 3, ':');

	return end ? end + 1 : key;
}

bool output_task_log(struct buf *path, const struct recording *rec, uint32_t task)
{
	const struct task *t = &rec->task[task];
	const char *script, *name;

	if (!output_is(&rec->instance[t->instance], BUILD_TOOL_RECIPES) || t->start_us < 0)
		return false;
	script = recording_command(rec, t);
	name = strrchr(script, '/');
	if (!name || strncmp(name, "/run.", 5))
		return false;
	buf_add(path, script, (size_t)(name - script));
	buf_addf(path, "/log.%s", name + 5);
	return true;
}

static int add_name(struct output_bitbake *o, uint64_t hash, uint32_t task)
{
	struct keyed *k = array_add(&o->name, &o->n, sizeof *o->name);

	if (k)
		*k = (struct keyed){ hash, task };
	return k ? 0 : -ENOMEM;
}

static int add_task(struct output_bitbake *o, uint32_t i)
{
	const struct task *t = &o->rec->task[i];
	struct slice name = { t->name, strlen(t->name) }, key = { t->key, strlen(t->key) };
	const char *recipe = recipe_of(t->key);
	struct buf log = BUF_INIT;
	int r = add_name(o, hash_number(t->seq), i);

	if (!r && key.len)
		r = add_name(o, hash_name('t', key, name), i);
	if (!r && key.len)
		r = add_name(o, hash_name('r', (struct slice){ recipe, strlen(recipe) }, name), i);
	if (!r && output_task_log(&log, o->rec, i))
		r = buf_error(&log) ? -ENOMEM :
			add_name(o, hash_log((struct slice){ log.data, log.len }), i);
	buf_release(&log);
	return r;
}

int output_bitbake_init(struct output_bitbake *o, const struct recording *rec)
{
	int r = 0;

	*o = (struct output_bitbake){ .rec = rec, .printed = NO_INDEX };
	for (uint32_t i = 0; !r && i < rec->n_tasks; i++) {
		if (output_is(&rec->instance[rec->task[i].instance], BUILD_TOOL_RECIPES))
			r = add_task(o, i);
	}
	if (r)
		return r;
	r = sort_keyed(o->name, o->n);
	if (r)
		return r;
	return recording_command_error(rec);
}

void output_bitbake_release(struct output_bitbake *o)
{
	free(o->name);
}

/* The only task of that name that was queued before the line. */
static uint32_t find_only_task(const struct output_bitbake *o, uint64_t hash,
			       const struct output_line *line)
{
	struct search_range s = search_all(o->n);
	uint32_t found = NO_INDEX;

	while (search_next(&s))
		search_past(&s, o->name[s.at].key < hash);
	for (; s.at < o->n && o->name[s.at].key == hash; s.at++) {
		uint32_t task = (uint32_t)o->name[s.at].value;
		const struct task *t = &o->rec->task[task];
		int64_t since_us = t->queued_us >= 0 ? t->queued_us : t->start_us;

		if (line->to_us >= 0 && since_us > line->to_us)
			continue;
		if (found != NO_INDEX)
			return NO_INDEX;
		found = task;
	}
	return found;
}

/* Lines */

/* Without the escape sequences for colours and for the lines at the bottom of a terminal. */
static struct slice strip(char text[TEXT_MAX], struct slice s)
{
	const char *p = s.p, *end = p + s.len;
	size_t n = 0;

	while (p < end && n < TEXT_MAX) {
		if (end - p > 1 && p[0] == '\033' && p[1] == '[') {
			for (p += 2; p < end && !(*p >= '@' && *p <= '~'); p++)
				;
			p += p < end;
		} else if (*p == '\r') {
			p++;
		} else {
			text[n++] = *p++;
		}
	}
	return (struct slice){ text, n };
}

static bool take_level(struct cursor *c)
{
	static const char *const level[] = { "NOTE: ", "WARNING: ", "ERROR: ", "DEBUG: " };

	for (size_t i = 0; i < ARRAY_SIZE(level); i++) {
		if (cursor_literal(c, level[i]))
			return true;
	}
	return false;
}

/* Up to a text, and behind it. */
static bool take_until(struct cursor *c, const char *text, struct slice *s)
{
	size_t len = strlen(text);
	const char *at = memmem(c->p, (size_t)(c->end - c->p), text, len);

	if (!at)
		return false;
	*s = (struct slice){ c->p, (size_t)(at - c->p) };
	c->p = at + len;
	return true;
}

static void forget_log(struct output_bitbake *o, uint32_t task)
{
	size_t n = 0;

	if (task == NO_INDEX || o->n_logs == OUTPUT_BITBAKE_LOGS)
		return;
	for (size_t i = 0; i < o->n_logs; i++) {
		if (o->log[i] != task)
			o->log[n++] = o->log[i];
	}
	o->n_logs = n;
}

/* "recipe PF: task TASK: Started" */
static uint32_t of_event(struct output_bitbake *o, struct cursor c, const struct output_line *line)
{
	struct slice recipe, name, what;
	uint32_t task;

	if (!take_until(&c, ": task ", &recipe) || !take_until(&c, ": ", &name))
		return NO_INDEX;
	what = (struct slice){ c.p, (size_t)(c.end - c.p) };
	if (!slice_is(what, "Started") && !slice_is(what, "Succeeded") && !slice_is(what, "Failed"))
		return NO_INDEX;
	task = find_only_task(o, hash_name('r', recipe, name), line);
	if (slice_is(what, "Failed"))
		forget_log(o, task);
	return task;
}

/* "... (FILE:TASK)" */
static uint32_t of_id(const struct output_bitbake *o, struct cursor c,
		      const struct output_line *line)
{
	struct slice before, id;

	if (!take_until(&c, "(", &before) || !take_until(&c, ")", &id))
		return NO_INDEX;
	return find_only_task(o, hash_number(number_of(id)), line);
}

static uint32_t of_log(const struct output_bitbake *o, struct cursor c,
		       const struct output_line *line)
{
	return find_only_task(o, hash_log((struct slice){ c.p, (size_t)(c.end - c.p) }), line);
}

/* "PF TASK: what it reports" */
static uint32_t of_title(const struct output_bitbake *o, struct cursor c,
			 const struct output_line *line)
{
	struct slice recipe, name;

	if (!take_until(&c, " ", &recipe) || !take_until(&c, ": ", &name))
		return NO_INDEX;
	return find_only_task(o, hash_name('t', recipe, name), line);
}

/*
 * A log may be printed later than the line that names it, which is an error and not delayed in a
 * buffer. So it is known only if it is the only one that can come.
 */
static uint32_t of_contents(struct output_bitbake *o, struct slice s)
{
	if (slice_is(s, "Log data follows:")) {
		o->printed = o->n_logs == 1 ? o->log[0] : NO_INDEX;
		return o->printed;
	}
	if (s.len && (s.p[0] == '|' || (s.len > 1 && s.p[0] == ' ' && s.p[1] == '|')))
		return o->printed;
	o->printed = NO_INDEX;
	return NO_INDEX;
}

uint32_t output_bitbake_task(struct output_bitbake *o, const struct output_line *line)
{
	static const char stored[] = "Logfile of failure stored in: ";
	char text[TEXT_MAX];
	struct slice s;
	uint32_t task;
	struct cursor c;

	if (!o->n)
		return NO_INDEX;
	s = strip(text, line->text);
	task = of_contents(o, s);
	cursor_init(&c, s.p, s.len);
	if (task != NO_INDEX || !take_level(&c))
		return task;
	if (cursor_literal(&c, "recipe "))
		return of_event(o, c, line);
	if (cursor_literal(&c, "Running task ") || cursor_literal(&c, "Running setscene task ") ||
	    cursor_literal(&c, "Task ") || cursor_literal(&c, "Setscene task "))
		return of_id(o, c, line);
	if (cursor_literal(&c, "Logfile for failed setscene task is "))
		return of_log(o, c, line);
	if (!cursor_literal(&c, stored))
		return of_title(o, c, line);
	task = of_log(o, c, line);
	/* one too many, and no contents are known any more */
	if (o->n_logs < OUTPUT_BITBAKE_LOGS)
		o->log[o->n_logs++] = task;
	return task;
}
