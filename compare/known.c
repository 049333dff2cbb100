/* SPDX-License-Identifier: MIT */
#include "compare/known.h"

#include "compare/history.h"

#include <string.h>

bool known_fits(const struct known *k, const struct builds *builds, uint32_t task, enum metric m)
{
	if (!(k->metrics & METRIC_BIT(m)))
		return false;
	return task == TASK_HOST ? !strcmp(k->pattern, "*") :
	       builds_task_fits(builds, task, k->pattern);
}

bool known_is_url(const char *text)
{
	const char *host = !strncmp(text, "http://", 7) ? text + 7 :
			   !strncmp(text, "https://", 8) ? text + 8 : "";

	for (const char *p = host; *p; p++) {
		if ((unsigned char)*p <= ' ' || *p == 0x7f || strchr("\"<>\\^`{|}", *p))
			return false;
	}
	return *host && *host != '/';
}

const struct known *known_find(const struct known_list *list, enum known_kind kind,
			       const struct builds *builds, uint32_t task, enum metric m,
			       uint32_t first, uint32_t last)
{
	for (size_t i = list ? list->n : 0; i-- > 0; ) {
		const struct known *k = &list->known[i];

		if (k->kind == kind && !k->overdue && k->build >= first && k->build <= last &&
		    known_fits(k, builds, task, m))
			return k;
	}
	return NULL;
}
