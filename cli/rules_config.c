/* SPDX-License-Identifier: MIT */
#include "cli/rules_config.h"

#include "base/array.h"
#include "report/amount_read.h"
#include "stats/changepoints.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* An item of `rules`: what is not said is NULL, 0, NaN or -1. */
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

/* The metrics of a set that an amount can be of; all where none is said. */
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

/* An amount is of every metric that is named; where none is, of one at least. */
static int check_amount(const char *name, const struct amount *amount, unsigned metrics,
			struct error *err)
{
	unsigned fit = fitting(amount, metrics ? metrics : METRICS_ALL);
	enum metric m = 0;

	if (!fit)
		return error_set(err, -EINVAL, NULL, 0, 0,
				 "%s: expected an amount with a unit, as 2s or 16MiB, that these "
				 "metrics have", name);
	if (!metrics || fit == metrics)
		return 0;
	while (!(metrics & ~fit & METRIC_BIT(m)))
		m++;
	return error_set(err, -EINVAL, NULL, 0, 0, "%s: the unit does not fit the metric "
			 "\'%s\'", name, metric_word[m]);
}

static int check_rule(void *rule, struct error *err)
{
	const struct rules_config_rule *r = rule;

	if (isnan(r->share) && isnan(r->amount.value) && isnan(r->floor.value) && r->ignore < 0)
		return error_set(err, -EINVAL, NULL, 0, 0, "expected a rule with share, amount, "
				 "floor or ignore");
	if (check_amount("amount", &r->amount, r->metrics, err))
		return -EINVAL;
	return check_amount("floor", &r->floor, r->metrics, err);
}

static const struct option_map rule_map = { rule_keys, add_rule, check_rule };

#undef OPTIONS
#define OPTIONS struct rules_config
static const struct option compare_keys[] = {
	{ OPT_KEY(OPTION_SET, unsigned, "metrics", rules.metrics), .choices = metric_word },
	{ OPT_KEY(OPTION_SHARE, double, "rate", rules.rate), .max = 1 },
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
	return error_set(err, -EINVAL, NULL, 0, 0, "window: expected at least the %lld builds of "
			 "agree and least-history together, not %lld",
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
	free(c->list.rule);
	free(c->made);
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

/* For all tasks and the total. */
static void set_gate(struct gate *gate, const struct rule *rule)
{
	gate_set(&gate->share, rule->share);
	gate_set(&gate->amount, rule->amount);
	gate_set(&gate->floor, rule->floor);
	if (rule->ignored >= 0)
		gate->ignored = rule->ignored;
}

/* What a rule says of one metric, whose unit its amounts are in then. */
static void add_metric(struct rules_config *c, const struct rules_config_rule *said, enum metric m)
{
	struct rule rule = {
		.pattern = said->tasks, .metrics = METRIC_BIT(m), .share = said->share,
		.amount = amount_of(&said->amount, m), .floor = amount_of(&said->floor, m),
		.ignored = said->ignore < 0 ? -1 : said->ignore % 2,
	};

	if (rule.pattern) {
		c->made[c->rules.n++] = rule;
	} else if (!c->rules.n) {	/* spares a look at every task's name */
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
		const struct rules_config_rule *said = &c->list.rule[i];
		unsigned metrics = said->metrics ? said->metrics : METRICS_ALL;

		for (enum metric m = 0; m < METRICS; m++) {
			if (metrics & METRIC_BIT(m))
				add_metric(c, said, m);
		}
	}
	if (!c->rules.metrics)
		c->rules.metrics = METRICS_USUAL;
	c->rules.rule = c->made;
	return 0;
}
