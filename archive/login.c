/* SPDX-License-Identifier: MIT */
#include "archive/login.h"

#include "base/array.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const keys[] = { "id_ed25519", "id_ecdsa", "id_rsa" };

#define KEYS ARRAY_SIZE(keys)
#define STEP_AGENT 0
#define STEP_KEYS 1
#define STEP_END (STEP_KEYS + KEYS)

void login_init(struct login *l)
{
	*l = (struct login){ .key = BUF_INIT, .public_key = BUF_INIT };
}

void login_release(struct login *l)
{
	buf_release(&l->key);
	buf_release(&l->public_key);
}

static const char *own_name(void)
{
	const struct passwd *pw = getpwuid(geteuid());

	return pw ? pw->pw_name : "git";
}

static bool has_agent(void)
{
	const char *socket = getenv("SSH_AUTH_SOCK");

	return socket && *socket && !access(socket, W_OK);
}

/* False: there is no such key. libssh2 wants the public part where there is one. */
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

static const char *public_key(const struct login *l)
{
	return access(l->public_key.data, R_OK) ? NULL : l->public_key.data;
}

static int next_key(git_credential **out, struct login *l, const char *user)
{
	while (l->step < STEP_END) {
		unsigned step = l->step++;

		if (step == STEP_AGENT && has_agent())
			return git_credential_ssh_key_from_agent(out, user);
		if (step >= STEP_KEYS && find_key(l, keys[step - STEP_KEYS]))
			return git_credential_ssh_key_new(out, user, public_key(l),
							  l->key.data, "");
	}
	git_error_set_str(GIT_ERROR_SSH, "the server accepts no key of the agent and none of "
			  "~/.ssh/id_ed25519, id_ecdsa, id_rsa");
	return GIT_EAUTH;
}

int login_next(git_credential **out, struct login *l, const char *user, unsigned allowed)
{
	if (!user || !*user)
		user = own_name();
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

int login_unknown_host(const char *host)
{
	struct buf text = BUF_INIT;

	buf_addf(&text, "the key of %s is not the one in ~/.ssh/known_hosts, or not there: connect "
		 "to it by ssh once and compare it", host);
	git_error_set_str(GIT_ERROR_SSH, buf_str(&text));
	buf_release(&text);
	return GIT_ECERTIFICATE;
}
