/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "cli/configfile.h"
#include "cli/inspect.h"
#include "cli/inspect_config.h"
#include "cli/output_file.h"

#include <errno.h>

struct listing_context {
	struct buf *out;
	struct json *json;	/* NULL: text */
};

static void add_setting(void *context, const char *key, const char *value, const char *description)
{
	const struct listing_context *c = context;

	if (!c->json) {
		buf_addf(c->out, "%s: %s\n    %s\n", key, value ? value : "(not set)", description);
		return;
	}
	json_object(c->json, NULL);
	json_str(c->json, "key", key);
	json_str(c->json, "value", value);
	json_str(c->json, "description", description);
	json_object_end(c->json);
}

static int print_settings(struct buf *out, const struct inspect_config *c, const char *file, bool as_json)
{
	struct json j;
	struct listing_context context = { out, as_json ? &j : NULL };
	int r;

	if (!as_json) {
		if (file)
			buf_addf(out, "Settings from %s:\n", file);
		else
			buf_adds(out, "There is no buildbeat.yaml.\n");
		return inspect_config_each(c, add_setting, &context);
	}
	json_init(&j, out, false);
	json_object(&j, NULL);
	json_str(&j, "file", file);
	json_array(&j, "settings");
	r = inspect_config_each(c, add_setting, &context);
	json_array_end(&j);
	json_object_end(&j);
	return r;
}

int inspect_run_settings(struct args *a, void *values, struct error *err)
{
	const struct inspect_arguments *o = values;
	struct inspect_config c;
	struct buf out = BUF_INIT;
	char found[PATH_MAX];
	const char *file = o->config;
	bool project;
	int r = 0;

	(void)a;
	inspect_config_init(&c);
	if (!file) {
		r = configfile_find(found, &project, err);
		file = r ? NULL : found;
		r = r == -ENOENT ? 0 : r;
	}
	if (!r)
		r = inspect_config_read(&c, o->config, err);
	if (r) {
		inspect_config_release(&c);
		return r;
	}
	r = print_settings(&out, &c, file, o->json);
	inspect_config_release(&c);
	return output_end(&out, r, NULL, err);
}
