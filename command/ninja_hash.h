/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMMAND_NINJA_HASH_H
#define BUILDBEAT_COMMAND_NINJA_HASH_H

#include <stddef.h>
#include <stdint.h>

/*
 * The hash by which ninja and samurai identify an edge in .ninja_log. It is the hash of the command
 * and, if it has a response file, of ";rspfile=" and the content of that file.
 */

#define NINJA_HASH_RSPFILE ";rspfile="

/* A note of a task: this word, then the hashes in hexadecimal, murmur first. */
#define NINJA_HASH_NOTE "ninja-hash "

/* In versions 5 and 6 of the log: MurmurHash64A with ninja's seed. */
uint64_t ninja_hash_murmur(const void *text, size_t len);

/* In version 7: rapidhash, version 1. */
uint64_t ninja_hash_rapid(const void *text, size_t len);

#endif
