/* SPDX-License-Identifier: MIT */
#include "tests/configured.h"

static int parse(struct configured *c, const char *text, struct error *err)
{
	*c = (struct configured){ 0 };
	rules_config_init(&c->c.compare);
	return configfile_parse(&c->args, buildset_keys, &c->c, text, strlen(text), "file.yaml", CONFIG_PROJECT,
				"/project", err);
}

void configured_read(struct configured *c, const char *text)
{
	struct error err = { 0 };

	ck_assert_msg(!parse(c, text, &err), "%s", err.message);
	ck_assert_int_eq(rules_config_done(&c->c.compare), 0);
	ck_assert_int_eq(limits_config_done(&c->c.limits), 0);
}

void configured_release(struct configured *c)
{
	rules_config_release(&c->c.compare);
	limits_config_release(&c->c.limits);
	options_release(&c->args);
}

void configured_refuses(const char *text, const char *message)
{
	RELEASED(configured, c);
	struct error err = { 0 };

	ck_assert_int_eq(parse(&c, text, &err), -EINVAL);
	support_error(&err, "file.yaml", message);
}
