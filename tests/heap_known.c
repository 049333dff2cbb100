/* SPDX-License-Identifier: MIT */
/*
 * A program whose allocations are known: heap_known SEED TOTAL_MB KEPT_PERCENT THREADS. Each of its
 * sites is a function. It prints what each has allocated and not freed:
 * ADDRESS ALLOCATIONS ALLOCATED LIVE LIVE_BYTES TEMPORARY PEAK_BYTES
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SITES 24

struct known {
	uint64_t allocations, allocated, live, live_bytes, temporary, peak_bytes;
};
static struct known known[SITES], *of_thread;
static int n_threads;
static uint64_t total_live, total_peak;

#ifdef __clang__
#define OF_ITS_OWN noinline
#else
#define OF_ITS_OWN noinline, noclone, optimize("no-ipa-icf")
#endif

#define SITE(n) \
static __attribute__((OF_ITS_OWN)) void *site_##n(size_t size) \
{ \
	void *p = malloc(size); \
	__asm__ volatile("" : "+r"(p) : "i"(n)); \
	return p; \
}

SITE(0) SITE(1) SITE(2) SITE(3) SITE(4) SITE(5) SITE(6) SITE(7) SITE(8) SITE(9) SITE(10) SITE(11)
SITE(12) SITE(13) SITE(14) SITE(15) SITE(16) SITE(17) SITE(18) SITE(19) SITE(20) SITE(21) SITE(22)
SITE(23)

static void *(*const sites[SITES])(size_t) = {
	site_0, site_1, site_2, site_3, site_4, site_5, site_6, site_7, site_8, site_9, site_10,
	site_11, site_12, site_13, site_14, site_15, site_16, site_17, site_18, site_19, site_20,
	site_21, site_22, site_23,
};

static uint64_t next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* Sizes of a site: from 16 bytes to 2 MiB. */
static size_t size_of(int site, uint64_t *state)
{
	size_t base = (size_t)16 << (site * 3 / 4);

	return base + next(state) % base;
}

static void peak(struct known *k)
{
	if (total_live <= total_peak)
		return;
	total_peak = total_live;
	for (int i = 0; i < SITES; i++)
		k[i].peak_bytes = k[i].live_bytes;
}

static uint64_t seed, bytes;
static unsigned kept_percent;

struct chain { struct chain *next; size_t size; int site; };

static void *run(void *number)
{
	struct known *k = of_thread + (uintptr_t)number * SITES;
	uint64_t state = seed + (uintptr_t)number * 12345, done = 0;
	/* blocks that will be freed, later */
	static _Thread_local struct chain *later[64];

	while (done < bytes / (uint64_t)n_threads) {
		int site = (int)(next(&state) % SITES);
		/* all sites have about the same number of bytes */
		size_t repeat = (2 << 20) / ((size_t)24 << (site * 3 / 4));

		repeat = repeat > 200 ? 200 : repeat + 1;
		while (repeat--) {
			size_t size = size_of(site, &state);
			struct chain *c = sites[site](size), *last = c;
			unsigned fate = (unsigned)(next(&state) % 100), slot;

			if (!c)
				exit(3);
			done += size;
			k[site].allocations++;
			k[site].allocated += size;
			k[site].live++;
			k[site].live_bytes += size;
			total_live += size;
			if (n_threads == 1)
				peak(k);
			if (size < sizeof *c || fate < kept_percent)
				continue;
			if (fate & 1) {
				free(c);
				k[site].temporary++;
			} else {
				slot = (unsigned)(next(&state) % 64);
				c->next = later[slot];
				c->size = size;
				c->site = site;
				later[slot] = c;
				if (!(next(&state) % 64)) {
					while ((c = later[slot])) {
						later[slot] = c->next;
						k[c->site].live--;
						k[c->site].live_bytes -= c->size;
						k[c->site].temporary += c == last;
						total_live -= c->size;
						free(c);
					}
				}
				continue;
			}
			k[site].live--;
			k[site].live_bytes -= size;
			total_live -= size;
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[16];

	if (argc < 5)
		return 2;
	seed = strtoull(argv[1], NULL, 10);
	bytes = strtoull(argv[2], NULL, 10) << 20;
	kept_percent = (unsigned)atoi(argv[3]);
	n_threads = atoi(argv[4]);
	if (n_threads < 1 || n_threads > 16)
		return 2;
	of_thread = calloc((size_t)n_threads * SITES, sizeof *of_thread);
	if (!of_thread)
		return 3;
	if (n_threads == 1) {
		run(NULL);
	} else {
		for (uintptr_t i = 0; i < (uintptr_t)n_threads; i++)
			pthread_create(&thread[i], NULL, run, (void *)i);
		for (int i = 0; i < n_threads; i++)
			pthread_join(thread[i], NULL);
	}
	for (int i = 0; i < SITES * n_threads; i++) {
		struct known *to = &known[i % SITES], *from = &of_thread[i];

		to->allocations += from->allocations;
		to->allocated += from->allocated;
		to->live += from->live;
		to->live_bytes += from->live_bytes;
		to->temporary += from->temporary;
		to->peak_bytes += from->peak_bytes;
	}
	for (int i = 0; i < SITES; i++)
		printf("%llu %llu %llu %llu %llu %llu %llu\n", (unsigned long long)(uintptr_t)sites[i],
		       (unsigned long long)known[i].allocations, (unsigned long long)known[i].allocated,
		       (unsigned long long)known[i].live, (unsigned long long)known[i].live_bytes,
		       (unsigned long long)known[i].temporary, (unsigned long long)known[i].peak_bytes);
	return 0;
}
