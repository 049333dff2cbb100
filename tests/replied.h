/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_REPLIED_H
#define BUILDBEAT_TESTS_REPLIED_H

/* Replies of the live server about one recording, in files of the test's directory. */

/* Opens a recording; replied_close() is the end of the fixture. */
void replied_open(const char *path);
void replied_close(void);

/* Writes the reply to the file; returns its HTTP status. */
int replied_get(const char *path, const char *query, const char *to);

/* It is refused with this status, and the message is part of the reply. */
struct replied_refusal { const char *path, *query, *message; int status; };
void replied_refuses(const struct replied_refusal *r);

#endif
