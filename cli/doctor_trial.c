/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/file.h"
#include "cli/doctor.h"
#include "launch/find_plugin.h"
#include "launch/launch.h"
#include "launch/settings.h"
#include "plugin/buildbeat_plugin.h"
#include "plugin/carry.h"
#include "plugin/ticket.h"
#include "recording/recording.h"
#include "recording/store.h"
#include "recording/store_create.h"
#include "sampler/sampler.h"

#include <dlfcn.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAKEFILE "trial.mk"
#define ANSWER "answer"

/* $(info) prints what make is; the recipes are the tasks that the recording must have, one of
 * which waits for the other. */
static const char makefile[] =
	"$(info version $(MAKE_VERSION))\n"
	"$(info features $(.FEATURES))\n"
	"trial: before\n"
	"\t@true\n"
	"before:\n"
	"\t@true\n";

struct trial {
	struct doctor *doctor;
	char dir[PATH_MAX];	/* private, removed at the end */
	char plugin[PATH_MAX];	/* "": it is missing or does not load */
};

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int write_makefile(const char *dir)
{
	char path[PATH_MAX + 16];
	FILE *f;
	int r;

	snprintf(path, sizeof path, "%s/" MAKEFILE, dir);
	f = fopen(path, "we");
	if (!f)
		return -errno;
	fputs(makefile, f);
	r = ferror(f) ? -EIO : 0;
	return fclose(f) && !r ? -errno : r;
}

/* The plugin */

static void check_plugin(struct trial *t)
{
	const struct buildbeat_api *(*get)(uint32_t) = NULL;
	struct doctor *d = t->doctor;
	struct error err = { 0 };
	void *so;

	if (!find_plugin(t->plugin, d->settings->plugin, &err)) {
		doctor_add(d, "plugin", DOCTOR_MISSING, true,
			   "install all of buildbeat: sudo make install; or name the plugin: --plugin FILE",
			   "%s: %s", err.path, err.message);
		t->plugin[0] = '\0';
		return;
	}
	so = dlopen(t->plugin, RTLD_NOW | RTLD_LOCAL);
	if (so)
		*(void **)&get = dlsym(so, "buildbeat_get_api");
	if (get && get(BUILDBEAT_API_MAJOR)) {
		doctor_add(d, "plugin", DOCTOR_OK, true, NULL, "%s", t->plugin);
	} else {
		doctor_add(d, "plugin", DOCTOR_MISSING, true,
			   "install the plugin and the program from one source: sudo make install",
			   "%s does not load: %s", t->plugin,
			   so ? "it is of another version" : dlerror());
		t->plugin[0] = '\0';
	}
	if (so)
		dlclose(so);
}

/* One make */

/* The rest of the last line of make's output that begins with word. */
static void answer(const struct trial *t, const char *word, char *out, size_t size)
{
	char path[PATH_MAX + 16], line[1024];
	FILE *f;

	out[0] = '\0';
	snprintf(path, sizeof path, "%s/" ANSWER, t->dir);
	f = fopen(path, "re");
	if (!f)
		return;
	while (fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, word, strlen(word)) && line[strlen(word)] == ' ')
			snprintf(out, size, "%s", line + strlen(word) + 1);
	}
	fclose(f);
}

static bool has_word(const char *words, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = words; (p = strstr(p, word)); p += n) {
		if ((p == words || p[-1] == ' ') && (p[n] == ' ' || !p[n]))
			return true;
	}
	return false;
}

/* Runs make with the ticket of the recording. */
static int run_make(const struct trial *t, const char *tool, const struct ticket *ticket,
		    struct sampler *sampler)
{
	char script[] = "exec \"$0\" -C \"$1\" -f " MAKEFILE " >\"$1/" ANSWER "\" 2>&1";
	char shell[] = "/bin/sh", dash_c[] = "-c";
	char tool_arg[PATH_MAX], dir_arg[sizeof t->dir];
	char *argv[] = { shell, dash_c, script, tool_arg, dir_arg, NULL };
	struct launch l = { .argv = argv, .sampler = sampler };

	snprintf(tool_arg, sizeof tool_arg, "%s", tool);
	snprintf(dir_arg, sizeof dir_arg, "%s", t->dir);
	l.makefiles = ticket ? ticket->path : "";
	if (launch_run(&l))
		return -1;
	return l.status;
}

/* Records a run of make as the recording NAME and reads it. The caller releases rec. */
static bool record(const struct trial *t, const char *tool, const char *name,
		   struct recording *rec, int *status, struct error *err)
{
	struct sampler_options options = { .interval_ms = 1000, .tasks = true };
	struct sampler *sampler = NULL;
	struct ticket ticket = { .path = "" };
	struct store store;
	char path[PATH_MAX];
	bool has_ticket;

	if (store_create(&store, t->dir, name, err))
		return false;
	if (sampler_new(&sampler, store.dir_fd, store.start_ns, &options, err)) {
		store_close(&store);
		return false;
	}
	sampler_take(sampler, true);
	has_ticket = t->plugin[0] && !ticket_write(&ticket, &store, t->plugin);
	*status = run_make(t, tool, has_ticket ? &ticket : NULL, sampler);
	sampler_take(sampler, true);
	sampler_free(sampler);
	if (has_ticket)
		ticket_remove(&ticket);
	snprintf(path, sizeof path, "%s", store.path);
	store_close(&store);
	return !recording_read(rec, path, NULL, err);
}

/* A make that can load: that of the distribution, or remake, or one built for it. */
static const char *without_load(char *out, size_t size)
{
	char install[DOCTOR_INSTALL_SIZE];

	snprintf(out, size, "%s; if that make has no 'load' either, build GNU make 4.0 or newer from its "
		 "sources: ./configure && make", doctor_install(install, "make"));
	return out;
}

/* The arrows and solid lines of charts. */
static void check_arrows(struct doctor *d, const struct recording *rec)
{
	bool found = false;

	for (size_t i = 0; i < rec->n_tasks; i++)
		found |= rec->task[i].n_after;
	if (found)
		doctor_add(d, "arrows", DOCTOR_OK, false, NULL,
			   "charts show what tasks of make and ninja waited for");
	else
		doctor_add(d, "arrows", DOCTOR_LIMITED, false,
			   "install the plugin and the program from the same package: sudo make "
			   "install",
			   "this make does not record dependencies: charts have no arrows");
}

static void check_make(struct trial *t, const char *check, const char *path,
		       const struct recording *rec, int status)
{
	bool essential = !strcmp(check, "make");
	enum doctor_state bad = essential ? DOCTOR_MISSING : DOCTOR_LIMITED;
	char version[64], features[512], install[DOCTOR_INSTALL_SIZE], remedy[300];

	answer(t, "version", version, sizeof version);
	answer(t, "features", features, sizeof features);
	if (!version[0] || status)
		doctor_add(t->doctor, check, bad, essential, doctor_install(install, "make"),
			   "%s: this is not a working GNU make", path);
	else if (!has_word(features, "load"))
		doctor_add(t->doctor, check, bad, essential, without_load(remedy, sizeof remedy),
			   "%s %s: built without 'load', its tasks cannot be recorded", path,
			   version);
	else if (!t->plugin[0])
		doctor_add(t->doctor, check, bad, essential, "see the line 'plugin' above",
			   "%s %s: supports 'load', but the plugin is missing", path, version);
	else if (!rec->n_tasks)
		doctor_add(t->doctor, check, bad, essential,
			   "type file -L with its path: only a dynamically linked make can load the plugin",
			   "%s %s: the plugin does not work in it", path, version);
	else if (proof_lacks_processes(&rec->proof))
		doctor_add(t->doctor, check, DOCTOR_LIMITED, essential,
			   "use the make of the distribution", "%s %s: not all of its tasks are recorded",
			   path, version);
	else
		doctor_add(t->doctor, check, DOCTOR_OK, essential, NULL,
			   "%s %s: its tasks are recorded", path, version);
}

/* The samples */

static const struct {
	const char *series;
	bool essential;
	const char *what, *remedy;
} wanted[] = {
	{ "proc_stat", true, "CPU", "sudo mount -t proc proc /proc" },
	{ "proc_meminfo", true, "memory", "sudo mount -t proc proc /proc" },
	{ "proc_diskstats", false, "disks", "find out why the kernel lists none: cat /proc/diskstats" },
	{ "proc_net", false, "network",
	  "find out why the kernel lists none: cat /proc/net/dev; or record with --all-interfaces" },
	{ "proc_vmstat", false, "paging and swapping",
	  "find out why it cannot be read: head /proc/vmstat" },
	{ "proc_cgroup", false, "the build's own cgroup",
	  "sudo mount -t cgroup2 none /sys/fs/cgroup; in a container: docker run --cgroupns=private" },
};

/* The name of a column begins with that of its device and a dot. */
static void list_devices(const struct series *s, char *out, size_t size)
{
	const char *last = "";
	struct buf b;

	buf_init_fixed(&b, out, size);
	buf_str(&b);
	for (size_t i = 0; i < s->n_columns; i++) {
		const char *name = s->column[i].name;
		size_t n = strcspn(name, ".");

		if (!name[n] || (strlen(last) >= n && !strncmp(last, name, n) && last[n] == '.'))
			continue;
		if (b.len)
			buf_adds(&b, ", ");
		buf_add(&b, name, n);
		last = name;
	}
}

static void check_samples(struct doctor *d, const struct recording *rec)
{
	char devices[256];

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		const struct series *s = recording_series(rec, wanted[i].series);

		if (!s || !s->n_columns) {
			doctor_add(d, wanted[i].series,
				   wanted[i].essential ? DOCTOR_MISSING : DOCTOR_LIMITED,
				   wanted[i].essential,
				   wanted[i].remedy,
				   "%s: not sampled", wanted[i].what);
			continue;
		}
		list_devices(s, devices, sizeof devices);
		doctor_add(d, wanted[i].series, DOCTOR_OK, wanted[i].essential, NULL,
			   "%s: %zu columns%s%s", wanted[i].what, s->n_columns,
			   *devices ? " of " : "", devices);
	}
}

static void try_make(struct trial *t, const char *tool, bool samples)
{
	struct recording rec = RECORDING_INIT;
	struct error err = { 0 };
	char path[PATH_MAX], install[DOCTOR_INSTALL_SIZE];
	int status;

	if (!file_find_program(path, tool) || access(path, X_OK)) {
		if (samples)
			doctor_add(t->doctor, tool, DOCTOR_MISSING, true,
				   doctor_install(install, "make"), "no %s in PATH", tool);
		if (!samples)
			return;
		strcpy(path, "/bin/true");
	}
	if (!record(t, path, tool, &rec, &status, &err)) {
		doctor_add(t->doctor, "recording", DOCTOR_MISSING, true,
			   "use another directory: TMPDIR=DIR buildbeat doctor", "%s: %s",
			   err.path, err.message);
	} else {
		if (strcmp(path, "/bin/true"))
			check_make(t, tool, path, &rec, status);
		if (samples && rec.n_tasks)
			check_arrows(t->doctor, &rec);
		if (samples)
			check_samples(t->doctor, &rec);
	}
	recording_release(&rec);
}

static void trial_end(struct trial *t)
{
	nftw(t->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* False: the trial has no directory, which is a finding. */
static bool trial_begin(struct trial *t, struct doctor *d)
{
	static const char *const variables[] = { "MAKEFLAGS", "MFLAGS", "MAKELEVEL" };
	const char *tmp = getenv("TMPDIR");
	int r;

	tmp = tmp && *tmp == '/' ? tmp : "/tmp";
	*t = (struct trial){ .doctor = d };
	check_plugin(t);
	snprintf(t->dir, sizeof t->dir, "%s/buildbeat-doctor-XXXXXX", tmp);
	r = mkdtemp(t->dir) ? 0 : -errno;
	if (!r) {
		r = write_makefile(t->dir);
		if (r)
			trial_end(t);
	}
	if (r) {
		doctor_add(d, "recording", DOCTOR_MISSING, true,
			   "use another directory: TMPDIR=DIR buildbeat doctor",
			   "cannot write to %s for the trial: %s", tmp, strerror(-r));
		return false;
	}
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
		unsetenv(variables[i]);
	return true;
}

/* A shell is a dynamic program that starts another one. */
static void try_preload(struct trial *t)
{
	char shell[] = "/bin/sh", dash_c[] = "-c", script[] = "/bin/true; :";
	char *argv[] = { shell, dash_c, script, NULL };
	struct launch l = { .argv = argv, .host = true };
	struct recording rec = RECORDING_INIT;
	struct ticket ticket = { .path = "" };
	struct carried carried;
	struct error err = { 0 };
	struct store store;
	char path[PATH_MAX];
	bool works = false;

	if (!t->plugin[0] || store_create(&store, t->dir, "preload", &err))
		return;
	if (!ticket_write(&ticket, &store, t->plugin) &&
	    carry_from_ticket(&carried, ticket.path, strlen(ticket.path)) &&
	    !access(carried.preload, R_OK) && carry_fit_of(shell) == CARRY_FITS) {
		l.preload = &carried;
		works = !launch_run(&l);
	}
	ticket_remove(&ticket);
	snprintf(path, sizeof path, "%s", store.path);
	store_close(&store);
	works = works && !recording_read(&rec, path, NULL, &err) && rec.n_tasks;
	recording_release(&rec);
	if (works)
		doctor_add(t->doctor, "preload", DOCTOR_OK, false, NULL,
			   "processes that ninja, cargo and scripts start are recorded");
	else
		doctor_add(t->doctor, "preload", DOCTOR_LIMITED, false,
			   "install " CARRY_PRELOAD " beside the plugin: sudo make install",
			   "only tasks of make are recorded: " CARRY_PRELOAD
			   " does not work in %s", shell);
}

void doctor_trial(struct doctor *d)
{
	struct trial t;

	if (!trial_begin(&t, d))
		return;
	try_make(&t, "make", true);
	try_make(&t, "gmake", false);
	try_make(&t, "remake", false);
	try_preload(&t);
	trial_end(&t);
}

bool doctor_explain(const struct settings *settings, const char *tool, char *why,
		    size_t size)
{
	struct doctor d = { .settings = settings };
	struct trial t;

	if (trial_begin(&t, &d)) {
		try_make(&t, tool, false);
		trial_end(&t);
	}
	for (size_t i = 0; i < d.n; i++) {
		if (d.finding[i].state != DOCTOR_OK) {
			snprintf(why, size, "%s", d.finding[i].text);
			return true;
		}
	}
	return false;
}
