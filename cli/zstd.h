#ifndef BUILDBEAT_CLI_ZSTD_H
#define BUILDBEAT_CLI_ZSTD_H

#include "base/error.h"
#include "core/recording.h"

/*
 * The reader's codec for *.zst. What it unpacks is bounded: a small file that
 * claims to be gigabytes is -EFBIG, with what came before the bound in out.
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
