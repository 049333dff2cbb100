/* SPDX-License-Identifier: MIT */
#include "cli/configfile.h"
#include "cli/buildset.h"
#include "cli/settings_options.h"
#include "tests/fuzz.h"

FUZZ_TARGET(config)
{
	struct args a = { 0 };
	struct buildset_config buildset = { 0 };
	struct settings s;
	struct error err;

	s = (struct settings)SETTINGS_INIT;
	configfile_parse(&a, settings_options, &s, (const char *)data, size, "fuzz",
			 CONFIG_NAMED, "/project", &err);
	rules_config_init(&buildset.compare);
	if (!configfile_parse(&a, buildset_keys, &buildset, (const char *)data, size, "fuzz",
			      CONFIG_PROJECT, NULL, &err)) {
		rules_config_done(&buildset.compare);
		limits_config_done(&buildset.limits);
	}
	rules_config_release(&buildset.compare);
	limits_config_release(&buildset.limits);
	options_release(&a);
	return 0;
}
