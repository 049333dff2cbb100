/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "convert/oe/oe_parts.h"

#include <string.h>

/*
 * The lines of a task file, and the usual form of the file: one run, with its lines in the order
 * and with the ends that BitBake gives them. Any line but the start may be missing.
 */

#define KEY(text, ...) { text ": ", sizeof text ": " - 1, __VA_ARGS__ }

const struct oe_line oe_lines[OE_FIELDS] = {
	[OE_ELAPSED] = KEY("Elapsed time", true, " seconds\n"),
	[OE_UTIME] = KEY("utime", false, "\n"),
	[OE_STIME] = KEY("stime", false, "\n"),
	[OE_CUTIME] = KEY("cutime", false, "\n"),
	[OE_CSTIME] = KEY("cstime", false, "\n"),
	[OE_IO_RCHAR] = KEY("IO rchar", false, "\n"),
	[OE_IO_WCHAR] = KEY("IO wchar", false, "\n"),
	[OE_IO_SYSCR] = KEY("IO syscr", false, "\n"),
	[OE_IO_SYSCW] = KEY("IO syscw", false, "\n"),
	[OE_IO_READ] = KEY("IO read_bytes", false, "\n"),
	[OE_IO_WRITTEN] = KEY("IO write_bytes", false, "\n"),
	[OE_IO_CANCELLED] = KEY("IO cancelled_write_bytes", false, "\n"),
	[OE_SELF_UTIME] = KEY("rusage ru_utime", true, "\n"),
	[OE_SELF_STIME] = KEY("rusage ru_stime", true, "\n"),
	[OE_SELF_MAXRSS] = KEY("rusage ru_maxrss", false, "\n"),
	[OE_SELF_MINFLT] = KEY("rusage ru_minflt", false, "\n"),
	[OE_SELF_MAJFLT] = KEY("rusage ru_majflt", false, "\n"),
	[OE_SELF_INBLOCK] = KEY("rusage ru_inblock", false, "\n"),
	[OE_SELF_OUBLOCK] = KEY("rusage ru_oublock", false, "\n"),
	[OE_SELF_NVCSW] = KEY("rusage ru_nvcsw", false, "\n"),
	[OE_SELF_NIVCSW] = KEY("rusage ru_nivcsw", false, "\n"),
	[OE_CHILD_UTIME] = KEY("Child rusage ru_utime", true, "\n"),
	[OE_CHILD_STIME] = KEY("Child rusage ru_stime", true, "\n"),
	[OE_CHILD_MAXRSS] = KEY("Child rusage ru_maxrss", false, "\n"),
	[OE_CHILD_MINFLT] = KEY("Child rusage ru_minflt", false, "\n"),
	[OE_CHILD_MAJFLT] = KEY("Child rusage ru_majflt", false, "\n"),
	[OE_CHILD_INBLOCK] = KEY("Child rusage ru_inblock", false, "\n"),
	[OE_CHILD_OUBLOCK] = KEY("Child rusage ru_oublock", false, "\n"),
	[OE_CHILD_NVCSW] = KEY("Child rusage ru_nvcsw", false, "\n"),
	[OE_CHILD_NIVCSW] = KEY("Child rusage ru_nivcsw", false, "\n"),
	[OE_STATUS] = KEY("Status", false, " \n"),
	[OE_ENDED] = KEY("Ended", true, " \n"),
	[OE_STATE] = KEY("State", false, "\n"),
	[OE_SETUP] = KEY("Setup", true, "\n"),
	[OE_EVENT] = KEY("Event", false, " \n"),
	[OE_STARTED] = KEY("Started", true, " \n"),
};

#define EVENT "Event: TaskStarted \n"

/* Parsing: p is in the text, which ends at end. Each returns the position after what it found, or
 * NULL. */

static const char *pass(const char *p, const char *end, const char *text, size_t len)
{
	return (size_t)(end - p) >= len && !memcmp(p, text, len) ? p + len : NULL;
}

static const char *pass_whole(const char *p, const char *end, int64_t *n)
{
	return p < end && *p >= '0' && *p <= '9' ? cursor_pass_i64(p, end, n) : NULL;
}

/* Most have a few places; others are rounded, or have an exponent. */
static const char *pass_decimal(const char *p, const char *end, int64_t *n)
{
	static const uint32_t scale[] = { 1000000, 100000, 10000, 1000, 100, 10, 1 };
	const char *at = pass_whole(p, end, n);
	struct cursor c;
	uint64_t places;
	unsigned digits;

	if (at && at < end && *at == '.' && *n <= OE_LARGEST / 1000000) {
		digits = cursor_digits15(++at, end, &places);
		if (digits && digits < ARRAY_SIZE(scale) && at[digits] != 'e') {
			*n = *n * 1000000 + (int64_t)(places * scale[digits]);
			return at + digits;
		}
	}
	cursor_init(&c, p, (size_t)(end - p));
	return oe_millionths(&c, n) ? c.p : NULL;
}

static const char *pass_value(const char *p, const char *end, enum oe_field field, int64_t *n)
{
	if (field == OE_STATUS) {
		const char *passed = pass(p, end, "PASSED", 6);

		*n = passed ? OE_PASSED : OE_FAILED;
		return passed ? passed : pass(p, end, "FAILED", 6);
	}
	p = oe_lines[field].decimal ? pass_decimal(p, end, n) : pass_whole(p, end, n);
	return p && *n >= 0 && *n <= OE_LARGEST ? p : NULL;
}

static const char *pass_line(struct oe_form *f, const char *p, const char *end, enum oe_field field)
{
	const struct oe_line *line = &oe_lines[field];
	const char *from;

	from = pass(p, end, line->key, line->len);
	p = from ? pass_value(from, end, field, &f->value[field]) : NULL;
	if (!p)
		return NULL;
	f->text[field] = (struct slice){ from, (size_t)(p - from) };
	return pass(p, end, line->tail, strlen(line->tail));
}

static const char *pass_title(const char *p, const char *end, struct slice recipe,
			      struct slice name)
{
	p = pass(p, end, recipe.p, recipe.len);
	p = p ? pass(p, end, ": ", 2) : NULL;
	p = p ? pass(p, end, name.p, name.len) : NULL;
	return p ? pass(p, end, "\n", 1) : NULL;
}

bool oe_form_parse(struct oe_form *f, struct slice recipe, struct slice name,
		   const char *text, size_t len)
{
	const char *end = text + len, *title, *next, *p = pass(text, end, EVENT, sizeof EVENT - 1);

	p = p ? pass_line(f, p, end, OE_STARTED) : NULL;
	if (!p)
		return false;
	title = pass_title(p, end, recipe, name);
	p = title ? title : p;
	for (size_t i = 1; i < OE_FORM_FIELDS; i++) {
		enum oe_field field = oe_form_field(i);

		next = pass_line(f, p, end, field);
		if (next) {
			p = next;
		} else {
			f->value[field] = -1;
			f->text[field] = (struct slice){ "", 0 };
		}
	}
	return p == end && !title == !f->text[OE_ELAPSED].len;
}

/* Writing */

void oe_form_write(struct buf *b, const struct oe_form *f, struct slice recipe, struct slice name)
{
	buf_adds(b, EVENT);
	for (size_t i = 0; i < OE_FORM_FIELDS; i++) {
		enum oe_field field = oe_form_field(i);
		struct slice text = f->text[field];

		if (!text.len)
			continue;
		if (field == OE_ELAPSED) {
			buf_add(b, recipe.p, recipe.len);
			buf_adds(b, ": ");
			buf_add(b, name.p, name.len);
			buf_addc(b, '\n');
		}
		buf_add(b, oe_lines[field].key, oe_lines[field].len);
		buf_add(b, text.p, text.len);
		buf_adds(b, oe_lines[field].tail);
	}
}
