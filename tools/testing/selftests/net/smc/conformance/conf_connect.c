// SPDX-License-Identifier: GPL-2.0
/*
 * socket(2), bind(2), connect(2) and the names of sockets: every order, every
 * error, and what is left behind after each.
 */
#include "conf.h"

FIXTURE_ALONE(connect);

TEST(socket_arguments)
{
	static const struct {
		int family, type, protocol, err;
	} cases[] = {
		{ AF_SMC, SOCK_STREAM, 0, 0 },
		{ AF_SMC, SOCK_STREAM, 1, 0 },
		{ AF_SMC, SOCK_STREAM, 2, EPROTONOSUPPORT },
		{ AF_SMC, SOCK_STREAM, IPPROTO_TCP, EPROTONOSUPPORT },
		{ AF_SMC, SOCK_DGRAM, 0, ESOCKTNOSUPPORT },
		{ AF_SMC, SOCK_SEQPACKET, 0, ESOCKTNOSUPPORT },
		{ AF_INET, SOCK_STREAM, IPPROTO_SMC, 0 },
		{ AF_INET6, SOCK_STREAM, IPPROTO_SMC, 0 },
		/* looks for a module, which takes long in a guest */
		{ AF_INET, SOCK_DGRAM, IPPROTO_SMC, EPROTONOSUPPORT },
	};
	unsigned int i;
	int fd;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		fd = socket(cases[i].family, cases[i].type, cases[i].protocol);
		EXPECT_EQ(cases[i].err, fd < 0 ? errno : 0)
			TH_LOG("case %u", i);
		close(fd);
	}
	EXPECT_ERR(EOPNOTSUPP, socketpair(AF_SMC, SOCK_STREAM, 0, (int[2]){}));
	EXPECT_ERR(EOPNOTSUPP, socketpair(AF_INET, SOCK_STREAM, IPPROTO_SMC,
					  (int[2]){}));
}

TEST_F(connect, creation_flags)
{
	int fd = client(SOCK_NONBLOCK | SOCK_CLOEXEC);

	EXPECT_EQ(O_NONBLOCK, fcntl(fd, F_GETFL) & O_NONBLOCK);
	EXPECT_EQ(FD_CLOEXEC, fcntl(fd, F_GETFD));
	EXPECT_EQ(SOCK_STREAM, get_opt(fd, SOL_SOCKET, SO_TYPE));
	fd = client(0);
	EXPECT_EQ(0, fcntl(fd, F_GETFL) & O_NONBLOCK);
	EXPECT_EQ(0, fcntl(fd, F_GETFD));
}

/* a socket of which nothing was asked yet */
TEST_F(connect, fresh)
{
	int fd = client(0);
	char buf[8];

	EXPECT_POLL(EV_OUT | POLLHUP, fd);
	EXPECT_ERR(EPIPE, send(fd, "x", 1, 0));
	EXPECT_SIGPIPE();
	EXPECT_ERR(EPIPE, send(fd, "x", 1, MSG_NOSIGNAL));
	EXPECT_ERR(EPIPE, send(fd, "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT));
	EXPECT_NO_SIGPIPE();
	EXPECT_ERR(EPIPE, write(fd, "x", 1));
	EXPECT_SIGPIPE();
	EXPECT_ERR(ENOTCONN, recv(fd, buf, sizeof(buf), 0));
	EXPECT_ERR(ENOTCONN, recv(fd, buf, sizeof(buf), MSG_PEEK));
	EXPECT_ERR(EAGAIN, recv(fd, buf, sizeof(buf), MSG_ERRQUEUE));
	EXPECT_ERR(ENOTCONN, has_peer(fd));
	EXPECT_ERR(EINVAL, accept(fd, NULL, NULL));
	EXPECT_EQ(0, ask(fd, SIOCINQ));
	EXPECT_EQ(0, ask(fd, SIOCOUTQ));
	EXPECT_EQ(0, ask(fd, SIOCATMARK));
	EXPECT_EQ(0, so_error(fd));
	EXPECT_OK(unspec(fd));
	EXPECT_POLL(EV_OUT | POLLHUP, fd);
}

TEST_F(connect, fresh_shutdown)
{
	int fd = client(0);
	char buf[8];

	EXPECT_ERR(EINVAL, shutdown(fd, 3));
	EXPECT_ERR(EINVAL, shutdown(fd, -1));
	EXPECT_ERR(ENOTCONN, shutdown(fd, SHUT_RD));
	EXPECT_POLL(EV_IN | EV_OUT | POLLHUP | POLLRDHUP, fd);
	EXPECT_RET(0, recv(fd, buf, sizeof(buf), 0));
	EXPECT_ERR(ENOTCONN, shutdown(fd, SHUT_WR));
	EXPECT_ERR(ENOTCONN, shutdown(fd, SHUT_RDWR));
	EXPECT_ERR(EPIPE, send(fd, "x", 1, 0));
	EXPECT_SIGPIPE();
}

TEST_F(connect, bad_address)
{
	struct sockaddr_storage ss;
	socklen_t len = host_addr(&ss, 1, 80);
	int fd = client(0);

	EXPECT_ERR(EINVAL, connect(fd, (void *)&ss, 1));
	EXPECT_ERR(EINVAL, connect(fd, (void *)&ss, len - 5));
	EXPECT_ERR(EINVAL, connect(fd, (void *)&ss, 4096));
	EXPECT_ERR(EFAULT, connect(fd, (void *)8, len));
	EXPECT_ERR(EINVAL, bind(fd, (void *)&ss, 1));
	EXPECT_ERR(EINVAL, bind(fd, (void *)&ss, len - 5));
	EXPECT_ERR(EFAULT, bind(fd, (void *)8, len));
	ss.ss_family = AF_UNIX;
	EXPECT_ERR(EAFNOSUPPORT, connect(fd, (void *)&ss, len));
	EXPECT_ERR(EAFNOSUPPORT, bind(fd, (void *)&ss, len));
	ss.ss_family = AF_SMC;
	EXPECT_ERR(EAFNOSUPPORT, connect(fd, (void *)&ss, len));
	EXPECT_ERR(EAFNOSUPPORT, bind(fd, (void *)&ss, len));
	EXPECT_POLL(EV_OUT | POLLHUP, fd);
	EXPECT_EQ(0, so_error(fd));
}

TEST_F(connect, bind_errors)
{
	struct sockaddr_storage ss;
	int a = server(0), b = server(0);
	socklen_t len;

	EXPECT_ERR(EADDRNOTAVAIL, bind_host(a, 0, 0));
	ASSERT_OK(bind_host(a, 1, 0));
	EXPECT_ERR(EINVAL, bind_host(a, 1, 0));
	ASSERT_OK(learn_addr(a));
	EXPECT_EQ(conf.cfg->family, conf.addr.ss_family);
	EXPECT_ERR(EADDRINUSE, bind(b, (void *)&conf.addr, conf.addrlen));
	EXPECT_OK(listen(a, 1));
	EXPECT_ERR(EINVAL, bind_host(a, 1, 0));
	EXPECT_ERR(EADDRINUSE, bind(b, (void *)&conf.addr, conf.addrlen));
	/* the failed ones have left no trace */
	EXPECT_OK(bind_host(b, 1, 0));
	/* a name is there, a peer is not */
	len = sizeof(ss);
	EXPECT_OK(getsockname(b, (void *)&ss, &len));
	EXPECT_EQ(conf.cfg->family, ss.ss_family);
	EXPECT_LT(0, ss_port(&ss));
	EXPECT_ERR(ENOTCONN, has_peer(b));
}

TEST_F(connect, unreachable)
{
	struct sockaddr_storage ss;
	socklen_t len;
	int fd = client(0), l;

	len = make_addr(&ss, conf.cfg->family == AF_INET ? "192.0.2.1" :
			conf.cfg->mapped ? "::ffff:192.0.2.1" : "2001:db8::1",
			80);
	EXPECT_ERR(ENETUNREACH, connect(fd, (void *)&ss, len));
	EXPECT_POLL(EV_OUT | POLLHUP, fd);
	EXPECT_EQ(0, so_error(fd));
	l = listener(0, 1);
	EXPECT_OK(dial(fd));
	close(l);
}

TEST_F(connect, names)
{
	struct sockaddr_storage ss;
	int l, c = client(0), s;
	char text[8];
	socklen_t len;

	l = listener(0, 1);
	ASSERT_OK(bind_host(c, 0, 0));
	ASSERT_OK(dial(c));
	len = sizeof(ss);
	s = accept(l, (void *)&ss, &len);
	ASSERT_LE(0, s);
	EXPECT_EQ(conf.addrlen, len);
	EXPECT_EQ(conf.cfg->family, ss.ss_family);
	conf.addrlen = sizeof(conf.addr);
	EXPECT_OK(getsockname(c, (void *)&conf.addr, &conf.addrlen));
	EXPECT_EQ(0, memcmp(&conf.addr, &ss, len));
	conf.addrlen = sizeof(conf.addr);
	EXPECT_OK(getpeername(s, (void *)&conf.addr, &conf.addrlen));
	EXPECT_EQ(0, memcmp(&conf.addr, &ss, len));
	/* a short buffer is filled, and the length told */
	len = 4;
	EXPECT_OK(getpeername(s, (void *)text, &len));
	EXPECT_EQ(conf.addrlen, len);
	EXPECT_EQ(0, memcmp(text, &ss, 4));
	len = -1;
	EXPECT_ERR(EINVAL, getpeername(s, (void *)&ss, &len));
	len = sizeof(ss);
	EXPECT_ERR(EFAULT, getsockname(s, (void *)8, &len));
	EXPECT_TRUE(passes(c, s));
}

TEST_F(connect, bind_no_port)
{
	int a = client(0), b = client(0), l = listener(0, 5);
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	EXPECT_OK(set_opt(a, SOL_IP, IP_BIND_ADDRESS_NO_PORT, 1));
	EXPECT_OK(bind_host(a, 0, 0));
	EXPECT_OK(getsockname(a, (void *)&ss, &len));
	EXPECT_EQ(0, ss_port(&ss));
	EXPECT_OK(dial(a));
	EXPECT_OK(getsockname(a, (void *)&ss, &len));
	EXPECT_LT(0, ss_port(&ss));
	EXPECT_OK(dial(b));
	close(l);
}

TEST_F(connect, blocking)
{
	int c = client(0), l = listener(0, 1), s;

	ASSERT_OK(dial(c));
	EXPECT_POLL(EV_OUT, c);
	EXPECT_ERR(EISCONN, dial(c));
	EXPECT_ERR(EINVAL, listen(c, 1));
	EXPECT_ERR(EINVAL, bind_host(c, 0, 0));
	EXPECT_ERR(EINVAL, accept(c, NULL, NULL));
	s = accept(l, NULL, NULL);
	EXPECT_POLL(EV_OUT, s);
	EXPECT_ERR(EISCONN, dial(s));
	EXPECT_ERR(EINVAL, listen(s, 1));
	EXPECT_TRUE(passes(c, s));
	EXPECT_TRUE(passes(s, c));
	EXPECT_EQ(0, so_error(c));
	EXPECT_EQ(0, so_error(s));
}

TEST_F(connect, nonblocking)
{
	int c = client(SOCK_NONBLOCK), l = listener(0, 1), s;

	EXPECT_ERR(EINPROGRESS, dial(c));
	EXPECT_TRUE(wait_events(c, POLLOUT));
	EXPECT_POLL(EV_OUT, c);
	EXPECT_EQ(0, so_error(c));
	EXPECT_OK(has_peer(c));
	/* once as the result, then as an error */
	EXPECT_OK(dial(c));
	EXPECT_ERR(EISCONN, dial(c));
	s = accept(l, NULL, NULL);
	EXPECT_ERR(EAGAIN, recv(c, &s, 1, 0));
	EXPECT_TRUE(passes(c, s));
	EXPECT_TRUE(passes(s, c));
}

/* client libraries ask connect() until it says EISCONN */
TEST_F(connect, repeated)
{
	int i, rc, odd = 0, zero = 0;

	for (i = 0; i < 8; i++) {
		int c = client(SOCK_NONBLOCK), l = listener(0, 1), s;
		long end = now_ms() + CONF_LONG;

		EXPECT_ERR(EINPROGRESS, dial(c));
		do {
			rc = CALL(dial(c));
			zero += !rc;
			if (rc && rc != -EALREADY && rc != -EISCONN)
				odd++;
		} while (rc != -EISCONN && now_ms() < end);
		s = accept(l, NULL, NULL);
		EXPECT_TRUE(passes(c, s));
		EXPECT_TRUE(passes(s, c));
		close(c);
		close(s);
		close(l);
	}
	EXPECT_EQ(0, odd);
	EXPECT_EQ(8, zero);
}

TEST_F(connect, refused_blocking)
{
	int c = client(0), no = closed_port(), l, s;

	EXPECT_ERR(ECONNREFUSED, dial(c));
	EXPECT_POLL(EV_OUT | POLLHUP, c);
	EXPECT_EQ(0, so_error(c));
	EXPECT_ERR(ENOTCONN, has_peer(c));
	EXPECT_ERR(ECONNREFUSED, dial(c));
	l = listener(0, 1);
	EXPECT_OK(dial(c));
	s = accept(l, NULL, NULL);
	EXPECT_TRUE(passes(c, s));
	close(no);
}

TEST_F(connect, refused_nonblocking)
{
	int c = client(SOCK_NONBLOCK), no = closed_port(), l, s;
	int failed = EV_IN | EV_OUT | POLLERR | POLLHUP | POLLRDHUP;

	EXPECT_ERR(EINPROGRESS, dial(c));
	EXPECT_POLL(failed, c);
	EXPECT_EQ(ECONNREFUSED, so_error(c));
	EXPECT_EQ(0, so_error(c));
	EXPECT_POLL(failed & ~POLLERR, c);
	/* the error was taken, the attempt was not */
	EXPECT_ERR(ECONNABORTED, dial(c));
	EXPECT_POLL(EV_OUT | POLLHUP, c);
	EXPECT_ERR(EINPROGRESS, dial(c));
	EXPECT_POLL(failed, c);
	EXPECT_ERR(ECONNREFUSED, dial(c));
	EXPECT_ERR(EINPROGRESS, dial(c));
	EXPECT_TRUE(wait_events(c, POLLERR));
	/* a reader gets the error, too, and a writer EPIPE then */
	EXPECT_ERR(ECONNREFUSED, recv(c, &s, 1, 0));
	EXPECT_RET(0, recv(c, &s, 1, 0));
	EXPECT_ERR(EPIPE, send(c, "x", 1, 0));
	EXPECT_SIGPIPE();
	EXPECT_ERR(ECONNABORTED, dial(c));
	l = listener(0, 1);
	EXPECT_ERR(EINPROGRESS, dial(c));
	EXPECT_POLL(EV_OUT, c);
	EXPECT_OK(dial(c));
	s = accept(l, NULL, NULL);
	EXPECT_TRUE(passes(c, s));
	close(no);
}

/* what else may come after the end of a failed attempt */
TEST_F(connect, after_refused)
{
	int fd, no = closed_port();

	fd = client(0);
	EXPECT_ERR(ECONNREFUSED, dial(fd));
	EXPECT_OK(listen(fd, 1));

	fd = client(SOCK_NONBLOCK);
	dial(fd);
	EXPECT_TRUE(wait_events(fd, POLLERR));
	EXPECT_ERR(ECONNREFUSED, send(fd, "x", 1, 0));
	EXPECT_NO_SIGPIPE();
	EXPECT_ERR(EPIPE, send(fd, "x", 1, 0));
	EXPECT_SIGPIPE();

	fd = client(SOCK_NONBLOCK);
	dial(fd);
	EXPECT_TRUE(wait_events(fd, POLLERR));
	EXPECT_ERR(EINVAL, listen(fd, 1));
	EXPECT_ERR(ENOTCONN, shutdown(fd, SHUT_RDWR));
	EXPECT_ERR(EINVAL, dial(fd));

	fd = client(SOCK_NONBLOCK);
	dial(fd);
	EXPECT_TRUE(wait_events(fd, POLLERR));
	EXPECT_OK(unspec(fd));
	EXPECT_POLL(EV_OUT | POLLHUP | POLLERR, fd);
	EXPECT_EQ(ECONNREFUSED, so_error(fd));
	EXPECT_ERR(EINPROGRESS, dial(fd));
	close(no);
}

/* an attempt that nobody answers */
TEST_F(connect, in_progress)
{
	int filler, no = silent_port(&filler), c = client(SOCK_NONBLOCK);
	char buf[4];

	ASSERT_LE(0, no);
	EXPECT_ERR(EINPROGRESS, dial(c));
	EXPECT_POLL(0, c);
	EXPECT_ERR(EALREADY, dial(c));
	EXPECT_ERR(EAGAIN, send(c, buf, 4, 0));
	EXPECT_ERR(EAGAIN, recv(c, buf, 4, 0));
	EXPECT_ERR(ENOTCONN, has_peer(c));
	EXPECT_EQ(0, ask(c, SIOCINQ));
	EXPECT_EQ(0, ask(c, SIOCOUTQ));
	EXPECT_EQ(0, so_error(c));
	EXPECT_ERR(EINVAL, listen(c, 1));
	EXPECT_ERR(EINVAL, bind_host(c, 0, 0));
	EXPECT_ERR(EINVAL, accept(c, NULL, NULL));
	EXPECT_NO_SIGPIPE();
	EXPECT_OK(unspec(c));
	EXPECT_EQ(ECONNRESET, so_error(c));
	EXPECT_POLL(EV_OUT | POLLHUP, c);
	EXPECT_ERR(EINPROGRESS, dial(c));
	EXPECT_OK(shutdown(c, SHUT_WR));
	EXPECT_TRUE(wait_events(c, POLLHUP));
	EXPECT_EQ(ECONNRESET, so_error(c));
	EXPECT_ERR(EINPROGRESS, dial(c));
}

/* the answer comes late */
TEST_F(connect, late_answer)
{
	int filler, no = silent_port(&filler), c = client(0);
	struct job job;

	ASSERT_LE(0, no);
	EXPECT_TRUE(job_start(&job, job_dial, c));
	close(accept(no, NULL, NULL));
	EXPECT_EQ(0, job_result(&job));
	EXPECT_POLL(EV_OUT, c);
}

TEST_F(connect, send_timeout)
{
	int filler, no = silent_port(&filler), c = client(0);
	long t0 = now_ms();
	char buf[4];

	ASSERT_LE(0, no);
	EXPECT_OK(set_timeo(c, SO_SNDTIMEO, 100));
	EXPECT_OK(set_timeo(c, SO_RCVTIMEO, 100));
	EXPECT_ERR(EINPROGRESS, dial(c));
	EXPECT_LE(80, now_ms() - t0);
	EXPECT_ERR(EALREADY, dial(c));
	t0 = now_ms();
	EXPECT_ERR(EAGAIN, send(c, buf, 1, 0));
	EXPECT_LE(80, now_ms() - t0);
	t0 = now_ms();
	EXPECT_ERR(EAGAIN, recv(c, buf, 1, 0));
	EXPECT_LE(80, now_ms() - t0);
	EXPECT_POLL(0, c);
	/* it goes on by itself */
	close(accept(no, NULL, NULL));
	EXPECT_POLL(EV_OUT, c);
	EXPECT_OK(dial(c));
}

/* nothing was sent with SO_SNDTIMEO in nonblocking mode */
TEST_F(connect, timeout_nonblocking)
{
	int filler, no = silent_port(&filler), c = client(SOCK_NONBLOCK);

	ASSERT_LE(0, no);
	EXPECT_OK(set_timeo(c, SO_SNDTIMEO, 50));
	EXPECT_ERR(EINPROGRESS, dial(c));
	sleep_ms(100);
	EXPECT_POLL(0, c);
	EXPECT_ERR(EALREADY, dial(c));
	EXPECT_EQ(0, so_error(c));
}

TEST_F(connect, interrupted)
{
	int filler, no = silent_port(&filler), c = client(0);
	struct job job;

	ASSERT_LE(0, no);
	EXPECT_TRUE(job_start(&job, job_dial, c));
	EXPECT_EQ(-EINTR, interrupt(&job, 0));
	EXPECT_EQ(1, sig_taken(SIGUSR1));
	/* it goes on, and the next call waits for it */
	EXPECT_TRUE(job_start(&job, job_dial, c));
	close(accept(no, NULL, NULL));
	EXPECT_EQ(0, job_result(&job));
	EXPECT_POLL(EV_OUT, c);
}

TEST_F(connect, restarted)
{
	int filler, no = silent_port(&filler), c = client(0);
	struct job job;

	ASSERT_LE(0, no);
	EXPECT_TRUE(job_start(&job, job_dial, c));
	EXPECT_EQ(-EALREADY, interrupt(&job, SA_RESTART));
	EXPECT_EQ(1, sig_taken(SIGUSR1));
	close(accept(no, NULL, NULL));
	EXPECT_EQ(0, job_result(&job));
}

/* another thread takes the attempt back */
TEST_F(connect, disconnected)
{
	int filler, no = silent_port(&filler), c = client(0);
	struct job job;

	ASSERT_LE(0, no);
	EXPECT_TRUE(job_start(&job, job_dial, c));
	EXPECT_OK(unspec(c));
	EXPECT_GT(0, job_result(&job));
	close(no);
}

TEST_F(connect, unspec_connected)
{
	int fds[2] = {}, l, s;

	ASSERT_OK(make_pair(fds));
	EXPECT_OK(unspec(fds[0]));
	EXPECT_EQ(-ECONNRESET, recv_next(fds[1]));
	EXPECT_POLL(EV_OUT | POLLHUP | POLLERR, fds[0]);
	EXPECT_EQ(ECONNRESET, so_error(fds[0]));
	EXPECT_POLL(EV_OUT | POLLHUP, fds[0]);
	EXPECT_ERR(ENOTCONN, has_peer(fds[0]));
	l = listener(0, 1);
	EXPECT_OK(dial(fds[0]));
	s = accept(l, NULL, NULL);
	EXPECT_TRUE(passes(fds[0], s));
	EXPECT_TRUE(passes(s, fds[0]));
	EXPECT_POLL(EV_OUT, fds[0]);
	close(s);
	EXPECT_EQ(0, recv_next(fds[0]));
	EXPECT_OK(unspec(fds[0]));
	/* the error of the one before is forgotten, and the socket may listen */
	EXPECT_ERR(ECONNREFUSED, dial((close(l), fds[0])));
	EXPECT_EQ(0, so_error(fds[0]));
	EXPECT_OK(listen(fds[0], 1));
}

/* a thread that reads when the connection is taken away */
TEST_F(connect, unspec_under_reader)
{
	struct job job;
	int fds[2] = {};

	ASSERT_OK(make_pair(fds));
	EXPECT_TRUE(job_start(&job, job_recv, fds[0]));
	EXPECT_OK(unspec(fds[0]));
	EXPECT_GE(0, job_result(&job));
	EXPECT_EQ(-ECONNRESET, recv_next(fds[1]));
}

/* an accepted socket becomes a client */
TEST_F(connect, unspec_accepted)
{
	int fds[2] = {}, l, s;

	ASSERT_OK(make_pair(fds));
	EXPECT_RET(3, send(fds[0], "abc", 3, 0));
	EXPECT_TRUE(wait_readable(fds[1]));
	EXPECT_OK(unspec(fds[1]));
	EXPECT_EQ(-ECONNRESET, recv_next(fds[0]));
	l = listener(0, 1);
	EXPECT_OK(dial(fds[1]));
	s = accept(l, NULL, NULL);
	EXPECT_TRUE(passes(fds[1], s));
	close(fds[1]);
	EXPECT_EQ(0, recv_next(s));
}

TEST_F(connect, unspec_listener)
{
	int l = listener(0, 5), c = client(0);

	EXPECT_OK(unspec(l));
	EXPECT_ERR(EINVAL, accept(l, NULL, NULL));
	EXPECT_EQ(0, get_opt(l, SOL_SOCKET, SO_ACCEPTCONN));
	EXPECT_ERR(ECONNREFUSED, dial(c));
	EXPECT_OK(listen(l, 5));
	EXPECT_OK(learn_addr(l));
	EXPECT_OK(dial(c));
}

/* both sides of it are clients: nothing SMC could carry */
TEST_F(connect, to_self)
{
	int fd = server(0);

	ASSERT_OK(bind_host(fd, 1, 0));
	ASSERT_OK(learn_addr(fd));
	EXPECT_OK(dial(fd));
	EXPECT_TRUE(passes(fd, fd));
}

/* closed while connecting: the peer is never left with a live connection */
TEST_F(connect, closed_meanwhile)
{
	int l = listener(SOCK_NONBLOCK, 50), i, s, n = 0;
	long rc;

	for (i = 0; i < 16; i++) {
		int c = client(SOCK_NONBLOCK);

		EXPECT_ERR(EINPROGRESS, dial(c));
		if (i % 3)
			usleep(i * 300);
		close(c);
	}
	while (poll_events(l, POLLIN, 200) & POLLIN) {
		s = accept(l, NULL, NULL);
		if (s < 0)
			continue;
		rc = recv_next(s);
		EXPECT_GE(0, rc);
		EXPECT_NE(-ETIMEDOUT, rc);
		close(s);
		n++;
	}
	TH_LOG("%d of 16 came through", n);
}

/* two attempts, the slower one is given up: no effect on the other */
TEST_F(connect, happy_eyeballs)
{
	int filler, no = silent_port(&filler), slow = client(SOCK_NONBLOCK);
	int fast = client(SOCK_NONBLOCK), l, s;

	ASSERT_LE(0, no);
	EXPECT_ERR(EINPROGRESS, dial(slow));
	l = listener(0, 1);
	EXPECT_ERR(EINPROGRESS, dial(fast));
	EXPECT_TRUE(wait_events(fast, POLLOUT));
	close(slow);
	s = accept(l, NULL, NULL);
	EXPECT_TRUE(passes(fast, s));
	EXPECT_TRUE(passes(s, fast));
}

/* the client has gone before the server looks */
TEST_F(connect, gone_before_accept)
{
	int c = client(0), l = listener(0, 1), s;

	ASSERT_OK(dial(c));
	EXPECT_RET(3, send(c, "bye", 3, 0));
	close(c);
	s = accept(l, NULL, NULL);
	ASSERT_LE(0, s);
	EXPECT_EQ(3, recv_next(s));
	EXPECT_EQ(0, recv_next(s));
}

TEST_HARNESS_MAIN
