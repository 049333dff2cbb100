/* SPDX-License-Identifier: MIT */
#include "convert/cmake_snippet.h"

#include "base/array.h"

#include <errno.h>
#include <string.h>

static bool is_container(const char *role)
{
	static const char *const containers[] = { "build", "cmakeBuild", "cmakeInstall", "ctest" };

	for (size_t i = 0; i < ARRAY_SIZE(containers); i++) {
		if (!strcmp(role, containers[i]))
			return true;
	}
	return false;
}

/* Its first output, the name of its test, its command or its role. */
static const char *name_of(const struct cmake_snippet *s, const struct json_value *root)
{
	const char *test = json_member_text(root, "testName");

	if (s->outputs && s->outputs->first && *json_text(s->outputs->first))
		return json_text(s->outputs->first);
	if (*test)
		return test;
	return s->contains && *s->command ? s->command : s->role;
}

static int check_snippet(const struct cmake_snippet *s, const char *path, struct error *err)
{
	const struct json_value *root = s->document.root;
	int64_t version = json_member_number(root, "version", 0, -1);

	if (root->type != JSON_OBJECT || version < 0)
		return error_set(err, -EINVAL, path, 1, 0, "not a snippet of CMake");
	if (version != 1)
		return error_set(err, -EINVAL, path, 1, 0,
				 "data of version %lld, not 1", (long long)version);
	if (!*s->role)
		return error_set(err, -EINVAL, path, 1, 0, "a snippet without role");
	if (s->start_us < 0 || s->duration_us < 0 || s->start_us > INT64_MAX / 4000 ||
	    s->duration_us > INT64_MAX / 4000)
		return error_set(err, -EINVAL, path, 1, 0,
				 "a snippet without timeStart and duration");
	return 0;
}

int cmake_snippet_read(struct cmake_snippet *s, const char *path, struct error *err)
{
	const struct json_value *root, *outputs;
	int r;

	*s = (struct cmake_snippet){ 0 };
	r = json_read_file(&s->document, path, err);
	if (r)
		return r;
	root = s->document.root;
	outputs = json_member(root, "outputs");
	s->role = json_member_text(root, "role");
	s->command = json_member_text(root, "command");
	s->directory = json_member_text(root, "workingDir");
	s->target = json_member_text(root, "target");
	s->outputs = outputs && outputs->type == JSON_LIST ? outputs : NULL;
	s->start_us = json_member_number(root, "timeStart", 3, -1);
	s->duration_us = json_member_number(root, "duration", 3, -1);
	/* the first versions wrote "return" */
	s->result = json_member_number(root, "result", 0,
				       json_member_number(root, "return", 0, -1));
	s->contains = is_container(s->role);
	s->name = name_of(s, root);
	r = check_snippet(s, path, err);
	if (r)
		cmake_snippet_release(s);
	return r;
}

void cmake_snippet_release(struct cmake_snippet *s)
{
	json_document_release(&s->document);
}
