/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_ANSWER_PARTS_H
#define BUILDBEAT_ANALYSE_ANSWER_PARTS_H

#include "analyse/answer.h"
#include "analyse/answer_times.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/* What the functions share that make the sentences of a verdict. Private to answer*.c. */

struct answer_work {
	const struct summary *s;
	const struct chain *c;
	const struct idle *idle;
	struct answer_times times;
	int64_t others_us;	/* of the wall time, which others' use of the CPU explains; 0: no part */
	int64_t late_from_us, late_until_us;	/* the time that a late task explains; 0: there is none */
	struct buf text;	/* of the sentence being made */
	struct answer *a;
	int error;
};

#define ANSWER_NAME_COLUMNS 60
#define ANSWER_PART_LEAST 0.1	/* of the wall time: less explains nothing */
#define ANSWER_PART_ONE 0.6	/* of several: it is most of them */

/* Is a time a good part of the build's. */
bool answer_is_part(const struct answer_work *w, int64_t us);

/* Is one of two times most, or nearly all, of the other. */
bool answer_is_most(int64_t us, int64_t of_us);
bool answer_is_nearly(int64_t us, int64_t of_us);

/* With more workers the build would take nearly as long. */
bool answer_is_bound(const struct answer_work *w);

/* Add to the text of the sentence being made. */
void answer_add(struct answer_work *w, const char *words);
void answer_add_number(struct answer_work *w, const char *before, int64_t n, const char *after);
void answer_add_time(struct answer_work *w, const char *before, int64_t us, const char *after);
void answer_add_percent(struct answer_work *w, const char *before, double share, const char *after);
void answer_add_of_build(struct answer_work *w, int64_t us);	/* "7.0 s of 10.0 s" */

/* The file of a target, the recipe and task of BitBake; the link for a part of its link-time
 * optimisation. */
void answer_add_name(struct answer_work *w, const char *before, uint32_t task, const char *after);

/* The sentence about this; NULL: there is none so far. */
const struct answer_sentence *answer_find(const struct answer_work *w, enum answer_about about);

/* The text so far is a sentence, if it is one of the most important. A name begins it as it is
 * written. span may be NULL: the whole build. */
void answer_end(struct answer_work *w, enum answer_about about, const struct answer_span *span, int64_t explains_us);

/* Each makes a sentence, or none. How it ended: */
void answer_say_failure(struct answer_work *w);
void answer_say_current(struct answer_work *w);
void answer_say_idle(struct answer_work *w);

/* Of tasks: */
void answer_say_late(struct answer_work *w);
void answer_say_waited(struct answer_work *w);
void answer_say_alone(struct answer_work *w);
void answer_say_nothing_ran(struct answer_work *w);
void answer_say_few(struct answer_work *w);
void answer_say_lto(struct answer_work *w);
void answer_say_dependencies(struct answer_work *w);

/* Of the machine and of workers: */
void answer_say_others(struct answer_work *w);
void answer_say_cores(struct answer_work *w);
void answer_say_workers(struct answer_work *w);
void answer_say_load(struct answer_work *w);
void answer_say_pool(struct answer_work *w);
void answer_say_memory(struct answer_work *w);
void answer_say_disk(struct answer_work *w);
void answer_say_unused(struct answer_work *w);

#endif
