/* SPDX-License-Identifier: MIT */
#include "live/parameters.h"

#include <errno.h>
#include <string.h>

int parameter_word(const struct query *q, const char *key, const char *const *word, int otherwise,
		   int *out, struct error *err)
{
	const char *text = query_text(q, key);

	*out = otherwise;
	if (!text)
		return 0;
	for (int i = 0; word[i]; i++) {
		if (!strcmp(word[i], text)) {
			*out = i;
			return 0;
		}
	}
	return error_say(err, -EINVAL, "parameter '%s': unknown word '%.100s'", key, text);
}

int parameter_needed(const struct query *q, const char *key, const char **text, struct error *err)
{
	*text = query_text(q, key);
	return *text && **text ? 0 :
	       error_say(err, -EINVAL, "parameter '%s' is missing", key);
}
