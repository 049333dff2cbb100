/* SPDX-License-Identifier: MIT */
#include "analyse/words.h"

#include "analyse/metric.h"

#include <string.h>

const char *words_result(enum build_result result)
{
	static const char *const words[] = {
		[BUILD_OK] = "ok", [BUILD_FAILED] = "failed", [BUILD_KILLED] = "killed",
		[BUILD_ENDED] = "ended", [BUILD_UNFINISHED] = "open",
	};

	return words[result];
}

const char *words_state(enum task_state state)
{
	static const char *const words[] = {
		[TASK_QUEUED] = "queued", [TASK_UNFINISHED] = "unfinished", [TASK_DONE] = "done",
		[TASK_FAILED] = "failed", [TASK_KILLED] = "killed",
	};

	return words[state];
}

void words_add_signal(struct buf *b, int signal)
{
	const char *name = sigabbrev_np(signal);

	if (name)
		buf_addf(b, "SIG%s", name);
	else
		buf_addf(b, "signal %d", signal);
}

void words_add_status(struct buf *b, int64_t status)
{
	if (status < 0)
		buf_addc(b, '-');
	else if (!status)
		buf_adds(b, "ok");
	else if (status == STATUS_UNFINISHED)
		buf_adds(b, words_state(TASK_UNFINISHED));
	else if (status >= STATUS_FAILED)
		buf_adds(b, words_state(TASK_FAILED));
	else if (status >= STATUS_KILLED)
		words_add_signal(b, (int)(status - STATUS_KILLED));
	else
		buf_addf(b, "exit %d", (int)status);
}

void words_add_result(struct buf *b, enum build_result result, int status)
{
	switch (result) {
	case BUILD_OK:
		buf_adds(b, "ok");
		break;
	case BUILD_FAILED:
		buf_addf(b, "failed with exit status %d", status);
		break;
	case BUILD_KILLED:
		buf_adds(b, "killed by ");
		words_add_signal(b, status);
		break;
	case BUILD_ENDED:
		buf_adds(b, "ended with an unknown status");
		break;
	case BUILD_UNFINISHED:
		buf_adds(b, "unfinished: killed or still running");
		break;
	}
}

int64_t words_task_status(const struct task *t)
{
	switch (t->state) {
	case TASK_KILLED:
		return STATUS_KILLED + (t->status & 0xff);
	case TASK_FAILED:
		return t->status >= 0 ? t->status & 0xff : STATUS_FAILED;
	case TASK_DONE:
		return task_said_no(t) ? t->status & 0xff : 0;
	default:
		return STATUS_UNFINISHED;
	}
}

int64_t words_build_status(enum build_result result, int status)
{
	switch (result) {
	case BUILD_OK:
		return 0;
	case BUILD_FAILED:
		return status & 0xff;
	case BUILD_KILLED:
		return STATUS_KILLED + (status & 0xff);
	case BUILD_UNFINISHED:
		return STATUS_UNFINISHED;
	default:
		return -1;
	}
}
