/* SPDX-License-Identifier: MIT */
#include "report/check_power.h"

#include "base/json.h"
#include "report/amount.h"

static void add_builds(struct json *j, const char *key, const struct power_cell *cell)
{
	json_known(j, key, cell->answer == POWER_FOUND ? (int64_t)cell->builds : -1);
}

static void add_row(struct json *j, const struct check_power *c, size_t n)
{
	const struct power_row *row = &c->power->row[n], *repeated = &c->repeated->row[n];
	bool total = row->task == TASK_TOTAL;

	json_object(j, NULL);
	json_str(j, "of", total ? "build" : "task");
	json_str(j, "task", total ? NULL : c->builds->task[row->task].name);
	json_str(j, "metric", metric_info[row->metric].name);
	json_str(j, "unit", amount_unit_word[metric_info[row->metric].unit]);
	json_real(j, "now", row->level, 0);
	json_real(j, "least", power_least(row), 2);
	json_real(j, "least_repeated", power_least(repeated), 2);
	json_array(j, "changes");
	for (size_t i = 0; i < POWER_SIZES; i++) {
		const struct power_cell *cell = &row->cell[i];

		json_object(j, NULL);
		json_real(j, "change", power_size[i], 2);
		json_bool(j, "found", cell->answer == POWER_FOUND);
		add_builds(j, "builds", cell);
		add_builds(j, "builds_repeated", &repeated->cell[i]);
		json_bool(j, "below_thresholds", cell->answer == POWER_BELOW);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

int check_power_json(struct buf *out, const struct check_power *c)
{
	const struct power *p = c->power;
	struct json j;

	json_init(&j, out, false);
	json_object(&j, NULL);
	json_str(&j, "ref", c->builds->ref);
	json_int(&j, "builds", p->builds);
	json_int(&j, "trials", p->trials);
	json_bool(&j, "together", p->together);
	json_int(&j, "repeat", c->as->runs);
	json_real(&j, "repeat_share", c->as->share, 2);
	json_shortest(&j, "rate", c->rules->rate);
	json_int(&j, "agree", c->rules->agree);
	json_array(&j, "tasks");
	for (size_t i = 0; i < p->n; i++)
		add_row(&j, c, i);
	json_array_end(&j);
	json_object_end(&j);
	return buf_error(out);
}
