/* SPDX-License-Identifier: MIT */
#include "cli/class_rules.h"
#include "tests/fuzz.h"

/* Rules, and the classes of a small process by them. */
FUZZ_TARGET(rules)
{
	static struct slice names[] = { { "", 0 }, { "/lib/a.so", 9 }, { "main", 4 }, { "x::y<int>(z)", 12 } };
	static struct frame_name frame_names[] = { { 2, 1, 7, INSPECTION_NONE }, { 3, 1, 8, 0 } };
	static struct frame frames[] = { { 1, INSPECTION_NONE, 0 }, { 2, INSPECTION_NONE, 1 } };
	static struct stack stacks[] = { { INSPECTION_NONE, 0 }, { 0, 1 } };
	static struct mapping mapping = { .start = 4096, .end = 8192, .permissions = "rw-p",
		.kb = { 4, 4 } };
	static struct site site = { .stack = 1, .live = 1, .live_bytes = 100 };
	static const struct inspection in = { .names = { .n = 4, .name = names }, .n_frames = 2,
		.frame = frames, .n_stacks = 2, .stack = stacks, .n_frame_names = 2,
		.frame_name = frame_names };
	static const struct snapshot s = { .has_heap = true, .n = 1, .mapping = &mapping, .n_sites = 1,
		.site = &site };
	struct classifier *c = NULL;
	struct class_rules_read rules;
	struct classes classes;
	struct error err;

	if (!class_rules_parse(&rules, (const char *)data, size, "fuzz", &err) &&
	    !classifier_new(&c, CLASSIFY_MEMORY, &rules.file, &in, &err) && !classifier_add(c, &s) &&
	    !classifier_done(c, &classes))
		classes_release(&classes);
	classifier_free(c);
	class_rules_release(&rules);
	return 0;
}
