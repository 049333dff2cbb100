/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RERUN_MODEL_RANKS_H
#define BUILDBEAT_RERUN_MODEL_RANKS_H

#include "rerun/model.h"

/*
 * Fill the ranks of a model whose lists are complete. In an instance, what is to be first comes first, with
 * what it waits for; then, for some hosts, the longest chains; then the recorded order. effect may be NULL.
 * 0 or -ENOMEM. Private to model.c.
 */
int rerun_ranks_fill(struct rerun_model *m, const struct rerun_effect *effect);

#endif
