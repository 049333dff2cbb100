/* SPDX-License-Identifier: MIT */
#include "cli/nightly.h"

#include "launch/notice.h"

#include <errno.h>
#include <stdlib.h>

/* Nothing is said of the newest nights where one cannot know which they are. */
static int open_archive(struct nightly *n, enum archive_use use, enum nightly_span span,
			struct error *err)
{
	struct error why;
	int r;

	if (!n->options->repo)
		return error_set(err, -EINVAL, NULL, 0, 0, "no archive is named: give --repo, or "
				 "the key 'repo' in buildbeat.yaml");
	r = archive_open(&n->archive, n->options->repo, use, err);
	if (r || use == ARCHIVE_WRITE || !archive_is_stale(n->archive, &why))
		return r;
	if (span == NIGHTLY_WINDOW) {
		*err = why;
		return -ENOTCONN;
	}
	notice_error(&why);
	notice("what follows is of the copy, as it was fetched last");
	return 0;
}

int nightly_archive(struct nightly *n, enum archive_use use, struct error *err)
{
	return open_archive(n, use, NIGHTLY_ALL, err);
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
	if (r > 0)
		notice_error(err);
	return r > 0 ? 0 : r;
}

int nightly_open(struct nightly *n, struct args *args, struct nightly_options *options,
		 enum nightly_span span, struct error *err)
{
	int r = nightly_settings(n, args, options, err);

	if (!r)
		r = open_archive(n, ARCHIVE_READ, span, err);
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
