/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_LOGIN_H
#define BUILDBEAT_ARCHIVE_LOGIN_H

#include "base/buf.h"

#include <git2.h>
#include <stdbool.h>

/* Who we are to a server: one thing after the other is tried. */
struct login {
	unsigned step;
	struct buf key, public_key;
};

void login_init(struct login *l);
void login_release(struct login *l);

/* The next, of what is allowed (GIT_CREDENTIAL_ bits), as a callback of libgit2 has to. */
int login_next(git_credential **out, struct login *l, const char *user, unsigned allowed);

/* What there is to say of a host that is not known; the callback's result. */
int login_unknown_host(const char *host);

#endif
