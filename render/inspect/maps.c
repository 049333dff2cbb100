/* SPDX-License-Identifier: MIT */
#include "render/inspect/maps.h"

#include "base/array.h"
#include "render/inspect/inspect_parts.h"

#include <inttypes.h>
#include <stdio.h>

/* Columns of the table, in KiB. */
struct column {
	const char *head;
	enum mapping_value value, more;	/* their sum; the same: once */
};

static const struct column columns[] = {
	{ "size", MAPPING_SIZE, MAPPING_SIZE },
	{ "RSS", MAPPING_RSS, MAPPING_RSS },
	{ "PSS", MAPPING_PSS, MAPPING_PSS },
	{ "clean", MAPPING_SHARED_CLEAN, MAPPING_PRIVATE_CLEAN },
	{ "dirty", MAPPING_SHARED_DIRTY, MAPPING_PRIVATE_DIRTY },
	{ "swap", MAPPING_SWAP, MAPPING_SWAP },
};

#define ALONE(head, value) { head, value, value }

static const struct column all_columns[] = {
	ALONE("size", MAPPING_SIZE), ALONE("RSS", MAPPING_RSS), ALONE("PSS", MAPPING_PSS),
	ALONE("sh.clean", MAPPING_SHARED_CLEAN), ALONE("sh.dirty", MAPPING_SHARED_DIRTY),
	ALONE("pr.clean", MAPPING_PRIVATE_CLEAN), ALONE("pr.dirty", MAPPING_PRIVATE_DIRTY),
	ALONE("swap", MAPPING_SWAP),
};

#define ADDRESS_COLUMNS 25
#define OFFSET_COLUMNS 10

static const struct column *columns_of(const struct maps_wish *wish, size_t *n)
{
	*n = wish->all_values ? ARRAY_SIZE(all_columns) : ARRAY_SIZE(columns);
	return wish->all_values ? all_columns : columns;
}

static const char *file_of(const struct maps_wish *wish, const struct mapping *m)
{
	return m->file < wish->names->n ? wish->names->name[m->file].p : "";
}

bool maps_wanted(const struct maps_wish *wish, const struct mapping *m)
{
	if (wish->address_given && (wish->address < m->start || wish->address >= m->end))
		return false;
	return (!wish->file || pattern_fits(wish->file, file_of(wish, m))) &&
	       (!wish->permissions || pattern_fits(wish->permissions, m->permissions));
}

static void add_to(struct mapping *total, const struct mapping *m)
{
	for (int v = 0; v < MAPPING_VALUES; v++)
		total->kb[v] += m->kb[v];
}

static void add_values(struct buf *out, const struct mapping *m, const struct maps_wish *wish)
{
	size_t n;
	const struct column *c = columns_of(wish, &n);

	for (; n--; c++) {
		uint64_t kb = m->kb[c->value];

		if (c->more != c->value)
			kb += m->kb[c->more];
		inspect_bytes(out, (int64_t)(kb * 1024));
	}
}

static void add_row(struct buf *out, const struct mapping *m, const struct maps_wish *wish,
		    const struct style *style)
{
	char range[64];
	size_t start = out->len;

	snprintf(range, sizeof range, "%012" PRIx64 "-%012" PRIx64, m->start, m->end);
	inspect_head(out, range, ADDRESS_COLUMNS);
	inspect_head(out, m->permissions, 4);
	add_values(out, m, wish);
	if (wish->all_values) {
		snprintf(range, sizeof range, "%" PRIx64, m->offset);
		inspect_head(out, m->inode ? range : "", OFFSET_COLUMNS);
	}
	inspect_name(out, style, out->len - start, 0, file_of(wish, m));
}

/* "7f00...: 0x123 into the mapping, 0x2123 into its file" */
static void add_address(struct buf *out, const struct mapping *found, const struct maps_wish *wish)
{
	if (!found) {
		buf_addf(out, "%" PRIx64 " is in no mapping\n", wish->address);
		return;
	}
	buf_addf(out, "%" PRIx64 " is 0x%" PRIx64 " bytes into the mapping", wish->address,
		 wish->address - found->start);
	if (found->inode)
		buf_addf(out, ", 0x%" PRIx64 " bytes into the file",
			 wish->address - found->start + found->offset);
	buf_addc(out, '\n');
}

void maps_text(struct buf *out, const struct snapshot *s, const struct maps_wish *wish,
	       const struct style *style)
{
	size_t n = 0, n_columns;
	const struct column *column = columns_of(wish, &n_columns);
	struct mapping total = { .start = 0 };

	if (wish->address_given)
		add_address(out, snapshot_find(s, wish->address), wish);
	inspect_head(out, "address", ADDRESS_COLUMNS);
	inspect_head(out, "perm", 4);
	for (size_t i = 0; i < n_columns; i++)
		inspect_head(out, column[i].head, INSPECT_BYTES_COLUMNS);
	if (wish->all_values)
		inspect_head(out, "offset", OFFSET_COLUMNS);
	buf_adds(out, "file\n");
	for (size_t i = 0; i < s->n; i++) {
		if (!maps_wanted(wish, &s->mapping[i]))
			continue;
		n++;
		add_to(&total, &s->mapping[i]);
		add_row(out, &s->mapping[i], wish, style);
	}
	inspect_head(out, "total", ADDRESS_COLUMNS);
	text_add_blanks(out, 6);
	add_values(out, &total, wish);
	if (wish->all_values)
		inspect_head(out, "", OFFSET_COLUMNS);
	buf_addf(out, "%zu of %zu mappings\n", n, s->n);
}

static void add_json_values(struct json *j, const struct mapping *m)
{
	char name[40];

	for (int v = 0; v < MAPPING_VALUES; v++) {
		snprintf(name, sizeof name, "%s_kb", mapping_value_words[v]);
		json_int(j, name, (int64_t)m->kb[v]);
	}
}

static void add_json(struct json *j, const struct mapping *m, const struct maps_wish *wish)
{
	char text[40];

	json_object(j, NULL);
	snprintf(text, sizeof text, "0x%" PRIx64, m->start);
	json_str(j, "start", text);
	snprintf(text, sizeof text, "0x%" PRIx64, m->end);
	json_str(j, "end", text);
	json_str(j, "permissions", m->permissions);
	json_str(j, "file", file_of(wish, m));
	json_int(j, "offset_bytes", (int64_t)m->offset);
	json_int(j, "inode", (int64_t)m->inode);
	snprintf(text, sizeof text, "%02x:%02x", m->device_major, m->device_minor);
	json_str(j, "device", text);
	add_json_values(j, m);
	json_object_end(j);
}

void maps_json(struct json *j, const struct snapshot *s, const struct maps_wish *wish)
{
	struct mapping total = { .start = 0 };

	json_array(j, "mappings");
	for (size_t i = 0; i < s->n; i++) {
		if (!maps_wanted(wish, &s->mapping[i]))
			continue;
		add_to(&total, &s->mapping[i]);
		add_json(j, &s->mapping[i], wish);
	}
	json_array_end(j);
	json_object(j, "total");
	add_json_values(j, &total);
	json_object_end(j);
}
