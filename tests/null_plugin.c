/* SPDX-License-Identifier: MIT */
/* Loaded by make instead of the plugin to measure the loading alone. */
#include <stdint.h>

int plugin_is_GPL_compatible;
int buildbeat_gmk_setup(uintptr_t a, uintptr_t b);

int buildbeat_gmk_setup(uintptr_t a, uintptr_t b)
{
	(void)a;
	(void)b;
	return -1;
}
