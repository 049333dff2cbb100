/* SPDX-License-Identifier: MIT */
/*
 * Replies about one archive of an inspection: its page, and its values; and the settings. The program
 * buildbeat makes them, which knows the rules of classes of memory and the settings of the user.
 */
#include "base/readfile.h"
#include "launch/find_plugin.h"
#include "live/parameters.h"
#include "live/route.h"
#include "live/source.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTPUT_MAX ((size_t)60 << 20)
#define MESSAGE_MAX 4096

static _Noreturn void be_child(char **argv, int out, int messages, pid_t reader)
{
	int in = open("/dev/null", O_RDONLY | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != reader || in < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(messages, 2) < 0)
		_exit(127);
	execv(argv[0], argv);
	_exit(127);
}

/* The messages fit into a pipe: few are long. */
static int collect(struct buf *body, int out, int messages, pid_t pid, struct error *err)
{
	char text[MESSAGE_MAX];
	int status, r = readfile_fd(body, out, OUTPUT_MAX);
	ssize_t n;

	if (r)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	n = readfile_some(messages, text, sizeof text - 1);
	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (r)
		return error_sys(err, r, NULL, "the inspection cannot be shown");
	if (status)
		return error_say(err, -EINVAL, "%s", *text ? text : "buildbeat inspect failed");
	return 0;
}

/* Its standard output; argv is ended by NULL. */
static int run_buildbeat(struct buf *body, char **argv, struct error *err)
{
	int out[2], messages[2], r;
	pid_t pid, reader = getpid();

	if (pipe2(out, O_CLOEXEC))
		return error_sys(err, -errno, NULL, NULL);
	if (pipe2(messages, O_CLOEXEC | O_NONBLOCK)) {
		r = error_sys(err, -errno, NULL, NULL);
		close(out[0]);
		close(out[1]);
		return r;
	}
	pid = fork();
	if (!pid)
		be_child(argv, out[1], messages[1], reader);
	r = pid < 0 ? error_sys(err, -errno, NULL, "cannot start a process") : 0;
	close(out[1]);
	close(messages[1]);
	r = r ? r : collect(body, out[0], messages[0], pid, err);
	close(out[0]);
	close(messages[0]);
	return r;
}

/* The archive of a request, by its name: in the recording, nowhere else. */
static int find_archive(char path[PATH_MAX], const struct request *q, struct error *err)
{
	char directory[PATH_MAX];
	const char *name;
	int r = parameter_needed(q->query, "archive", &name, err);

	if (r)
		return r;
	if (strrchr(name, '/'))
		name = strrchr(name, '/') + 1;
	if (!source_directory(q->source, directory) || !source_inspection(path, directory, name))
		return error_say(err, -ENOENT, "there is no such inspection");
	return 0;
}

/* One of the shipped rules: a name, not the path of a file. */
static int check_rules(const char *rules, struct error *err)
{
	if (!rules || (*rules && strlen(rules) < 32 && !rules[strspn(rules, "abcdefghijklmnopqrstuvwxyz")]))
		return 0;
	return error_say(err, -EINVAL, "rules: expected the name of shipped rules, such as gcc");
}

static int show(struct reply *out, const struct request *q, char **words, size_t n, struct error *err)
{
	char program[PATH_MAX], path[PATH_MAX], rules_word[64];
	const char *rules = query_text(q->query, "rules");
	char *argv[16] = { program, (char *)"inspect", (char *)"show" };
	int r = find_archive(path, q, err);

	r = r ? r : check_rules(rules, err);
	if (!r && !find_program(program, FIND_MAIN, err))
		r = -ENOENT;
	if (r)
		return r;
	memcpy(argv + 3, words, n * sizeof *words);
	snprintf(rules_word, sizeof rules_word, "--rules=%s", rules ? rules : "");
	argv[3 + n] = rules ? rules_word : path;
	argv[4 + n] = rules ? path : NULL;
	return run_buildbeat(&out->body, argv, err);
}

static int page_reply(struct reply *out, const struct request *q, struct error *err)
{
	char site[300];
	char *words[] = { (char *)"--format=html", site };

	snprintf(site, sizeof site, "--site=%s", q->source->id);
	out->type = "text/html; charset=utf-8";
	return show(out, q, words, 2, err);
}

static int json_reply(struct reply *out, const struct request *q, struct error *err)
{
	int64_t snapshot, base;
	char shown[64];
	char *words[] = { (char *)"--json", shown };
	int r = query_number(q->query, "snapshot", 1, INT32_MAX, 0, &snapshot, err);

	r = r ? r : query_number(q->query, "base", 1, INT32_MAX, 1, &base, err);
	if (r)
		return r;
	snprintf(shown, sizeof shown, "--snapshot=%d,%d", (int)snapshot, (int)base);
	return show(out, q, words, snapshot ? 2 : 1, err);
}

/* Of the directory in which the server was started. */
static int settings_reply(struct reply *out, const struct request *q, struct error *err)
{
	char program[PATH_MAX];
	char *argv[] = { program, (char *)"inspect", (char *)"settings", (char *)"--json", NULL };

	(void)q;
	return find_program(program, FIND_MAIN, err) ? run_buildbeat(&out->body, argv, err) : -ENOENT;
}

const struct route site_inspection_routes[] = {
	{ "/inspection", "rec, archive, rules", "What one process had in memory, as buildbeat inspect show "
	  "--format html writes it.", page_reply },
	{ "/api/v1/inspection", "rec, archive, rules, snapshot, base", "The same values, as buildbeat inspect show "
	  "--json prints them: of a snapshot, and what grew since another one.", json_reply },
	{ "/api/v1/settings", "", "The settings of inspections, as buildbeat inspect settings --json prints "
	  "them.", settings_reply },
	{ 0 }
};
