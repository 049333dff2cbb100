/* SPDX-License-Identifier: MIT */
/* Replies about processes, compared with the commands and with /proc as Python reads it. */
#include "command/redact.h"
#include "tests/hostile.h"
#include "tests/support.h"

#define API "python3 -B " TOP_SRCDIR "/tests/process_api.py " BUILDBEAT " " TOP_BUILDDIR "/tests/ask"

TEST(like_proc)
{
	support_expect(NULL, 0, "", "", API);
}

/* The same as another user, for root. */
TEST(without_rights)
{
	SKIP_IF(!hostile_can());
	support_expect("/", 0, "", "", "PATH=/usr/bin:/bin setpriv --reuid=65534 --regid=65534 "
		       "--clear-groups " API);
}

/* Names that say that the value is a secret, with any value that is not a plain word. */
TEST(no_secret_comes_out)
{
	static const char *const names[] = {
		"PASSWORD", "DB_PASSWORD", "TOKEN", "GH_TOKEN", "npm_config__authToken", "API_KEY",
		"AWS_SECRET_ACCESS_KEY", "CLIENT_SECRET", "SSH_PASSPHRASE",
	};
	static const char alphabet[] = "abcXYZ019 \t\n\"'=:/@;&|$(){}#%~*+,.<>?!-_";
	RELEASED(buf, text = BUF_INIT, out = BUF_INIT);

	srand(1);
	for (int i = 0; i < 20000; i++) {
		const char *name = names[rand() % (int)ARRAY_SIZE(names)];
		size_t head = strlen(name) + 1;

		buf_clear(&text);
		buf_clear(&out);
		buf_addf(&text, "%s=kU7", name);
		for (int n = rand() % 40 + 8; n; n--)
			buf_addc(&text, alphabet[rand() % (int)(sizeof alphabet - 1)]);
		redact_variable(&out, text.data, text.len);
		ck_assert_msg(out.len == head + strlen(REDACT_MARK) &&
			      !strcmp(buf_str(&out) + head, REDACT_MARK), "%s -> %s",
			      buf_str(&text), buf_str(&out));
	}
}

TEST(other_variables_are_whole)
{
	static const char *const texts[] = {
		"PATH=/usr/bin:/bin", "EMPTY=", "no sign", "=x", "PS1=\\u@\\h $ ", "MARK=***",
		"TWO=lines\nof text", "PASSWORD=",
	};
	RELEASED(buf, out = BUF_INIT);

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		buf_clear(&out);
		redact_variable(&out, texts[i], strlen(texts[i]));
		ck_assert_str_eq(buf_str(&out), texts[i]);
	}
}

TEST_PROGRAM(process_api)
{
	SKIP_PROGRAM_IF(!support_has("python3") || !support_has("setpriv") ||
		!support_can_be_loaded());
	return support_main();
}
