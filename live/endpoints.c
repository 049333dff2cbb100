/* SPDX-License-Identifier: MIT */
#include "live/server.h"
#include "live/server_stream.h"

const struct endpoint *const endpoints_all[] = {
	server_stream_endpoints,
	NULL
};

/* server_jobs.c */
extern const struct local_route server_jobs_routes[];

const struct local_route *const endpoints_local[] = {
	server_jobs_routes,
	NULL
};
