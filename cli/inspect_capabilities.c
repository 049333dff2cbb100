/* SPDX-License-Identifier: MIT */
#include "analyse/listing.h"
#include "cli/inspect.h"
#include "cli/output_file.h"
#include "heap/heap_env.h"
#include "inspect/capabilities.h"
#include "launch/find_plugin.h"
#include "report/inspect/capabilities_view.h"

#include <limits.h>

/* Says what can be inspected on this machine. */
int inspect_run_capabilities(struct args *a, void *values, struct error *err)
{
	const struct inspect_arguments *o = values;
	struct buf out = BUF_INIT, base = BUF_INIT;
	struct style style = output_style();
	struct error why = { 0 };
	struct capabilities c;
	char shim[PATH_MAX];
	bool heap;
	int r;

	(void)a;
	heap = find_heap(shim, HEAP_ENV_SHIM, &why);
	r = listing_base(&base, NULL, NULL);
	r = capabilities_find(&c, r ? "buildstats" : buf_str(&base), ".",
			      heap ? NULL : why.message);
	if (!r)
		r = o->json ? capabilities_view_json(&out, &c) :
		    capabilities_view_text(&out, &c, &style);
	capabilities_release(&c);
	buf_release(&base);
	return output_end(&out, r, NULL, err);
}
