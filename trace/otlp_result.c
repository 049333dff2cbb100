/* SPDX-License-Identifier: MIT */
#include "trace/otlp.h"

#include "analyse/summary.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

/* The well-known results and errors of OpenTelemetry's conventions for CI/CD. */

/* A signal from the user or the CI system: the task did not fail by itself. */
static bool is_cancelled(int signal)
{
	return signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
}

static const char *killed(char error[ERROR_TYPE_SIZE], int signal)
{
	const char *name = sigabbrev_np(signal);

	if (name)
		snprintf(error, ERROR_TYPE_SIZE, "SIG%s", name);
	else
		snprintf(error, ERROR_TYPE_SIZE, "SIG%d", signal);
	return is_cancelled(signal) ? "cancellation" : "error";
}

static const char *failed(char error[ERROR_TYPE_SIZE], int status)
{
	if (status >= 0)
		snprintf(error, ERROR_TYPE_SIZE, "%d", status);
	else
		strcpy(error, "_OTHER");
	return "failure";
}

static const char *unfinished(char error[ERROR_TYPE_SIZE])
{
	strcpy(error, "unfinished");
	return "error";
}

const char *otlp_result(const struct recording *rec, char error[ERROR_TYPE_SIZE])
{
	int status;

	*error = '\0';
	switch (summary_build_result(rec, &status)) {
	case BUILD_FAILED:
		return failed(error, status);
	case BUILD_KILLED:
		return killed(error, status);
	case BUILD_UNFINISHED:
		return unfinished(error);
	case BUILD_OK:
	case BUILD_ENDED:
		break;
	}
	return "success";
}

const char *otlp_task_result(const struct task *t, char error[ERROR_TYPE_SIZE])
{
	*error = '\0';
	switch (t->state) {
	case TASK_FAILED:
		return failed(error, t->status);
	case TASK_KILLED:
		return killed(error, t->status);
	case TASK_UNFINISHED:
		return t->end_us >= 0 ? "success" : unfinished(error);
	case TASK_DONE:
	case TASK_QUEUED:
		break;
	}
	return "success";
}
