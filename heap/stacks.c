/* SPDX-License-Identifier: MIT */
#include "heap/stacks.h"

#include "base/array.h"
#include "base/hash.h"
#include "heap/image_write.h"
#include "heap/pages.h"
#include "heap/unwind.h"

#include <string.h>

#define FIRST 4096	/* slots */
#define KNOWN 4096	/* modules */

/* Numbers of stacks plus 1, by address and parent; at most half of the slots are used. */
static uint32_t *slots;
static size_t n_slots;
static unsigned shift;
static uint32_t incarnation = 1;

/* Stacks that were found lately, by the hash of all their addresses: the tables above are larger
 * than a processor's caches. */
static struct recent {
	uint64_t hash;
	uint32_t stack;
	uint32_t incarnation;
} recent[16384];

/* The modules of this generation. */
static struct known {
	uintptr_t start, end;
	uint32_t module;
} known[KNOWN];
static size_t n_known, last_known;

static size_t home(uint64_t address, uint32_t parent)
{
	return (size_t)(((address ^ (uint64_t)parent * 0xc2b2ae3d27d4eb4f) * 0x9e3779b97f4a7c15) >>
			shift);
}

static size_t find_slot(uint64_t address, uint32_t parent)
{
	size_t i = home(address, parent);

	for (; slots[i]; i = (i + 1) & (n_slots - 1)) {
		const struct heap_stack *s = image_stack(slots[i] - 1);

		if (s->address == address && s->parent == parent)
			break;
	}
	return i;
}

static bool grow(void)
{
	size_t n_old = n_slots, n = n_old ? 2 * n_old : FIRST;
	uint32_t *old = slots, *fresh = pages_new(n * sizeof *fresh);

	if (!fresh)
		return false;
	slots = fresh;
	n_slots = n;
	shift = (unsigned)__builtin_clzll(n) + 1;
	for (uint32_t i = 0; i < image_head->n_stacks; i++) {
		const struct heap_stack *s = image_stack(i);

		slots[find_slot(s->address, s->parent)] = i + 1;
	}
	/* after slots are others: another thread may fork meanwhile, and its child frees them */
	pages_free(old, n_old * sizeof *old);
	return true;
}

static bool is_known_code(uintptr_t address)
{
	if (last_known < n_known && address - known[last_known].start <
	    known[last_known].end - known[last_known].start)
		return true;
	for (size_t i = 0; i < n_known; i++) {
		if (address - known[i].start < known[i].end - known[i].start) {
			last_known = i;
			return true;
		}
	}
	return false;
}

/* Record the module that has this address. */
static void meet_module(uintptr_t address)
{
	static struct unwind_module found;
	struct heap_module *m;
	size_t len;

	if (is_known_code(address) || n_known == KNOWN ||
	    image_head->n_modules == HEAP_MODULES_MAX || unwind_find_module(&found, address))
		return;
	m = image_new_module();
	if (!m)
		return;
	*m = (struct heap_module){
		.start = found.start, .end = found.end, .bias = found.bias,
		.born = image_head->generation, .died = HEAP_NONE,
		.build_id_len = (uint8_t)found.build_id_len,
	};
	memcpy(m->build_id, found.build_id, found.build_id_len);
	len = strnlen(found.path, sizeof found.path);
	if (len < sizeof m->path)
		memcpy(m->path, found.path, len);
	known[n_known++] = (struct known){ found.start, found.end, image_head->n_modules };
	__atomic_store_n(&image_head->n_modules, image_head->n_modules + 1, __ATOMIC_RELEASE);
}

/* The number of a call below a stack. */
static uint32_t find_or_add(uintptr_t call, uint32_t parent)
{
	uint64_t address = (call & (((uint64_t)1 << HEAP_ADDRESS_BITS) - 1)) |
			   (uint64_t)image_head->generation << HEAP_ADDRESS_BITS;
	struct heap_stack *s;
	size_t i;

	if (2 * (size_t)image_head->n_stacks >= n_slots && !grow())
		return HEAP_NONE;
	i = find_slot(address, parent);
	if (slots[i])
		return slots[i] - 1;
	s = image_new_stack();
	if (!s)
		return HEAP_NONE;
	meet_module(call);
	*s = (struct heap_stack){ .address = address, .parent = parent, .site = HEAP_NONE };
	slots[i] = image_head->n_stacks + 1;
	__atomic_store_n(&image_head->n_stacks, image_head->n_stacks + 1, __ATOMIC_RELEASE);
	return slots[i] - 1;
}

uint32_t stacks_find(struct stacks_work *w, size_t n)
{
	const uintptr_t *now = w->address[w->now], *last = w->address[!w->now];
	size_t depth = 0, n_last = w->incarnation == incarnation ? w->n_last : 0;
	uint32_t parent = HEAP_NONE;
	struct recent *found;
	uint64_t hash;

	while (depth < n && depth < n_last && now[n - 1 - depth] == last[n_last - 1 - depth])
		depth++;
	if (depth)
		parent = w->stack[depth - 1];
	if (depth == n)
		return parent;
	hash = depth ? w->hash[depth - 1] : 0;
	for (size_t i = depth; i < n; i++)
		hash = hash_mix(hash ^ now[n - 1 - i]);
	found = &recent[hash % ARRAY_SIZE(recent)];
	if (found->hash == hash && found->incarnation == incarnation)
		return found->stack;
	hash = depth ? w->hash[depth - 1] : 0;
	w->incarnation = incarnation;
	w->n_last = n;
	for (; depth < n; depth++) {
		parent = find_or_add(now[n - 1 - depth], parent);
		if (parent == HEAP_NONE) {
			w->n_last = 0;
			return HEAP_NONE;
		}
		w->stack[depth] = parent;
		w->hash[depth] = hash = hash_mix(hash ^ now[n - 1 - depth]);
	}
	w->now = !w->now;
	*found = (struct recent){ hash, parent, incarnation };
	return parent;
}

void stacks_unloaded(void)
{
	size_t n = 0;

	if (image_head->generation == HEAP_GENERATIONS_MAX)
		return;
	for (size_t i = 0; i < n_known; i++) {
		uintptr_t start, end;

		if (!unwind_find_range(&start, &end, known[i].start) && start == known[i].start &&
		    end == known[i].end)
			known[n++] = known[i];
		else
			image_module(known[i].module)->died = image_head->generation + 1;
	}
	if (n == n_known)
		return;
	n_known = n;
	image_head->generation++;
	incarnation++;
}

void stacks_reset(void)
{
	pages_free(slots, n_slots * sizeof *slots);
	slots = NULL;
	n_slots = n_known = 0;
	incarnation++;
}
