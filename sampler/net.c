/* SPDX-License-Identifier: MIT */
#include "sampler/parse.h"
#include "sampler/source_proc.h"

#include <errno.h>
#include <stdio.h>

#define INTERFACES_MAX 64
#define LINES_MAX 2048

static const struct table_column columns[NET_COLUMNS] = {
	[NET_RX] = { "rx", "1KiB", true, 1, 1024 },
	[NET_TX] = { "tx", "1KiB", true, 1, 1024 },
};

enum choice { HARDWARE, BY_NAME, EVERY };

struct net_source {
	struct sampler_source source;
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

static bool net_read(struct sampler_source *source, struct root_text *text)
{
	return !root_file_read(&source->file, text) &&
	       parse_net_dev(text, &source->roster, &source->table);
}

static bool any_counts(const struct roster *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->entry[i].counted)
			return true;
	return false;
}

/* In a container no interface has hardware behind it: then names decide. */
static int learn_interfaces(struct net_source *s, struct root_text *text)
{
	struct roster *roster = &s->source.roster;
	int r = roster_init(roster, LINES_MAX, interface_counts, s);

	if (!r)
		r = root_file_read(&s->source.file, text);
	if (r)
		return r;
	if (!parse_net_dev(text, roster, NULL))
		return -ENODATA;
	if (s->choice != HARDWARE || any_counts(roster))
		return 0;
	s->choice = BY_NAME;
	roster->n = 0;
	parse_net_dev(text, roster, NULL);
	return 0;
}

__attribute__((cold)) int net_open(struct sampler_source **out, const struct source_setup *setup)
{
	struct net_source *s = source_new(out, sizeof *s, net_read, NULL);
	int r;

	if (!s)
		return -ENOMEM;
	s->sys_fd = setup->root.sys_fd;
	s->choice = setup->all_interfaces ? EVERY : HARDWARE;
	r = root_file_open(&s->source.file, setup->root.proc_fd, "net/dev", ROOT_RECORDS);
	if (!r)
		r = learn_interfaces(s, setup->text);
	if (!r)
		r = source_table(*out, setup, "proc_net", columns, NET_COLUMNS, INTERFACES_MAX);
	if (!r)
		roster_place(&s->source.roster, &s->source.table);
	return r;
}
