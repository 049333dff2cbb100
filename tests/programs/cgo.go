// SPDX-License-Identifier: MIT

// busy.go with a C library beside.
package main

// #include <stdlib.h>
// static void more(void) { char *volatile p = malloc(3000); *p = 1; free(p); }
import "C"

func more() { C.more() }
