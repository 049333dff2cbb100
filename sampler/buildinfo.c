/* SPDX-License-Identifier: MIT */
#include "sampler/buildinfo.h"

#include "base/array.h"
#include "base/cursor.h"
#include "base/readfile.h"
#include "base/str.h"
#include "recording/identity.h"
#include "recording/layout.h"
#include "recording/store.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

static void add_text(struct buf *b, const char *key, const char *value)
{
	if (value && *value)
		store_add_build(b, key, value);
}

static void add_number(struct buf *b, const char *key, int64_t n)
{
	if (n <= 0)
		return;
	buf_adds(b, key);
	buf_adds(b, ": ");
	buf_addi(b, n);
	buf_addc(b, '\n');
}

static void add_machine(struct buf *b)
{
	struct sysinfo memory;
	struct utsname u;

	if (!uname(&u)) {
		add_text(b, "host", u.nodename);
		add_text(b, "kernel", u.release);
		add_text(b, "machine", u.machine);
	}
	add_number(b, "cores", sysconf(_SC_NPROCESSORS_ONLN));
	if (!sysinfo(&memory))
		add_number(b, "memory_kb", (int64_t)((uint64_t)memory.totalram *
						     memory.mem_unit / 1024));
}

/* The monotonic clock starts again with each boot. */
static void add_boot_id(struct buf *b)
{
	char text[64];

	if (readfile_line(AT_FDCWD, "/proc/sys/kernel/random/boot_id", text, sizeof text) > 0)
		add_text(b, "boot_id", text);
}

/* W3C's trace context, in which the build was started. */
static __attribute__((cold)) void add_trace_context(struct buf *b)
{
	const char *parent = getenv("TRACEPARENT"), *state = getenv("TRACESTATE");
	struct identity id;

	if (!parent || !*parent)
		return;
	if (!identity_parse(&id, slice_of(parent))) {
		add_text(b, LAYOUT_WARNING, "TRACEPARENT in the environment is not a trace context "
			 "of W3C and was ignored");
		return;
	}
	add_text(b, LAYOUT_TRACEPARENT, parent);
	if (state && identity_is_tracestate(slice_of(state)))
		add_text(b, "tracestate", state);
}

/* The page of the CI job that runs the build: GitLab, Jenkins, Buildkite, CircleCI, GitHub. */
static __attribute__((cold)) void add_run_url(struct buf *b)
{
	static const char *const variable[] = {
		"CI_JOB_URL", "BUILD_URL", "BUILDKITE_BUILD_URL", "CIRCLE_BUILD_URL",
	};
	const char *server = getenv("GITHUB_SERVER_URL"), *project = getenv("GITHUB_REPOSITORY");
	const char *run = getenv("GITHUB_RUN_ID"), *url;
	char text[1024];

	for (size_t i = 0; i < ARRAY_SIZE(variable); i++) {
		url = getenv(variable[i]);
		if (url && str_starts(url, "http")) {
			add_text(b, "run_url", url);
			return;
		}
	}
	if (!server || !project || !run)
		return;
	snprintf(text, sizeof text, "%s/%s/actions/runs/%s", server, project, run);
	add_text(b, "run_url", text);
}

__attribute__((cold)) void buildinfo_add(struct buf *b, const struct buildinfo *info)
{
	char cwd[PATH_MAX];

	add_trace_context(b);
	add_run_url(b);
	add_text(b, "command", info->command);
	if (getcwd(cwd, sizeof cwd))
		add_text(b, "cwd", cwd);
	add_text(b, "tool", info->tool);
	add_text(b, "version", info->version);
	add_machine(b);
	add_boot_id(b);
	add_number(b, "interval_ms", info->interval_ms);
	add_number(b, "sampler_pid", info->sampler_pid);
	add_text(b, "buildbeat", PACKAGE_VERSION);
}

void buildinfo_add_end(struct buf *b, int64_t end_us, int32_t status)
{
	buf_addf(b, "end_us: %lld\n", (long long)end_us);
	if (status < 0)
		return;
	if (WIFSIGNALED(status))
		buf_addf(b, "signal: %d\n", WTERMSIG(status));
	else
		buf_addf(b, "status: %d\n", WEXITSTATUS(status));
}
