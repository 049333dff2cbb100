/* SPDX-License-Identifier: MIT */
#include "launch/instructions.h"

#include "launch/launch.h"
#include "launch/notice.h"
#include "recording/layout.h"
#include "recording/store.h"

#include <stdlib.h>
#include <string.h>

/* A word that people set to try all of it on a machine without counters. */
static enum counter_event wanted_event(void)
{
	const char *word = getenv("BUILDBEAT_INSTRUCTIONS");

	return word && !strcmp(word, counter_word[COUNTER_PAGE_FAULTS]) ? COUNTER_PAGE_FAULTS :
	       COUNTER_INSTRUCTIONS;
}

void instructions_begin(struct store *store, bool created)
{
	enum counter_event event = wanted_event();
	int r = counter_try(event);
	struct counter_why why;
	struct buf b = BUF_INIT;

	if (r) {
		counter_explain(&why, r, counter_paranoid());
		notice("no instructions are counted: %s%s%s", why.text, why.remedy ? "; " : "",
		       why.remedy ? why.remedy : "");
		return;
	}
	store->flags |= counter_flags(event);
	if (!created)
		return;
	store_add_build(&b, LAYOUT_COUNTED, counter_word[event]);
	store_append_build(store, &b);
	buf_release(&b);
}

void instructions_add_end(struct buf *b, const struct launch *l)
{
	if (l->counted >= 0)
		buf_addf(b, LAYOUT_INSTRUCTIONS ": %lld\n", (long long)l->counted);
	else if (l->count && !l->not_run)
		notice("the instructions of the build are unknown: %s", counter_reason((int)l->counted));
}
