/* SPDX-License-Identifier: MIT */
#include "archive/remote_parts.h"

#include "archive/sync.h"
#include "archive/url.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define LOCK "buildbeat.lock"

static struct remote *remote_new(const char *url)
{
	struct remote *m = calloc(1, sizeof *m);

	if (!m)
		return NULL;
	m->lock_fd = -1;
	m->url = strdup(url);
	url_show(&m->shown, url);
	if (m->url && !buf_error(&m->shown))
		return m;
	remote_free(m);
	return NULL;
}

static int find_path(struct archive *a, struct buf *path, const char *repo, struct error *err)
{
	bool is_file;
	int r;

	if (!url_is(repo)) {
		buf_adds(path, repo);
		return buf_error(path) ? error_sys(err, buf_error(path), repo, NULL) : 0;
	}
	r = url_path(path, repo, &is_file, err);
	if (r || is_file)
		return r;
	if (url_is_option(repo))
		return error_set(err, -EINVAL, repo, 0, 0, "the host of a URL must not begin "
				 "with '-'");
	a->remote = remote_new(repo);
	return a->remote ? url_cache(path, repo, err) : error_sys(err, -ENOMEM, NULL, NULL);
}

int remote_find(struct archive *a, const char *repo, struct error *err)
{
	struct buf path = BUF_INIT;
	int r = find_path(a, &path, repo, err);

	if (!r && !(a->path = strdup(buf_str(&path))))
		r = error_sys(err, -ENOMEM, repo, NULL);
	buf_release(&path);
	return r;
}

static void unlock(struct remote *r)
{
	if (r->lock_fd >= 0)
		close(r->lock_fd);
	r->lock_fd = -1;
}

void remote_free(struct remote *r)
{
	if (!r)
		return;
	unlock(r);
	free(r->url);
	buf_release(&r->shown);
	free(r);
}

bool archive_is_stale(const struct archive *a, struct error *why)
{
	if (!a->remote || !a->remote->stale)
		return false;
	*why = a->remote->why;
	return true;
}

/* flock(2) also serializes threads, because each opens the file itself. */
static int lock(struct archive *a, struct error *err)
{
	struct buf path = BUF_INIT;
	int fd, r;

	buf_addf(&path, "%s%s", git_repository_commondir(a->git), LOCK);
	r = buf_error(&path);
	if (!r) {
		fd = open(path.data, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
		r = fd < 0 ? -errno : 0;
		while (!r && flock(fd, LOCK_EX)) {
			if (errno != EINTR)
				r = -errno;
		}
		if (r && fd >= 0)
			close(fd);
		else if (!r)
			a->remote->lock_fd = fd;
	}
	if (r)
		error_sys(err, r, buf_str(&path), "cannot lock");
	buf_release(&path);
	return r;
}

int remote_refresh(struct archive *a, struct error *err)
{
	struct remote *m = a->remote;

	m->stale = sync_fetch(a->git, m->url, m->shown.data, &m->why);
	m->fresh = true;
	return m->stale ? 0 : remote_settle(a, err);
}

static int is_one(struct archive *a, const char *ref, void *context, struct error *err)
{
	bool *any = context;

	(void)a;
	(void)ref;
	(void)err;
	*any = true;
	return 0;
}

int remote_open(struct archive *a, enum archive_use use, struct error *err)
{
	bool any = use == ARCHIVE_WRITE;
	int r = a->remote ? lock(a, err) : 0;

	if (r || !a->remote)
		return r;
	r = remote_refresh(a, err);
	if (!r && a->remote->stale && !any)
		r = remote_visit(a, REMOTE_HEADS, is_one, &any, err);
	unlock(a->remote);
	if (!r && a->remote->stale && !any) {
		*err = a->remote->why;
		r = -ENOTCONN;
	}
	return r;
}

int remote_begin(struct archive *a, struct error *err)
{
	struct remote *m = a->remote;
	int r;

	if (!m || m->depth++)
		return 0;
	r = lock(a, err);
	if (!r && !m->fresh)
		r = remote_refresh(a, err);
	m->fresh = false;
	if (r) {
		m->depth--;
		unlock(m);
	}
	return r;
}

int remote_end(struct archive *a, struct error *err)
{
	struct remote *m = a->remote;
	struct error why = { 0 };
	int r;

	if (!m || --m->depth)
		return 0;
	r = remote_send(a, &why);
	unlock(m);
	if (r == -ENOTCONN)
		return error_set(err, r, m->shown.data, 0, 0, "%s; it is kept in %s and is pushed "
				 "with the next one", why.message, a->path);
	if (r)
		*err = why;
	return r;
}
