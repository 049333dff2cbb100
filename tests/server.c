/* SPDX-License-Identifier: MIT */
#include "tests/server.h"

#include "tests/support.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>

#define SSHD "/usr/sbin/sshd"

/* libgit2 1.5 leaks the patterns of its configuration, and a URL and known hosts when it
 * connects: for the leak sanitizer, here and in programs that are run. */
#define LEAKS "leak:libpcre2\nleak:git_remote_connect_ext\n"

/* The first is needed for enough frames of callers. What cannot be allocated is NULL, as without a
 * sanitizer. */
#define OPTIONS "fast_unwind_on_malloc=0:allocator_may_return_null=1"

const char *__asan_default_options(void);
const char *__lsan_default_suppressions(void);

const char *__asan_default_options(void)
{
	return OPTIONS;
}

const char *__lsan_default_suppressions(void)
{
	return LEAKS;
}

void server_leaks(const char *dir)
{
	const char *file = support_path("%s/leaks", dir);
	char options[4096];

	support_writes(file, LEAKS);
	snprintf(options, sizeof options, "print_suppressions=0:suppressions=%s", file);
	setenv("LSAN_OPTIONS", options, 0);
	setenv("ASAN_OPTIONS", OPTIONS, 0);
}

static struct sockaddr_in local(int port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((uint16_t)port),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static int free_port(void)
{
	struct sockaddr_in a = local(0);
	socklen_t len = sizeof a;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	close(fd);
	return ntohs(a.sin_port);
}

static bool answers(int port)
{
	struct sockaddr_in a = local(port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool does = !connect(fd, (struct sockaddr *)&a, sizeof a);

	close(fd);
	return does;
}

static void start(struct server_process *s, const char *const *argv)
{
	const struct timespec nap = { 0, 10000000 };

	s->pid = fork();
	ck_assert_int_ge(s->pid, 0);
	if (!s->pid) {
		int null = open("/dev/null", O_RDWR);

		prctl(PR_SET_PDEATHSIG, SIGTERM);
		for (int fd = 0; fd < 3; fd++)
			dup2(null, fd);
		execv(argv[0], (char *const *)argv);
		_exit(127);
	}
	for (int i = 0; i < 2000 && !answers(s->port); i++) {
		ck_assert_int_eq(waitpid(s->pid, NULL, WNOHANG), 0);
		nanosleep(&nap, NULL);
	}
}

void server_stop(struct server_process *s)
{
	if (s->pid > 0) {
		kill(s->pid, SIGTERM);
		waitpid(s->pid, NULL, 0);
	}
	s->pid = 0;
}

/* Ends with its client. */
static void trickle(int fd, const char *text)
{
	const struct timespec nap = { 0, 20000000 };
	size_t n = strlen(text);

	for (size_t i = 0; !n || send(fd, text + i % n, 1, MSG_NOSIGNAL) == 1; i++)
		nanosleep(&nap, NULL);
}

static void be_slow(int fd, const char *text)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signal(SIGTERM, SIG_DFL);	/* Check's handler would end the test */
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int client = accept(fd, NULL, NULL);

		if (fork()) {
			close(client);
			continue;
		}
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		trickle(client, text);
		_exit(0);
	}
}

void server_slow(struct server_process *s, int port, const char *text)
{
	struct sockaddr_in a = local(port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	ck_assert_int_ge(fd, 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
	ck_assert_int_eq(listen(fd, 16), 0);
	s->port = port;
	s->pid = fork();
	ck_assert_int_ge(s->pid, 0);
	if (!s->pid)
		be_slow(fd, text);
	close(fd);
}

void server_git(struct server_process *s, const char *base, int port)
{
	char daemon[4096], base_path[4096], port_text[32];
	struct run r;

	support_run(&r, NULL, "git --exec-path");
	ck_assert_int_eq(r.status, 0);
	snprintf(daemon, sizeof daemon, "%.*s/git-daemon", (int)strcspn(r.out.data, "\n"),
		 r.out.data);
	s->port = port ? port : free_port();
	snprintf(base_path, sizeof base_path, "--base-path=%s", base);
	snprintf(port_text, sizeof port_text, "--port=%d", s->port);
	start(s, (const char *[]){ daemon, "--reuseaddr", "--export-all", "--enable=receive-pack",
			     "--listen=127.0.0.1", base_path, port_text, NULL });
}

/* sshd */

bool server_has_ssh(void)
{
	return !access(SSHD, X_OK) && support_has("ssh-keygen") &&
	       (geteuid() || !mkdir("/run/sshd", 0755) || errno == EEXIST);
}

void server_ssh(struct server_process *s, const char *home)
{
	char config[4096];
	struct run r;

	s->port = free_port();
	support_run(&r, NULL,
		    "set -e; cd '%s'; mkdir -m 700 .ssh; ssh-keygen -q -t ed25519 -N '' -f host; "
		    "ssh-keygen -q -t ed25519 -N '' -f .ssh/id_ed25519; "
		    "printf '[127.0.0.1]:%d %%s\\n' \"$(cut -d' ' -f1,2 host.pub)\" "
		    "> .ssh/known_hosts; "
		    "printf '%%s\\n' 'Port %d' 'ListenAddress 127.0.0.1' 'HostKey %s/host' "
		    "'PidFile none' 'AuthorizedKeysFile %s/.ssh/id_ed25519.pub' 'StrictModes no' "
		    "'UsePAM no' 'PasswordAuthentication no' > config",
		    home, s->port, s->port, home, home);
	ck_assert_msg(!r.status, "%s", r.err.data);
	snprintf(config, sizeof config, "%s/config", home);
	start(s, (const char *[]){ SSHD, "-D", "-f", config, NULL });
}
