#include "nightly.h"

#include "configfile.h"

const struct option nightly_keys[] = {
	{ .name = "repo", .kind = OPTION_REPO, .argument = "REPO",
	  .offset = offsetof(struct nightly_options, repo), .config = true },
	{ 0 }
};

int nightly_settings(struct nightly *n, struct args *args, struct nightly_options *options,
		     struct error *err)
{
	int r = config_apply(args, nightly_keys, options, options->config, err);

	*n = (struct nightly){ .options = options };
	rules_init(&n->rules);
	if (options->metrics)
		n->rules.metrics = options->metrics;
	return r;
}
