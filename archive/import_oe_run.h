/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_IMPORT_OE_RUN_H
#define BUILDBEAT_ARCHIVE_IMPORT_OE_RUN_H

#include "convert/json_reader.h"
#include "recording/recording.h"

/* A run of tests in JSON: a recording of it as a whole, and one of each measurement's
 * buildstats. */
struct import_oe_run {
	const char *path;		/* for messages */
	const char *commit;		/* of the archive, in hexadecimal */
	const struct json_value *metadata, *results;
};

/* 0 or a negative errno with err and nothing to release. */
int import_oe_tests(struct recording *rec, const struct import_oe_run *run, struct error *err);

/* measurement: "test1.build"; buildstats: the list of its recipes. */
int import_oe_build(struct recording *rec, const struct import_oe_run *run, const char *measurement,
		    const struct json_value *buildstats, struct error *err);

/* Where it ran, what was built: NULL where it is not told. */
const char *import_oe_host(const struct import_oe_run *run);
const char *import_oe_branch(const struct import_oe_run *run);
const char *import_oe_machine(const struct import_oe_run *run);

#endif
