/* SPDX-License-Identifier: MIT */
#include "compare/rules.h"

#include "base/buf.h"

#include <fnmatch.h>
#include <string.h>
#include <math.h>

void rules_init(struct rules *rules)
{
	*rules = (struct rules){
		.metrics = METRICS_USUAL,
		.rate = 0.01,
		.agree = 2,
		.window = 60,
		.least_history = 5,
	};
	for (enum metric m = 0; m < METRICS; m++)
		rules->gate[m] = (struct gate){ .share = metric_info[m].share,
						.amount = metric_info[m].least };
}

void rules_add_counted(struct rules *rules, const int64_t total[TOTALS])
{
	if (total[TOTAL_INSTRUCTIONS] >= 0)
		rules->metrics |= METRIC_BIT(METRIC_INSTRUCTIONS);
}

#define PART 0.01
#define PART_OF_TIME 0.0001	/* with a spread */

void rules_scale(struct rules *rules, const double whole[METRICS], bool spread)
{
	for (enum metric m = 0; m < METRICS; m++) {
		const struct metric_info *info = &metric_info[m];
		double part = spread && info->time ? PART_OF_TIME : PART;
		struct gate *gate = &rules->gate[m];

		if (!gate->chosen && !isnan(whole[m]))
			gate->amount = fmin(gate->amount, fmax(part * whole[m], info->finest));
	}
}

struct gate rules_gate(const struct rules *rules, const char *task, enum metric m)
{
	struct gate gate = rules->gate[m];

	for (size_t i = 0; i < rules->n; i++) {
		const struct rule *rule = &rules->rule[i];

		if (rule->metrics & METRIC_BIT(m) && rules_pattern_fits(rule->pattern, task)) {
			if (!isnan(rule->share))
				gate.share = rule->share;
			if (!isnan(rule->amount))
				gate.amount = rule->amount;
			if (!isnan(rule->floor))
				gate.floor = rule->floor;
			if (rule->ignored >= 0)
				gate.ignored = rule->ignored;
		}
	}
	return gate;
}

/* A list has a newline behind each pattern. Most of these are names. */
static bool list_fits(const char *list, const char *task)
{
	size_t len = strlen(task);
	struct buf one = BUF_INIT;
	bool fits = false;

	for (const char *end; !fits && (end = strchr(list, '\n')); list = end + 1) {
		size_t n = (size_t)(end - list);

		fits = n == len && !memcmp(list, task, len);
		if (fits || !memchr(list, '\\', n))
			continue;
		buf_clear(&one);
		buf_add(&one, list, n);
		fits = !fnmatch(buf_str(&one), task, 0);
	}
	buf_release(&one);
	return fits;
}

bool rules_is_list(const char *pattern)
{
	size_t len = strlen(pattern);

	return len > 1 && pattern[len - 1] == '\n' && pattern[len - 2] != '\\';
}

bool rules_pattern_fits(const char *pattern, const char *task)
{
	if (!*pattern || !*task)
		return !*pattern && !*task;
	return rules_is_list(pattern) ? list_fits(pattern, task) : !fnmatch(pattern, task, 0);
}

void rules_add_literal(struct buf *pattern, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (strchr("*?[\\\n", text[i]))
			buf_addc(pattern, '\\');
		buf_addc(pattern, text[i]);
	}
}
