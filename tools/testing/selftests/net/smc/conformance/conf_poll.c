// SPDX-License-Identifier: GPL-2.0
/*
 * poll(2), select(2), epoll(7): what is reported in each state, and which
 * events come, with waiters from before and after the connection was made (and
 * so before and after SMC has turned it over to TCP).
 */
#include <sys/select.h>

#include "conf.h"

FIXTURE_ALONE(early);
FIXTURE_PAIR(poll);

#define EP_ALL	(EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI)

static int ep_new(int fd, unsigned int events)
{
	struct epoll_event ev = { .events = events, .data.fd = fd };
	int ep = epoll_create1(EPOLL_CLOEXEC);

	return epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev) ? -1 : ep;
}

static int ep_mod(int ep, int fd, unsigned int events)
{
	struct epoll_event ev = { .events = events, .data.fd = fd };

	return epoll_ctl(ep, EPOLL_CTL_MOD, fd, &ev);
}

/* events of the next report; 0 none in this time */
static unsigned int ep_next(int ep, int ms)
{
	struct epoll_event ev;

	return epoll_wait(ep, &ev, 1, ms) == 1 ? ev.events : 0;
}

/* wait for a report with @events; false if it does not come */
static bool ep_sees(int ep, unsigned int events)
{
	long end = now_ms() + CONF_LONG;

	while ((ep_next(ep, 100) & events) != events)
		if (now_ms() > end)
			return false;
	return true;
}

TEST_F(poll, readable)
{
	char buf[8];

	EXPECT_POLL(EV_OUT, self->c);
	EXPECT_POLL(EV_OUT, self->s);
	EXPECT_RET(2, send(self->s, "ab", 2, 0));
	EXPECT_POLL(EV_IN | EV_OUT, self->c);
	EXPECT_RET(1, recv(self->c, buf, 1, 0));
	EXPECT_POLL(EV_IN | EV_OUT, self->c);
	EXPECT_RET(1, recv(self->c, buf, 8, 0));
	EXPECT_POLL(EV_OUT, self->c);
}

/* what the two ends report after shutdown(c, how) */
TEST_F(poll, shutdown_wr)
{
	EXPECT_OK(shutdown(self->c, SHUT_WR));
	EXPECT_POLL(EV_OUT, self->c);
	EXPECT_POLL(EV_IN | EV_OUT | POLLRDHUP, self->s);
	EXPECT_OK(shutdown(self->s, SHUT_WR));
	EXPECT_POLL(EV_IN | EV_OUT | POLLRDHUP | POLLHUP, self->c);
	EXPECT_POLL(EV_IN | EV_OUT | POLLRDHUP | POLLHUP, self->s);
}

TEST_F(poll, shutdown_rd)
{
	EXPECT_OK(shutdown(self->c, SHUT_RD));
	EXPECT_POLL(EV_IN | EV_OUT | POLLRDHUP, self->c);
	sleep_ms(CONF_SHORT);
	EXPECT_POLL(EV_OUT, self->s);
}

TEST_F(poll, shutdown_rdwr)
{
	EXPECT_OK(shutdown(self->c, SHUT_RDWR));
	EXPECT_POLL(EV_IN | EV_OUT | POLLRDHUP | POLLHUP, self->c);
	EXPECT_POLL(EV_IN | EV_OUT | POLLRDHUP, self->s);
}

TEST_F(poll, peer_closed)
{
	EXPECT_RET(1, send(self->s, "x", 1, 0));
	close(self->s);
	EXPECT_POLL(EV_IN | EV_OUT | POLLRDHUP, self->c);
	EXPECT_EQ(1, recv_next(self->c));
	EXPECT_POLL(EV_IN | EV_OUT | POLLRDHUP, self->c);
	EXPECT_EQ(0, recv_next(self->c));
	EXPECT_POLL(EV_IN | EV_OUT | POLLRDHUP, self->c);
}

TEST_F(poll, peer_reset)
{
	int gone = EV_IN | EV_OUT | POLLRDHUP | POLLHUP;

	EXPECT_OK(set_linger(self->s, 1, 0));
	close(self->s);
	EXPECT_POLL(gone | POLLERR, self->c);
	EXPECT_EQ(ECONNRESET, so_error(self->c));
	EXPECT_POLL(gone, self->c);
}

TEST_F(poll, rcvlowat)
{
	EXPECT_OK(set_opt(self->c, SOL_SOCKET, SO_RCVLOWAT, 3));
	EXPECT_RET(2, send(self->s, "ab", 2, 0));
	EXPECT_EQ(2, ask_becomes(self->c, SIOCINQ, 2));
	EXPECT_POLL(EV_OUT, self->c);
	EXPECT_RET(1, send(self->s, "c", 1, 0));
	EXPECT_POLL(EV_IN | EV_OUT, self->c);
	EXPECT_OK(set_opt(self->c, SOL_SOCKET, SO_RCVLOWAT, 4));
	EXPECT_POLL(EV_OUT, self->c);
	EXPECT_OK(set_opt(self->c, SOL_SOCKET, SO_RCVLOWAT, 0));
	EXPECT_POLL(EV_IN | EV_OUT, self->c);
	/* the end counts, whatever is wanted */
	EXPECT_OK(set_opt(self->c, SOL_SOCKET, SO_RCVLOWAT, 100));
	EXPECT_OK(shutdown(self->s, SHUT_WR));
	EXPECT_POLL(EV_IN | EV_OUT | POLLRDHUP, self->c);
}

/* waiting for more bytes, the limit changes */
TEST_F(poll, rcvlowat_wakes)
{
	struct job job;

	EXPECT_OK(set_opt(self->c, SOL_SOCKET, SO_RCVLOWAT, 3));
	EXPECT_RET(2, send(self->s, "ab", 2, 0));
	EXPECT_EQ(2, ask_becomes(self->c, SIOCINQ, 2));
	EXPECT_TRUE(job_start(&job, job_poll_in, self->c));
	EXPECT_OK(set_opt(self->c, SOL_SOCKET, SO_RCVLOWAT, 2));
	EXPECT_EQ(POLLIN, job_result(&job));
}

TEST_F(poll, space)
{
	long n;

	EXPECT_OK(set_nonblock(self->c, true));
	n = fill_up(self->c);
	EXPECT_LT(0, n);
	EXPECT_POLL(0, self->c);
	EXPECT_EQ(n, drain(self->s, n));
	EXPECT_POLL(EV_OUT, self->c);
}

/* a writer that is told of space finds a reasonable amount of it */
TEST_F(poll, space_edge)
{
	int ep = ep_new(self->c, EPOLLOUT | EPOLLET), i;
	long n, more;

	EXPECT_OK(set_nonblock(self->c, true));
	EXPECT_EQ((unsigned int)EPOLLOUT, ep_next(ep, 0));
	EXPECT_EQ(0U, ep_next(ep, CONF_SHORT));
	for (i = 0; i < 5; i++) {
		n = 0;
		do {
			n += fill_up(self->c);
			while (ep_next(ep, 0))
				;
		} while (poll_now(self->c) & POLLOUT);
		EXPECT_LT(0, n);
		EXPECT_LT(0, drain(self->s, n));
		EXPECT_TRUE(ep_sees(ep, EPOLLOUT));
		more = send(self->c, &conf, sizeof(conf), MSG_DONTWAIT);
		EXPECT_EQ((long)sizeof(conf), more);
		drain(self->s, more);
	}
}

TEST_F(poll, edge)
{
	int ep = ep_new(self->c, EP_ALL | EPOLLET);
	char buf[8];

	EXPECT_EQ((unsigned int)EPOLLOUT, ep_next(ep, 0));
	EXPECT_EQ(0U, ep_next(ep, CONF_SHORT));
	EXPECT_RET(1, send(self->s, "x", 1, 0));
	EXPECT_TRUE(ep_sees(ep, EPOLLIN));
	EXPECT_EQ(0U, ep_next(ep, CONF_SHORT));
	/* not read: each arrival is an event all the same */
	EXPECT_RET(1, send(self->s, "x", 1, 0));
	EXPECT_TRUE(ep_sees(ep, EPOLLIN));
	EXPECT_RET(2, recv(self->c, buf, 8, 0));
	EXPECT_EQ(0U, ep_next(ep, CONF_SHORT));
	EXPECT_OK(shutdown(self->s, SHUT_WR));
	EXPECT_TRUE(ep_sees(ep, EPOLLIN | EPOLLRDHUP));
	EXPECT_EQ(0U, ep_next(ep, CONF_SHORT));
	EXPECT_OK(shutdown(self->c, SHUT_WR));
	EXPECT_TRUE(ep_sees(ep, EPOLLHUP));
}

TEST_F(poll, level)
{
	int ep = ep_new(self->c, EPOLLIN | EPOLLRDHUP);
	char buf[8];

	EXPECT_EQ(0U, ep_next(ep, 0));
	EXPECT_RET(1, send(self->s, "x", 1, 0));
	EXPECT_TRUE(ep_sees(ep, EPOLLIN));
	EXPECT_EQ((unsigned int)EPOLLIN, ep_next(ep, 0));
	EXPECT_RET(1, recv(self->c, buf, 8, 0));
	EXPECT_EQ(0U, ep_next(ep, CONF_SHORT));
	close(self->s);
	EXPECT_TRUE(ep_sees(ep, EPOLLIN | EPOLLRDHUP));
	EXPECT_EQ((unsigned int)(EPOLLIN | EPOLLRDHUP), ep_next(ep, 0));
}

TEST_F(poll, oneshot)
{
	unsigned int once = EPOLLIN | EPOLLONESHOT;
	int ep = ep_new(self->c, once);

	EXPECT_RET(1, send(self->s, "x", 1, 0));
	EXPECT_EQ((unsigned int)EPOLLIN, ep_next(ep, CONF_LONG));
	EXPECT_EQ(0U, ep_next(ep, 0));
	EXPECT_RET(1, send(self->s, "x", 1, 0));
	EXPECT_EQ(0U, ep_next(ep, CONF_SHORT));
	/* armed again it tells what there is */
	EXPECT_OK(ep_mod(ep, self->c, once));
	EXPECT_EQ((unsigned int)EPOLLIN, ep_next(ep, 0));
	EXPECT_OK(ep_mod(ep, self->c, EPOLLOUT | EPOLLONESHOT));
	EXPECT_EQ((unsigned int)EPOLLOUT, ep_next(ep, 0));
	EXPECT_EQ(0U, ep_next(ep, CONF_SHORT));
}

TEST_F(poll, removed)
{
	int ep = ep_new(self->c, EPOLLIN);

	EXPECT_OK(epoll_ctl(ep, EPOLL_CTL_DEL, self->c, NULL));
	EXPECT_ERR(ENOENT, ep_mod(ep, self->c, EPOLLIN));
	EXPECT_RET(1, send(self->s, "x", 1, 0));
	EXPECT_EQ(0U, ep_next(ep, CONF_SHORT));
}

/* close() takes a socket out of the set */
TEST_F(poll, closed)
{
	int ep = ep_new(self->c, EP_ALL);

	close(self->c);
	EXPECT_EQ(0U, ep_next(ep, CONF_SHORT));
}

TEST_F(poll, reset_edge)
{
	int ep = ep_new(self->c, EP_ALL | EPOLLET);

	ep_next(ep, 0);
	EXPECT_OK(set_linger(self->s, 1, 0));
	close(self->s);
	EXPECT_TRUE(ep_sees(ep, EPOLLIN | EPOLLERR | EPOLLHUP | EPOLLRDHUP));
}

/* sleepers in poll() are woken by each kind of end */
TEST_F(poll, wakes_data)
{
	struct job job;

	EXPECT_TRUE(job_start(&job, job_poll_in, self->c));
	EXPECT_RET(1, send(self->s, "x", 1, 0));
	EXPECT_EQ(POLLIN, job_result(&job));
}

TEST_F(poll, wakes_close)
{
	struct job job;

	EXPECT_TRUE(job_start(&job, job_poll_in, self->c));
	close(self->s);
	EXPECT_EQ(POLLIN, job_result(&job));
}

TEST_F(poll, wakes_own_shutdown)
{
	struct job job;

	EXPECT_TRUE(job_start(&job, job_poll_in, self->c));
	EXPECT_OK(shutdown(self->c, SHUT_RD));
	EXPECT_EQ(POLLIN, job_result(&job));
}

TEST_F(poll, interrupted)
{
	struct job job;

	sig_catch(SIGUSR1, SA_RESTART);
	EXPECT_TRUE(job_start(&job, job_poll_in, self->c));
	pthread_kill(job.thread, SIGUSR1);
	EXPECT_EQ(-EINTR, job_result(&job));
}

TEST_F(poll, select)
{
	struct timeval tv = { CONF_LONG / 1000, 0 };
	fd_set r, w, x;

	FD_ZERO(&r);
	FD_ZERO(&w);
	FD_ZERO(&x);
	FD_SET(self->c, &r);
	FD_SET(self->c, &w);
	FD_SET(self->c, &x);
	EXPECT_RET(1, select(self->c + 1, &r, &w, &x, &tv));
	EXPECT_FALSE(FD_ISSET(self->c, &r));
	EXPECT_TRUE(FD_ISSET(self->c, &w));
	EXPECT_FALSE(FD_ISSET(self->c, &x));
	close(self->s);
	FD_ZERO(&r);
	FD_SET(self->c, &r);
	EXPECT_RET(1, select(self->c + 1, &r, NULL, NULL, &tv));
	EXPECT_TRUE(FD_ISSET(self->c, &r));
}

/* registered before connect(): the events of a connection's whole life */
TEST_F(early, edge)
{
	int l = listener(0, 1), c = client(SOCK_NONBLOCK), s, ep;
	char buf[8];

	ep = ep_new(c, EP_ALL | EPOLLET);
	EXPECT_EQ((unsigned int)(EPOLLOUT | EPOLLHUP), ep_next(ep, 0));
	EXPECT_EQ(0U, ep_next(ep, 0));
	EXPECT_ERR(EINPROGRESS, dial(c));
	EXPECT_TRUE(ep_sees(ep, EPOLLOUT));
	EXPECT_OK(dial(c));
	s = accept(l, NULL, NULL);
	EXPECT_RET(1, send(s, "x", 1, 0));
	EXPECT_TRUE(ep_sees(ep, EPOLLIN));
	EXPECT_RET(1, recv(c, buf, 8, 0));
	EXPECT_EQ(0U, ep_next(ep, CONF_SHORT));
	EXPECT_OK(shutdown(s, SHUT_WR));
	EXPECT_TRUE(ep_sees(ep, EPOLLIN | EPOLLRDHUP));
	close(s);
	EXPECT_OK(shutdown(c, SHUT_WR));
	EXPECT_TRUE(ep_sees(ep, EPOLLHUP));
}

TEST_F(early, level)
{
	int l = listener(0, 1), c = client(SOCK_NONBLOCK), s, ep;

	ep = ep_new(c, EPOLLIN | EPOLLOUT);
	EXPECT_ERR(EINPROGRESS, dial(c));
	EXPECT_TRUE(ep_sees(ep, EPOLLOUT));
	EXPECT_OK(ep_mod(ep, c, EPOLLIN));
	s = accept(l, NULL, NULL);
	EXPECT_EQ(0U, ep_next(ep, CONF_SHORT));
	EXPECT_RET(1, send(s, "x", 1, 0));
	EXPECT_EQ((unsigned int)EPOLLIN, ep_next(ep, CONF_LONG));
	/* taken out by the descriptor it came by */
	EXPECT_OK(epoll_ctl(ep, EPOLL_CTL_DEL, c, NULL));
	EXPECT_EQ(0U, ep_next(ep, 0));
	EXPECT_OK(epoll_ctl(ep, EPOLL_CTL_ADD, c,
			    &(struct epoll_event){ .events = EPOLLIN }));
	EXPECT_EQ((unsigned int)EPOLLIN, ep_next(ep, 0));
}

TEST_F(early, refused)
{
	int no = closed_port(), c = client(SOCK_NONBLOCK), ep;

	ep = ep_new(c, EP_ALL | EPOLLET);
	ep_next(ep, 0);
	EXPECT_ERR(EINPROGRESS, dial(c));
	EXPECT_TRUE(ep_sees(ep, EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP |
			    EPOLLRDHUP));
	close(no);
}

/* a failed attempt is readable and writable for select() */
TEST_F(early, refused_select)
{
	int no = closed_port(), c = client(SOCK_NONBLOCK);
	struct timeval tv = { CONF_LONG / 1000, 0 };
	fd_set r, w;

	EXPECT_ERR(EINPROGRESS, dial(c));
	FD_ZERO(&r);
	FD_ZERO(&w);
	FD_SET(c, &r);
	FD_SET(c, &w);
	EXPECT_RET(2, select(c + 1, &r, &w, NULL, &tv));
	EXPECT_EQ(ECONNREFUSED, so_error(c));
	close(no);
}

/* a thread that polls for input since before the handshake */
TEST_F(early, poller)
{
	int filler, no = silent_port(&filler), c = client(SOCK_NONBLOCK), s;
	struct job job;

	ASSERT_LE(0, no);
	EXPECT_ERR(EINPROGRESS, dial(c));
	EXPECT_TRUE(job_start(&job, job_poll_in, c));
	close(accept(no, NULL, NULL));
	EXPECT_POLL(EV_OUT, c);
	s = accept(no, NULL, NULL);
	ASSERT_LE(0, s);
	sleep_ms(CONF_SHORT);
	EXPECT_FALSE(job.done);
	EXPECT_RET(1, send(s, "x", 1, 0));
	EXPECT_EQ(POLLIN, job_result(&job));
}

/* a reader that sleeps since before the handshake */
TEST_F(early, reader)
{
	int l = listener(0, 1), c = client(SOCK_NONBLOCK), s;
	struct job job;

	EXPECT_ERR(EINPROGRESS, dial(c));
	EXPECT_OK(set_nonblock(c, false));
	job_start(&job, job_recv, c);
	s = accept(l, NULL, NULL);
	EXPECT_RET(3, send(s, "abc", 3, 0));
	EXPECT_EQ(3, job_result(&job));
}

/* one event for each connection, with as many waiters as one likes */
TEST_F(early, listener_exclusive)
{
	int l = listener(SOCK_NONBLOCK, 8), ep[3], i, n = 0;
	struct epoll_event ev = { .events = EPOLLIN | EPOLLEXCLUSIVE };

	for (i = 0; i < 3; i++) {
		ep[i] = epoll_create1(0);
		ASSERT_OK(epoll_ctl(ep[i], EPOLL_CTL_ADD, l, &ev));
		EXPECT_EQ(0U, ep_next(ep[i], 0));
	}
	ASSERT_OK(dial(client(0)));
	EXPECT_TRUE(wait_readable(l));
	for (i = 0; i < 3; i++)
		n += ep_next(ep[i], CONF_SHORT) == EPOLLIN;
	EXPECT_LE(1, n);
	EXPECT_LE(0, accept(l, NULL, NULL));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(0U, ep_next(ep[i], 0));
	ASSERT_OK(dial(client(0)));
	EXPECT_TRUE(wait_readable(l));
	n = 0;
	for (i = 0; i < 3; i++)
		n += ep_next(ep[i], CONF_SHORT) == EPOLLIN;
	EXPECT_LE(1, n);
}

/* the loop of every event driven server */
TEST_F(early, listener_edge)
{
	int l = listener(SOCK_NONBLOCK, 16), ep, i, n = 0;
	long end = now_ms() + CONF_LONG;

	ep = ep_new(l, EPOLLIN | EPOLLET);
	for (i = 0; i < 8; i++)
		dial(client(SOCK_NONBLOCK));
	while (n < 8 && now_ms() < end) {
		if (!ep_next(ep, 200))
			continue;
		while (accept(l, NULL, NULL) >= 0)
			n++;
		EXPECT_EQ(EAGAIN, errno);
	}
	EXPECT_EQ(8, n);
	EXPECT_EQ(0U, ep_next(ep, CONF_SHORT));
}

TEST_F(early, two_sets)
{
	int l = listener(0, 1), c = client(SOCK_NONBLOCK), s, a, b;

	a = ep_new(c, EPOLLIN | EPOLLET);
	ep_next(a, 0);
	EXPECT_ERR(EINPROGRESS, dial(c));
	EXPECT_TRUE(wait_events(c, POLLOUT));
	b = ep_new(c, EPOLLIN | EPOLLET);
	s = accept(l, NULL, NULL);
	while (ep_next(a, CONF_SHORT))
		;
	EXPECT_RET(1, send(s, "x", 1, 0));
	EXPECT_TRUE(ep_sees(a, EPOLLIN));
	EXPECT_TRUE(ep_sees(b, EPOLLIN));
	EXPECT_OK(epoll_ctl(a, EPOLL_CTL_DEL, c, NULL));
	EXPECT_RET(1, send(s, "x", 1, 0));
	EXPECT_TRUE(ep_sees(b, EPOLLIN));
}

TEST_HARNESS_MAIN
