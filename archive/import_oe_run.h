/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_IMPORT_OE_RUN_H
#define BUILDBEAT_ARCHIVE_IMPORT_OE_RUN_H

#include "convert/json_reader.h"
#include "recording/recording.h"

/* A test run in JSON: makes a recording of the run, and one of the buildstats of each
 * measurement. */
struct import_oe_run {
	const char *path;		/* for messages */
	const char *commit;		/* in hexadecimal */
	const struct json_value *metadata, *results;
};

/* Returns 0, or a negative errno with err and nothing to release. */
int import_oe_tests(struct recording *rec, const struct import_oe_run *run, struct error *err);

/* measurement: "test1.build"; buildstats: the list of its recipes. */
int import_oe_build(struct recording *rec, const struct import_oe_run *run, const char *measurement,
		    const struct json_value *buildstats, struct error *err);

/* NULL if unknown. */
const char *import_oe_host(const struct import_oe_run *run);
const char *import_oe_branch(const struct import_oe_run *run);
const char *import_oe_machine(const struct import_oe_run *run);

#endif
