/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_FIND_PLUGIN_H
#define BUILDBEAT_LAUNCH_FIND_PLUGIN_H

#include "base/error.h"

#include <limits.h>
#include <stdbool.h>

/* The plugin: the setting, otherwise found from the path of this program. False with err if
 * there is none. */
bool find_plugin(char path[PATH_MAX], const char *setting, struct error *err);

/* One of the objects of heap/, by its file's name, likewise. */
bool find_heap(char path[PATH_MAX], const char *name, struct error *err);

/* Our programs, likewise. FIND_MAIN is buildbeat itself, for buildbeat-serve. */
enum find_name { FIND_MAIN, FIND_SENDER, FIND_SERVER, FIND_SYMBOLS, FIND_TOP };

bool find_program(char path[PATH_MAX], enum find_name name, struct error *err);

#endif
