/* SPDX-License-Identifier: MIT */
#include "cli/openrerun.h"

#include "cli/openrec.h"

int openrerun(struct openrerun *o, int how, const char *base, const char *what, struct error *err)
{
	int r;

	*o = (struct openrerun){ .recording = RECORDING_INIT };
	r = openrec(&o->recording, how, base, what, err);
	if (r)
		return r;
	r = summary_make(&o->summary, &o->recording);
	if (!r)
		r = chain_make(&o->chain, &o->summary);
	if (r)
		return error_sys(err, r, o->recording.path, NULL);
	return rerun_make(&o->rerun, &o->summary, &o->chain, err);
}

void openrerun_release(struct openrerun *o)
{
	rerun_release(&o->rerun);
	chain_release(&o->chain);
	summary_release(&o->summary);
	recording_release(&o->recording);
}
