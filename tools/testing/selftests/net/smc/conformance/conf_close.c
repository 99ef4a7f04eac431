// SPDX-License-Identifier: GPL-2.0
/*
 * shutdown(2), close(2), SO_LINGER, resets, the death of a process: what each
 * side sees, what is delivered and what is lost.
 */
#include "conf.h"

FIXTURE_PAIR(close);

TEST_F(close, shutdown_wr)
{
	EXPECT_RET(3, send(self->c, "abc", 3, 0));
	EXPECT_OK(shutdown(self->c, SHUT_WR));
	EXPECT_ERR(EPIPE, send(self->c, "x", 1, 0));
	EXPECT_SIGPIPE();
	EXPECT_ERR(EPIPE, send(self->c, "x", 1, MSG_NOSIGNAL));
	EXPECT_NO_SIGPIPE();
	EXPECT_EQ(3, recv_next(self->s));
	EXPECT_EQ(0, recv_next(self->s));
	EXPECT_EQ(0, recv_next(self->s));
	/* the other direction is as it was */
	EXPECT_TRUE(passes(self->s, self->c));
	EXPECT_OK(has_peer(self->c));
	EXPECT_OK(has_peer(self->s));
	EXPECT_OK(shutdown(self->c, SHUT_WR));
	EXPECT_OK(shutdown(self->s, SHUT_WR));
	EXPECT_EQ(0, recv_next(self->c));
	EXPECT_EQ(0, so_error(self->c));
	EXPECT_EQ(0, so_error(self->s));
}

TEST_F(close, shutdown_rd)
{
	char buf[8];

	EXPECT_RET(3, send(self->s, "abc", 3, 0));
	EXPECT_TRUE(wait_readable(self->c));
	EXPECT_OK(shutdown(self->c, SHUT_RD));
	EXPECT_RET(3, recv(self->c, buf, 8, 0));
	EXPECT_RET(0, recv(self->c, buf, 8, 0));
	EXPECT_TRUE(passes(self->c, self->s));
	/* the peer is not told, and what it sends can still be read */
	EXPECT_RET(2, send(self->s, "de", 2, 0));
	EXPECT_EQ(2, ask_becomes(self->c, SIOCINQ, 2));
	EXPECT_RET(2, recv(self->c, buf, 8, 0));
	EXPECT_RET(0, recv(self->c, buf, 8, 0));
	EXPECT_OK(shutdown(self->c, SHUT_RD));
}

TEST_F(close, shutdown_rdwr)
{
	char buf[8];

	EXPECT_RET(3, send(self->s, "abc", 3, 0));
	EXPECT_TRUE(wait_readable(self->c));
	EXPECT_OK(shutdown(self->c, SHUT_RDWR));
	EXPECT_RET(3, recv(self->c, buf, 8, 0));
	EXPECT_RET(0, recv(self->c, buf, 8, 0));
	EXPECT_ERR(EPIPE, send(self->c, "x", 1, 0));
	EXPECT_SIGPIPE();
	EXPECT_EQ(0, recv_next(self->s));
	EXPECT_ERR(EISCONN, dial(self->c));
}

TEST_F(close, shutdown_both_orders)
{
	int fds[2];

	EXPECT_OK(shutdown(self->c, SHUT_RD));
	EXPECT_OK(shutdown(self->c, SHUT_WR));
	EXPECT_EQ(0, recv_next(self->c));
	EXPECT_EQ(0, recv_next(self->s));
	ASSERT_OK(make_pair(fds));
	EXPECT_OK(shutdown(fds[0], SHUT_WR));
	EXPECT_OK(shutdown(fds[0], SHUT_RD));
	EXPECT_EQ(0, recv_next(fds[0]));
	EXPECT_EQ(0, recv_next(fds[1]));
}

/* both ends are over: shutdown has nothing to do any more */
TEST_F(close, shutdown_after_end)
{
	EXPECT_OK(shutdown(self->s, SHUT_WR));
	EXPECT_EQ(0, recv_next(self->c));
	EXPECT_OK(shutdown(self->c, SHUT_WR));
	EXPECT_EQ(0, recv_next(self->s));
	close(self->s);
	EXPECT_BECOMES(-ENOTCONN, has_peer(self->c));
	EXPECT_ERR(ENOTCONN, shutdown(self->c, SHUT_WR));
	EXPECT_EQ(0, recv_next(self->c));
	EXPECT_ERR(EPIPE, send(self->c, "x", 1, MSG_NOSIGNAL));
}

TEST_F(close, shutdown_wakes_reader)
{
	struct job job;
	int fds[2];

	EXPECT_TRUE(job_start(&job, job_recv, self->c));
	EXPECT_OK(shutdown(self->c, SHUT_RD));
	EXPECT_EQ(0, job_result(&job));
	ASSERT_OK(make_pair(fds));
	EXPECT_TRUE(job_start(&job, job_recv, fds[0]));
	EXPECT_OK(shutdown(fds[0], SHUT_RDWR));
	EXPECT_EQ(0, job_result(&job));
	ASSERT_OK(make_pair(fds));
	EXPECT_OK(shutdown(fds[0], SHUT_WR));
	EXPECT_TRUE(job_start(&job, job_recv, fds[0]));
	EXPECT_OK(shutdown(fds[0], SHUT_RDWR));
	EXPECT_EQ(0, job_result(&job));
}

static long job_write_full(int fd)
{
	static char buf[4 << 20];

	return send(fd, buf, sizeof(buf), MSG_NOSIGNAL);
}

TEST_F(close, shutdown_wakes_writer)
{
	struct job job;

	EXPECT_TRUE(job_start(&job, job_write_full, self->c));
	EXPECT_OK(shutdown(self->c, SHUT_WR));
	EXPECT_LT(0, job_result(&job));
	EXPECT_EQ(job.ret, drain(self->s, sizeof(long) << 24));
	EXPECT_EQ(0, recv_next(self->s));
}

/* close() does not wait, and everything is delivered */
TEST_F(close, delivers)
{
	long n = fill_up(self->c);

	close(self->c);
	sleep_ms(CONF_SHORT);
	EXPECT_EQ(n, drain(self->s, n + 1));
	EXPECT_EQ(0, recv_next(self->s));
}

TEST_F(close, peer_writes_after)
{
	close(self->s);
	EXPECT_EQ(0, recv_next(self->c));
	/* TCP takes the first write and learns of the reset then. A sender that
	 * is told at once is not worse.
	 */
	EXPECT_BECOMES(-EPIPE, send(self->c, "x", 1, MSG_NOSIGNAL));
	EXPECT_NO_SIGPIPE();
	EXPECT_ERR(EPIPE, send(self->c, "x", 1, 0));
	EXPECT_SIGPIPE();
	EXPECT_EQ(0, recv_next(self->c));
}

TEST_F(close, unread)
{
	EXPECT_RET(3, send(self->c, "abc", 3, 0));
	EXPECT_TRUE(wait_readable(self->s));
	close(self->s);
	EXPECT_EQ(-ECONNRESET, recv_next(self->c));
	EXPECT_EQ(0, recv_next(self->c));
	EXPECT_ERR(EPIPE, send(self->c, "x", 1, 0));
	EXPECT_SIGPIPE();
	EXPECT_EQ(0, so_error(self->c));
	EXPECT_ERR(ENOTCONN, has_peer(self->c));
}

TEST_F(close, linger_zero)
{
	EXPECT_OK(set_linger(self->s, 1, 0));
	close(self->s);
	EXPECT_TRUE(wait_events(self->c, POLLERR));
	EXPECT_EQ(ECONNRESET, so_error(self->c));
	EXPECT_EQ(0, so_error(self->c));
	EXPECT_EQ(0, recv_next(self->c));
	EXPECT_ERR(EPIPE, send(self->c, "x", 1, 0));
	EXPECT_SIGPIPE();
	EXPECT_ERR(ENOTCONN, has_peer(self->c));
	EXPECT_ERR(ENOTCONN, shutdown(self->c, SHUT_WR));
}

/* the writer gets it first */
TEST_F(close, linger_zero_writer)
{
	EXPECT_OK(set_linger(self->s, 1, 0));
	close(self->s);
	EXPECT_TRUE(wait_events(self->c, POLLERR));
	EXPECT_ERR(ECONNRESET, send(self->c, "x", 1, 0));
	EXPECT_NO_SIGPIPE();
	EXPECT_ERR(EPIPE, send(self->c, "x", 1, 0));
	EXPECT_SIGPIPE();
	EXPECT_EQ(0, recv_next(self->c));
}

TEST_F(close, linger_zero_wakes)
{
	struct job job;

	EXPECT_TRUE(job_start(&job, job_recv, self->c));
	EXPECT_OK(set_linger(self->s, 1, 0));
	close(self->s);
	EXPECT_EQ(-ECONNRESET, job_result(&job));
}

TEST_F(close, linger_idle)
{
	long t0 = now_ms();

	EXPECT_OK(set_linger(self->s, 1, 200));
	EXPECT_RET(3, send(self->s, "abc", 3, 0));
	EXPECT_OK(close(self->s));
	EXPECT_GT(100000, now_ms() - t0);
	EXPECT_EQ(3, recv_next(self->c));
	EXPECT_EQ(0, recv_next(self->c));
}

/* nobody reads: the time is waited for, then the rest goes on behind it */
TEST_F(close, linger_full)
{
	long n, t0;

	EXPECT_OK(set_linger(self->c, 1, 1));
	n = fill_up(self->c);
	t0 = now_ms();
	EXPECT_OK(close(self->c));
	EXPECT_LE(800, now_ms() - t0);
	EXPECT_EQ(n, drain(self->s, n + 1));
}

static long job_close(int fd)
{
	return close(fd);
}

TEST_F(close, linger_reader)
{
	struct job job;
	long n;

	EXPECT_OK(set_linger(self->c, 1, 100));
	n = fill_up(self->c);
	EXPECT_TRUE(job_start(&job, job_close, self->c));
	EXPECT_EQ(n, drain(self->s, n + 1));
	EXPECT_EQ(0, job_result(&job));
	EXPECT_EQ(0, recv_next(self->s));
}

/* a nonblocking socket lingers as well */
TEST_F(close, linger_nonblocking)
{
	long n, t0;

	EXPECT_OK(set_linger(self->c, 1, 1));
	EXPECT_OK(set_nonblock(self->c, true));
	n = fill_up(self->c);
	t0 = now_ms();
	EXPECT_OK(close(self->c));
	EXPECT_LE(800, now_ms() - t0);
	EXPECT_EQ(n, drain(self->s, n + 1));
}

/* while another thread is in a call the descriptor goes, not the socket */
TEST_F(close, under_reader)
{
	struct job job;

	EXPECT_TRUE(job_start(&job, job_recv, self->c));
	EXPECT_OK(close(self->c));
	sleep_ms(CONF_SHORT);
	EXPECT_FALSE(job.done);
	EXPECT_RET(2, send(self->s, "hi", 2, 0));
	EXPECT_EQ(2, job_result(&job));
	/* that was the last user */
	EXPECT_EQ(0, recv_next(self->s));
}

TEST_F(close, simultaneous)
{
	EXPECT_RET(1, send(self->c, "a", 1, 0));
	EXPECT_RET(1, send(self->s, "b", 1, 0));
	EXPECT_OK(shutdown(self->c, SHUT_WR));
	EXPECT_OK(shutdown(self->s, SHUT_WR));
	EXPECT_EQ(1, recv_next(self->c));
	EXPECT_EQ(1, recv_next(self->s));
	EXPECT_EQ(0, recv_next(self->c));
	EXPECT_EQ(0, recv_next(self->s));
}

/* a process in @act is killed */
static pid_t victim(int fd, int other, long (*act)(int fd))
{
	pid_t pid = fork();

	if (pid)
		return pid;
	close(other);
	act(fd);
	for (;;)
		pause();
}

static void killed(pid_t pid, int sig)
{
	int status;

	wait_asleep(pid);
	kill(pid, sig);
	waitpid(pid, &status, 0);
}

static long act_nothing(int fd)
{
	return 0;
}

static long act_write(int fd)
{
	return send(fd, "last", 4, 0);
}

TEST_F(close, killed_idle)
{
	pid_t pid = victim(self->s, self->c, act_nothing);

	close(self->s);
	killed(pid, SIGKILL);
	EXPECT_EQ(0, recv_next(self->c));
}

TEST_F(close, killed_after_write)
{
	pid_t pid = victim(self->s, self->c, act_write);

	close(self->s);
	EXPECT_TRUE(wait_readable(self->c));
	killed(pid, SIGKILL);
	EXPECT_EQ(4, recv_next(self->c));
	EXPECT_EQ(0, recv_next(self->c));
}

TEST_F(close, killed_reading)
{
	pid_t pid = victim(self->s, self->c, job_recv);

	close(self->s);
	killed(pid, SIGKILL);
	EXPECT_EQ(0, recv_next(self->c));
}

/* what the dying process has written is delivered */
TEST_F(close, killed_writing)
{
	pid_t pid = victim(self->s, self->c, job_write_full);
	long n;

	close(self->s);
	EXPECT_TRUE(wait_readable(self->c));
	killed(pid, SIGKILL);
	n = drain(self->c, 8 << 20);
	EXPECT_LT(0, n);
	EXPECT_EQ(0, recv_next(self->c));
}

TEST_F(close, killed_with_unread)
{
	pid_t pid;

	EXPECT_RET(1, send(self->c, "x", 1, 0));
	EXPECT_TRUE(wait_readable(self->s));
	pid = victim(self->s, self->c, act_nothing);
	close(self->s);
	killed(pid, SIGKILL);
	EXPECT_EQ(-ECONNRESET, recv_next(self->c));
}

TEST_F(close, killed_polling)
{
	pid_t pid = victim(self->s, self->c, job_poll_in);

	close(self->s);
	killed(pid, SIGTERM);
	EXPECT_EQ(0, recv_next(self->c));
}

/* SO_LINGER does not hold a dying process */
TEST_F(close, exit_with_linger)
{
	int status;
	pid_t pid;
	long n;

	pid = fork();
	if (!pid) {
		close(self->s);
		set_linger(self->c, 1, 100);
		n = fill_up(self->c);
		_exit(n > 0 ? 0 : 1);
	}
	close(self->c);
	EXPECT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_LT(0, drain(self->s, 1));
}

/* the same descriptor goes through a second connection */
TEST_F(close, descriptor_again)
{
	int l = listener(0, 1), s = 0;

	close(self->s);
	EXPECT_EQ(0, recv_next(self->c));
	EXPECT_OK(unspec(self->c));
	EXPECT_OK(dial(self->c));
	s = accept(l, NULL, NULL);
	EXPECT_TRUE(passes(self->c, s));
}

TEST_HARNESS_MAIN
