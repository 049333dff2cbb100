/* SPDX-License-Identifier: MIT */
#include "inspect/smaps.h"

#include "base/array.h"
#include "base/hex.h"
#include "base/minmax.h"

#include <errno.h>
#include <string.h>

/* A larger one does not fit into 64 bits as bytes. */
#define KB_MAX (UINT64_MAX / 1024)

/* The keys that are kept, in the order in which the kernel writes them. Memory in huge pages has
 * a key for each kind of mapping. */
static const struct key {
	const char *word;
	uint8_t len, value;
} keys[] = {
#define KEY(word, value) { word, sizeof word - 1, value }
	KEY("Size:", MAPPING_SIZE), KEY("Rss:", MAPPING_RSS), KEY("Pss:", MAPPING_PSS),
	KEY("Shared_Clean:", MAPPING_SHARED_CLEAN), KEY("Shared_Dirty:", MAPPING_SHARED_DIRTY),
	KEY("Private_Clean:", MAPPING_PRIVATE_CLEAN), KEY("Private_Dirty:", MAPPING_PRIVATE_DIRTY),
	KEY("Anonymous:", MAPPING_ANONYMOUS), KEY("AnonHugePages:", MAPPING_HUGE),
	KEY("ShmemPmdMapped:", MAPPING_HUGE), KEY("FilePmdMapped:", MAPPING_HUGE),
	KEY("Shared_Hugetlb:", MAPPING_HUGE), KEY("Private_Hugetlb:", MAPPING_HUGE),
	KEY("Swap:", MAPPING_SWAP),
};

void smaps_init(struct smaps *p, struct snapshot *s, struct name_table *names)
{
	*p = (struct smaps){ .s = s, .names = names };
}

/* The line of a mapping: START-END PERMISSIONS OFFSET MAJOR:MINOR INODE FILE */

static bool take_head(struct cursor *c, struct mapping *m)
{
	struct slice permissions;

	*m = (struct mapping){ .start = 0 };
	if (!hex_u64(c, &m->start) || !cursor_byte(c, '-') || !hex_u64(c, &m->end) ||
	    m->end <= m->start || !cursor_byte(c, ' ') ||
	    !cursor_word(c, &permissions, sizeof m->permissions) ||
	    permissions.len != sizeof m->permissions - 1)
		return false;
	memcpy(m->permissions, permissions.p, permissions.len);
	if (!cursor_byte(c, ' ') || !hex_u64(c, &m->offset) || !cursor_byte(c, ' ') ||
	    !hex_u32(c, &m->device_major) || !cursor_byte(c, ':') ||
	    !hex_u32(c, &m->device_minor) || !cursor_byte(c, ' ') ||
	    !cursor_u64(c, &m->inode))
		return false;
	m->kb[MAPPING_SIZE] = (m->end - m->start) / 1024;
	return cursor_at_end(c) || *c->p == ' ';
}

/* Most mappings have the file of the one before. */
static int take_file(struct smaps *p, struct slice file, uint32_t *number)
{
	int r;

	if (!p->in_mapping || !slice_equal(file, p->last_file)) {
		r = name_table_add(p->names, file, &p->last_number);
		if (r)
			return r;
		p->last_file = p->names->name[p->last_number];
	}
	*number = p->last_number;
	return 0;
}

/* Between two reads the kernel may have joined mappings, of which it had listed some. */
static void replace(struct snapshot *s, uint64_t start)
{
	struct mapping *last;

	while (s->n && s->mapping[s->n - 1].start >= start)
		s->n--;
	last = s->n ? &s->mapping[s->n - 1] : NULL;
	if (last && last->end > start) {
		last->end = start;
		last->kb[MAPPING_SIZE] = (last->end - last->start) / 1024;
	}
}

static int take_mapping(struct smaps *p, struct cursor *c)
{
	struct mapping m, *new;
	int r;

	if (!take_head(c, &m))
		return -EINVAL;
	cursor_blanks(c);
	r = take_file(p, (struct slice){ c->p, (size_t)(c->end - c->p) }, &m.file);
	if (r)
		return r;
	replace(p->s, m.start);
	new = array_add(&p->s->mapping, &p->s->n, sizeof m);
	if (!new)
		return -ENOMEM;
	*new = m;
	p->expected = 0;
	p->in_mapping = true;
	return 0;
}

/* The line of a value */

static bool is_key(const struct key *k, const struct cursor *c)
{
	return (size_t)(c->end - c->p) >= k->len && !memcmp(c->p, k->word, k->len);
}

static const struct key *find_key(const struct smaps *p, const struct cursor *c)
{
	if (p->expected < ARRAY_SIZE(keys) && is_key(&keys[p->expected], c))
		return &keys[p->expected];
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (is_key(&keys[i], c))
			return &keys[i];
	}
	return NULL;
}

static int take_value(struct smaps *p, struct cursor *c)
{
	const struct key *k = find_key(p, c);
	uint64_t *sum, n;

	if (!p->in_mapping)
		return -EINVAL;
	if (!k)
		return memchr(c->p, ':', (size_t)(c->end - c->p)) ? 0 : -EINVAL;
	p->expected = (size_t)(k - keys) + 1;
	c->p += k->len;
	cursor_blanks(c);
	if (!cursor_u64(c, &n) || n > KB_MAX)
		return -EINVAL;
	sum = &p->s->mapping[p->s->n - 1].kb[k->value];
	if (k->value != MAPPING_HUGE)
		*sum = n;
	else
		*sum = MIN(*sum + n, KB_MAX);
	return 0;
}

int smaps_parse(struct smaps *p, const char *text, size_t len, size_t *used)
{
	const char *at = text, *end = text + len, *newline;
	int r = 0;

	while (!r && at < end && (newline = memchr(at, '\n', (size_t)(end - at)))) {
		struct cursor c;

		p->lines++;
		cursor_init(&c, at, (size_t)(newline - at));
		/* keys begin with a capital letter, addresses with a digit or a small one */
		if ((*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'f'))
			r = take_mapping(p, &c);
		else
			r = take_value(p, &c);
		at = newline + 1;
	}
	*used = (size_t)(at - text);
	return r;
}
