/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_PROFILE_MATCH_H
#define BUILDBEAT_ANALYSE_PROFILE_MATCH_H

#include "analyse/profile.h"

/*
 * Which rows fit a filter: those with it in the text of any column, whatever the case of letters;
 * "/REGEX/" is an extended regular expression. Numbers are as in a table. 0, -ENOMEM, or -EINVAL
 * with err's message.
 */
int profile_match(bool *fits, const struct profile *p, const char *filter, struct error *err);

#endif
