/* SPDX-License-Identifier: MIT */
#include "cli/serve_running.h"

#include "analyse/listing.h"
#include "base/cursor.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/output_file.h"
#include "cli/process_env.h"
#include "convert/convert.h"
#include "inspect/live_build.h"
#include "inspect/process_list.h"
#include "live/registry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A process id; 0: it is something else. */
static int32_t pid_of(const char *text)
{
	uint64_t pid;

	return cursor_slice_u64(slice_of(text), &pid) && pid <= 99999999 ? (int32_t)pid : 0;
}

int serve_running_list(struct error *err)
{
	struct registry_entry *e;
	struct buf out = BUF_INIT;
	size_t n;
	int r = registry_list(&e, &n);

	for (size_t i = 0; !r && i < n; i++) {
		buf_addf(&out, "%d\t", (int)e[i].pid);
		text_add_name(&out, e[i].path, SIZE_MAX);
		buf_addf(&out, "\t%s\n", e[i].url);
	}
	free(e);
	if (!r && !n)
		buf_adds(&out, "No server of yours runs.\n");
	return output_end(&out, r, "serve", err);
}

/* The path of a recording, a directory or an archive. */
static bool find_path(char path[PATH_MAX], const char *what, const char *base, struct error *err)
{
	struct buf found = BUF_INIT;
	bool good;

	good = (strchr(what, '/') && realpath(what, path)) ||
	       (!listing_find(&found, base, what, &convert_formats, err) &&
		realpath(buf_str(&found), path)) || realpath(what, path);
	buf_release(&found);
	return good;
}

int serve_running_stop(const char *what, const char *base, struct error *err)
{
	bool all = !strcmp(what, "all");
	int32_t pid = pid_of(what);
	struct registry_entry *e;
	struct error unused;
	char path[PATH_MAX] = "";
	size_t n, stopped = 0;
	int r = registry_list(&e, &n);

	if (r)
		error_sys(err, r, NULL, NULL);
	if (!all && !pid && !find_path(path, what, base, &unused))
		path[0] = '\0';
	for (size_t i = 0; !r && i < n; i++) {
		if (!all && e[i].pid != pid && strcmp(e[i].path, path))
			continue;
		r = registry_stop(&e[i]);
		if (r)
			error_sys(err, r, e[i].path, "the server cannot be ended");
		else
			stopped++;
	}
	free(e);
	if (r)
		return r;
	return stopped || all ? EXIT_GOOD :
	       error_say(err, -ESRCH, "serve: no server of yours is or serves '%.200s'; see: "
			 "buildbeat serve --list", what);
}

/* The first process below pid that knows of a recording. */
static bool search_below(char path[PATH_MAX], const struct process_list *l, int32_t pid)
{
	bool found = false;

	for (size_t i = 0; !found && i < l->n; i++) {
		struct buf environment = BUF_INIT;

		if (process_list_descends(l, &l->process[i], pid) &&
		    process_env_read(&environment, l->process[i].pid))
			found = process_env_recording(path, &environment);
		buf_release(&environment);
	}
	return found;
}

static int recording_of(char path[PATH_MAX], int32_t pid, struct error *err)
{
	const struct listed *p, *parent;
	struct process_list l;
	bool found = false;
	int r = process_list_init(&l);

	if (r)
		return error_sys(err, r, "/proc", NULL);
	r = process_list_read(&l);
	p = r ? NULL : process_list_find(&l, pid);
	parent = p ? process_list_find(&l, p->parent) : NULL;
	if (p)
		found = search_below(path, &l, pid);
	/* a process that helps the launcher */
	if (!found && parent && !strcmp(parent->name, "buildbeat"))
		found = search_below(path, &l, parent->pid);
	process_list_release(&l);
	if (r)
		return error_sys(err, r, "/proc", NULL);
	return found ? 0 : error_say(err, -ESRCH, "serve: process %d belongs to no recorded build",
				     (int)pid);
}

int serve_running_find(char path[PATH_MAX], int32_t *launcher, const char *what, const char *base,
		       struct error *err)
{
	struct live_build *b = NULL;
	struct buf found = BUF_INIT;
	int32_t pid = pid_of(what);
	int r;

	if (pid) {
		r = recording_of(path, pid, err);
	} else {
		r = listing_find(&found, base, what, &convert_formats, err);
		if (!r && !realpath(buf_str(&found), path))
			r = error_sys(err, -errno, buf_str(&found), NULL);
	}
	buf_release(&found);
	if (!r)
		r = live_build_open(&b, path, err);
	if (!r)
		r = live_build_read(b, err);
	if (r >= 0) {
		*launcher = b ? live_build_launcher(b) : 0;
		r = r && *launcher ? 0 : error_set(err, -ESRCH, path, 0, 0, "the build has ended");
	}
	live_build_close(b);
	return r;
}
