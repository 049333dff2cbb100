/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_MOVED_H
#define BUILDBEAT_CLI_MOVED_H

struct option;

/*
 * Names of before 0.1.0, which are refused with the present one. The option of the table that has
 * replaced an unknown one, by its letter or its long name, or NULL.
 */
const struct option *moved_option(const struct option *table, const char *typed);

/* What to type instead of this option of a command that has parts now, without "buildbeat", or NULL. */
const char *moved_part(const char *command, const char *typed);

/* What to type instead of "buildbeat NAME", without "buildbeat", or NULL. */
const char *moved_command(const char *name);

#endif
