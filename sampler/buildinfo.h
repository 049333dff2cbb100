/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_BUILDINFO_H
#define BUILDBEAT_SAMPLER_BUILDINFO_H

#include "base/buf.h"

#include <stdint.h>

/*
 * The lines of `build` that every recording has, whether the launcher began it or a build tool
 * that loaded the plugin.
 */
struct buildinfo {
	const char *command;	/* the command of the build */
	const char *tool;	/* make, ninja ...; NULL: not known */
	const char *version;	/* of the tool; NULL: not known */
	int64_t interval_ms;	/* between samples; 0: no sampling */
	int32_t sampler_pid;	/* of the sampling process; 0: none */
};

/*
 * Append traceparent and tracestate of the environment if they are valid, command, cwd, tool, version, host, kernel, machine, cores, memory_kb, boot_id,
 * interval_ms, sampler_pid and buildbeat (our version). Unknown ones are omitted. For
 * store_append_build().
 */
void buildinfo_add(struct buf *b, const struct buildinfo *info);

/*
 * Append end_us (since the recording's start) and the result: "status: N", the exit status, or
 * "signal: N". Neither if status, a wait(2) status, is -1.
 */
void buildinfo_add_end(struct buf *b, int64_t end_us, int32_t status);

#endif
