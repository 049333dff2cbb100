/* SPDX-License-Identifier: MIT */
/*
 * The smallest build tool there is: runs each argument with sh, one after the
 * other, and tells buildbeat. cc host.c -o host; ./host 'sleep 1' 'echo hi'
 */
#include <buildbeat_plugin.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct buildbeat_api *load(const char *path)
{
	const struct buildbeat_api *(*get)(uint32_t) = NULL, *api;
	void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (so)
		*(void **)&get = dlsym(so, "buildbeat_get_api");
	api = get ? get(BUILDBEAT_API_MAJOR) : NULL;
	/* the newest function that is called here: an older plugin does not have it */
	return BUILDBEAT_HAS(api, tally_finished) ? api : NULL;
}

static int run(const struct buildbeat_api *api, struct buildbeat_session *s, const char *command)
{
	struct buildbeat_task task = {
		.size = sizeof task, .slot = -1, .name = command, .command = command,
	};
	struct buildbeat_result result = { .size = sizeof result, .rchar = -1, .wchar = -1 };
	struct buildbeat_run tally;
	struct rusage usage;
	uint64_t number;
	pid_t pid;

	if (api)
		api->tally_started(&tally, BUILDBEAT_LOCATION(api));
	pid = fork();
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	task.pid = pid;
	number = api ? api->task_started(s, 0, &task) : 0;
	if (wait4(pid, &result.status, 0, &usage) > 0)
		result.usage = &usage;
	if (api) {
		api->task_finished(s, number, &result);
		api->tally_finished(&tally);
	}
	return result.status;
}

int main(int argc, char **argv)
{
	const char *plugin = getenv("BUILDBEAT_PLUGIN");
	const struct buildbeat_api *api = load(plugin ? plugin : "/usr/lib/buildbeat/buildbeat.so");
	struct buildbeat_host host = { .size = sizeof host, .tool = "host", .command = argv[0] };
	struct buildbeat_tallies tallies = {
		.size = sizeof tallies, .status = BUILDBEAT_TALLY_ACTIVE,
	};
	struct buildbeat_session *s = api ? api->open(&host) : NULL;
	int status = 0;

	if (api) {
		api->tally_set(s, &tallies);
		api->build_started(s, "all");
	}
	for (int i = 1; i < argc && !status; i++)
		status = run(api, s, argv[i]);
	if (api) {
		api->build_completed(s, status);
		api->close(s);
	}
	return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
