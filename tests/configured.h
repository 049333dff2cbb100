/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_CONFIGURED_H
#define BUILDBEAT_TESTS_CONFIGURED_H

#include "cli/buildset.h"
#include "cli/configfile.h"
#include "tests/support.h"

/* A configuration of builds from its text, as of the file file.yaml. */
struct configured {
	struct buildset_config c;
	struct args args;
};

void configured_read(struct configured *c, const char *text);
void configured_release(struct configured *c);

/* It is refused with this message. */
void configured_refuses(const char *text, const char *message);

#endif
