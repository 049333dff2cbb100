/* SPDX-License-Identifier: MIT */
#include "send/http.h"

#include "base/array.h"
#include "base/minmax.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BODY_MAX 65536		/* of an answer that is kept */

struct http {
	CURL *curl;
	struct curl_slist *headers;
	char error[CURL_ERROR_SIZE];
};

static size_t keep_body(char *p, size_t size, size_t n, void *data)
{
	struct buf *body = data;
	size_t len = size * n, room = BODY_MAX - MIN(body->len, BODY_MAX);

	buf_add(body, p, MIN(len, room));
	return len;
}

/* Options of libcurl that may fail: 0, or the first error. */
static CURLcode set_options(struct http *h, const char *url, int64_t timeout_ms)
{
	const char *authority = getenv("OTEL_EXPORTER_OTLP_CERTIFICATE");
	const struct {
		CURLoption option;
		const char *text;
	} texts[] = {
		{ CURLOPT_URL, url },
#if LIBCURL_VERSION_NUM >= 0x075500
		{ CURLOPT_PROTOCOLS_STR, "http,https" },
#endif
		{ CURLOPT_USERAGENT, "buildbeat/" PACKAGE_VERSION },
		{ CURLOPT_CAINFO, authority },
	};
	const struct {
		CURLoption option;
		long number;
	} numbers[] = {
#if LIBCURL_VERSION_NUM < 0x075500
		{ CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS },
#endif
		{ CURLOPT_FOLLOWLOCATION, 0 }, { CURLOPT_SSL_VERIFYPEER, 1 },
		{ CURLOPT_SSL_VERIFYHOST, 2 }, { CURLOPT_NOSIGNAL, 1 },
		{ CURLOPT_TIMEOUT_MS, (long)timeout_ms },
		{ CURLOPT_CONNECTTIMEOUT_MS, (long)timeout_ms },
	};
	size_t n_texts = authority && *authority ? ARRAY_SIZE(texts) : ARRAY_SIZE(texts) - 1;
	CURLcode r = curl_easy_setopt(h->curl, CURLOPT_ERRORBUFFER, h->error);

	for (size_t i = 0; !r && i < n_texts; i++)
		r = curl_easy_setopt(h->curl, texts[i].option, texts[i].text);
	for (size_t i = 0; !r && i < ARRAY_SIZE(numbers); i++)
		r = curl_easy_setopt(h->curl, numbers[i].option, numbers[i].number);
	return r ? r : curl_easy_setopt(h->curl, CURLOPT_WRITEFUNCTION, keep_body);
}

struct http *http_new(const char *url, int64_t timeout_ms, char error[256])
{
	struct http *h = calloc(1, sizeof *h);
	CURLcode r;

	if (h)
		h->curl = curl_easy_init();
	r = h && h->curl ? set_options(h, url, timeout_ms) : CURLE_OUT_OF_MEMORY;
	/* Expect: a server that does not know it delays each request by a second. */
	if (!r && (!http_add_header(h, "Content-Type: application/x-protobuf") ||
		   !http_add_header(h, "Content-Encoding: gzip") || !http_add_header(h, "Expect:")))
		r = CURLE_OUT_OF_MEMORY;
	if (!r)
		return h;
	snprintf(error, 256, "%s", curl_easy_strerror(r));
	http_free(h);
	return NULL;
}

void http_free(struct http *h)
{
	if (!h)
		return;
	curl_slist_free_all(h->headers);
	curl_easy_cleanup(h->curl);
	free(h);
}

bool http_add_header(struct http *h, const char *header)
{
	struct curl_slist *longer = curl_slist_append(h->headers, header);

	if (longer)
		h->headers = longer;
	return longer != NULL;
}

static void fill_answer(struct http *h, struct http_answer *answer)
{
	const char *location = NULL;
	curl_off_t after_s = 0;

	curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &answer->status);
	if (!curl_easy_getinfo(h->curl, CURLINFO_RETRY_AFTER, &after_s) && after_s > 0)
		answer->retry_after_ms = after_s < 1000000 ? after_s * 1000 : 1000000000;
	if (!curl_easy_getinfo(h->curl, CURLINFO_REDIRECT_URL, &location) && location)
		snprintf(answer->location, sizeof answer->location, "%s", location);
}

static enum http_failure failure_of(CURLcode r)
{
	switch (r) {
	case CURLE_URL_MALFORMAT:
	case CURLE_UNSUPPORTED_PROTOCOL:
		return HTTP_URL;
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CIPHER:
	case CURLE_SSL_CRL_BADFILE:
	case CURLE_SSL_ENGINE_NOTFOUND:
	case CURLE_SSL_INVALIDCERTSTATUS:
	case CURLE_SSL_ISSUER_ERROR:
	case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
		return HTTP_TLS;
	default:
		return HTTP_LATER;
	}
}

void http_post(struct http *h, const struct buf *body, struct http_answer *answer)
{
	CURLcode r;

	*answer = (struct http_answer){ .retry_after_ms = -1 };
	*h->error = '\0';
	curl_easy_setopt(h->curl, CURLOPT_HTTPHEADER, h->headers);
	curl_easy_setopt(h->curl, CURLOPT_POSTFIELDS, body->data);
	curl_easy_setopt(h->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->len);
	curl_easy_setopt(h->curl, CURLOPT_WRITEDATA, &answer->body);
	r = curl_easy_perform(h->curl);
	if (!r)
		fill_answer(h, answer);
	answer->failure = failure_of(r);
	if (r)
		snprintf(answer->error, sizeof answer->error, "%s",
			 *h->error ? h->error : curl_easy_strerror(r));
}
