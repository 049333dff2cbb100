/* SPDX-License-Identifier: MIT */
/* What make loads for the plugin when only the loading is to be measured. */
#include <stdint.h>

int plugin_is_GPL_compatible;
int buildbeat_gmk_setup(uintptr_t a, uintptr_t b);

int buildbeat_gmk_setup(uintptr_t a, uintptr_t b)
{
	(void)a;
	(void)b;
	return -1;
}
