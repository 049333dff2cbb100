/* SPDX-License-Identifier: MIT */
#include "live/reader_pool.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/minmax.h"
#include "base/readfile.h"
#include "live/reply.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND_NS 1000000000LL
#define REAP_NS (SECOND_NS / 50)	/* between two looks for a killed reader's end */
#define CATALOGUE_NS (SECOND_NS / 2)	/* at least between two looks for new recordings */
#define NICE 5			/* the build goes first */

const struct reader_limits reader_pool_defaults = {
	.readers = 4, .idle_ns = 60 * SECOND_NS, .reply_ns = 20 * SECOND_NS,
	.unused_ns = 10 * SECOND_NS, .large = (uint64_t)8 << 20,
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__	/* which need far more */
	.memory = (uint64_t)4 << 30,
#endif
	.questions = 256,
};

struct question {
	char id[256];		/* of the recording, "": of none */
	bool apart;		/* from route_is_slow() */
	char *text;		/* path, NUL, query */
	struct reader_question_head head;
	reader_done *done;	/* NULL: forgotten */
	void *context;
	struct reader_answer *answer;	/* known without a reader */
};

struct reader_process {
	char id[256];
	bool apart;
	pid_t pid;
	int epoll_fd;		/* of the pool */
	int fd;			/* -1: killed, not waited for */
	int64_t since_ns;	/* of the question, or of idleness */
	bool busy, refresh;
	struct question question;
	struct buf in;
};

struct reader_pool {
	struct catalogue *catalogue;
	struct reader_limits limits;
	int epoll_fd, timer_fd;
	int64_t catalogue_ns;	/* when it may be read again */
	bool alone;
	size_t n;
	struct reader_process **reader;
	size_t n_questions;
	struct question *question;	/* that wait, in order */
};

/* Questions and answers */

static void question_release(struct question *q)
{
	free(q->text);
	if (q->answer)
		buf_release(&q->answer->body);
	free(q->answer);
}

static void reply_to(struct question *q, struct reader_answer *answer)
{
	if (q->done)
		q->done(q->context, answer);
	buf_release(&answer->body);
	question_release(q);
}

static void refuse(struct question *q, int status, const char *message)
{
	struct reader_answer answer = { .status = status, .type = "application/json" };

	reply_error(&answer.body, message);
	reply_to(q, &answer);
}

static void remove_question(struct reader_pool *p, size_t i)
{
	p->n_questions--;
	memmove(&p->question[i], &p->question[i + 1],
		(p->n_questions - i) * sizeof *p->question);
}

/* The process of a reader */

static void only_this_descriptor(int fd)
{
	if (dup2(fd, 3) < 0)
		_exit(1);
	if (close_range(4, ~0U, 0))
		_exit(1);	/* older than Linux 5.9 */
	/* 0, 1 and 2 may be of the terminal: a reader says nothing */
	fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; i < 3; i++)
		dup2(fd, i);
	if (fd > 3)
		close(fd);
}

static void default_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGINT, SIG_IGN);	/* of the terminal; the server ends its readers */
}

static void limit(const struct reader_pool *p)
{
	struct rlimit memory = { p->limits.memory, p->limits.memory }, none = { 0, 0 };
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (p->limits.memory)
		setrlimit(RLIMIT_AS, &memory);
	setrlimit(RLIMIT_CORE, &none);
	if (fd >= 0) {
		file_write(fd, "500", 3);
		close(fd);
	}
	setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + NICE);
	prctl(PR_SET_NAME, "buildbeat-read");
}

static _Noreturn void run_reader(const struct reader_pool *p, int fd, pid_t server, const char *id)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != server)
		_exit(0);
	only_this_descriptor(fd);
	default_signals();
	limit(p);
	_exit(reader_serve(3, p->catalogue, *id ? id : NULL) ? 1 : 0);
}

static struct reader_process *start(struct reader_pool *p, const char *id, bool apart)
{
	struct reader_process *c = calloc(1, sizeof *c), **added;
	struct epoll_event event = { .events = EPOLLIN };
	pid_t server = getpid();
	int fd[2];

	if (!c || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd)) {
		free(c);
		return NULL;
	}
	strcpy(c->id, id);
	c->apart = apart;
	c->pid = fork();
	if (!c->pid)
		run_reader(p, fd[1], server, id);
	close(fd[1]);
	c->fd = fd[0];
	c->epoll_fd = p->epoll_fd;
	added = c->pid < 0 || fcntl(fd[0], F_SETFL, O_NONBLOCK) ||
		epoll_ctl(p->epoll_fd, EPOLL_CTL_ADD, fd[0], &event) ? NULL :
		array_add(&p->reader, &p->n, sizeof(struct reader_process *));
	if (!added) {
		close(fd[0]);
		if (c->pid > 0) {
			kill(c->pid, SIGKILL);
			waitpid(c->pid, NULL, 0);
		}
		free(c);
		return NULL;
	}
	*added = c;
	c->since_ns = clock_mono_ns();
	return c;
}

/* It is waited for later. */
static void end(struct reader_process *c)
{
	if (c->fd < 0)
		return;
	/* close() alone does not, while another reader that was just forked has it too */
	epoll_ctl(c->epoll_fd, EPOLL_CTL_DEL, c->fd, NULL);
	close(c->fd);
	c->fd = -1;
	c->busy = false;
	kill(c->pid, SIGKILL);
}

static void reap(struct reader_pool *p, bool wait)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++) {
		struct reader_process *c = p->reader[i];

		if (c->fd >= 0 || !waitpid(c->pid, NULL, wait ? 0 : WNOHANG)) {
			p->reader[n++] = c;
			continue;
		}
		buf_release(&c->in);
		free(c);
	}
	p->n = n;
}

/* Talking to it */

static void give_question(struct reader_process *c, struct reader_pool *p, size_t i)
{
	struct question *q = &p->question[i];
	size_t len = q->head.path_len + q->head.query_len;
	char text[sizeof q->head + READER_PATH_MAX + READER_QUERY_MAX];

	memcpy(text, &q->head, sizeof q->head);
	memcpy(text + sizeof q->head, q->text, len);
	c->question = *q;
	remove_question(p, i);
	c->busy = true;
	c->since_ns = clock_mono_ns();
	buf_clear(&c->in);
	/* The socket is empty and has room for a question. If the reader died, its end is read. */
	file_write(c->fd, text, sizeof c->question.head + len);
}

/* Its question fails, and it ends. */
static void give_up(struct reader_process *c, int status, const char *message)
{
	bool busy = c->busy;
	struct question q = c->question;

	end(c);
	if (busy)
		refuse(&q, status, message);
}

static void whole_answer(struct reader_process *c, const struct reader_answer_head *head)
{
	struct reader_answer answer = { .status = (int)head->status, .gzip = head->gzip,
					.varies = head->varies };
	struct question q = c->question;
	char type[128];

	memcpy(type, c->in.data + sizeof *head, head->type_len);
	type[head->type_len] = '\0';
	memmove(c->in.data, c->in.data + sizeof *head + head->type_len, head->body_len);
	buf_cut(&c->in, head->body_len);
	answer.type = type;
	answer.body = c->in;
	buf_init(&c->in);
	c->busy = false;
	c->since_ns = clock_mono_ns();
	if (c->refresh)
		end(c);
	reply_to(&q, &answer);
}

static void receive(struct reader_process *c)
{
	struct reader_answer_head head;
	ssize_t n;

	for (;;) {
		size_t want = 1 << 16;

		if (c->in.len >= sizeof head) {
			memcpy(&head, c->in.data, sizeof head);
			if (!c->busy || head.type_len >= 128 || head.body_len > READER_BODY_MAX)
				return give_up(c, 500, "the reply is too large");
			want = sizeof head + head.type_len + head.body_len - c->in.len;
			if (!want)
				return whole_answer(c, &head);
		} else {
			want = sizeof head - c->in.len;
		}
		if (buf_reserve(&c->in, want))
			return give_up(c, 500, "out of memory");
		n = read(c->fd, c->in.data + c->in.len, want);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0)
			return give_up(c, 500, "the process that read the recording has died: the "
				       "recording may be damaged, or too large for its memory");
		c->in.len += (size_t)n;
	}
}

/* The pool */

int reader_pool_new(struct reader_pool **pool, struct catalogue *catalogue,
		    const struct reader_limits *limits)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct reader_pool *p = calloc(1, sizeof *p);
	int r = -ENOMEM;

	if (!p)
		return r;
	p->catalogue = catalogue;
	p->limits = *limits;
	p->alone = true;
	p->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	p->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (p->epoll_fd < 0 || p->timer_fd < 0 ||
	    epoll_ctl(p->epoll_fd, EPOLL_CTL_ADD, p->timer_fd, &event)) {
		r = -errno;
		reader_pool_free(p);
		return r;
	}
	*pool = p;
	return 0;
}

void reader_pool_free(struct reader_pool *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n; i++) {
		if (p->reader[i]->busy)
			question_release(&p->reader[i]->question);
		end(p->reader[i]);
	}
	reap(p, true);
	for (size_t i = 0; i < p->n_questions; i++)
		question_release(&p->question[i]);
	free_all(p->question, p->reader);
	file_close(p->timer_fd);
	file_close(p->epoll_fd);
	free(p);
}

int reader_pool_fd(const struct reader_pool *p)
{
	return p->epoll_fd;
}

static size_t count(const struct reader_pool *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		n += p->reader[i]->fd >= 0;
	return n;
}

/* 0: now */
static void wake_at(const struct reader_pool *p, int64_t at_ns)
{
	struct itimerspec when = { .it_value = { .tv_nsec = 1 } };

	if (at_ns > 0) {
		when.it_value.tv_sec = at_ns / SECOND_NS;
		when.it_value.tv_nsec = at_ns % SECOND_NS;
	}
	timerfd_settime(p->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

/* Memory that is not shared with files. */
static bool is_large(const struct reader_pool *p, const struct reader_process *c)
{
	char path[32], text[128];
	unsigned long resident, shared;

	snprintf(path, sizeof path, "/proc/%d/statm", (int)c->pid);
	return readfile_start(AT_FDCWD, path, text, sizeof text) > 0 &&
	       sscanf(text, "%*u %lu %lu", &resident, &shared) == 2 && resident > shared &&
	       (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE) > p->limits.large;
}

/* How long it may have its question, or none. */
static int64_t patience_ns(const struct reader_pool *p, const struct reader_process *c)
{
	if (c->busy)
		return p->limits.reply_ns;
	return p->alone && is_large(p, c) ? p->limits.unused_ns : p->limits.idle_ns;
}

static void set_timer(const struct reader_pool *p)
{
	int64_t next_ns = INT64_MAX, now_ns = clock_mono_ns();

	for (size_t i = 0; i < p->n; i++) {
		const struct reader_process *c = p->reader[i];
		int64_t due_ns = c->fd < 0 ? now_ns + REAP_NS : c->since_ns + patience_ns(p, c);

		next_ns = MIN(next_ns, due_ns);
	}
	if (next_ns < INT64_MAX)
		wake_at(p, next_ns + 1);
}

/* Questions */

/* The recording of a question, false: there is none with that id. */
static bool find_recording(struct reader_pool *p, char id[256], bool *running, const char *rec)
{
	struct catalogue *c = p->catalogue;
	const struct catalogue_entry *e = catalogue_find(c, rec);
	int64_t now_ns = clock_mono_ns(), end_ns;
	struct error unused;

	*id = '\0';
	*running = false;
	if (c->kind == CATALOGUE_ARCHIVE) {
		/* only its readers know */
		if (rec && strlen(rec) < 256)
			strcpy(id, rec);
		return !rec || *id;
	}
	/* a build that ran may have ended */
	if ((!e || !rec || e->running) && now_ns >= p->catalogue_ns) {
		catalogue_update(c, &unused);
		end_ns = clock_mono_ns();
		p->catalogue_ns = end_ns + CATALOGUE_NS + 10 * (end_ns - now_ns);
		e = catalogue_find(c, rec);
	}
	if (e) {
		strcpy(id, e->id);
		*running = e->running;
	}
	return e || !rec;
}

static int prepare(struct reader_pool *p, struct question *q, const struct reader_question *from)
{
	const char *rest, *message = NULL;
	const struct route *route = route_find(from->path, &rest);
	int status = 404;
	bool running = false;
	struct query query;
	struct error err;

	if (!route) {
		route_missing(from->path, &err);
		message = err.message;
	} else if (query_parse(&query, from->query, from->query_len)) {
		message = "damaged, too long or repeated parameters";
		status = 400;
	} else if (reply_needs_recording(route) &&
		   !find_recording(p, q->id, &running, query_text(&query, "rec"))) {
		message = "no such recording; /api/v1/recordings lists all";
	} else if (p->n_questions >= p->limits.questions) {
		message = "too many requests wait for their replies";
		status = 503;
	}
	q->apart = route && route_is_slow(route, running);
	if (!message)
		return 0;
	q->answer = calloc(1, sizeof *q->answer);
	if (!q->answer)
		return -ENOMEM;
	*q->answer = (struct reader_answer){ .status = status, .type = "application/json" };
	reply_error(&q->answer->body, message);
	return 0;
}

int reader_pool_ask(struct reader_pool *p, const struct reader_question *from, reader_done *done,
		    void *context)
{
	size_t path_len = strlen(from->path);
	struct question q = {
		.head = { .path_len = (uint32_t)path_len, .query_len = (uint32_t)from->query_len,
			  .control = from->control, .gzip = from->gzip },
		.done = done, .context = context,
	}, *added;

	if (path_len > READER_PATH_MAX || from->query_len > READER_QUERY_MAX)
		return -E2BIG;
	q.text = malloc(path_len + from->query_len + 1);
	if (!q.text)
		return -ENOMEM;
	memcpy(q.text, from->path, path_len);
	if (from->query_len)
		memcpy(q.text + path_len, from->query, from->query_len);
	added = prepare(p, &q, from) ? NULL : array_add(&p->question, &p->n_questions, sizeof *added);
	if (!added) {
		question_release(&q);
		return -ENOMEM;
	}
	*added = q;
	wake_at(p, 0);
	return 0;
}

void reader_pool_forget(struct reader_pool *p, const void *context)
{
	for (size_t i = 0; i < p->n_questions; i++) {
		if (p->question[i].context == context)
			p->question[i].done = NULL;
	}
	for (size_t i = 0; i < p->n; i++) {
		if (p->reader[i]->busy && p->reader[i]->question.context == context)
			p->reader[i]->question.done = NULL;
	}
}

void reader_pool_alone(struct reader_pool *p, bool alone)
{
	if (alone && !p->alone)
		wake_at(p, 0);
	p->alone = alone;
}

void reader_pool_refresh(struct reader_pool *p)
{
	for (size_t i = 0; i < p->n; i++)
		p->reader[i]->refresh = true;
	p->catalogue_ns = 0;
	wake_at(p, 0);
}

/* Running */

/* A reader for it that has nothing to do; NULL: wait. */
static struct reader_process *reader_of(struct reader_pool *p, const char *id, bool apart, bool *failed)
{
	struct reader_process *oldest = NULL;

	for (size_t i = 0; i < p->n; i++) {
		struct reader_process *c = p->reader[i];

		if (c->fd < 0)
			continue;
		if (!strcmp(c->id, id) && c->apart == apart && !c->refresh)
			return c->busy ? NULL : c;
		if (!c->busy && (!oldest || c->since_ns < oldest->since_ns))
			oldest = c;
	}
	if (count(p) >= p->limits.readers) {
		if (!oldest)
			return NULL;
		end(oldest);
	}
	oldest = start(p, id, apart);
	*failed = !oldest;
	return oldest;
}

/* Returns whether the question at i is gone. */
static bool dispatch_one(struct reader_pool *p, size_t i)
{
	struct question q = p->question[i];
	struct reader_process *c;
	bool failed = false;

	if (q.done && !q.answer) {
		c = reader_of(p, q.id, q.apart, &failed);
		if (c)
			give_question(c, p, i);
		if (c || !failed)
			return c;
	}
	remove_question(p, i);
	if (!q.done)
		question_release(&q);
	else if (failed)
		refuse(&q, 503, "cannot start a process to read the recording");
	else {
		struct reader_answer answer = *q.answer;

		buf_init(&q.answer->body);
		reply_to(&q, &answer);
	}
	return true;
}

void reader_pool_run(struct reader_pool *p)
{
	uint64_t times;
	int64_t now_ns;

	if (read(p->timer_fd, &times, sizeof times) < 0)
		times = 0;	/* it was not the timer */
	for (size_t i = 0; i < p->n; i++) {
		if (p->reader[i]->fd >= 0)
			receive(p->reader[i]);
	}
	now_ns = clock_mono_ns();
	for (size_t i = 0; i < p->n; i++) {
		struct reader_process *c = p->reader[i];

		bool late = c->fd >= 0 && now_ns - c->since_ns >= patience_ns(p, c);

		if (c->busy && late)
			give_up(c, 503, "this took too long: ask for less of the recording");
		else if (!c->busy && (c->refresh || late))
			end(c);
	}
	reap(p, false);
	for (size_t i = 0; i < p->n_questions;)
		i += !dispatch_one(p, i);
	set_timer(p);
	if (p->n_questions && p->question[p->n_questions - 1].answer)
		wake_at(p, 0);
}
