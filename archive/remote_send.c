/* SPDX-License-Identifier: MIT */
#include "archive/remote_parts.h"

#include "archive/notes.h"
#include "archive/sync.h"
#include "base/arena.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define REPLACED "refs/buildbeat/replaced/heads/"

/* Retries while other writers are faster, with pauses in between. Fewer retries if the server
 * refuses for another reason. */
#define TRIES 40
#define TRIES_REFUSED 8
#define NAP_MS 20
#define NAP_MAX_MS 2000

static const git_oid none;

#define SENT_MAX 1024		/* branches in one push */

struct sending {
	struct arena *texts;
	size_t n;
	struct sync_push push[SENT_MAX + 1];
	struct {
		const char *ref;	/* NULL: the notes */
		git_oid id;
	} what[SENT_MAX + 1];
};

static const char *join_ref(struct sending *s, const char *prefix, const char *name)
{
	size_t n = strlen(prefix), m = strlen(name);
	char *text = arena_alloc(s->texts, n + m + 1);

	if (text) {
		memcpy(text, prefix, n);
		memcpy(text + n, name, m + 1);
	}
	return text;
}

static int add_sending(struct archive *a, struct sending *s, const char *prefix, const char *ref,
		       const git_oid *id, const git_oid *lease, struct error *err)
{
	const char *name = ref ? join_ref(s, REMOTE_HEADS, ref) : NOTES_REF;
	const char *local = ref ? join_ref(s, prefix, ref) : NOTES_REF;

	if (!name || !local)
		return error_sys(err, -ENOMEM, a->path, NULL);
	s->push[s->n] = (struct sync_push){ .local = local, .name = name, .lease = *lease };
	s->what[s->n].ref = ref ? name + strlen(REMOTE_HEADS) : NULL;
	s->what[s->n++].id = *id;
	return 0;
}

static int add_branch(struct archive *a, const char *ref, void *context, struct error *err)
{
	struct sending *s = context;
	struct remote_state is;
	int r = remote_state(a, &is, ref, err);

	if (r || git_oid_equal(&is.ours, &is.server) || s->n == SENT_MAX)
		return r;
	return add_sending(a, s, REMOTE_HEADS, ref, &is.ours, &is.server, err);
}

static int add_notes(struct archive *a, struct sending *s, struct error *err)
{
	git_oid ours, server;
	int r = remote_get(a, &ours, "", NOTES_REF, err);

	if (!r)
		r = remote_get(a, &server, "", SYNC_NOTES, err);
	if (r || git_oid_is_zero(&ours) || git_oid_equal(&ours, &server))
		return r;
	return add_sending(a, s, NULL, NULL, &ours, &server, err);
}

/* Records in the copy what the server has now. */
static int note_sent(struct archive *a, const struct sending *s, struct error *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < s->n; i++) {
		const char *ref = s->what[i].ref;

		if (!s->push[i].done)
			continue;
		r = remote_put(a, ref ? SYNC_HEADS : "", ref ? ref : SYNC_NOTES, &s->what[i].id,
			       err);
		if (!r && ref)
			r = remote_put(a, REMOTE_AGREED, ref, &s->what[i].id, err);
		if (!r && ref)
			r = remote_put(a, REMOTE_HEADS, ref, &s->what[i].id, err);
	}
	return r;
}

static int send_these(struct archive *a, struct sending *s, struct error *err)
{
	struct error unused;
	int r = !s->n ? 0 : sync_push(a->git, a->remote->url, a->remote->shown.data, s->push,
				      s->n, err);

	if (!r)
		return note_sent(a, s, err);
	note_sent(a, s, &unused);
	return r;
}

static struct sending *sending_new(struct archive *a, struct error *err)
{
	struct sending *s = calloc(1, sizeof *s);

	if (s)
		s->texts = arena_new();
	if (s && s->texts)
		return s;
	free(s);
	error_sys(err, -ENOMEM, a->path, NULL);
	return NULL;
}

static void sending_free(struct sending *s)
{
	if (s)
		arena_free(s->texts);
	free(s);
}

/* Pushes once. *n is the number of references to push. */
static int send_once(struct archive *a, size_t *n, struct error *err)
{
	struct sending *s = sending_new(a, err);
	int r = s ? remote_visit(a, REMOTE_HEADS, add_branch, s, err) : -ENOMEM;

	if (!r)
		r = add_notes(a, s, err);
	*n = s ? s->n : 0;
	if (!r && *n && a->remote->stale) {
		*err = a->remote->why;
		r = -ENOTCONN;
	}
	if (!r)
		r = send_these(a, s, err);
	sending_free(s);
	return r;
}

/* A random pause whose limit grows with the number of tries. */
static void nap(unsigned tries)
{
	unsigned max_ms = tries < 7 ? NAP_MS << tries : NAP_MAX_MS, random = 0, ms;
	struct timespec t;

	if (getrandom(&random, sizeof random, GRND_NONBLOCK) < 0)
		random = (unsigned)getpid();
	ms = random % max_ms + 1;
	t = (struct timespec){ ms / 1000, ms % 1000 * 1000000L };
	nanosleep(&t, NULL);
}

static int ask_again(struct archive *a, unsigned tries, struct error *err)
{
	int r;

	nap(tries);
	r = remote_refresh(a, err);
	if (!r && a->remote->stale) {
		*err = a->remote->why;
		r = -ENOTCONN;
	}
	return r;
}

int remote_send(struct archive *a, struct error *err)
{
	unsigned refused = 0;
	size_t n;
	int r = send_once(a, &n, err);

	for (unsigned i = 0; i < TRIES && (r == -EAGAIN || r == -EBUSY); i++) {
		struct error why = *err;

		refused += r == -EBUSY;
		if (refused > TRIES_REFUSED)
			break;
		r = ask_again(a, i, err);
		if (!r)
			r = send_once(a, &n, err);
		else if (r == -ENOTCONN)
			*err = why;
	}
	return r == -EAGAIN || r == -EBUSY ? -ENOTCONN : r;
}

static int replace_at_server(struct archive *a, const char *ref, const git_oid *from,
			     const git_oid *to, struct error *err)
{
	struct sending *s = sending_new(a, err);
	struct error unused;
	int r = s ? remote_put(a, REPLACED, ref, to, err) : -ENOMEM;

	if (!r)
		r = add_notes(a, s, err);
	if (!r)
		r = add_sending(a, s, REPLACED, ref, to, from, err);
	if (!r)
		r = send_these(a, s, err);
	sending_free(s);
	if (r != -ENOMEM)
		remote_put(a, REPLACED, ref, &none, &unused);
	return r;
}

int remote_replace(struct archive *a, const char *ref, const git_oid *from, const git_oid *to,
		   struct error *err)
{
	struct remote_state s;
	int r;

	if (!a->remote)
		return repo_move(a, ref, from, to, err);
	if (a->remote->stale) {
		*err = a->remote->why;
		return -ENOTCONN;
	}
	r = remote_state(a, &s, ref, err);
	if (!r && !git_oid_equal(&s.ours, from))
		return -EAGAIN;
	if (!r && !git_oid_equal(&s.ours, &s.server)) {
		r = remote_send(a, err);
		return r ? r : -EAGAIN;
	}
	if (!r)
		r = replace_at_server(a, ref, from, to, err);
	remote_forget(a);
	if (r == -EAGAIN) {
		int again = ask_again(a, 2, err);

		r = again ? again : r;
	}
	return r == -EBUSY ? -ENOTCONN : r;
}
