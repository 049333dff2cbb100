/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_HEAP_ENV_H
#define BUILDBEAT_HEAP_ENV_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * How programs are armed, by their environment.
 *
 * In the environment of an armed build:
 *	LD_PRELOAD		/.../arm/$PLATFORM/buildbeat-arm.so, before what was there. The loader
 *				of glibc puts the machine's name there, of which 32-bit programs have
 *				another one: an empty object. The loader of musl finds no such file,
 *				and says nothing.
 *	BUILDBEAT_HEAP		rules, separated by ';'. A rule is PERIOD:NAMES: the mean number of
 *				bytes between samples, 0 for every allocation; and names of programs'
 *				files separated by '|', each a pattern of fnmatch(). The first rule
 *				that matches is used.
 *	BUILDBEAT_HEAP_DIR	the absolute path of the directory for images, which is private
 *
 * buildbeat-arm.so executes a program that matches again, with these as well:
 *	LD_PRELOAD		/.../buildbeat-heap.so, before what was there
 *	BUILDBEAT_HEAP_NOW	PID:PERIOD: the process that counts. In another process
 *				buildbeat-heap.so does nothing. The path in LD_PRELOAD and this
 *				variable are removed from the environment before main().
 */
#define HEAP_ENV_RULES "BUILDBEAT_HEAP"
#define HEAP_ENV_DIR "BUILDBEAT_HEAP_DIR"
#define HEAP_ENV_NOW "BUILDBEAT_HEAP_NOW"
#define HEAP_ENV_ARM "buildbeat-arm.so"
#define HEAP_ENV_BY_PLATFORM "arm/$PLATFORM/" HEAP_ENV_ARM	/* from the directory of the shim */
#define HEAP_ENV_SHIM "buildbeat-heap.so"

/* None of these allocates, or changes errno. */

/* The value of a variable, NULL if it is not set. env may be NULL. */
const char *heap_env_find(char *const env[], const char *name);

/* Does a program match a rule? name: its file's name, without directories. */
bool heap_env_match(const char *rules, const char *name, uint64_t *period);

/* Read PID:PERIOD; false if it is not that. */
bool heap_env_now(const char *now, pid_t *pid, uint64_t *period);

/* Remove the shim from an environment, in place: the variable HEAP_ENV_NOW, and the element of
 * LD_PRELOAD whose file name is HEAP_ENV_SHIM. LD_PRELOAD without elements is removed. */
void heap_env_take(char **env);

#endif
