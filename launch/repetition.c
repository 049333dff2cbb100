/* SPDX-License-Identifier: MIT */
#include "launch/repetition.h"

#include "base/file.h"
#include "base/trust.h"
#include "command/redact.h"
#include "command/shell.h"
#include "launch/notice.h"
#include "recording/layout.h"
#include "recording/store.h"
#include "recording/store_create.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int append(const struct repetition *r, int flags, const struct buf *text)
{
	char path[PATH_MAX + sizeof "/" LAYOUT_SET];
	int fd, status;

	if (buf_error(text))
		return buf_error(text);
	snprintf(path, sizeof path, "%s/" LAYOUT_SET, r->path);
	fd = file_open_at(AT_FDCWD, path, O_WRONLY | O_APPEND | O_NOFOLLOW | flags);
	if (fd < 0)
		return fd;
	status = file_write(fd, text->data, text->len);
	if (close(fd) && !status)
		status = -errno;
	return status;
}

static int write_set(const struct repetition *r, char *const *argv)
{
	struct buf text = BUF_INIT, command = BUF_INIT;
	int status;

	shell_quote_words(&command, argv);
	buf_adds(&text, LAYOUT_SET_NAME "1\n");
	store_add_build(&text, "command", buf_str(&command));
	if (r->settings->prepare)
		store_add_build(&text, "prepare", r->settings->prepare);
	buf_addf(&text, "runs: %lld\n", (long long)r->settings->repeat);
	status = buf_error(&command) ? buf_error(&command) : append(r, O_CREAT | O_EXCL, &text);
	buf_release(&command);
	buf_release(&text);
	return status;
}

int repetition_begin(struct repetition *r, const struct settings *settings, char *const *argv,
		     struct error *err)
{
	enum store_access access = (enum store_access)settings->access;
	char base[PATH_MAX];
	int status;

	*r = (struct repetition){ .settings = settings, .shell = { "sh", "-c", settings->prepare } };
	redact_set(settings->redact.item, settings->redact.n);
	whereabouts_remember(&r->where, settings->output);
	status = file_absolute(base, settings->output ? settings->output : LAYOUT_BASE);
	if (status)
		return error_sys(err, status, settings->output, NULL);
	status = trust_path(base, err);
	status = status ? status : store_make_dir(r->path, access, base, settings->name, err);
	if (status)
		return status;
	chmod(r->path, store_dir_mode(access));
	status = write_set(r, argv);
	if (status) {
		error_sys(err, status, r->path, "cannot write the set");
		whereabouts_remove(&r->where, r->path);
		return status;
	}
	store_link_latest(base, r->path);
	return 0;
}

/* git clean -fdx and the like also remove recordings. */
static bool is_there(const struct repetition *r)
{
	char path[PATH_MAX + sizeof "/" LAYOUT_SET];

	snprintf(path, sizeof path, "%s/" LAYOUT_SET, r->path);
	if (!access(path, F_OK))
		return true;
	notice("--prepare removed %s with its recordings: exclude the directory, as with git clean "
	       "-e " LAYOUT_BASE ", or choose another one with --output", r->path);
	return false;
}

bool repetition_prepare(const struct repetition *r, struct launch *l)
{
	int status;

	*l = (struct launch){ .argv = (char **)r->shell };
	if (!r->settings->prepare)
		return true;
	status = launch_run(l);
	if (status) {
		notice("cannot run --prepare: %s", strerror(-status));
		l->status = 2 << 8;
	} else if (WIFSIGNALED(l->status)) {
		notice("--prepare was killed by signal %d: the repetition ends", WTERMSIG(l->status));
	} else if (WEXITSTATUS(l->status)) {
		notice("--prepare failed with exit status %d: the repetition ends",
		       WEXITSTATUS(l->status));
	}
	return !l->status && is_there(r);
}

void repetition_count(struct repetition *r)
{
	struct buf text = BUF_INIT;

	buf_addf(&text, "done: %u\n", ++r->done);
	append(r, 0, &text);	/* for people: readers count the recordings */
	buf_release(&text);
}

void repetition_end(struct repetition *r)
{
	char path[PATH_MAX + 4];

	snprintf(path, sizeof path, "%s/1", r->path);
	if (access(path, F_OK))
		whereabouts_remove(&r->where, r->path);
}
