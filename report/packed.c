/* SPDX-License-Identifier: MIT */
#include "report/packed.h"


void packed_init(struct packed *p)
{
	*p = (struct packed){ .r = 0 };
	json_init(&p->head, &p->head_text, true);
	json_object(&p->head, NULL);
}

void packed_columns(struct packed *p)
{
	json_array(&p->head, "numbers");
}

void packed_column(struct packed *p, struct pack_column *c, const char *name, double unit)
{
	size_t n;

	pack_column_flush(c);
	n = c->any ? c->n : 0;
	json_array(&p->head, NULL);
	json_str(&p->head, NULL, name);
	json_strn(&p->head, NULL, &c->type, 1);
	json_int(&p->head, NULL, (int64_t)n);
	json_real(&p->head, NULL, unit, 0);
	json_array_end(&p->head);
	if (!p->r)
		p->r = buf_error(&c->out);
	if (n)
		buf_add(&p->numbers, c->out.data, c->out.len);
	pack_column_release(c);
}

double packed_unit(int64_t most, int base)
{
	double unit = 1;

	while ((double)most / unit >= 2147483000.0)
		unit *= base;
	return unit;
}

void packed_texts(struct packed *p, const char *name, struct buf *texts)
{
	p->text[p->n_texts].name = name;
	p->text[p->n_texts++].bytes = texts->len;
	buf_add(&p->texts, texts->data, texts->len);
	if (!p->r)
		p->r = buf_error(texts);
	buf_release(texts);
}

static int write_data(struct packed *p, struct markup *h)
{
	struct buf deflated = BUF_INIT;
	int r = p->r ? p->r : buf_error(&p->texts);

	if (!r)
		r = pack_deflate(&deflated, p->texts.data, p->texts.len);
	json_array_end(&p->head);
	json_array(&p->head, "texts");
	for (unsigned i = 0; i < p->n_texts; i++) {
		json_array(&p->head, NULL);
		json_str(&p->head, NULL, p->text[i].name);
		json_int(&p->head, NULL, (int64_t)p->text[i].bytes);
		json_array_end(&p->head);
	}
	json_array_end(&p->head);
	json_array(&p->head, "packed");
	json_int(&p->head, NULL, (int64_t)p->numbers.len);
	json_int(&p->head, NULL, (int64_t)deflated.len);
	json_array_end(&p->head);
	json_object_end(&p->head);
	buf_add(&p->numbers, deflated.data, deflated.len);
	buf_release(&deflated);
	if (!r)
		r = buf_error(&p->numbers);
	if (!r)
		r = buf_error(&p->head_text);
	if (r)
		return r;
	buf_add(markup_content(h), p->head_text.data, p->head_text.len);
	if (p->head_text.data[p->head_text.len - 1] != '\n')
		buf_addc(h->out, '\n');
	return pack_characters(h->out, p->numbers.data, p->numbers.len);
}

int packed_write(struct packed *p, struct markup *h, const char *id)
{
	int r;

	markup_begin(h, "script");
	markup_attr(h, "type", "application/x-buildbeat");
	markup_attr(h, "id", id);
	r = write_data(p, h);
	markup_end(h);
	buf_release(&p->head_text);
	buf_release(&p->numbers);
	buf_release(&p->texts);
	return r;
}
