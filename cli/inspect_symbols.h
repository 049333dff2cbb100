/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_INSPECT_SYMBOLS_H
#define BUILDBEAT_CLI_INSPECT_SYMBOLS_H

#include "cli/inspect_config.h"
#include "inspect/inspection.h"

/*
 * Name the frames of an archive that has no names, as its inspector was killed: as well as this
 * machine can. What it names is not written to the archive. Says on standard error which modules
 * have no names, and why.
 */
void inspect_symbols(struct inspection *in, const struct inspect_config *config);

#endif
