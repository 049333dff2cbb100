/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_MADE_VALUES_H
#define BUILDBEAT_TESTS_MADE_VALUES_H

#include "analyse/values.h"

/*
 * Values of a generated build, from a text: a line a task, by name, NAME|KIND|column=value
 * ... "!key=value" is a circumstance, "@name=version" a package, "+total=value" a total.
 * Fails the running test; values_release() it.
 */
void made_values(struct values *f, const char *text);

#endif
