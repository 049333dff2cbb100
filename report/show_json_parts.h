/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_SHOW_JSON_PARTS_H
#define BUILDBEAT_REPORT_SHOW_JSON_PARTS_H

#include "base/json.h"
#include "report/show_output.h"

/* Parts of show's JSON. Single values have one member per line, long lists one object per line. */
void show_json_line(struct json *j, const char *name);
void show_json_line_end(struct json *j);

/* The members "name" and "directory" of a task, and an id of one, or null. */
void show_json_name(struct json *j, const struct recording *rec, const struct task *t);
void show_json_id(struct json *j, const char *name, const struct recording *rec, uint32_t task);

void show_json_answer(struct json *j, const struct recording *rec, const struct answer *a);
void show_json_error(struct json *j, const struct recording *rec, const struct build_output *output);
void show_json_paths(struct json *j, const struct recording *rec, const struct chain *c);

#endif
