/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/clock.h"
#include "recording/pidspace.h"
#include "recording/store_create.h"
#include "sampler/pidserver.h"
#include "tests/support.h"

#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/socket.h>

int __real_accept4(int fd, struct sockaddr *address, socklen_t *len, int flags);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *len, int flags);

static atomic_uint n_accepts;

int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *len, int flags)
{
	n_accepts++;
	return __real_accept4(fd, address, len, flags);
}

struct served {
	struct store store;
	struct pidserver server;
	int client;
};

static void serve(struct served *s)
{
	const char *ticket = support_path("%s/ticket", support_tmpdir());
	struct error err = { 0 };

	ck_assert_msg(!store_create(&s->store, support_tmpdir(), "rec", &err), "%s", err.message);
	ck_assert_int_eq(pidserver_open(&s->server, slice_of(ticket), &s->store), 0);
	pidserver_start(&s->server);
	ck_assert(s->server.started);
	s->client = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(s->client, 0);
}

static void ask(const struct served *s)
{
	ck_assert_int_eq(connect(s->client, (const struct sockaddr *)&s->server.address,
				 sizeof s->server.address), 0);
}

static void stop(struct served *s)
{
	pidserver_stop(&s->server);
	close(s->client);
	store_close(&s->store);
}

/* Every number below the limit is used. Returns the limit before. */
static struct rlimit use_up_descriptors(void)
{
	struct rlimit before, none;
	int next = dup(0);

	ck_assert_int_gt(next, 0);
	close(next);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = (rlim_t)next;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	return before;
}

static void wait_for_accepts(unsigned n)
{
	while (n_accepts < n)
		usleep(1000);
}

/* The socket is beside the ticket, whose name may come from anywhere: one without a directory has none. */
TEST(address)
{
	static const struct { const char *ticket, *path; } cases[] = {
		{ "/t/buildbeat.mk", "/t/pids" }, { "/buildbeat.mk", "/pids" }, { "t/", "t/pids" }, { "buildbeat.mk", NULL },
		{ "", NULL },
	};
	struct sockaddr_un address;
	char path[sizeof address.sun_path + 2];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		ck_assert_int_eq(pidspace_address(&address, slice_of(cases[i].ticket)), cases[i].path != NULL);
		ck_assert_int_eq(address.sun_family, AF_UNIX);
		ck_assert_str_eq(address.sun_path, cases[i].path ? cases[i].path : "");
	}
	memset(path, 'x', sizeof path);
	for (size_t n = 0; n < sizeof path; n++) {
		path[n] = '/';
		ck_assert_int_eq(pidspace_address(&address, (struct slice){ path, n + 1 }),
				 n + sizeof "/" PIDSPACE_SOCKET <= sizeof address.sun_path);
		path[n] = 'x';
	}
}

/* Without a descriptor it tries again at most every 100 ms, and answers when there is one. */
TEST(no_descriptor)
{
	struct served s;
	struct rlimit before;
	char list[PIDSPACE_LIST_MAX] = "";
	int64_t start_ns, took_ms;
	unsigned n;

	serve(&s);
	before = use_up_descriptors();
	start_ns = clock_mono_ns();
	ask(&s);
	wait_for_accepts(4);
	n = n_accepts;
	took_ms = (clock_mono_ns() - start_ns) / 1000000;
	ck_assert_msg(n <= took_ms / 100 + 1, "%u tries in %d ms", n, (int)took_ms);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	ck_assert_int_gt(recv(s.client, list, sizeof list - 1, 0), 0);
	ck_assert_int_eq(atoi(list), getpid());
	stop(&s);
}

/* The end is not waited for either. */
TEST(ends_without_descriptors)
{
	struct served s;
	struct rlimit before;

	serve(&s);
	before = use_up_descriptors();
	ask(&s);
	wait_for_accepts(1);
	stop(&s);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST_MAIN(pidserver);
