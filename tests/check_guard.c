/* SPDX-License-Identifier: MIT */
#include "live/guard.h"
#include "tests/support.h"

#define TOKEN "0123456789abcdef0123456789abcdef"
#define COOKIE "buildbeat-12345678=" TOKEN
#define BEARER "Bearer " TOKEN

static const char *const names[] = { "build.example" };

static struct guard guard(void)
{
	return (struct guard){ .token = TOKEN, .cookie = "buildbeat-12345678", .control = true,
			       .address = "10.1.2.3", .n_names = 1, .name = names };
}

static int check(const struct guard *g, struct guard_request q)
{
	struct guard_verdict v;

	q.method = q.method ? q.method : "GET";
	q.path = q.path ? q.path : "/";
	q.host = q.host ? q.host : "localhost:8080";
	v = guard_check(g, &q);
	ck_assert(v.kind == GUARD_REFUSED ? v.status >= 400 && v.why : v.status < 400);
	return v.status;
}

static const struct {
	struct guard_request request;
	int status;
} requests[] = {
	{ { .authorization = BEARER }, 200 },
	{ { .authorization = "bearer  " TOKEN }, 200 },
	{ { .authorization = "Basic " TOKEN }, 401 },
	{ { .authorization = "Bearer" }, 401 },
	{ { .authorization = BEARER "0" }, 401 },
	{ { .cookie = COOKIE }, 200 },
	{ { .cookie = "a=b; " COOKIE "; c=d" }, 200 },
	{ { .cookie = "buildbeat-12345678=no; " COOKIE }, 200 },
	{ { .cookie = "x" COOKIE }, 401 },
	{ { .cookie = "buildbeat-12345678" }, 401 },
	{ { .cookie = COOKIE "0" }, 401 },
	{ { .cookie = ";;; ; =" }, 401 },
	{ { .cookie = "" }, 401 },
	{ { .token = TOKEN }, 303 },
	{ { .token = "" }, 401 },
	{ { .token = "no", .cookie = COOKIE }, 303 },
	{ { .token = TOKEN, .method = "POST", .origin = "http://localhost:8080" }, 200 },
	{ { .method = "HEAD", .cookie = COOKIE }, 200 },
	{ { .method = "PUT", .cookie = COOKIE }, 405 },
	{ { .method = "", .cookie = COOKIE }, 405 },
	{ { .method = "POST", .cookie = COOKIE }, 403 },
	{ { .method = "POST", .cookie = COOKIE, .origin = "http://localhost:8080" }, 200 },
	{ { .method = "POST", .cookie = COOKIE, .origin = "http://LOCALHOST:8080" }, 200 },
	{ { .method = "POST", .cookie = COOKIE, .origin = "https://localhost:8080" }, 403 },
	{ { .method = "POST", .cookie = COOKIE, .origin = "http://localhost" }, 403 },
	{ { .method = "POST", .cookie = COOKIE, .origin = "http://localhost:80801" }, 403 },
	{ { .method = "POST", .cookie = COOKIE, .origin = "null" }, 403 },
	{ { .method = "POST", .authorization = BEARER }, 200 },
	{ { .method = "POST", .authorization = BEARER, .origin = "http://evil.example" }, 403 },
	{ { .method = "POST", .authorization = BEARER, .body_len = GUARD_BODY_MAX }, 200 },
	{ { .method = "POST", .authorization = BEARER, .body_len = GUARD_BODY_MAX + 1 }, 413 },
	{ { .authorization = BEARER, .body_len = 1 }, 413 },
	{ { .websocket = true, .cookie = COOKIE }, 403 },
	{ { .websocket = true, .cookie = COOKIE, .origin = "http://localhost:8080" }, 200 },
	{ { .websocket = true, .cookie = COOKIE, .origin = "http://evil.example" }, 403 },
	{ { .websocket = true, .authorization = BEARER }, 200 },
	{ { .websocket = true, .token = TOKEN, .origin = "http://localhost:8080" }, 200 },
	{ { .path = "/a/../b", .cookie = COOKIE }, 400 },
	{ { .path = "b", .cookie = COOKIE }, 400 },
	{ { .host = "evil.example", .cookie = COOKIE }, 421 },
	{ { .host = "evil.example", .token = TOKEN }, 421 },
};

TEST_EACH(request, requests)
{
	struct guard g = guard();

	ck_assert_int_eq(check(&g, requests[_i].request), requests[_i].status);
}

static const struct {
	const char *host;
	bool ours;
} hosts[] = {
	{ "localhost", true }, { "localhost:1", true }, { "LocalHost:65535", true },
	{ "127.0.0.1:80", true }, { "[::1]", true }, { "[::1]:80", true }, { "10.1.2.3:80", true },
	{ "build.example", true }, { "BUILD.example:443", true },
	{ "", false }, { ":80", false }, { "localhost:", false }, { "localhost:65536", false },
	{ "localhost:-1", false }, { "localhost:1x", false }, { "localhost.", false },
	{ "localhost:1:2", false }, { "127.0.0.2", false }, { "127.1", false }, { "::1", false },
	{ "[127.0.0.1]", false }, { "[localhost]", false }, { "[::1", false }, { "[::1]x", false },
	{ "[]", false }, { "x.build.example", false }, { "build.example.evil", false },
	{ "evil@localhost", false }, { "localhost/", false }, { "localhost evil", false },
	{ "0.0.0.0", false }, { "[::2]", false },
};

TEST_EACH(host, hosts)
{
	struct guard g = guard();

	ck_assert_int_eq(check(&g, (struct guard_request){ .host = hosts[_i].host, .cookie = COOKIE }),
			 hosts[_i].ours ? 200 : 421);
}

/* Every method that changes something needs --allow-control. */
TEST(control)
{
	struct guard g = guard();

	g.control = false;
	ck_assert_int_eq(check(&g, (struct guard_request){ .authorization = BEARER }), 200);
	ck_assert_int_eq(check(&g, (struct guard_request){ .authorization = BEARER, .method = "POST" }), 403);
	ck_assert_int_eq(check(&g, (struct guard_request){ .authorization = BEARER, .method = "DELETE" }), 403);
	/* what the server keeps may be forgotten, but not at the request of another site */
	ck_assert_int_eq(check(&g, (struct guard_request){ .authorization = BEARER, .method = "POST",
							    .path = GUARD_REFRESH }), 200);
	ck_assert_int_eq(check(&g, (struct guard_request){ .cookie = COOKIE, .method = "POST",
							    .path = GUARD_REFRESH }), 403);
	ck_assert_int_eq(check(&g, (struct guard_request){ .cookie = COOKIE, .method = "POST",
							    .origin = "http://evil.example", .path = GUARD_REFRESH }), 403);
}

/* The server of a build takes call stacks of it: nothing else that a request changes. */
TEST(stacks)
{
	static const struct { const char *method, *path; int status; } rows[] = {
		{ "POST", GUARD_TASKS, 200 }, { "DELETE", GUARD_TASKS, 403 }, { "POST", GUARD_TASKS "/1", 403 },
		{ "DELETE", GUARD_TASKS "/1", 403 }, { "POST", "/api/v1/inspection/1", 403 }, { "PUT", GUARD_TASKS, 405 },
	};
	struct guard g = guard();

	g.control = false;
	g.stacks = true;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct guard_request q = { .authorization = BEARER, .method = rows[i].method, .path = rows[i].path };

		ck_assert_int_eq(check(&g, q), rows[i].status);
		q.authorization = NULL;
		ck_assert_int_ne(check(&g, q), 200);
		q.cookie = COOKIE;
		q.origin = "http://evil.example";
		ck_assert_int_ne(check(&g, q), 200);
	}
}

TEST(tls)
{
	struct guard g = guard();
	struct guard_request q = { .websocket = true, .cookie = COOKIE, .origin = "http://localhost:8080" };

	g.tls = true;
	ck_assert_int_eq(check(&g, q), 403);
	q.origin = "https://localhost:8080";
	ck_assert_int_eq(check(&g, q), 200);
}

static bool has_token(const char *text, size_t len)
{
	struct guard g = guard();
	char bearer[64];

	snprintf(bearer, sizeof bearer, "Bearer %.*s", (int)len, text);
	return check(&g, (struct guard_request){ .authorization = bearer }) == 200;
}

/* No text but the token is it: every one of its bytes counts, and its length. */
TEST(one_token)
{
	char text[GUARD_TOKEN_LEN + 2] = TOKEN;

	ck_assert(has_token(text, GUARD_TOKEN_LEN));
	for (size_t i = 0; i < GUARD_TOKEN_LEN; i++) {
		for (int bit = 0; bit < 8; bit++) {
			text[i] ^= (char)(1 << bit);
			ck_assert(!has_token(text, GUARD_TOKEN_LEN));
			text[i] ^= (char)(1 << bit);
		}
		ck_assert(!has_token(text, i));
	}
	text[GUARD_TOKEN_LEN] = '0';
	ck_assert(!has_token(text, GUARD_TOKEN_LEN + 1));
}

TEST(new_tokens)
{
	struct guard a = { .tls = false }, b = a;

	for (int i = 0; i < 100; i++) {
		ck_assert(!guard_init(&a) && !guard_init(&b));
		ck_assert_uint_eq(strlen(a.token), GUARD_TOKEN_LEN);
		ck_assert_uint_eq(strspn(a.token, "0123456789abcdef"), GUARD_TOKEN_LEN);
		ck_assert_str_ne(a.token, b.token);
		ck_assert_str_ne(a.cookie, b.cookie);
	}
}

static const struct {
	const char *path;
	bool good;
} paths[] = {
	{ "/", true }, { "/a", true }, { "/a/b.c-d_e~f", true }, { "/.a", true }, { "/a..b", true },
	{ "/a/..b", true }, { "/...", true }, { "", false }, { "a", false }, { "//", false },
	{ "/a//b", false }, { "/.", false }, { "/..", false }, { "/../a", false }, { "/a/./b", false },
	{ "/a/..", false }, { "/a/.", false }, { "/%2e", false }, { "/a\\b", false }, { "/a\tb", false },
	{ "/a\177", false }, { "/\303\244", false },
};

static bool is_path(const char *text)
{
	struct guard g = guard();

	return check(&g, (struct guard_request){ .path = text, .cookie = COOKIE }) == 200;
}

TEST_EACH(path, paths)
{
	ck_assert_int_eq(is_path(paths[_i].path), paths[_i].good);
}

/* A path that is let through stays below "/" for anyone who resolves it. */
TEST(any_path)
{
	static const char piece[] = "/.a%\\\n~\200";
	unsigned state = 17;

	for (int i = 0; i < 200000; i++) {
		char text[12];
		size_t len = (size_t)i % 11;
		int depth = 0;

		for (size_t k = 0; k < len; k++) {
			state = state * 1103515245 + 12345;
			text[k] = piece[(state >> 16) % (sizeof piece - 1)];
		}
		text[len] = '\0';
		if (!is_path(text))
			continue;
		ck_assert(*text == '/' && !strpbrk(text, "%\\\n\200"));
		for (char *p = strtok(text, "/"); p; p = strtok(NULL, "/")) {
			depth += !strcmp(p, "..") ? -1 : 1;
			ck_assert_int_ge(depth, 0);
			ck_assert_str_ne(p, ".");
		}
	}
}

TEST_MAIN(guard);
