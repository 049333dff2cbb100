/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "cli/command.h"
#include "cli/doctor.h"
#include "cli/output_file.h"
#include "cli/settings_options.h"
#include "launch/notice.h"

#include <stdio.h>

struct doctor_options {
	struct settings settings;	/* first, for settings_options */
	bool json;
};

#define OPTIONS struct doctor_options
static const struct option options[] = {
	{ OPT_CONFIG(settings.config) },
	{ OPT_PATH('d', "dir", settings.output, "DIR",
	  "directory of recordings (default: buildstats)"), .config = true, .key = "output" },
	{ OPT_PATH(0, "plugin", settings.plugin, "FILE",
	  "plugin for GNU make (default: the installed one)"), .config = true },
	{ OPT_FLAG('j', "json", json, "print JSON") },
	{ 0 }
};

static const char *const states[] = {
	[DOCTOR_OK] = "ok",
	[DOCTOR_LIMITED] = "limited",
	[DOCTOR_MISSING] = "missing",
};

static bool is_able(const struct doctor *d)
{
	for (size_t i = 0; i < d->n; i++) {
		if (d->finding[i].essential && d->finding[i].state == DOCTOR_MISSING)
			return false;
	}
	return true;
}

static void print_text(const struct doctor *d)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct doctor_finding *f = &d->finding[i];

		printf("%-8s %-15s %s\n", states[f->state], f->check, f->text);
		if (f->remedy[0])
			printf("%-8s %-15s -> %s\n", "", "", f->remedy);
	}
	puts(is_able(d) ? "\nBuilds by make can be recorded here."
			: "\nBuilds by make cannot be recorded here: see the lines with 'missing'.");
}

static int print_json(const struct doctor *d, struct error *err)
{
	struct buf out = BUF_INIT;
	struct json j;

	json_init(&j, &out, false);
	json_object(&j, NULL);
	json_bool(&j, "able", is_able(d));
	json_array(&j, "checks");
	for (size_t i = 0; i < d->n; i++) {
		const struct doctor_finding *f = &d->finding[i];

		json_object(&j, NULL);
		json_str(&j, "check", f->check);
		json_str(&j, "state", states[f->state]);
		json_bool(&j, "essential", f->essential);
		json_str(&j, "finding", f->text);
		if (f->remedy[0])
			json_str(&j, "remedy", f->remedy);
		else
			json_null(&j, "remedy");
		json_object_end(&j);
	}
	json_array_end(&j);
	json_object_end(&j);
	buf_addc(&out, '\n');
	return output_end(&out, 0, "doctor", err);
}

static const struct doctor_options defaults = { .settings = SETTINGS_INIT };

static int run_doctor(struct args *a, void *values, struct error *err)
{
	const struct doctor_options *o = values;
	struct doctor d = { .settings = &o->settings };
	int r = 0;

	(void)a;
	doctor_machine(&d);
	doctor_trial(&d);
	if (o->json)
		r = print_json(&d, err);
	else
		print_text(&d);
	return r ? r : is_able(&d) ? EXIT_GOOD : EXIT_FOUND;
}

COMMAND(doctor, "", "Check what this machine can record and how to enable the rest",
	.options = options, .keys = settings_options, COMMAND_DEFAULTS(defaults));
