/* SPDX-License-Identifier: MIT */
#include "heap/sandbox.h"

uint32_t sandbox_entries[SANDBOX_STRICT + 1];
