/* SPDX-License-Identifier: MIT */
#include "compare/parallel.h"

#include "base/minmax.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#define MOST (sizeof ((struct parallel *)0)->context / sizeof(void *))

struct queue {
	const struct parallel *p;
	size_t n;
	atomic_size_t next;
	atomic_int failed;
};

struct worker {
	struct queue *queue;
	void *context;
	pthread_t thread;
	bool runs;
};

size_t parallel_threads(size_t n, size_t step)
{
	cpu_set_t set;
	size_t threads = 1, useful = (n + step - 1) / step;

	if (!sched_getaffinity(0, sizeof set, &set))
		threads = CPU_COUNT(&set);
	threads = MIN(threads, MOST);
	threads = MIN(threads, useful);
	return threads ? threads : 1;
}

static void *run_thread(void *data)
{
	struct worker *w = data;
	struct queue *q = w->queue;
	size_t step = q->p->step;

	for (;;) {
		size_t begin = atomic_fetch_add(&q->next, step);
		int r, none = 0;

		if (begin >= q->n || atomic_load(&q->failed))
			return NULL;
		r = q->p->work(w->context, begin, MIN(begin + step, q->n));
		if (r)
			atomic_compare_exchange_strong(&q->failed, &none, r);
	}
}

/* The caller is the first thread. If another one cannot be created, the rest do its work. */
int parallel_run(const struct parallel *p, size_t n)
{
	struct queue queue = { .p = p, .n = n };
	struct worker worker[MOST];

	for (size_t i = 0; i < p->n_threads; i++) {
		worker[i] = (struct worker){ .queue = &queue, .context = p->context[i] };
		worker[i].runs = i && !pthread_create(&worker[i].thread, NULL, run_thread, &worker[i]);
	}
	run_thread(&worker[0]);
	for (size_t i = 1; i < p->n_threads; i++) {
		if (worker[i].runs)
			pthread_join(worker[i].thread, NULL);
	}
	return atomic_load(&queue.failed);
}
