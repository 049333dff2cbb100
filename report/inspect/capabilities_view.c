/* SPDX-License-Identifier: MIT */
#include "report/inspect/capabilities_view.h"

#include "base/json.h"

/* What each right permits, for people. */
static const char *const names[CAPABILITIES] = {
	[CAPABILITY_OWN] = "mappings of your own processes",
	[CAPABILITY_OTHERS] = "mappings of other users' processes",
	[CAPABILITY_PAGES] = "pages in memory (--pages)",
	[CAPABILITY_MEMORY] = "memory, for build-ids of deleted files",
	[CAPABILITY_FREEZE] = "stopping a process (--freeze)",
	[CAPABILITY_HEAP] = "allocations of programs it starts (--heap)",
};

#define NAME_COLUMNS 44

int capabilities_view_text(struct buf *out, const struct capabilities *c,
			   const struct style *style)
{
	for (int i = 0; i < CAPABILITIES; i++) {
		size_t n = text_add_name(out, names[i], 0);

		text_add_blanks(out, NAME_COLUMNS - n);
		text_tone(out, style, c->can[i] ? TONE_PLAIN : TONE_ALARM);
		buf_adds(out, c->can[i] ? "yes" : "no");
		text_tone(out, style, TONE_PLAIN);
		if (!c->can[i])
			buf_addf(out, ": %s", c->why_not[i]);
		buf_addc(out, '\n');
	}
	buf_addf(out, "%llu of %llu processes can be inspected now, %llu archive%s here\n",
		 (unsigned long long)c->inspectable, (unsigned long long)c->processes,
		 (unsigned long long)c->archives, c->archives == 1 ? "" : "s");
	for (size_t i = 0; i < c->n_builds; i++) {
		const struct capability_build *b = &c->build[i];

		buf_addf(out, "running build of %s, recorded in ", *b->tool ? b->tool : "a command");
		text_add_name(out, b->recording, 0);
		buf_addc(out, '\n');
	}
	return buf_error(out);
}

int capabilities_view_json(struct buf *out, const struct capabilities *c)
{
	struct json j;

	json_init(&j, out, false);
	json_object(&j, NULL);
	json_str(&j, "format", "buildbeat capabilities 1");
	json_object(&j, "rights");
	for (int i = 0; i < CAPABILITIES; i++) {
		json_object(&j, capabilities_words[i]);
		json_bool(&j, "can", c->can[i]);
		json_str(&j, "why_not", c->can[i] ? NULL : c->why_not[i]);
		json_object_end(&j);
	}
	json_object_end(&j);
	json_array(&j, "builds");
	for (size_t i = 0; i < c->n_builds; i++) {
		json_object(&j, NULL);
		json_str(&j, "recording", c->build[i].recording);
		json_str(&j, "tool", *c->build[i].tool ? c->build[i].tool : NULL);
		json_int(&j, "pid", c->build[i].pid);
		json_object_end(&j);
	}
	json_array_end(&j);
	json_int(&j, "processes", (int64_t)c->processes);
	json_int(&j, "inspectable_processes", (int64_t)c->inspectable);
	json_int(&j, "archives", (int64_t)c->archives);
	json_object_end(&j);
	return buf_error(out);
}
