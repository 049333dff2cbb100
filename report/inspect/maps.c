/* SPDX-License-Identifier: MIT */
#include "report/inspect/maps.h"

#include "report/inspect/inspect_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* The columns of values: their sums; the same value: once. */
static const struct sum {
	const char *head;
	enum mapping_value value, more;
} sums[] = {
	{ "size", MAPPING_SIZE, MAPPING_SIZE }, { "RSS", MAPPING_RSS, MAPPING_RSS },
	{ "PSS", MAPPING_PSS, MAPPING_PSS },
	{ "clean", MAPPING_SHARED_CLEAN, MAPPING_PRIVATE_CLEAN },
	{ "dirty", MAPPING_SHARED_DIRTY, MAPPING_PRIVATE_DIRTY }, { "swap", MAPPING_SWAP, MAPPING_SWAP },
};

#define ALONE(head, value) { head, value, value }

static const struct sum all_sums[] = {
	ALONE("size", MAPPING_SIZE), ALONE("RSS", MAPPING_RSS), ALONE("PSS", MAPPING_PSS),
	ALONE("sh.clean", MAPPING_SHARED_CLEAN), ALONE("sh.dirty", MAPPING_SHARED_DIRTY),
	ALONE("pr.clean", MAPPING_PRIVATE_CLEAN), ALONE("pr.dirty", MAPPING_PRIVATE_DIRTY),
	ALONE("swap", MAPPING_SWAP),
};

static const struct sum *sums_of(const struct maps_wish *wish, size_t *n)
{
	*n = wish->all_values ? ARRAY_SIZE(all_sums) : ARRAY_SIZE(sums);
	return wish->all_values ? all_sums : sums;
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

static void add_values(struct doc *d, const struct mapping *m, const struct maps_wish *wish)
{
	size_t n;
	const struct sum *c = sums_of(wish, &n);

	for (; n--; c++)
		doc_num(d, (int64_t)(m->kb[c->value] + (c->more == c->value ? 0 : m->kb[c->more])));
}

static void add_row(struct doc *d, const struct mapping *m, const struct maps_wish *wish)
{
	struct buf *offset;

	doc_row(d);
	buf_addf(doc_text(d, NAN), "%012" PRIx64 "-%012" PRIx64, m->start, m->end);
	doc_str(d, m->permissions);
	add_values(d, m, wish);
	offset = doc_text(d, NAN);
	if (m->inode)
		buf_addf(offset, "%" PRIx64, m->offset);
	doc_str(d, file_of(wish, m));
}

/* "7f00...: 0x123 into the mapping, 0x2123 into its file" */
static void add_address(struct buf *out, const struct mapping *found, const struct maps_wish *wish)
{
	if (!found) {
		buf_addf(out, "%" PRIx64 " is in no mapping", wish->address);
		return;
	}
	buf_addf(out, "%" PRIx64 " is 0x%" PRIx64 " bytes into the mapping", wish->address,
		 wish->address - found->start);
	if (found->inode)
		buf_addf(out, ", 0x%" PRIx64 " bytes into the file",
			 wish->address - found->start + found->offset);
}

static void add_rows(struct doc *d, const struct snapshot *s, const struct maps_wish *wish)
{
	struct mapping total = { .start = 0 };
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		if (!maps_wanted(wish, &s->mapping[i]))
			continue;
		n++;
		add_to(&total, &s->mapping[i]);
		add_row(d, &s->mapping[i], wish);
	}
	doc_row(d);
	doc_str(d, "total");
	doc_str(d, "");
	add_values(d, &total, wish);
	doc_str(d, "");
	buf_addf(doc_text(d, NAN), "%zu of %zu mappings", n, s->n);
	doc_whole(d);
}

void maps_table(struct doc *d, const struct snapshot *s, const struct maps_wish *wish)
{
	size_t n = 0, n_sums;
	const struct sum *sum = sums_of(wish, &n_sums);
	struct doc_column column[ARRAY_SIZE(all_sums) + 4];
	struct doc_table table = {
		.column = column, .heads = true, .empty = true, .least = 12,
	};

	if (wish->address_given)
		add_address(doc_item(d, 0), snapshot_find(s, wish->address), wish);
	column[n++] = (struct doc_column){ "address", .right = true, .width = 25 };
	column[n++] = (struct doc_column){ "perm", .right = true, .gap = 2, .width = 4 };
	for (size_t i = 0; i < n_sums; i++)
		column[n++] = (struct doc_column){ sum[i].head, .type = DOC_KB, .gap = 2, .width = 8 };
	column[n++] = (struct doc_column){ "offset", .in = wish->all_values ? 0 : DOC_JSON,
					   .right = true, .gap = 2, .width = 10 };
	column[n++] = (struct doc_column)INSPECT_NAME("file");
	table.n_columns = n;
	doc_table(d, &table);
	add_rows(d, s, wish);
	doc_table_end(d, 0);
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
