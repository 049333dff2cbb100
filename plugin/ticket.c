#include "ticket.h"

#include "carry.h"
#include "layout.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TICKET_MAX (4 * PATH_MAX)
#define PLUGIN_LINK "buildbeat.so"

/* An object that was cut short would kill the make that loads it. */
static int check_plugin(const char *plugin)
{
	ElfW(Ehdr) e;
	struct stat st;
	ssize_t n;
	int r = 0;
	int fd = open(plugin, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	n = pread(fd, &e, sizeof e, 0);
	if (fstat(fd, &st))
		r = -errno;
	else if (n != sizeof e || memcmp(e.e_ident, ELFMAG, SELFMAG) ||
		 e.e_shoff > (uint64_t)st.st_size ||
		 e.e_shoff + (uint64_t)e.e_shnum * e.e_shentsize > (uint64_t)st.st_size)
		r = -ENOEXEC;
	close(fd);
	return r;
}

/* Nothing that make, its rules, functions or word lists give a meaning to. */
static bool is_plain(const char *path)
{
	for (; *path; path++) {
		unsigned char c = (unsigned char)*path;

		if (c < 0x80 && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
		    !(c >= '0' && c <= '9') && !strchr("/._+@-", c))
			return false;
	}
	return true;
}

/*
 * MAKEFILE_LIST: else $(firstword $(MAKEFILE_LIST)) would be ours. The rule: a
 * "%:" pattern of the user's must remake neither file. The wildcard: even -load
 * stops the build over a file that is gone. Rules in a file that MAKEFILES names
 * never become the default goal.
 */
static void add_ticket(struct buf *b, const struct store *s, const char *ticket,
		       const char *plugin)
{
	store_add_ticket_line(b, s);
	buf_adds(b, "MAKEFILE_LIST :=\n");
	if (!plugin) {
		buf_addf(b, "%s: ;\n", ticket);
		return;
	}
	buf_addf(b, "ifneq (,$(and $(filter load,$(.FEATURES)),$(wildcard %s)))\n", plugin);
	buf_addf(b, "-load %s(buildbeat_gmk_setup)\n", plugin);
	buf_adds(b, "endif\n");
	buf_addf(b, "%s %s: ;\n", ticket, plugin);
}

static int write_file(const char *path, const struct buf *b)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	int r;

	if (fd < 0)
		return -errno;
	r = store_write(fd, b->data, b->len);
	if (close(fd) && !r)
		r = -errno;
	if (r)
		unlink(path);
	return r;
}

/* A private directory whose path is plain, in out. */
static int make_private_dir(char out[PATH_MAX])
{
	const char *bases[] = { getenv("XDG_RUNTIME_DIR"), "/tmp" };
	int r = -ENOENT;

	for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
		if (!bases[i] || *bases[i] != '/' || !is_plain(bases[i]) ||
		    strlen(bases[i]) > PATH_MAX / 2)
			continue;
		sprintf(out, "%s/buildbeat-XXXXXX", bases[i]);
		if (mkdtemp(out))
			return 0;
		r = -errno;
	}
	return r;
}

/* The names inside t's directory; dir has room, see make_private_dir(). */
static void beside(char out[PATH_MAX], const struct ticket *t, const char *name)
{
	const char *slash = strrchr(t->path, '/');

	snprintf(out, PATH_MAX, "%.*s/%s", (int)(slash - t->path), t->path, name);
}

/* Where it can be had; without, none but makes are recorded. With a sanitizer in it
 * no program would start. */
static void link_preload(const struct ticket *t, const char *plugin)
{
	char preload[PATH_MAX], link[PATH_MAX];
	const char *slash = strrchr(plugin, '/');
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
	bool sanitized = true;
#else
	bool sanitized = false;
#endif

	if (sanitized || !slash || snprintf(preload, sizeof preload, "%.*s/" CARRY_PRELOAD,
			       (int)(slash - plugin), plugin) >= PATH_MAX ||
	    check_plugin(preload))
		return;
	beside(link, t, CARRY_PRELOAD);
	if (symlink(preload, link))
		unlink(link);
}

int ticket_write(struct ticket *t, const struct store *s, const char *plugin)
{
	char dir[PATH_MAX], link[PATH_MAX], text[TICKET_MAX];
	struct buf b;
	bool plain = !plugin || is_plain(plugin);
	int r = plugin ? check_plugin(plugin) : 0;

	*t = (struct ticket){ .outside = !is_plain(s->path) || !plain };
	if (r)
		return r;
	if (!t->outside) {
		strcpy(dir, s->path);
	} else {
		r = make_private_dir(dir);
		if (r)
			return r;
	}
	if (strlen(dir) + strlen("/" LAYOUT_TICKET) >= sizeof t->path)
		return -ENAMETOOLONG;
	snprintf(t->path, sizeof t->path, "%s/" LAYOUT_TICKET, dir);
	if (plugin)
		link_preload(t, plugin);
	if (!plain) {
		beside(link, t, PLUGIN_LINK);
		r = symlink(plugin, link) ? -errno : 0;
		plugin = link;
		if (r)
			goto out;
	}
	buf_init_fixed(&b, text, sizeof text);
	add_ticket(&b, s, t->path, plugin);
	r = buf_error(&b) ? buf_error(&b) : write_file(t->path, &b);
out:
	if (r)
		ticket_remove(t);
	return r;
}

void ticket_remove(struct ticket *t)
{
	char path[PATH_MAX];

	if (!t->path[0])
		return;
	unlink(t->path);
	beside(path, t, CARRY_PRELOAD);
	unlink(path);
	if (t->outside) {
		beside(path, t, PLUGIN_LINK);
		unlink(path);
		*strrchr(t->path, '/') = '\0';
		rmdir(t->path);
	}
	t->path[0] = '\0';
}

void ticket_add_makefiles(struct buf *b, const struct ticket *t, const char *makefiles)
{
	buf_adds(b, t->path);
	if (makefiles && *makefiles) {
		buf_addc(b, ' ');
		buf_adds(b, makefiles);
	}
}
