/* SPDX-License-Identifier: MIT */
#include "cli/export_send.h"

#include "cli/command.h"
#include "cli/openrec.h"
#include "launch/find_plugin.h"
#include "send/endpoint.h"
#include "send/spool.h"
#include "trace/otlp.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define REQUEST_BYTES 1048576		/* about; before they are compressed */
#define SPOOL_BYTES (64 * 1048576)

/* The next request of a signal. False: there are no more. */
static bool next_request(struct otlp *o, enum endpoint_signal signal, struct buf *out)
{
	if (signal == ENDPOINT_TRACES)
		return otlp_next_traces(o, out, REQUEST_BYTES);
	if (signal == ENDPOINT_LOGS)
		return otlp_next_logs(o, out, REQUEST_BYTES);
	if (o->next++)
		return false;
	otlp_metrics(o, out);
	return true;
}

/* Without output of the build there are no logs. */
static int open_signal(struct otlp *o, const struct recording *rec, enum endpoint_signal signal,
		       struct error *err)
{
	int r = otlp_open(o, rec, OTLP_PROTOBUF);

	if (r)
		return error_sys(err, r, rec->path, NULL);
	r = signal == ENDPOINT_LOGS ? otlp_open_logs(o, err) :
	    signal == ENDPOINT_TRACES ? otlp_open_errors(o, err) : 0;
	return r == -ENOENT ? 0 : r;
}

static int add_requests(struct spool *s, const struct recording *rec, enum endpoint_signal signal,
			struct error *err)
{
	struct buf request = BUF_INIT;
	struct otlp o;
	int r = open_signal(&o, rec, signal, err);

	while (!r && next_request(&o, signal, &request)) {
		r = buf_error(&request);
		r = r ? r : recording_command_error(rec);
		r = r ? error_sys(err, r, rec->path, NULL) : spool_add(s, &request, err);
	}
	otlp_release(&o);
	buf_release(&request);
	return r;
}

static int spool_signal(struct spool *s, const struct recording *rec, const char *url,
			enum endpoint_signal signal, struct error *err)
{
	struct buf whole = BUF_INIT;
	int r = endpoint_url(&whole, url, signal, err);

	r = r ? r : spool_open(s, buf_str(&whole), err);
	r = r ? r : add_requests(s, rec, signal, err);
	spool_close(s);
	buf_release(&whole);
	return r;
}

/* The exit status of the program, or a negative errno with err. */
static int run_sender(const char *program, char **argv, struct error *err)
{
	pid_t pid;
	int status, r = posix_spawn(&pid, program, NULL, NULL, argv, environ);

	if (r)
		return error_sys(err, -r, program, "cannot be executed");
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return error_sys(err, -errno, program, NULL);
	}
	if (WIFSIGNALED(status))
		return error_set(err, -EINTR, program, 0, 0, "ended by signal %d (%s); the next "
				 "export sends the rest", WTERMSIG(status),
				 strsignal(WTERMSIG(status)));
	return WEXITSTATUS(status) ? EXIT_MISUSE : EXIT_GOOD;
}

int export_send(const struct recording *rec, unsigned signals, const char *url, bool quiet,
		struct error *err)
{
	struct spool spool[ENDPOINT_SIGNALS];
	char program[PATH_MAX], silent[] = "-q", *argv[ENDPOINT_SIGNALS + 3] = { program };
	size_t n = 1;
	int r = 0;

	if (!find_program(program, FIND_SENDER, err))
		return -ENOENT;
	if (quiet)
		argv[n++] = silent;
	for (unsigned i = 0; !r && i < ENDPOINT_SIGNALS; i++) {
		if (!(signals & 1u << i))
			continue;
		r = spool_signal(&spool[i], rec, url, i, err);
		argv[n++] = spool[i].path;
	}
	argv[n] = NULL;
	if (r)
		return r;
	r = spool_trim((uint64_t)endpoint_number("BUILDBEAT_SPOOL_SIZE", SPOOL_BYTES));
	return r ? error_sys(err, r, argv[n - 1], "cannot limit the spool") :
	       run_sender(program, argv, err);
}

/* Nothing of the launcher stays open: whoever reads the output of the build would wait for us. */
static void settle(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setpriority(PRIO_PROCESS, 0, 10);
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	syscall(SYS_close_range, 3U, ~0U, 0U);
}

static _Noreturn void send_alone(const char *recording, const char *url)
{
	struct recording rec = RECORDING_INIT;
	struct error err;

	settle();
	if (!openrec(&rec, OPENREC_WHOLE, NULL, recording, &err))
		export_send(&rec, EXPORT_SEND_ALL, url, true, &err);
	_exit(0);
}

void export_send_later(const char *recording, const char *url)
{
	pid_t pid = fork();

	if (!pid) {
		/* a session of its own, and no child of the launcher */
		setsid();
		if (!fork())
			send_alone(recording, url);
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}
