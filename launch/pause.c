/* SPDX-License-Identifier: MIT */
#include "launch/pause.h"

#include "base/clock.h"
#include "base/minmax.h"
#include "recording/layout.h"

#include <sys/wait.h>

#define LEAST_NS 10000000	/* a shorter one does not matter */

void pause_end(struct pause *p)
{
	int64_t now_ns = clock_mono_ns(), from_ns = p->from_ns;
	char text[128];
	struct buf b;

	p->from_ns = 0;
	if (!p->store || !from_ns || now_ns - from_ns < LEAST_NS)
		return;
	p->until_ns = now_ns;
	buf_init_fixed(&b, text, sizeof text);
	buf_addf(&b, LAYOUT_SUSPENDED ": %lld %lld\n",
		 (long long)(from_ns - p->store->start_ns) / 1000,
		 (long long)(now_ns - p->store->start_ns) / 1000);
	store_append_build(p->store, &b);
}

void pause_status(struct pause *p, int status)
{
	if (WIFSTOPPED(status) && !p->from_ns)
		p->from_ns = clock_mono_ns();
	else if (WIFCONTINUED(status))
		pause_end(p);
}

void pause_continued(struct pause *p, int64_t due_ns)
{
	if (!p->from_ns)
		p->from_ns = MAX(due_ns, p->until_ns);
	pause_end(p);
}
