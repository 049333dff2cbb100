/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_UNPACK_H
#define BUILDBEAT_TESTS_UNPACK_H

#include <stddef.h>
#include <stdint.h>

/*
 * Reads the output of pack_chart() by the description in pack_chart.h alone. Fails the running
 * test if they disagree.
 */
#define UNPACKED_MAX 128

struct unpacked {
	char *json;		/* without its newline */
	size_t n_numbers, n_texts;
	struct unpacked_numbers {
		char name[40], type;
		size_t n;
		int64_t *value;
	} numbers[UNPACKED_MAX];
	struct unpacked_text {
		char name[40];
		size_t n;
		char **line;
	} text[8];
};

void unpack(struct unpacked *u, const char *packed, size_t len);
void unpacked_release(struct unpacked *u);

/* A column by name. */
const struct unpacked_numbers *unpacked_numbers(const struct unpacked *u, const char *name);
const struct unpacked_text *unpacked_text(const struct unpacked *u, const char *name);

/* Number i of a column; 0 if the column is missing. */
int64_t unpacked_at(const struct unpacked *u, const char *name, size_t i);

/* A number of the JSON by its name, the first one of that name. */
int64_t unpacked_json(const struct unpacked *u, const char *name);

/* Unpack n numbers of a type from *p on, which moves past them. The caller frees. */
int64_t *unpack_numbers(const uint8_t **p, const uint8_t *end, char type, size_t n);

/* The bytes of characters, n at most. Returns their number. */
size_t unpack_characters(uint8_t *out, size_t n, const char *p, size_t len);

#endif
