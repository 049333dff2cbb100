/* SPDX-License-Identifier: MIT */
#include "heap/sandbox.h"

uint32_t sandbox;
