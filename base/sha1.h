/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_SHA1_H
#define BUILDBEAT_BASE_SHA1_H

#include <stddef.h>

#define SHA1_SIZE 20

/* SHA-1, for the checksums of git's files. It does not protect against forgery. */
void sha1(unsigned char out[SHA1_SIZE], const void *data, size_t len);

#endif
