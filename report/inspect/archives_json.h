/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_INSPECT_ARCHIVES_JSON_H
#define BUILDBEAT_REPORT_INSPECT_ARCHIVES_JSON_H

#include "base/json.h"
#include "inspect/archive_list.h"

/* An archive in the list of `buildbeat inspect list --json`: an object. */
void archives_json_entry(struct json *j, const struct inspect_entry *e);

#endif
