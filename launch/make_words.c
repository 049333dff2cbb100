/* SPDX-License-Identifier: MIT */
#include "launch/make_words.h"

#include <stddef.h>
#include <string.h>

/* Does this short option of make have an argument, which may be the next word? */
static bool takes_argument(char option)
{
	return strchr("CEIWfo", option);
}

static bool abbreviates(const char *word, const char *option)
{
	size_t len = strlen(word);

	return len > 3 && !strncmp(word, option, len);
}

bool make_words_only_print(char *const argv[])
{
	for (size_t i = 1; argv[i] && strcmp(argv[i], "--"); i++) {
		const char *word = argv[i];

		if (abbreviates(word, "--version") || abbreviates(word, "--help"))
			return true;
		if (word[0] != '-' || word[1] == '-')
			continue;
		for (word++; *word; word++) {
			if (*word == 'v' || *word == 'h')
				return true;
			if (takes_argument(*word)) {
				i += !word[1] && argv[i + 1];
				break;
			}
		}
	}
	return false;
}
