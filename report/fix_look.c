/* SPDX-License-Identifier: MIT */
#include "report/fix_look.h"

#include "base/error.h"
#include "report/source_log.h"

#include <stdlib.h>
#include <string.h>

struct look {
	struct source_log *tree;	/* of `source`, or NULL */
	char *source;
	struct source_log *here;	/* of the working directory, or NULL */
};

static struct source_log *open_tree(struct look *l, const char *source)
{
	struct error unused;

	if (l->source && !strcmp(l->source, source))
		return l->tree;
	source_log_close(l->tree);
	free(l->source);
	l->tree = NULL;
	l->source = strdup(source);
	if (source_log_open(&l->tree, source, &unused))
		l->tree = NULL;
	return l->tree;
}

static bool has(void *context, const struct revision *revision, const char *commit)
{
	struct look *l = context;
	struct source_log *tree = open_tree(l, revision->source);

	return (tree && source_log_follows(tree, commit, revision->commit)) ||
	       (l->here && source_log_follows(l->here, commit, revision->commit));
}

static bool is_needed(const struct known_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		if (list->known[i].fixed_by)
			return true;
	}
	return false;
}

void fix_look(struct known_list *list, const struct builds *builds, const struct rules *rules)
{
	struct look l = { 0 };
	struct error unused;

	if (!is_needed(list))
		return;
	if (source_log_open(&l.here, ".", &unused))
		l.here = NULL;
	fixed_by_find(list, builds, rules, &(struct fixed_by_history){ has, &l });
	source_log_close(l.tree);
	source_log_close(l.here);
	free(l.source);
}
