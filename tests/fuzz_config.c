#include "configfile.h"
#include "settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct args a = { 0 };
	struct settings s;
	struct error err;

	settings_init(&s);
	config_parse(&a, settings_options, &s, (const char *)data, size, "fuzz", "/project",
		     &err);
	args_release(&a);
	return 0;
}
