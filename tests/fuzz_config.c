/* SPDX-License-Identifier: MIT */
#include "cli/configfile.h"
#include "cli/nightly.h"
#include "cli/settings_options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct args a = { 0 };
	struct nightly_config nightly = { 0 };
	struct settings s;
	struct error err;

	settings_init(&s);
	config_parse(&a, settings_options, &s, (const char *)data, size, "fuzz", CONFIG_NAMED,
		     "/project", &err);
	rules_config_init(&nightly.compare);
	if (!config_parse(&a, nightly_keys, &nightly, (const char *)data, size, "fuzz", CONFIG_PROJECT, NULL,
			  &err))
		rules_config_done(&nightly.compare);
	rules_config_release(&nightly.compare);
	args_release(&a);
	return 0;
}
