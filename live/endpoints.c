/* SPDX-License-Identifier: MIT */
#include "live/server.h"
#include "live/server_stream.h"

const struct endpoint *const endpoints_all[] = {
	server_stream_endpoints,
	NULL
};

/* server_jobs.c, server_state.c */
extern const struct local_route server_jobs_routes[];
extern const struct local_route server_state_routes[];

const struct local_route *const endpoints_local[] = {
	server_jobs_routes,
	server_state_routes,
	NULL
};
