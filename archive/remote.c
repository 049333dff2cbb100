/* SPDX-License-Identifier: MIT */
#include "archive/remote_parts.h"

#include "archive/sync.h"
#include "archive/url.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The lock of the copy is held while a server answers: sync.h limits that. */
#define LOCK_WAIT_S 600
#define LOCK_WAIT_READ_S 60

static struct remote *remote_new(const char *url)
{
	struct remote *m = calloc(1, sizeof *m);

	if (!m)
		return NULL;
	m->lock.fd = -1;
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
	ref_lock_release(&r->lock);
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

const char *archive_server(const struct archive *a)
{
	return a->remote ? a->remote->shown.data : NULL;
}

bool archive_is_stale(const struct archive *a, struct error *why)
{
	if (!a->remote || !a->remote->stale)
		return false;
	*why = a->remote->why;
	return true;
}

/* flock(2) also serializes threads, because each opens the file itself. */
static int lock(struct archive *a, unsigned wait_s, struct error *err)
{
	int r = ref_lock_take(&a->remote->lock, a, REF_LOCK_COPY, REF_LOCK_ALL, wait_s);

	if (r == -EBUSY)
		return error_set(err, r, a->remote->shown.data, 0, 0, "another process has had the "
				 "copy in %s locked for more than %u s", a->path, wait_s);
	return r ? error_sys(err, r, a->path, "cannot lock") : 0;
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
	int r;

	if (!a->remote)
		return 0;
	r = lock(a, any ? LOCK_WAIT_S : LOCK_WAIT_READ_S, &a->remote->why);
	if (r && r != -EBUSY) {
		*err = a->remote->why;
		return r;
	}
	a->remote->stale = r;
	r = r ? 0 : remote_refresh(a, err);
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
	r = lock(a, LOCK_WAIT_S, err);
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
