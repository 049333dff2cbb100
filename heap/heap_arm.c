/* SPDX-License-Identifier: MIT */
#include "heap/bare.h"
#include "heap/heap_env.h"

#include "base/minmax.h"

#include <elf.h>
#include <fnmatch.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/*
 * Loaded into every program of an armed build, it looks at the program's name. A program that
 * matches is executed again, with the shim, before anything of it or of its libraries ran: in the
 * same process, with the same arguments, under the same name. It exports nothing, and allocates
 * nothing. Whatever cannot be done leaves the program as it is.
 *
 * It needs no library, since the program may have another C library or an older one, for which a
 * missing symbol or version is fatal. What it uses of glibc is weak.
 */

#define VARIABLES_MAX 20000
#define LIST_MAX 65536
#define ARGUMENTS_MAX 131072	/* bytes, of a program that was started through the loader */
#define WORDS_MAX 8192
#define NOW_SIZE 48
#define SCRIPT_WORDS 8		/* before the script's own arguments: a chain of interpreters */

static const char preload_name[] = "LD_PRELOAD=";

/* In each runtime of a sanitizer. */
extern void __sanitizer_set_report_path(const char *path) __attribute__((weak));

/* Of glibc's loader, which passes arguments to constructors; other loaders may not. */
extern void *__libc_stack_end __attribute__((weak));
extern struct r_debug _r_debug __attribute__((weak));

/* Of libc, which not every program has. */
extern __typeof(getauxval) getauxval __attribute__((weak));
extern __typeof(fnmatch) fnmatch __attribute__((weak));
extern __typeof(gnu_get_libc_version) gnu_get_libc_version __attribute__((weak));

extern ElfW(Dyn) own_dynamic[] __asm__("_DYNAMIC") __attribute__((visibility("hidden")));

/* Names */

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool has_base(const char *path, size_t len, const char *name)
{
	size_t n = strlen(name);

	return len > n && path[len - n - 1] == '/' && !memcmp(path + len - n, name, n);
}

/* Is the shim loaded? It may have removed its variables already. */
static bool has_shim(void)
{
	for (const struct link_map *m = _r_debug.r_map; m; m = m->l_next) {
		if (m->l_name && has_base(m->l_name, strlen(m->l_name), HEAP_ENV_SHIM))
			return true;
	}
	return false;
}

/* The address sanitizer ends a program if a library is loaded before its runtime: one with a
 * name. */
static void hide(void)
{
	static char nothing[] = "";

	for (struct link_map *m = _r_debug.r_map; m; m = m->l_next) {
		if (m->l_ld == own_dynamic)
			m->l_name = nothing;
	}
}

/* The program: static runtimes of sanitizers that export nothing use such functions. */
static bool has_preinit(void)
{
	const ElfW(Dyn) *d = _r_debug.r_map ? _r_debug.r_map->l_ld : NULL;

	for (; d && d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_PREINIT_ARRAYSZ && d->d_un.d_val)
			return true;
	}
	return false;
}

/* How the program was started */

enum form { FORM_PROGRAM, FORM_SCRIPT, FORM_LOADER, FORM_OTHER };

struct start {
	const char *file;	/* that was executed; that the loader was executed for */
	enum form form;
	char **argv;		/* to execute it with */
};

/* Is it what was executed? Without /proc its name must be enough. */
static bool is_this_program(const struct stat *file)
{
	struct stat self;

	return bare_stat("/proc/self/exe", &self) ||
	       (file->st_dev == self.st_dev && file->st_ino == self.st_ino);
}

static enum form read_form(const char *file)
{
	int fd = bare_open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	enum form form = FORM_OTHER;
	char head[SELFMAG];
	struct stat st;

	if (fd < 0)
		return FORM_OTHER;
	if (bare_read(fd, head, sizeof head) == sizeof head) {
		if (head[0] == '#' && head[1] == '!')
			form = FORM_SCRIPT;
		else if (!memcmp(head, ELFMAG, SELFMAG) && !bare_fstat(fd, &st) &&
			 is_this_program(&st))
			form = FORM_PROGRAM;
	}
	bare_close(fd);
	return form;
}

/* The kernel has put interpreters before a script's path. Its own first argument is lost. */
static char **script_arguments(char **argv, const char *script)
{
	for (int i = 1; i < SCRIPT_WORDS && argv[0] && argv[i]; i++) {
		if (!strcmp(argv[i], script))
			return argv + i;
	}
	return NULL;
}

/* The form as it must be for the file. */
static void find_form(struct start *s, char **argv)
{
	s->argv = argv;
	s->form = getauxval(AT_BASE) ? read_form(s->file) : FORM_LOADER;
	if (s->form == FORM_SCRIPT) {
		s->argv = script_arguments(argv, s->file);
		if (!s->argv)
			s->form = FORM_OTHER;
	}
}

/* Names such as /dev/fd/3 mean another file next time. */
static bool has_file(struct start *s)
{
	s->file = (const char *)getauxval(AT_EXECFN);
	return s->file && strncmp(s->file, "/dev/fd/", 8) && strncmp(s->file, "/proc/", 6);
}

static bool match_file(const char *rules, uint64_t *period)
{
	char exe[PATH_MAX];
	ssize_t n = bare_readlink("/proc/self/exe", exe, sizeof exe - 1);

	exe[MAX(n, 0)] = '\0';
	return n > 0 && heap_env_match(rules, base_of(exe), period);
}

/* Any of the names that a user may know: the file's, that of a symbolic link to it, that of the
 * script, that of its interpreter. Most programs match none, at the cost of one system call. */
static bool match(const char *rules, struct start *s, char **argv, uint64_t *period)
{
	bool loader = !getauxval(AT_BASE);
	bool file = heap_env_match(rules, base_of(s->file), period) ||
		    (!loader && match_file(rules, period));

	/* argv[0] has the name of a script's interpreter, and any word otherwise */
	if (!file && (loader || !heap_env_match(rules, base_of(argv[0]), period)))
		return false;
	find_form(s, argv);
	return s->form == FORM_SCRIPT || (file && s->form != FORM_OTHER);
}

/* The shim has versions of symbols up to those of the glibc that it was built with. */
static bool shim_can_be_loaded(void)
{
	const unsigned built = __GLIBC__ * 1000 + __GLIBC_MINOR__;
	unsigned part[2] = { 0, 0 }, i = 0;

	for (const char *p = gnu_get_libc_version(); *p && i < 2; p++) {
		if (*p == '.')
			i++;
		else
			part[i] = part[i] * 10 + (unsigned)(*p - '0');
	}
	return part[0] * 1000 + part[1] >= built;
}

/* Executing it again */

/* The last one, which the loader uses. */
static size_t find_list(char *const env[], size_t n)
{
	while (n && strncmp(env[n - 1], preload_name, sizeof preload_name - 1))
		n--;
	return n - 1;
}

/* Our own path in the list of preloads; the shim is beside us. */
static const char *find_own(const char *list, size_t *len)
{
	while (*list) {
		*len = strcspn(list, ": ");
		if (has_base(list, *len, HEAP_ENV_ARM))
			return list;
		list += *len + (list[*len] != '\0');
	}
	return NULL;
}

/* The directory of the shim: that of HEAP_ENV_BY_PLATFORM, or our own. */
static size_t shim_directory(const char *own, size_t len)
{
	static const char place[] = HEAP_ENV_BY_PLATFORM;
	size_t n = sizeof place - 1;

	if (len > n && !memcmp(own + len - n, place, n))
		return len - n;
	return len - (sizeof HEAP_ENV_ARM - 1);
}

/* "LD_PRELOAD=/.../buildbeat-heap.so:" and what was there. */
static void write_list(char *out, const char *own, size_t own_len, const char *list)
{
	char *p = mempcpy(out, preload_name, sizeof preload_name - 1);

	p = mempcpy(p, own, shim_directory(own, own_len));
	p = mempcpy(p, HEAP_ENV_SHIM, sizeof HEAP_ENV_SHIM - 1);
	*p++ = ':';
	memcpy(p, list, strlen(list) + 1);
}

/* The loader would print an error for the shim, which the list begins with. */
static bool has_shim_file(char *list)
{
	char *path = list + sizeof preload_name - 1, *end = strchr(path, ':');
	bool found;

	*end = '\0';
	found = !bare_access(path, R_OK);
	*end = ':';
	return found;
}

static char *write_number(char *p, uint64_t n)
{
	char digits[20];
	size_t len = 0;

	do {
		digits[len++] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	while (len)
		*p++ = digits[--len];
	return p;
}

static void write_now(char out[NOW_SIZE], uint64_t period)
{
	char *p = mempcpy(out, HEAP_ENV_NOW "=", sizeof HEAP_ENV_NOW);

	p = write_number(p, (uint64_t)bare_getpid());
	*p++ = ':';
	p = write_number(p, period);
	*p = '\0';
}

/* All that the loader was executed with: its options are no longer in argv. */
struct loader_words {
	char text[ARGUMENTS_MAX], *argv[WORDS_MAX];
};

static bool read_loader_words(struct loader_words *w)
{
	int fd = bare_open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	size_t len = 0, n = 0;
	ssize_t got = 1;

	if (fd < 0)
		return false;
	while (got > 0 && len < sizeof w->text) {
		got = bare_read(fd, w->text + len, sizeof w->text - len);
		len += got > 0 ? (size_t)got : 0;
	}
	bare_close(fd);
	if (got || !len || w->text[len - 1])
		return false;
	for (char *p = w->text; p < w->text + len; p += strlen(p) + 1) {
		if (n + 1 == WORDS_MAX)
			return false;
		w->argv[n++] = p;
	}
	return true;
}

static void execute_loader(char **env)
{
	struct loader_words *w = bare_pages(sizeof *w);
	struct stat st;

	if (!w)
		return;
	if (read_loader_words(w) && strchr(w->text, '/') && !bare_stat(w->text, &st) &&
	    is_this_program(&st))
		bare_execve(w->text, w->argv, env);
	bare_give_back(w, sizeof *w);
}

/* The environment of the program with the shim; not on the stack, which may be small. */
struct again {
	char now[NOW_SIZE], list[sizeof preload_name + PATH_MAX + sizeof HEAP_ENV_SHIM + LIST_MAX + 2];
	char *env[VARIABLES_MAX + 2];
};

static bool fill_again(struct again *a, char **env, uint64_t period)
{
	size_t n = 0, at, len = 0;
	const char *old, *own;

	while (env[n])
		n++;
	at = find_list(env, n);
	if (at >= n || n > VARIABLES_MAX)
		return false;
	old = env[at] + sizeof preload_name - 1;
	own = find_own(old, &len);
	if (!own || len > PATH_MAX || strlen(old) > LIST_MAX)
		return false;
	write_list(a->list, own, len, old);
	write_now(a->now, period);
	memcpy(a->env, env, n * sizeof *env);
	a->env[at] = a->list;
	a->env[n] = a->now;
	return has_shim_file(a->list);
}

static void execute(const struct start *s, char **env, uint64_t period)
{
	struct again *a = bare_pages(sizeof *a);

	if (!a)
		return;
	if (fill_again(a, env, period)) {
		if (s->form == FORM_LOADER)
			execute_loader(a->env);
		else
			bare_execve(s->file, s->argv, a->env);
	}
	bare_give_back(a, sizeof *a);
}

/* Was this process executed again already? If its shim was not loaded, it runs without. */
static bool was_executed(char **env)
{
	uint64_t period;
	pid_t pid;

	if (has_shim())
		return true;
	if (!heap_env_now(heap_env_find(env, HEAP_ENV_NOW), &pid, &period))
		return false;
	heap_env_take(env);
	return pid == bare_getpid();
}

static void look(char **argv, char **env)
{
	const char *rules = heap_env_find(env, HEAP_ENV_RULES);
	struct start s;
	uint64_t period;

	if (!rules || !heap_env_find(env, HEAP_ENV_DIR) || !argv[0] || was_executed(env) ||
	    !has_file(&s) || !match(rules, &s, argv, &period) || __sanitizer_set_report_path ||
	    has_preinit() || !shim_can_be_loaded())
		return;
	execute(&s, env, period);
}

static __attribute__((constructor)) void arm(int argc, char **argv, char **env)
{
	if (!&__libc_stack_end || !&_r_debug)
		return;
	if (__sanitizer_set_report_path)
		hide();
	if (argc > 0 && getauxval && fnmatch && gnu_get_libc_version)
		look(argv, env);
}
