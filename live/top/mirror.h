/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_TOP_MIRROR_H
#define BUILDBEAT_LIVE_TOP_MIRROR_H

#include "live/top/model.h"

/*
 * The model of a build at a server elsewhere. A child process, buildbeat-serve -A -r, asks the server for replies
 * (live/attach.h); the model shows those of the newest round. Nothing of this machine is read.
 */
struct mirror;

/* program: buildbeat-serve, which finds the URL in its environment; ca_file: of TLS, or NULL. Waits for the first
 * round. 0 or a negative errno with err. */
int mirror_open(struct mirror **mirror, const char *program, const char *ca_file, struct error *err);
void mirror_close(struct mirror *mirror);	/* may be NULL */

/* Fill the model from the newest round; wait: for another one. Of a server that does not answer it keeps what it
 * has, and says so. 0 or -ENOMEM with err. */
int mirror_read(struct mirror *mirror, struct top_model *m, bool wait, struct error *err);

#endif
