/* SPDX-License-Identifier: MIT */
/*
 * The functions that map memory, and dlclose(), which unmaps code. libc's malloc() maps memory
 * without them: nothing is counted twice.
 */
#include "base/array.h"
#include "heap/count.h"
#include "heap/shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALLER ((uintptr_t)__builtin_return_address(0))

static void *first_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
static int first_munmap(void *p, size_t size);
static int first_mprotect(void *p, size_t size, int protection);
static void *first_mremap(void *p, size_t size, size_t new_size, int flags, ...);
static void *first_sbrk(intptr_t more);
static int first_dlclose(void *handle);

static struct {
	void *(*mmap)(void *, size_t, int, int, int, off_t);
	int (*munmap)(void *, size_t);
	int (*mprotect)(void *, size_t, int);
	void *(*mremap)(void *, size_t, size_t, int, ...);
	void *(*sbrk)(intptr_t);
	int (*dlclose)(void *);
} real = {
	first_mmap, first_munmap, first_mprotect, first_mremap, first_sbrk, first_dlclose,
};

static bool resolve(void)
{
	static const char *const names[] = {
		"mmap", "munmap", "mprotect", "mremap", "sbrk", "dlclose",
	};
	static bool resolving, resolved;
	void *found[ARRAY_SIZE(names)];

	if (resolving)
		return resolved;
	resolving = true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		found[i] = dlsym(RTLD_NEXT, names[i]);
	memcpy(&real, found, sizeof real);
	resolved = true;
	return true;
}

/* While dlsym() looks for them, another malloc() may need them. */

static void *first_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	if (resolve())
		return real.mmap(at, size, protection, flags, fd, offset);
	return (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
}

static int first_munmap(void *p, size_t size)
{
	return resolve() ? real.munmap(p, size) : (int)syscall(SYS_munmap, p, size);
}

static int first_mprotect(void *p, size_t size, int protection)
{
	return resolve() ? real.mprotect(p, size, protection) :
			   (int)syscall(SYS_mprotect, p, size, protection);
}

static void *first_mremap(void *p, size_t size, size_t new_size, int flags, ...)
{
	va_list ap;
	void *at;

	va_start(ap, flags);
	at = flags & (MREMAP_FIXED | MREMAP_DONTUNMAP) ? va_arg(ap, void *) : NULL;
	va_end(ap);
	if (resolve())
		return real.mremap(p, size, new_size, flags, at);
	return (void *)syscall(SYS_mremap, p, size, new_size, flags, at);
}

static void *first_sbrk(intptr_t more)
{
	if (resolve())
		return real.sbrk(more);
	errno = ENOMEM;
	return (void *)-1;
}

static int first_dlclose(void *handle)
{
	return resolve() ? real.dlclose(handle) : -1;
}

/* The replacing functions */

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	void *p = real.mmap(at, size, protection, flags, fd, offset);

	if (p == MAP_FAILED || shim_is_other_malloc(CALLER))
		return p;
	if (flags & MAP_ANONYMOUS)
		count_map((uintptr_t)p, size, protection == PROT_NONE, CALLER);
	else if (flags & MAP_FIXED)
		count_unmap((uintptr_t)p, size);
	return p;
}

void *mmap64(void *at, size_t size, int protection, int flags, int fd, off_t offset)
	__attribute__((alias("mmap")));

int munmap(void *p, size_t size)
{
	/* before the addresses are another thread's */
	if (size && !((uintptr_t)p & 4095))
		count_unmap((uintptr_t)p, size);
	return real.munmap(p, size);
}

int mprotect(void *p, size_t size, int protection)
{
	int r = real.mprotect(p, size, protection);

	if (!r && size)
		count_protect((uintptr_t)p, size, protection == PROT_NONE, CALLER);
	return r;
}

void *mremap(void *p, size_t size, size_t new_size, int flags, ...)
{
	enum count_moved moved;
	void *q, *at;
	va_list ap;

	va_start(ap, flags);
	at = flags & (MREMAP_FIXED | MREMAP_DONTUNMAP) ? va_arg(ap, void *) : NULL;
	va_end(ap);
	moved = count_move((uintptr_t)p, size);
	q = real.mremap(p, size, new_size, flags, at);
	if (moved == COUNT_UNKNOWN)
		return q;
	if (q == MAP_FAILED)
		count_map((uintptr_t)p, size, moved == COUNT_RESERVED, CALLER);
	else
		count_map((uintptr_t)q, new_size, moved == COUNT_RESERVED, CALLER);
	return q;
}

/* The heap of another malloc(), in whole pages. libc's does not come here. */
void *sbrk(intptr_t more)
{
	char *p = real.sbrk(more);
	uintptr_t start = ((uintptr_t)p + 4095) & ~(uintptr_t)4095;
	uintptr_t end = ((uintptr_t)p + (uintptr_t)more + 4095) & ~(uintptr_t)4095;

	if (p == (void *)-1 || shim_is_other_malloc(CALLER))
		return p;
	if (end > start)
		count_map(start, end - start, false, CALLER);
	else if (end < start)
		count_unmap(end, start - end);
	return p;
}

int dlclose(void *handle)
{
	int r = real.dlclose(handle);

	count_unloaded();
	return r;
}
