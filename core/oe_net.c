#include "oe_reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INTERFACES_MAX 64
#define NAME_MAX_BYTES 40

/* Bytes received and sent since the machine began, of every interface. */
struct interface {
	char name[NAME_MAX_BYTES];
	bool seen;
	int64_t raw[2], level[2];
};

struct net {
	struct oe_blocks *b;
	size_t n;
	struct interface interface[INTERFACES_MAX];
	unsigned left_out;	/* lines */
};

static bool begins(struct slice s, const char *with)
{
	size_t n = strlen(with);

	return s.len >= n && !memcmp(s.p, with, n);
}

/*
 * Names are all there is to tell which interfaces lead to others of the machine and
 * would count twice: bridges, pairs, tunnels, networks upon networks.
 */
static bool is_virtual(struct slice name)
{
	static const char *const starts[] = {
		"ifb", "veth", "docker", "br-", "virbr", "vnet", "tap", "tun", "dummy", "sit",
		"gre", "ip6tnl", "vxlan", "bond", "team", "cni", "flannel", "podman", "lxc",
	};

	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
		if (begins(name, starts[i]))
			return true;
	}
	return memchr(name.p, '.', name.len);
}

/* "eth0: received sent ..." */
static bool parse(struct slice line, struct slice *name, int64_t raw[2])
{
	const char *colon = memrchr(line.p, ':', line.len);
	struct cursor c;

	if (!colon || colon == line.p)
		return false;
	*name = (struct slice){ line.p, (size_t)(colon - line.p) };
	cursor_init(&c, colon + 1, line.len - name->len - 1);
	for (int i = 0; i < 2; i++) {
		cursor_blanks(&c);
		if (!cursor_i64(&c, &raw[i]) || raw[i] < 0)
			return false;
	}
	return name->len < NAME_MAX_BYTES && !memchr(name->p, '\0', name->len);
}

static struct interface *find(struct net *net, struct slice name)
{
	for (size_t i = 0; i < net->n; i++) {
		if (slice_is(name, net->interface[i].name))
			return &net->interface[i];
	}
	return NULL;
}

static void collect(struct net *net, bool all)
{
	struct slice line, name;
	int64_t raw[2];

	oe_rewind(net->b);
	while (oe_block(net->b)) {
		while (oe_block_line(net->b, &line)) {
			if (!parse(line, &name, raw) || slice_is(name, "lo") ||
			    (!all && is_virtual(name)) || find(net, name))
				continue;
			if (net->n < INTERFACES_MAX)
				memcpy(net->interface[net->n++].name, name.p, name.len);
			else
				net->left_out++;
		}
	}
	oe_rewind(net->b);
}

static int make_columns(struct net *net)
{
	char name[2 * INTERFACES_MAX][SERIES_NAME_MAX];
	struct oe_column column[2 * INTERFACES_MAX];

	for (size_t i = 0; i < 2 * net->n; i++) {
		snprintf(name[i], sizeof name[i], "%s.%s", net->interface[i / 2].name,
			 i % 2 ? "tx" : "rx");
		column[i] = (struct oe_column){ name[i], "1B", true };
	}
	return oe_columns(net->b, column, 2 * net->n);
}

/* A counter that is less than it was began anew. */
static void count(struct interface *f, const int64_t raw[2])
{
	for (int i = 0; i < 2; i++) {
		if (f->raw[i] >= 0)
			f->level[i] = reader_plus(f->level[i], raw[i] >= f->raw[i] ?
						  raw[i] - f->raw[i] : raw[i]);
		f->raw[i] = raw[i];
	}
	f->seen = true;
}

static void read_block(struct net *net)
{
	struct interface *f;
	struct slice line, name;
	int64_t raw[2];

	for (size_t i = 0; i < net->n; i++)
		net->interface[i].seen = false;
	while (oe_block_line(net->b, &line)) {
		if (!parse(line, &name, raw))
			damage_add(&net->b->damage, net->b->feed.line);
		else if ((f = find(net, name)))
			count(f, raw);
	}
}

static int add_row(struct net *net)
{
	int64_t *row = oe_add_row(net->b, net->b->time_ms);

	if (!row)
		return -ENOMEM;
	for (size_t i = 0; i < 2 * net->n; i++) {
		const struct interface *f = &net->interface[i / 2];

		row[i] = f->seen ? f->level[i % 2] : SERIES_ABSENT;
	}
	return 0;
}

static int read_all(struct net *net)
{
	for (size_t i = 0; i < net->n; i++)
		net->interface[i].raw[0] = net->interface[i].raw[1] = -1;
	if (make_columns(net))
		return -ENOMEM;
	while (oe_block(net->b)) {
		read_block(net);
		if (net->b->whole && oe_block_is_next(net->b) && add_row(net))
			return -ENOMEM;
	}
	return 0;
}

int oe_net(struct oe_blocks *b)
{
	struct net *net = calloc(1, sizeof *net);
	int error;

	if (!net)
		return -ENOMEM;
	net->b = b;
	collect(net, false);
	if (!net->n)
		collect(net, true);
	error = net->n ? read_all(net) : 0;
	if (!error && net->left_out)
		error = reader_warn(b->o->r, "more than %d network interfaces, the others left out",
				    INTERFACES_MAX);
	free(net);
	return error;
}
