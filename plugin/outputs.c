/* SPDX-License-Identifier: MIT */
#include "plugin/outputs.h"

#include "plugin/collected.h"
#include "plugin/got.h"
#include "recording/store.h"

#include <errno.h>
#include <unistd.h>

static struct {
	bool collects;			/* a process wrote to a file that the tool prints */
	const struct store *store;	/* the tool's read() is redirected; NULL: it is not */
	outputs_note *note;
} outputs;

void outputs_dup(struct outputs *o, int fd, int fd_new)
{
	struct stat st;
	int saved = errno;

	if (fd_new != STDOUT_FILENO && fd_new != STDERR_FILENO)
		return;
	o->redirected = true;
	o->file_fd[fd_new == STDERR_FILENO] = fd;
	if (fd_new == STDOUT_FILENO && !fstat(fd, &st)) {
		o->to_pipe = S_ISFIFO(st.st_mode);
		o->to_file = S_ISREG(st.st_mode);
	}
	errno = saved;
}

void outputs_compare(struct outputs *o, const struct stat *own)
{
	struct stat st;

	if (fstat(STDOUT_FILENO, &st) || (st.st_ino == own->st_ino && st.st_dev == own->st_dev))
		return;
	o->to_pipe = S_ISFIFO(st.st_mode);
	o->to_file = S_ISREG(st.st_mode);
}

static void printed_without_pipe(uint64_t task)
{
	outputs.note(task, store_now_us(outputs.store), EVENT_NOTE_NO_PIPE);
}

/* make reads what it has collected, in order to print it. */
static ssize_t hook_read(int fd, void *buf, size_t size)
{
	if (getpid() == outputs.store->pid && collected_print(fd, buf, size, outputs.store, printed_without_pipe))
		return 0;
	return read(fd, buf, size);
}

void outputs_prepare(struct outputs *o, posix_spawn_file_actions_t *actions, const struct store *store, uint64_t task,
		     bool (*collects)(void))
{
	int out_fd, err_fd;

	if (!actions || (o->redirected && !o->to_file) || !pipes_begin(collects))
		return;
	if (!o->redirected)
		pipes_take(actions, store, task);
	out_fd = pipes_collect(STDOUT_FILENO) ? o->file_fd[0] : -1;
	err_fd = pipes_collect(STDERR_FILENO) ? o->file_fd[1] : -1;
	if (out_fd < 0 && err_fd < 0)
		return;
	if (!outputs.store) {
		outputs.store = store;
		got_redirect(&(struct got_hook){ "read", (void (*)(void))hook_read, false }, 1);
	}
	o->known = collected_begin(out_fd, err_fd, task);
}

/* With --output-sync make prints the output of a task after its end, except that of makes. */
void outputs_started(const struct outputs *o, struct pipes_of *of, uint64_t task, int64_t t, outputs_note *note)
{
	bool of_task;
	const char *text = pipes_started(of, o->known ? PIPES_COLLECTED :
					 o->redirected && !o->to_file ? PIPES_ELSEWHERE : PIPES_SHARED, &of_task);

	outputs.note = note;
	if (text)
		note(of_task ? task : 0, t, text);
	if (o->to_file ? outputs.collects : !outputs.collects || o->to_pipe)
		return;
	note(o->to_file ? 0 : task, t, o->to_file ? EVENT_NOTE_COLLECTS : EVENT_NOTE_DIRECT);
	outputs.collects = true;
}
