/* SPDX-License-Identifier: MIT */
#include "command/redact_parts.h"

#include "base/array.h"
#include "base/field.h"
#include "base/minmax.h"
#include "command/redact_wide.h"

#include <endian.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

/*
 * Each text is scanned once for the beginnings of a few words. These have four bytes or more, so
 * each has two pieces of three bytes, and one of them begins at an even place. So only every
 * second place is searched in a table of such pieces, without a branch that depends on the text.
 * URLs and the user's patterns are searched separately.
 *
 * A long text is searched faster, where the processor can: redact_wide.h.
 */

/* Tables have no pointers, because each would be a relocation in every process that loads the
 * plugin. */
static const struct redact_word words[] = {
	{ "token", RULE_NAME, true, 0, 4 },
	{ "secret", RULE_NAME, true, 0, 1 },
	{ "passw", RULE_NAME, true, 0, 0 },
	{ "passphrase", RULE_NAME, true, 0, 0 },
	{ "storepass", RULE_NAME, true, 0, 1 },
	{ "keypass", RULE_NAME, true, 0, 2 },
	{ "mysql_pwd", RULE_NAME, true, 0, 2 },
	{ "api_key", RULE_NAME, true, 0, 6 },
	{ "api-key", RULE_NAME, true, 0, 6 },
	{ "apikey", RULE_NAME, true, 0, 6 },
	{ "credential", RULE_NAME, true, 0, 5 },
	{ "private_key", RULE_NAME, true, 0, 0 },
	{ "private-key", RULE_NAME, true, 0, 0 },
	{ "privatekey", RULE_NAME, true, 0, 0 },
	{ "access_key", RULE_NAME, true, 0, 6 },
	{ "access-key", RULE_NAME, true, 0, 6 },
	{ "accesskey", RULE_NAME, true, 0, 6 },
	{ "signing_key", RULE_NAME, true, 0, 3 },
	{ "signing-key", RULE_NAME, true, 0, 3 },
	{ "encryption_key", RULE_NAME, true, 0, 0 },
	{ "encryption-key", RULE_NAME, true, 0, 0 },
	{ "authorization", RULE_HEADER, true, 0, 2 },
	{ "auth", RULE_WEAK_NAME, true, 0, 2 },
	{ "bearer", RULE_BEARER, true, 0, 6 },
	{ "ghp_", RULE_TOKEN, false, 20, 5 },
	{ "gho_", RULE_TOKEN, false, 20, 5 },
	{ "ghu_", RULE_TOKEN, false, 20, 5 },
	{ "ghs_", RULE_TOKEN, false, 20, 5 },
	{ "ghr_", RULE_TOKEN, false, 20, 5 },
	{ "github_pat_", RULE_TOKEN, false, 20, 2 },
	{ "glpat-", RULE_TOKEN, false, 16, 4 },
	{ "npm_", RULE_TOKEN, false, 30, 4 },
	{ "pypi-", RULE_TOKEN, false, 30, 3 },
	{ "xoxa-", RULE_TOKEN, false, 10, 4 },
	{ "xoxb-", RULE_TOKEN, false, 10, 1 },
	{ "xoxe-", RULE_TOKEN, false, 10, 4 },
	{ "xoxo-", RULE_TOKEN, false, 10, 4 },
	{ "xoxp-", RULE_TOKEN, false, 10, 4 },
	{ "xoxr-", RULE_TOKEN, false, 10, 4 },
	{ "xoxs-", RULE_TOKEN, false, 10, 4 },
	{ "sk_live_", RULE_TOKEN, false, 16, 1 },
	{ "AIza", RULE_TOKEN, false, 35, 2 },
	{ "AKIA", RULE_AWS, false, 0, 6 },
	{ "ASIA", RULE_AWS, false, 0, 6 },
	{ "eyJ0", RULE_JWT, false, 0, 3 },
	{ "eyJh", RULE_JWT, false, 0, 6 },
	{ "eyJj", RULE_JWT, false, 0, 6 },
	{ "eyJl", RULE_JWT, false, 0, 3 },
	{ "eyJr", RULE_JWT, false, 0, 3 },
	{ "private key-----", RULE_KEY, true, 0, 0 },
	{ "mysql", RULE_MYSQL, false, 0, 2 },
	{ "mariadb", RULE_MYSQL, false, 0, 5 },
	{ "sshpass", RULE_SSHPASS, false, 0, 3 },
	{ "curl", RULE_CURL, false, 0, 2 },
	{ "pass:", RULE_OPENSSL, false, 0, 0 },
	{ "pass", RULE_PASS, true, 0, 0 },
	{ "login", RULE_LOGIN, false, 0, 3 },
	{ "echo", RULE_LOGIN, false, 0, 3 },
	{ "printf", RULE_LOGIN, false, 0, 0 },
};

#define N_WORDS ARRAY_SIZE(words)
#define PIECES 2048

/* For redact_wide(): words of one group have similar letters, so that little other text looks like one of the
 * group. URLs have a group of their own. */
#define URL_GROUP 7
#define WIDE_LEAST 4096

static struct {
	pthread_once_t once;
	struct redact_wide wide;
} wide_rules = { .once = PTHREAD_ONCE_INIT };

/* In .data, because ld.so has written to its pages already, and every recorded make uses it. */
static __attribute__((section(".data"))) struct {
	pthread_once_t once;
	atomic_bool made;		/* the pieces are */
	unsigned char piece[PIECES];	/* 1 + index of a word and its offset, 0: none */
	unsigned char next[2 * N_WORDS];	/* with the same piece, as in piece[] */
} rules = { .once = PTHREAD_ONCE_INIT };

/* Looking up */

/* Of the first three bytes of four; the case of a letter is not in it. */
static unsigned piece_of(const char *p)
{
	uint32_t four;

	memcpy(&four, p, 4);
	return (le32toh(four) & 0x1f1f1f) * 0x9e3779b1u >> 21;
}

static void make_pieces(void)
{
	_Static_assert(2 * N_WORDS < 255, "a piece is a byte");
	for (unsigned i = 0; i < 2 * N_WORDS; i++) {
		unsigned char *head = &rules.piece[piece_of(words[i / 2].text + i % 2)];

		rules.next[i] = *head;
		*head = (unsigned char)(i + 1);
	}
	atomic_store_explicit(&rules.made, true, memory_order_release);
}

void redact_prepare(void)
{
	if (!atomic_load_explicit(&rules.made, memory_order_relaxed))
		make_pieces();
}

/* The next place from p on, in steps of two, with a piece of a word, and its entry. */
static const char *find_piece(unsigned *entry, const char *p, const char *end)
{
	char last[4] = { 0 };

	/* four places at a time: a branch for each costs more than the look */
	while (end - p >= 10 && !(rules.piece[piece_of(p)] | rules.piece[piece_of(p + 2)] |
				  rules.piece[piece_of(p + 4)] | rules.piece[piece_of(p + 6)]))
		p += 8;
	for (; end - p >= 4; p += 2) {
		*entry = rules.piece[piece_of(p)];
		if (*entry)
			return p;
	}
	if (end - p != 3)
		return NULL;
	memcpy(last, p, 3);
	*entry = rules.piece[piece_of(last)];
	return *entry ? p : NULL;
}

static bool is_word_at(const struct redact_word *w, const char *p, const char *end)
{
	const char *text = w->text;

	for (; *text; text++, p++) {
		if (p == end || (*p != *text && !(w->fold && redact_lower(*p) == *text)))
			return false;
	}
	return true;
}

/* The word of this entry of the piece at p, or of a later one, if it is between from and end. */
static const struct redact_word *next_word(unsigned *entry, const char **at, const char *p,
					   const char *from, const char *end)
{
	while (*entry) {
		const struct redact_word *w = &words[(*entry - 1) / 2];

		*at = p - (*entry - 1) % 2;
		*entry = rules.next[*entry - 1];
		if (*at >= from && is_word_at(w, *at, end))
			return w;
	}
	return NULL;
}

static const char *suspect_word(const char *text, const char *end)
{
	const char *at;
	unsigned entry;

	for (const char *p = text; (p = find_piece(&entry, p, end)); p += 2) {
		if (next_word(&entry, &at, p, text, end))
			return at;
	}
	return NULL;
}

static void make_wide(void)
{
	static const char url[] = "://";

	for (unsigned i = 0; i < N_WORDS; i++) {
		for (unsigned k = 0; k < REDACT_WIDE_BYTES; k++)
			redact_wide_add(&wide_rules.wide, k, words[i].text[k], words[i].fold, words[i].group);
	}
	for (unsigned k = 0; k < REDACT_WIDE_BYTES; k++)
		redact_wide_add(&wide_rules.wide, k, url[k], false, URL_GROUP);
}

/* The first suspect, or NULL: *text gets the place from which on the others have to search. */
static const char *suspect_wide(const char **text, const char *end)
{
	const char *p = *text, *at;

	if (end - p < WIDE_LEAST || !redact_wide_usable())
		return NULL;
	pthread_once(&wide_rules.once, make_wide);
	while (end - (p = redact_wide(&wide_rules.wide, p, end)) >= REDACT_WIDE_LEAST) {
		unsigned entry = rules.piece[piece_of(p)];

		if (redact_same(p, "://", 3, false) || next_word(&entry, &at, p, p, end))
			return p;
		p++;
	}
	*text = p;
	return NULL;
}

static const char *suspect_url(const char *p, const char *end, const char *until)
{
	while ((p = memchr(p, ':', (size_t)(until - p)))) {
		if (end - p >= 3 && p[1] == '/' && p[2] == '/')
			return p;
		p++;
	}
	return NULL;
}

/* Most texts have nothing that looks like the beginning of a secret, and this is all that they cost. */
const char *redact_suspect(const char *text, size_t len)
{
	const char *end = text + len, *wide, *word, *url;

	if (len < 4)
		return NULL;
	if (!atomic_load_explicit(&rules.made, memory_order_acquire))
		pthread_once(&rules.once, make_pieces);
	if (redact_current_own())
		return text;
	wide = suspect_wide(&text, end);
	if (wide)
		return wide;
	word = suspect_word(text, end);
	url = suspect_url(text, end, word ? word : end);
	return url ? url : word;
}

/* One text */

struct finder {
	struct redact_scan s;
	const char *text;
	const char *at;			/* words are searched from here */
	struct redact_span word, url, command, login, own_text, own_name;
	const char *command_at;		/* after the command's name or its last secret */
	enum redact_rule command_rule;
};

static void search_command(struct finder *f)
{
	f->command = f->command_rule == RULE_CURL ? redact_curl_password(&f->s, f->command_at) :
		redact_mysql_password(&f->s, f->command_at, f->command_rule == RULE_SSHPASS);
}

static struct redact_span judge_word(struct finder *f, const struct redact_word *w, const char *at)
{
	const struct redact_scan *s = &f->s;

	switch (w->rule) {
	case RULE_NAME:
	case RULE_WEAK_NAME:
	case RULE_PASS:
		return redact_secret_named(s, f->text, w, at);
	case RULE_HEADER:
		return redact_authorization(s, f->text, at);
	case RULE_BEARER:
		return redact_bearer(s, f->text, at);
	case RULE_TOKEN:
		return redact_token(s, f->text, w, at);
	case RULE_AWS:
		return redact_aws_key(s, f->text, at);
	case RULE_JWT:
		return redact_jwt(s, f->text, at);
	case RULE_KEY:
		return redact_key_block(s, at);
	case RULE_OPENSSL:
		return redact_openssl(s, f->text, at);
	case RULE_MYSQL:
	case RULE_SSHPASS:
	case RULE_CURL:
		if (!f->command.p && redact_is_command(s, f->text, at, strlen(w->text))) {
			f->command_rule = w->rule;
			f->command_at = at;
			search_command(f);
		}
		break;
	case RULE_LOGIN:
		if (!f->login.p)
			f->login = redact_login(s, f->text, at);
	}
	return (struct redact_span){ 0 };
}

/* Words of which the piece at p is one. */
static bool judge_piece(struct finder *f, const char *p, unsigned entry)
{
	const struct redact_word *w;
	const char *at;

	while ((w = next_word(&entry, &at, p, f->at, f->s.end))) {
		f->word = judge_word(f, w, at);
		if (f->word.p)
			return true;
	}
	return false;
}

static void search_words(struct finder *f)
{
	unsigned entry;

	f->word = (struct redact_span){ 0 };
	for (const char *p = f->at; (p = find_piece(&entry, p, f->s.end)); p += 2) {
		if (judge_piece(f, p, entry))
			return;
	}
}

static void earliest(struct redact_span *best, struct redact_span v)
{
	if (v.p && (!best->p || v.p < best->p))
		*best = v;
}

/* Search anew whatever was found before p. */
static void search_from(struct finder *f, const char *p)
{
	const struct redact_own *set = redact_current_own();

	if (!set || !set->none) {
		if (f->word.p && f->word.p < p) {
			f->at = p;
			search_words(f);
		}
		if (f->url.p && f->url.p < p)
			f->url = redact_url_password(&f->s, p);
		if (f->command.p && f->command.p < p) {
			f->command_at = p;
			search_command(f);
		}
		if (f->login.p && f->login.p < p)
			f->login = redact_login(&f->s, f->text, p);
	}
	if (f->own_text.p && f->own_text.p < p)
		f->own_text = redact_own_text(&f->s, p);
	if (f->own_name.p && f->own_name.p < p)
		f->own_name = redact_own_name(&f->s, f->text, p);
}

/* The earliest one, with all that overlap it. */
static struct redact_span next_secret(const struct finder *f)
{
	const struct redact_span *all[] = {
		&f->word, &f->url, &f->command, &f->login, &f->own_text, &f->own_name,
	};
	struct redact_span best = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		earliest(&best, *all[i]);
	for (size_t i = 0; i < ARRAY_SIZE(all) && best.p; i++) {
		if (all[i]->p && all[i]->p <= best.end && all[i]->end > best.end) {
			best.end = all[i]->end;
			i = (size_t)-1;
		}
	}
	return best;
}

static void find_first(struct finder *f)
{
	const struct redact_own *set = redact_current_own();

	if (!set || !set->none) {
		search_words(f);
		f->url = redact_url_password(&f->s, f->text);
	}
	if (set && set->has_texts)
		f->own_text = redact_own_text(&f->s, f->text);
	if (set && set->has_names)
		f->own_name = redact_own_name(&f->s, f->text, f->text);
}

static size_t split_secrets(struct slice part[REDACT_PARTS_MAX], const char *text, size_t len, bool cut)
{
	struct finder f = { .s = { text, text + len, cut, false }, .text = text, .at = text };
	const char *done = text;
	struct redact_span v;
	size_t n = 0;

	part[0] = (struct slice){ text, len };
	f.s.words = memchr(text, 0, len);
	find_first(&f);
	while ((v = next_secret(&f)).p) {
		if (n == REDACT_PARTS_MAX - 3)
			v.end = text + len;
		if (v.p > done || !n) {
			part[n++] = (struct slice){ done, (size_t)(v.p - done) };
			part[n++] = slice_of(REDACT_MARK);
		}
		if (v.end > done)
			done = v.end;
		search_from(&f, MAX(v.p + 1, done));
	}
	if (n)
		part[n] = (struct slice){ done, (size_t)(text + len - done) };
	return n + 1;
}

size_t redact_split(struct slice part[REDACT_PARTS_MAX], const char *text, size_t len, bool cut)
{
	if (redact_suspect(text, len))
		return split_secrets(part, text, len, cut);
	part[0] = (struct slice){ text, len };
	return 1;
}

bool redact_field(struct buf *b, const char *text, size_t len, size_t max)
{
	struct slice part[REDACT_PARTS_MAX];
	size_t n;

	if (!redact_suspect(text, len))
		return field_add(b, text, len, max);
	n = split_secrets(part, text, len, false);
	return field_add_parts(b, part, n, max) && n == 1;
}

size_t redact_field_size(const char *text, size_t len, size_t max)
{
	struct slice part[REDACT_PARTS_MAX];
	size_t n = redact_split(part, text, len, false);

	return field_parts_size(part, n, max);
}
