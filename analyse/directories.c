/* SPDX-License-Identifier: MIT */
#include "analyse/directories.h"

#include "analyse/names.h"
#include "analyse/path.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int directories_init(struct directories *d, const struct summary *s)
{
	size_t n = s->rec->n_instances;

	*d = (struct directories){ .s = s, .names.arena = arena_new() };
	d->of_instance = array_new(n, sizeof *d->of_instance);
	if (!d->names.arena || !d->of_instance)
		return -ENOMEM;
	memset(d->of_instance, 0xff, n * sizeof *d->of_instance);
	path_of_build(&d->build, s->rec);
	return buf_error(&d->build);
}

void directories_release(struct directories *d)
{
	name_table_release(&d->names);
	arena_free(d->names.arena);
	buf_release(&d->build);
	buf_release(&d->path);
	free(d->of_instance);
	*d = (struct directories){ 0 };
}

/* The number of a directory as seen from an instance. */
static int add_directory(struct directories *d, uint32_t instance, struct slice name,
			 uint32_t *number)
{
	struct slice cwd = slice_of(d->s->rec->instance[instance].cwd), path;

	path_join(&d->path, cwd, name);
	if (buf_error(&d->path))
		return -ENOMEM;
	path = path_relative((struct slice){ d->path.data, d->path.len },
			     (struct slice){ d->build.data, d->build.len });
	if (!cwd.len && !name.len)
		path = slice_of("?");
	return name_table_add(&d->names, path, number);
}

int directories_of_instance(struct directories *d, uint32_t instance, uint32_t *number)
{
	uint32_t *known = &d->of_instance[instance];

	if (*known == NO_INDEX && add_directory(d, instance, slice_of(""), known))
		return -ENOMEM;
	*number = *known;
	return 0;
}

/* "pytest tests/unit" is a command, not a file. */
static size_t directory_length(const char *name)
{
	const char *slash = strrchr(name, '/');
	size_t len = slash ? (size_t)(slash - name) + 1 : 0;

	return memchr(name, ' ', len) ? 0 : len;
}

static int find_own(struct directories *d, const struct task *t, uint32_t *number)
{
	size_t len;
	int r;

	if (name_is_recipe(d->s->rec, t))
		return name_table_add(&d->names, slice_of(t->key), number);
	len = directory_length(t->name);
	if (!len)
		return directories_of_instance(d, t->instance, number);
	if (d->last_name && d->last_instance == t->instance && d->last_len == len &&
	    !memcmp(d->last_name, t->name, len)) {
		*number = d->last;
		return 0;
	}
	r = add_directory(d, t->instance, (struct slice){ t->name, len }, number);
	d->last_name = r ? NULL : t->name;
	d->last_len = len;
	d->last_instance = t->instance;
	d->last = *number;
	return r;
}

/* A kind of task whose build is not a part of what it makes. */
static bool passes_on(const char *kind)
{
	static const char *const kinds[] = { "make", "shell", "script", "other" };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(kind, kinds[i]))
			return true;
	}
	return false;
}

int directories_find(struct directories *d, uint32_t task, uint32_t *number)
{
	const struct task *all = d->s->rec->task;

	/* the outermost task whose parts the others are */
	for (uint32_t p = d->s->nest[task].parent; p != NO_INDEX; p = d->s->nest[p].parent) {
		if (!passes_on(all[p].kind))
			task = p;
	}
	return find_own(d, &all[task], number);
}
