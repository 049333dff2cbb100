/* SPDX-License-Identifier: MIT */
#include "archive/notes_text.h"
#include "base/array.h"
#include "tests/support.h"

/* The text of notes on builds. */

#define EVERY (METRIC_BIT(METRICS) - 1)
#define PLAIN .owner = NULL
#define CPU_WALL (METRIC_BIT(METRIC_CPU) | METRIC_BIT(METRIC_WALL))

static const struct { struct known known; const char *line; } same[] = {
	{ { KNOWN_ACCEPTED, 0, "core: main.o", CPU_WALL, "the new parser", "Name", 0, PLAIN },
	  "accept wall,cpu \"core: main.o\" by \"Name\" at 1970-01-01T00:00:00Z: the new parser\n" },
	{ { KNOWN_ACKNOWLEDGED, 0, "", EVERY, "looked at", "a b", 1763629920, PLAIN },
	  "ack all total by \"a b\" at 2025-11-20T09:12:00Z: looked at\n" },
	{ { KNOWN_ACCEPTED, 0, "total", EVERY, "", "", 1, PLAIN },
	  "accept all \"total\" by \"\" at 1970-01-01T00:00:01Z: \n" },
	{ { KNOWN_ACCEPTED, 0, "a\"b\\c\nd\x01", METRIC_BIT(METRIC_IO), "one\ntwo\\three\t\"x\"",
	    "\" at 2: x", 59, PLAIN },
	  "accept io \"a\\\"b\\\\c\\nd\\x01\" by \"\\\" at 2: x\" at 1970-01-01T00:00:59Z: "
	  "one\\ntwo\\\\three\\x09\"x\"\n" },
	{ { KNOWN_ACCEPTED, 0, "\xc3\xa9\xff*", EVERY, "\xc3\xa9", "\xc3\xa9", 4102444800, PLAIN },
	  "accept all \"\xc3\xa9\xff*\" by \"\xc3\xa9\" at 2100-01-01T00:00:00Z: \xc3\xa9\n" },
	{ { KNOWN_ACKNOWLEDGED, 0, "", EVERY, "slow", "x", 0, .owner = "A. [B]",
	    .bug = "https://b/?id=[1]", .fixed_by = "12ab34f" }, "ack all total by \"x\" at 1970-01-01T00:00:00Z: slow [owner: A. \\x5bB\\x5d] "
	  "[bug: https://b/?id=\\x5b1\\x5d] [fixed by: 12ab34f]\n" },
	{ { KNOWN_ACKNOWLEDGED, 0, "", EVERY, "the disk [x]", "x", 0, .invalid = true },
	  "ack all total by \"x\" at 1970-01-01T00:00:00Z: the disk [x\\x5d [invalid]\n" },
	{ { KNOWN_ACKNOWLEDGED, 0, "", EVERY, "[invalid]", "x", 0, .owner = "a\tb " },
	  "ack all total by \"x\" at 1970-01-01T00:00:00Z: [invalid\\x5d [owner: a\\x09b\\x20]\n" },
	{ { KNOWN_ACCEPTED, 0, "", EVERY, "", "x", 0, .bug = "ftp", .everywhere = "h/b/m" },
	  "accept all total by \"x\" at 1970-01-01T00:00:00Z:  [bug: ftp] [everywhere: h/b/m]\n" },
};

/* Written by hand, and the result; NULL: no note. */
static const struct { const char *line; enum note_line what; const char *again; } by_hand[] = {
	{ "", NOTE_SAYS_NOTHING, NULL },
	{ " \t", NOTE_SAYS_NOTHING, NULL },
	{ "# ack all total", NOTE_SAYS_NOTHING, NULL },
	{ "  ack  cpu   total  by  \"x\"  at  1970-01-01T00:00:00Z  :  why \r", NOTE_SAYS,
	  "ack cpu total by \"x\" at 1970-01-01T00:00:00Z: why\n" },
	{ "ack io,io,cpu total by \"x\" at 1970-01-01T00:00:00Z:C:\\dir\\", NOTE_SAYS,
	  "ack cpu,io total by \"x\" at 1970-01-01T00:00:00Z: C:\\\\dir\\\\\n" },
	{ "ack all \"\" by \"x\" at 1970-01-01T00:00:00Z: y", NOTE_SAYS,
	  "ack all total by \"x\" at 1970-01-01T00:00:00Z: y\n" },
	{ "ack all total by \"x\" at 1970-01-01T00:00:00Z: why [invalid] [owner: me]  [later: x]", NOTE_SAYS,
	  "ack all total by \"x\" at 1970-01-01T00:00:00Z: why [invalid] [owner: me]  [later: x\\x5d\n" },
	{ "ack all total by \"x\" at 1970-01-01T00:00:00Z: [owner: me][invalid]  [invalid]", NOTE_SAYS,
	  "ack all total by \"x\" at 1970-01-01T00:00:00Z: [owner: me][invalid\\x5d [invalid]\n" },
	{ "ack all total by \"x\" at 1970-01-01T00:00:00Z:[invalid] ", NOTE_SAYS,
	  "ack all total by \"x\" at 1970-01-01T00:00:00Z:  [invalid]\n" },
	{ "ack all total by \"x\" at 1970-01-01T00:00:00Z: ]", NOTE_SAYS,
	  "ack all total by \"x\" at 1970-01-01T00:00:00Z: \\x5d\n" },
	{ "a word", NOTE_DAMAGED, NULL },
	{ "ack", NOTE_DAMAGED, NULL },
	{ "accepted all total by \"x\" at 1970-01-01T00:00:00Z: y", NOTE_DAMAGED, NULL },
	{ "ack everything total by \"x\" at 1970-01-01T00:00:00Z: y", NOTE_DAMAGED, NULL },
	{ "ack , total by \"x\" at 1970-01-01T00:00:00Z: y", NOTE_DAMAGED, NULL },
	{ "ack all core by \"x\" at 1970-01-01T00:00:00Z: y", NOTE_DAMAGED, NULL },
	{ "ack all \"core by \"x\" at 1970-01-01T00:00:00Z: y", NOTE_DAMAGED, NULL },
	{ "ack all \"core\" by x at 1970-01-01T00:00:00Z: y", NOTE_DAMAGED, NULL },
	{ "ack all \"core\" by \"x\" at yesterday: y", NOTE_DAMAGED, NULL },
	{ "ack all \"core\" by \"x\" at 9999-01-01T00:00:00Z: y", NOTE_DAMAGED, NULL },
	{ "ack all \"core\" by \"x\" at 1970-01-01T00:00:00Z", NOTE_DAMAGED, NULL },
};

TEST_EACH(there_and_back, same)
{
	const struct known *want = &same[_i].known;
	struct arena *texts = arena_new();
	struct buf line = BUF_INIT;
	enum note_line what;
	struct known k;

	note_line_add(&line, want);
	ck_assert_str_eq(buf_str(&line), same[_i].line);
	buf_cut(&line, line.len - 1);
	ck_assert_int_eq(note_line_read(&what, &k, texts, (struct slice){ line.data, line.len }),
			 0);
	ck_assert_int_eq(what, NOTE_SAYS);
	ck_assert(note_is_about(&k, want));
	ck_assert_str_eq(k.by, want->by);
	ck_assert_str_eq(k.reason, want->reason);
	ck_assert_int_eq(k.time_s, want->time_s);
	ck_assert_pstr_eq(k.owner, want->owner);
	ck_assert_pstr_eq(k.bug, want->bug);
	ck_assert_pstr_eq(k.fixed_by, want->fixed_by);
	ck_assert_pstr_eq(k.everywhere, want->everywhere);
	ck_assert_int_eq(k.invalid, want->invalid);
	/* A truncated line is never another valid line, except for the reason. */
	for (size_t n = 1; n < (size_t)(strstr(line.data, "Z:") - line.data); n++) {
		note_line_read(&what, &k, texts, (struct slice){ line.data, n });
		ck_assert_int_eq(what, NOTE_DAMAGED);
	}
	buf_release(&line);
	arena_free(texts);
}

TEST_EACH(written_by_hand, by_hand)
{
	struct arena *texts = arena_new();
	struct buf line = BUF_INIT;
	enum note_line what;
	struct known k;

	ck_assert_int_eq(note_line_read(&what, &k, texts, slice_of(by_hand[_i].line)), 0);
	ck_assert_int_eq(what, by_hand[_i].what);
	if (by_hand[_i].again) {
		note_line_add(&line, &k);
		ck_assert_str_eq(buf_str(&line), by_hand[_i].again);
	}
	buf_release(&line);
	arena_free(texts);
}

static const struct { const char *base, *ours, *theirs, *merged; } merges[] = {
	{ "", "a\n", "b\n", "a\nb\n" },
	{ "", "a\n", "a\n", "a\n" },
	{ "", "a", "b", "a\nb\n" },
	{ "a\n", "a\nb\n", "a\nc\n", "a\nb\nc\n" },
	{ "a\nb\n", "b\n", "a\nb\nc\n", "b\nc\n" },	/* removed by us */
	{ "a\nb\n", "a\nb\nc\n", "a\n", "a\nc\n" },	/* and by them */
	{ "a\n", "", "a\n", "" },
	{ "a\n", "", "", "" },
	{ "a\n", "", "a\nb\n", "b\n" },
	{ "", "a\n\nb\n", "", "a\n\nb\n" },
};

TEST_EACH(merged, merges)
{
	RELEASED(buf, out = BUF_INIT);

	note_merge(&out, slice_of(merges[_i].base), slice_of(merges[_i].ours),
		   slice_of(merges[_i].theirs));
	ck_assert_str_eq(buf_str(&out), merges[_i].merged);
}

TEST_MAIN(notes_text);
