/* SPDX-License-Identifier: MIT */
/* No C library; a loader, or none. Ends with 3. */
#ifdef __x86_64__
static long call(long n, long a, long b, long c)
{
	long r;
	__asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return r;
}
#define WRITE 1
#define EXIT 231
#else
static long call(long n, long a, long b, long c)
{
	long r;
	__asm__ volatile("int $0x80" : "=a"(r) : "a"(n), "b"(a), "c"(b), "d"(c) : "memory");
	return r;
}
#define WRITE 4
#define EXIT 252
#endif
void _start(void)
{
	call(WRITE, 1, (long)"hello\n", 6);
	call(EXIT, 3, 0, 0);
}
