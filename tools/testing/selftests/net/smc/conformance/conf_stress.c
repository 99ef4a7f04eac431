// SPDX-License-Identifier: GPL-2.0
/*
 * Random calls on random sockets, from several threads. Nothing is asked of
 * their results but that no byte arrives that nobody sent. The kernel has to
 * survive, and nothing may be left.
 */
#include "conf.h"

#define SOCKETS		24
#define THREADS		5
#define SECONDS		8

static const struct conf_cfg mixed = {
	KIND_IPPROTO_SMC, KIND_IPPROTO_SMC, AF_INET, false, PATH_SMC
};

static struct {
	int fds[SOCKETS];
	volatile bool stop;
	long odd;
	pthread_t threads[2 * THREADS];
} st;

static int any_socket(unsigned int *seed, int flags)
{
	return kind_socket(rand_r(seed) % 3, AF_INET, flags);
}

static socklen_t any_addr(unsigned int *seed, struct sockaddr_storage *ss)
{
	return host_addr(ss, 1, 30000 + rand_r(seed) % 4);
}

static void new_socket(unsigned int *seed, int fd)
{
	int n;

	in_ns(rand_r(seed) & 1);
	n = any_socket(seed, SOCK_NONBLOCK);
	if (n >= 0) {
		dup2(n, fd);
		close(n);
	}
}

static void some_listen(unsigned int *seed, int fd)
{
	struct sockaddr_storage ss;
	socklen_t len = any_addr(seed, &ss);

	set_opt(fd, SOL_SOCKET, SO_REUSEPORT, 1);
	set_opt(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (rand_r(seed) % 4 == 0)
		set_opt(fd, SOL_TCP, TCP_DEFER_ACCEPT, 1);
	if (!bind(fd, (void *)&ss, len))
		listen(fd, rand_r(seed) % 8);
}

static void some_connect(unsigned int *seed, int fd)
{
	struct sockaddr_storage ss;
	socklen_t len = any_addr(seed, &ss);

	connect(fd, (void *)&ss, len);
}

static void some_accept(unsigned int *seed, int fd)
{
	int n = accept4(fd, NULL, NULL, SOCK_NONBLOCK);

	if (n >= 0) {
		dup2(n, st.fds[rand_r(seed) % SOCKETS]);
		close(n);
	}
}

static void some_epoll(unsigned int *seed, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLOUT | EPOLLET };
	int ep = epoll_create1(0);

	epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev);
	epoll_wait(ep, &ev, 1, rand_r(seed) % 3);
	close(ep);
}

static void some_option(unsigned int *seed, int fd)
{
	int on = rand_r(seed) & 1;

	switch (rand_r(seed) % 6) {
	case 0:
		set_opt(fd, SOL_TCP, TCP_CORK, on);
		break;
	case 1:
		set_opt(fd, SOL_TCP, TCP_NODELAY, on);
		break;
	case 2:
		set_linger(fd, on, 0);
		break;
	case 3:
		fcntl(fd, F_SETOWN, getpid());
		fcntl(fd, F_SETFL, O_NONBLOCK | (on ? O_ASYNC : 0));
		break;
	case 4:
		set_opt(fd, SOL_SOCKET, SO_OOBINLINE, on);
		break;
	case 5:
		if (rand_r(seed) % 8 == 0)
			set_opt(fd, SOL_TCP, TCP_FASTOPEN_CONNECT, 1);
	}
}

static void some_send(unsigned int *seed, int fd)
{
	static const int flags[] = { 0, 0, 0, MSG_MORE, MSG_OOB };
	char buf[4096] = "";

	send(fd, buf, rand_r(seed) % sizeof(buf),
	     MSG_NOSIGNAL | flags[rand_r(seed) % ARRAY_SIZE(flags)]);
}

static void some_recv(unsigned int *seed, int fd)
{
	static const int flags[] = { 0, 0, 0, MSG_PEEK, MSG_TRUNC, MSG_OOB };
	char buf[4096];

	recv(fd, buf, rand_r(seed) % sizeof(buf),
	     flags[rand_r(seed) % ARRAY_SIZE(flags)]);
}

static void some_call(unsigned int *seed, int fd)
{
	switch (rand_r(seed) % 20) {
	case 0 ... 2:
		new_socket(seed, fd);
		break;
	case 3 ... 4:
		some_listen(seed, fd);
		break;
	case 5 ... 7:
		some_connect(seed, fd);
		break;
	case 8 ... 9:
		some_accept(seed, fd);
		break;
	case 10:
		shutdown(fd, rand_r(seed) % 3);
		break;
	case 11 ... 12:
		some_send(seed, fd);
		break;
	case 13 ... 14:
		some_recv(seed, fd);
		break;
	case 15:
		poll_events(fd, EV_ALL, rand_r(seed) % 4);
		break;
	case 16:
		some_option(seed, fd);
		break;
	case 17:
		unspec(fd);
		break;
	case 18:
		ask(fd, rand_r(seed) & 1 ? SIOCINQ : SIOCOUTQ);
		has_peer(fd);
		break;
	case 19:
		some_epoll(seed, fd);
	}
}

static void *caller(void *arg)
{
	unsigned int seed = (long)arg;

	while (!st.stop)
		some_call(&seed, st.fds[rand_r(&seed) % SOCKETS]);
	return NULL;
}

TEST(random_calls)
{
	int i;

	ASSERT_OK(conf_init(&mixed));
	signal(SIGIO, SIG_IGN);
	signal(SIGURG, SIG_IGN);
	in_ns(0);
	for (i = 0; i < SOCKETS; i++)
		st.fds[i] = kind_socket(i % 3, AF_INET, SOCK_NONBLOCK);
	for (i = 0; i < THREADS; i++)
		pthread_create(&st.threads[i], NULL, caller, (void *)(long)i);
	sleep(SECONDS);
	st.stop = true;
	for (i = 0; i < THREADS; i++)
		pthread_join(st.threads[i], NULL);
	for (i = 0; i < SOCKETS; i++)
		close(st.fds[i]);
}

/* count what should not be: other bytes than those that were sent */
static void expect_bytes(const char *got, long n, const char *sent)
{
	if (n > 0 && (n > 4 || memcmp(got, sent, n)))
		__sync_fetch_and_add(&st.odd, 1);
}

static void *asker(void *arg)
{
	unsigned int seed = (long)arg * 31 + 7;
	struct sockaddr_storage ss;

	in_ns(0);
	while (!st.stop) {
		int ms = 20 + rand_r(&seed) % 100, fd = any_socket(&seed, 0);
		socklen_t len = any_addr(&seed, &ss);
		char buf[64];

		set_timeo(fd, SO_SNDTIMEO, ms);
		set_timeo(fd, SO_RCVTIMEO, ms);
		if ((!connect(fd, (void *)&ss, len) ||
		     (errno == EINTR && !connect(fd, (void *)&ss, len))) &&
		    send(fd, "ping", 4, MSG_NOSIGNAL) == 4)
			expect_bytes(buf, recv(fd, buf, 64, 0), "pong");
		close(fd);
	}
	return NULL;
}

static void *answerer(void *arg)
{
	unsigned int seed = (long)arg * 131 + 9;
	struct sockaddr_storage ss;

	in_ns(1);
	while (!st.stop) {
		socklen_t len = host_addr(&ss, 1, 30000 + (long)arg);
		int l = any_socket(&seed, 0), i;
		char buf[64];

		set_opt(l, SOL_SOCKET, SO_REUSEADDR, 1);
		set_timeo(l, SO_RCVTIMEO, 200);
		if (bind(l, (void *)&ss, len) || listen(l, 16))
			sleep_ms(1);
		for (i = 0; i < 40 && !st.stop; i++) {
			int s = accept(l, NULL, NULL);

			if (s < 0)
				continue;
			i++;
			expect_bytes(buf, recv(s, buf, 64, 0), "ping");
			send(s, "pong", 4, MSG_NOSIGNAL);
			if (rand_r(&seed) % 4 == 0)
				shutdown(s, SHUT_WR);
			close(s);
		}
		if (rand_r(&seed) & 1)
			shutdown(l, SHUT_RD);
		close(l);
	}
	return NULL;
}

/* blocking calls that are interrupted, and run out of time */
TEST(interrupted_calls)
{
	long end = now_ms() + SECONDS * 1000;
	int i;

	ASSERT_OK(conf_init(&mixed));
	sig_catch(SIGUSR1, 0);
	for (i = 0; i < 4; i++)
		pthread_create(&st.threads[i], NULL, answerer,
			       (void *)(long)i);
	for (; i < 4 + THREADS; i++)
		pthread_create(&st.threads[i], NULL, asker, (void *)(long)i);
	while (now_ms() < end) {
		sleep_ms(10);
		pthread_kill(st.threads[4 + i++ % THREADS], SIGUSR1);
	}
	st.stop = true;
	for (i = 0; i < 4 + THREADS; i++)
		pthread_join(st.threads[i], NULL);
	EXPECT_EQ(0, st.odd);
}

TEST_HARNESS_MAIN
