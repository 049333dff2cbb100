/* SPDX-License-Identifier: MIT */
#include "command/redact_parts.h"

#include "base/hex.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* In .data like the rules of redact.c. NULL: no patterns. */
static __attribute__((section(".data"))) const struct redact_own *_Atomic current;
static const struct redact_own *_Atomic all_sets;
const struct redact_own *redact_current_own(void)
{
	return atomic_load_explicit(&current, memory_order_acquire);
}

static bool match_glob(const char *glob, const char *p, const char *end)
{
	const char *star = NULL, *retry = p;

	while (p < end) {
		if (*glob == '*') {
			star = ++glob;
			retry = p;
		} else if (*glob && *glob == redact_lower(*p)) {
			glob++;
			p++;
		} else if (star) {
			glob = star;
			p = ++retry;
		} else {
			return false;
		}
	}
	while (*glob == '*')
		glob++;
	return !*glob;
}

bool redact_is_named(int kind, const char *p, const char *end)
{
	const struct redact_own *set = redact_current_own();
	const char *bare = p;

	while (bare < end && *bare == '-')
		bare++;
	for (unsigned i = 0; set && i < set->n; i++) {
		const struct redact_pattern *own = &set->pattern[i];

		if ((int)own->kind == kind &&
		    (match_glob(own->text, p, end) || match_glob(own->text, bare, end) ||
		     (bare == p + 1 && bare < end && *bare == 'D' && match_glob(own->text, bare + 1, end))))
			return true;
	}
	return false;
}

#define TEXT_MARK "(*)"

const char *redact_why_not(const char *pattern)
{
	size_t len = strlen(pattern), mark = strlen(TEXT_MARK);
	const char *p = pattern;

	if (!len || len > REDACT_PATTERN_MAX)
		return "expected a pattern of 1 to 64 bytes";
	if (len > mark && !strcmp(pattern + len - mark, TEXT_MARK))
		return len - mark < 2 ? "expected a text of two bytes or more before (*)" : NULL;
	for (p += *p == '!'; *p; p++) {
		if (!redact_is_name(*p) && *p != '*')
			return "expected a name with letters, digits and _-.*, or a text and (*)";
	}
	p = pattern + (*pattern == '!');
	return p[strspn(p, "*")] ? NULL : "expected a name with characters besides *";
}

static __attribute__((cold)) void add_pattern(struct redact_own *set, const char *text)
{
	size_t len = strlen(text), mark = strlen(TEXT_MARK);
	struct redact_pattern *own = &set->pattern[set->n];

	if (!strcmp(text, REDACT_NONE)) {
		set->none = true;
		return;
	}
	if (redact_why_not(text) || set->n == REDACT_PATTERNS_MAX)
		return;
	set->n++;
	if (len > mark && !strcmp(text + len - mark, TEXT_MARK)) {
		own->kind = PATTERN_TEXT;
		len -= mark;
	} else if (*text == '!') {
		own->kind = PATTERN_NOT;
		text++;
		len--;
	}
	set->has_texts |= own->kind == PATTERN_TEXT;
	set->has_names |= own->kind == PATTERN_NAME;
	own->len = len;
	for (size_t i = 0; i < len; i++)
		own->text[i] = own->kind == PATTERN_TEXT ? text[i] : redact_lower(text[i]);
}

/*
 * A set that was published once stays in memory, because another thread may be reading it. A
 * process has few different ones. The first one needs no memory; without memory for a
 * further one the patterns stay as they are.
 */
static __attribute__((cold)) const struct redact_own *keep_published(const struct redact_own *set)
{
	static struct redact_own first;
	static atomic_flag first_is_taken = ATOMIC_FLAG_INIT;
	struct redact_own *copy;

	for (const struct redact_own *known = atomic_load(&all_sets); known; known = known->before) {
		if (known->none == set->none && known->n == set->n &&
		    !memcmp(known->pattern, set->pattern, sizeof set->pattern))
			return known;
	}
	copy = atomic_flag_test_and_set(&first_is_taken) ? malloc(sizeof *copy) : &first;
	if (!copy)
		return NULL;
	*copy = *set;
	copy->before = atomic_load(&all_sets);
	while (!atomic_compare_exchange_weak(&all_sets, &copy->before, copy))
		;
	return copy;
}

static __attribute__((cold)) void publish(const struct redact_own *set)
{
	const struct redact_own *kept = set->none || set->n ? keep_published(set) : NULL;

	if (kept || (!set->none && !set->n))
		atomic_store_explicit(&current, kept, memory_order_release);
}

bool redact_is_default(void)
{
	return !redact_current_own();
}

void redact_set(const char *const *pattern, size_t n)
{
	struct redact_own set = { 0 };

	for (size_t i = 0; i < n; i++)
		add_pattern(&set, pattern[i]);
	publish(&set);
}

static void add_word(struct buf *b, const char *text)
{
	for (; *text; text++) {
		if (redact_is_name(*text) || *text == '*' || *text == '!') {
			buf_addc(b, *text);
		} else {
			buf_addc(b, '%');
			buf_addc(b, hex_digit((unsigned char)*text >> 4));
			buf_addc(b, hex_digit((unsigned char)*text));
		}
	}
}

__attribute__((cold)) void redact_add_words(struct buf *b)
{
	static const char before[][2] = { "", "!", "" }, behind[][4] = { "", "", TEXT_MARK };
	const struct redact_own *set = redact_current_own();
	bool first = true;

	if (set && set->none) {
		buf_adds(b, REDACT_NONE);
		first = false;
	}
	for (unsigned i = 0; set && i < set->n; i++) {
		const struct redact_pattern *own = &set->pattern[i];

		if (!first)
			buf_addc(b, ' ');
		first = false;
		add_word(b, before[own->kind]);
		add_word(b, own->text);
		add_word(b, behind[own->kind]);
	}
}

void redact_set_words(struct slice text)
{
	char word[REDACT_PATTERN_MAX + 1];
	struct redact_own set = { 0 };
	size_t n = 0;

	for (size_t i = 0; i <= text.len; i++) {
		char c = i < text.len ? text.p[i] : ' ';

		if (c == ' ') {
			word[n] = '\0';
			if (n)
				add_pattern(&set, word);
			n = 0;
			continue;
		}
		if (c == '%' && text.len - i > 2 && hex_byte(text.p + i + 1) >= 0) {
			c = (char)hex_byte(text.p + i + 1);
			i += 2;
		}
		if (n < REDACT_PATTERN_MAX)
			word[n++] = c;
	}
	publish(&set);
}
