/* SPDX-License-Identifier: MIT */
#include "archive/sync.h"

#include "archive/login.h"
#include "base/buf.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* A connection. */
struct talk {
	git_remote *remote;
	struct login login;	/* for the callbacks, as the rest is */
	struct sync_push *push;
	size_t n;
	int refused;		/* -EAGAIN or -EBUSY, and why */
	char why[256];
	struct sigaction pipe;	/* what SIGPIPE did before: libgit2 writes to sockets that may be
				   gone */
};

static int begin(struct talk *t, git_repository *git, const char *url)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	login_init(&t->login);
	sigaction(SIGPIPE, &ignore, &t->pipe);
	return git_remote_create_anonymous(&t->remote, git, url);
}

static void end(struct talk *t)
{
	git_remote_free(t->remote);
	login_release(&t->login);
	sigaction(SIGPIPE, &t->pipe, NULL);
}

static int on_credentials(git_credential **out, const char *url, const char *user,
			  unsigned allowed, void *payload)
{
	struct talk *t = payload;

	(void)url;
	return login_next(out, &t->login, user, allowed);
}

static int on_certificate(git_cert *cert, int valid, const char *host, void *payload)
{
	(void)payload;
	if (valid || cert->cert_type != GIT_CERT_HOSTKEY_LIBSSH2)
		return GIT_PASSTHROUGH;
	return login_unknown_host(host);
}

static int lost(const char *shown, const char *what, struct error *err)
{
	const git_error *e = git_error_last();

	return error_set(err, -ENOTCONN, shown, 0, 0, "%s: %s", what,
			 e && e->message ? e->message : "unknown reason");
}

int sync_fetch(git_repository *git, const char *url, const char *shown, struct error *err)
{
	char heads[] = "+refs/heads/*:" SYNC_HEADS "*";
	char notes[] = "+refs/notes/buildbeat:" SYNC_NOTES;
	git_strarray specs = { (char *[]){ heads, notes }, 2 };
	git_fetch_options o;
	struct talk t = { 0 };
	int r = begin(&t, git, url);

	git_fetch_options_init(&o, GIT_FETCH_OPTIONS_VERSION);
	o.callbacks.credentials = on_credentials;
	o.callbacks.certificate_check = on_certificate;
	o.callbacks.payload = &t;
	o.prune = GIT_FETCH_PRUNE;
	o.update_fetchhead = 0;
	o.download_tags = GIT_REMOTE_DOWNLOAD_TAGS_NONE;
	if (!r)
		r = git_remote_fetch(t.remote, &specs, &o, NULL);
	if (r)
		r = lost(shown, "cannot fetch", err);
	end(&t);
	return r;
}

/* Pushing */

static struct sync_push *find(struct talk *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++) {
		if (!strcmp(t->push[i].name, name))
			return &t->push[i];
	}
	return NULL;
}

/* What the server is at is known, and nothing was sent yet. */
static int on_negotiation(const git_push_update **update, size_t n, void *payload)
{
	struct talk *t = payload;

	for (size_t i = 0; i < n; i++) {
		const struct sync_push *p = find(t, update[i]->dst_refname);

		if (p && git_oid_equal(&update[i]->src, &p->lease))
			continue;
		t->refused = -EAGAIN;
		strcpy(t->why, "somebody else pushed first");
		return GIT_EUSER;
	}
	return 0;
}

static int on_reference(const char *name, const char *status, void *payload)
{
	struct talk *t = payload;
	struct sync_push *p = find(t, name);

	if (status) {
		t->refused = -EBUSY;
		strncpy(t->why, status, sizeof t->why - 1);
	} else if (p) {
		p->done = true;
	}
	return 0;
}

/* "+LOCAL:NAME": the lease tells whether it may be. */
static int make_specs(git_strarray *specs, const struct sync_push *push, size_t n)
{
	*specs = (git_strarray){ calloc(n + 1, sizeof *specs->strings), n };
	for (size_t i = 0; specs->strings && i < n; i++) {
		struct buf spec = BUF_INIT;

		buf_addf(&spec, "+%s:%s", push[i].local, push[i].name);
		specs->strings[i] = spec.data;
		if (buf_error(&spec))
			return -ENOMEM;
	}
	return specs->strings ? 0 : -ENOMEM;
}

static int send_specs(struct talk *t, const git_strarray *specs)
{
	git_push_options o;

	git_push_options_init(&o, GIT_PUSH_OPTIONS_VERSION);
	o.callbacks.credentials = on_credentials;
	o.callbacks.certificate_check = on_certificate;
	o.callbacks.push_negotiation = on_negotiation;
	o.callbacks.push_update_reference = on_reference;
	o.callbacks.payload = t;
	return git_remote_push(t->remote, specs, &o);
}

int sync_push(git_repository *git, const char *url, const char *shown, struct sync_push *push,
	      size_t n, struct error *err)
{
	struct talk t = { .push = push, .n = n };
	git_strarray specs;
	int r = make_specs(&specs, push, n);

	if (r) {
		error_sys(err, r, shown, NULL);
	} else {
		r = begin(&t, git, url);
		if (!r)
			r = send_specs(&t, &specs);
		if (t.refused)
			r = error_set(err, t.refused, shown, 0, 0, "refused: %s", t.why);
		else if (r)
			r = lost(shown, "cannot push", err);
		end(&t);
	}
	for (size_t i = 0; specs.strings && i < n; i++)
		free(specs.strings[i]);
	free(specs.strings);
	return r;
}
