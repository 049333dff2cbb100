/* SPDX-License-Identifier: MIT */
/*
 * heap_race PERIOD DIR: threads that call the tables of the heap shim with allocations and mappings
 * that do not exist, and free those of each other. check_heap_shim compiles it with the thread
 * sanitizer.
 */
#include "heap/count.h"
#include "heap/image_write.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS 6
#define SHARED 512
#define PAGE 4096u

/* A block; a thread that has taken it from here may free it. */
struct block { uintptr_t address; size_t size; };
static struct block *shared[SHARED];
static uint64_t live;		/* bytes, of all threads */

static uint64_t next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

static __attribute__((noinline)) void allocate(struct block *b)
{
	if (count_wants(b->size))
		count_allocation((void *)b->address, b->size, (uintptr_t)__builtin_return_address(0));
	__atomic_fetch_add(&live, b->size, __ATOMIC_RELAXED);
}

static void release(struct block *b)
{
	if (!count_ignores((void *)b->address))
		count_free((void *)b->address);
	__atomic_fetch_sub(&live, b->size, __ATOMIC_RELAXED);
}

static void reallocate(struct block *b, uint64_t *state)
{
	struct live_block old;
	bool taken = count_take((void *)b->address, &old);

	if (taken && next(state) % 2) {
		count_put_back((void *)b->address, old);
		return;
	}
	__atomic_fetch_sub(&live, b->size, __ATOMIC_RELAXED);
	b->size = next(state) % 5000;
	allocate(b);
}

static void *run(void *number)
{
	uint64_t state = (uintptr_t)number;
	uintptr_t at = ((uintptr_t)number + 1) << 36;

	for (int i = 0; i < 6000; i++) {
		struct block **slot = &shared[next(&state) % SHARED];
		struct block *b = __atomic_exchange_n(slot, NULL, __ATOMIC_ACQ_REL);

		if (!b) {
			b = malloc(sizeof *b);
			if (!b)
				abort();
			at += 16;
			*b = (struct block){ at, next(&state) % 5000 };
			allocate(b);
		} else if (next(&state) % 3) {
			release(b);
			free(b);
			b = NULL;
		} else {
			reallocate(b, &state);
		}
		b = __atomic_exchange_n(slot, b, __ATOMIC_ACQ_REL);
		if (b) {
			release(b);
			free(b);
		}
		if (!(i % 16)) {
			uintptr_t map = at << 4 & ~(uintptr_t)(PAGE - 1);
			size_t size = (1 + next(&state) % 4) * PAGE;

			count_map(map, size, false, (uintptr_t)__builtin_return_address(0));
			count_protect(map, PAGE, true, (uintptr_t)__builtin_return_address(0));
			count_unmap(map, size - next(&state) % 2 * PAGE);
			count_unmap(map, 8 * PAGE);
		}
		if (!(i % 1000))
			count_unloaded();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];
	uint64_t sum = 0;
	char now[64];

	if (argc < 3)
		return 2;
	snprintf(now, sizeof now, "%d:%s", (int)getpid(), argv[1]);
	setenv("BUILDBEAT_HEAP_NOW", now, 1);
	setenv("BUILDBEAT_HEAP_DIR", argv[2], 1);
	count_begin();
	if (!image_head || getenv("BUILDBEAT_HEAP_NOW"))
		return 3;
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, run, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (uint32_t i = 0; i < image_head->n_sites; i++)
		sum += image_site(i)->live_bytes;
	if (sum != image_head->live_bytes)
		return 4;
	if (!image_head->period && sum != live)
		return 5;
	/* everything is freed: nothing remains of any site */
	for (int i = 0; i < SHARED; i++) {
		if (shared[i])
			release(shared[i]);
	}
	for (uint32_t i = 0; i < image_head->n_sites; i++) {
		const struct heap_site *s = image_site(i);

		if (s->live_bytes || s->variance || s->allocations != s->frees)
			return 6;
	}
	count_end();
	return image_head->live_bytes ? 7 : 0;
}
