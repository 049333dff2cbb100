/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/field.h"
#include "command/redact.h"
#include "recording/event.h"
#include "recording/process_log.h"
#include "tests/support.h"

#include <sys/mman.h>
#include <unistd.h>

/* The text without its secrets. */
static const char *redacted_cut(const char *text, size_t len, bool cut)
{
	static char out[8192];
	struct slice part[REDACT_PARTS_MAX];
	size_t n = redact_split(part, text, len, cut), at = 0;

	ck_assert_uint_ge(n, 1);
	ck_assert_uint_le(n, REDACT_PARTS_MAX);
	for (size_t i = 0; i < n; i++) {
		ck_assert_uint_lt(at + part[i].len, sizeof out);
		memcpy(out + at, part[i].p, part[i].len);
		at += part[i].len;
	}
	out[at] = '\0';
	return out;
}

static const char *redacted(const char *text)
{
	return redacted_cut(text, strlen(text), false);
}

#define GHP "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

static const struct { const char *text, *out; } hidden[] = {
	{ "API_TOKEN=abcdef make", "API_TOKEN=*** make" },
	{ "make TOKEN=abcdef -j2", "make TOKEN=*** -j2" },
	{ "Token=abcdef", "Token=***" },
	{ "export GITHUB_TOKEN='a b c' X=1; make", "export GITHUB_TOKEN='***' X=1; make" },
	{ "A_SECRET=\"x y\" sh", "A_SECRET=\"***\" sh" },
	{ "gcc -DAPI_KEY=\\\"k1 k2\\\" -c a.c", "gcc -DAPI_KEY=\\\"***\\\" -c a.c" },
	{ "gcc -DPASSWORD=hunter22 -c a.c", "gcc -DPASSWORD=*** -c a.c" },
	{ "gcc '-DapiKey=\"x y\"' -c a.c", "gcc '-DapiKey=***' -c a.c" },
	{ "PGPASSWORD=abc psql", "PGPASSWORD=*** psql" },
	{ "MYSQL_PWD=abc mysql", "MYSQL_PWD=*** mysql" },
	{ "AWS_SECRET_ACCESS_KEY=a/b+c aws s3", "AWS_SECRET_ACCESS_KEY=*** aws s3" },
	{ "tool --password=abc x", "tool --password=*** x" },
	{ "tool --password abc x", "tool --password *** x" },
	{ "tool '--password' 'a b' x", "tool '--password' '***' x" },
	{ "tool --api-key abc1", "tool --api-key ***" },
	{ "tool --client-secret abc --verbose", "tool --client-secret *** --verbose" },
	{ "gpg --batch --passphrase abc -s f", "gpg --batch --passphrase *** -s f" },
	{ "jarsigner -storepass abc -keypass def a.jar", "jarsigner -storepass *** -keypass *** a.jar" },
	{ "tool --auth user:pw1", "tool --auth ***" },
	{ "npm config set //r.org/:_authToken=abc", "npm config set //r.org/:_authToken=***" },
	{ "npm config set _auth=dXNlcjpwYXNz1=", "npm config set _auth=***" },
	{ "git clone https://user:pw@host/r.git", "git clone https://user:***@host/r.git" },
	{ "git clone https://user:p@w@host/r.git", "git clone https://user:***@host/r.git" },
	{ "git clone https://user:12@host/r.git", "git clone https://user:***@host/r.git" },
	{ "git clone https://0123456789abcdef0123@host/r", "git clone https://***@host/r" },
	{ "git clone https://" GHP "@github.com/r", "git clone https://***@github.com/r" },
	{ "a=https://u:v@h b=ftp://w:x@i", "a=https://u:***@h b=ftp://w:***@i" },
	{ "mysql -uroot -phunter2 db", "mysql -uroot -p*** db" },
	{ "cd x && /usr/bin/mysqldump -h h -p'a b' db", "cd x && /usr/bin/mysqldump -h h -p'***' db" },
	{ "sshpass -p abc ssh h", "sshpass -p *** ssh h" },
	{ "sshpass -pabc ssh -p 22 h", "sshpass -p*** ssh -p 22 h" },
	{ "curl -u user:pass http://h/", "curl -u user:*** http://h/" },
	{ "curl -sSu user:pass http://h/", "curl -sSu user:*** http://h/" },
	{ "curl -uuser:pass http://h/", "curl -uuser:*** http://h/" },
	{ "curl --user user:pass -U a:bc -T f", "curl --user user:*** -U a:*** -T f" },
	{ "curl -H 'Authorization: Bearer a b' h", "curl -H 'Authorization: Bearer ***' h" },
	{ "curl -H Authorization: Basic YWxh h", "curl -H Authorization: Basic *** h" },
	{ "curl -H \"Private-Token: abc\" h", "curl -H \"Private-Token: ***\" h" },
	{ "x \"Bearer abcdefghijkl.mn\"", "x \"Bearer ***\"" },
	{ "x '{\"token\": \"abc\", \"a\": 1}'", "x '{\"token\": \"***\", \"a\": 1}'" },
	{ "x \"{\\\"token\\\":\\\"abc\\\"}\"", "x \"{\\\"token\\\":\\\"***\\\"}\"" },
	{ "curl 'http://h/?a=b&access_token=abc&c=d'", "curl 'http://h/?a=b&access_token=***&c=d'" },
	{ "x " GHP " y", "x *** y" },
	{ "x glpat-abcdefghij0123456789 y", "x *** y" },
	{ "x xoxb-123456789012-abc y", "x *** y" },
	{ "x AKIAIOSFODNN7EXAMPLE y", "x *** y" },
	{ "x eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.abc-_ y", "x *** y" },
	{ "x npm_abcdefghijklmnopqrstuvwxyz0123456789 y", "x *** y" },
	{ "openssl rsa -passin pass:abc -in k", "openssl rsa -passin pass:*** -in k" },
	{ "docker build --build-arg TOKEN=abc .", "docker build --build-arg TOKEN=*** ." },
	{ "docker build --build-arg=TOKEN=abc .", "docker build --build-arg=TOKEN=*** ." },
	{ "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END", "-----BEGIN RSA PRIVATE KEY-----***-----END" },
	{ "TOKEN=https://u:p@h/" GHP " x", "TOKEN=*** x" },
	{ "SECRET=abcdef", "SECRET=***" },
	{ "TOKEN=abcd,efgh", "TOKEN=***" },
	{ "TOKEN1=abcd", "TOKEN1=***" },
	{ "export DB_PASS=hunter; make", "export DB_PASS=***; make" },
	{ "export SMTP_PASS='a b' && x", "export SMTP_PASS='***' && x" },
	{ "gcc -DDB_PASS=\\\"x1\\\" -c a.c", "gcc -DDB_PASS=\\\"***\\\" -c a.c" },
	{ "dbPass=hunter x", "dbPass=*** x" }, { "PASS=hunter22 x", "PASS=*** x" },
	{ "gcc -DPASS=hunter22 -c a.c", "gcc -DPASS=*** -c a.c" },
	{ "docker login -u me -p hunter r.io", "docker login -u me -p *** r.io" },
	{ "docker login -phunter r.io", "docker login -p*** r.io" },
	{ "docker --config d login -p='a b' r", "docker --config d login -p='***' r" },
	{ "sudo /usr/bin/podman login -p hunter r && docker login -p two r2",
	  "sudo /usr/bin/podman login -p *** r && docker login -p *** r2" },
	{ "helm registry login r -u a -p hunter", "helm registry login r -u a -p ***" },
	{ "sh -c 'docker login -p hunter r'", "sh -c 'docker login -p *** r'" },
	{ "oc login --server=x -p hunter", "oc login --server=x -p ***" },
	{ "echo hunter | docker login -u me --password-stdin r", "echo *** | docker login -u me --password-stdin r" },
	{ "@echo -n 'a b' | podman login --password-stdin", "@echo -n '***' | podman login --password-stdin" },
	{ "echo a b | docker login --password-stdin", "echo *** | docker login --password-stdin" },
	{ "echo -hunter | docker login --password-stdin", "echo *** | docker login --password-stdin" },
	{ "echo hi; printf '%s\\n' hunter|docker login --password-stdin",
	  "echo hi; printf '%s\\n' ***|docker login --password-stdin" },
	{ "printf hunter | gh auth login --with-token", "printf *** | gh auth login --with-token" },
	{ "tool {password: hunter2, x}", "tool {password: *** x}" },
	{ "docker login --password-stdin <<< hunter", "docker login --password-stdin <<< ***" },
	{ "docker login <<<\"a b\" --password-stdin", "docker login <<<\"***\" --password-stdin" },
	{ "echo pw | gpg --passphrase-fd 0 -s f && curl -u a:bcd h",
	  "echo *** | gpg --passphrase-fd 0 -s f && curl -u a:*** h" },
	{ "echo hunter | sudo -S make install", "echo *** | sudo -S make install" },
	{ "docker login -u u -p hunter https://u:v@h TOKEN=abcd",
	  "docker login -u u -p *** https://u:***@h TOKEN=***" },
	{ "git clone https://u:a/b@h/r", "git clone https://u:***@h/r" },
	{ "git clone 'https://u:a/b@c?d@h:80/r' x", "git clone 'https://u:***@h:80/r' x" },
	{ "git clone https://u:a#b@h/r", "git clone https://u:***@h/r" },
	{ "git clone https://user:pw1@host", "git clone https://user:***@host" },
	{ "x AKIAZ0123456789ABXYZ y", "x *** y" },
	{ "openssl rsa -passin 'pass:a b' -in k", "openssl rsa -passin 'pass:***' -in k" },
	{ "openssl rsa -passin \"pass:abc\" -in k", "openssl rsa -passin \"pass:***\" -in k" },
};

TEST_EACH(secrets_are_hidden, hidden)
{
	ck_assert_str_eq(redacted(hidden[_i].text), hidden[_i].out);
	/* a text without secrets stays unchanged */
	ck_assert_str_eq(redacted(hidden[_i].out), hidden[_i].out);
}

/* Ordinary commands */
static const char *const kept[] = {
	"", "a", "tok", "toke", "token", "xx token", "echo hunter; docker login --password-stdin",
	"echo x; cat the hunter | docker login --password-stdin",
	"echo hunter || docker login --password-stdin", "tool ${password:-hunter2}",
	"gcc -DTOKEN_MAX=5 -DMAX_TOKENS=4096 -c tokens.c -o tokens.o",
	"git commit --author=John --author \"John Doe <j@d>\"",
	"gcc -Ipath/tokenizer/x -I../secret/include -Ipasswd -c passwd.c -o auth.o",
	"gcc -o auth.o -c auth.c -lsecret foo.o -lsecret-1 bar.o",
	"gcc -DHAVE_PASSWD=pwd.h -DUSE_AUTH=pam5:x -DPASSWD_FILE=\"/etc/passwd\"",
	"gcc -DTOKEN_H=\"token.h\" -DTOKENIZER=fast1 -DAUTHOR=me123",
	"gcc -DHAVE_TOKEN -DTOKEN -DSECRET -DTOKEN=1 -DAUTH=yes -DTOKEN=on -c x.c",
	"../configure --with-auth=pam --disable-token --enable-secrets=no --with-password=no",
	"bison -Dapi.token.prefix=TOK_ -Dapi.token.raw=true --token-table y.y",
	"gcc -I/usr/include/mysql -pthread -pipe -lmysqlclient -pg a.c",
	"gcc -I /usr/include/mysql -pthread -pipe -pg a.c",
	"gcc -lcurl -u main x.c",
	"ld -u symbol:x -o curl a.o",
	"curl -u $USER:$PASS http://h/ -o x",
	"TOKEN=$TOKEN SECRET=${S} PASSWORD=$(PW) API_KEY=\"$K\" make",
	"TOKEN= make", "TOKEN='' make", "TOKEN=`cat t` make",
	"TOKEN=$(cat token.txt) make",
	"tool --password --verbose",
	"tool --token-file x --secret-dir y --password-file=z --passphrase-fd 3",
	"wget http://localhost:8080/x@y https://h:443/ http://user@host/ ssh://git@h/r.git",
	"gcc -ffile-prefix-map=token=. -fmacro-prefix-map=/src/secret=/x a.c",
	"pip install secret==1.0 token==2",
	"docker build --secret id=npm,src=.npmrc .",
	"make passwd secret token auth/x std::token::y",
	"npm run build npm_config_x=1 task-eyJx",
	"cc -E token.y -o auth/token.tab.c && mv secret.tmp secret",
	"gen --keyword=token:1 --flag=auth:2",
	"bazel build //pkg/auth:lib //token:x --//token:flag=1",
	"mkdir -p login docker/login && cp -p login x && install -p -m 644 a login",
	"docker run -p 80:80 login -p 90:90", "docker exec c login -p x", "ssh -p 22 login -p x",
	"docker build -p x -t login .", "docker login -u me --password-stdin r.io",
	"docker login -u me -p $PW r.io", "docker login -p \"$$PW\" r", "docker compose -p proj login",
	"echo $TOKEN | docker login --password-stdin", "echo \"$PW\" | podman login --password-stdin r",
	"printf '%s' \"$${PW}\" | docker login --password-stdin",
	"cat pw | docker login --password-stdin r", "docker login --password-stdin r <pw.txt",
	"echo done || docker login --password-stdin", "echo one; x | docker login --password-stdin",
	"echo a | tee x; docker login --password-stdin <x", "sort <<< hunter", "echo hunter | sort",
	"make FIRST_PASS=fast TWO_PASS=all PASS=1 PASS=all -DPASS=1 -DTWO_PASS=all BYPASS=x compass=north",
	"opt --debug-pass=Structure -passes=gvn -fpass=x --pass=gvn x.ll", "PASS: t1", "DB_PASS=$DB_PASS x",
	"DB_PASS_FILE=/run/x DB_PASS= make", "TOTAL_PASSES=abc NPASS=abc", "logins=3 login=me x login",
	"wget http://h:80/x@y http://[::1]:80/a@b http://h:$PORT/x@y http://h:8080/a:b@c",
	"curl -o menu a:bcde", "curl -o x:yyyy -d a:bcde http://h:8080", "ssl pass:abcd x",
	"sort one two | docker login --password-stdin", "x AKIAZ0123456789ABXYZ0 y", "x AKIAZ0123456789ABXY y",
};

/* Among other lines, from any place on: the suspect is in the line of the secret. */
TEST_EACH(suspects_are_found, hidden)
{
	static const char before[] = "  CC   src/a.o\ncc -c a.c: 'ab' of 12\nno tokens_here is late, 4 bytes\n";
	const char *text = support_path("%s%s\nlast: line\n", before, hidden[_i].text);
	size_t line = strlen(before), len = strlen(text);

	for (size_t from = 0; from < line; from++) {
		const char *at = text + from;

		do {
			at = redact_suspect(at, (size_t)(text + len - at));
			ck_assert_msg(at, "not found: %s", hidden[_i].text);
		} while (at < text + line && at++);
		ck_assert(at < text + line + strlen(hidden[_i].text));
	}
	ck_assert(!redact_suspect(before, 16));
}

/* At any place of a text that is so long that it is searched in another way. */
TEST_EACH(suspects_of_long_texts, hidden)
{
	enum { BEFORE = 8192, AFTER = 64, STEP = 3 };
	size_t len = strlen(hidden[_i].text), total = BEFORE + len + AFTER;
	char *text = malloc(total);
	size_t at_once = (size_t)(redact_suspect(hidden[_i].text, len) - hidden[_i].text);

	for (size_t from = 0; from < BEFORE; from += from < AFTER || from > BEFORE - AFTER ? 1 : STEP * AFTER + 1) {
		for (size_t i = 0; i < total; i++)
			text[i] = "gcc -O2 sign.c: 12\xc3\n"[i % 20];
		memcpy(text + from, hidden[_i].text, len);
		ck_assert_msg(redact_suspect(text, total) == text + from + at_once, "%zu: %s", from, hidden[_i].text);
	}
	for (size_t i = 0; i < total; i++)
		text[i] = "gcc -O2 sign.c: 12\xc3\n"[i % 20];
	ck_assert(!redact_suspect(text, total));
	free(text);
}

TEST_EACH(commands_are_kept, kept)
{
	ck_assert_str_eq(redacted(kept[_i]), kept[_i]);
}

/* Bytes before and after the text make no difference and are not read. */
static void ends_at_its_end(const char *text, size_t len, bool cut)
{
	static const char around[] = "\"'\\ =:;@$)}aA7-";
	static char *page;
	char expected[512], larger[512];
	size_t size = (size_t)sysconf(_SC_PAGESIZE);

	/* one readable page between two that are not */
	if (!page) {
		page = mmap(NULL, 3 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		ck_assert(page != MAP_FAILED && !mprotect(page + size, size, PROT_READ | PROT_WRITE));
	}
	memcpy(page + 2 * size - len, text, len);
	snprintf(expected, sizeof expected, "%s", redacted_cut(page + 2 * size - len, len, cut));
	memcpy(page + size, text, len);
	ck_assert_str_eq(redacted_cut(page + size, len, cut), expected);
	for (size_t i = 0; i < sizeof around; i++) {
		memset(larger, around[i], sizeof larger);
		memcpy(larger + 8, text, len);
		ck_assert_msg(!strcmp(redacted_cut(larger + 8, len, cut), expected), "%.*s, in '%c': %s, not %s",
			      (int)len, text, around[i], redacted_cut(larger + 8, len, cut), expected);
	}
}

TEST_LOOP(ends_anywhere, ARRAY_SIZE(hidden) + ARRAY_SIZE(kept))
{
	const char *text = _i < (int)ARRAY_SIZE(hidden) ? hidden[_i].text : kept[_i - (int)ARRAY_SIZE(hidden)];
	static const char *const own[] = { "*-pin", "-k (*)", "c(*)" };

	redact_set(own, _i % 2 ? ARRAY_SIZE(own) : 0);
	for (size_t len = 0; len <= strlen(text); len++) {
		ends_at_its_end(text, len, false);
		ends_at_its_end(text, len, true);
	}
}

/* Wherever a text is truncated: nothing of a truncated secret is visible. */
TEST_LOOP(cut_secret_is_hidden, 7)
{
	static const struct { const char *text, *secret; } cases[] = {
		{ "cc -c x.c " GHP, GHP },
		{ "git clone https://user:pass-word@host/x", "pass-word" },
		{ "tool --password hunter2two", "hunter2two" },
		{ "AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE" },
		{ "a eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.abcdef", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx" },
		{ "x 'Bearer abcdefghijklmno'", "abcdefghijklmno" },
		{ "sshpass -phunter22 ssh", "hunter22" },
	};
	const char *text = cases[_i].text, *secret = cases[_i].secret;
	size_t from = (size_t)(strstr(text, secret) - text);

	for (size_t len = from + 1; len <= strlen(text); len++) {
		const char *out = redacted_cut(text, len, true);
		size_t shown = strlen(out);

		/* the first bytes, which all such tokens have, are no secret */
		for (size_t n = strlen(secret); n > 5; n--) {
			char part[64];

			snprintf(part, sizeof part, "%.*s", (int)n, secret);
			if (len - from >= 12 || *secret == 'p' || *secret == 'h')
				ck_assert_msg(!strstr(out, part), "%zu: %s", len, out);
		}
		ck_assert_uint_le(shown, len + 3);
	}
}

/* In the line of a task the command is truncated after its secrets are replaced. */
TEST(line_has_no_part)
{
	for (size_t before = EVENT_MAX - 200; before < EVENT_MAX; before++) {
		char line[EVENT_MAX + 1], command[2 * EVENT_MAX];
		struct event_task e = { .pid = 1, .slot = -1, .name = "x", .command = command };
		struct buf b;

		memset(command, 'a', before);
		strcpy(command + before, " --password hunter2two and more words");
		buf_init_fixed(&b, line, sizeof line);
		ck_assert(!event_add_start(&b, 0, "i", 1, &e));
		ck_assert(!strstr(buf_str(&b), "hunt"));
		ck_assert_uint_le(b.len, EVENT_MAX);
	}
}

TEST(line_reports_a_change)
{
	char line[EVENT_MAX + 1];
	struct event_task e = { .pid = 1, .slot = -1, .name = "make TOKEN=abc", .command = "cc x.c" };
	const char *after[] = { "out/TOKEN=abcd", "a TOKEN=abcd" };
	struct buf b;

	buf_init_fixed(&b, line, sizeof line);
	ck_assert(event_add_start(&b, 0, "i", 1, &e));
	ck_assert_str_eq(buf_str(&b), "start\t0\ti.1\t1\t\t\tmake TOKEN=***\t\tcc x.c\n");
	buf_clear(&b);
	e.command = "cc -DTOKEN=abcd x.c";
	ck_assert(!event_add_start(&b, 0, "i", 1, &e));
	buf_clear(&b);
	ck_assert_uint_eq(event_add_after(&b, 0, "i", 1, after, 2), 2);
	ck_assert_str_eq(buf_str(&b), "after\t0\ti.1\tout/TOKEN=abcd\ta TOKEN=***\n");
	buf_clear(&b);
	event_add_note(&b, 0, "i", 0, "ran https://u:v@h");
	ck_assert_str_eq(buf_str(&b), "note\t0\ti\tran https://u:***@h\n");
}

TEST(process_words)
{
	static const char words[] = "curl\0--password\0my own secret\0TOKEN=a b\0http://h";
	char copy[sizeof words], text[PROCESS_COMMAND_MAX + 1];
	struct buf b;

	memcpy(copy, words, sizeof words);
	buf_init_fixed(&b, text, sizeof text);
	process_log_command(&b, copy, sizeof words);
	ck_assert_str_eq(buf_str(&b), "curl --password *** TOKEN=*** http://h");
	/* an empty first word; what may be the begin of a key is hidden only where the words were cut */
	memcpy(copy, "\0x AKIA1234", 12);
	process_log_command(&b, copy, 12);
	ck_assert_str_eq(buf_str(&b), " x AKIA1234");
	memcpy(copy, "\0x AKIA1234", 12);
	process_log_command(&b, copy, 11);
	ck_assert_str_eq(buf_str(&b), " x ***");
}

TEST(own_patterns)
{
	static const char *const own[] = {
		"VAULT_*", "*-pin", "!BUILD_TOKEN", "-k (*)", "login:(*)", "pass=\"(*)",
	};
	static const struct { const char *text, *out; } cases[] = {
		{ "VAULT_ADDR=abc x", "VAULT_ADDR=*** x" },
		{ "VAULT_X VAULT_A= VAULT_B=$X VAULT_C=abc", "VAULT_X VAULT_A= VAULT_B=$X VAULT_C=***" },
		{ "cc -Dvault_x=12 x", "cc -Dvault_x=*** x" },
		{ "sign --card-pin 1234 f", "sign --card-pin *** f" },
		{ "BUILD_TOKEN=abc x", "BUILD_TOKEN=abc x" },
		{ "x -k abc -z", "x -k *** -z" },
		{ "x login:abc TOKEN=abc", "x login:*** TOKEN=***" },
		{ "x pass=\"a b c\" d", "x pass=\"***\" d" },
	};
	char text[1000];
	struct buf b;

	redact_set(own, ARRAY_SIZE(own));
	buf_init_fixed(&b, text, sizeof text);
	redact_add_words(&b);
	for (int turn = 0; turn < 2; turn++) {
		for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
			ck_assert_str_eq(redacted(cases[i].text), cases[i].out);
		/* and passed to another process */
		redact_set(NULL, 0);
		ck_assert_str_eq(redacted("x -k abc -z"), "x -k abc -z");
		redact_set_words((struct slice){ buf_str(&b), b.len });
	}
	redact_set((const char *const[]){ "none", "MY_*" }, 2);
	ck_assert_str_eq(redacted("TOKEN=abc MY_X=d " GHP), "TOKEN=abc MY_X=*** " GHP);
	redact_set((const char *const[]){ "none" }, 1);
	ck_assert_str_eq(redacted("TOKEN=abc https://u:v@h"), "TOKEN=abc https://u:v@h");
	buf_clear(&b);
	redact_add_words(&b);
	ck_assert_str_eq(buf_str(&b), "none");
}

TEST(wrong_patterns)
{
	static const char *const wrong[] = { "", "*", "**", "!", "!*", "a b", "x(*)", "(*)", "a(*)b", "$x" };
	static const char *const right[] = { "a", "a*", "!a", "ab(*)", "none", "-x-*" };

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		ck_assert_msg(redact_why_not(wrong[i]) != NULL, "%s", wrong[i]);
	for (size_t i = 0; i < ARRAY_SIZE(right); i++)
		ck_assert_msg(!redact_why_not(right[i]), "%s", right[i]);
	redact_set(wrong, ARRAY_SIZE(wrong));
	ck_assert(redact_is_default());
	/* one set after another of the same size */
	redact_set((const char *const[]){ "zebra*" }, 1);
	ck_assert_str_eq(redacted("ZEBRA=abc APPLE=abc"), "ZEBRA=*** APPLE=abc");
	redact_set((const char *const[]){ "apple*" }, 1);
	ck_assert_str_eq(redacted("ZEBRA=abc APPLE=abc"), "ZEBRA=abc APPLE=***");
}

/* Any text: the result has the text's bytes in their order, and a second pass finds nothing. */
TEST(any_text)
{
	static const char *const piece[] = {
		"TOKEN", "=", " ", "\"", "'", "--password", "://", "@", ":", "curl", "-u", "mysql",
		"-p", "abc1", "\\", "$", "{", "}", "(", ")", GHP, "AKIA", "eyJh", "bearer ", "secret",
		"-D", "auth", "/", ";", "\n", "-", "pass:", "-passin", "x", "authorization", "sshpass",
		",", "private key-----",
	};
	static const char *const own[] = { "*x*", "bc(*)" };

	srand(7);
	for (int round = 0; round < 40000; round++) {
		char text[2048], *exact;
		struct slice part[REDACT_PARTS_MAX];
		size_t len = 0, n;
		const char *at = text;

		redact_set(own, round % 3 ? 0 : 2);
		for (int i = rand() % 60; i > 0; i--) {
			const char *p = piece[(size_t)rand() % ARRAY_SIZE(piece)];

			if (rand() % 40 == 0)
				text[len++] = '\0';
			memcpy(text + len, p, strlen(p));
			len += strlen(p);
			ck_assert_uint_lt(len, sizeof text - 64);
		}
		exact = malloc(len + !len);
		memcpy(exact, text, len);
		/* exact bounds for the sanitizer and valgrind */
		redact_split(part, exact, len, true);
		free(exact);
		n = redact_split(part, text, len, round & 1);
		ck_assert_uint_le(n, REDACT_PARTS_MAX);
		for (size_t i = 0; i < n; i++) {
			if (i % 2) {
				ck_assert_uint_eq(part[i].len, 3);
				continue;
			}
			ck_assert(part[i].p >= at && part[i].p + part[i].len <= text + len);
			at = part[i].p + part[i].len;
		}
		if (n == 1)
			ck_assert(part[0].p == text && part[0].len == len);
	}
}

/* The whole value of a variable is replaced if it begins with a secret. */
TEST(variables)
{
	static const struct { const char *text, *out; } rows[] = {
		{ "TOKEN=abc def", "TOKEN=***" }, { "PATH=/bin", "PATH=/bin" }, { "TOKEN=***", "TOKEN=***" },
		{ "TOKEN=***  x", "TOKEN=***  x" }, { "LONG_NAME=make TOKEN=abcd x", "LONG_NAME=make TOKEN=*** x" },
		{ "TOKEN", "TOKEN" }, { "X=", "X=" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct buf b = BUF_INIT;

		buf_adds(&b, "before ");
		redact_variable(&b, rows[i].text, strlen(rows[i].text));
		ck_assert_str_eq(buf_str(&b) + strlen("before "), rows[i].out);
		buf_release(&b);
	}
}

TEST_MAIN(redact);
