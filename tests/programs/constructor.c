/* SPDX-License-Identifier: MIT */
/* Preloaded: how often do constructors run? */
#include <unistd.h>
__attribute__((constructor)) static void f(void) { if (write(1, "constructor\n", 12)) return; }
