/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_SERVER_H
#define BUILDBEAT_TESTS_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Servers of git repositories on this machine, for one test. Failures fail the running test;
 * the servers end with server_stop(), or with the test.
 */
struct server_process {
	pid_t pid;
	int port;
};

/* git's daemon for all repositories below base; anybody can push. On the port, or 0 for any
 * free one. */
void server_git(struct server_process *s, const char *base, int port);

/* Accepts on the port and sends nothing, or this text again and again, one byte every 20 ms. */
void server_slow(struct server_process *s, int port, const char *text);

/* sshd as this user, with the keys of this home: it makes HOME/.ssh with a key, and a host key
 * that known_hosts has. */
void server_ssh(struct server_process *s, const char *home);

/* Whether this machine has what that needs. */
bool server_has_ssh(void);

void server_stop(struct server_process *s);

/* Suppresses reports of libgit2's leaks by the leak sanitizer in programs that are run; uses
 * a file in dir. */
void server_leaks(const char *dir);

#endif
