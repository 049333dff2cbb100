/* SPDX-License-Identifier: MIT */
#include "archive/columns.h"
#include "archive/message.h"
#include "archive/ref_lock.h"
#include "base/arena.h"
#include "base/array.h"
#include "tests/made_build.h"
#include "tests/made_values.h"
#include "tests/support.h"

/* Values are read as they were written */

/* A value as a column stores it. */
static int64_t rounded(int64_t value)
{
	struct buf column = BUF_INIT;

	column_write(&column, &value, 1);
	ck_assert_int_eq(column_read(column.data, column.len, &value, 1), 0);
	buf_release(&column);
	return value;
}

static void same_values(const struct values *a, const struct values *b)
{
	ck_assert_int_eq(a->start_s, b->start_s);
	ck_assert_uint_eq(a->n_facts, b->n_facts);
	for (size_t i = 0; i < a->n_facts; i++) {
		ck_assert_str_eq(a->fact[i].key, b->fact[i].key);
		ck_assert_str_eq(a->fact[i].value, b->fact[i].value);
	}
	for (int i = 0; i < TOTALS; i++)
		ck_assert_int_eq(a->total[i], b->total[i]);
	ck_assert_uint_eq(a->n_tasks, b->n_tasks);
	for (size_t i = 0; i < a->n_tasks; i++) {
		ck_assert_str_eq(a->task[i].name, b->task[i].name);
		ck_assert_str_eq(a->task[i].kind, b->task[i].kind);
	}
	for (int c = 0; c < COLUMNS; c++) {
		ck_assert_int_eq(!a->column[c], !b->column[c]);
		for (size_t i = 0; a->column[c] && i < a->n_tasks; i++)
			ck_assert_int_eq(rounded(a->column[c][i]), b->column[c][i]);
	}
	ck_assert_uint_eq(a->n_packages, b->n_packages);
	for (size_t i = 0; i < a->n_packages; i++) {
		ck_assert_str_eq(a->package[i].name, b->package[i].name);
		ck_assert_str_eq(a->package[i].version, b->package[i].version);
	}
}

static void write_and_read(const struct values *f, unsigned build)
{
	struct archive *a = made_archive(made_repo());
	struct values back;

	made_read(&back, a, made_add(a, f, build));
	same_values(f, &back);
	values_release(&back);
	archive_close(a);
	made_fsck();
}

TEST(values_come_back)
{
	RELEASED(values, f);

	made_build(&f, 0, 300, 1);
	write_and_read(&f, 1);
}

/* Git can give each object a file of its own, and one can have more than 64 KiB. */
TEST(large_objects_in_files)
{
	struct values f, back;
	struct archive *a = made_archive(made_repo());

	made_build(&f, 0, 6000, 1);
	made_add(a, &f, 1);
	archive_close(a);
	support_expect(made_repo(), 0, NULL, NULL, "mv objects/pack/*.pack . && rm -f objects/pack/* && "
		       "cat *.pack | git unpack-objects -q && test $(git cat-file -s " MADE_REF ":tasks) -gt 65536");
	a = made_archive(made_repo());
	made_read(&back, a, MADE_REF);
	same_values(&f, &back);
	values_release(&back);
	values_release(&f);
	archive_close(a);
}

/* The format can store any text. */
TEST(texts_come_back)
{
	static const char *const text[] = {
		"", "a\tb", "a\nb\r", "back\\slash \\n", "\x01\x7f\x1b[31m", "gr\xc3\xbc\xc3\x9f",
		"\xff\xfe", ": ", "Run-Id: none", "a: b: c",
	};
	size_t n = ARRAY_SIZE(text);
	struct values_package packages[ARRAY_SIZE(text)];
	RELEASED(values, f);

	made_build(&f, 0, n, 1);
	for (size_t i = 0; i < n; i++) {
		struct buf name = BUF_INIT;

		buf_addf(&name, "%zu%s", i, text[i]);
		f.task[i].name = arena_text(f.texts, name.data, name.len);
		f.task[i].kind = text[i];
		f.fact[i].value = text[i];
		packages[i] = (struct values_package){ f.task[i].name, text[i] };
		buf_release(&name);
	}
	f.package = packages;
	f.n_packages = n;
	write_and_read(&f, 1);
	f.package = NULL;
}

TEST(empty_build_comes_back)
{
	RELEASED(values, f);

	made_build(&f, 0, 0, 1);
	f.start_s = -1;
	f.n_facts = 0;
	for (int i = 0; i < TOTALS; i++)
		f.total[i] = -1;
	for (int c = 0; c < COLUMNS; c++) {
		if (c == COLUMN_RUNS)
			continue;
		free(f.column[c]);
		f.column[c] = NULL;
	}
	write_and_read(&f, 1);
}

/* A build without values still has its tasks. */
TEST(tasks_without_values_come_back)
{
	struct archive *a = made_archive(made_repo());
	struct values f, back;

	made_build(&f, 0, 5, 1);
	for (int c = 0; c < COLUMNS; c++) {
		free(f.column[c]);
		f.column[c] = NULL;
	}
	made_read(&back, a, made_add(a, &f, 1));
	ck_assert_uint_eq(back.n_tasks, 5);
	ck_assert_ptr_null(back.column[COLUMN_WALL_US]);
	values_release(&back);
	values_release(&f);
	archive_close(a);
}

static const char *const names[] = {
	MADE_REF, MADE_REF "~1", MADE_REF "^", "refs/heads/" MADE_REF, NULL
};

TEST(builds_have_names_of_git)
{
	struct archive *a = made_archive(made_repo());
	struct error err = { 0 };
	struct values f;

	for (unsigned build = 0; build < 3; build++)
		made_add_build(a, 0, 3, build);
	for (int i = 0; names[i]; i++) {
		made_read(&f, a, names[i]);
		ck_assert_str_eq(f.path, names[i]);
		ck_assert_int_eq(f.start_s, 1700000000 + (strpbrk(names[i], "~^") ? 1 : 2) * 86400);
		values_release(&f);
	}
	made_read(&f, a, made_git("rev-parse --short " MADE_REF "~2"));
	ck_assert_int_eq(f.start_s, 1700000000);
	values_release(&f);
	ck_assert_int_eq(archive_values(a, "nothing", &f, &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.message, "'nothing'"));
	values_release(&f);
	archive_close(a);
}

/* Adding */

TEST(run_is_added_once)
{
	char id[ARCHIVE_ID_SIZE], first[ARCHIVE_ID_SIZE];
	struct error err = { 0 };
	struct archive *a;
	struct values f;
	bool added;

	for (unsigned i = 0; i < 3; i++) {
		for (unsigned build = 0; build < 4; build++) {
			struct archive_build n = { .values = &f };

			a = made_archive(made_repo());
			made_build(&f, 0, 3, build);
			ck_assert_int_eq(archive_add(a, MADE_REF, &n, id, &added, &err), 0);
			ck_assert_int_eq(added, !i);
			if (!i && !build)
				strcpy(first, id);
			if (i && !build)
				ck_assert_str_eq(first, id);
			values_release(&f);
			archive_close(a);
		}
	}
	ck_assert_str_eq(made_git("rev-list --count " MADE_REF), "4");
}

/* Names */

static const struct { const char *host, *branch, *machine, *ref; } ref_case[] = {
	{ "nightly-1", "main", "x86_64", "nightly-1/main/x86_64" },
	{ NULL, "", NULL, "unknown/unknown/unknown" },
	{ "a.example.org", "release/1.2", "qemux86-64", "a.example.org/release%2F1.2/qemux86-64" },
	{ "-x", ".hidden", "a.lock", "%2Dx/%2Ehidden/a%2Elock" },
	{ "a..b", "a.", "lock.lock.lock", "a%2E.b/a%2E/lock.lock%2Elock" },
	{ "100%", "a b\tc", "@{1}", "100%25/a%20b%09c/%40{1}" },
	{ "~^:?*[\\", "@", "\x7f", "%7E%5E%3A%3F%2A%5B%5C/@/%7F" },
	{ "gr\xc3\xbcn", "a@b", "...", "gr\xc3\xbcn/a@b/%2E%2E%2E" },
};

TEST_EACH(names_are_valid_for_git, ref_case)
{
	RELEASED(buf, ref = BUF_INIT);

	archive_ref(&ref, ref_case[_i].host, ref_case[_i].branch, ref_case[_i].machine);
	ck_assert_str_eq(buf_str(&ref), ref_case[_i].ref);
	support_expect(NULL, 0, NULL, NULL, "git check-ref-format --branch '%s'", ref.data);
}

static const struct { const char *what, *ref, *message; } choice[] = {
	{ "a/main/x86_64", "a/main/x86_64", NULL },
	{ "a/topic", "a/topic/x86_64", NULL },
	{ "b", "b/main/x86_64", NULL },
	{ "topic", "a/topic/x86_64", NULL },
	{ "a", NULL, "several series match: a/main/x86_64, a/topic/x86_64" },
	{ "main/x86_64", NULL, "several series match: a/main/x86_64, b/main/x86_64" },
	{ "ain", NULL, "has no series 'ain'; it has a/main/x86_64, a/topic/x86_64, b/main/x86_64" },
	{ "mai", NULL, "has no series 'mai'; it has a/main/x86_64, a/topic/x86_64, b/main/x86_64" },
	{ NULL, NULL, "several series match: a/main/x86_64, a/topic/x86_64, b/main/x86_64" },
	{ "", NULL, "several series match: a/main/x86_64, a/topic/x86_64, b/main/x86_64" },
};

TEST_EACH(series_has_short_names, choice)
{
	struct archive *a;
	struct buf ref = BUF_INIT;
	struct error err = { 0 };
	int r;

	made_add_builds(2);
	made_git("branch b/main/x86_64 " MADE_REF);
	made_git("branch a/topic/x86_64 " MADE_REF);
	made_git("branch a/main/x86_64 " MADE_REF);
	made_git("branch four/parts/are/foreign " MADE_REF);
	made_git("branch is/no/build $(git commit-tree -m x " MADE_REF "^{tree})");
	made_git("update-ref -d refs/heads/" MADE_REF);
	a = made_archive(made_repo());
	r = archive_choose(a, choice[_i].what, &ref, &err);
	if (choice[_i].ref) {
		ck_assert_int_eq(r, 0);
		ck_assert_str_eq(ref.data, choice[_i].ref);
	} else {
		ck_assert_int_eq(r, -EINVAL);
		ck_assert_str_eq(err.message, choice[_i].message);
	}
	buf_release(&ref);
	archive_close(a);
}

TEST(single_series_is_the_default)
{
	struct buf ref = BUF_INIT;
	struct error err = { 0 };
	struct archive *a;

	a = made_archive(made_repo());
	ck_assert_int_eq(archive_choose(a, NULL, &ref, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.message, "has no builds"));
	archive_close(a);
	made_add_builds(2);
	a = made_archive(made_repo());
	ck_assert_int_eq(archive_choose(a, NULL, &ref, &err), 0);
	ck_assert_str_eq(ref.data, MADE_REF);
	buf_release(&ref);
	archive_close(a);
}

TEST(message_lists_a_few_of_many_series)
{
	struct buf ref = BUF_INIT;
	struct error err = { 0 };
	struct archive *a;

	made_add_builds(2);
	made_git("rev-parse " MADE_REF " | { read id; for i in $(seq 100 199); do echo create "
	    "refs/heads/builder-$i.example.org/main/x86_64 $id; done; } | "
	    "git update-ref --stdin");
	a = made_archive(made_repo());
	ck_assert_int_eq(archive_choose(a, "main", &ref, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.message, "several series match: builder-100.example.org"));
	ck_assert_ptr_nonnull(strstr(err.message, " and "));
	ck_assert_ptr_nonnull(strstr(err.message, " more"));
	ck_assert_int_eq(archive_choose(a, "builder-142.example.org", &ref, &err), 0);
	ck_assert_str_eq(ref.data, "builder-142.example.org/main/x86_64");
	buf_release(&ref);
	archive_close(a);
}

/* Opening and creating */

static const struct { const char *make; enum archive_use use; int error; const char *message; }
no_archive[] = {
	{ "true", ARCHIVE_READ, -ENOENT, "No such file" },
	{ "mkdir x", ARCHIVE_READ, -EINVAL, "not a git repository" },
	{ "mkdir x && touch x/file", ARCHIVE_READ, -EINVAL, "not a git repository" },
	{ "mkdir x && touch x/file", ARCHIVE_WRITE, -EINVAL, "not a git repository" },
	{ "touch x", ARCHIVE_READ, -ENOTDIR, "Not a directory" },
	{ "touch x", ARCHIVE_WRITE, -ENOTDIR, "Not a directory" },
	{ "git init -q x && mkdir x/y && mv x/y z && rm -rf x/.git/objects", ARCHIVE_READ, -EINVAL,
	  "not a git repository" },
	{ "git init -q . && mkdir x && touch x/file", ARCHIVE_WRITE, -EINVAL,
	  "not a git repository" },
};

TEST_EACH(opens_only_archives, no_archive)
{
	const char *path = support_path("%s/x", support_tmpdir());
	struct error err = { 0 };
	struct archive *a;

	support_expect(support_tmpdir(), 0, NULL, NULL, "%s", no_archive[_i].make);
	ck_assert_int_eq(archive_open(&a, path, no_archive[_i].use, &err), no_archive[_i].error);
	ck_assert_ptr_null(a);
	ck_assert_str_eq(err.path, path);
	ck_assert_msg(strstr(err.message, no_archive[_i].message) != NULL, "%s", err.message);
}

static const char *const place[] = { "x", "deep/below/x", "x/", "mkdir x" };

TEST_EACH(archive_is_created, place)
{
	const char *path = support_path("%s/%s", support_tmpdir(),
					_i == 3 ? "x" : place[_i]);
	struct archive *a;
	struct run r;

	support_run(&r, support_tmpdir(), "%s", _i == 3 ? place[_i] : "true");
	a = made_archive(path);
	archive_close(a);
	support_expect(NULL, 0, "true\nx\n", NULL,
		       "git -C %s rev-parse --is-bare-repository && ls -A %s/..", path,
		       path);
}

static const struct { const char *totals, *says; } statuses[] = {
	{ "+status=0\n", "\nBuild-Status: 0\n" }, { "+status=3\n", "\nBuild-Status: 3\n" },
	{ "+status=265\n", "\nBuild-Status: killed 9\n" }, { "", "\nBuild-Status: unknown\n" },
};

TEST_EACH(message_has_the_status, statuses)
{
	RELEASED(values, values);
	RELEASED(buf, text = BUF_INIT);

	made_values(&values, support_path("a|cc|wall_us=5\n%s", statuses[_i].totals));
	message_write(&text, &values, "run");
	ck_assert_msg(strstr(buf_str(&text), statuses[_i].says) != NULL, "%s", buf_str(&text));
}

/* Without room, or without memory, the message ends early and nothing else is written. */
TEST(message_without_room)
{
	struct buf whole = BUF_INIT, part;
	RELEASED(values, values);
	char memory[300];

	made_values(&values, "a|cc|wall_us=5\n!source=/src\n!commit=1234\n+status=0\n");
	values.start_s = 1768912345;
	message_write(&whole, &values, "run");
	ck_assert_uint_lt(whole.len, sizeof memory - 8);
	for (size_t room = 0; room <= whole.len; room++) {
		memset(memory, 'x', sizeof memory);
		buf_init_fixed(&part, memory, room);
		message_write(&part, &values, "run");
		ck_assert_int_eq(buf_error(&part), -ENOBUFS);
		ck_assert_uint_le(part.len, room);
		for (size_t i = room; i < sizeof memory; i++)
			ck_assert_int_eq(memory[i], 'x');
	}
	buf_release(&whole);
}

/* What a killed owner noted is removed; other locks and other files are not, whatever is noted. */
static const struct noted {
	const char *note;
	bool heads, config, packed, outside;	/* which locks are removed */
} noted[] = {
	{ "refs/heads/x\n", true, false, false, false },
	{ "refs/heads/x\npacked-refs\n", true, false, true, false },
	{ "packed-refs\n", false, false, true, false },
	{ "config\n../x\nrefs/../config\n\n", false, false, false, false },
	{ "*\n", true, false, true, false },
	{ "", false, false, false, false },
};

TEST_EACH(locks_of_the_killed, noted)
{
	static const char *const locks[] = { "refs/heads/x.lock", "config.lock", "packed-refs.lock",
					     "../x.lock" };
	const struct noted *n = &noted[_i];
	const bool removed[] = { n->heads, n->config, n->packed, n->outside };
	struct archive *a = made_archive(made_repo());
	struct ref_lock_note note;
	struct ref_lock lock, second;

	for (size_t i = 0; i < ARRAY_SIZE(locks); i++)
		support_expect(made_repo(), 0, "", "", "mkdir -p refs/heads && touch -d '5 minutes ago' %s",
			       locks[i]);
	support_writes(support_path("%s/%s", made_repo(), REF_LOCK), n->note);
	ref_lock_read_note(&note, a);
	ck_assert_str_eq(buf_str(&note.names), n->note);
	ck_assert_int_eq(note.owner, *n->note ? REF_LOCK_DEAD : REF_LOCK_UNKNOWN);
	ref_lock_note_release(&note);
	ck_assert_int_eq(ref_lock_take(&lock, a, REF_LOCK, "refs/heads/y\n", 0), 0);
	for (size_t i = 0; i < ARRAY_SIZE(locks); i++)
		ck_assert_msg(support_exists(support_path("%s/%s", made_repo(), locks[i])) != removed[i],
			      "%s", locks[i]);
	ck_assert_int_eq(ref_lock_take(&second, a, REF_LOCK, "", 0), -EBUSY);
	ck_assert_int_eq(second.fd, -1);
	ref_lock_read_note(&note, a);
	ck_assert_str_eq(buf_str(&note.names), "refs/heads/y\n");
	ck_assert_int_eq(note.owner, REF_LOCK_ALIVE);
	ref_lock_note_release(&note);
	ref_lock_release(&lock);
	ck_assert_str_eq(support_text(support_path("%s/%s", made_repo(), REF_LOCK)), "");
	archive_close(a);
}

/* Whose lock is in use. */
static const struct {
	const char *name, *note;
	enum ref_lock_owner owner;
	int age_s, seen_s;
	enum ref_lock_state is;
} looks[] = {
	{ "refs/heads/x", "refs/heads/x", REF_LOCK_DEAD, 2, 0, REF_LOCK_LEFT },
	{ "refs/heads/x", "refs/heads/x", REF_LOCK_DEAD, 0, 20, REF_LOCK_IN_USE },
	{ "refs/heads/x", "refs/heads/x", REF_LOCK_DEAD, -100, 0, REF_LOCK_LEFT },
	{ "refs/heads/x", "refs/heads/x", REF_LOCK_ALIVE, 10000, 100, REF_LOCK_IN_USE },
	{ "refs/heads/x", "refs/heads/x", REF_LOCK_UNKNOWN, 300, 9, REF_LOCK_IN_USE },
	{ "refs/heads/x", "refs/heads/x", REF_LOCK_UNKNOWN, 0, 10, REF_LOCK_LEFT },
	{ "refs/heads/x", "refs/heads/xy\nrefs/heads/", REF_LOCK_DEAD, 300, 9, REF_LOCK_IN_USE },
	{ "refs/heads/x", "refs/heads/xy\nrefs/heads/x", REF_LOCK_DEAD, 300, 9, REF_LOCK_LEFT },
	{ "refs/heads/x", "", REF_LOCK_ALIVE, 300, 10, REF_LOCK_LEFT },
	{ "refs/heads/x", "", REF_LOCK_UNKNOWN, 601, 0, REF_LOCK_LEFT },
	{ "packed-refs", "", REF_LOCK_UNKNOWN, 599, 20, REF_LOCK_IN_USE },
	{ "packed-refs", "", REF_LOCK_UNKNOWN, 601, 0, REF_LOCK_LEFT },
	{ "packed-refs", "refs/heads/x\npacked-refs", REF_LOCK_DEAD, 2, 0, REF_LOCK_LEFT },
};

TEST_EACH(lock_is_left, looks)
{
	struct archive *a = made_archive(made_repo());
	struct ref_lock_note note = { .names = BUF_INIT, .owner = looks[_i].owner };
	struct ref_lock_watch w = { 0 };

	buf_adds(&note.names, looks[_i].note);
	support_expect(made_repo(), 0, "", "", "mkdir -p refs/heads && touch -d '%d seconds ago' %s.lock",
		       looks[_i].age_s, looks[_i].name);
	ref_lock_look(&w, a, looks[_i].name, &note);
	w.since_ns -= looks[_i].seen_s * (int64_t)1000000000;
	ck_assert_int_eq(ref_lock_look(&w, a, looks[_i].name, &note), looks[_i].is);
	ck_assert_int_ge(w.age_s, looks[_i].age_s - 1);

	/* another lock of this name was not seen before */
	support_expect(made_repo(), 0, "", "", "touch %s.lock", looks[_i].name);
	ck_assert_int_eq(ref_lock_look(&w, a, looks[_i].name, NULL), REF_LOCK_IN_USE);
	ck_assert_int_eq(ref_lock_remove(a, looks[_i].name), 0);
	ck_assert_int_eq(ref_lock_remove(a, looks[_i].name), 0);
	ck_assert_int_eq(ref_lock_look(&w, a, looks[_i].name, NULL), REF_LOCK_NONE);
	ref_lock_note_release(&note);
	archive_close(a);
}

/* A file that has another name may be anything of the user's. */
TEST(lock_with_another_name)
{
	struct archive *a = made_archive(made_repo());
	struct ref_lock lock;

	support_expect(made_repo(), 0, "", "", "echo kept >other && ln -f other " REF_LOCK);
	ck_assert_int_eq(ref_lock_take(&lock, a, REF_LOCK, "refs/heads/y\n", 0), -EINVAL);
	ck_assert_int_eq(lock.fd, -1);
	ck_assert_str_eq(support_text(support_path("%s/other", made_repo())), "kept\n");
	archive_close(a);
}

/* The bytes of a column, which older and newer programs read: all high bytes, then all low ones. */
TEST(column_has_these_bytes)
{
	static const int64_t value[] = { -1, 0, 2047, 2048, 4095, 4096, 4097 };
	static const char bytes[] = "buildbeat column 1 7\n"
		"\x00\x00\x08\x08\x10\x10\x10" "\x00\x01\x00\x01\x00\x01\x02";
	RELEASED(buf, column = BUF_INIT);
	size_t n;

	column_write(&column, value, ARRAY_SIZE(value));
	ck_assert_uint_eq(column.len, sizeof bytes - 1);
	ck_assert_mem_eq(column.data, bytes, sizeof bytes - 1);
	ck_assert_int_eq(column_count(column.data, column.len, &n), 0);
	ck_assert_uint_eq(n, ARRAY_SIZE(value));
	ck_assert_int_eq(column_count(column.data, column.len - 1, &n), -EINVAL);
	ck_assert_int_eq(rounded(4097), 4098);
}

/* Notes */

/* An archive without notes stays one. */
TEST(no_note_to_take_back)
{
	struct known what = { .build = 0, .pattern = "*", .metrics = 1, .by = "s", .reason = "" };
	struct archive *a = made_archive(made_repo());
	struct builds builds = BUILDS_INIT;
	bool found = true;
	struct error err;

	made_add_build(a, 0, 3, 0);
	ck_assert_int_eq(archive_builds(a, MADE_REF, 0, &builds, &err), 0);
	ck_assert_int_eq(archive_unsay(a, &builds, &what, &found, &err), 0);
	ck_assert(!found);
	builds_release(&builds);
	archive_close(a);
	support_expect(made_repo(), 0, "refs/heads/" MADE_REF "\n", "", "git for-each-ref --format='%%(refname)'");
}

TEST_PROGRAM(archive)
{
	made_environment();
	return support_main();
}
