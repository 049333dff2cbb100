/* SPDX-License-Identifier: MIT */
#include "render/chart/bar_name.h"

#include "analyse/names.h"
#include "base/array.h"
#include "base/text.h"
#include "command/command_name.h"
#include "recording/recipe.h"
#include "render/chart/svg.h"

#include <string.h>

#define SHELL "$(shell)"	/* the name of the calls of this function of make */
#define OE_PREFIX "do_"
#define NUMBER_MAX 5		/* digits that distinguish a name */
#define SUFFIX_MORE 4		/* bytes of a suffix that says more than the kind of file */

/* Suffixes of what a compiler makes: the colour says that. */
static const char *const object[] = { ".o", ".lo", ".obj", ".ltrans" };

/* The parts of a bar's text. */
struct parts {
	struct buf first;	/* what distinguishes the task */
	struct buf more;	/* "do_packagedata" of a recipe; may be empty */
	struct buf time;
};

static void add_slice(struct buf *b, struct slice s)
{
	struct buf name = BUF_PART_OF(b);

	buf_add(&name, s.p, s.len);
	text_add_name(b, buf_str(&name), 0);
	buf_release(&name);
}

static const char *without_prefix(const char *name)
{
	size_t n = strlen(OE_PREFIX);

	return strncmp(name, OE_PREFIX, n) || !name[n] ? name : name + n;
}

static void name_recipe(struct parts *p, const struct task *t, enum lanes_by by)
{
	const char *name = without_prefix(t->name);
	struct recipe recipe;

	recipe_parse(&recipe, t->key);
	if (by == LANES_RECIPE) {
		text_add_name(&p->first, name, 0);
		return;
	}
	add_slice(&p->first, recipe.name);
	if (strcmp(name, t->kind))
		text_add_name(&p->more, name, 0);
}

/* The file of a path. A text with blanks is a command and stays as it is. */
static struct slice file_of(const char *name)
{
	size_t end = strlen(name), begin;

	if (strchr(name, ' '))
		return (struct slice){ name, end };
	while (end > 1 && name[end - 1] == '/')
		end--;
	for (begin = end; begin > 0 && name[begin - 1] != '/'; begin--)
		;
	return (struct slice){ name + begin, end - begin };
}

static struct slice without_object(struct slice file)
{
	for (size_t i = 0; i < ARRAY_SIZE(object); i++) {
		size_t n = strlen(object[i]);

		if (file.len > n && !memcmp(file.p + file.len - n, object[i], n)) {
			file.len -= n;
			i = (size_t)-1;
		}
	}
	return file;
}

/* In a directory for temporary files the name begins with what mktemp made up. */
static bool is_temporary(const char *name)
{
	return *name == '/' && (!strncmp(name, "/tmp/", 5) || !strncmp(name, "/var/tmp/", 9) ||
				!strncmp(name, "/dev/shm/", 9));
}

/* "ltrans3.ltrans.o" of "ccBWmNSn.ltrans3.ltrans.o" */
static struct slice without_made_up(struct slice file)
{
	const char *dot = memchr(file.p, '.', file.len);
	size_t n = dot ? (size_t)(dot + 1 - file.p) : 0;

	if (!n || file.len - n < SUFFIX_MORE)
		return file;
	return (struct slice){ file.p + n, file.len - n };
}

static void name_file(struct parts *p, const struct recording *rec, const struct task *t)
{
	const char *name = t->name, *command;
	struct buf of_command = BUF_PART_OF(&p->first);
	struct slice file;

	if (!strcmp(name, SHELL) && *t->program) {
		name = t->program;
	} else if (!*name || !strcmp(name, SHELL)) {
		command = recording_command(rec, t);
		command_name_add(&of_command, command, strlen(command));
		if (of_command.len)
			name = buf_str(&of_command);
	}
	file = file_of(*name ? name : "?");
	if (is_temporary(name))
		file = without_made_up(file);
	add_slice(&p->first, without_object(file));
	buf_release(&of_command);
}

/* Parts with a blank between them, where all of that fits. */
static bool add_fitting(struct buf *b, const struct buf *const *part, size_t n, double width,
			double size)
{
	struct buf text = BUF_PART_OF(b);
	bool fits;

	for (size_t i = 0; i < n; i++) {
		buf_adds(&text, text.len && part[i]->len ? " " : "");
		buf_add(&text, part[i]->data, part[i]->len);
	}
	fits = svg_text_width(buf_str(&text), size) <= width;
	if (fits)
		buf_add(b, text.data, text.len);
	buf_release(&text);
	return fits;
}

/* "l...28" of "ltrans28", or "...28". Whether there is room for the number. */
static bool add_numbered(struct buf *b, struct buf *name, double width, double size)
{
	struct buf head = BUF_PART_OF(b), end = BUF_PART_OF(b);
	size_t n = name->len;
	double room;

	while (n > 0 && name->data[n - 1] >= '0' && name->data[n - 1] <= '9')
		n--;
	if (n == name->len || name->len - n > NUMBER_MAX)
		return false;
	buf_adds(&end, "\xe2\x80\xa6");
	buf_add(&end, name->data + n, name->len - n);
	room = width - svg_text_width(buf_str(&end), size);
	if (room >= 0) {
		buf_add(&head, name->data, n);
		n = svg_text_fit(buf_str(&head), room, size);
		buf_cut(&head, n);
		if (svg_text_width(buf_str(&head), size) <= room)
			buf_add(b, head.data, head.len);
		buf_add(b, end.data, end.len);
	}
	buf_release(&head);
	buf_release(&end);
	return room >= 0;
}

/* Its beginning; of a name with a number at its end, that too. */
static void add_part(struct buf *b, struct buf *name, double width, double size)
{
	if (svg_text_width(buf_str(name), size) <= width ||
	    !add_numbered(b, name, width, size))
		svg_add_beginning(b, buf_str(name), width, size);
}

/* without the time */
static void find_parts(struct parts *p, struct buf *b, const struct recording *rec,
		       const struct task *t, enum lanes_by by)
{
	*p = (struct parts){ BUF_PART_OF(b), BUF_PART_OF(b), BUF_PART_OF(b) };
	if (name_is_recipe(rec, t))
		name_recipe(p, t, by);
	else
		name_file(p, rec, t);
}

static void release_parts(struct parts *p)
{
	buf_release(&p->first);
	buf_release(&p->more);
	buf_release(&p->time);
}

void bar_name_add(struct buf *b, const struct summary *s, enum lanes_by by, uint32_t task,
		  double width, double size)
{
	bar_name_add_part(b, s, by, task, cost_wall_us(s->rec, &s->rec->task[task]), width, size);
}

void bar_name_add_part(struct buf *b, const struct summary *s, enum lanes_by by, uint32_t task,
		       int64_t us, double width, double size)
{
	const struct task *t = &s->rec->task[task];
	struct parts p;

	find_parts(&p, b, s->rec, t, by);
	text_add_time(&p.time, us);
	const struct buf *const all[] = { &p.first, &p.more, &p.time };
	const struct buf *const brief[] = { &p.first, &p.time };

	if (!add_fitting(b, all, 3, width, size) && !add_fitting(b, brief, 2, width, size))
		add_part(b, &p.first, width, size);
	release_parts(&p);
}

void bar_name_add_task(struct buf *b, const struct recording *rec, uint32_t task, double width,
		       double size)
{
	struct parts p;

	find_parts(&p, b, rec, &rec->task[task], LANES_WORKER);
	const struct buf *const all[] = { &p.first, &p.more };

	if (!add_fitting(b, all, 2, width, size))
		add_part(b, &p.first, width, size);
	release_parts(&p);
}

void bar_name_add_text(struct buf *b, const char *name, int64_t us, double width, double size)
{
	struct buf safe = BUF_PART_OF(b), time = BUF_PART_OF(b);
	const struct buf *const all[] = { &safe, &time };

	text_add_name(&safe, name, 0);
	text_add_time(&time, us);
	if (!add_fitting(b, all, 2, width, size))
		add_part(b, &safe, width, size);
	buf_release(&safe);
	buf_release(&time);
}

void bar_name_add_count(struct buf *b, uint32_t n_tasks, double width, double size)
{
	struct buf text = BUF_PART_OF(b);

	buf_addf(&text, "%u tasks", n_tasks);
	if (svg_text_width(buf_str(&text), size) > width) {
		buf_clear(&text);
		buf_addf(&text, "%u", n_tasks);
	}
	svg_add_beginning(b, buf_str(&text), width, size);
	buf_release(&text);
}
