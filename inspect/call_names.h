/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_CALL_NAMES_H
#define BUILDBEAT_INSPECT_CALL_NAMES_H

#include "base/buf.h"
#include "base/cursor.h"
#include "inspect/calls.h"

/*
 * Parts of the names of functions, without their arguments, and of source files:
 *
 *	llvm::SelectionDAG::getNode(unsigned int, llvm::SDLoc const&)	llvm::SelectionDAG::getNode
 *	std::vector<int, std::allocator<int> >::push_back(int const&)	std::vector::push_back
 *	<rustc_middle::ty::Ty as core::fmt::Debug>::fmt			rustc_middle::ty::Ty::fmt
 */
void call_names_short(struct buf *out, const char *function);

#define CALL_PATH_MAX 8

/* What a call belongs to, the most general part first. */
struct call_path {
	size_t n;
	struct buf part[CALL_PATH_MAX];
	bool is_source;		/* directories; otherwise the module and prefixes of the function */
};

/*
 * The directory that is most frequent among the sources of ten calls from `from` on; among equally
 * frequent ones that of the innermost. If the source of call `from` is not known: its module, its
 * first namespaces, or prefixes up to the first and second underscore. 0 or -ENOMEM.
 */
int call_names_path(struct call_path *path, const struct calls *calls, size_t from);
void call_names_release(struct call_path *path);

#endif
