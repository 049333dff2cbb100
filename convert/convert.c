/* SPDX-License-Identifier: MIT */
#include "convert/convert.h"
#include "base/array.h"
#include "convert/oe/oe.h"
#include "convert/zstd.h"

#include "convert/formats.h"
#include "convert/gunzip.h"
#include "recording/layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HEAD_MAX 65536

#define CONVERTER(name, how) &converter_ ## name,
#define WORD(name, how) #name,
#define WORD_WRITTEN(name, how) WORD_IF_ ## how(name)
#define WORD_IF_READ(name)
#define WORD_IF_WRITTEN(name) #name,

const struct converter *const converters[] = { FORMATS(CONVERTER) NULL };
const char *const converter_word[] = { FORMATS(WORD) NULL };
const char *const converter_written_word[] = { FORMATS(WORD_WRITTEN) NULL };

const struct converter *converter_named(const char *name)
{
	for (size_t i = 0; converters[i]; i++) {
		if (!strcmp(converters[i]->name, name))
			return converters[i];
	}
	return NULL;
}

static int say_imported(struct recording *rec, const char *from)
{
	struct build_line *grown;

	if (recording_build(rec, LAYOUT_IMPORTED))
		return 0;
	grown = array_grow(rec->build, rec->n_build, sizeof *grown);
	if (!grown)
		return -ENOMEM;
	rec->build = grown;
	grown[rec->n_build++] = (struct build_line){ LAYOUT_IMPORTED, from };
	return 0;
}

int converter_read(const struct converter *c, struct recording *rec,
		   const char *const *path, size_t n, struct error *err)
{
	int r = c->read(rec, path, n, err);

	if (!r && (r = say_imported(rec, c->name))) {
		error_sys(err, r, path[0], NULL);
		recording_release(rec);
	}
	return r;
}

static const struct converter *recognise(const struct convert_file *file)
{
	for (size_t i = 0; converters[i]; i++) {
		if (converters[i]->recognise && converters[i]->recognise(file))
			return converters[i];
	}
	return NULL;
}

/* A NUL comes behind it. */
static ssize_t read_head(const char *path, char *to, struct error *err)
{
	ssize_t n = 1;
	size_t len = 0;
	int error;
	struct gunzip *g = gunzip_open(path, &error, err);

	if (!g)
		return error;
	while (n > 0 && len < HEAD_MAX) {
		n = gunzip_read(g, to + len, HEAD_MAX - len, err);
		len += n > 0 ? (size_t)n : 0;
	}
	gunzip_close(g);
	to[len] = '\0';
	return n < 0 ? n : (ssize_t)len;
}

static const struct converter *recognise_file(const char *path, struct error *err)
{
	const struct converter *found = NULL;
	char *head = malloc(HEAD_MAX + 1);
	ssize_t n = head ? read_head(path, head, err) : error_sys(err, -ENOMEM, path, NULL);

	if (n >= 0) {
		found = recognise(&(struct convert_file){ path, false, head, (size_t)n });
		if (!found)
			error_set(err, -EINVAL, path, 0, 0, "not a recording, nor what another "
				  "tool writes about a build");
	}
	free(head);
	return found;
}

static const struct converter *recognise_dir(const char *path, struct error *err)
{
	const struct converter *found = recognise(&(struct convert_file){ path, true, "", 0 });

	if (!found)
		error_set(err, -EINVAL, path, 0, 0, "not a recording, nor a directory that "
			  "another tool writes about a build");
	return found;
}

const struct converter *converter_of(const char *path, struct error *err)
{
	struct stat st;

	if (stat(path, &st)) {
		error_sys(err, -errno, path, NULL);
		return NULL;
	}
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
		error_set(err, -EINVAL, path, 0, 0, "a pipe is read once, so its format has to be "
			  "said: buildbeat import --from FORMAT");
		return NULL;
	}
	return S_ISDIR(st.st_mode) ? recognise_dir(path, err) : recognise_file(path, err);
}

const struct recording_formats convert_formats = {
	.codec = &zstd_codec,
	.foreign = &oe_foreign,
};
