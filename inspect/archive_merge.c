/* SPDX-License-Identifier: MIT */
#include "inspect/archive_merge.h"

#include "base/array.h"
#include "base/search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static char *items(const struct archive_merge *m)
{
	char *p;

	memcpy(&p, m->array, sizeof p);
	return p;
}

void *archive_merge_find(struct archive_merge *m, uint64_t key)
{
	size_t low = m->at, high = *m->n, step = 1;
	char *p = items(m);
	struct search_range s;

	/* changes are often near each other */
	while (low + step < high && m->key(p + (low + step) * m->size) < key) {
		low += step;
		step *= 2;
	}
	if (low + step < high)
		high = low + step + 1;
	s = search_between(low, high);
	while (search_next(&s))
		search_past(&s, m->key(p + s.at * m->size) < key);
	m->at = s.at;
	if (s.at >= *m->n || m->key(p + s.at * m->size) != key)
		return NULL;
	m->at++;
	return p + s.at * m->size;
}

void *archive_merge_put(struct archive_merge *m, uint64_t key)
{
	void *item = archive_merge_find(m, key);

	if (item)
		return item;
	item = array_add(&m->fresh, &m->n_fresh, m->size);
	return item ? memset(item, 0, m->size) : NULL;
}

int archive_merge_remove(struct archive_merge *m, uint64_t key)
{
	size_t *gone;

	if (!archive_merge_find(m, key))
		return -EINVAL;
	gone = array_add(&m->gone, &m->n_gone, sizeof *gone);
	if (!gone)
		return -ENOMEM;
	*gone = m->at - 1;
	return 0;
}

static void remove_gone(struct archive_merge *m)
{
	char *p = items(m);
	size_t to = m->gone[0];

	for (size_t i = 0; i < m->n_gone; i++) {
		size_t from = m->gone[i] + 1;
		size_t end = i + 1 < m->n_gone ? m->gone[i + 1] : *m->n;

		memmove(p + to * m->size, p + from * m->size, (end - from) * m->size);
		to += end - from;
	}
	*m->n = to;
}

/* From the end on, so that no item is overwritten before it was moved. */
static int add_fresh(struct archive_merge *m)
{
	size_t left = *m->n, fresh = m->n_fresh, to = left + fresh;
	char *p;

	for (size_t i = 0; i < m->n_fresh; i++)
		if (!array_add(m->array, m->n, m->size))
			return -ENOMEM;
	p = items(m);
	while (fresh) {
		const char *new = m->fresh + (fresh - 1) * m->size;

		if (left && m->key(p + (left - 1) * m->size) > m->key(new)) {
			memmove(p + --to * m->size, p + --left * m->size, m->size);
		} else {
			memcpy(p + --to * m->size, new, m->size);
			fresh--;
		}
	}
	return 0;
}

int archive_merge_finish(struct archive_merge *m)
{
	if (m->n_gone)
		remove_gone(m);
	return m->n_fresh ? add_fresh(m) : 0;
}

void archive_merge_release(struct archive_merge *m)
{
	free(m->fresh);
	free(m->gone);
}

int archive_merge_copy(void *array, size_t *n, const void *from, size_t count, size_t size)
{
	size_t room = ARRAY_FIRST;
	void *old, *copy;

	while (room < count)
		room *= 2;
	memcpy(&old, array, sizeof old);
	copy = realloc(old, room * size);
	if (!copy)
		return -ENOMEM;
	memcpy(array, &copy, sizeof copy);
	if (count)
		memcpy(copy, from, count * size);
	*n = count;
	return 0;
}
