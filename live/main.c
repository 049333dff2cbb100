/* SPDX-License-Identifier: MIT */
#include "analyse/message.h"
#include "base/array.h"
#include "base/cursor.h"
#include "launch/notice.h"
#include "live/attach.h"
#include "live/server.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * buildbeat-serve [OPTION...] PATH: the server, which `buildbeat serve` and `buildbeat record --serve`
 * execute. The only program that uses libwebsockets.
 */
static const char usage[] =
	"usage: buildbeat-serve [-ai] [-l ADDR:PORT] [-u SOCKET] [-c CERT -k KEY] [-m RULES] [-n NAME]... "
	"[-f FD] [-p PID [-s MS]] PATH\n"
	"       buildbeat-serve -A [-ehr] [-C FILE]\n"
	"\n"
	"Show the recording, the directory of recordings or the archive PATH; see buildbeat-serve(1).\n"
	"\n"
	"  -a            allow control\n"
	"  -c CERT       file with the certificate of TLS\n"
	"  -f FD         print the URL there (default: standard output)\n"
	"  -i            allow addresses that other machines can reach without TLS\n"
	"  -k KEY        file with the key of TLS\n"
	"  -l ADDR:PORT  listen there (default: 127.0.0.1:0)\n"
	"  -m RULES      the user's rules of messages, as text\n"
	"  -n NAME       also answer requests for the host NAME\n"
	"  -p PID        end some time after the process PID, when no page is open\n"
	"  -s MS         end MS milliseconds after it; 0: at once\n"
	"  -u SOCKET     listen on a unix socket\n"
	"\n"
	"With -A, write the trace of the server with the URL in BUILDBEAT_ATTACH; see buildbeat-attach(1).\n"
	"  -C FILE       certificates of authorities for TLS\n"
	"  -e            write messages instead of the trace\n"
	"  -h            without history\n"
	"  -r            write replies again and again instead, for `buildbeat top`\n";

static int attach(int argc, char **argv)
{
	struct attach_options o = { .url = getenv("BUILDBEAT_ATTACH"), .fd = STDOUT_FILENO };
	struct error err = { 0 };
	int c, r;

	while ((c = getopt(argc, argv, "AC:ehr")) != -1) {
		if (c == 'C')
			o.ca_file = optarg;
		o.events |= c == 'e';
		o.no_history |= c == 'h';
		o.replies |= c == 'r';
		if (c == '?')
			return 2;
	}
	if (!o.url)
		return 2;
	r = attach_run(&o, &err);
	if (!*err.path)
		snprintf(err.path, sizeof err.path, "attach");
	if (r && !o.replies)
		notice_error(&err);
	return !r ? 0 : r == -ECONNRESET ? 1 : 2;
}

static bool take_number(int *to, const char *text)
{
	uint64_t n;

	if (!cursor_slice_u64(slice_of(text), &n) || n > INT_MAX)
		return false;
	*to = (int)n;
	return true;
}

static bool take_stay(int64_t *ns, const char *text)
{
	int ms;
	bool good = take_number(&ms, text);

	if (good)
		*ns = ms * INT64_C(1000000);
	return good;
}

static bool take(struct server_options *o, const char ***name, int c)
{
	const char **text = c == 'c' ? &o->cert : c == 'k' ? &o->key : c == 'l' ? &o->listen :
			    c == 'u' ? &o->unix_path :
			    c == 'n' ? array_add(name, &o->n_names, sizeof *text) : NULL;

	if (text)
		*text = optarg;
	else if (c == 'a')
		o->control = true;
	else if (c == 'i')
		o->insecure = true;
	else if (c == 'm')
		message_rules_own(optarg, NULL);
	else
		return c == 'f' ? take_number(&o->url_fd, optarg) :
		       c == 's' ? take_stay(&o->stay_ns, optarg) :
		       c == 'p' && take_number(&o->launcher, optarg);
	return true;
}

int main(int argc, char **argv)
{
	struct server_options o = { .url_fd = STDOUT_FILENO, .stay_ns = -1 };
	const char **name = NULL;
	struct error err = { 0 };
	int c, r;

	if (argc > 1 && !strcmp(argv[1], "-A"))
		return attach(argc, argv);
	while ((c = getopt(argc, argv, "ac:f:ik:l:m:n:p:s:u:")) != -1) {
		if (!take(&o, &name, c)) {
			fputs(usage, stderr);
			return 2;
		}
	}
	if (optind + 1 != argc || !o.cert != !o.key) {
		fputs(usage, stderr);
		return 2;
	}
	o.path = argv[optind];
	o.name = name;
	r = server_run(&o, &err);
	free(name);
	if (r < 0)
		dprintf(o.url_fd > 2 ? o.url_fd : STDERR_FILENO, "%s %s%s%s\n",
			o.url_fd > 2 ? "error" : "buildbeat:", err.path, *err.path ? ": " : "", err.message);
	return r < 0 ? 2 : 0;
}
