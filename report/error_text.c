/* SPDX-License-Identifier: MIT */
#include "report/error_text.h"

#include "analyse/names.h"
#include "analyse/path.h"
#include "analyse/words.h"
#include "base/text.h"

#include <string.h>

static void add_safe(struct buf *out, struct slice s)
{
	struct buf text = BUF_PART_OF(out);

	buf_add(&text, s.p, s.len);
	text_add_name(out, buf_str(&text), 0);
	buf_release(&text);
}

void error_add_title(struct buf *out, const struct recording *rec, const struct first_error *e)
{
	const struct task *t = e->task == NO_INDEX ? NULL : &rec->task[e->task];
	struct buf name = BUF_PART_OF(out);

	if (t) {
		name_add_task(&name, rec, t);
		buf_adds(out, e->how == FIRST_ERROR_LAST ? "Last lines of " :
			 e->while_ran ? "First error while " : "First error of ");
		text_add_name(out, buf_str(&name), 0);
		buf_adds(out, " (");
		words_add_status(out, words_task_status(t));
		buf_addc(out, ')');
		if (e->while_ran)
			buf_adds(out, " ran, perhaps of another task");
	} else {
		buf_adds(out, "First error of the build itself");
	}
	buf_release(&name);
}

void error_add_message(struct buf *out, const struct first_error *e)
{
	struct buf text = BUF_PART_OF(out);

	if (e->file.len) {
		buf_adds(&text, e->file.data);
		if (e->file_line)
			buf_addf(&text, ":%llu", (unsigned long long)e->file_line);
		if (e->file_line && e->file_column)
			buf_addf(&text, ":%llu", (unsigned long long)e->file_column);
		buf_adds(&text, ": ");
	}
	buf_add(&text, e->message.data, e->message.len);
	text_add_name(out, buf_str(&text), 0);
	buf_release(&text);
}

void error_add_lines(struct buf *out, const struct first_error *e, const char *indent)
{
	struct cursor c;
	struct slice line;

	cursor_init(&c, e->text.data, e->text.len);
	while (cursor_until(&c, '\n', &line)) {
		buf_adds(out, indent);
		add_safe(out, line);
		buf_addc(out, '\n');
	}
}

/* value: a property's, not the message, which may have more signs. */
static void add_escaped(struct buf *out, const char *text, bool value)
{
	for (; *text; text++) {
		if (strchr("%\r\n", *text) || (value && strchr(":,", *text)))
			buf_addf(out, "%%%02X", (unsigned)(unsigned char)*text);
		else
			buf_addc(out, *text);
	}
}

void error_add_annotation(struct buf *out, const struct recording *rec, const struct first_error *e,
			  const char *root)
{
	struct buf title = BUF_PART_OF(out), file = BUF_PART_OF(out), plain = BUF_PART_OF(out), text = BUF_PART_OF(out);
	const char *cwd = e->task == NO_INDEX ? NULL : rec->instance[rec->task[e->task].instance].cwd;

	buf_adds(out, "::error ");
	if (e->file.len) {
		path_of_build(&file, rec);
		path_join(&plain, slice_of(cwd ? cwd : buf_str(&file)), (struct slice){ e->file.data, e->file.len });
		buf_clear(&file);
		path_join(&file, slice_of(""), slice_of(root));
		add_safe(&text, path_relative(slice_of(buf_str(&plain)), slice_of(buf_str(&file))));
		buf_adds(out, "file=");
		add_escaped(out, buf_str(&text), true);
		if (e->file_line)
			buf_addf(out, ",line=%llu", (unsigned long long)e->file_line);
		if (e->file_line && e->file_column)
			buf_addf(out, ",col=%llu", (unsigned long long)e->file_column);
		buf_addc(out, ',');
	}
	error_add_title(&title, rec, e);
	buf_adds(out, "title=");
	add_escaped(out, buf_str(&title), true);
	buf_adds(out, "::");
	buf_clear(&text);
	add_safe(&text, (struct slice){ e->message.data, e->message.len });
	add_escaped(out, buf_str(&text), false);
	buf_addc(out, '\n');
	buf_release(&title);
	buf_release(&file);
	buf_release(&plain);
	buf_release(&text);
}

/* An object with this key; e NULL: null. */
static void error_json(struct json *j, const char *key, const struct first_error *e)
{
	static const char *const how[] = {
		[FIRST_ERROR_NONE] = "none", [FIRST_ERROR_LAST] = "last_lines",
		[FIRST_ERROR_REPORT] = "report", [FIRST_ERROR_FOUND] = "message",
	};
	struct cursor c;
	struct slice line;
	size_t i = 0;

	if (!e) {
		json_null(j, key);
		return;
	}
	json_object(j, key);
	json_str(j, "is", how[e->how]);
	json_bool(j, "while_ran", e->while_ran);
	if (e->tool.len)
		json_strn(j, "tool", e->tool.p, e->tool.len);
	else
		json_null(j, "tool");
	json_str(j, "file", e->file.len ? e->file.data : NULL);
	json_known(j, "line", e->file_line ? (int64_t)e->file_line : -1);
	json_known(j, "column", e->file_column ? (int64_t)e->file_column : -1);
	json_strn(j, "message", e->message.data ? e->message.data : "", e->message.len);
	json_int(j, "output_line", (int64_t)e->line + 1);
	json_array(j, "lines");
	cursor_init(&c, e->text.data, e->text.len);
	while (i < e->n_lines && cursor_until(&c, '\n', &line)) {
		json_object(j, NULL);
		json_int(j, "output_line", (int64_t)e->number[i++] + 1);
		json_strn(j, "text", line.p, line.len);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

void error_json_build(struct json *j, const struct first_errors *f)
{
	error_json(j, "first_error", first_error_of_build(f));
	json_int(j, "errors", (int64_t)f->all_errors);
	json_int(j, "warnings", (int64_t)f->all_warnings);
}

void error_json_task(struct json *j, const struct first_errors *f, uint32_t task)
{
	json_int(j, "errors", f->n_errors ? (int64_t)f->n_errors[task] : 0);
	json_int(j, "warnings", f->n_warnings ? (int64_t)f->n_warnings[task] : 0);
	error_json(j, "error", first_error_of(f, task));
}
