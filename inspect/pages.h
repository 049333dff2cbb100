/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_PAGES_H
#define BUILDBEAT_INSPECT_PAGES_H

#include "inspect/snapshot.h"

#include <stddef.h>

/* Mappings of more pages are left out: 64 GiB, of which most is usually only reserved. */
#define PAGES_OF_MAPPING_MAX (UINT64_C(1) << 24)

/*
 * Read from /proc/PID/pagemap which pages of the mappings of s are resident. Mappings without
 * resident memory are skipped. memory is overwritten. 0 or a negative errno.
 */
int pages_read(struct snapshot *s, int pagemap_fd, void *memory, size_t size);

#endif
