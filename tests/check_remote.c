/* SPDX-License-Identifier: MIT */
#include "archive/archive.h"
#include "archive/url.h"
#include "base/arena.h"
#include "base/array.h"
#include "tests/made_build.h"
#include "tests/paths.h"
#include "tests/server.h"
#include "tests/support.h"

/*
 * Archives on servers: git's daemon, sshd and file://. A builder is a home with a cache.
 * Builds have numbers; a test compares which of them are at the server, in which order.
 */

#define GEN TOP_BUILDDIR "/tests/gen_archive"
#define BUILDBEAT TOP_BUILDDIR "/buildbeat"
#define SERIES "host/main/x86_64"

static struct server_process server;
static const char *base;	/* of the server */
static char url[256];

/* Text that lives as long as the test. */
static const char *keep(const char *text)
{
	static char kept[64][512];
	static size_t n;

	return strcpy(kept[n++ % 64], text);
}

static const char *home(int builder)
{
	const char *path = keep(support_path("%s/home%d", base, builder));

	mkdir(path, 0755);
	return path;
}

/* Runs as that builder. */
static void be(int builder)
{
	setenv("HOME", home(builder), 1);
	setenv("XDG_CACHE_HOME", keep(support_path("%s/cache", home(builder))), 1);
}

/* Runs a shell line, which must end with that status. */
__attribute__((format(printf, 2, 3)))
static void must(int status, const char *format, ...)
{
	char line[4096];
	struct run r;
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof line, format, args);
	va_end(args);
	support_run(&r, base, "%s", line);
	ck_assert_msg(r.status == status, "%s: %d\n%s%s", line, r.status, r.out.data, r.err.data);
}

/* The builder adds the builds first to last. */
static void add(int builder, int first, int last, int status)
{
	be(builder);
	must(status, GEN " --tasks 20 --series " SERIES " --first %d --builds %d %s", first,
	     last + 1, url);
}

static void read_lines(struct buf *out, const char *command)
{
	struct run r;

	support_run(&r, base, "%s", command);
	ck_assert_msg(!r.status, "%s: %s", command, r.err.data);
	buf_add(out, buf_str(&r.out), r.out.len);
}

/* "2 0 1": the builds at the server in their order, by the day of their build. */
static void at_server(const char *expected)
{
	RELEASED(buf, out = BUF_INIT);

	read_lines(&out, "git -C a.git log --reverse --format=%at " SERIES " 2>/dev/null | "
		   "awk '{ printf \"%s%d\", s, ($1 - 1767232800) / 86400; s = \" \" }'");
	ck_assert_str_eq(buf_str(&out), expected);
}

/* The same as this builder sees it; stale: without the server. */
static void seen_by(int builder, const char *expected, bool stale)
{
	struct builds builds = BUILDS_INIT;
	struct error err = { 0 };
	RELEASED(buf, out = BUF_INIT);
	struct archive *a;

	be(builder);
	ck_assert_msg(!archive_open(&a, url, ARCHIVE_READ, &err), "%s", err.message);
	ck_assert_int_eq(archive_is_stale(a, &err), stale);
	ck_assert_msg(!archive_builds(a, SERIES, 0, &builds, &err), "%s", err.message);
	for (size_t i = 0; i < builds.n; i++)
		buf_addf(&out, "%s%d", i ? " " : "",
			 (int)((builds.build[i].start_s - 1767232800) / 86400));
	ck_assert_str_eq(buf_str(&out), expected);
	builds_release(&builds);
	archive_close(a);
}

static void setup_base(void)
{
	base = keep(support_tmpdir());
	server_leaks(base);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	unsetenv("SSH_AUTH_SOCK");
	be(0);
	must(0, "git init -q --bare a.git");
}

static void setup(void)
{
	setup_base();
	server_git(&server, base, 0);
	snprintf(url, sizeof url, "git://127.0.0.1:%d/a.git", server.port);
}

static void teardown(void)
{
	server_stop(&server);
	support_cleanup();
}

static void down(void)
{
	server_stop(&server);
}

static void up(void)
{
	server_git(&server, base, server.port);
}

/* Names */

static const struct {
	const char *repo;
	bool is_url;
	const char *path;	/* of file: */
	const char *shown;
} names[] = {
	{ "builds.git", false, NULL, NULL },
	{ "/srv/builds.git", false, NULL, NULL },
	{ "./a:b", false, NULL, NULL },
	{ "/srv/a:b", false, NULL, NULL },
	{ "file:///srv/builds.git", true, "/srv/builds.git", "file:///srv/builds.git" },
	{ "file://localhost/srv/n", true, "/srv/n", "file://localhost/srv/n" },
	{ "file:///a%20b/%c3%a4", true, "/a b/\303\244", "file:///a%20b/%c3%a4" },
	{ "file:///50%", true, "/50%", "file:///50%" },
	{ "file:///%01%ff%4", true, "/\001\377%4", "file:///%01%ff%4" },
	{ "ssh://ci@git.example.org:2222/n.git", true, NULL, "ssh://ci@git.example.org:2222/n.git" },
	{ "ci@git.example.org:perf/n", true, NULL, "ci@git.example.org:perf/n" },
	{ "git.example.org:n", true, NULL, "git.example.org:n" },
	{ "https://ci:secret@example.org/n", true, NULL, "https://example.org/n" },
	{ "https://ghp_TOKEN@example.org/n", true, NULL, "https://example.org/n" },
	{ "https://ci:a@b@example.org/n", true, NULL, "https://example.org/n" },
	{ "https://ci:a/b@example.org/n", true, NULL, "https://example.org/n" },
	{ "https://ci:a/b@c@example.org:80/n", true, NULL, "https://example.org:80/n" },
	{ "git://me@example.org/n", true, NULL, "git://example.org/n" },
	{ "ssh://ci:a@b@example.org/n", true, NULL, "ssh://ci@example.org/n" },
	{ "ssh://ci:a/b@example.org:22/n", true, NULL, "ssh://ci@example.org:22/n" },
	{ "https://[::1]:80/n@m", true, NULL, "https://[::1]:80/n@m" },
	{ "https://example.org:80/n@m:o", true, NULL, "https://example.org:80/n@m:o" },
};

TEST_GROUP("names");

TEST_EACH(name_of_repository, names)
{
	RELEASED(buf, path = BUF_INIT, shown = BUF_INIT);
	struct error err = { 0 };
	bool is_file = false;

	ck_assert_int_eq(url_is(names[_i].repo), names[_i].is_url);
	if (names[_i].is_url) {
		ck_assert_int_eq(url_path(&path, names[_i].repo, &is_file, &err), 0);
		ck_assert_int_eq(is_file, names[_i].path != NULL);
		ck_assert_str_eq(buf_str(&path), names[_i].path ? names[_i].path : "");
		url_show(&shown, names[_i].repo);
		ck_assert_str_eq(buf_str(&shown), names[_i].shown);
	}
}

static const char *const bad_files[] = {
	"file://", "file://host/srv/n", "file://srv", "file:///a%00b",
};

TEST_EACH(no_file, bad_files)
{
	RELEASED(buf, path = BUF_INIT);
	struct error err = { 0 };
	bool is_file;

	ck_assert_int_eq(url_path(&path, bad_files[_i], &is_file, &err), -EINVAL);
	ck_assert_str_eq(err.path, bad_files[_i]);
	ck_assert_str_eq(err.message, "expected file:///DIRECTORY");
}

/* Similar archives have their own copies; no copy has a password in its name. */
TEST(name_of_copy)
{
	struct buf a = BUF_INIT, b = BUF_INIT;
	struct error err = { 0 };

	base = keep(support_tmpdir());
	be(0);
	ck_assert_int_eq(url_cache(&a, "https://ci:secret@example.org/perf/n.git", &err), 0);
	ck_assert_int_eq(url_cache(&b, "https://ci@example.org/perf/n", &err), 0);
	ck_assert_ptr_nonnull(strstr(a.data, "/cache/buildbeat/example.org-perf-n-"));
	ck_assert_ptr_nonnull(strstr(b.data, "/cache/buildbeat/example.org-perf-n-"));
	ck_assert_str_ne(a.data, b.data);
	ck_assert_ptr_null(strstr(a.data, "secret"));
	buf_clear(&a);
	ck_assert_int_eq(url_cache(&a, "https://x@h0-9.AZ/az//_./.n@~1", &err), 0);
	ck_assert_ptr_nonnull(strstr(a.data, "/h0-9.AZ-az-_.-.n-1-"));
	unsetenv("XDG_CACHE_HOME");
	buf_clear(&a);
	ck_assert_int_eq(url_cache(&a, "h:p", &err), 0);
	ck_assert_ptr_nonnull(strstr(a.data, "/home0/.cache/buildbeat/h-p-"));
	unsetenv("HOME");
	ck_assert_int_eq(url_cache(&a, "h:p", &err), -ENOENT);
	buf_release(&a);
	buf_release(&b);
	support_cleanup();
}

/* With a server */

TEST_GROUP_WITH("server", setup, teardown);

TEST(there_and_back)
{
	add(1, 0, 2, 0);
	at_server("0 1 2");
	seen_by(2, "0 1 2", false);
	add(2, 3, 3, 0);
	seen_by(1, "0 1 2 3", false);
	add(1, 1, 4, 0);	/* three of these exist */
	at_server("0 1 2 3 4");
}

/* Each with a copy of its own, or all with the same. */
TEST_LOOP(several_at_once, 2)
{
	RELEASED(buf, out = BUF_INIT);

	be(0);
	must(0, "for k in 0 1 2 3; do HOME=%s/home$k XDG_CACHE_HOME=%s/cache%s " GEN
	     " --tasks 20 --series " SERIES " --first $((k * 3)) --builds $((k * 3 + 3)) %s & "
	     "pids=\"$pids $!\"; done; for p in $pids; do wait $p || exit 1; done", base, base,
	     _i ? "" : "$k", url);
	read_lines(&out, "git -C a.git log --format=%B " SERIES " | grep ^Run-Id | sort -u | "
		   "wc -l; git -C a.git rev-list --count " SERIES);
	ck_assert_str_eq(buf_str(&out), "12\n12\n");
}

TEST(server_is_down)
{
	add(1, 0, 1, 0);
	down();
	add(1, 2, 2, 2);
	add(1, 3, 3, 2);
	seen_by(1, "0 1 2 3", true);
	must(2, BUILDBEAT " check --repo %s", url);	/* the newest is not known */
	must(0, BUILDBEAT " history --repo %s", url);
	up();
	at_server("0 1");
	add(1, 4, 4, 0);
	at_server("0 1 2 3 4");
	seen_by(1, "0 1 2 3 4", false);
}

/* A project's file does not send builds to its server; the user's file does. */
TEST(server_in_configuration)
{
	static const char add[] = "cd project && " BUILDBEAT " archive --host h " TOP_SRCDIR
				  "/tests/data/recordings/nested";

	be(1);
	unsetenv("XDG_CONFIG_HOME");
	must(0, "mkdir -m 755 project && echo 'repo: %s' >project/buildbeat.yaml", url);
	support_expect(base, 2, "", "buildbeat.yaml:1:7: 'repo' with the URL of a server is not allowed", "%s", add);
	at_server("");
	must(0, "echo 'git: false' >project/buildbeat.yaml; mkdir -p -m 755 home1/.config/buildbeat && "
	     "echo 'repo: %s' >home1/.config/buildbeat/buildbeat.yaml", url);
	support_expect(base, 0, NULL, support_path("%s: the server has the build", url), "%s", add);
	must(0, "git -C a.git rev-parse h/main/x86_64");
}

/* Silent; bytes that begin a line of git's protocol, which never ends; an endless list of
 * references. */
static const struct { const char *scheme, *text; } slow[] = {
	{ "git", "" }, { "http", "" }, { "https", "" }, { "ssh", "" },
	{ "git", "1" }, { "http", "HTTP/1.1 200 OK\r\nA: b" },
	{ "git", "003e0123456789abcdef0123456789abcdef01234567 refs/heads/a/b/c\n" },
};

TEST_EACH(server_is_slow, slow)
{
	add(1, 0, 1, 0);
	down();
	server_slow(&server, server.port, slow[_i].text);
	snprintf(url, sizeof url, "git://127.0.0.1:%d/a.git", server.port);
	must(0, "printf '[http]\nlowSpeedTime = 1\n' > home1/.gitconfig");
	if (strcmp(slow[_i].scheme, "git")) {
		snprintf(url, sizeof url, "%s://u@127.0.0.1:%d/a.git", slow[_i].scheme, server.port);
		support_expect(base, 2, NULL, "http.lowSpeedTime", BUILDBEAT " history --repo %s", url);
		return;
	}
	add(1, 2, 2, 2);
	support_expect(base, 2, NULL, "less than 1000 bytes/s for 1 s",
		       BUILDBEAT " check --repo %s", url);
	must(0, BUILDBEAT " history --repo %s & " BUILDBEAT " history --repo %s && wait $!",
	     url, url);
	server_stop(&server);
	up();
	add(1, 3, 3, 0);
	at_server("0 1 2 3");
}

TEST(never_reached)
{
	struct error err = { 0 };
	struct archive *a;

	down();
	be(1);
	ck_assert_int_eq(archive_open(&a, url, ARCHIVE_READ, &err), -ENOTCONN);
	ck_assert_str_eq(err.path, url);
	add(1, 0, 0, 2);
	up();
	seen_by(1, "0", false);		/* the build waits in the copy */
	add(1, 1, 1, 0);
	at_server("0 1");
}

/* Waiting builds are added after those of others, except runs that the others added too. */
TEST(others_went_on)
{
	add(1, 0, 0, 0);
	seen_by(2, "0", false);
	down();
	add(1, 1, 1, 2);
	add(1, 5, 5, 2);
	up();
	add(2, 2, 2, 0);
	add(2, 5, 5, 0);
	seen_by(1, "0 2 5 1", false);
	add(1, 6, 6, 0);
	at_server("0 2 5 1 6");
	seen_by(2, "0 2 5 1 6", false);
}

/* The process that added a waiting build knows its run, which is not one of the server for that. */
TEST(others_went_on_meanwhile)
{
	static const int status[] = { -ENOTCONN, 0 };
	char id[ARCHIVE_ID_SIZE];
	struct error err = { 0 };
	struct archive *a;
	bool added;

	add(1, 0, 0, 0);
	be(1);
	ck_assert_int_eq(archive_open(&a, url, ARCHIVE_WRITE, &err), 0);
	for (unsigned i = 0; i < 2; i++) {
		struct values f;

		made_build(&f, 0, 3, i);
		f.start_s = 1767232800 + (1 + i) * 86400;
		if (!i)
			down();
		ck_assert_int_eq(archive_add(a, SERIES, &(struct archive_build){ .values = &f }, id, &added, &err),
				 status[i]);
		values_release(&f);
		if (!i) {
			up();
			add(2, 5, 5, 0);
			be(1);
		}
	}
	archive_close(a);
	at_server("0 5 1 2");
}

/* A waiting build that cannot be put on top of those of others still waits. */
TEST(waiting_build_is_damaged)
{
	add(1, 0, 0, 0);
	down();
	add(1, 1, 1, 2);
	up();
	add(2, 2, 2, 0);
	must(0, "cd home1/cache/buildbeat/*/ && mkdir x && mv objects/pack/* x && for p in x/*.pack; do "
	     "git unpack-objects -q <$p || exit 1; done && id=$(git rev-parse " SERIES "^{tree}) && "
	     "mv objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-) tree");
	be(1);
	support_expect(base, 2, NULL, "cannot rewrite a build", BUILDBEAT " history --repo %s", url);
	must(0, "cd home1/cache/buildbeat/*/ && mv x/* objects/pack");
	seen_by(1, "0 2 1", false);
}

TEST(branch_is_gone)
{
	struct error err = { 0 };
	const char **ref;
	struct archive *a;
	struct arena *texts;
	size_t n;

	add(1, 0, 1, 0);
	must(0, "git -C a.git update-ref -d refs/heads/" SERIES);
	be(1);
	texts = arena_new();
	ck_assert_int_eq(archive_open(&a, url, ARCHIVE_READ, &err), 0);
	ck_assert_int_eq(archive_refs(a, texts, &ref, &n, &err), 0);
	ck_assert_uint_eq(n, 0);
	archive_close(a);
	arena_free(texts);
}

/* Builds deleted at the server do not come back with waiting ones. */
TEST(pruned_elsewhere)
{
	add(1, 0, 4, 0);
	down();
	add(1, 5, 5, 2);
	up();
	be(2);
	must(0, BUILDBEAT " prune --repo %s --keep 2", url);
	at_server("3 4");
	seen_by(1, "3 4 5", false);
	add(1, 6, 6, 0);
	at_server("3 4 5 6");
	must(0, "git -C a.git fsck --strict");
}

TEST(prune_is_not_kept)
{
	add(1, 0, 4, 0);
	down();
	must(2, BUILDBEAT " prune --repo %s --keep 2", url);
	up();
	seen_by(1, "0 1 2 3 4", false);
	at_server("0 1 2 3 4");
	must(0, BUILDBEAT " prune --repo %s --keep 2 --dry-run", url);
	at_server("0 1 2 3 4");
}

static void refuse(void)
{
	support_writes(support_path("%s/a.git/hooks/pre-receive", base), "#!/bin/sh\nexit 1\n");
	chmod(support_path("%s/a.git/hooks/pre-receive", base), 0755);
}

/* The caller of the library gets the status that archive.h promises. */
TEST(server_refuses_prune)
{
	const struct archive_prune what = { .before_s = -1, .keep = 1 };
	struct archive_pruned done;
	struct error err = { 0 };
	struct archive *a;

	add(1, 0, 2, 0);
	refuse();
	be(1);
	ck_assert_int_eq(archive_open(&a, url, ARCHIVE_WRITE, &err), 0);
	ck_assert_int_eq(archive_prune(a, SERIES, &what, &done, &err), -ENOTCONN);
	ck_assert_ptr_nonnull(strstr(err.message, "pre-receive hook declined"));
	archive_close(a);
	at_server("0 1 2");
}

TEST(server_refuses)
{
	struct run r;

	add(1, 0, 0, 0);
	refuse();
	be(1);
	support_run(&r, base, GEN " --tasks 20 --series " SERIES " --first 1 --builds 2 %s", url);
	ck_assert_int_eq(r.status, 2);
	ck_assert_ptr_nonnull(strstr(r.err.data, "pre-receive hook declined"));
	ck_assert_ptr_nonnull(strstr(r.err.data, "is pushed with the next one"));
	at_server("0");
	seen_by(1, "0 1", false);
	must(0, "rm a.git/hooks/pre-receive");
	add(1, 2, 2, 0);
	at_server("0 1 2");
}

/* Notes */

static void say(int builder, uint32_t build, const char *pattern, int result)
{
	struct known what = { .kind = KNOWN_ACKNOWLEDGED, .build = build, .pattern = pattern,
			      .metrics = METRICS_USUAL, .reason = "seen", .by = "somebody",
			      .time_s = 1767232800 };
	struct builds builds = BUILDS_INIT;
	struct error err = { 0 };
	struct archive *a;

	be(builder);
	ck_assert_int_eq(archive_open(&a, url, ARCHIVE_WRITE, &err), 0);
	ck_assert_int_eq(archive_builds(a, SERIES, 0, &builds, &err), 0);
	ck_assert_int_eq(archive_say(a, &builds, &what, &err), result);
	builds_release(&builds);
	archive_close(a);
}

/* "1:gcc*", in the order of the notes. */
static void known_to(int builder, const char *expected)
{
	struct builds builds = BUILDS_INIT;
	struct known_list known;
	struct error err = { 0 };
	RELEASED(buf, out = BUF_INIT);
	struct archive *a;

	be(builder);
	ck_assert_int_eq(archive_open(&a, url, ARCHIVE_READ, &err), 0);
	ck_assert_int_eq(archive_builds(a, SERIES, 0, &builds, &err), 0);
	ck_assert_int_eq(archive_known(a, &builds, &known, &err), 0);
	for (size_t i = 0; i < known.n; i++)
		buf_addf(&out, "%s%u:%s", i ? " " : "", known.known[i].build,
			 known.known[i].pattern);
	ck_assert_str_eq(buf_str(&out), expected);
	free(known.known);
	builds_release(&builds);
	archive_close(a);
}

TEST(notes_of_two)
{
	add(1, 0, 3, 0);
	say(1, 0, "a", 0);
	known_to(2, "0:a");
	down();
	say(1, 1, "b", -ENOTCONN);
	up();
	say(2, 1, "c", 0);
	say(2, 2, "d", 0);
	add(1, 4, 4, 0);
	known_to(1, "0:a 1:c 1:b 2:d");
	known_to(2, "0:a 1:c 1:b 2:d");
	be(2);
	must(0, BUILDBEAT " prune --repo %s --keep 4", url);
	known_to(1, "0:c 0:b 1:d");
}

/* A note on a waiting build, which becomes another commit. */
TEST(note_moves_along)
{
	add(1, 0, 0, 0);
	seen_by(2, "0", false);
	down();
	add(1, 1, 1, 2);
	say(1, 1, "x", -ENOTCONN);
	up();
	add(2, 2, 2, 0);
	add(1, 3, 3, 0);
	at_server("0 2 1 3");
	known_to(2, "2:x");
}

/* Other ways to a repository */

TEST_GROUP("others");

TEST(by_path)
{
	setup_base();
	snprintf(url, sizeof url, "file://%s/a.git", base);
	add(1, 0, 2, 0);
	at_server("0 1 2");
	seen_by(2, "0 1 2", false);
	ck_assert(!support_exists(support_path("%s/cache/buildbeat", home(1))));
	support_cleanup();
}

TEST(by_ssh)
{
	SKIP_IF(!server_has_ssh());
	setup_base();
	server_ssh(&server, home(1));
	snprintf(url, sizeof url, "ssh://127.0.0.1:%d%s/a.git", server.port, base);
	add(1, 0, 2, 0);
	at_server("0 1 2");
	seen_by(1, "0 1 2", false);
	add(2, 3, 3, 2);		/* has no keys and no known hosts */
	must(0, "cp -r home1/.ssh home2/ && : > home2/.ssh/known_hosts");
	be(2);
	support_expect(base, 2, NULL, "known_hosts",
		       GEN " --tasks 20 --series " SERIES " --first 4 --builds 5 %s", url);
	must(0, "cp home1/.ssh/known_hosts home2/.ssh/ && rm home2/.ssh/id_ed25519");
	support_expect(base, 2, NULL, "id_ed25519",
		       GEN " --tasks 20 --series " SERIES " --first 4 --builds 5 %s", url);
	must(0, "cp home1/.ssh/id_ed25519 home2/.ssh/");
	add(2, 5, 5, 0);
	at_server("0 1 2 3 4 5");
	teardown();
}

TEST_PROGRAM(remote)
{
	SKIP_PROGRAM_IF(!support_has("git"));
	return support_main();
}
