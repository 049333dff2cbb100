/* SPDX-License-Identifier: MIT */
#include "inspect/budget.h"

#include "base/minmax.h"

#include <time.h>

void budget_init(struct budget *b, int64_t one_in)
{
	b->one_in = one_in;
	atomic_init(&b->paid_ns, 0);
}

int64_t budget_next_ns(const struct budget *b)
{
	return atomic_load_explicit(&b->paid_ns, memory_order_relaxed);
}

int64_t budget_begin(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now))
		return 0;
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void charge(struct budget *b, int64_t used_ns, int64_t now_ns)
{
	int64_t old = budget_next_ns(b), next;

	do {
		next = MAX(old, now_ns) + used_ns * b->one_in;
	} while (!atomic_compare_exchange_weak(&b->paid_ns, &old, next));
}

int64_t budget_pay(struct budget *b, int64_t begin, int64_t now_ns)
{
	int64_t used_ns = budget_begin() - begin;

	if (used_ns < 0)
		used_ns = 0;
	if (b)
		charge(b, used_ns, now_ns);
	return used_ns;
}
