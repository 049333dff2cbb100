/* SPDX-License-Identifier: MIT */
#include "cli/rules_config.h"

#include "base/array.h"
#include "report/amount.h"
#include "stats/changepoints.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* An item of `rules`. A missing key is NULL, 0, NaN or -1. */
struct rules_config_rule {
	const char *tasks;
	unsigned metrics;
	double share;
	struct amount amount, floor;
	int ignore;		/* index into truth */
};

static const char *const truth[] = { "false", "true", "no", "yes", "off", "on", NULL };

#define OPTIONS struct rules_config_rule
static const struct option rule_keys[] = {
	{ OPT_KEY(OPTION_PATTERN, const char *, "tasks", tasks) },
	{ OPT_KEY(OPTION_SET, unsigned, "metrics", metrics), .choices = metric_word },
	{ OPT_KEY(OPTION_SHARE, double, "share", share) },
	{ OPT_KEY(OPTION_AMOUNT, struct amount, "amount", amount) },
	{ OPT_KEY(OPTION_AMOUNT, struct amount, "floor", floor) },
	{ OPT_KEY(OPTION_CHOICE, int, "ignore", ignore), .choices = truth },
	{ 0 }
};

static void *add_rule(void *list)
{
	struct rules_config_list *l = list;
	struct rules_config_rule *grown = array_grow(l->rule, l->n, sizeof *grown);

	if (!grown)
		return NULL;
	l->rule = grown;
	grown[l->n] = (struct rules_config_rule){
		.share = NAN, .amount = { .value = NAN }, .floor = { .value = NAN }, .ignore = -1,
	};
	return &grown[l->n++];
}

/* The metrics of a set whose unit the amount has; all of the set if there is no amount. */
static unsigned fitting(const struct amount *amount, unsigned metrics)
{
	unsigned fit = 0;
	double value;

	for (enum metric m = 0; m < METRICS; m++) {
		if (metrics & METRIC_BIT(m) &&
		    (isnan(amount->value) || amount_in(&value, amount, metric_info[m].unit)))
			fit |= METRIC_BIT(m);
	}
	return fit;
}

#define METRICS_ALL (METRIC_BIT(METRICS) - 1)

/* The unit of an amount must fit every metric of the rule, or any metric if it names none: an amount
 * without a unit, which is easily forgotten, only those that it names. */
static int check_amount(const char *name, const struct amount *amount, unsigned metrics,
			struct error *err)
{
	unsigned fit = fitting(amount, metrics ? metrics : METRICS_ALL & ~METRIC_BIT(METRIC_INSTRUCTIONS));
	enum metric m = 0;

	if (!fit)
		return error_say(err, -EINVAL, "%s: expected an amount with a unit, such as 2s or "
				 "16MiB, that these metrics have", name);
	if (!metrics || fit == metrics)
		return 0;
	while (!(metrics & ~fit & METRIC_BIT(m)))
		m++;
	return error_say(err, -EINVAL, "%s: the unit does not fit the metric \'%s\'", name,
			 metric_word[m]);
}

static int check_rule(void *rule, struct error *err)
{
	const struct rules_config_rule *r = rule;

	if (isnan(r->share) && isnan(r->amount.value) && isnan(r->floor.value) && r->ignore < 0)
		return error_say(err, -EINVAL, "expected a rule with share, amount, floor or "
				 "ignore");
	if (check_amount("amount", &r->amount, r->metrics, err))
		return -EINVAL;
	return check_amount("floor", &r->floor, r->metrics, err);
}

static const struct option_map rule_map = { rule_keys, add_rule, check_rule };

static const char *const shared_word[] = {
	[SHARED_FAIL] = "fail", [SHARED_REPORT] = "report", NULL
};

#undef OPTIONS
#define OPTIONS struct rules_config
static const struct option compare_keys[] = {
	{ OPT_KEY(OPTION_SET, unsigned, "metrics", rules.metrics), .choices = metric_word },
	{ OPT_KEY(OPTION_SHARE, double, "rate", rules.rate), .max = 1 },
	{ OPT_KEY(OPTION_CHOICE, int, "shared", rules.shared), .choices = shared_word },
	{ OPT_KEY(OPTION_NUMBER, int64_t, "agree", rules.agree), .min = 1, .max = 10 },
	{ OPT_KEY(OPTION_NUMBER, int64_t, "window", rules.window),
	  .min = 10, .max = CHANGEPOINTS_MAX },
	{ OPT_KEY(OPTION_NUMBER, int64_t, "least-history", rules.least_history),
	  .min = 2, .max = CHANGEPOINTS_MAX },
	{ OPT_KEY(OPTION_MAPS, struct rules_config_list, "rules", list), .map = &rule_map },
	{ 0 }
};

static int check_compare(void *config, struct error *err)
{
	const struct rules *r = &((struct rules_config *)config)->rules;

	if (r->window >= r->agree + r->least_history)
		return 0;
	return error_say(err, -EINVAL, "window: expected at least the %lld builds of agree and "
			 "least-history together, not %lld",
			 (long long)(r->agree + r->least_history), (long long)r->window);
}

const struct option_map rules_config_map = { compare_keys, NULL, check_compare };

void rules_config_init(struct rules_config *c)
{
	*c = (struct rules_config){ 0 };
	rules_init(&c->rules);
	c->rules.metrics = 0;
}

void rules_config_release(struct rules_config *c)
{
	free_all(c->list.rule, c->made);
}

static double amount_of(const struct amount *amount, enum metric m)
{
	double value;

	return !isnan(amount->value) && amount_in(&value, amount, metric_info[m].unit) ? value : NAN;
}

static void gate_set(double *value, double wanted)
{
	if (!isnan(wanted))
		*value = wanted;
}

/* Sets the thresholds for all tasks and the total. */
static void set_gate(struct gate *gate, const struct rule *rule)
{
	gate_set(&gate->share, rule->share);
	gate_set(&gate->amount, rule->amount);
	gate->chosen = gate->chosen || !isnan(rule->amount);
	gate_set(&gate->floor, rule->floor);
	if (rule->ignored >= 0)
		gate->ignored = rule->ignored;
}

/* Adds a rule for one metric, with its amounts in the unit of the metric. */
static void add_metric(struct rules_config *c, const struct rules_config_rule *from, enum metric m)
{
	struct rule rule = {
		.pattern = from->tasks, .metrics = METRIC_BIT(m), .share = from->share,
		.amount = amount_of(&from->amount, m), .floor = amount_of(&from->floor, m),
		.ignored = from->ignore < 0 ? -1 : from->ignore % 2,
	};

	if (rule.pattern) {
		c->made[c->rules.n++] = rule;
	} else if (!c->rules.n) {	/* faster than comparing the name of every task */
		set_gate(&c->rules.gate[m], &rule);
	} else {
		rule.pattern = "*";
		c->made[c->rules.n++] = rule;
		rule.pattern = "";
		c->made[c->rules.n++] = rule;
	}
}

int rules_config_done(struct rules_config *c)
{
	c->made = calloc(c->list.n * METRICS * 2 + 1, sizeof *c->made);
	if (!c->made)
		return -ENOMEM;
	for (size_t i = 0; i < c->list.n; i++) {
		const struct rules_config_rule *from = &c->list.rule[i];
		unsigned metrics = from->metrics ? from->metrics : METRICS_ALL;

		for (enum metric m = 0; m < METRICS; m++) {
			if (metrics & METRIC_BIT(m))
				add_metric(c, from, m);
		}
	}
	c->usual = !c->rules.metrics;
	if (c->usual)
		c->rules.metrics = METRICS_USUAL;
	c->rules.rule = c->made;
	return 0;
}
