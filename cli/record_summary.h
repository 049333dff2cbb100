/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_RECORD_SUMMARY_H
#define BUILDBEAT_CLI_RECORD_SUMMARY_H

#include "cli/options.h"
#include "launch/settings.h"

/* Is a summary wanted at the end of record? a: its command line. */
bool record_summary_wanted(const struct args *a, const struct settings *settings);

/*
 * Prints at most seven lines about the finished recording in the directory path on standard
 * error: the values that `show` prints for it, and the command to type next.
 */
void record_summary_print(const struct args *a, const struct settings *settings, const char *path);

/* Prints on standard error that the live pages stay for a time, where, and how to show them again. */
void record_summary_stay(int64_t us, const char *url, const char *path);

#endif
