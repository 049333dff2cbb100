/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_TEXT_ANSWER_H
#define BUILDBEAT_RENDER_TEXT_ANSWER_H

#include "analyse/answer.h"
#include "base/text.h"

/* The parts of text_show() about why a build took so long. */

/* Its sentences, wrapped, with an empty line before and after; nothing if there are none. */
void text_answer_add(struct buf *out, const struct style *style, const struct answer *a);

/* One sentence in lines of at most width columns (0: one line), which break at blanks. */
void text_answer_add_wrapped(struct buf *out, const char *text, unsigned width);

/* The path of the end and the longest chain of dependencies: of each the `top` longest tasks, by
 * time. */
void text_answer_add_paths(struct buf *out, const struct style *style, const struct summary *s,
			   const struct chain *c, size_t top);

#endif
