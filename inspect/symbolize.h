/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_SYMBOLIZE_H
#define BUILDBEAT_INSPECT_SYMBOLIZE_H

#include "base/buf.h"
#include "base/error.h"
#include "inspect/inspection.h"

#include <signal.h>
#include <stdbool.h>

/*
 * Names the frames of an inspection, with the program buildbeat-symbols. The address of a frame is
 * a return address, as the unwinder of heap/ has them: the address before it is looked up.
 */

struct symbolize_settings {
	const char *program;	/* buildbeat-symbols, as find_program() of launch/ finds it */
	const char *const *dirs;	/* where else files of modules and debug information are */
	size_t n_dirs;
	int budget_ms;		/* the most time it takes, 0: SYMBOLIZE_BUDGET_MS */
	int32_t pid;		/* the process, if it is alive, for files that were deleted or that
				   have other paths here; 0: it is not asked */
	bool names_only;	/* without source files, lines and inlined functions */
	bool checked_only;	/* only modules with a build-id: the process was on another machine */
	const volatile sig_atomic_t *stop;	/* not 0: stop now; may be NULL */
};

#define SYMBOLIZE_BUDGET_MS 30000

/* What the message "N symbols (P %)" counts, and what could not be named. */
struct symbolize_result {
	size_t frames, named;	/* named: with the name of a function */
	struct buf notes;	/* lines: "PATH: it has another build-id" */
};

/*
 * Fill frame[].name, frame_name[] and named_percent from frame[] and module[]. Each frame in a
 * module gets a name: of a function; "MODULE!0xSTART" for a function without a name, with the
 * start that .eh_frame says, or "MODULE!?". Frames outside of modules keep INSPECTION_NONE. Names
 * that an earlier call found are replaced. If the program fails or the budget ends, the names that
 * it found until then remain, the others are "MODULE!?", and a note says why: that is no error.
 * 0; -ENOMEM; -ECANCELED (stop) or what the start of the program returned, with err: then too all
 * frames are as described. The caller releases result->notes.
 */
int symbolize(struct inspection *in, const struct symbolize_settings *settings,
	      struct symbolize_result *result, struct error *err);

#endif
