/* SPDX-License-Identifier: MIT */
#include "analyse/listing.h"
#include "base/array.h"
#include "base/cursor.h"
#include "cli/command.h"
#include "cli/messages_config.h"
#include "cli/openrec.h"
#include "cli/output_file.h"
#include "cli/serve_running.h"
#include "convert/convert.h"
#include "launch/find_plugin.h"
#include "launch/serving.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct serve_arguments {
	const char *config;
	const char *output;
	const char *listen, *unix_path, *cert, *key;
	bool insecure, control, list;
	struct word_list names;
	const char *attach, *stop;
};

#define OPTIONS struct serve_arguments
static const struct option options[] = {
	OPENREC_OPTIONS(config, output),
	{ OPT_TEXT(0, "listen", listen, "ADDR:PORT",
	  "listen there; port 0 is any free one (default: 127.0.0.1:0)") },
	{ OPT_PATH('u', "unix", unix_path, "SOCKET", "listen on a unix socket of mode 0600 instead") },
	{ OPT_PATH(0, "tls-cert", cert, "FILE", "certificate for HTTPS, in PEM") },
	{ OPT_PATH(0, "tls-key", key, "FILE", "private key of the certificate, in PEM") },
	{ OPT_FLAG(0, "insecure", insecure, "let other machines connect without HTTPS") },
	{ OPT_LIST(0, "host-name", names, "NAME",
	  "also answer requests for the host NAME; may be repeated") },
	{ OPT_FLAG(0, "allow-control", control,
	  "let pages start background tasks, acknowledge and accept changes") },
	{ OPT_TEXT(0, "attach", attach, "PID|REC",
	  "serve a running build in the background until it ends; PID: its launcher or a process of it") },
	{ OPT_FLAG(0, "list", list, "print the running servers of this user and their URLs") },
	{ OPT_TEXT(0, "stop", stop, "PID|REC|all", "end running servers, by their PID or by what they serve") },
	{ 0 }
};

static const struct serve_arguments defaults = { 0 };

/* The options of buildbeat-serve. */
static int add_options(const char ***word, size_t *n, const struct serve_arguments *o)
{
	const char *messages = messages_config_lines();
	const struct {
		const char *option, *value;
	} valued[] = {
		{ "-l", o->listen }, { "-u", o->unix_path }, { "-c", o->cert }, { "-k", o->key },
		{ "-i", o->insecure ? "" : NULL }, { "-a", o->control ? "" : NULL },
		{ "-m", *messages ? messages : NULL },
	};
	const char **w = calloc(2 * (ARRAY_SIZE(valued) + o->names.n) + 4, sizeof *w);

	*word = w;
	*n = 0;
	if (!w)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(valued); i++) {
		if (valued[i].value)
			w[(*n)++] = valued[i].option;
		if (valued[i].value && *valued[i].value)
			w[(*n)++] = valued[i].value;
	}
	for (size_t i = 0; i < o->names.n; i++) {
		w[(*n)++] = "-n";
		w[(*n)++] = o->names.item[i];
	}
	return 0;
}

/* The operand, the name of a recording, or the directory of recordings. */
static int find_served(struct buf *path, const struct serve_arguments *o, const char *what,
		       struct error *err)
{
	if (!what)
		return listing_base(path, o->output, err);
	if (strchr(what, '/') || !access(what, F_OK)) {
		buf_adds(path, what);
		return buf_error(path);
	}
	return listing_find(path, o->output, what, &convert_formats, err);
}

static int serve(const struct serve_arguments *o, const char *what, struct error *err)
{
	struct buf path = BUF_INIT;
	char program[PATH_MAX];
	const char **options_of, **argv;
	size_t n;
	int r = find_served(&path, o, what, err);

	if (!r && !find_program(program, FIND_SERVER, err))
		r = -ENOENT;
	if (r) {
		buf_release(&path);
		return r;
	}
	r = add_options(&options_of, &n, o);
	argv = r ? NULL : calloc(n + 4, sizeof *argv);
	if (!argv)
		return error_sys(err, -ENOMEM, NULL, NULL);
	argv[0] = "buildbeat-serve";
	memcpy(argv + 1, options_of, n * sizeof *argv);
	argv[n + 1] = "--";
	argv[n + 2] = path.data;
	execv(program, (char **)argv);
	r = error_sys(err, -errno, program, NULL);
	free_all(argv, options_of);
	buf_release(&path);
	return r;
}

static int attach(const struct serve_arguments *o, struct error *err)
{
	struct buf url = BUF_INIT;
	char path[PATH_MAX];
	const char **options_of = NULL;
	int32_t launcher;
	sigset_t none;
	size_t n;
	int r = serve_running_find(path, &launcher, o->attach, o->output, err);

	if (r)
		return r;
	sigemptyset(&none);
	r = add_options(&options_of, &n, o) ? error_sys(err, -ENOMEM, NULL, NULL) :
	    serving_begin(options_of, path, launcher, &none, &url, err);
	buf_addc(&url, '\n');
	free(options_of);
	if (r >= 0)
		return output_end(&url, 0, "serve", err);
	buf_release(&url);
	return r;
}

static int check(const struct args *a, const struct serve_arguments *o, struct error *err)
{
	const char *mode = o->list ? "--list" : o->stop ? "--stop" : o->attach ? "--attach" : NULL;

	if (o->list + !!o->stop + !!o->attach > 1)
		return error_say(err, -EINVAL, "serve: --list, --stop and --attach exclude each "
				 "other");
	if (mode && a->n)
		return error_say(err, -EINVAL, "serve: option '%s' has no operand REC", mode);
	if (!o->cert != !o->key)
		return error_say(err, -EINVAL, "serve: --tls-cert and --tls-key belong together");
	if (o->listen && o->unix_path)
		return error_say(err, -EINVAL, "serve: --listen and --unix exclude each other");
	return 0;
}

static int run_serve(struct args *a, void *values, struct error *err)
{
	const struct serve_arguments *o = values;
	int r = check(a, o, err);

	if (r)
		return r;
	if (o->list)
		return serve_running_list(err);
	if (o->stop)
		return serve_running_stop(o->stop, o->output, err);
	if (o->attach)
		return attach(o, err);
	return serve(o, a->n ? a->operand[0] : NULL, err);
}

COMMAND(serve, "[REC|DIR|REPO]", "Show running and recorded builds in a web browser", COMMAND_KEYS);
