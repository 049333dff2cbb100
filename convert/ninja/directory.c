/* SPDX-License-Identifier: MIT */
#include "convert/ninja/directory.h"

#include "base/buf.h"
#include "command/shell.h"
#include "convert/ninja/ninja_graph.h"
#include "convert/ninja/join.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* base/name; name if it is absolute, base if it is empty. NULL: out of memory. */
static char *path_of(const char *base, const char *name)
{
	char *path;

	return asprintf(&path, "%s%s%s", *name == '/' ? "" : base,
			*name && *name != '/' ? "/" : "", name) < 0 ? NULL : path;
}

static bool is_in(const char *dir, const char *file)
{
	char *path = path_of(dir, file);
	bool is = path && !access(path, R_OK);

	free(path);
	return is;
}

int ninja_find_files(char **found_dir, char **found_file, const struct instance *in)
{
	struct buf word = BUF_INIT;
	char *dir = strdup(""), *file = strdup(NINJA_BUILD_NAME), option = '\0';
	struct slice quoted;
	struct cursor c;

	*found_dir = NULL;
	cursor_init(&c, in->command, strlen(in->command));
	shell_word(&c, &quoted);
	while (dir && file && shell_word(&c, &quoted)) {
		const char *value;

		buf_clear(&word);
		shell_add_plain(&word, quoted);
		value = buf_str(&word);
		if (!option) {
			if (!strcmp(value, "--"))
				break;
			value = *value == '-' && value[1] != '-' ?
				strpbrk(value + 1, "Cfdjkltw") : NULL;
			if (!value)
				continue;
			option = *value++;
			if (!*value)
				continue;	/* the value is the next word */
		}
		if (option == 'C' || option == 'f') {
			char **to = option == 'C' ? &dir : &file;

			free(*to);
			*to = strdup(value);
		}
		option = '\0';
	}
	if (dir && file && !buf_error(&word)) {
		*found_dir = path_of(in->cwd, dir);
		if (*found_dir && !is_in(*found_dir, file) && is_in(in->cwd, file)) {
			free(*found_dir);
			*found_dir = strdup(in->cwd);
		}
	}
	*found_file = file;
	free(dir);
	buf_release(&word);
	return *found_dir && *found_file ? 0 : -ENOMEM;
}

int ninja_directory(char **dir, const struct instance *in)
{
	char *found = NULL, *file = NULL;
	int r = ninja_find_files(&found, &file, in);

	free(file);
	if (r)
		free(found);
	else
		*dir = found;
	return r;
}
