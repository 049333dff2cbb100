/* SPDX-License-Identifier: MIT */
#include "write/doc_writer.h"

/* Programs read values, not texts. */
static void heading(struct doc *d, const char *title)
{
	(void)d;
	(void)title;
}

static void lead(struct doc *d, enum tone tone, const char *strong, const char *rest)
{
	(void)d;
	(void)tone;
	(void)strong;
	(void)rest;
}

static void table(struct doc *d)
{
	json_array(d->json, d->table->key);
}

static void value(struct json *j, const struct doc_column *c, const struct doc_cell *cell)
{
	switch (c->type) {
	case DOC_STRING:
		if (cell->null)
			json_null(j, c->key);
		else
			json_strn(j, c->key, cell->text.data ? cell->text.data : "", cell->text.len);
		break;
	case DOC_REAL: case DOC_PERCENT:
		json_real(j, c->key, cell->number, 1);
		break;
	default:
		json_known(j, c->key, cell->n);
	}
}

static void row(struct doc *d)
{
	json_object(d->json, NULL);
	for (size_t i = 0; i < d->table->n_columns; i++) {
		if (d->table->column[i].key && doc_has(d, i))
			value(d->json, &d->table->column[i], &d->cell[i]);
	}
	json_object_end(d->json);
}

static void table_end(struct doc *d, size_t more)
{
	(void)more;
	json_array_end(d->json);
}

const struct doc_writer doc_json = {
	.heading = heading, .lead = lead, .line = heading, .table = table, .row = row, .table_end = table_end,
};
