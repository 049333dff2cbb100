/* SPDX-License-Identifier: MIT */
#include "live/channel.h"

#include "tests/recorded.h"
#include "tests/support.h"

#include <sys/resource.h>

#define CONSUMERS 6

/* The reference has every message. */
struct message {
	unsigned class;
	uint64_t number;
	char *text;
};

static struct message *all;
static size_t n_all;

static void add(struct channel *c, uint64_t *state, uint64_t *number)
{
	struct message *m = array_add(&all, &n_all, sizeof *m);
	size_t len = random_below(state, random_below(state, 40) ? 200 : 40000);

	ck_assert_ptr_nonnull(m);
	m->class = (unsigned)random_below(state, 3);
	m->number = m->class < CHANNEL_CLASSES ? number[m->class] += random_below(state, 3) : 0;
	m->text = calloc(1, len + 40);
	snprintf(m->text, 30, "%zu ", n_all);
	memset(m->text + strlen(m->text), 'a' + (int)(n_all % 26), len);
	strcat(m->text, "\n");
	ck_assert_int_eq(channel_add(c, m->class, m->number, m->text, strlen(m->text)), 0);
}

static void clear(void)
{
	for (size_t i = 0; i < n_all; i++)
		free(all[i].text);
	free(all);
	all = NULL;
	n_all = 0;
}

struct consumer {
	struct channel_place place;
	struct buf got;
};

/* What one who asked for messages after some numbers gets in the end. */
static void check(struct consumer *k, size_t from)
{
	struct buf wanted = BUF_INIT;

	for (size_t i = from; i < n_all; i++) {
		if (all[i].class >= CHANNEL_CLASSES || all[i].number > k->place.after[all[i].class])
			buf_adds(&wanted, all[i].text);
	}
	ck_assert_uint_eq(k->got.len, wanted.len);
	ck_assert(!strcmp(buf_str(&k->got), buf_str(&wanted)));
	buf_release(&wanted);
	buf_release(&k->got);
}

static void read_some(struct channel *c, struct consumer *k, size_t most)
{
	size_t before = k->got.len;

	ck_assert_int_eq(channel_read(c, &k->place, most, &k->got), 0);
	if (k->got.len - before > most)		/* one long message */
		ck_assert_ptr_eq(strchr(k->got.data + before, '\n'), k->got.data + k->got.len - 1);
}

TEST_LOOP(consumers, 5)
{
	struct consumer k[CONSUMERS] = { { .place = { 0 } } };
	uint64_t state = (uint64_t)_i, number[CHANNEL_CLASSES] = { 0 };
	struct channel *c;

	ck_assert_int_eq(channel_new(&c, UINT64_MAX), 0);
	for (size_t i = 1; i < CONSUMERS; i++)
		for (size_t n = 0; n < CHANNEL_CLASSES; n++)
			k[i].place.after[n] = random_below(&state, i * 100);
	for (unsigned i = 0; i < 3000; i++) {
		struct consumer *one = &k[random_below(&state, CONSUMERS)];

		add(c, &state, number);
		if (!random_below(&state, 1 + random_below(&state, 300)))
			read_some(c, one, 1 + random_below(&state, 60000));
	}
	for (size_t i = 0; i < CONSUMERS; i++) {
		while (k[i].place.offset < channel_end(c))
			read_some(c, &k[i], 1 + random_below(&state, 60000));
		check(&k[i], 0);
	}
	channel_free(c);
	clear();
}

/* A place for numbers leaves out nothing that is wanted, and reading begins there. */
TEST_LOOP(seek, 3)
{
	uint64_t state = (uint64_t)_i, number[CHANNEL_CLASSES] = { 0 };
	struct channel *c;

	ck_assert_int_eq(channel_new(&c, UINT64_MAX), 0);
	for (unsigned i = 0; i < 3000; i++)
		add(c, &state, number);
	for (unsigned i = 0; i < 20; i++) {
		struct consumer k = { .place = { .after = { random_below(&state, number[0] + 1),
							    random_below(&state, number[1] + 1) } } };
		struct buf out = BUF_INIT;
		size_t always = 0;
		char *p;

		channel_seek(c, &k.place);
		while (k.place.offset < channel_end(c))
			read_some(c, &k, 30000);
		/* those without a number afterwards */
		p = k.got.len ? k.got.data : NULL;
		always = p ? strtoul(p, NULL, 10) - 1 : n_all;
		for (size_t m = 0; m < always; m++)
			ck_assert(all[m].class >= CHANNEL_CLASSES ||
				  all[m].number <= k.place.after[all[m].class]);
		check(&k, always);
		buf_release(&out);
	}
	channel_free(c);
	clear();
}

/* The oldest are dropped, a consumer that is behind gets a gap, and the others lose nothing. */
TEST(bounded)
{
	struct consumer slow = { .place = { 0 } }, quick = { .place = { 0 } };
	uint64_t state = 1, number[CHANNEL_CLASSES] = { 0 };
	struct channel *c;
	size_t first;

	ck_assert_int_eq(channel_new(&c, 400000), 0);
	for (unsigned i = 0; i < 3000; i++) {
		add(c, &state, number);
		while (quick.place.offset < channel_end(c))
			read_some(c, &quick, 30000);
		ck_assert_uint_le(channel_end(c) - channel_first(c), 450000);
	}
	check(&quick, 0);
	ck_assert_int_eq(channel_read(c, &slow.place, 1000, &slow.got), -ESTALE);
	ck_assert_uint_eq(slow.place.offset, channel_first(c));
	while (slow.place.offset < channel_end(c))
		read_some(c, &slow, 30000);
	first = strtoul(slow.got.data, NULL, 10) - 1;
	ck_assert_uint_gt(first, 1000);
	check(&slow, first);
	channel_free(c);
	clear();
}

/* No room for more: history is given up, the newest goes on. RLIMIT_FSIZE stands for a full disk. */
TEST(full_disk)
{
	struct rlimit limit = { 100000, 100000 };
	struct channel_place place = { 0 };
	char text[1000];
	RELEASED(buf, out = BUF_INIT);
	struct channel *c;
	bool stale = false;

	memset(text, 'x', sizeof text);
	ck_assert_int_eq(channel_new(&c, UINT64_MAX), 0);
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (unsigned i = 0; i < 150; i++) {
		int r;

		ck_assert_int_eq(channel_add(c, 0, i + 1, text, sizeof text), 0);
		r = channel_read(c, &place, 2000, &out);
		ck_assert(!r || r == -ESTALE);
		stale |= r == -ESTALE;
		if (r)
			ck_assert_int_eq(channel_read(c, &place, 2000, &out), 0);
	}
	ck_assert(stale);
	ck_assert_uint_eq(out.len, 150 * sizeof text);
	/* not even one message */
	limit.rlim_cur = 10;
	setrlimit(RLIMIT_FSIZE, &limit);
	ck_assert_int_lt(channel_add(c, 0, 200, text, sizeof text), 0);
	ck_assert_int_eq(channel_read(c, &place, 2000, &out), -ESTALE);
	channel_free(c);
}

TEST_MAIN(channel);
