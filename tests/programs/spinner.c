/* SPDX-License-Identifier: MIT */
/* A thread that spins and one that sleeps. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static volatile int go = 1;
static inline __attribute__((always_inline)) int inner(int n)
{
	volatile int x = n;
	while (go)
		x++;	/* SPINS */
	return x;
}
__attribute__((noinline)) int spin(int n)
{
	int r = inner(n);	/* CALLS */
	return r + 1;
}
__attribute__((noinline)) void *spinner(void *p)
{
	(void)p;
	return (void *)(long)(spin(7) + 1);
}
__attribute__((noinline)) int sleeper(void)
{
	int r = pause();
	return r + 1;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, spinner, NULL);
	puts("ready");
	fflush(stdout);
	return sleeper();
}
