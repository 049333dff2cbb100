/* SPDX-License-Identifier: MIT */
#include "inspect/class_paths.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

static int add_path(struct class_paths *t, struct class_path added, uint32_t *number)
{
	uint64_t a = (uint64_t)added.parent << 1 | added.is_source;
	struct class_path *path;

	if (t->n && index_find(&t->index, a, added.text, number))
		return 0;
	path = array_add(&t->path, &t->n, sizeof *path);
	if (!path)
		return -ENOMEM;
	*path = added;
	*number = (uint32_t)t->n - 1;
	return t->n == 1 ? 0 : index_put(&t->index, a, added.text, *number);
}

int class_paths_add(struct class_paths *t, struct name_table *texts, const struct calls *calls,
		    size_t from, uint32_t *number)
{
	const struct call_path *path = &t->scratch;
	int r = call_names_path(&t->scratch, calls, from);

	if (!r && !t->n)
		r = add_path(t, (struct class_path){ .text = INSPECTION_NONE }, number);
	*number = 0;
	for (size_t i = 0; i < path->n && !r; i++) {
		struct slice text = { path->part[i].data, path->part[i].len };
		struct class_path added = { .parent = *number, .is_source = path->is_source };

		r = name_table_add(texts, text, &added.text);
		r = r ? r : add_path(t, added, number);
	}
	return r;
}

void class_paths_release(struct class_paths *t)
{
	call_names_release(&t->scratch);
	index_release(&t->index);
	free(t->path);
	*t = (struct class_paths){ 0 };
}
