/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_MADE_FIGURES_H
#define BUILDBEAT_TESTS_MADE_FIGURES_H

#include "analyse/figures.h"

/*
 * Figures of a build that never was, from a text: a line a task, by name,
 *	NAME|KIND|column=value ...
 * "!key=value" a circumstance, "@name=version" a package, "+total=value" a total. Fails the
 * running test itself; figures_release() it.
 */
void made_figures(struct figures *f, const char *text);

#endif
