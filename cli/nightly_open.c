#include "nightly.h"

#include <errno.h>
#include <stdlib.h>

int nightly_archive(struct nightly *n, enum archive_use use, struct error *err)
{
	if (!n->options->repo)
		return error_set(err, -EINVAL, NULL, 0, 0, "no archive is named: give --repo, or "
				 "the key 'repo' in buildbeat.yaml");
	return archive_open(&n->archive, n->options->repo, use, err);
}

int nightly_series(struct nightly *n, struct error *err)
{
	return archive_choose(n->archive, n->options->ref, &n->ref, err);
}

int nightly_load(struct nightly *n, enum nightly_span span, struct error *err)
{
	size_t newest = span == NIGHTLY_WINDOW ? (size_t)n->rules.window : 0;
	int r = archive_nights(n->archive, buf_str(&n->ref), newest, &n->nights, err);

	if (!r)
		r = archive_known(n->archive, &n->nights, &n->known, err);
	return r;
}

int nightly_open(struct nightly *n, struct args *args, struct nightly_options *options,
		 enum nightly_span span, struct error *err)
{
	int r = nightly_settings(n, args, options, err);

	if (!r)
		r = nightly_archive(n, ARCHIVE_READ, err);
	if (!r)
		r = nightly_series(n, err);
	if (!r)
		r = nightly_load(n, span, err);
	return r;
}

void nightly_release(struct nightly *n)
{
	free(n->known.known);
	nights_release(&n->nights);
	buf_release(&n->ref);
	archive_close(n->archive);
	rules_config_release(&n->config);
}
