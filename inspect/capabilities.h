/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_CAPABILITIES_H
#define BUILDBEAT_INSPECT_CAPABILITIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What can be inspected on this machine, and with which rights: found by trying, nothing is
 * changed.
 */
enum capability {
	CAPABILITY_OWN,		/* mappings of the user's own processes */
	CAPABILITY_OTHERS,	/* mappings of other users' processes */
	CAPABILITY_PAGES,	/* which pages are resident */
	CAPABILITY_MEMORY,	/* build-ids of deleted files, from the process' memory */
	CAPABILITY_FREEZE,	/* --freeze: stop a process and continue it safely */
	CAPABILITY_HEAP,	/* --heap: the shim, for this machine's ABI */
	CAPABILITIES
};

/* A build that runs here, whose processes can be inspected. */
struct capability_build {
	char *recording;	/* its path */
	char *tool;		/* "make", "ninja", "bitbake" ..., "" before the tool is known */
	int32_t pid;		/* of the first process of the build, 0: unknown */
};

struct capabilities {
	bool can[CAPABILITIES];
	char why_not[CAPABILITIES][160];	/* and what to do; "" if it can */
	uint64_t processes;	/* in /proc */
	uint64_t inspectable;	/* of those, whose mappings may be read now */
	uint64_t archives;
	size_t n_builds;
	struct capability_build *build;
};

/* The words of the rights, in JSON: "own_processes" ... */
extern const char *const capabilities_words[CAPABILITIES];

/*
 * recordings: the directory that has recordings, such as buildstats; archives: a directory as for
 * inspect_list_below(); both may be missing. no_heap: why the heap cannot be counted, NULL if it
 * can. 0 or -ENOMEM.
 */
int capabilities_find(struct capabilities *c, const char *recordings, const char *archives,
		      const char *no_heap);
void capabilities_release(struct capabilities *c);

#endif
