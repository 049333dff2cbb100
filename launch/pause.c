/* SPDX-License-Identifier: MIT */
#include "launch/pause.h"

#include "base/clock.h"
#include "base/minmax.h"
#include "recording/layout.h"

#include <sys/wait.h>

#define LEAST_NS 10000000	/* a shorter one does not matter */

/* until_us -1: it has begun. */
static void add_line(const struct pause *p, int64_t from_us, int64_t until_us)
{
	char text[128];
	struct buf b;

	buf_init_fixed(&b, text, sizeof text);
	buf_addf(&b, LAYOUT_SUSPENDED ": %lld", (long long)from_us);
	if (until_us >= 0)
		buf_addf(&b, " %lld", (long long)until_us);
	buf_addc(&b, '\n');
	store_append_build(p->store, &b);
}

static int64_t since_start_us(const struct pause *p, int64_t ns)
{
	return (ns - p->store->start_ns) / 1000;
}

void pause_end(struct pause *p)
{
	int64_t now_ns = clock_mono_ns(), from_ns = p->from_ns, from_us;

	p->from_ns = 0;
	if (!p->store || !from_ns || (!p->written && now_ns - from_ns < LEAST_NS))
		return;
	p->written = false;
	p->until_ns = now_ns;
	from_us = since_start_us(p, from_ns);
	add_line(p, from_us, MAX(since_start_us(p, now_ns), from_us + 1));
}

static void begin(struct pause *p)
{
	p->from_ns = clock_mono_ns();
	if (!p->store)
		return;
	p->written = true;
	add_line(p, since_start_us(p, p->from_ns), -1);
}

void pause_status(struct pause *p, int status)
{
	if (WIFSTOPPED(status) && !p->from_ns)
		begin(p);
	else if (WIFCONTINUED(status))
		pause_end(p);
}

void pause_continued(struct pause *p, int64_t due_ns)
{
	if (!p->from_ns)
		p->from_ns = MAX(due_ns, p->until_ns);
	pause_end(p);
}
