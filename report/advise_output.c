/* SPDX-License-Identifier: MIT */
#include "report/advise_output.h"

#include "analyse/names.h"
#include "base/json.h"

#include <ctype.h>

/* "-3.2 s of 12.0 s (8.1 s to 9.8 s)" */
static void add_gain(struct buf *b, const struct advice *i, const struct rerun *r)
{
	buf_adds(b, "about ");
	text_add_time(b, i->wall_us);
	buf_adds(b, " instead of ");
	text_add_time(b, r->s->wall_us);
	buf_adds(b, " (");
	text_add_time(b, i->low_us);
	buf_adds(b, " to ");
	text_add_time(b, i->high_us);
	buf_adds(b, "): ");
}

int advise_doc(struct doc *d, const struct advise *a, const struct rerun *r)
{
	if (!a->whole)
		buf_adds(doc_sentence(d), "The build did not end well: what it would have run is unknown.");
	else if (!a->n)
		buf_adds(doc_sentence(d), "Nothing was found that would make this build much faster.");
	for (size_t i = 0; i < a->n; i++) {
		const struct advice *item = &a->item[i];
		struct buf *b = doc_sentence(d);

		buf_addf(b, "%zu. ", i + 1);
		buf_addc(b, (char)toupper((unsigned char)item->text[0]));
		buf_addf(b, "%s.", item->text + 1);
		b = doc_item(d, 3);
		add_gain(b, item, r);
		buf_addf(b, "buildbeat whatif %s", item->whatif);
		doc_line_tone(d, TONE_FAINT);
	}
	doc_flush(d);
	return buf_error(d->out);
}

int advise_json(struct buf *out, const struct advise *a, const struct rerun *r)
{
	struct json j;

	json_init(&j, out, false);
	json_object(&j, NULL);
	json_str(&j, "format", "buildbeat advise 1");
	json_str(&j, "recording", r->s->rec->path);
	json_int(&j, "wall_us", r->s->wall_us);
	json_bool(&j, "whole", a->whole);
	json_array(&j, "advice");
	for (size_t i = 0; i < a->n; i++) {
		const struct advice *item = &a->item[i];
		struct buf name = BUF_PART_OF(out);

		json_object(&j, NULL);
		json_str(&j, "about", advise_word[item->about]);
		json_str(&j, "text", item->text);
		json_str(&j, "whatif", item->whatif);
		if (item->task != NO_INDEX)
			name_add_task(&name, r->s->rec, &r->s->rec->task[item->task]);
		json_str(&j, "task", item->task == NO_INDEX ? NULL : buf_str(&name));
		json_int(&j, "wall_us", item->wall_us);
		json_int(&j, "wall_low_us", item->low_us);
		json_int(&j, "wall_high_us", item->high_us);
		json_object_end(&j);
		buf_release(&name);
	}
	json_array_end(&j);
	json_object_end(&j);
	return buf_error(out);
}
