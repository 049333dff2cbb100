/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_FIT_SENTENCE_H
#define BUILDBEAT_CLI_FIT_SENTENCE_H

#include "base/buf.h"

#include <stddef.h>

/*
 * A sentence that is safe to print, in n columns: its numbers are the news. Long words, which are names, are
 * shortened in their middle. If that is not enough, its last clauses are dropped. A sentence of one
 * clause can remain longer.
 */
void fit_sentence(struct buf *out, const char *sentence, size_t n);

#endif
