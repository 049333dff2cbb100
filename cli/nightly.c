/* SPDX-License-Identifier: MIT */
#include "cli/nightly.h"

#include "cli/configfile.h"

const struct option nightly_keys[] = {
	{ .name = "repo", .kind = OPTION_REPO, .argument = "REPO",
	  .offset = offsetof(struct nightly_config, repo), .config = true },
	{ .name = "import-limit", .kind = OPTION_AMOUNT, .argument = "SIZE",
	  .offset = offsetof(struct nightly_config, import_limit), .config = true },
	{ .name = "compare", .kind = OPTION_MAP, .map = &rules_config_map,
	  .offset = offsetof(struct nightly_config, compare), .config = true },
	{ 0 }
};

int nightly_settings(struct nightly *n, struct args *args, struct nightly_options *options,
		     struct error *err)
{
	struct nightly_config config = { .repo = options->repo };
	int r;

	rules_config_init(&config.compare);
	r = config_apply(args, nightly_keys, &config, options->config, err);
	if (!r && (r = rules_config_done(&config.compare)))
		error_sys(err, r, NULL, NULL);
	options->repo = config.repo;
	*n = (struct nightly){ .options = options, .config = config.compare };
	n->rules = n->config.rules;
	if (options->metrics)
		n->rules.metrics = options->metrics;
	return r;
}
