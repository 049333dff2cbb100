/* SPDX-License-Identifier: MIT */
/* Headers by lines "x: VALUE", whose x says which; then a query. */
#include "live/guard.h"
#include "live/query.h"
#include "tests/fuzz.h"

#include <string.h>

#define TOKEN "0123456789abcdef0123456789abcdef"

static void take(struct guard_request *q, char *line)
{
	const char **field[128] = {
		['m'] = &q->method, ['p'] = &q->path, ['h'] = &q->host, ['o'] = &q->origin,
		['c'] = &q->cookie, ['a'] = &q->authorization, ['t'] = &q->token,
	};

	if (*line > 0 && field[(int)*line])
		*field[(int)*line] = line + 1;
	if (*line == 'w')
		q->websocket = true;
}

static void check_query(const char *text, size_t len)
{
	struct query *q = malloc(sizeof *q);
	size_t n = 0;

	check(q);
	if (!query_parse(q, text, len)) {
		check(q->n <= QUERY_MAX);
		for (size_t i = 0; i < q->n; i++) {
			check(query_text(q, q->key[i]) == q->value[i]);
			n += strlen(q->key[i]) + strlen(q->value[i]);
		}
		check(n <= len);
	}
	free(q);
}

FUZZ_TARGET(request)
{
	static const char *const names[] = { "build.example" };
	const struct guard g = { .token = TOKEN, .cookie = "buildbeat-12345678", .control = true,
				 .n_names = 1, .name = names };
	struct guard_request q = { .method = "GET", .path = "/" };
	char *text = malloc(size + 1), *at = text;

	check(text);
	memcpy(text, data, size);
	text[size] = '\0';
	for (char *line; (line = strsep(&at, "\n"));)
		take(&q, line);
	if (guard_check(&g, &q).kind != GUARD_REFUSED) {
		/* who does not have the token gets nothing, nor who asks for another host */
		check(q.host && memmem(data, size, TOKEN, strlen(TOKEN)));
		check(strcasestr(q.host, "localhost") || strstr(q.host, "127.0.0.1") ||
		      strstr(q.host, "::1") || strcasestr(q.host, "build.example"));
		check(*q.path == '/' && !strstr(q.path, "/../"));
	}
	check_query((const char *)data, size);
	free(text);
	return 0;
}
