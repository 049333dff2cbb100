/* SPDX-License-Identifier: MIT */
/*
 * The functions of <string.h> that buildbeat-arm.so and the compiler need, for that object alone.
 * They are hidden in it: the program and its libraries keep theirs. Those in parentheses are also
 * macros since glibc 2.43.
 */
#include <string.h>

/* Their loops must not become calls of themselves. clang knows that from -fno-builtin. */
#ifndef __clang__
#pragma GCC optimize("no-tree-loop-distribute-patterns")
#endif

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((char *)to)[i] = ((const char *)from)[i];
	return to;
}

void *mempcpy(void *restrict to, const void *restrict from, size_t n)
{
	return (char *)memcpy(to, from, n) + n;
}

void *memmove(void *to, const void *from, size_t n)
{
	if ((char *)to <= (const char *)from)
		return memcpy(to, from, n);
	while (n--)
		((char *)to)[n] = ((const char *)from)[n];
	return to;
}

void *memset(void *to, int c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((char *)to)[i] = (char)c;
	return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *p = a, *q = b;

	for (size_t i = 0; i < n; i++) {
		if (p[i] != q[i])
			return p[i] - q[i];
	}
	return 0;
}

size_t strlen(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

int strncmp(const char *a, const char *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (a[i] != b[i] || !a[i])
			return (unsigned char)a[i] - (unsigned char)b[i];
	}
	return 0;
}

int strcmp(const char *a, const char *b)
{
	return strncmp(a, b, (size_t)-1);
}

char *(strchr)(const char *s, int c)
{
	for (; *s != (char)c; s++) {
		if (!*s)
			return NULL;
	}
	return (char *)(size_t)s;
}

char *(strrchr)(const char *s, int c)
{
	const char *p = s + strlen(s);

	while (*p != (char)c) {
		if (p-- == s)
			return NULL;
	}
	return (char *)(size_t)p;
}

size_t strcspn(const char *s, const char *reject)
{
	size_t n = 0;

	while (s[n] && !strchr(reject, s[n]))
		n++;
	return n;
}

char *(strstr)(const char *s, const char *what)
{
	size_t n = strlen(what);

	while (strncmp(s, what, n)) {
		if (!*s++)
			return NULL;
	}
	return (char *)(size_t)s;
}
