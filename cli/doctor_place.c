/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/trust.h"
#include "cli/configfile.h"
#include "cli/doctor.h"
#include "command/redact.h"
#include "launch/gitstamp.h"
#include "recording/store.h"
#include "recording/store_create.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#define MB (1024 * 1024)
#define ENOUGH_MB 100
#define FILES_WANTED 256
#define NFS_MAGIC 0x6969

static void check_config(struct doctor *d)
{
	char path[PATH_MAX];
	struct error err;
	bool project;

	if (d->settings->config)
		doctor_add(d, "config", DOCTOR_OK, false, NULL, "%s", d->settings->config);
	else if (!configfile_find(path, &project, &err))
		doctor_add(d, "config", DOCTOR_OK, false, NULL, "%s", path);
	else
		doctor_add(d, "config", DOCTOR_OK, false, NULL, "no file: default settings");
}

/* The directory of recordings, or the nearest existing directory above it. */
static void nearest_directory(char out[PATH_MAX], const char *path)
{
	char *slash;

	snprintf(out, PATH_MAX, "%s", path);
	while (access(out, F_OK)) {
		slash = strrchr(out, '/');
		if (!slash) {
			strcpy(out, ".");
			return;
		}
		slash[slash == out] = '\0';
	}
}

static void check_space(struct doctor *d, const struct statfs *fs, const char *dir)
{
	unsigned long long free_mb = (unsigned long long)fs->f_bavail * fs->f_bsize / MB;

	if (free_mb < ENOUGH_MB)
		doctor_add(d, "space", DOCTOR_LIMITED, false,
			   "delete files, or use --output DIR on another disk",
			   "%llu MB are free below %s", free_mb, dir);
	else
		doctor_add(d, "space", DOCTOR_OK, false, NULL,
			   "%llu MB are free below %s", free_mb, dir);
}

/* access(2) is not enough: root passes it on a read-only file system. */
static bool can_write(const char *dir)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof path, "%s/.buildbeat-XXXXXX", dir);
	return mkdtemp(path) && !rmdir(path);
}

static void check_output(struct doctor *d)
{
	char dir[PATH_MAX];
	struct statfs fs;
	struct error err;

	if (trust_path(d->settings->output, &err)) {
		doctor_add(d, "output", DOCTOR_MISSING, true,
			   "use another directory: --output DIR",
			   "recordings cannot be written below %s: %s: %s", d->settings->output,
			   err.path, err.message);
		return;
	}
	nearest_directory(dir, d->settings->output);
	if (!can_write(dir)) {
		doctor_add(d, "output", DOCTOR_MISSING, true,
			   "use another directory: --output DIR",
			   "recordings cannot be written below %s: %s", dir, strerror(errno));
		return;
	}
	if (statfs(dir, &fs))
		return;
	if (fs.f_type == NFS_MAGIC)
		doctor_add(d, "output", DOCTOR_LIMITED, false,
			   "use a local disk: --output DIR",
			   "%s is on NFS: slower, and with one file per writing process",
			   d->settings->output);
	else
		doctor_add(d, "output", DOCTOR_OK, true, NULL,
			   "recordings are written below %s", d->settings->output);
	check_space(d, &fs, dir);
}

static void check_files(struct doctor *d)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	if (limit.rlim_cur < FILES_WANTED)
		doctor_add(d, "files", DOCTOR_LIMITED, false, "raise the limit: ulimit -n 1024",
			   "a process can have %llu files open; builds need %d", (unsigned long long)limit.rlim_cur, FILES_WANTED);
	else
		doctor_add(d, "files", DOCTOR_OK, false, NULL,
			   "a process can have %llu files open",
			   (unsigned long long)limit.rlim_cur);
}

static void collect(void *context, struct buf *lines)
{
	struct buf *all = context;

	buf_add(all, lines->data, lines->len);
}

static void check_tree(struct doctor *d, const char *tree)
{
	static const char mark[] = "git_error: ";
	volatile sig_atomic_t go_on = 0;
	struct buf lines = BUF_INIT;
	const char *error;

	gitstamp_tree(tree, &go_on, collect, &lines);
	error = strstr(buf_str(&lines), mark);
	if (error)
		doctor_add(d, "git", DOCTOR_LIMITED, false,
			   "if you trust the owner of the tree: git config --global --add "
			   "safe.directory DIR",
			   "%s: %.*s", tree, (int)strcspn(error + strlen(mark), "\n"),
			   error + strlen(mark));
	else if (!lines.len)
		doctor_add(d, "git", DOCTOR_OK, false, NULL,
			   "%s is not in a git repository: no revision is recorded", tree);
	else
		doctor_add(d, "git", DOCTOR_OK, false, NULL,
			   "the revision of %s is recorded", tree);
	buf_release(&lines);
}

static void check_git(struct doctor *d)
{
	const struct word_list *trees = &d->settings->source;

	if (!d->settings->git)
		return;
	if (!trees->n)
		check_tree(d, ".");
	for (size_t i = 0; i < trees->n; i++)
		check_tree(d, trees->item[i]);
}

/* Who can read recordings, and which secrets are replaced in commands. */
static void check_secrets(struct doctor *d)
{
	const struct word_list *own = &d->settings->redact;
	bool none = false;
	struct buf b = BUF_INIT;

	for (size_t i = 0; i < own->n; i++) {
		if (strcmp(own->item[i], REDACT_NONE))
			buf_addf(&b, "%s'%s'", b.len ? ", " : "", own->item[i]);
		else
			none = true;
	}
	doctor_add(d, "access", DOCTOR_OK, false, NULL, "recordings can be read by %s",
		   d->settings->access == STORE_ACCESS_USER ? "their user only" :
		   d->settings->access == STORE_ACCESS_GROUP ? "their group" : "all users");
	if (none && !b.len)
		doctor_add(d, "redact", DOCTOR_LIMITED, false,
			   "remove 'redact: none' from the configuration",
			   "secrets in commands are not replaced");
	else
		doctor_add(d, "redact", DOCTOR_OK, false, NULL,
			   "secrets in commands are replaced: %s%s%s",
			   none ? "" : "passwords, tokens and keys (built in)",
			   b.len && !none ? ", " : "", buf_str(&b));
	buf_release(&b);
}

void doctor_place(struct doctor *d)
{
	check_config(d);
	check_output(d);
	check_files(d);
	check_git(d);
	check_secrets(d);
}
