/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "compare/diff_parts.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/cursor.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MEMORY_SHARE 0.02	/* smaller changes are memory reserved by the kernel */

#define COMMIT_SHOWN 12

#define VERSION_MAX 256		/* longest file name */

typedef void fact_of(struct buf *out, const struct values *f, const char *key);

static void add_text_of(struct buf *out, const struct values *f, const char *key)
{
	const char *value = values_fact(f, key);

	buf_adds(out, value ? value : "");
}

static void add_tool(struct buf *out, const struct values *f, const char *key)
{
	const char *version = values_fact(f, "version");

	add_text_of(out, f, key);
	if (version && out->len)
		buf_addf(out, " %s", version);
}

static void add_values(struct buf *out, const struct values *f, const char *key)
{
	for (size_t i = 0; i < f->n_facts; i++) {
		if (!strcmp(f->fact[i].key, key))
			buf_addf(out, "%s%s", out->len ? " + " : "", f->fact[i].value);
	}
}

/* "layer: 1a2b3c4d5e6f (main, with changes)" for each source tree; the name only if there are
 * several. */
static void add_revisions(struct buf *out, const struct values *f, const char *key)
{
	bool open = false;
	size_t trees = 0;

	(void)key;
	for (size_t i = 0; i < f->n_facts; i++)
		trees += !strcmp(f->fact[i].key, "source");
	for (size_t i = 0; i < f->n_facts; i++) {
		const struct values_fact *fact = &f->fact[i];
		const char *base = strrchr(fact->value, '/');

		if (!strcmp(fact->key, "source")) {
			if (open)
				buf_addc(out, ')');
			open = false;
			if (out->len)
				buf_adds(out, " + ");
			if (trees > 1)
				buf_addf(out, "%s: ", base && base[1] ? base + 1 : fact->value);
		} else if (!strcmp(fact->key, "revision")) {
			buf_addf(out, "%.*s", COMMIT_SHOWN, fact->value);
		} else if (!strcmp(fact->key, "branch") ||
			   (!strcmp(fact->key, "dirty") && !strcmp(fact->value, "yes"))) {
			buf_addf(out, "%s%s", open ? ", " : " (", *fact->key == 'b' ?
				 fact->value : "with changes");
			open = true;
		}
	}
	if (open)
		buf_addc(out, ')');
}

static const struct {
	const char *key, *label;
	fact_of *add;
} facts[] = {
	{ "host", "host", add_text_of },
	{ "machine", "machine", add_text_of },
	{ "kernel", "kernel", add_text_of },
	{ "cores", "cores", add_text_of },
	{ "memory_kb", "memory_kb", add_text_of },
	{ "command", "command", add_text_of },
	{ "cwd", "directory", add_text_of },
	{ "tool", "tool", add_tool },
	{ "uses", "tools", add_values },
	{ "ccache", "ccache", add_text_of },
	{ "sccache", "sccache", add_text_of },
	{ "revision", "revision", add_revisions },
};

/* Whether value is in said, whose texts end with NULs. */
static bool is_said(const struct buf *said, size_t begin, const char *value)
{
	for (const char *p = said->data + begin; p < said->data + said->len; p += strlen(p) + 1) {
		if (!strcmp(p, value))
			return true;
	}
	return false;
}

/* The distinct values of the runs of a side. */
static void add_side(struct buf *out, const struct values *run, size_t n, size_t fact)
{
	struct buf said = BUF_PART_OF(out), value = BUF_PART_OF(out);

	for (size_t i = 0; i < n; i++) {
		buf_clear(&value);
		facts[fact].add(&value, &run[i], facts[fact].key);
		if (!value.len || (said.len && is_said(&said, 0, buf_str(&value))))
			continue;
		buf_addf(out, "%s%s", said.len ? ", " : "", buf_str(&value));
		buf_add(&said, buf_str(&value), value.len + 1);
	}
	buf_release(&said);
	buf_release(&value);
}

static bool is_same(const char *label, const char *a, const char *b)
{
	uint64_t x, y;

	if (!strcmp(label, "memory_kb") && cursor_slice_u64(slice_of(a), &x) &&
	    cursor_slice_u64(slice_of(b), &y))
		return (double)(x > y ? x - y : y - x) <= MEMORY_SHARE * (double)x;
	return !strcmp(a, b);
}

static int add_fact(struct diff *d, const char *label, struct buf *side)
{
	struct diff_fact *fact;

	if (is_same(label, buf_str(&side[DIFF_BASE]), buf_str(&side[DIFF_NOW])))
		return 0;
	fact = array_grow(d->fact, d->n_facts, sizeof *fact);
	if (!fact)
		return -ENOMEM;
	d->fact = fact;
	fact += d->n_facts++;
	fact->key = label;
	for (enum diff_side s = 0; s < DIFF_SIDES; s++) {
		fact->value[s] = arena_text(d->texts, buf_str(&side[s]), side[s].len);
		if (!fact->value[s])
			return -ENOMEM;
	}
	return 0;
}

int diff_add_facts(struct diff *d)
{
	struct buf side[DIFF_SIDES] = { BUF_INIT, BUF_INIT };
	int r = 0;

	for (size_t i = 0; !r && i < ARRAY_SIZE(facts); i++) {
		for (enum diff_side s = 0; s < DIFF_SIDES; s++) {
			buf_clear(&side[s]);
			add_side(&side[s], d->run[s], d->n_runs[s], i);
			r = r ? r : buf_error(&side[s]);
		}
		if (!r)
			r = add_fact(d, facts[i].label, side);
	}
	buf_release(&side[DIFF_BASE]);
	buf_release(&side[DIFF_NOW]);
	return r;
}

/* Packages */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int compare_numbers(const char **a, const char **b)
{
	size_t n = 0, m = 0;
	int r;

	while (**a == '0')
		++*a;
	while (**b == '0')
		++*b;
	while (is_digit((*a)[n]))
		n++;
	while (is_digit((*b)[m]))
		m++;
	r = n != m ? (n < m ? -1 : 1) : memcmp(*a, *b, n);
	*a += n;
	*b += m;
	return r;
}

static int compare_words(const char **a, const char **b)
{
	while (is_letter(**a) && **a == **b) {
		++*a;
		++*b;
	}
	if (!is_letter(**a) && !is_letter(**b))
		return 0;
	return is_letter(**a) && is_letter(**b) ? **a - **b : is_letter(**a) ? 1 : -1;
}

/* Suffixes of versions that precede the version without them. */
static bool is_early(const char *word)
{
	static const char *const list[] = { "alpha", "beta", "pre", "rc" };

	for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
		if (!strncmp(word, list[i], strlen(list[i])))
			return true;
	}
	return false;
}

/* Part by part, numbers by value. A number is above a word, a longer version above a shorter. */
static int compare_versions(const char *a, const char *b)
{
	int r = 0;

	while (!r) {
		while (*a && !is_digit(*a) && !is_letter(*a))
			a++;
		while (*b && !is_digit(*b) && !is_letter(*b))
			b++;
		if (!*a || !*b)
			return *a ? (is_early(a) ? -1 : 1) : *b ? (is_early(b) ? 1 : -1) : 0;
		if (is_digit(*a) != is_digit(*b))
			return is_digit(*a) ? 1 : -1;
		r = is_digit(*a) ? compare_numbers(&a, &b) : compare_words(&a, &b);
	}
	return r;
}

/* In "1:13.2-r0": the length of the epoch with its colon, and the begin of the revision. */
static size_t epoch_length(const char *version)
{
	size_t n = strspn(version, "0123456789");

	return n && version[n] == ':' ? n + 1 : 0;
}

static size_t revision_start(const char *version)
{
	const char *dash = strrchr(version, '-');

	return dash ? (size_t)(dash - version) : strlen(version);
}

static enum package_change change_of(const char *a, const char *b)
{
	size_t epoch_a = epoch_length(a), epoch_b = epoch_length(b);
	size_t end_a = revision_start(a), end_b = revision_start(b), plain = strcspn(a, "+");
	char x[VERSION_MAX], y[VERSION_MAX];

	if (epoch_a != epoch_b || strncmp(a, b, epoch_a))
		return PACKAGE_EPOCH;
	if (end_a == end_b && !strncmp(a, b, end_a))
		return PACKAGE_REVISION;
	if (a[plain] && strcspn(b, "+") == plain && !strncmp(a, b, plain))
		return PACKAGE_SOURCES;
	snprintf(x, sizeof x, "%.*s", (int)(end_a - epoch_a), a + epoch_a);
	snprintf(y, sizeof y, "%.*s", (int)(end_b - epoch_b), b + epoch_b);
	return compare_versions(x, y) > 0 ? PACKAGE_DOWNGRADED : PACKAGE_UPGRADED;
}

static int add_package(struct diff *d, const char *name, const char *base, const char *now)
{
	struct diff_package *p = array_grow(d->package, d->n_packages, sizeof *p);

	if (!p)
		return -ENOMEM;
	d->package = p;
	p[d->n_packages++] = (struct diff_package){
		name, { base, now },
		!base ? PACKAGE_NEW : !now ? PACKAGE_GONE : change_of(base, now),
	};
	return 0;
}

/* The newest run of a side that has packages. */
static const struct values *packages_of(const struct diff *d, enum diff_side s)
{
	for (size_t i = d->n_runs[s]; i-- > 0;) {
		if (d->run[s][i].n_packages)
			return &d->run[s][i];
	}
	return NULL;
}

int diff_add_packages(struct diff *d)
{
	const struct values *a = packages_of(d, DIFF_BASE), *b = packages_of(d, DIFF_NOW);
	size_t i = 0, k = 0;
	int r = 0;

	while (a && b && !r && (i < a->n_packages || k < b->n_packages)) {
		const struct values_package *x = &a->package[i], *y = &b->package[k];
		int order = i == a->n_packages ? 1 : k == b->n_packages ? -1 :
			    strcmp(x->name, y->name);

		if (order < 0)
			r = add_package(d, x->name, x->version, NULL);
		else if (order > 0)
			r = add_package(d, y->name, NULL, y->version);
		else if (strcmp(x->version, y->version))
			r = add_package(d, x->name, x->version, y->version);
		i += order <= 0;
		k += order >= 0;
	}
	return r;
}
