/* SPDX-License-Identifier: MIT */
#include "launch/relay_tty.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* With this flag the master learns of changes of modes. The flag concerns the input, of which
 * there is none. */
#define TELL_MODES EXTPROC

/* These cannot be taken back from the bytes; the terminal applies them. */
#define NOT_OURS (OLCUC | OCRNL | ONOCR | ONLRET | TABDLY)

static void set_modes(int master_fd, const struct termios *real)
{
	struct termios t = *real;

	t.c_lflag |= TELL_MODES;
	t.c_oflag &= ~(tcflag_t)NOT_OURS;
	tcsetattr(master_fd, TCSANOW, &t);
}

static bool same_modes(const struct termios *a, const struct termios *b)
{
	return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag &&
		a->c_lflag == b->c_lflag && !memcmp(a->c_cc, b->c_cc, sizeof a->c_cc);
}

static int open_command_end(int master_fd)
{
	int fd = ioctl(master_fd, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	char name[64];

	if (fd >= 0)
		return fd;
	return ptsname_r(master_fd, name, sizeof name) ? -1 :
		open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
}

int relay_tty_open(struct relay_tty *t, int real_fd, int *command_fd)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), on = 1, r;

	if (master < 0)
		return -errno;
	*t = (struct relay_tty){ .real_fd = real_fd, .master_fd = master };
	if (!grantpt(master) && !unlockpt(master) && !ioctl(master, TIOCPKT, &on) &&
	    (*command_fd = open_command_end(master)) >= 0) {
		if (!tcgetattr(real_fd, &t->real))
			set_modes(master, &t->real);
		tcgetattr(master, &t->own);
		if (!ioctl(real_fd, TIOCGWINSZ, &t->size))
			ioctl(master, TIOCSWINSZ, &t->size);
		return 0;
	}
	r = -errno;
	close(master);
	return r;
}

/* The terminal has sent SIGWINCH before the pseudoterminal had the size. */
static void follow_size(struct relay_tty *t)
{
	struct winsize size;
	pid_t group;

	if (ioctl(t->real_fd, TIOCGWINSZ, &size) || !memcmp(&size, &t->size, sizeof size))
		return;
	t->size = size;
	ioctl(t->master_fd, TIOCSWINSZ, &size);
	group = tcgetpgrp(t->real_fd);
	if (group > 0)
		kill(-group, SIGWINCH);
}

/* A background process must not change the modes. */
static bool in_foreground(const struct relay_tty *t)
{
	pid_t group = tcgetpgrp(t->real_fd);

	return group < 0 || group == getpgrp();
}

static void set_real(struct relay_tty *t, const struct termios *own)
{
	struct termios real;

	if (tcgetattr(t->real_fd, &real))
		return;
	real.c_iflag = own->c_iflag;
	real.c_lflag = (own->c_lflag & ~(tcflag_t)TELL_MODES) | (real.c_lflag & TELL_MODES);
	real.c_oflag = (own->c_oflag & ~(tcflag_t)NOT_OURS) | (real.c_oflag & NOT_OURS);
	memcpy(real.c_cc, own->c_cc, sizeof real.c_cc);
	tcsetattr(t->real_fd, TCSANOW, &real);
}

static void follow_modes(struct relay_tty *t)
{
	struct termios own, real;

	if (tcgetattr(t->master_fd, &own) || tcgetattr(t->real_fd, &real))
		return;
	if (!same_modes(&own, &t->own)) {
		if (!in_foreground(t))
			return;
		set_real(t, &own);
		if (!(own.c_lflag & TELL_MODES))
			set_modes(t->master_fd, &own);
		tcgetattr(t->real_fd, &t->real);
	} else if (!same_modes(&real, &t->real)) {
		set_modes(t->master_fd, &real);
		t->real = real;		/* and not a later change */
	} else {
		return;
	}
	tcgetattr(t->master_fd, &t->own);
}

void relay_tty_follow(struct relay_tty *t)
{
	follow_size(t);
	follow_modes(t);
}

size_t relay_tty_plain(struct relay_tty *t, char *p, size_t n, size_t *begin)
{
	bool adds = (t->own.c_oflag & (OPOST | ONLCR)) == (OPOST | ONLCR);
	char *to, *from = p + 1, *end = from + n;

	*begin = 1;
	if (t->held && !(adds && *from == '\n')) {
		*p = '\r';
		*begin = 0;
	}
	t->held = false;
	if (!adds)
		return n + 1;
	if (end[-1] == '\r') {
		t->held = true;
		end--;
	}
	for (to = from; from < end;) {
		char *newline = memchr(from, '\n', (size_t)(end - from));
		size_t len = (size_t)((newline ? newline : end) - from);
		bool added = newline && len && newline[-1] == '\r';

		memmove(to, from, len - added);
		to += len - added;
		from += len;
		if (newline)
			*to++ = *from++;
	}
	return (size_t)(to - p);
}

bool relay_tty_release(struct relay_tty *t)
{
	bool held = t->held;

	t->held = false;
	return held;
}
