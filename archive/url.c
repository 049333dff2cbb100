/* SPDX-License-Identifier: MIT */
#include "archive/url.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/hex.h"
#include "base/trust.h"

#include <errno.h>
#include <string.h>

#define READABLE_MAX 80

static const char file_scheme[] = "file://";

bool url_is(const char *repo)
{
	return strstr(repo, "://") || repo[strcspn(repo, ":/")] == ':';
}

bool url_is_remote(const char *repo)
{
	return url_is(repo) && strncmp(repo, file_scheme, strlen(file_scheme));
}

/* Decodes %XX. Returns -EINVAL for a NUL. */
static int add_decoded(struct buf *out, const char *text)
{
	for (; *text; text++) {
		int byte = *text == '%' && text[1] ? hex_byte(text + 1) : -1;

		if (!byte)
			return -EINVAL;
		buf_addc(out, byte > 0 ? (char)byte : *text);
		text += byte > 0 ? 2 : 0;
	}
	return buf_error(out);
}

int url_path(struct buf *path, const char *url, bool *is_file, struct error *err)
{
	static const char here[] = "localhost/";
	const char *rest = url + strlen(file_scheme);
	int r;

	*is_file = !strncmp(url, file_scheme, strlen(file_scheme));
	if (!*is_file)
		return 0;
	if (!strncmp(rest, here, strlen(here)))
		rest += strlen(here) - 1;
	r = *rest == '/' ? add_decoded(path, rest) : -EINVAL;
	if (r == -EINVAL)
		return error_set(err, r, url, 0, 0, "expected file:///DIRECTORY");
	return r ? error_sys(err, r, url, NULL) : 0;
}

static bool is_port(const char *text, size_t len)
{
	return strspn(text, "0123456789") >= len;
}

/*
 * The part after "scheme://"; *at is the @ after user and password, or NULL. A password may have a
 * slash, which should be %2F: then what is behind the colon is no port, and the last @ is meant.
 */
static const char *host_of(const char *url, const char **at)
{
	const char *scheme = strstr(url, "://"), *host = scheme ? scheme + 3 : url, *colon;
	size_t n = strcspn(host, "/");

	*at = memrchr(host, '@', n);
	colon = scheme && !*at ? memchr(host, ':', n) : NULL;
	if (colon && *host != '[' && !is_port(colon + 1, n - (size_t)(colon + 1 - host)))
		*at = strrchr(host, '@');
	return host;
}

bool url_is_option(const char *url)
{
	const char *at, *host = host_of(url, &at);

	return *host == '-' || (at && at[1] == '-');
}

void url_show(struct buf *out, const char *url)
{
	const char *at, *host = host_of(url, &at), *end = host;

	if (at && (host == url || !strncmp(url, "ssh://", strlen("ssh://")))) {
		const char *colon = memchr(host, ':', (size_t)(at - host));

		end = colon ? colon : at;
	} else if (at) {
		at++;
	}
	buf_add(out, url, (size_t)(end - url));
	buf_adds(out, at ? at : host);
}

/* "git.example.org-team-perf": letters, digits and dots; other characters become one dash. */
static void add_readable(struct buf *out, const char *url)
{
	const char *at, *host = host_of(url, &at);
	size_t begin = out->len, n;
	bool dash = false;

	for (const char *p = at ? at + 1 : host; *p && out->len - begin < READABLE_MAX; p++) {
		bool plain = (*p >= '0' && *p <= '9') || *p == '_' || *p == '.' ||
			     ((*p | 0x20) >= 'a' && (*p | 0x20) <= 'z');

		if (plain && !(out->len == begin && *p == '.')) {
			if (dash)
				buf_addc(out, '-');
			buf_addc(out, *p);
		}
		dash = !plain && out->len > begin;
	}
	n = out->len - begin;
	if (!buf_error(out) && n > 4 && !memcmp(out->data + out->len - 4, ".git", 4))
		buf_cut(out, out->len - 4);
}

int url_cache(struct buf *path, const char *url, struct error *err)
{
	int r = file_add_cache_dir(path);

	if (r)
		return error_say(err, r, "a copy of an archive is kept in the cache directory: "
				 "neither XDG_CACHE_HOME nor HOME names it");
	buf_addc(path, '/');
	add_readable(path, url);
	buf_addf(path, "-%016llx.git", (unsigned long long)hash_fnv64(url, strlen(url)));
	r = buf_error(path) ? error_sys(err, buf_error(path), url, NULL) :
	    trust_path(path->data, err);
	return r ? r : file_make_parents(path->data, err);
}
