/* SPDX-License-Identifier: MIT */
#include "symbols/symtab.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

bool symtab_use(struct symtab *t, void *memory, size_t size, bool mapped)
{
	const struct symtab_head *head = memory;
	const uint32_t *numbers = (const uint32_t *)(head + 1);
	const char *rest = (const char *)numbers;

	if (size < sizeof *head || memcmp(head->magic, SYMTAB_MAGIC, sizeof SYMTAB_MAGIC) ||
	    head->order != SYMTAB_ORDER || !memchr(head->build_id, '\0', sizeof head->build_id) ||
	    size - sizeof *head != 8 * (uint64_t)head->n + head->names_size || !head->names_size ||
	    rest[size - sizeof *head - 1] != '\0' ||
	    head->hash != hash_bytes(0, rest, size - sizeof *head))
		return false;
	*t = (struct symtab){ memory, size, mapped, numbers, numbers + head->n,
			      (const char *)(numbers + 2 * (size_t)head->n) };
	return true;
}

void symtab_release(struct symtab *t)
{
	if (t->mapped)
		munmap(t->memory, t->size);
	else
		free(t->memory);
	*t = (struct symtab){ 0 };
}

const char *symtab_find(const struct symtab *t, uint64_t address, uint64_t *start)
{
	const struct symtab_head *head = t->memory;
	const uint32_t *base = t->start;
	uint32_t what;

	*start = 0;
	if (!head || !head->n || address < head->base || address - head->base > UINT32_MAX ||
	    address - head->base < base[0])
		return NULL;
	address -= head->base;
	/* without branches that depend on the data */
	for (size_t n = head->n; n > 1; n -= n / 2)
		base += base[n / 2] <= address ? n / 2 : 0;
	what = t->what[base - t->start];
	if (what & SYMTAB_START)
		*start = head->base + (what & ~SYMTAB_START);
	else if (what && what < head->names_size)
		return t->names + what;
	return NULL;
}
