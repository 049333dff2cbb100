/* SPDX-License-Identifier: MIT */
#include "inspect/call_names.h"

#include "base/str.h"

#include <stdbool.h>
#include <string.h>

#define LOOKED_AT 10		/* calls whose directories count */
#define PREFIXES 2		/* besides the module */

/* Where the arguments of a template begin, not an operator < or <<. */
static bool opens(const char *name, const char *p)
{
	return *p == '<' && !(p - name >= 8 && !strncmp(p - 8, "operator", 8)) &&
	       !(p - name >= 9 && !strncmp(p - 9, "operator<", 9));
}

static const char *skip_template(const char *p)
{
	size_t depth = 0;

	for (; *p; p++) {
		depth += *p == '<';
		if (*p == '>' && p[-1] != '-' && !--depth)
			return p + 1;
	}
	return p;
}

/* "<TYPE as TRAIT>::method": the type is the name. */
static const char *rust_type(struct buf *out, const char *name)
{
	const char *end = skip_template(name), *as = strstr(name, " as ");
	struct buf type = BUF_PART_OF(out);

	if (!as || as > end)
		as = end > name ? end - 1 : end;
	buf_add(&type, name + 1, (size_t)(as - name - 1));
	call_names_short(out, buf_str(&type));
	buf_release(&type);
	return end;
}

void call_names_short(struct buf *out, const char *function)
{
	size_t start = out->len;
	const char *p = function;

	if (*p == '<' && p[1] && p[1] != '<')
		p = rust_type(out, p);
	while (*p) {
		if (str_starts(p, "(anonymous namespace)")) {
			buf_adds(out, "(anonymous namespace)");
			p += strlen("(anonymous namespace)");
		} else if (str_starts(p, "operator()")) {
			buf_adds(out, "operator()");
			p += strlen("operator()");
		} else if (opens(function, p)) {
			p = skip_template(p);
		} else if (*p == '(' && out->len > start) {
			break;
		} else if (*p == ' ' && out->len > start && out->data[out->len - 1] != ',' &&
			   !str_starts(p, " [") && !strstr(function, "operator ")) {
			/* what came before was the type that a template returns */
			buf_cut(out, start);
			p++;
		} else {
			buf_addc(out, *p++);
		}
	}
	if (out->len == start)
		buf_adds(out, function);
}

static void add_part(struct call_path *path, const char *p, size_t len)
{
	if (!len || path->n == CALL_PATH_MAX)
		return;
	buf_clear(&path->part[path->n]);
	buf_add(&path->part[path->n++], p, len);
}

/* Sources */

static size_t directory_len(const char *source)
{
	const char *slash = strrchr(source, '/');

	return slash ? (size_t)(slash - source) : 0;
}

static const char *source_of(const struct inspection *in, const struct calls *calls, size_t i)
{
	uint32_t source = calls->call[i].source;

	return source < in->names.n && in->names.name[source].len ? in->names.name[source].p : NULL;
}

static bool same_directory(const char *a, const char *b)
{
	size_t len = directory_len(a);

	return directory_len(b) == len && !memcmp(a, b, len);
}

/* A source in the most frequent directory. */
static const char *usual_source(const struct inspection *in, const struct calls *calls, size_t from)
{
	size_t end = calls->n - from < LOOKED_AT ? calls->n : from + LOOKED_AT, most = 0;
	const char *usual = NULL;

	for (size_t i = from; i < end; i++) {
		const char *source = source_of(in, calls, i);
		size_t n = 0;

		for (size_t k = i; source && k < end; k++) {
			const char *other = source_of(in, calls, k);

			n += other && same_directory(source, other);
		}
		if (n > most) {
			most = n;
			usual = source;
		}
	}
	return usual;
}

static void add_directories(struct call_path *path, const char *source)
{
	const char *end = source + directory_len(source);

	path->is_source = true;
	for (const char *p = source, *next; p < end; p = next + 1) {
		size_t len;

		next = memchr(p, '/', (size_t)(end - p));
		next = next ? next : end;
		len = (size_t)(next - p);
		if (len == 2 && !memcmp(p, "..", 2))
			path->n -= path->n > 0;
		else if (!(len == 1 && *p == '.'))
			add_part(path, p, len);
	}
	if (!path->n)
		add_part(path, ".", 1);
}

/* Names */

static void add_prefixes(struct call_path *path, const char *name)
{
	const char *end = strstr(name, "::");
	size_t limit = path->n + PREFIXES;

	if (end) {
		for (; end && path->n < limit; end = strstr(end + 2, "::"))
			add_part(path, name, (size_t)(end - name));
		return;
	}
	end = name + strspn(name, "_");
	for (end = strchr(end, '_'); end && path->n < limit; end = strchr(end + 1, '_')) {
		struct buf *part = &path->part[path->n];

		add_part(path, name, (size_t)(end - name));
		buf_adds(part, "_*");
	}
}

static void add_names(struct call_path *path, const struct inspection *in,
		      const struct calls *calls, size_t from)
{
	const struct call *call = &calls->call[from];
	const char *function = calls_function(calls, call->function);
	const char *module = call->module < in->n_modules &&
			     in->module[call->module].file < in->names.n ?
			     in->names.name[in->module[call->module].file].p : "?";
	struct buf name = BUF_PART_OF(&path->part[0]);

	module = strrchr(module, '/') ? strrchr(module, '/') + 1 : module;
	add_part(path, module, strlen(module));
	call_names_short(&name, function);
	if (!strchr(buf_str(&name), '!'))
		add_prefixes(path, buf_str(&name));
	buf_release(&name);
}

int call_names_path(struct call_path *path, const struct calls *calls, size_t from)
{
	const struct inspection *in = calls->in;
	const char *source;
	int r = 0;

	path->n = 0;
	path->is_source = false;
	if (from >= calls->n)
		return 0;
	/* libc may have debug information while the program has none */
	source = source_of(in, calls, from) ? usual_source(in, calls, from) : NULL;
	if (source)
		add_directories(path, source);
	else
		add_names(path, in, calls, from);
	for (size_t i = 0; i < path->n && !r; i++)
		r = buf_error(&path->part[i]);
	return r;
}

void call_names_release(struct call_path *path)
{
	for (size_t i = 0; i < CALL_PATH_MAX; i++)
		buf_release(&path->part[i]);
}
