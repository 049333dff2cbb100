/* SPDX-License-Identifier: MIT */
#include "send/endpoint.h"

#include "base/cursor.h"
#include "base/hex.h"
#include "base/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *path, *url, *headers;
} signals[ENDPOINT_SIGNALS] = {
	[ENDPOINT_TRACES] = { "/v1/traces", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
			      "OTEL_EXPORTER_OTLP_TRACES_HEADERS" },
	[ENDPOINT_METRICS] = { "/v1/metrics", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
			       "OTEL_EXPORTER_OTLP_METRICS_HEADERS" },
	[ENDPOINT_LOGS] = { "/v1/logs", "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
			    "OTEL_EXPORTER_OTLP_LOGS_HEADERS" },
};

static const char *setting(const char *variable)
{
	const char *text = getenv(variable);

	return text && *text ? text : NULL;
}

static bool is_http(const char *text)
{
	return str_starts(text, "http:") || str_starts(text, "https:");
}

bool endpoint_is_url(const char *text)
{
	return is_http(text) || strstr(text, "://");
}

static bool is_bare(const char *text)
{
	return !strcmp(text, "http:") || !strcmp(text, "https:");
}

/* No port, or a number. Otherwise it may be a password with a slash: "http://USER:PASS/WORD@HOST". */
static bool has_good_port(const char *host, size_t len)
{
	const char *colon = memrchr(host, ':', len);
	uint64_t port;
	size_t at;

	if (!colon || memchr(colon, ']', (size_t)(host + len - colon)))
		return true;
	at = (size_t)(colon + 1 - host);
	return at == len || (cursor_slice_u64((struct slice){ host + at, len - at }, &port) &&
			     port <= 65535);
}

/* A host, printable characters without blanks, and nothing that names a user. */
static int check_url(const char *url, struct error *err)
{
	const char *host = strstr(url, "://");
	size_t len;

	if (!host || !is_http(url) || !host[3] || host[3] == '/')
		return error_say(err, -EINVAL, "expected a URL such as http://localhost:4318, not "
				 "'%s'", url);
	for (const char *p = url; *p; p++) {
		if (*p <= ' ' || *p > '~')
			return error_say(err, -EINVAL, "a URL has only printable ASCII characters "
					 "and no blanks: write others as %%XX");
	}
	len = strcspn(host + 3, "/?#");
	if (memchr(host + 3, '@', len))
		return error_say(err, -EINVAL, "a URL with a password is rejected, because other "
				 "users can read command lines: set OTEL_EXPORTER_OTLP_HEADERS");
	if (!has_good_port(host + 3, len))
		return error_say(err, -EINVAL, "the port of a URL must be a number up to 65535, "
				 "and a URL must not have a password");
	return 0;
}

int endpoint_url(struct buf *out, const char *text, enum endpoint_signal signal,
		 struct error *err)
{
	const char *exact = is_bare(text) ? setting(signals[signal].url) : NULL;

	buf_clear(out);
	if (exact) {
		buf_adds(out, exact);
		return check_url(buf_str(out), err);
	}
	if (is_bare(text))
		text = setting("OTEL_EXPORTER_OTLP_ENDPOINT");
	if (!text)
		text = "http://localhost:4318";
	buf_adds(out, text);
	while (out->len && out->data[out->len - 1] == '/')
		buf_cut(out, out->len - 1);
	buf_adds(out, signals[signal].path);
	return check_url(text, err);
}

enum endpoint_signal endpoint_signal_of(const char *url)
{
	for (enum endpoint_signal i = ENDPOINT_TRACES + 1; i < ENDPOINT_SIGNALS; i++) {
		const char *exact = setting(signals[i].url);

		if (str_ends(url, signals[i].path) || (exact && !strcmp(exact, url)))
			return i;
	}
	return ENDPOINT_TRACES;
}

/* "%XX" is a byte. False: not a header. */
static bool add_header(struct buf *out, struct slice item)
{
	const char *p = item.p, *end = item.p + item.len;
	const char *equal = memchr(p, '=', item.len);

	if (!equal)
		return false;
	while (p < equal && *p == ' ')
		p++;
	while (end > equal + 1 && end[-1] == ' ')
		end--;
	buf_add(out, p, (size_t)(equal - p));
	while (out->len && out->data[out->len - 1] == ' ')
		buf_cut(out, out->len - 1);
	if (!out->len || memchr(out->data, ':', out->len))
		return false;
	buf_adds(out, ": ");
	for (p = equal + 1; p < end; p++) {
		int byte = *p == '%' && end - p > 2 ? hex_byte(p + 1) : -1;

		buf_addc(out, byte < 0 ? *p : (char)byte);
		p += byte < 0 ? 0 : 2;
	}
	for (size_t i = 0; i < out->len; i++) {
		if ((unsigned char)out->data[i] < ' ' || out->data[i] == 127)
			return false;
	}
	return true;
}

bool endpoint_next_header(struct buf *out, enum endpoint_signal signal, unsigned *at)
{
	/* That of the signal replaces the common one, as OpenTelemetry says. */
	const char *text = setting(signals[signal].headers);
	struct slice item;
	struct cursor c;
	unsigned n = 0;

	text = text ? text : setting("OTEL_EXPORTER_OTLP_HEADERS");
	cursor_init(&c, text ? text : "", text ? strlen(text) : 0);
	while (c.p < c.end) {
		cursor_until(&c, ',', &item);
		if (n++ < *at)
			continue;
		*at = n;
		buf_clear(out);
		if (add_header(out, item))
			return true;
	}
	return false;
}

int64_t endpoint_number(const char *variable, int64_t otherwise)
{
	const char *text = setting(variable);
	uint64_t n;

	return text && cursor_slice_u64(slice_of(text), &n) && n <= INT64_MAX / 1000000 ?
	       (int64_t)n : otherwise;
}
