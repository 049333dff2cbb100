/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_CMAKE_TARGET_H
#define BUILDBEAT_ANALYSE_CMAKE_TARGET_H

#include "base/buf.h"
#include "recording/recording.h"

/*
 * Append the target of CMake, as add_library() and the like name it, that a task works for. CMake
 * puts objects and makefiles of a target into CMakeFiles/TARGET.dir, and for ninja it names the rules
 * of linkers LANGUAGE_..._LINKER__TARGET_CONFIG. False: it is not known, and nothing is appended.
 */
bool cmake_target_add(struct buf *b, const struct task *t);

#endif
