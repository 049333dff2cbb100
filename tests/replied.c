/* SPDX-License-Identifier: MIT */
#include "tests/replied.h"

#include "live/reply.h"
#include "live/source.h"
#include "tests/support.h"

static struct catalogue catalogue;
static struct source source;

void replied_open(const char *path)
{
	struct error err;

	ck_assert_int_eq(catalogue_open(&catalogue, path, &err), 0);
	ck_assert_int_eq(source_init(&source, &catalogue, catalogue.entry[0].id), 0);
}

void replied_close(void)
{
	source_release(&source);
	catalogue_release(&catalogue);
	support_cleanup();
}

int replied_get(const char *path, const char *query, const char *to)
{
	struct reply reply = { .status = 0 };

	reply_make(&reply, &source, path, query, strlen(query), false);
	support_write(support_path("%s/%s", support_tmpdir(), to), reply.body.data, reply.body.len);
	buf_release(&reply.body);
	return reply.status;
}

void replied_refuses(const struct replied_refusal *r)
{
	const char *text;

	ck_assert_int_eq(replied_get(r->path, r->query, "error"), r->status);
	text = support_text(support_path("%s/error", support_tmpdir()));
	ck_assert_msg(strstr(text, r->message) != NULL, "%s: %s", r->query, text);
}
