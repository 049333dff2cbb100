/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_BUILDINFO_H
#define BUILDBEAT_SAMPLER_BUILDINFO_H

#include "base/buf.h"

#include <stdint.h>

/*
 * The lines of `build` that every recording has, whoever began it: the launcher
 * or a build tool that loaded the plugin by itself.
 */
struct buildinfo {
	const char *command;	/* the build as it was called */
	const char *tool;	/* make, ninja ...; NULL: not known */
	const char *version;	/* of the tool; NULL: not known */
	int64_t interval_ms;	/* between samples, 0: nobody samples */
	int32_t sampler_pid;	/* of the process that samples, 0: nobody */
};

/*
 * Append command, cwd, tool, version, host, kernel, machine, cores, memory_kb,
 * boot_id, interval_ms, sampler_pid and buildbeat (our version). What is not
 * known is left out. For store_append_build().
 */
void buildinfo_add(struct buf *b, const struct buildinfo *info);

/*
 * Append end_us (since the recording's start) and how it ended: "status: N", the
 * exit status, or "signal: N"; neither when status, a wait(2) status, is -1.
 */
void buildinfo_add_end(struct buf *b, int64_t end_us, int32_t status);

#endif
