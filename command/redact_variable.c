/* SPDX-License-Identifier: MIT */
#include "command/redact.h"

#include <string.h>

/* In an environment the value of a variable ends with it, whatever is in it; in a command, a value
 * ends at a blank. */
void redact_variable(struct buf *out, const char *text, size_t len)
{
	const char *sign = memchr(text, '=', len);
	struct slice part[REDACT_PARTS_MAX];
	size_t n, start = out->len, head = sign ? (size_t)(sign - text) + 1 : len;

	n = redact_split(part, text, len, false);
	for (size_t i = 0; i < n; i++)
		buf_add(out, part[i].p, part[i].len);
	if (!buf_error(out) && out->len >= start + head + strlen(REDACT_MARK) &&
	    !memcmp(out->data + start + head, REDACT_MARK, strlen(REDACT_MARK)) &&
	    (len - head < strlen(REDACT_MARK) || memcmp(text + head, REDACT_MARK, strlen(REDACT_MARK))))
		buf_cut(out, start + head + strlen(REDACT_MARK));
}
