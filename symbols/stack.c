/* SPDX-License-Identifier: MIT */
#include "symbols/stack.h"

#include "base/array.h"
#include "base/hex.h"
#include "base/json.h"
#include "base/readfile.h"
#include "symbols/demangle.h"
#include "symbols/stack_source.h"
#include "symbols/stack_threads.h"
#include "symbols/symbolizer.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX 256		/* of a thread */

struct stack_frame {
	uint64_t address;
	bool exact;		/* the instruction itself, not one after a call */
};

struct stack_thread {
	pid_t tid;
	char name[32];
	char error[128];	/* "": none */
	size_t first, n;	/* of its frames */
	bool truncated;
};

struct stack_module {
	Dwfl_Module *of;
	uint64_t bias;
	char path[PATH_MAX], root_path[PATH_MAX + 32], build_id[2 * 64 + 1];
	const char *other[1];
	struct symbolizer symbolizer;
};

struct stack {
	int32_t pid;
	Dwfl *dwfl;
	size_t n_threads, n_frames, n_modules;
	struct stack_thread *thread;
	struct stack_frame *frame;
	struct stack_module **module;
	struct stack_threads stopped;
	struct stack_source source;
	int cache_fd;
	int error;
};

/* Reading: the thread is stopped */

static int take_frame(Dwfl_Frame *state, void *context)
{
	struct stack *s = context;
	struct stack_thread *t = &s->thread[s->n_threads - 1];
	struct stack_frame *f;
	Dwarf_Addr pc;
	bool exact;

	if (!dwfl_frame_pc(state, &pc, &exact))
		return DWARF_CB_ABORT;
	if (t->n == FRAMES_MAX) {
		t->truncated = true;
		return DWARF_CB_ABORT;
	}
	f = array_add(&s->frame, &s->n_frames, sizeof *f);
	if (!f) {
		s->error = -ENOMEM;
		return DWARF_CB_ABORT;
	}
	*f = (struct stack_frame){ pc, exact };
	t->n++;
	return DWARF_CB_OK;
}

static int take_thread(Dwfl_Thread *thread, void *context)
{
	struct stack *s = context;
	struct stack_thread *t;
	char path[64];

	if (s->n_threads == STACK_THREADS_MAX)
		return DWARF_CB_ABORT;
	t = array_add(&s->thread, &s->n_threads, sizeof *t);
	if (!t) {
		s->error = -ENOMEM;
		return DWARF_CB_ABORT;
	}
	*t = (struct stack_thread){ .tid = dwfl_thread_tid(thread), .first = s->n_frames };
	snprintf(path, sizeof path, "/proc/%d/task/%d/comm", (int)s->pid, (int)t->tid);
	readfile_line(AT_FDCWD, path, t->name, sizeof t->name);
	/* the outermost frame often has no end, which is no error if there are frames */
	if (dwfl_thread_getframes(thread, take_frame, s) && !t->n)
		snprintf(t->error, sizeof t->error, "%s", dwfl_errmsg(-1));
	return s->error ? DWARF_CB_ABORT : DWARF_CB_OK;
}

/* The tables of calls are in the files themselves; debug information is read later, if at all. */
static int find_nothing(Dwfl_Module *m, void **data, const char *name, Dwarf_Addr base,
			const char *file, const char *link, GElf_Word crc, char **debug)
{
	(void)m;
	(void)data;
	(void)name;
	(void)base;
	(void)file;
	(void)link;
	(void)crc;
	(void)debug;
	return -1;
}

static int cannot_stop(const struct stack *s, int r, struct error *err)
{
	if (r == -ESRCH || r == -ENOENT)
		return error_set(err, -ESRCH, NULL, 0, 0, "process %d has ended", (int)s->pid);
	if (r == -EPERM || r == -EACCES)
		return error_set(err, -EPERM, NULL, 0, 0, "no permission to stop process %d: root may, "
				 "and its user if no debugger has it and kernel.yama.ptrace_scope is 0",
				 (int)s->pid);
	return error_set(err, -EIO, NULL, 0, 0, "process %d: %s", (int)s->pid, dwfl_errmsg(-1));
}

/* The stacks of threads that are stopped. */
static int unwind(struct stack *s, struct error *err)
{
	int r = dwfl_linux_proc_report(s->dwfl, s->pid);

	if (!r)
		r = dwfl_report_end(s->dwfl, NULL, NULL);
	if (!r)
		r = dwfl_linux_proc_attach(s->dwfl, s->pid, true);
	if (r)
		return cannot_stop(s, r > 0 ? -r : -EIO, err);
	dwfl_getthreads(s->dwfl, take_thread, s);
	return s->error ? error_sys(err, s->error, NULL, NULL) : 0;
}

static int read_threads(struct stack *s, struct error *err)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf, .find_debuginfo = find_nothing,
	};
	int r;

	s->dwfl = dwfl_begin(&callbacks);
	if (!s->dwfl)
		return error_sys(err, -ENOMEM, NULL, NULL);
	r = stack_threads_stop(&s->stopped, s->pid);
	r = r ? cannot_stop(s, r, err) : unwind(s, err);
	stack_threads_release(&s->stopped);
	return r;
}

/* Names */

static void set_build_id(struct stack_module *m)
{
	const unsigned char *bits;
	GElf_Addr address;
	int n = dwfl_module_build_id(m->of, &bits, &address);

	for (int i = 0; i < n && i < 64; i++) {
		m->build_id[2 * i] = hex_digit(bits[i] >> 4);
		m->build_id[2 * i + 1] = hex_digit(bits[i]);
	}
}

static struct stack_module *add_module(struct stack *s, Dwfl_Module *of)
{
	struct stack_module *m = calloc(1, sizeof *m), **place;
	const char *name = dwfl_module_info(of, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
	GElf_Addr bias = 0;

	place = m ? array_add(&s->module, &s->n_modules, sizeof *place) : NULL;
	if (!place) {
		free(m);
		return NULL;
	}
	*place = m;
	m->of = of;
	if (dwfl_module_getelf(of, &bias))
		m->bias = bias;
	snprintf(m->path, sizeof m->path, "%s", name ? name : "");
	if (!strncmp(m->path, "[vdso", 5))
		strcpy(m->path, "[vdso]");
	set_build_id(m);
	/* of another root, such as a container's */
	snprintf(m->root_path, sizeof m->root_path, "/proc/%d/root%s", (int)s->pid, m->path);
	m->other[0] = m->root_path;
	m->symbolizer.files.file.fd = m->symbolizer.files.debug.fd = -1;
	m->symbolizer.files.path = m->path;
	m->symbolizer.files.build_id = m->build_id;
	m->symbolizer.files.n_others = 1;
	m->symbolizer.files.other = m->other;
	if (symbolizer_open(&m->symbolizer, s->cache_fd))
		s->error = -ENOMEM;
	return m;
}

static struct stack_module *find_module(struct stack *s, uint64_t address)
{
	Dwfl_Module *of = dwfl_addrmodule(s->dwfl, address);

	if (!of)
		return NULL;
	for (size_t i = 0; i < s->n_modules; i++) {
		if (s->module[i]->of == of)
			return s->module[i];
	}
	return add_module(s, of);
}

static void write_function(struct json *j, struct stack *s, const struct stack_frame *f,
			   const struct stack_module *m, const struct symbolizer_frame *function,
			   bool inlined)
{
	struct buf name = BUF_PART_OF(j->out);
	char address[32];

	snprintf(address, sizeof address, "0x%" PRIx64, f->address);
	if (function && function->name)
		demangle_add(&name, function->name);
	json_object(j, NULL);
	json_str(j, "address", address);
	json_str(j, "function", name.len ? buf_str(&name) : NULL);
	json_str(j, "module", m ? m->path : NULL);
	json_bool(j, "inlined", inlined);
	json_str(j, "source", function ? function->source : NULL);
	json_known(j, "line", function && function->line ? (int64_t)function->line : -1);
	stack_source_json(j, &s->source, function ? function->source : NULL,
			  function ? function->line : 0);
	json_object_end(j);
	buf_release(&name);
}

static void write_frame(struct json *j, struct stack *s, const struct stack_frame *f)
{
	struct symbolizer_frame function[DEBUG_FRAMES_MAX];
	struct stack_module *m = find_module(s, f->address);
	uint64_t start;
	size_t n = m ? symbolizer_find(&m->symbolizer, f->address - m->bias - !f->exact, true,
				       function, &start) : 0;

	if (!n)
		write_function(j, s, f, m, NULL, false);
	for (size_t i = 0; i < n; i++)
		write_function(j, s, f, m, &function[i], i + 1 < n);
}

static void write_thread(struct json *j, struct stack *s, const struct stack_thread *t)
{
	json_object(j, NULL);
	json_int(j, "tid", t->tid);
	json_str(j, "name", t->name);
	json_str(j, "error", *t->error ? t->error : NULL);
	json_bool(j, "truncated", t->truncated);
	json_array(j, "frames");
	for (size_t i = 0; i < t->n && !s->error; i++)
		write_frame(j, s, &s->frame[t->first + i]);
	json_array_end(j);
	json_object_end(j);
}

static void release_stack(struct stack *s)
{
	for (size_t i = 0; i < s->n_modules; i++) {
		symbolizer_close(&s->module[i]->symbolizer);
		free(s->module[i]);
	}
	dwfl_end(s->dwfl);
	stack_source_release(&s->source);
	free_all(s->module, s->thread, s->frame);
}

int stack_write(struct buf *out, int32_t pid, const char *sources, int cache_fd, struct error *err)
{
	struct stack s = { .pid = pid, .cache_fd = cache_fd };
	struct json j;
	int r;

	stack_source_init(&s.source, sources);
	r = read_threads(&s, err);
	json_init(&j, out, true);
	if (!r) {
		json_object(&j, NULL);
		json_str(&j, "format", "buildbeat stack 1");
		json_int(&j, "pid", pid);
		json_array(&j, "threads");
		for (size_t i = 0; i < s.n_threads; i++)
			write_thread(&j, &s, &s.thread[i]);
		json_array_end(&j);
		json_object_end(&j);
		r = s.error ? s.error : buf_error(out);
		r = r ? error_sys(err, r, NULL, NULL) : 0;
	}
	release_stack(&s);
	return r;
}
