/* SPDX-License-Identifier: MIT */
/* The parameters of a request: any bytes. */
#include "live/query.h"
#include "tests/fuzz.h"

#include <string.h>

FUZZ_TARGET(query)
{
	struct error err;
	struct query q;
	int64_t n;

	if (query_parse(&q, (const char *)data, size))
		return 0;
	check(q.n <= QUERY_MAX);
	for (size_t i = 0; i < q.n; i++) {
		check(q.key[i] >= q.text && q.value[i] < q.text + sizeof q.text);
		check(strlen(q.key[i]) + strlen(q.value[i]) <= size);
		check(query_text(&q, q.key[i]) == q.value[i]);
		check(query_number(&q, q.key[i], 1, 9, 5, &n, &err) || (n >= 1 && n <= 9));
		query_flag(&q, q.key[i]);
	}
	return 0;
}
