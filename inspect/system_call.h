/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_SYSTEM_CALL_H
#define BUILDBEAT_INSPECT_SYSTEM_CALL_H

#include <stddef.h>
#include <stdint.h>

/* The name of a system call of this machine, NULL if it has none with this number. */
const char *system_call_name(int64_t number);

#endif
