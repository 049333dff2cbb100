/* SPDX-License-Identifier: MIT */
#include "plugin/ticket.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/minmax.h"
#include "base/trust.h"
#include "command/redact.h"
#include "plugin/carry.h"
#include "recording/layout.h"
#include "recording/store_join.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define TICKET_MAX (4 * PATH_MAX + REDACT_WORDS_MAX)
#define PLUGIN_LINK "buildbeat.so"
#define DIR_PREFIX "buildbeat-"
#define RELAY_SOCKET "output"

/* A truncated object would kill the make that loads it. Others must not be able to write to it. */
static __attribute__((cold)) int check_plugin(const char *plugin)
{
	ElfW(Ehdr) e;
	struct stat st;
	struct error err;
	ssize_t n;
	int r;
	int fd = open(plugin, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	n = pread(fd, &e, sizeof e, 0);
	r = trust_fstat(fd, &st);
	if (!r)
		r = trust_check_code(plugin, &st, &err);
	if (!r && (n != sizeof e || memcmp(e.e_ident, ELFMAG, SELFMAG) ||
		 e.e_shoff > (uint64_t)st.st_size ||
		 e.e_shoff + (uint64_t)e.e_shnum * e.e_shentsize > (uint64_t)st.st_size))
		r = -ENOEXEC;
	close(fd);
	return r;
}

/* Has it no characters with a meaning for make, its rules, functions or word lists? */
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
 * MAKEFILE_LIST: otherwise $(firstword $(MAKEFILE_LIST)) would be our file. The rule: a "%:"
 * pattern of the user must not rebuild the files. The wildcard: even -load fails if the file does
 * not exist. Rules in a file that MAKEFILES names never become the default goal.
 */
static __attribute__((cold)) void add_ticket(struct buf *b, const struct store *s,
					     const char *ticket, const char *plugin)
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

/* Write a new file in the private directory. */
static int write_file(int dir_fd, const char *name, const struct buf *b)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r;

	if (fd < 0)
		return -errno;
	r = file_write(fd, b->data, b->len);
	return close(fd) && !r ? -errno : r;
}

/* The private directory */

static bool is_private_dir(int fd)
{
	struct stat st;

	return !trust_fstat(fd, &st) && S_ISDIR(st.st_mode) && trust_is_private(&st) &&
	       !(st.st_mode & (S_IRWXG | S_IRWXO));
}

static int open_dir_at(int base_fd, const char *name)
{
	int fd = openat(base_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (is_private_dir(fd))
		return fd;
	close(fd);
	return -EPERM;
}

/* Identifies this boot of the kernel and this namespace of process ids: only within them can a
 * process id show that its process has ended. */
static __attribute__((cold)) uint32_t machine_key(void)
{
	char text[128] = "";
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, 64);

	file_close(fd);
	n = MAX(n, 0);
	if (readlink("/proc/self/ns/pid", text + n, sizeof text - 1 - (size_t)n) < 0)
		text[n] = '\0';
	return hash_fnv32(text, strlen(text));
}

/* Can nobody else read it or remove what we create in it? */
static __attribute__((cold)) bool is_base(size_t i, const char *base)
{
	struct error err;
	int fd;

	if (!base || *base != '/' || !is_plain(base) || strlen(base) > PATH_MAX / 2)
		return false;
	if (i)
		return !trust_path(base, &err);
	fd = open_dir_at(AT_FDCWD, base);
	file_close(fd);
	return fd >= 0;
}

#define N_BASES 3

/* The possible places, the best first; NULL: this one cannot be used. */
static const char *base_at(size_t i)
{
	const char *bases[N_BASES] = { getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp" };

	return is_base(i, bases[i]) ? bases[i] : NULL;
}

/* Create it: the path in out; returns its descriptor. */
static __attribute__((cold)) int make_private_dir(char out[PATH_MAX])
{
	int r = -EPERM;

	for (size_t i = 0; i < N_BASES; i++) {
		const char *base = base_at(i);

		if (!base)
			continue;
		snprintf(out, PATH_MAX, "%s/" DIR_PREFIX "%08x-%d-XXXXXX", base, machine_key(),
			 (int)getpid());
		if (mkdtemp(out)) {
			r = open_dir_at(AT_FDCWD, out);
			if (r >= 0)
				return r;
			rmdir(out);
		} else {
			r = -errno;
		}
	}
	return r;
}

static void empty_dir(int fd)
{
	unlinkat(fd, LAYOUT_TICKET, 0);
	unlinkat(fd, CARRY_PRELOAD, 0);
	unlinkat(fd, PLUGIN_LINK, 0);
	unlinkat(fd, PIDSPACE_SOCKET, 0);
	unlinkat(fd, RELAY_SOCKET "0", 0);
	unlinkat(fd, RELAY_SOCKET "1", 0);
}

/* If it exists; otherwise only makes are recorded. With a sanitizer in it no program would
 * start. */
static void link_preload(int dir_fd, const char *plugin)
{
	char preload[PATH_MAX];
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
	(void)!symlinkat(preload, dir_fd, CARRY_PRELOAD);
}

static __attribute__((cold)) int fill_dir(int dir_fd, const char *ticket, const struct store *s,
					  const char *plugin)
{
	char link[PATH_MAX], text[TICKET_MAX];
	const char *slash = strrchr(ticket, '/');
	struct buf b;

	if (plugin)
		link_preload(dir_fd, plugin);
	if (plugin && !is_plain(plugin)) {
		if (symlinkat(plugin, dir_fd, PLUGIN_LINK))
			return -errno;
		snprintf(link, sizeof link, "%.*s/" PLUGIN_LINK, (int)(slash - ticket), ticket);
		plugin = link;
	}
	buf_init_fixed(&b, text, sizeof text);
	add_ticket(&b, s, ticket, plugin);
	return buf_error(&b) ? buf_error(&b) : write_file(dir_fd, LAYOUT_TICKET, &b);
}

int ticket_write(struct ticket *t, const struct store *s, const char *plugin)
{
	int r = plugin ? check_plugin(plugin) : 0;
	int fd;

	t->path[0] = '\0';
	if (r)
		return r;
	fd = make_private_dir(t->path);
	if (fd < 0) {
		t->path[0] = '\0';
		return fd;
	}
	strcat(t->path, "/" LAYOUT_TICKET);
	r = fill_dir(fd, t->path, s, plugin);
	close(fd);
	if (r)
		ticket_remove(t);
	return r;
}

void ticket_remove(struct ticket *t)
{
	char *slash = strrchr(t->path, '/');
	int fd;

	if (!slash)
		return;
	*slash = '\0';
	fd = open_dir_at(AT_FDCWD, t->path);
	if (fd >= 0) {
		empty_dir(fd);
		close(fd);
		rmdir(t->path);
	}
	t->path[0] = '\0';
}

/* Is it one of ours, created here by a process that has ended? */
static bool is_left_over(const char *name, uint32_t key)
{
	char prefix[32];
	size_t n = (size_t)snprintf(prefix, sizeof prefix, DIR_PREFIX "%08x-", key);
	long pid;

	if (strncmp(name, prefix, n))
		return false;
	pid = strtol(name + n, NULL, 10);
	return pid > 0 && pid <= INT_MAX && kill((pid_t)pid, 0) && errno == ESRCH;
}

static __attribute__((cold)) void clean_base(const char *base)
{
	uint32_t key = machine_key();
	DIR *dir = opendir(base);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		int fd = is_left_over(entry->d_name, key) ? open_dir_at(dirfd(dir), entry->d_name)
			 : -1;

		if (fd < 0)
			continue;
		empty_dir(fd);
		close(fd);
		unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	}
	if (dir)
		closedir(dir);
}

void ticket_clean(void)
{
	for (size_t i = 0; i < N_BASES; i++) {
		if (base_at(i))
			clean_base(base_at(i));
	}
}

void ticket_add_makefiles(struct buf *b, const struct ticket *t, const char *makefiles)
{
	buf_adds(b, t->path);
	if (makefiles && *makefiles) {
		buf_addc(b, ' ');
		buf_adds(b, makefiles);
	}
}

bool ticket_relay_address(struct sockaddr_un *address, struct slice ticket, unsigned relay)
{
	const char *slash = ticket.len ? memrchr(ticket.p, '/', ticket.len) : NULL;
	size_t len = slash ? (size_t)(slash - ticket.p) : sizeof address->sun_path;

	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (relay > 9 || len + sizeof "/" RELAY_SOCKET "0" > sizeof address->sun_path)
		return false;
	memcpy(address->sun_path, ticket.p, len);
	strcpy(address->sun_path + len, "/" RELAY_SOCKET "0");
	address->sun_path[len + sizeof "/" RELAY_SOCKET - 1] = (char)('0' + relay);
	return true;
}
