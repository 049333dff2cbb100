/* SPDX-License-Identifier: MIT */
/*
 * The functions of malloc() and its family that replace libc's. The real ones are those of the
 * next object: libc's, or another preload's.
 */
#include "heap/shim.h"

#include "base/array.h"
#include "base/minmax.h"
#include "heap/count.h"
#include "heap/unwind.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define CALLER ((uintptr_t)__builtin_return_address(0))

/* What dlsym() allocates while it looks for malloc(): it is never freed. */
static char early[4096] __attribute__((aligned(16)));
static size_t early_used;

static void *early_malloc(size_t size)
{
	void *p = early + early_used;

	if (size > sizeof early - early_used - 16)
		return NULL;
	early_used += (size + 15) & ~(size_t)15;
	count_filter[count_filter_slot(p)] = 255;
	return p;
}

static bool is_early(const void *p)
{
	return (uintptr_t)p - (uintptr_t)early < sizeof early;
}

/* Before the first call of any of them */

static void *first_malloc(size_t size);
static void *first_calloc(size_t n, size_t size);
static void *first_realloc(void *p, size_t size);
static void *first_memalign(size_t alignment, size_t size);
static int first_posix_memalign(void **out, size_t alignment, size_t size);
static void *first_aligned_alloc(size_t alignment, size_t size);
static void *first_valloc(size_t size);
static void *first_pvalloc(size_t size);
static void first_free(void *p);

static struct {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void *(*memalign)(size_t, size_t);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	void *(*valloc)(size_t);
	void *(*pvalloc)(size_t);
	void (*free)(void *);
} real = {
	first_malloc, first_calloc, first_realloc, first_memalign, first_posix_memalign,
	first_aligned_alloc, first_valloc, first_pvalloc, first_free,
};

/* Another malloc() than libc's: it maps memory with a function that we replace too. */
static uintptr_t other_start, other_end;

bool shim_is_other_malloc(uintptr_t caller)
{
	return caller - other_start < other_end - other_start;
}

static void *find_symbol(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);

	return function;
}

/* Who provides malloc() behind us? If C++'s new is of the same object, it does not come to us, and
 * what we would count is a part. */
static void look_behind(void)
{
	uintptr_t libc_start, libc_end, start, end;

	if (unwind_find_range(&libc_start, &libc_end, (uintptr_t)dlsym) ||
	    unwind_find_range(&start, &end, (uintptr_t)real.malloc) || start == libc_start)
		return;
	if ((uintptr_t)find_symbol("_Znwm") - start < end - start) {
		count_mappings_only();
		return;
	}
	other_start = start;
	other_end = end;
}

static bool resolve(void)
{
	static const char *const names[] = {
		"malloc", "calloc", "realloc", "memalign", "posix_memalign", "aligned_alloc",
		"valloc", "pvalloc", "free",
	};
	static bool resolving, resolved;
	void *found[ARRAY_SIZE(names)];

	if (resolving)
		return resolved;
	resolving = true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		found[i] = find_symbol(names[i]);
	memcpy(&real, found, sizeof real);
	resolved = true;
	look_behind();
	return true;
}

static void *first_malloc(size_t size)
{
	return resolve() ? real.malloc(size) : early_malloc(size);
}

static void *first_calloc(size_t n, size_t size)
{
	return resolve() ? real.calloc(n, size) : early_malloc(n * size);
}

static void *first_realloc(void *p, size_t size)
{
	void *q;

	if (resolve())
		return real.realloc(p, size);
	q = early_malloc(size);
	/* it was the last one, mostly: what is behind it is zero */
	if (p && q)
		memcpy(q, p, (size_t)((char *)q - (char *)p) < size ? (size_t)((char *)q - (char *)p) : size);
	return q;
}

static void *first_memalign(size_t alignment, size_t size)
{
	return resolve() ? real.memalign(alignment, size) : NULL;
}

static int first_posix_memalign(void **out, size_t alignment, size_t size)
{
	return resolve() ? real.posix_memalign(out, alignment, size) : ENOMEM;
}

static void *first_aligned_alloc(size_t alignment, size_t size)
{
	return resolve() ? real.aligned_alloc(alignment, size) : NULL;
}

static void *first_valloc(size_t size)
{
	return resolve() ? real.valloc(size) : NULL;
}

static void *first_pvalloc(size_t size)
{
	return resolve() ? real.pvalloc(size) : NULL;
}

static void first_free(void *p)
{
	if (resolve())
		real.free(p);
}

/* The replacing functions */

void *malloc(size_t size)
{
	void *p = real.malloc(size);

	if (p && count_wants(size))
		count_allocation(p, size, CALLER);
	return p;
}

void free(void *p)
{
	if (!count_ignores(p)) {
		if (is_early(p))
			return;
		count_free(p);
	}
	real.free(p);
}

void *calloc(size_t n, size_t size)
{
	void *p = real.calloc(n, size);

	/* if the product overflows, p is NULL */
	if (p && count_wants(n * size))
		count_allocation(p, n * size, CALLER);
	return p;
}

/* realloc() of a block from early_malloc(), whose size is not known. */
static void *leave_early(void *p, size_t size)
{
	size_t rest = (size_t)(early + sizeof early - (char *)p);
	void *q = real.malloc(size);

	if (q)
		memcpy(q, p, MIN(size, rest));
	return q;
}

static void *reallocate(void *p, size_t size, uintptr_t caller)
{
	struct live_block block;
	bool taken = false;
	void *q;

	if (!count_ignores(p)) {
		if (is_early(p))
			return leave_early(p, size);
		/* before the block is another thread's */
		taken = count_take(p, &block);
	}
	q = real.realloc(p, size);
	if (!q && taken && size)
		count_put_back(p, block);
	else if (q && count_wants(size))
		count_allocation(q, size, caller);
	return q;
}

void *realloc(void *p, size_t size)
{
	return reallocate(p, size, CALLER);
}

void *reallocarray(void *p, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return reallocate(p, bytes, CALLER);
}

void *memalign(size_t alignment, size_t size)
{
	void *p = real.memalign(alignment, size);

	if (p && count_wants(size))
		count_allocation(p, size, CALLER);
	return p;
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
	int r = real.posix_memalign(out, alignment, size);

	if (!r && count_wants(size))
		count_allocation(*out, size, CALLER);
	return r;
}

void *aligned_alloc(size_t alignment, size_t size)
{
	void *p = real.aligned_alloc(alignment, size);

	if (p && count_wants(size))
		count_allocation(p, size, CALLER);
	return p;
}

void *valloc(size_t size)
{
	void *p = real.valloc(size);

	if (p && count_wants(size))
		count_allocation(p, size, CALLER);
	return p;
}

void *pvalloc(size_t size)
{
	void *p = real.pvalloc(size);

	if (p && count_wants(size))
		count_allocation(p, size, CALLER);
	return p;
}

/* The beginning and the end of the program */

/* In a program that is not position-independent and uses the address of a function, that address
 * is its own jump to the function. */
static bool is_jump(const void *function)
{
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	return dladdr1(function, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol &&
	       symbol->st_shndx == SHN_UNDEF;
}

static __attribute__((constructor)) void begin_shim(void)
{
	const void *first = dlsym(RTLD_DEFAULT, "malloc");
	uintptr_t start, end;

	shim_find_sandboxes();
	/* a malloc() of the program itself, or of a preload before us */
	if (!unwind_find_range(&start, &end, (uintptr_t)resolve) &&
	    (uintptr_t)first - start >= end - start && !is_jump(first))
		count_mappings_only();
	count_begin();
}

static __attribute__((destructor)) void end_shim(void)
{
	count_end();
}
