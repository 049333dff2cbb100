/* SPDX-License-Identifier: MIT */
#include "report/log_text.h"

#include "analyse/first_error.h"
#include "analyse/names.h"
#include "base/json.h"

#include <string.h>

/* Where an escape sequence that begins at p ends: CSI up to its final byte, OSC and other strings
 * up to BEL or ST, otherwise two bytes. */
static const char *sequence_end(const char *p, const char *end)
{
	const char *q = p + 1;

	if (q < end && *q == '[') {
		for (q++; q < end && !(*q >= '@' && *q <= '~'); q++)
			;
	} else if (q < end && (*q == ']' || *q == 'P' || *q == '_' || *q == '^')) {
		for (q++; q < end && *q != '\a' && *q != '\033'; q++)
			;
		if (q < end && *q == '\033')
			q++;
	}
	return q < end ? q + 1 : end;
}

static bool is_colour(const char *p, const char *end)
{
	if (end - p < 3 || p[1] != '[' || end[-1] != 'm')
		return false;
	for (p += 2; p < end - 1; p++) {
		if ((*p < '0' || *p > '9') && *p != ';' && *p != ':')
			return false;
	}
	return true;
}

/* What remains visible of a line with carriage returns. */
static struct slice last_written(struct slice s)
{
	while (s.len && s.p[s.len - 1] == '\r')
		s.len--;
	for (const char *p; (p = memchr(s.p, '\r', s.len)) != NULL;)
		s = (struct slice){ p + 1, s.len - (size_t)(p + 1 - s.p) };
	return s;
}

static void add_visible(struct buf *b, const char *p, size_t len)
{
	char text[256];

	while (len) {
		size_t n = len < sizeof text - 1 ? len : sizeof text - 1;
		const char *tab;

		/* not within a character */
		while (n < len && n > sizeof text - 5 && ((unsigned char)p[n] & 0xc0) == 0x80)
			n--;
		tab = memchr(p, '\t', n);
		if (tab)
			n = (size_t)(tab - p);
		memcpy(text, p, n);
		text[n] = '\0';
		if (memchr(p, 0, n)) {
			n = strlen(text);
			text_add_name(b, text, 0);
			buf_adds(b, "\\0");
			n++;
		} else {
			text_add_name(b, text, 0);
			if (tab) {
				buf_addc(b, '\t');
				n++;
			}
		}
		p += n;
		len -= n;
	}
}

void log_add_text(struct buf *b, struct slice text, enum log_escapes escapes)
{
	bool coloured = false;
	const char *p, *end, *next;

	if (escapes != LOG_STRIP)
		text = last_written(text);
	end = text.p + text.len;
	for (p = text.p; p < end; p = next) {
		const char *escape = memchr(p, '\033', (size_t)(end - p));

		next = escape ? escape : end;
		if (escapes == LOG_STRIP)
			buf_add(b, p, (size_t)(next - p));
		else
			add_visible(b, p, (size_t)(next - p));
		if (!escape)
			break;
		next = sequence_end(escape, end);
		if (escapes == LOG_COLOURS && is_colour(escape, next)) {
			buf_add(b, escape, (size_t)(next - escape));
			coloured = true;
		}
	}
	if (coloured)
		buf_adds(b, "\033[0m");
}

void log_add_place(struct buf *b, const struct recording *rec, const struct identity *id,
		   const struct output_line *line, uint32_t task)
{
	int64_t us = line->first_us;

	if (us < 0)
		buf_adds(b, "         -");
	else
		buf_addf(b, "%10.6f", (double)us / 1e6);
	buf_addc(b, ' ');
	if (task == NO_INDEX)
		buf_addc(b, '-');
	else
		identity_add_stack(b, id, rec, task, NO_INDEX, IDENTITY_IDS);
	buf_adds(b, "  ");
}

static void add_nearby(struct json *j, const struct recording *rec, const struct identity *id,
		       uint64_t line, const struct output_nearbies *nearby)
{
	char hex[IDENTITY_HEX_SIZE];
	bool found = false;

	for (size_t i = 0; i < nearby->n; i++) {
		const struct output_nearby *near = &nearby->of[i];

		if (!output_nearby_has(near, line))
			continue;
		if (!found)
			json_array(j, "while_ran");
		found = true;
		identity_hex(hex, identity_task(id, rec, near->task));
		json_str(j, NULL, hex);
	}
	if (found)
		json_array_end(j);
}

void log_add_json(struct buf *b, const struct recording *rec, const struct identity *id,
		  const struct output_line *line, uint32_t task, const struct output_nearbies *nearby)
{
	char hex[IDENTITY_HEX_SIZE];
	struct buf name = BUF_PART_OF(b), plain = BUF_PART_OF(b);
	struct message_found m;
	struct json j;

	json_init(&j, b, true);
	json_object(&j, NULL);
	json_int(&j, "line", (int64_t)line->number + 1);
	json_known(&j, "time_us", line->first_us);
	json_known(&j, "earliest_us", line->from_us);
	json_str(&j, "stream", line->stream == OUTPUT_STDOUT ? "stdout" :
		 line->stream == OUTPUT_STDERR ? "stderr" : "both");
	if (task == NO_INDEX) {
		json_null(&j, "task");
		json_null(&j, "id");
	} else {
		name_add_task(&name, rec, &rec->task[task]);
		json_str(&j, "task", buf_str(&name));
		identity_hex(hex, identity_task(id, rec, task));
		json_str(&j, "id", hex);
	}
	json_strn(&j, "text", line->text.p, line->text.len);
	json_bool(&j, "continues", !line->ends);
	if (line->begins && first_error_line(rec, task, line->text, &plain, &m))
		json_str(&j, "is", message_word[m.is]);
	add_nearby(&j, rec, id, line->number, nearby);
	json_object_end(&j);
	buf_release(&plain);
	buf_release(&name);
}
