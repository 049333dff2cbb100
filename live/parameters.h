/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_PARAMETERS_H
#define BUILDBEAT_LIVE_PARAMETERS_H

#include "base/error.h"
#include "live/query.h"

/* Parameters of several replies. 0 or -EINVAL with err. */

/* One of the words, which end with NULL; `otherwise` if it is not there. */
int parameter_word(const struct query *q, const char *key, const char *const *word, int otherwise,
		   int *out, struct error *err);

/* One that must be there and not be empty. */
int parameter_needed(const struct query *q, const char *key, const char **text, struct error *err);

#endif
