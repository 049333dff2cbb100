/* SPDX-License-Identifier: MIT */
#include "report/command_line.h"

#include "analyse/metric.h"
#include "command/redact.h"
#include "command/shell.h"

#include <string.h>

#define ID_DIGITS 12

static void add_repo(struct buf *out, const char *repo)
{
	struct buf shown = BUF_PART_OF(out);
	struct slice part[REDACT_PARTS_MAX] = { slice_of(repo) };
	size_t n = strstr(repo, "://") ? redact_split(part, repo, strlen(repo), false) : 1;

	for (size_t i = 0; i < n; i++)
		buf_add(&shown, part[i].p, part[i].len);
	command_line_option(out, "repo", buf_str(&shown));
	buf_release(&shown);
}

void command_line_begin(struct buf *out, const char *name, const struct command_line_archive *a)
{
	buf_addf(out, "buildbeat %s", name);
	if (!a)
		return;
	if (a->config)
		command_line_option(out, "config", a->config);
	add_repo(out, a->repo);
	if (a->ref)
		command_line_option(out, "ref", a->ref);
}

void command_line_option(struct buf *out, const char *name, const char *value)
{
	buf_addf(out, " --%s ", name);
	shell_add_shown(out, value);
}

void command_line_build(struct buf *out, const char *id)
{
	buf_addf(out, " --build %.*s", ID_DIGITS, id);
}

void command_line_metrics(struct buf *out, unsigned metrics)
{
	const char *before = " --metrics ";

	for (enum metric m = 0; m < METRICS; m++) {
		if (!(metrics & METRIC_BIT(m)))
			continue;
		buf_addf(out, "%s%s", before, metric_word[m]);
		before = ",";
	}
}

void command_line_operand(struct buf *out, const char *word)
{
	buf_adds(out, *word == '-' ? " -- " : " ");
	shell_add_shown(out, word);
}
