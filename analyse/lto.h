/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_LTO_H
#define BUILDBEAT_ANALYSE_LTO_H

#include "analyse/summary.h"

/* GCC's link-time optimisation, which is a build of its own inside the task that links. */

/* Is it a part of it. */
bool lto_is_part(const struct summary *s, uint32_t task);

/* Does GCC optimise one part after the other in this link? With -flto=N it runs a make, whose tasks are known. */
bool lto_is_serial(const struct summary *s, uint32_t task);

#endif
