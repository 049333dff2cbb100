/* SPDX-License-Identifier: MIT */
#include "live/server_private.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/minmax.h"
#include "launch/serving.h"
#include "live/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* libwebsockets has tables of this size: a limit of a million costs memory. */
#define DESCRIPTORS_MAX 8192

/* At once; strangers are closed first (connection.c). */
#define CONNECTIONS_MAX 4096
#define STRANGERS_MAX 256

/* A request must have come that long after it began, or after its connection. */
#define REQUEST_S 5
#define KEEPALIVE_S 60

#define SEND_PART 4096

/* After the end of the launcher. Pages ask every 20 s, hidden ones once a minute (live/page/core.js). */
#define OPEN_NS INT64_C(90000000000)
#define LINGER_STEP_NS INT64_C(1000000000)

/* For the address of a server that stays after its build */
#define ROOM_TRIES 20
#define ROOM_NS 50000000

static const struct lws_protocols protocols[] = {
	{ .name = "http", .callback = server_callback, .rx_buffer_size = 4096 },
	{ 0 }
};

/* A quarter of the descriptors is for files and readers. */
static void limit_descriptors(struct server_private *p)
{
	struct rlimit l = { 0 };

	getrlimit(RLIMIT_NOFILE, &l);
	l.rlim_cur = MIN(l.rlim_max, DESCRIPTORS_MAX);
	setrlimit(RLIMIT_NOFILE, &l);
	p->connections_max = MIN(l.rlim_cur / 4 * 3, CONNECTIONS_MAX);
	p->strangers_max = MIN(l.rlim_cur / 4, STRANGERS_MAX);
	p->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void end_server(struct server *s)
{
	s->private->ended = true;
	lws_cancel_service(s->context);
}

static void on_signal(void *context)
{
	end_server(context);
}

static int watch_signals(struct server *s)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return -errno;
	return server_watch(s, fd, on_signal, s) ? 0 : -ENOMEM;
}

/* The end of the build */

static bool has_streams(const struct server_private *p)
{
	for (struct connection *c = p->first; c; c = c->private->next) {
		if (c->endpoint)
			return true;
	}
	return false;
}

static bool has_page(const struct server_private *p, int64_t now_ns)
{
	return has_streams(p) || (p->asked_ns && now_ns - p->asked_ns < OPEN_NS);
}

static void on_linger(lws_sorted_usec_list_t *linger)
{
	struct server_private *p = lws_container_of(linger, struct server_private, linger);
	int64_t now_ns = clock_mono_ns(), left_ns = p->linger_until_ns - now_ns;

	if (left_ns <= 0 && !has_page(p, now_ns)) {
		end_server(p->server);
		return;
	}
	if (left_ns <= 0 || left_ns > LINGER_STEP_NS)
		left_ns = LINGER_STEP_NS;
	lws_sul_schedule(p->server->context, 0, linger, on_linger, left_ns / 1000 + 1);
}

/* 0 also if there is nothing to show: the command could not be executed. */
static int64_t stay_ns(struct server *s)
{
	const struct catalogue_entry *e;
	struct error unused;

	if (s->options->stay_ns >= 0)
		return s->options->stay_ns;
	if (catalogue_update(&s->catalogue, &unused) || !(e = catalogue_find(&s->catalogue, NULL)))
		return 0;
	return SERVING_STAY_US(e->good) * 1000;
}

static void on_launcher(void *context)
{
	struct server *s = context;
	int64_t stay = stay_ns(s);

	server_unwatch(s->private->launcher);
	s->private->launcher = NULL;
	registry_leave(s->private->registry_fd);
	if (!stay) {
		end_server(s);
		return;
	}
	s->private->linger_until_ns = clock_mono_ns() + stay;
	lws_sul_schedule(s->context, 0, &s->private->linger, on_linger, 1);
}

static int watch_launcher(struct server *s)
{
	int fd;

	if (!s->options->launcher)
		return 0;
	fd = (int)syscall(SYS_pidfd_open, s->options->launcher, 0);
	if (fd < 0)
		return -errno;
	s->private->launcher = server_watch(s, fd, on_launcher, s);
	return s->private->launcher ? 0 : -ENOMEM;
}

static void on_readers(void *context)
{
	reader_pool_run(((struct server *)context)->private->readers);
}

static int begin_readers(struct server *s)
{
	struct server_private *p = s->private;
	int r = reader_pool_new(&p->readers, &s->catalogue, &reader_pool_defaults);

	if (r)
		return r;
	return server_watch_copy(s, reader_pool_fd(p->readers), on_readers, s) ? 0 : -errno;
}

static int begin_context(struct server *s, struct error *err)
{
	const struct server_options *o = s->options;
	struct lws_context_creation_info info = {
		.port = CONTEXT_PORT_NO_LISTEN_SERVER,
		.protocols = protocols,
		.gid = (gid_t)-1, .uid = (uid_t)-1,
		.options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS,
		.max_http_header_data = GUARD_HEADERS_MAX,
		.pt_serv_buf_size = SEND_PART,
		.timeout_secs = REQUEST_S,
		.keepalive_timeout = KEEPALIVE_S,
		.alpn = "http/1.1",
		.headers = server_headers,
		.ssl_cert_filepath = o->cert,
		.ssl_private_key_filepath = o->key,
	};

	if (o->cert)
		info.options |= LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT;
	lws_set_log_level(0, NULL);
	s->context = lws_create_context(&info);
	if (s->context)
		s->vhost = lws_create_vhost(s->context, &info);
	if (s->vhost) {
		/* libwebsockets 4.3 has a netlink socket that a program would inherit */
		close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
		return 0;
	}
	return error_set(err, -EINVAL, o->cert, 0, 0, o->cert ? "the certificate and its key cannot be "
			 "used: they must be files of PEM that belong together" : "the server cannot begin");
}

/* What is asked for must be possible before anything is begun. */
static int check(const struct server_options *o, const struct listener *l, struct error *err)
{
	const char *const file[] = { o->cert, o->key };

	for (size_t i = 0; i < 2; i++) {
		if (file[i] && access(file[i], R_OK))
			return error_sys(err, -errno, file[i], NULL);
	}
	if (l->any && !o->n_names)
		return error_say(err, -EINVAL, "serve: option '--listen': every address of this "
				 "machine needs --host-name with the name that browsers use");
	return 0;
}

static int begin_server(struct server *s, struct error *err)
{
	struct server_private *p = s->private;
	int r;

	limit_descriptors(p);
	p->guard.address = p->listener.address;
	r = guard_init(&p->guard);
	if (r)
		return error_sys(err, r, NULL, "there are no random numbers");
	r = begin_context(s, err);
	if (r)
		return r;
	if ((r = watch_signals(s)) || (r = watch_launcher(s)) || (r = connection_begin(s)) ||
	    (r = begin_readers(s)))
		return error_sys(err, r, NULL, "the server cannot begin");
	return 0;
}

/* Ends servers of ours that stay after their builds. False: none has this address. */
static bool make_room(const struct server_options *o)
{
	const char *port = o->listen ? strrchr(o->listen, ':') : NULL;
	struct registry_entry *e;
	char end[PATH_MAX + 16], path[PATH_MAX] = "";
	bool found = false;
	size_t n;

	if (o->unix_path && !file_absolute(path, o->unix_path))
		snprintf(end, sizeof end, "unix:%s?token=", path);
	else
		snprintf(end, sizeof end, "%s/?token=", port ? port : "");
	if (registry_list(&e, &n))
		n = 0;
	for (size_t i = 0; i < n; i++) {
		if (!strstr(e[i].url, end))
			continue;
		found = true;
		if (e[i].left)
			registry_stop(&e[i]);
	}
	free(e);
	return found;
}

/* The next build can begin before the server of the one before knows that that has ended. */
static int open_listener(struct server_private *p, const struct server_options *o, struct error *err)
{
	const struct timespec wait = { 0, ROOM_NS };
	int r, tries = 0;

	for (;;) {
		r = listener_open(&p->listener, o->listen, o->unix_path, o->cert || o->insecure, err);
		if (r != -EADDRINUSE || !o->launcher || tries++ == ROOM_TRIES || !make_room(o))
			return r;
		nanosleep(&wait, NULL);
	}
}

int server_run(const struct server_options *o, struct error *err)
{
	struct server_private p = {
		.guard = { .control = o->control, .stacks = o->launcher > 0, .tls = o->cert, .n_names = o->n_names, .name = o->name },
		.listener = LISTENER_INIT, .registry_fd = -1, .spare_fd = -1,
	};
	struct server s = { .options = o, .private = &p };
	int r = catalogue_open(&s.catalogue, o->path, err);

	p.server = &s;
	if (r)
		return r;
	r = open_listener(&p, o, err);
	r = r ? r : check(o, &p.listener, err);
	r = r ? r : begin_server(&s, err);
	r = r ? r : server_tell_url(&s, err);
	r = r ? r : server_listen(&s, err);
	if (!r && o->url_fd > 2)
		close(o->url_fd);
	while (!r && !p.ended && lws_service(s.context, 0) >= 0)
		;
	p.ended = true;
	registry_remove(p.registry_fd);
	server_jobs_end();
	if (s.context)
		lws_context_destroy(s.context);
	while (p.watches)
		server_unwatch(p.watches);
	if (p.readers)
		reader_pool_free(p.readers);
	assets_release(&p.assets);
	listener_close(&p.listener);
	file_close(p.spare_fd);
	catalogue_release(&s.catalogue);
	return r;
}
