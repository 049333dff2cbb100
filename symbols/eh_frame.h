/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SYMBOLS_EH_FRAME_H
#define BUILDBEAT_SYMBOLS_EH_FRAME_H

#include "symbols/segments.h"

/*
 * Where functions begin and end, from the content of .eh_frame, which stripped files have too.
 * Each FDE becomes an item of *interval, in the order of the section; what is its number. Items
 * that cannot be read are left out. 0 or -ENOMEM; the caller frees *interval.
 */
int eh_frame_functions(struct code_range **interval, size_t *n, const uint8_t *data, size_t size,
		       uint64_t address, unsigned word_size);

#endif
