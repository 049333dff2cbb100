/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_WORKERS_H
#define BUILDBEAT_ANALYSE_WORKERS_H

#include "recording/recording.h"

#include <stdbool.h>

/*
 * How many tasks a host may run at once, and from which load average on it starts no further ones,
 * as its command line says: "make -j4 -l 2.5", "ninja -kj8".
 */
struct workers {
	int64_t jobs;		/* WORKERS_ANY: "-j" without a number; -1: not given */
	double load;		/* NAN: no limit was given */
};

#define WORKERS_ANY INT64_MAX

struct workers workers_given(const struct instance *in);

#endif
