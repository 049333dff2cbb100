/* SPDX-License-Identifier: MIT */
#include "live/attach.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/str.h"
#include "base/text.h"
#include "live/query.h"

#include <errno.h>
#include <libwebsockets.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define ATTEMPT_US (LWS_US_PER_SEC / 2)
/* The server's messages are much smaller: pieces of a trace of 8 KiB, and events. */
#define MESSAGE_MAX ((size_t)4 << 20)
#define ROUND_US LWS_US_PER_SEC		/* between two rounds of replies */
#define GIVE_UP_NS INT64_C(20000000000)	/* without a connection */

static const char *const asked[] = { ATTACH_REPLIES };

struct attach {
	const struct attach_options *o;
	struct lws_context *context;
	struct query query;	/* of the URL */
	char *host;		/* or "+PATH" of a unix socket */
	int port;
	bool tls;
	lws_sorted_usec_list_t timer;
	int64_t seen_ns;	/* when there was a connection, or the beginning */
	struct buf message;	/* until it is whole */
	char at[64];		/* the id of the newest one */
	bool connected;		/* at any time */
	size_t next;		/* in asked[] */
	unsigned status;	/* of this reply */
	bool replied;		/* it is whole */
	bool lost;		/* it was told */
	bool any, ended, over;	/* over: the loop ends */
	int r;
	struct error *err;
};

/* The URL */

static int bad_url(struct attach *a)
{
	return error_say(a->err, -EINVAL, "'%.200s' is no URL as `buildbeat serve` prints "
			 "it", a->o->url);
}

static int take_host(struct attach *a, const char *text, size_t len)
{
	const char *colon = memrchr(text, ':', len), *bracket = memrchr(text, ']', len);
	size_t host_len = len;
	uint64_t port = a->tls ? 443 : 80;

	if (colon && (!bracket || colon > bracket)) {
		host_len = (size_t)(colon - text);
		if (!cursor_slice_u64((struct slice){ colon + 1, len - host_len - 1 }, &port) ||
		    !port || port > 65535)
			return bad_url(a);
	}
	if (bracket && *text == '[') {
		text++;
		host_len -= 2;
	}
	a->port = (int)port;
	a->host = host_len && host_len <= len ? strndup(text, host_len) : NULL;
	return a->host ? 0 : bad_url(a);
}

static int parse_url(struct attach *a)
{
	const char *p = a->o->url, *question = strchr(p, '?');
	size_t len = question ? (size_t)(question - p) : strlen(p);
	bool local = str_starts(p, "unix:");
	const char *host;

	if (question && query_parse(&a->query, question + 1, strlen(question + 1)))
		return bad_url(a);
	if (local) {
		a->host = calloc(1, len);
		if (!a->host)
			return -ENOMEM;
		a->host[0] = '+';
		memcpy(a->host + 1, p + strlen("unix:"), len - strlen("unix:"));
		return len > strlen("unix:") ? 0 : bad_url(a);
	}
	a->tls = str_starts(p, "https://");
	if (!a->tls && !str_starts(p, "http://"))
		return bad_url(a);
	host = p + strlen(a->tls ? "https://" : "http://");
	len = strcspn(host, "/?");
	return take_host(a, host, len);
}

/* Connections */

static void end(struct attach *a, int r)
{
	a->r = r;
	a->over = true;
	lws_cancel_service(a->context);
}

static void add_encoded(struct buf *b, const char *text)
{
	for (; *text; text++)
		buf_addf(b, "%%%02X", (unsigned char)*text);
}

static void on_timer(lws_sorted_usec_list_t *timer);

static int try_address(int family, const struct sockaddr *address, socklen_t len)
{
	const struct timeval limit = { 2, 0 };
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), r = fd < 0 ? -errno : 0;

	if (!r && !setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) && connect(fd, address, len))
		r = errno == EINPROGRESS ? -ETIMEDOUT : -errno;
	file_close(fd);
	return r;
}

/* The library says only that it cannot connect. NULL: it is not for want of a connection. */
static const char *why_unreachable(const struct attach *a)
{
	const struct addrinfo wish = { .ai_socktype = SOCK_STREAM };
	struct sockaddr_un path = { .sun_family = AF_UNIX };
	struct addrinfo *found = NULL;
	char port[8];
	int r;

	if (*a->host == '+') {
		snprintf(path.sun_path, sizeof path.sun_path, "%s", a->host + 1);
		r = try_address(AF_UNIX, (const struct sockaddr *)&path, sizeof path);
		return r ? strerror(-r) : NULL;
	}
	snprintf(port, sizeof port, "%d", a->port);
	r = getaddrinfo(a->host, port, &wish, &found);
	if (r)
		return gai_strerror(r);
	for (const struct addrinfo *i = found; i && (i == found || r); i = i->ai_next)
		r = try_address(i->ai_family, i->ai_addr, i->ai_addrlen);
	freeaddrinfo(found);
	return r ? strerror(-r) : NULL;
}

/* Of replies: "WHAT LENGTH", and the text in the next line. */
static int write_piece(struct attach *a, const char *what, const struct buf *text)
{
	struct buf out = BUF_INIT;
	int r;

	buf_addf(&out, "%s %zu\n", what, text ? text->len : 0);
	if (text)
		buf_add(&out, text->data, text->len);
	r = buf_error(&out);
	if (!r)
		r = file_write_all(a->o->fd, out.data, out.len);
	buf_release(&out);
	if (r)
		end(a, error_sys(a->err, r, NULL, "the output cannot be written"));
	return r;
}

/* A server that was never there is not waited for. why: as the library says it. */
static void connect_again(struct attach *a, const char *why)
{
	const char *reason = a->connected ? NULL : why_unreachable(a);
	struct buf server = BUF_INIT;

	if (!a->connected) {
		buf_addf(&server, strchr(a->host, ':') ? "[%s]:%d" : "%s:%d", a->host, a->port);
		end(a, error_say(a->err, -ECONNREFUSED, "cannot connect to %.200s: %.200s",
				 *a->host == '+' ? a->host + 1 : buf_str(&server),
				 reason ? reason : why ? why : "the server does not answer"));
		buf_release(&server);
		return;
	}
	if (a->o->replies && !a->lost && write_piece(a, "lost", NULL))
		return;
	a->lost = true;
	if (!a->o->replies && clock_mono_ns() - a->seen_ns > GIVE_UP_NS) {
		end(a, error_say(a->err, -ECONNRESET, "the connection to the server was "
				 "lost before the build ended"));
		return;
	}
	lws_sul_schedule(a->context, 0, &a->timer, on_timer, ATTEMPT_US);
}

/* What was written of a trace is written again. */
static int begin_again(struct attach *a)
{
	struct stat st;

	if (a->o->events || a->o->replies || !a->any)
		return 0;
	if (fstat(a->o->fd, &st) || !S_ISREG(st.st_mode) || a->o->no_history)
		return error_say(a->err, -ECONNRESET, "the connection to the server was "
				 "lost, and a trace in a pipe cannot go on");
	if (ftruncate(a->o->fd, 0) || lseek(a->o->fd, 0, SEEK_SET))
		return error_sys(a->err, -errno, NULL, "the trace cannot be written again");
	a->any = false;
	return 0;
}

static void attempt(struct attach *a)
{
	const char *rec = query_text(&a->query, "rec");
	struct lws_client_connect_info info = {
		.context = a->context, .address = a->host, .port = a->port,
		.host = *a->host == '+' ? "localhost" : NULL, .local_protocol_name = "attach",
		.ssl_connection = a->tls ? LCCSCF_USE_SSL : 0,
	};
	struct buf path = BUF_INIT, host = BUF_INIT;
	int r = begin_again(a);

	if (r) {
		end(a, r);
		return;
	}
	if (a->o->replies) {
		info.method = "GET";
		info.alpn = "http/1.1";
		buf_addf(&path, "/api/v1/%s", asked[a->next]);
	} else {
		buf_addf(&path, "/api/v1/trace?format=%s", a->o->events ? "events" : "chrome");
	}
	if (a->o->no_history)
		buf_adds(&path, "&history=0");
	if (*a->at)
		buf_addf(&path, "&since=%s", a->at);
	if (rec) {
		buf_adds(&path, a->o->replies ? "?rec=" : "&rec=");
		add_encoded(&path, rec);
	}
	buf_addf(&host, strchr(a->host, ':') ? "[%s]:%d" : "%s:%d", a->host, a->port);
	if (!info.host)
		info.host = buf_str(&host);
	info.path = buf_str(&path);
	buf_clear(&a->message);
	/* on failure the callback is called, too, unless it could not even begin */
	if (!lws_client_connect_via_info(&info) && !a->over)
		connect_again(a, NULL);
	buf_release(&path);
	buf_release(&host);
}

static void on_timer(lws_sorted_usec_list_t *timer)
{
	attempt(lws_container_of(timer, struct attach, timer));
}

/* Messages */

/* Of the last line: {"event":"end","at":"T.S" */
static void take_line(struct attach *a)
{
	static const char at[] = "\",\"at\":\"", event[] = "{\"event\":\"";
	const char *text = a->message.data, *line = text + a->message.len - 1, *p;

	while (line > text && line[-1] != '\n')
		line--;
	p = strstr(line, at);
	if (!str_starts(line, event) || !p)
		return;
	a->ended |= str_starts(line + strlen(event), "end\"");
	p += strlen(at);
	if (strcspn(p, "\"") < sizeof a->at)
		snprintf(a->at, sizeof a->at, "%.*s", (int)strcspn(p, "\""), p);
}

/* A server can send anything: no controls reach a terminal. */
static int write_message(struct attach *a)
{
	const struct buf *b = &a->message;
	struct buf safe = BUF_INIT;
	int r;

	if (!isatty(a->o->fd))
		return file_write_all(a->o->fd, b->data, b->len);
	text_add_lines(&safe, b->data, b->len);
	r = buf_error(&safe);
	r = r ? r : file_write_all(a->o->fd, safe.data, safe.len);
	buf_release(&safe);
	return r;
}

static int take_message(struct attach *a)
{
	struct buf *b = &a->message;
	int r = buf_error(b);

	if (!r && b->len)
		r = write_message(a);
	if (r) {
		end(a, error_sys(a->err, r, NULL, "the output cannot be written"));
		return -1;
	}
	a->any |= b->len > 0;
	if (a->o->events && b->len)
		take_line(a);
	else if (b->len >= 2)
		a->ended |= str_ends(buf_str(b), "\n]");
	buf_clear(b);
	return 0;
}

static int refused(struct attach *a, const char *why)
{
	return error_say(a->err, -EPERM, "the server refused: %s", why);
}

/* One of a status of 400 to 499. */
static int refused_by(struct attach *a, unsigned status)
{
	return refused(a, status == 401 ? "the token is wrong or missing" :
		       status == 404 ? "there is no such recording" :
		       status == 410 ? "the recording was deleted" : "the URL is wrong");
}

/* Replies, one after the other. Only the first one must be there: builds of archives have no processes. */
static int take_reply(struct attach *a, unsigned status)
{
	if (status >= 400 && status < 500 && !a->next) {
		end(a, refused_by(a, status));
		return -1;
	}
	if (buf_error(&a->message) || (status == 200 && write_piece(a, asked[a->next], &a->message)))
		return -1;
	a->next = (a->next + 1) % ARRAY_SIZE(asked);
	if (!a->next && write_piece(a, "round", NULL))
		return -1;
	lws_sul_schedule(a->context, 0, &a->timer, on_timer, a->next ? 1 : ROUND_US);
	return 0;
}

static int add_message(struct attach *a, const void *in, size_t len)
{
	if (len > MESSAGE_MAX - a->message.len) {
		end(a, error_say(a->err, -EMSGSIZE, "the server sent a message of more than %zu MiB",
				 MESSAGE_MAX >> 20));
		return -1;
	}
	buf_add(&a->message, in, len);
	return 0;
}

/* Those of HTTP, without a stream. */
static int take_http(struct attach *a, struct lws *wsi, enum lws_callback_reasons reason, void *in, size_t len)
{
	char room[LWS_PRE + 16384], *p = room + LWS_PRE;
	int n = sizeof room - LWS_PRE;

	switch (reason) {
	case LWS_CALLBACK_ESTABLISHED_CLIENT_HTTP:
		a->connected = true;
		a->lost = false;
		a->replied = false;
		a->status = lws_http_client_http_response(wsi);
		return 0;
	case LWS_CALLBACK_RECEIVE_CLIENT_HTTP:
		return lws_http_client_read(wsi, &p, &n) < 0 ? -1 : 0;
	case LWS_CALLBACK_RECEIVE_CLIENT_HTTP_READ:
		return add_message(a, in, len);
	case LWS_CALLBACK_COMPLETED_CLIENT_HTTP:
		a->replied = true;
		return -1;
	case LWS_CALLBACK_CLOSED_CLIENT_HTTP:
		if (a->over)
			return 0;
		if (a->replied)
			return take_reply(a, a->status);
		a->next = 0;
		connect_again(a, NULL);
		return 0;
	default:
		return 0;
	}
}

static int callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t len)
{
	struct attach *a = lws_context_user(lws_get_context(wsi));
	const char *token = a ? query_text(&a->query, "token") : NULL;
	unsigned char **p = in, *end_of;
	struct buf bearer = BUF_INIT;
	unsigned status;
	int r;

	(void)user;
	switch (reason) {
	case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER:
		if (!token)
			return 0;
		end_of = *p + len;
		buf_addf(&bearer, "Bearer %s", token);
		r = lws_add_http_header_by_name(wsi, (const unsigned char *)"authorization:",
						(const unsigned char *)buf_str(&bearer), (int)bearer.len,
						p, end_of);
		buf_release(&bearer);
		return r;
	case LWS_CALLBACK_CLIENT_ESTABLISHED:
		a->connected = true;
		a->seen_ns = clock_mono_ns();
		return 0;
	case LWS_CALLBACK_CLIENT_RECEIVE:
		a->seen_ns = clock_mono_ns();
		if (add_message(a, in, len))
			return -1;
		return lws_is_final_fragment(wsi) && !lws_remaining_packet_payload(wsi) ?
		       take_message(a) : 0;
	case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
		status = lws_http_client_http_response(wsi);
		if (status >= 400 && status < 500)
			end(a, refused_by(a, status));
		else
			connect_again(a, in);
		a->next = 0;
		return 0;
	case LWS_CALLBACK_CLIENT_CLOSED:
		if (a->ended)
			end(a, 0);
		else if (!a->over)
			connect_again(a, NULL);
		return 0;
	default:
		return a ? take_http(a, wsi, reason, in, len) : 0;
	}
}

int attach_run(const struct attach_options *o, struct error *err)
{
	static const struct lws_protocols protocols[] = {
		{ .name = "attach", .callback = callback, .rx_buffer_size = 65536 }, { 0 }
	};
	struct attach a = { .o = o, .err = err, .seen_ns = clock_mono_ns() };
	struct lws_context_creation_info info = {
		.port = CONTEXT_PORT_NO_LISTEN, .protocols = protocols, .user = &a,
		.gid = (gid_t)-1, .uid = (uid_t)-1,
		.options = LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT, .client_ssl_ca_filepath = o->ca_file,
	};
	int r = parse_url(&a);

	lws_set_log_level(0, NULL);
	if (!r) {
		a.context = lws_create_context(&info);
		r = a.context ? 0 : error_say(err, -ENOMEM, "it cannot begin%s",
					      o->ca_file ? "; can the file of --ca-file be read?" :
					      "");
	}
	if (!r)
		attempt(&a);
	while (!r && !a.over && lws_service(a.context, 0) >= 0)
		;
	if (a.context)
		lws_context_destroy(a.context);
	if (o->replies && (r || a.r)) {
		buf_clear(&a.message);
		buf_adds(&a.message, err->message);
		write_piece(&a, "error", &a.message);
	}
	buf_release(&a.message);
	free(a.host);
	return r ? r : a.r;
}
