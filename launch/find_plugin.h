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

/* The program buildbeat-send, likewise. */
bool find_sender(char path[PATH_MAX], struct error *err);

/* The program buildbeat-symbols, likewise. */
bool find_symbols(char path[PATH_MAX], struct error *err);

/* The program buildbeat-serve, likewise. */
bool find_server(char path[PATH_MAX], struct error *err);

/* The program buildbeat, for buildbeat-serve. */
bool find_program(char path[PATH_MAX], struct error *err);

/* The program buildbeat-top, likewise. */
bool find_top(char path[PATH_MAX], struct error *err);

#endif
