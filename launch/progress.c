/* SPDX-License-Identifier: MIT */
#include "launch/progress.h"

#include "base/clock.h"
#include "base/text.h"

#include <stdio.h>
#include <unistd.h>

void progress_begin(struct progress *p, const char *what)
{
	*p = (struct progress){ .what = what };
	if (isatty(STDERR_FILENO))
		p->begin_ns = clock_mono_ns();
}

void progress_at(struct progress *p, unsigned percent)
{
	char memory[1024];
	struct buf what;

	if (!p->begin_ns || clock_mono_ns() - p->begin_ns < 1000000000 ||
	    (p->shown && p->shown_percent == percent))
		return;
	p->shown = true;
	p->shown_percent = percent;
	buf_init_fixed(&what, memory, sizeof memory);
	text_add_name(&what, p->what, 0);
	fprintf(stderr, "\rbuildbeat: %s %u%%", buf_str(&what), percent);
	fflush(stderr);
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fprintf(stderr, "\r\033[K");
	p->begin_ns = 0;
	p->shown = false;
}
