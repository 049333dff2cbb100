/* SPDX-License-Identifier: MIT */
#include "analyse/answer.h"

#include "analyse/names.h"
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>

const char *const answer_word[ANSWER_ABOUTS] = {
	[ANSWER_FAILED] = "failed", [ANSWER_ALONE] = "alone", [ANSWER_NESTED] = "nested",
	[ANSWER_OTHERS] = "others", [ANSWER_WORKERS] = "workers",
	[ANSWER_DEPENDENCIES] = "dependencies", [ANSWER_LOAD] = "load", [ANSWER_POOL] = "pool",
	[ANSWER_MEMORY] = "memory", [ANSWER_DISK] = "disk",
};

#define SHARE_LEAST 0.1		/* of the wall time: less explains nothing */
#define WALL_LEAST_US 1000000	/* a shorter build is not slow */

static bool explains(const struct summary *s, int64_t us)
{
	return s->wall_us >= WALL_LEAST_US && (double)us >= SHARE_LEAST * (double)s->wall_us;
}

/* Takes over the text. */
static int add(struct answer *a, struct buf *text, struct answer_sentence sentence)
{
	int r = buf_error(text);

	if (r || a->n == ANSWER_MAX) {
		buf_release(text);
		return r;
	}
	sentence.text = text->data;
	a->sentence[a->n++] = sentence;
	return 0;
}

static int add_others(struct answer *a, const struct summary *s)
{
	const struct host *h = &s->host;
	struct buf text = BUF_INIT;
	int64_t busy_us = h->user_us + h->system_us, others_us = busy_us - s->cpu_us;

	if (h->user_us < 0 || h->system_us < 0 || !s->cpu_exact || s->cores < 1 ||
	    !explains(s, others_us / s->cores))
		return 0;
	buf_adds(&text, "Other processes used ");
	text_add_percent(&text, summary_host_share(s, others_us));
	buf_adds(&text, " of the CPU.");
	return add(a, &text, (struct answer_sentence){
		.about = ANSWER_OTHERS, .from_us = -1, .until_us = -1, .task = NO_INDEX,
		.explains_us = others_us / s->cores });
}

static int add_bound(struct answer *a, const struct summary *s, const struct chain *c)
{
	struct buf text = BUF_INIT;

	if (!c->has_dependencies || !explains(s, s->wall_us - c->dependency_us))
		return 0;
	buf_adds(&text, "With unlimited workers it takes at least ");
	text_add_time(&text, c->dependency_us);
	buf_addc(&text, '.');
	return add(a, &text, (struct answer_sentence){
		.about = ANSWER_WORKERS, .from_us = -1, .until_us = -1, .task = NO_INDEX,
		.explains_us = s->wall_us - c->dependency_us });
}

int answer_make(struct answer *a, const struct summary *s, const struct chain *c,
		const struct queue *q)
{
	int r;

	(void)q;
	*a = (struct answer){ 0 };
	r = add_others(a, s);
	return r ? r : add_bound(a, s, c);
}

void answer_release(struct answer *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->sentence[i].text);
	*a = (struct answer){ 0 };
}
