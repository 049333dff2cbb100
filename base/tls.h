/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_TLS_H
#define BUILDBEAT_BASE_TLS_H

#include <features.h>

/*
 * For a small variable of a thread in an object that hosts load with dlopen(): one instruction
 * reads it, as glibc leaves room for such variables. musl leaves none and refuses the object.
 */
#ifdef __GLIBC__
#define TLS_QUICK __attribute__((tls_model("initial-exec")))
#else
#define TLS_QUICK
#endif

#endif
