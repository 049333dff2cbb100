/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_SERVER_H
#define BUILDBEAT_TESTS_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Servers of git repositories on this machine, for one test. They fail the running test
 * themselves; those that were started end with server_stop(), or with the test.
 */
struct server {
	pid_t pid;
	int port;
};

/* git's own daemon for all repositories below base; anybody may push. On the port, or 0 for any
 * free one. */
void server_git(struct server *s, const char *base, int port);

/* sshd as this user, with the keys of this home: it makes HOME/.ssh with a key, and a host key
 * that known_hosts has. */
void server_ssh(struct server *s, const char *home);

/* Can that be: NULL, or why not. */
const char *server_ssh_missing(void);

void server_stop(struct server *s);

/* What libgit2 leaks is nobody's fault here: tells the leak sanitizer of programs that are
 * run; by a file in dir. */
void server_leaks(const char *dir);

#endif
