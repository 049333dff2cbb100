/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMMAND_NINJA_HASH_H
#define BUILDBEAT_COMMAND_NINJA_HASH_H

#include <stddef.h>
#include <stdint.h>

/*
 * What ninja and samurai call an edge in .ninja_log: a hash of its command and,
 * where it has a response file, of ";rspfile=" and what is in it behind that.
 */

#define NINJA_HASH_RSPFILE ";rspfile="

/* A note of a task's: this, then the hashes in hexadecimal, murmur first. */
#define NINJA_HASH_NOTE "ninja-hash "

/* Of the log's versions 5 and 6: MurmurHash64A, with ninja's seed. */
uint64_t ninja_hash_murmur(const void *text, size_t len);

/* Of version 7: rapidhash, version 1. */
uint64_t ninja_hash_rapid(const void *text, size_t len);

#endif
