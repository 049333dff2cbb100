/* SPDX-License-Identifier: MIT */
#include "report/fix_look.h"

#include "base/error.h"
#include "report/source_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct look {
	struct source_log *tree;	/* of `source`, or NULL */
	char *source;
	struct source_log *here;	/* of the working directory, or NULL */
	int error;
};

static void open_log(struct look *l, struct source_log **log, const char *dir)
{
	struct error unused;
	int r = source_log_open(log, dir, &unused);

	if (r)
		*log = NULL;
	if (r == -ENOMEM)
		l->error = r;
}

static struct source_log *open_tree(struct look *l, const char *source)
{
	if (l->source && !strcmp(l->source, source))
		return l->tree;
	source_log_close(l->tree);
	free(l->source);
	l->tree = NULL;
	l->source = strdup(source);
	if (!l->source)
		l->error = -ENOMEM;
	open_log(l, &l->tree, source);
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

int fix_look(struct known_list *list, const struct builds *builds, const struct rules *rules)
{
	struct look l = { 0 };

	if (!is_needed(list))
		return 0;
	open_log(&l, &l.here, ".");
	fixed_by_find(list, builds, rules, &(struct fixed_by_history){ has, &l });
	source_log_close(l.tree);
	source_log_close(l.here);
	free(l.source);
	return l.error;
}
