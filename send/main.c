/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/minmax.h"
#include "base/readfile.h"
#include "base/text.h"
#include "send/endpoint.h"
#include "send/http.h"
#include "send/partial.h"
#include "send/spool.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

/*
 * buildbeat-send [-q] DIRECTORY...: sends the requests in these directories of the spool, oldest
 * first, and removes those that were sent. The only program that uses libcurl. Started by buildbeat;
 * exit status 0 if everything was sent and accepted, otherwise 1 with messages, unless -q.
 */

#define REQUEST_MAX 67108864	/* bytes of a file */
#define WAIT_MAX_MS 30000
#define LOCK_POLL_MS 50

struct sender {
	bool quiet;
	bool failed;		/* something was not sent or not accepted */
	int64_t deadline_ns;
	int64_t timeout_ms;	/* of a request */
	int64_t wait_ms;	/* before the first repetition */
};

static void say(struct sender *s, const char *url, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void say(struct sender *s, const char *url, const char *format, ...)
{
	char text[1600], memory[10 * 2048];	/* escaped characters are longer */
	struct buf line;
	va_list ap;

	if (s->quiet)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	buf_init_fixed(&line, memory, sizeof memory);
	text_add_name(&line, url, 0);
	buf_adds(&line, ": ");
	text_add_name(&line, text, 0);
	fprintf(stderr, "buildbeat: %s\n", buf_str(&line));
}

static void wait_ms(int64_t ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

static int64_t left_ms(const struct sender *s)
{
	int64_t left_ns = s->deadline_ns - clock_mono_ns();

	return left_ns > 0 ? left_ns / 1000000 : 0;
}

/* Half of it to all of it, so that many builders do not return together. */
static int64_t jitter(int64_t ms)
{
	uint32_t random = 0;

	if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random)
		random = (uint32_t)clock_mono_ns();
	return ms / 2 + (int64_t)(random % (uint64_t)(ms / 2 + 1));
}

/* One request */

enum outcome {
	SENT,
	BAD_REQUEST,		/* the collector will never accept it */
	REFUSED,		/* nor any other before the user changes something */
	LATER,			/* worth repeating */
};

static enum outcome judge_answer(const struct http_answer *a)
{
	if (a->status >= 200 && a->status < 300)
		return SENT;
	switch (a->status) {
	case 0:
		return a->failure == HTTP_URL ? BAD_REQUEST : a->failure == HTTP_TLS ? REFUSED : LATER;
	case 408:
	case 429:
	case 502:
	case 503:
	case 504:
		return LATER;
	case 400:
	case 411:
	case 413:
	case 415:
	case 422:
		return BAD_REQUEST;
	}
	return REFUSED;
}

/* What a server wrote, as one line. */
static const char *first_words(const struct http_answer *a, char out[128])
{
	size_t n = MIN(a->body.len, 120);

	for (size_t i = 0; i < n; i++)
		out[i] = a->body.data[i] < ' ' || a->body.data[i] > '~' ? ' ' : a->body.data[i];
	while (n && out[n - 1] == ' ')
		n--;
	out[n] = '\0';
	return out;
}

static void say_status(struct sender *s, const char *url, const struct http_answer *a,
		       const char *consequence)
{
	char words[128];

	if (!a->status)
		say(s, url, "%s%s", a->error, consequence);
	else if (*a->location)
		say(s, url, "HTTP status %ld: redirections are not followed, use the URL %s%s",
		    a->status, a->location, consequence);
	else
		say(s, url, "HTTP status %ld%s%s%s", a->status, a->body.len ? ": " : "",
		    first_words(a, words), consequence);
}

static void say_partial(struct sender *s, const char *url, const struct http_answer *a)
{
	struct partial p;

	partial_read(&p, a->body.data, a->body.len);
	if (p.rejected) {
		s->failed = true;
		say(s, url, "the collector rejected %" PRId64 " of the spans or points%s%s",
		    p.rejected, *p.message ? ": " : "", p.message);
	} else if (*p.message) {
		say(s, url, "the collector warns: %s", p.message);
	}
}

/* Send it, and repeat that with growing pauses until the deadline. */
static enum outcome send_one(struct sender *s, struct http *h, const char *url,
			     const struct buf *body)
{
	int64_t pause_ms = s->wait_ms;
	struct http_answer a;
	enum outcome outcome;

	for (;;) {
		int64_t ms;

		http_post(h, body, &a);
		outcome = judge_answer(&a);
		if (outcome != LATER)
			break;
		ms = a.retry_after_ms >= 0 ? a.retry_after_ms : jitter(pause_ms);
		if (ms >= left_ms(s))
			break;
		wait_ms(ms);
		pause_ms = pause_ms < WAIT_MAX_MS / 2 ? 2 * pause_ms : WAIT_MAX_MS;
		buf_release(&a.body);
	}
	if (outcome == SENT)
		say_partial(s, url, &a);
	else
		say_status(s, url, &a, outcome == BAD_REQUEST ? "; the request was deleted" : "");
	buf_release(&a.body);
	return outcome;
}

/* A directory */

/* One sender at a time; another adds requests without the lock. */
static bool lock(struct sender *s, const struct spool *spool, int *fd)
{
	*fd = openat(spool->fd, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (*fd < 0)
		return false;
	while (flock(*fd, LOCK_EX | LOCK_NB)) {
		if ((errno != EWOULDBLOCK && errno != EINTR) || !left_ms(s)) {
			close(*fd);
			return false;
		}
		wait_ms(LOCK_POLL_MS);
	}
	return true;
}

static struct http *prepare_http(struct sender *s, const struct spool *spool)
{
	enum endpoint_signal signal = endpoint_signal_of(spool->url);
	struct buf header = BUF_INIT;
	char error[256];
	struct http *h = http_new(spool->url, s->timeout_ms, error);
	unsigned at = 0;
	bool good = h != NULL;

	while (good && endpoint_next_header(&header, signal, &at))
		good = http_add_header(h, buf_str(&header));
	buf_release(&header);
	if (good)
		return h;
	say(s, spool->url, "%s", h ? strerror(ENOMEM) : error);
	http_free(h);
	return NULL;
}

/* How many of the requests remain. */
static size_t send_names(struct sender *s, struct spool *spool, const struct spool_names *names)
{
	struct http *h = names->n ? prepare_http(s, spool) : NULL;
	size_t i = 0;

	for (; h && i < names->n; i++) {
		struct buf body = BUF_INIT;
		int r = readfile_at(&body, spool->fd, names->name[i], REQUEST_MAX);
		enum outcome outcome = r == -ENOENT ? SENT : REFUSED;

		if (!r)
			outcome = send_one(s, h, spool->url, &body);
		else if (outcome == REFUSED)
			say(s, spool->url, "%s: %s", names->name[i], strerror(-r));
		buf_release(&body);
		s->failed |= outcome != SENT;
		if (outcome != SENT && outcome != BAD_REQUEST)
			break;
		unlinkat(spool->fd, names->name[i], 0);
	}
	http_free(h);
	return names->n - i;
}

static void send_all(struct sender *s, struct spool *spool)
{
	struct spool_names names;
	size_t remain = 0;
	int fd, r;

	if (!lock(s, spool, &fd)) {
		s->failed = true;
		say(s, spool->url, "another process is still sending; it or the next export sends "
		    "the rest");
		return;
	}
	do {
		r = spool_list(spool, &names);
		if (!r)
			remain = send_names(s, spool, &names);
		if (!names.n || remain)
			break;
		spool_names_release(&names);
	} while (!r);
	spool_names_release(&names);
	close(fd);
	if (r || remain) {
		s->failed = true;
		say(s, spool->url, "%zu request%s wait%s in %s; the next export sends %s", remain,
		    remain == 1 ? "" : "s", remain == 1 ? "s" : "", spool->path,
		    remain == 1 ? "it" : "them");
	}
}

static void send_directory(struct sender *s, const char *path)
{
	struct spool spool;
	struct error err;
	uint64_t dropped;

	if (spool_open_dir(&spool, path, &err)) {
		s->failed = true;
		say(s, *err.path ? err.path : path, "%s", err.message);
	} else if (*spool.url) {
		send_all(s, &spool);
		dropped = s->quiet ? 0 : spool_take_dropped(&spool);
		s->failed |= dropped != 0;
		if (dropped)
			say(s, spool.url, "%" PRIu64 " old request%s deleted because the spool "
			    "was full", dropped, dropped == 1 ? " was" : "s were");
	}
	spool_close(&spool);
}

int main(int argc, char **argv)
{
	struct sender s = {
		.timeout_ms = endpoint_number("OTEL_EXPORTER_OTLP_TIMEOUT", 10000),
		.wait_ms = endpoint_number("BUILDBEAT_SEND_WAIT", 1000),
	};

	s.deadline_ns = clock_mono_ns() +
			endpoint_number("BUILDBEAT_SEND_TIME", 30000) * 1000000;
	if (curl_global_init(CURL_GLOBAL_ALL))
		return 1;
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-q"))
			s.quiet = true;
		else
			send_directory(&s, argv[i]);
	}
	curl_global_cleanup();
	return s.failed;
}
