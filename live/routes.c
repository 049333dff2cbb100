/* SPDX-License-Identifier: MIT */
#include "live/route.h"

#include "base/str.h"

#include <errno.h>
#include <string.h>

/* of api_NAME.c; one a line */
extern const struct route api_graph_routes[];
extern const struct route api_index_routes[];
extern const struct route api_chart_routes[];
extern const struct route api_races_routes[];
extern const struct route api_recording_routes[];
extern const struct route api_remaining_routes[];
extern const struct route api_inspections_routes[];
extern const struct route api_process_routes[];
extern const struct route api_overview_routes[];
extern const struct route api_archive_routes[];
extern const struct route api_compare_routes[];
extern const struct route api_log_routes[];
extern const struct route api_now_routes[];
extern const struct route api_profile_routes[];
extern const struct route api_task_routes[];
extern const struct route api_trend_routes[];
extern const struct route api_table_routes[];
extern const struct route api_tracker_routes[];
extern const struct route site_inspection_routes[];
extern const struct route site_routes[];

const struct route *const routes_all[] = {
	api_graph_routes,
	api_chart_routes,
	api_inspections_routes,
	api_overview_routes,
	api_archive_routes,
	api_compare_routes,
	api_log_routes,
	api_now_routes,
	api_profile_routes,
	api_recording_routes,
	api_remaining_routes,
	api_process_routes,
	api_task_routes,
	api_trend_routes,
	api_races_routes,
	api_table_routes,
	api_tracker_routes,
	site_inspection_routes,
	site_routes,
	api_index_routes,	/* "/api/v1/" last: all others begin with it */
	NULL
};

bool route_is_slow(const struct route *route, bool running)
{
	/* what remains of a running build is learnt after it */
	if (running && !strcmp(route->path, "/api/v1/overview"))
		return true;
	/* they learn from earlier recordings, or have all of one */
	return !strcmp(route->path, "/api/v1/remaining") || !strcmp(route->path, "/metrics") ||
	       !strcmp(route->path, "/build.html");
}

const struct route *route_find(const char *path, const char **rest)
{
	for (size_t i = 0; routes_all[i]; i++) {
		for (const struct route *r = routes_all[i]; r->path; r++) {
			size_t len = strlen(r->path);
			bool has_rest = r->path[len - 1] == '/';

			if (strncmp(path, r->path, len) || (!has_rest && path[len]))
				continue;
			*rest = path + len;
			return r;
		}
	}
	return NULL;
}

int route_missing(const char *path, struct error *err)
{
	if (str_starts(path, "/api/") && !str_starts(path, "/api/v1/"))
		return error_say(err, -ENOENT, "no such path: it is /api/v1/%.200s now", path + strlen("/api/"));
	return error_say(err, -ENOENT, "no such path; /api/v1/ lists all");
}
