/* SPDX-License-Identifier: MIT */
#include "inspect/archive_format.h"

#include <string.h>

static bool is_permissions(const char *p)
{
	for (size_t i = 0; i < 4; i++)
		if (p[i] <= ' ' || p[i] > '~')
			return false;
	return !p[4];
}

/* Add to a sum that must stay below max. */
static bool add_up(uint64_t *sum, uint64_t n, uint64_t max)
{
	if (n > max || *sum > max - n)
		return false;
	*sum += n;
	return true;
}

static bool valid_mappings(const struct inspection *x, const struct snapshot *s)
{
	uint64_t last = 0, sum[MAPPING_VALUES] = { 0 };

	for (size_t i = 0; i < s->n; i++) {
		const struct mapping *m = &s->mapping[i];

		if (m->start < last || m->end <= m->start || m->file >= x->names.n ||
		    !is_permissions(m->permissions))
			return false;
		last = m->end;
		for (size_t v = 0; v < MAPPING_VALUES; v++)
			if (!add_up(&sum[v], m->kb[v], ARCHIVE_KB_MAX))
				return false;
	}
	return true;
}

static bool valid_sites(const struct inspection *x, const struct snapshot *s)
{
	uint64_t sum[ARCHIVE_SITE_VALUES] = { 0 };
	int64_t value[ARCHIVE_SITE_VALUES];

	for (size_t i = 0; i < s->n_sites; i++) {
		const struct site *site = &s->site[i];

		if (site->stack >= x->n_stacks ||
		    (i && archive_site_key(site - 1) >= archive_site_key(site)))
			return false;
		archive_site_values(value, site);
		for (size_t v = 0; v < ARCHIVE_SITE_VALUES; v++)
			if (!add_up(&sum[v], (uint64_t)value[v], ARCHIVE_VALUE_MAX))
				return false;
	}
	return true;
}

static bool valid_ranges(const struct inspection *x, const struct snapshot *s)
{
	for (size_t i = 0; i < s->n_ranges; i++) {
		const struct mapped_range *r = &s->range[i];

		if (r->end <= r->start || r->stack >= x->n_stacks || (i && r->start < r[-1].end))
			return false;
	}
	return true;
}

static bool valid_pages(const struct snapshot *s)
{
	for (size_t i = 0; i < s->n_resident; i++) {
		const struct resident *r = &s->resident[i];

		if (r->end <= r->start || (i && r->start < r[-1].end))
			return false;
	}
	return true;
}

bool archive_valid_values(const struct process_values *v)
{
	return v->user_ticks <= ARCHIVE_VALUE_MAX && v->system_ticks <= ARCHIVE_VALUE_MAX &&
	       v->minor_faults <= ARCHIVE_VALUE_MAX && v->major_faults <= ARCHIVE_VALUE_MAX &&
	       v->rss_kb <= ARCHIVE_KB_MAX && v->read_kb <= ARCHIVE_KB_MAX &&
	       v->written_kb <= ARCHIVE_KB_MAX;
}

bool archive_valid_block(enum archive_log log, const struct inspection *x,
			 const struct snapshot *s)
{
	if (log == ARCHIVE_HEAP)
		return valid_sites(x, s) && valid_ranges(x, s);
	if (log == ARCHIVE_PAGES)
		return valid_pages(s);
	return s->time_us >= 0 && s->time_us <= ARCHIVE_TIME_MAX && s->took_us >= 0 &&
	       s->took_us <= ARCHIVE_TIME_MAX && archive_valid_values(&s->process) &&
	       valid_mappings(x, s);
}

bool archive_valid_stacks(const struct inspection *x, const struct archive_written *from)
{
	for (size_t i = from->modules; i < x->n_modules; i++)
		if (x->module[i].end <= x->module[i].start || x->module[i].file >= x->names.n)
			return false;
	for (size_t i = from->frames; i < x->n_frames; i++)
		if (x->frame[i].module != INSPECTION_NONE && x->frame[i].module >= x->n_modules)
			return false;
	for (size_t i = from->stacks; i < x->n_stacks; i++)
		if (x->stack[i].frame >= x->n_frames ||
		    (x->stack[i].parent != INSPECTION_NONE && x->stack[i].parent >= i))
			return false;
	return x->n_modules < INSPECTION_NONE && x->n_frames < INSPECTION_NONE &&
	       x->n_stacks < INSPECTION_NONE;
}
