/* SPDX-License-Identifier: MIT */
/*
 * What 32-bit programs of an armed build load instead of buildbeat-arm.so: an object that is empty.
 * It is not for this machine's other objects, and its compiler may have no library for it.
 */
extern int buildbeat_arm_is_empty;
