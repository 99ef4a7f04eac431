// SPDX-License-Identifier: GPL-2.0
/*
 * listen(2), accept(2), and what an accepted socket starts with.
 */
#include "conf.h"

FIXTURE_ALONE(listen);

TEST_F(listen, states)
{
	char buf[8];
	int l = listener(0, 5);

	EXPECT_EQ(1, get_opt(l, SOL_SOCKET, SO_ACCEPTCONN));
	EXPECT_POLL(0, l);
	EXPECT_OK(listen(l, 2));
	EXPECT_ERR(ENOTCONN, has_peer(l));
	EXPECT_ERR(EINVAL, bind_host(l, 1, 0));
	EXPECT_ERR(EISCONN, dial(l));
	EXPECT_EQ(1, get_opt(l, SOL_SOCKET, SO_ACCEPTCONN));
	EXPECT_ERR(ENOTCONN, recv(l, buf, sizeof(buf), 0));
	EXPECT_ERR(EPIPE, send(l, buf, sizeof(buf), 0));
	EXPECT_SIGPIPE();
	EXPECT_EQ(-EINVAL, ask(l, SIOCINQ));
	EXPECT_EQ(-EINVAL, ask(l, SIOCOUTQ));
	EXPECT_EQ(-EINVAL, ask(l, SIOCOUTQNSD));
	EXPECT_EQ(0, ask(l, SIOCATMARK));
	EXPECT_OK(set_nonblock(l, true));
	EXPECT_ERR(EAGAIN, accept(l, NULL, NULL));
	EXPECT_EQ(0, so_error(l));
}

TEST_F(listen, unbound)
{
	int l = server(0), c = client(0), s;
	struct sockaddr_storage ss;

	EXPECT_OK(listen(l, 1));
	EXPECT_OK(learn_addr(l));
	EXPECT_LT(0, ss_port(&conf.addr));
	conf.addrlen = host_addr(&ss, 1, ss_port(&conf.addr));
	conf.addr = ss;
	EXPECT_OK(dial(c));
	s = accept(l, NULL, NULL);
	EXPECT_TRUE(passes(c, s));
}

TEST_F(listen, shutdown)
{
	int l = listener(0, 5), c = client(0);
	int ended = EV_IN | EV_OUT | POLLHUP | POLLRDHUP;

	EXPECT_OK(shutdown(l, SHUT_WR));
	EXPECT_POLL(0, l);
	EXPECT_OK(shutdown(l, SHUT_RD));
	EXPECT_POLL(EV_OUT | POLLHUP, l);
	EXPECT_ERR(EINVAL, accept(l, NULL, NULL));
	EXPECT_ERR(ECONNREFUSED, dial(c));
	EXPECT_ERR(ENOTCONN, shutdown(l, SHUT_RDWR));
	EXPECT_POLL(ended, l);
	EXPECT_OK(listen(l, 5));
	EXPECT_POLL(0, l);
	EXPECT_OK(learn_addr(l));
	EXPECT_OK(dial(c));
	EXPECT_LE(0, accept(l, NULL, NULL));
}

/* Java and others wake their acceptors like this */
TEST_F(listen, shutdown_wakes_accept)
{
	int l = listener(0, 5);
	struct job job;

	EXPECT_TRUE(job_start(&job, job_accept, l));
	EXPECT_OK(shutdown(l, SHUT_RDWR));
	EXPECT_EQ(-EINVAL, job_result(&job));
}

TEST_F(listen, shutdown_resets_clients)
{
	int l = listener(0, 5), c = client(0);

	ASSERT_OK(dial(c));
	EXPECT_POLL(EV_IN, l);
	EXPECT_OK(shutdown(l, SHUT_RD));
	EXPECT_EQ(-ECONNRESET, recv_next(c));
}

TEST_F(listen, close_resets_clients)
{
	int l = listener(0, 5), c = client(0), d = client(0);

	ASSERT_OK(dial(c));
	ASSERT_OK(dial(d));
	EXPECT_RET(1, send(d, "x", 1, 0));
	EXPECT_POLL(EV_IN, l);
	close(l);
	EXPECT_EQ(-ECONNRESET, recv_next(c));
	EXPECT_EQ(-ECONNRESET, recv_next(d));
}

TEST_F(listen, accept_flags)
{
	int l = listener(SOCK_NONBLOCK, 5), c = client(0), s;

	ASSERT_OK(dial(c));
	EXPECT_TRUE(wait_readable(l));
	EXPECT_ERR(EINVAL, accept4(l, NULL, NULL, 0x40000000));
	s = accept4(l, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	ASSERT_LE(0, s);
	EXPECT_EQ(O_NONBLOCK, fcntl(s, F_GETFL) & O_NONBLOCK);
	EXPECT_EQ(FD_CLOEXEC, fcntl(s, F_GETFD));
	EXPECT_TRUE(passes(c, s));
	/* the flag of the listener is not inherited */
	ASSERT_OK(dial(client(0)));
	EXPECT_TRUE(wait_readable(l));
	s = accept(l, NULL, NULL);
	ASSERT_LE(0, s);
	EXPECT_EQ(0, fcntl(s, F_GETFL) & O_NONBLOCK);
	EXPECT_ERR(EAGAIN, accept(l, NULL, NULL));
}

TEST_F(listen, accept_address)
{
	int l = listener(0, 5), c = client(0), s;
	struct sockaddr_storage ss;
	socklen_t len = 4;

	ASSERT_OK(dial(c));
	s = accept(l, (void *)&ss, &len);
	EXPECT_LE(0, s);
	EXPECT_EQ(conf.addrlen, len);
	EXPECT_EQ(conf.cfg->family, ss.ss_family);
	ASSERT_OK(dial(client(0)));
	len = -1;
	EXPECT_ERR(EINVAL, accept(l, (void *)&ss, &len));
	/* that connection is lost, as with TCP */
	EXPECT_POLL(0, l);
}

TEST_F(listen, accept_timeout)
{
	int l = listener(0, 5);
	long t0 = now_ms();

	EXPECT_OK(set_timeo(l, SO_RCVTIMEO, 100));
	EXPECT_ERR(EAGAIN, accept(l, NULL, NULL));
	EXPECT_LE(80, now_ms() - t0);
}

TEST_F(listen, accept_interrupted)
{
	int l = listener(0, 5), c = client(0);
	struct job job;

	EXPECT_TRUE(job_start(&job, job_accept, l));
	EXPECT_EQ(-EINTR, interrupt(&job, 0));
	EXPECT_TRUE(job_start(&job, job_accept, l));
	EXPECT_EQ(-EALREADY, interrupt(&job, SA_RESTART));
	EXPECT_OK(dial(c));
	EXPECT_LE(0, job_result(&job));
	EXPECT_EQ(2, sig_taken(SIGUSR1));
}

/* each connection wakes one of those who wait */
TEST_F(listen, accept_threads)
{
	int l = listener(0, 5), i;
	struct job job[3];

	for (i = 0; i < 3; i++)
		EXPECT_TRUE(job_start(&job[i], job_accept, l));
	for (i = 0; i < 3; i++)
		EXPECT_OK(dial(client(0)));
	for (i = 0; i < 3; i++)
		EXPECT_LE(0, job_result(&job[i]));
}

/* the order of arrival is kept */
TEST_F(listen, accept_order)
{
	int l = listener(0, 8), c[6], i, s, seen = 0;
	char n;

	for (i = 0; i < 6; i++) {
		c[i] = client(0);
		ASSERT_OK(dial(c[i]));
		n = i;
		ASSERT_RET(1, send(c[i], &n, 1, 0));
	}
	for (i = 0; i < 6; i++) {
		s = accept(l, NULL, NULL);
		ASSERT_EQ(1, recv_all(s, &n, 1));
		if (!differs(DIFF_ACCEPT_ORDER))
			EXPECT_EQ(i, n);
		seen |= 1 << n;
	}
	EXPECT_EQ(0x3f, seen);
}

/* at most backlog + 1 connections wait, and listen() again changes that */
TEST_F(listen, backlog)
{
	int l = listener(SOCK_NONBLOCK, 2), fd[12], i, n = 0;

	for (i = 0; i < 12; i++) {
		fd[i] = client(SOCK_NONBLOCK);
		dial(fd[i]);
	}
	EXPECT_TRUE(wait_readable(l));
	sleep_ms(300);
	while (accept(l, NULL, NULL) >= 0)
		n++;
	EXPECT_LE(2, n);
	/* a client that speaks SMC sends data at once. TCP repeats them soon,
	 * which can make room for one more while we accept.
	 */
	EXPECT_GE(conf.cfg->client == KIND_TCP ? 3 : 6, n);
	for (i = 0; i < 12; i++)
		close(fd[i]);
}

TEST_F(listen, backlog_again)
{
	int l = listener(0, 0), c[5], i;

	EXPECT_OK(listen(l, 10));
	for (i = 0; i < 5; i++) {
		c[i] = client(0);
		EXPECT_OK(set_timeo(c[i], SO_SNDTIMEO, CONF_LONG));
		EXPECT_OK(dial(c[i]));
	}
	for (i = 0; i < 5; i++)
		EXPECT_LE(0, accept(l, NULL, NULL));
}

static const struct {
	int level, name, val, want;
} inherited[] = {
	{ SOL_TCP, TCP_NODELAY, 1, 1 },
	{ SOL_TCP, TCP_KEEPIDLE, 77, 77 },
	{ SOL_TCP, TCP_KEEPINTVL, 33, 33 },
	{ SOL_TCP, TCP_KEEPCNT, 3, 3 },
	{ SOL_TCP, TCP_USER_TIMEOUT, 55000, 55000 },
	{ SOL_TCP, TCP_NOTSENT_LOWAT, 4096, 4096 },
	{ SOL_SOCKET, SO_KEEPALIVE, 1, 1 },
	{ SOL_SOCKET, SO_OOBINLINE, 1, 1 },
	{ SOL_SOCKET, SO_RCVLOWAT, 3, 3 },
	{ SOL_SOCKET, SO_PRIORITY, 4, 0 },
	{ SOL_SOCKET, SO_MARK, 9, 9 },
	{ SOL_SOCKET, SO_REUSEADDR, 1, 1 },
	{ SOL_SOCKET, SO_SNDBUF, 50000, 100000 },
	{ SOL_SOCKET, SO_RCVBUF, 50000, 100000 },
	{ SOL_SOCKET, SO_BROADCAST, 1, 1 },
	{ SOL_SOCKET, SO_DONTROUTE, 1, 1 },
};

/* with a child that was made of a listener with these options, before or after
 * listen()
 */
static bool inherits(int l, unsigned int i, int s)
{
	int got = get_opt(s, inherited[i].level, inherited[i].name);
	int want = inherited[i].want;

	/* rings have sizes of their own, but not less than was asked for */
	if (over_smc() && inherited[i].level == SOL_SOCKET &&
	    (inherited[i].name == SO_SNDBUF || inherited[i].name == SO_RCVBUF))
		return got >= want;
	return got == want;
}

static void expect_set(struct __test_metadata *_metadata, int l)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(inherited); i++)
		EXPECT_OK(set_opt(l, inherited[i].level, inherited[i].name,
				  inherited[i].val));
}

static void expect_inherited(struct __test_metadata *_metadata, int l, int s)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(inherited); i++) {
		EXPECT_TRUE(inherits(l, i, s))
			TH_LOG("row %u: %d", i, get_opt(s, inherited[i].level,
							inherited[i].name));
	}
}

TEST_F(listen, inherits_early)
{
	int l = server(0), c = client(0), s;

	expect_set(_metadata, l);
	ASSERT_OK(start_listen(l, 5));
	ASSERT_OK(join(l, c, &s));
	expect_inherited(_metadata, l, s);
	EXPECT_TRUE(passes(c, s));
}

TEST_F(listen, inherits_late)
{
	int l = listener(0, 5), c = client(0), s;

	expect_set(_metadata, l);
	ASSERT_OK(join(l, c, &s));
	expect_inherited(_metadata, l, s);
	EXPECT_TRUE(passes(c, s));
}

TEST_F(listen, inherits_structs)
{
	struct timeval tv = { 3, 0 };
	int l = listener(0, 5), c = client(0), s;
	struct linger lg = {};
	socklen_t len;

	EXPECT_OK(set_linger(l, 1, 7));
	EXPECT_OK(set_linger(c, 1, 9));
	EXPECT_OK(setsockopt(l, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)));
	tv.tv_sec = 5;
	EXPECT_OK(setsockopt(l, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)));
	ASSERT_OK(join(l, c, &s));
	len = sizeof(tv);
	EXPECT_OK(getsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &tv, &len));
	EXPECT_EQ(3, tv.tv_sec);
	len = sizeof(tv);
	EXPECT_OK(getsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &tv, &len));
	EXPECT_EQ(5, tv.tv_sec);
	len = sizeof(lg);
	EXPECT_OK(getsockopt(s, SOL_SOCKET, SO_LINGER, &lg, &len));
	EXPECT_EQ(1, lg.l_onoff);
	EXPECT_EQ(7, lg.l_linger);
	len = sizeof(lg);
	EXPECT_OK(getsockopt(c, SOL_SOCKET, SO_LINGER, &lg, &len));
	EXPECT_EQ(1, lg.l_onoff);
	EXPECT_EQ(9, lg.l_linger);
}

TEST_F(listen, child_is_of_same_kind)
{
	static const int names[] = { SO_DOMAIN, SO_PROTOCOL, SO_TYPE };
	int l = listener(0, 5), c = client(0), s;
	unsigned int i;

	ASSERT_OK(join(l, c, &s));
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		int want = get_opt(l, SOL_SOCKET, names[i]);

		/* in fallback the descriptor is a TCP socket's */
		if (!over_smc() && names[i] == SO_DOMAIN)
			want = conf.cfg->family;
		if (!over_smc() && names[i] == SO_PROTOCOL)
			want = IPPROTO_TCP;
		EXPECT_EQ(want, get_opt(s, SOL_SOCKET, names[i]));
	}
	EXPECT_EQ(0, get_opt(s, SOL_SOCKET, SO_ACCEPTCONN));
}

/* the server gets no connection without data */
TEST_F(listen, defer_accept)
{
	int l = listener(SOCK_NONBLOCK, 5), c = client(0), s;

	EXPECT_OK(set_opt(l, SOL_TCP, TCP_DEFER_ACCEPT, 100));
	ASSERT_OK(dial(c));
	sleep_ms(3 * CONF_SHORT);
	EXPECT_POLL(0, l);
	EXPECT_ERR(EAGAIN, accept(l, NULL, NULL));
	EXPECT_RET(2, send(c, "hi", 2, 0));
	EXPECT_TRUE(wait_readable(l));
	s = accept(l, NULL, NULL);
	ASSERT_LE(0, s);
	EXPECT_EQ(2, recv_next(s));
}

TEST_F(listen, defer_accept_blocking)
{
	int l = listener(0, 5), c = client(0);
	struct job job;

	EXPECT_OK(set_opt(l, SOL_TCP, TCP_DEFER_ACCEPT, 100));
	ASSERT_OK(dial(c));
	EXPECT_TRUE(job_start(&job, job_accept, l));
	sleep_ms(CONF_SHORT);
	EXPECT_FALSE(job.done);
	EXPECT_RET(2, send(c, "hi", 2, 0));
	EXPECT_LE(0, job_result(&job));
	EXPECT_EQ(2, recv_next(job.ret));
}

/* the end of the time given: TCP accepts then */
TEST_F(listen, defer_accept_ends)
{
	int l = listener(SOCK_NONBLOCK, 5), c = client(0);

	EXPECT_OK(set_opt(l, SOL_TCP, TCP_DEFER_ACCEPT, 1));
	ASSERT_OK(dial(c));
	EXPECT_TRUE(wait_readable(l));
	EXPECT_LE(0, accept(l, NULL, NULL));
}

TEST_F(listen, reuseport)
{
	int a = server(0), b = server(0), x = server(0), i, na = 0, nb = 0;
	int c[24];

	EXPECT_OK(set_opt(a, SOL_SOCKET, SO_REUSEPORT, 1));
	EXPECT_OK(set_opt(b, SOL_SOCKET, SO_REUSEPORT, 1));
	EXPECT_EQ(1, get_opt(a, SOL_SOCKET, SO_REUSEPORT));
	EXPECT_OK(start_listen(a, 64));
	EXPECT_ERR(EADDRINUSE, bind(x, (void *)&conf.addr, conf.addrlen));
	ASSERT_OK(bind(b, (void *)&conf.addr, conf.addrlen));
	ASSERT_OK(listen(b, 64));
	for (i = 0; i < 24; i++) {
		c[i] = client(0);
		ASSERT_OK(dial(c[i]));
	}
	while (na + nb < 24) {
		int ra = poll_events(a, POLLIN, 0) & POLLIN;
		int rb = poll_events(b, POLLIN, ra ? 0 : 100) & POLLIN;

		if (ra) {
			close(accept(a, NULL, NULL));
			na++;
		}
		if (rb) {
			close(accept(b, NULL, NULL));
			nb++;
		}
	}
	EXPECT_LT(0, na);
	EXPECT_LT(0, nb);
}

/* a server that comes back finds its port free, with connections of the old
 * one still there
 */
TEST_F(listen, reuseaddr)
{
	int l = server(0), c = client(0), s;

	EXPECT_OK(set_opt(l, SOL_SOCKET, SO_REUSEADDR, 1));
	ASSERT_OK(start_listen(l, 5));
	ASSERT_OK(join(l, c, &s));
	close(l);
	l = server(0);
	EXPECT_ERR(EADDRINUSE, bind(l, (void *)&conf.addr, conf.addrlen));
	EXPECT_OK(set_opt(l, SOL_SOCKET, SO_REUSEADDR, 1));
	EXPECT_OK(bind(l, (void *)&conf.addr, conf.addrlen));
	EXPECT_OK(listen(l, 5));
	EXPECT_TRUE(passes(c, s));
}

/* a listener outlives its first descriptor and its process */
TEST_F(listen, inherited_by_fork)
{
	int l = listener(0, 5), c = client(0), status;
	pid_t pid = fork();
	char buf[4];

	ASSERT_LE(0, pid);
	if (!pid) {
		int s = accept(l, NULL, NULL);

		_exit(recv_all(s, buf, 4) != 4 || send(s, "pong", 4, 0) != 4);
	}
	close(l);
	ASSERT_OK(dial(c));
	EXPECT_RET(4, send(c, "ping", 4, 0));
	EXPECT_EQ(4, recv_all(c, buf, 4));
	EXPECT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/* a client that says nothing to an SMC server delays nobody */
TEST_F(listen, silent_client)
{
	int l = listener(0, 5), c = client(0), mute, s;
	long t0;

	in_ns(0);
	mute = kind_socket(KIND_TCP, conf.cfg->family, 0);
	ASSERT_OK(dial(mute));
	t0 = now_ms();
	ASSERT_OK(dial(c));
	/* the mute one, then ours */
	s = accept(l, NULL, NULL);
	EXPECT_LE(0, s);
	close(mute);
	s = accept(l, NULL, NULL);
	EXPECT_LE(0, s);
	EXPECT_TRUE(passes(c, s));
	EXPECT_GT(5000, now_ms() - t0);
}

/* many connections, one after the other */
TEST_F(listen, one_after_another)
{
	int l = listener(0, 5), i, c, s;

	for (i = 0; i < 30; i++) {
		c = client(0);
		ASSERT_OK(dial(c));
		s = accept(l, NULL, NULL);
		ASSERT_LE(0, s);
		ASSERT_TRUE(passes(c, s));
		close(i & 1 ? c : s);
		ASSERT_EQ(0, recv_next(i & 1 ? s : c));
		close(i & 1 ? s : c);
	}
}

TEST_HARNESS_MAIN
