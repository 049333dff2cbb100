/* SPDX-License-Identifier: MIT */
#include "sampler/parse.h"
#include "sampler/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define INTERFACES_MAX 64
#define LINES_MAX 2048

static const struct table_column columns[NET_COLUMNS] = {
	[NET_RX] = { "rx", "1KiB", true, 1, 1024 },
	[NET_TX] = { "tx", "1KiB", true, 1, 1024 },
};

enum choice { HARDWARE, BY_NAME, EVERY };

struct net_source {
	struct source source;
	struct root_file file;
	struct roster roster;
	int sys_fd;		/* borrowed */
	enum choice choice;
};

static bool interface_counts(void *ctx, struct slice name)
{
	const struct net_source *s = ctx;
	char path[GROUP_NAME_MAX + 32];

	if (s->choice == EVERY)
		return true;
	if (s->choice == BY_NAME)
		return !parse_net_is_virtual(name);
	snprintf(path, sizeof path, "class/net/%.*s/device", (int)name.len, name.p);
	return root_has(s->sys_fd, path);
}

static bool net_read(struct source *source, struct root_text *text)
{
	struct net_source *s = (struct net_source *)source;

	return !root_file_read(&s->file, text) &&
	       parse_net_dev(text, &s->roster, &source->table);
}

static void net_release(struct source *source)
{
	struct net_source *s = (struct net_source *)source;

	root_file_close(&s->file);
	roster_release(&s->roster);
	free(s);
}

static bool any_counts(const struct roster *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->entry[i].counted)
			return true;
	return false;
}

/* Where no interface has hardware behind it (a container), names decide. */
static int learn_interfaces(struct net_source *s, struct root_text *text)
{
	int r = roster_init(&s->roster, LINES_MAX, interface_counts, s);

	if (!r)
		r = root_file_read(&s->file, text);
	if (r)
		return r;
	if (!parse_net_dev(text, &s->roster, NULL))
		return -ENODATA;
	if (s->choice != HARDWARE || any_counts(&s->roster))
		return 0;
	s->choice = BY_NAME;
	s->roster.n = 0;
	parse_net_dev(text, &s->roster, NULL);
	return 0;
}

__attribute__((cold)) int net_open(struct source **out, const struct setup *setup)
{
	struct net_source *s = calloc(1, sizeof *s);
	int r;

	if (!s)
		return -ENOMEM;
	s->source = (struct source){ .read = net_read, .release = net_release };
	s->sys_fd = setup->root.sys_fd;
	s->choice = setup->all_interfaces ? EVERY : HARDWARE;
	r = root_file_open(&s->file, setup->root.proc_fd, "net/dev", ROOT_RECORDS);
	if (!r)
		r = learn_interfaces(s, setup->text);
	if (!r)
		r = table_open(&s->source.table, setup->dir_fd, "proc_net",
			       setup->interval_ms, columns, NET_COLUMNS, INTERFACES_MAX);
	if (r) {
		net_release(&s->source);
		return r;
	}
	roster_place(&s->roster, &s->source.table);
	*out = &s->source;
	return 0;
}
