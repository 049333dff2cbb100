/* SPDX-License-Identifier: MIT */
#include "archive/sync.h"

#include "archive/sync_child.h"
#include "base/array.h"
#include "base/buf.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const keys[] = { "id_ed25519", "id_ecdsa", "id_rsa" };

#define KEYS ARRAY_SIZE(keys)
#define STEP_AGENT 0
#define STEP_KEYS 1
#define STEP_END (STEP_KEYS + KEYS)

/* Credentials for a server, which are tried one after the other. */
struct login {
	unsigned step;
	struct buf key, public_key;
};

/* libssh2 needs the public part if it exists. */
static bool find_key(struct login *l, const char *name)
{
	const char *home = getenv("HOME");

	buf_clear(&l->key);
	buf_clear(&l->public_key);
	if (!home)
		return false;
	buf_addf(&l->key, "%s/.ssh/%s", home, name);
	buf_addf(&l->public_key, "%s.pub", buf_str(&l->key));
	return !buf_error(&l->public_key) && !access(l->key.data, R_OK);
}

static int next_key(git_credential **out, struct login *l, const char *user)
{
	const char *agent = getenv("SSH_AUTH_SOCK");

	while (l->step < STEP_END) {
		unsigned step = l->step++;

		if (step == STEP_AGENT && agent && *agent && !access(agent, W_OK))
			return git_credential_ssh_key_from_agent(out, user);
		if (step >= STEP_KEYS && find_key(l, keys[step - STEP_KEYS]))
			return git_credential_ssh_key_new(out, user, access(l->public_key.data, R_OK) ? NULL :
							  l->public_key.data, l->key.data, "");
	}
	git_error_set_str(GIT_ERROR_SSH, "the server accepts no key of the agent and none of "
			  "~/.ssh/id_ed25519, id_ecdsa, id_rsa");
	return GIT_EAUTH;
}

static int login_next(git_credential **out, struct login *l, const char *user, unsigned allowed)
{
	const struct passwd *pw;

	if (!user || !*user)
		user = (pw = getpwuid(geteuid())) ? pw->pw_name : "git";
	if (allowed & GIT_CREDENTIAL_USERNAME)
		return git_credential_username_new(out, user);
	if (allowed & GIT_CREDENTIAL_SSH_KEY)
		return next_key(out, l, user);
	if (allowed & GIT_CREDENTIAL_DEFAULT && !l->step++)
		return git_credential_default_new(out);
	git_error_set_str(GIT_ERROR_HTTP, "the server wants a password, which only the URL can "
			  "have: https://USER:PASSWORD@...");
	return GIT_EAUTH;
}

/* What the process of a connection shares with ours. */
struct shared {
	struct sync_child child;	/* first */
	bool done[];			/* of each reference to push */
};

/* A connection, in a process of its own. */
struct talk {
	git_repository *git;
	const char *url, *shown;
	git_remote *remote;
	struct login login;	/* like the rest for the callbacks */
	struct shared *shared;
	struct sync_push *push;
	size_t n;
	int refused;		/* -EAGAIN or -EBUSY */
	char why[512];		/* it was refused, or we refused the server */
};

static int on_credentials(git_credential **out, const char *url, const char *user,
			  unsigned allowed, void *payload)
{
	struct talk *t = payload;

	(void)url;
	return login_next(out, &t->login, user, allowed);
}

static int on_certificate(git_cert *cert, int valid, const char *host, void *payload)
{
	struct talk *t = payload;

	if (valid || cert->cert_type != GIT_CERT_HOSTKEY_LIBSSH2)
		return GIT_PASSTHROUGH;
	/* libgit2 1.9 replaces the text of its own error. */
	snprintf(t->why, sizeof t->why, "the key of %s is not the one in ~/.ssh/known_hosts, or not "
		 "there: connect to it by ssh once and compare it", host);
	return GIT_ECERTIFICATE;
}

static int lost(const struct talk *t, const char *what, struct error *err)
{
	const git_error *e = git_error_last();

	return error_set(err, -ENOTCONN, t->shown, 0, 0, "%s: %s", what,
			 t->why[0] ? t->why : e && e->message ? e->message : "unknown reason");
}

static int on_transfer(const git_indexer_progress *p, void *payload)
{
	struct talk *t = payload;

	atomic_store(&t->shared->child.bytes, p->received_bytes);
	atomic_store(&t->shared->child.steps, p->indexed_deltas);
	return 0;
}

static int on_update(const char *name, const git_oid *from, const git_oid *to, void *payload)
{
	struct talk *t = payload;

	(void)name;
	(void)from;
	(void)to;
	atomic_fetch_add(&t->shared->child.steps, 1);
	return 0;
}

static void set_callbacks(git_remote_callbacks *c, struct talk *t)
{
	c->credentials = on_credentials;
	c->certificate_check = on_certificate;
	c->payload = t;
}

static int fetch(struct sync_child *child, void *context)
{
	char heads[] = "+refs/heads/*:" SYNC_HEADS "*";
	char notes[] = "+refs/notes/buildbeat:" SYNC_NOTES;
	git_strarray specs = { (char *[]){ heads, notes }, 2 };
	struct talk *t = context;
	git_fetch_options o;

	git_fetch_options_init(&o, GIT_FETCH_OPTIONS_VERSION);
	set_callbacks(&o.callbacks, t);
	o.callbacks.transfer_progress = on_transfer;
	o.callbacks.update_tips = on_update;
	o.prune = GIT_FETCH_PRUNE;
	o.update_fetchhead = 0;
	o.download_tags = GIT_REMOTE_DOWNLOAD_TAGS_NONE;
	if (git_remote_create_anonymous(&t->remote, t->git, t->url) ||
	    git_remote_fetch(t->remote, &specs, &o, NULL))
		return lost(t, "cannot fetch", &child->err);
	return 0;
}

/* Runs the connection in a child. Its memory needs no release there. */
static int talk(struct talk *t, int (*work)(struct sync_child *, void *), struct error *err)
{
	size_t size = sizeof *t->shared + t->n * sizeof *t->shared->done;
	int r;

	t->shared = sync_child_memory(size);
	if (!t->shared)
		return error_sys(err, -ENOMEM, t->shown, NULL);
	r = sync_child_run(t->git, t->shown, &t->shared->child, work, t);
	if (r)
		*err = t->shared->child.err;
	for (size_t i = 0; i < t->n; i++)
		t->push[i].done = t->shared->done[i];
	sync_child_free(t->shared, size);
	return r;
}

int sync_fetch(git_repository *git, const char *url, const char *shown, struct error *err)
{
	struct talk t = { .git = git, .url = url, .shown = shown };

	return talk(&t, fetch, err);
}

/* Pushing */

static struct sync_push *find_push(struct talk *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++) {
		if (!strcmp(t->push[i].name, name))
			return &t->push[i];
	}
	return NULL;
}

/* Called when the server's commits are known, before anything is sent. */
static int on_negotiation(const git_push_update **update, size_t n, void *payload)
{
	struct talk *t = payload;

	for (size_t i = 0; i < n; i++) {
		const struct sync_push *p = find_push(t, update[i]->dst_refname);

		if (p && git_oid_equal(&update[i]->src, &p->lease))
			continue;
		t->refused = -EAGAIN;
		strcpy(t->why, "somebody else pushed first");
		return GIT_EUSER;
	}
	return 0;
}

static int on_push(unsigned current, unsigned total, size_t bytes, void *payload)
{
	struct talk *t = payload;

	(void)current;
	(void)total;
	atomic_store(&t->shared->child.bytes, bytes);
	return 0;
}

/* Before anything is sent. */
static int on_pack(int stage, uint32_t current, uint32_t total, void *payload)
{
	struct talk *t = payload;

	(void)stage;
	(void)current;
	(void)total;
	atomic_fetch_add(&t->shared->child.steps, 1);
	return 0;
}

static int on_reference(const char *name, const char *status, void *payload)
{
	struct talk *t = payload;
	struct sync_push *p = find_push(t, name);

	if (status) {
		t->refused = -EBUSY;
		strncpy(t->why, status, sizeof t->why - 1);
	} else if (p) {
		t->shared->done[p - t->push] = true;
	}
	return 0;
}

/* "+LOCAL:NAME": on_negotiation() checks the lease. */
static int make_specs(git_strarray *specs, const struct sync_push *push, size_t n)
{
	*specs = (git_strarray){ array_new_zero(n + 1, sizeof *specs->strings), n };
	for (size_t i = 0; specs->strings && i < n; i++) {
		struct buf spec = BUF_INIT;

		buf_addf(&spec, "+%s:%s", push[i].local, push[i].name);
		specs->strings[i] = spec.data;
		if (buf_error(&spec))
			return -ENOMEM;
	}
	return specs->strings ? 0 : -ENOMEM;
}

static int push(struct sync_child *child, void *context)
{
	struct talk *t = context;
	git_strarray specs;
	git_push_options o;

	if (make_specs(&specs, t->push, t->n))
		return error_sys(&child->err, -ENOMEM, t->shown, NULL);
	git_push_options_init(&o, GIT_PUSH_OPTIONS_VERSION);
	set_callbacks(&o.callbacks, t);
	o.callbacks.pack_progress = on_pack;
	o.callbacks.push_transfer_progress = on_push;
	o.callbacks.push_negotiation = on_negotiation;
	o.callbacks.push_update_reference = on_reference;
	if ((git_remote_create_anonymous(&t->remote, t->git, t->url) ||
	     git_remote_push(t->remote, &specs, &o)) && !t->refused)
		return lost(t, "cannot push", &child->err);
	return t->refused ? error_set(&child->err, t->refused, t->shown, 0, 0, "refused: %s", t->why) : 0;
}

int sync_push(git_repository *git, const char *url, const char *shown, struct sync_push *what,
	      size_t n, struct error *err)
{
	struct talk t = { .git = git, .url = url, .shown = shown, .push = what, .n = n };

	return talk(&t, push, err);
}
