/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_ZSTD_H
#define BUILDBEAT_CONVERT_ZSTD_H

#include "base/error.h"
#include "recording/recording.h"

/*
 * The reader's codec for *.zst. The unpacked size is limited: a small file that
 * claims to be gigabytes gives -EFBIG, with the data before the limit in out.
 */
extern const struct recording_codec zstd_codec;

/*
 * Pack dir_fd's file name into name.zst, written beside and renamed, and remove
 * the plain one. tick (may be NULL) is called now and then with the percentage
 * done. 0 or a negative errno with err filled; the plain file is then untouched.
 */
int zstd_pack(int dir_fd, const char *name, void (*tick)(void *context, unsigned percent),
	      void *context, struct error *err);

#endif
