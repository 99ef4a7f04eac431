// SPDX-License-Identifier: GPL-2.0
/*
 * Urgent data: MSG_OOB, SO_OOBINLINE, SIOCATMARK, POLLPRI, SIGURG.
 */
#include "conf.h"

FIXTURE_PAIR(urgent);

/* the byte has come, and @n bytes are in front of it */
static bool urgent_there(int fd)
{
	return wait_events(fd, POLLPRI);
}

TEST_F(urgent, none)
{
	char b;

	EXPECT_ERR(EINVAL, recv(self->s, &b, 1, MSG_OOB));
	EXPECT_EQ(0, ask(self->s, SIOCATMARK));
	EXPECT_TRUE(passes(self->c, self->s));
	EXPECT_ERR(EINVAL, recv(self->s, &b, 1, MSG_OOB));
}

TEST_F(urgent, aside)
{
	char buf[8] = "", b = 0;

	EXPECT_RET(3, send(self->c, "abX", 3, MSG_OOB));
	EXPECT_RET(2, send(self->c, "cd", 2, 0));
	EXPECT_TRUE(urgent_there(self->s));
	EXPECT_EQ(2, ask_becomes(self->s, SIOCINQ, 2));
	EXPECT_EQ(0, ask(self->s, SIOCATMARK));
	EXPECT_RET(1, recv(self->s, &b, 1, MSG_OOB | MSG_PEEK));
	EXPECT_EQ('X', b);
	b = 0;
	EXPECT_RET(1, recv(self->s, &b, 1, MSG_OOB));
	EXPECT_EQ('X', b);
	EXPECT_ERR(EINVAL, recv(self->s, &b, 1, MSG_OOB));
	EXPECT_POLL(EV_IN | EV_OUT, self->s);
	/* reads stop at the mark, and the next skips the byte */
	EXPECT_RET(2, recv(self->s, buf, 8, 0));
	EXPECT_EQ(1, ask(self->s, SIOCATMARK));
	EXPECT_EQ(2, recv_all(self->s, buf, 2));
	EXPECT_EQ(0, memcmp(buf, "cd", 2));
	EXPECT_EQ(0, ask(self->s, SIOCATMARK));
}

TEST_F(urgent, skipped)
{
	char buf[8], b;

	EXPECT_RET(1, send(self->c, "X", 1, MSG_OOB));
	EXPECT_TRUE(urgent_there(self->s));
	EXPECT_EQ(1, ask(self->s, SIOCATMARK));
	/* a call for nothing does not skip it */
	EXPECT_RET(0, recv(self->s, buf, 0, MSG_DONTWAIT));
	EXPECT_EQ(1, ask(self->s, SIOCATMARK));
	EXPECT_ERR(EAGAIN, recv(self->s, buf, 8, MSG_DONTWAIT));
	EXPECT_RET(2, send(self->c, "cd", 2, 0));
	EXPECT_EQ(2, recv_next(self->s));
	/* passed, not read: gone */
	EXPECT_ERR(EINVAL, recv(self->s, &b, 1, MSG_OOB));
	EXPECT_POLL(EV_OUT, self->s);
}

TEST_F(urgent, in_line)
{
	char buf[8] = "", b;

	EXPECT_OK(set_opt(self->s, SOL_SOCKET, SO_OOBINLINE, 1));
	EXPECT_RET(3, send(self->c, "abX", 3, MSG_OOB));
	EXPECT_RET(2, send(self->c, "cd", 2, 0));
	EXPECT_TRUE(urgent_there(self->s));
	if (!differs(DIFF_URGENT))
		EXPECT_EQ(5, ask_becomes(self->s, SIOCINQ, 5));
	EXPECT_ERR(EINVAL, recv(self->s, &b, 1, MSG_OOB));
	EXPECT_RET(2, recv(self->s, buf, 8, 0));
	EXPECT_EQ(1, ask(self->s, SIOCATMARK));
	EXPECT_EQ(3, recv_all(self->s, buf, 3));
	EXPECT_EQ(0, memcmp(buf, "Xcd", 3));
}

/* the second one makes an ordinary byte of the first */
TEST_F(urgent, twice)
{
	long end = now_ms() + CONF_LONG;
	char buf[8] = "", b = 0;

	EXPECT_RET(2, send(self->c, "aX", 2, MSG_OOB));
	EXPECT_TRUE(urgent_there(self->s));
	EXPECT_RET(2, send(self->c, "bY", 2, MSG_OOB));
	if (differs(DIFF_URGENT)) {
		/* it comes when the first one is behind the reader */
		while (b != 'Y' && now_ms() < end) {
			recv(self->s, buf, 8, MSG_DONTWAIT);
			recv(self->s, &b, 1, MSG_OOB);
		}
		EXPECT_EQ('Y', b);
		return;
	}
	EXPECT_EQ(3, ask_becomes(self->s, SIOCINQ, 3));
	EXPECT_RET(1, recv(self->s, &b, 1, MSG_OOB));
	EXPECT_EQ('Y', b);
	EXPECT_EQ(3, recv_all(self->s, buf, 3));
	EXPECT_EQ(0, memcmp(buf, "aXb", 3));
	EXPECT_EQ(1, ask(self->s, SIOCATMARK));
}

TEST_F(urgent, signal)
{
	sig_catch(SIGURG, SA_RESTART);
	EXPECT_OK(fcntl(self->s, F_SETOWN, getpid()));
	EXPECT_RET(1, send(self->c, "X", 1, MSG_OOB));
	EXPECT_TRUE(urgent_there(self->s));
	sleep_ms(CONF_SHORT);
	EXPECT_LE(1, sig_taken(SIGURG));
	EXPECT_TRUE(passes(self->c, self->s));
	EXPECT_EQ(0, sig_taken(SIGURG));
}

/* it passes when nothing else does */
TEST_F(urgent, full)
{
	long n;

	EXPECT_OK(set_nonblock(self->c, true));
	n = fill_up(self->c);
	EXPECT_LT(0, n);
	EXPECT_LT(0, drain(self->s, 4096));
	/* some space comes back, for one byte at least */
	EXPECT_LT(0, drain(self->s, n - 4096));
	EXPECT_POLL(EV_OUT, self->c);
	EXPECT_RET(1, send(self->c, "X", 1, MSG_OOB));
	EXPECT_TRUE(urgent_there(self->s));
}

TEST_F(urgent, behind_the_end)
{
	char b;

	EXPECT_RET(1, send(self->c, "X", 1, MSG_OOB));
	EXPECT_OK(shutdown(self->c, SHUT_WR));
	EXPECT_TRUE(wait_events(self->s, POLLRDHUP));
	EXPECT_RET(1, recv(self->s, &b, 1, MSG_OOB));
	EXPECT_EQ('X', b);
	EXPECT_EQ(0, recv_next(self->s));
}

TEST_F(urgent, empty)
{
	EXPECT_RET(0, send(self->c, "", 0, MSG_OOB));
	sleep_ms(CONF_SHORT);
	EXPECT_POLL(EV_OUT, self->s);
}

TEST_HARNESS_MAIN
