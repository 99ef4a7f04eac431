// SPDX-License-Identifier: GPL-2.0
/*
 * Signals: SIGPIPE, each blocking call interrupted, restarted, with and
 * without a time limit, and the death of a process in each state.
 */
#include "conf.h"

FIXTURE_ALONE(waiting);
FIXTURE_PAIR(sig);

static long job_send_one(int fd)
{
	return send(fd, "x", 1, MSG_NOSIGNAL);
}

static long job_peek(int fd)
{
	char b;

	return recv(fd, &b, 1, MSG_PEEK);
}

static long job_readv(int fd)
{
	char b[4];
	struct iovec v = { b, 4 };

	return readv(fd, &v, 1);
}

TEST_F(sig, recv)
{
	static long (* const calls[])(int fd) = {
		job_recv, job_peek, job_readv
	};
	unsigned int i;
	struct job job;

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		EXPECT_TRUE(job_start(&job, calls[i], self->s));
		EXPECT_EQ(-EINTR, interrupt(&job, 0));
		EXPECT_TRUE(job_start(&job, calls[i], self->s));
		EXPECT_EQ(-EALREADY, interrupt(&job, SA_RESTART));
		EXPECT_RET(1, send(self->c, "x", 1, 0));
		EXPECT_EQ(1, job_result(&job));
		recv(self->s, &job, 1, MSG_DONTWAIT);
	}
}

/* a call with a time limit is not restarted */
TEST_F(sig, recv_timeout)
{
	struct job job;

	EXPECT_OK(set_timeo(self->s, SO_RCVTIMEO, CONF_LONG));
	EXPECT_TRUE(job_start(&job, job_recv, self->s));
	EXPECT_EQ(-EINTR, interrupt(&job, SA_RESTART));
}

TEST_F(sig, send)
{
	struct job job;
	long n;

	EXPECT_OK(small_buffers(self->c, self->s));
	n = fill_up(self->c);
	EXPECT_TRUE(job_start(&job, job_send_one, self->c));
	EXPECT_EQ(-EINTR, interrupt(&job, 0));
	EXPECT_TRUE(job_start(&job, job_send_one, self->c));
	EXPECT_EQ(-EALREADY, interrupt(&job, SA_RESTART));
	EXPECT_EQ(n, drain(self->s, n));
	EXPECT_EQ(1, job_result(&job));
	EXPECT_EQ(1, recv_next(self->s));
}

TEST_F(sig, send_timeout)
{
	struct job job;

	EXPECT_OK(small_buffers(self->c, self->s));
	EXPECT_LT(0, fill_up(self->c));
	EXPECT_OK(set_timeo(self->c, SO_SNDTIMEO, CONF_LONG));
	EXPECT_TRUE(job_start(&job, job_send_one, self->c));
	EXPECT_EQ(-EINTR, interrupt(&job, SA_RESTART));
}

TEST_F(waiting, accept)
{
	int l = listener(0, 1);
	struct job job;

	EXPECT_TRUE(job_start(&job, job_accept, l));
	EXPECT_EQ(-EINTR, interrupt(&job, 0));
	EXPECT_OK(set_timeo(l, SO_RCVTIMEO, CONF_LONG));
	EXPECT_TRUE(job_start(&job, job_accept, l));
	EXPECT_EQ(-EINTR, interrupt(&job, SA_RESTART));
}

TEST_F(waiting, connect_timeout)
{
	int filler, no = silent_port(&filler), c = client(0);
	struct job job;

	ASSERT_LE(0, no);
	EXPECT_OK(set_timeo(c, SO_SNDTIMEO, CONF_LONG));
	EXPECT_TRUE(job_start(&job, job_dial, c));
	EXPECT_EQ(-EINTR, interrupt(&job, SA_RESTART));
	EXPECT_OK(set_nonblock(c, true));
	EXPECT_ERR(EALREADY, dial(c));
	/* nor can it be sent or received before that is over */
	EXPECT_OK(set_nonblock(c, false));
	EXPECT_TRUE(job_start(&job, job_send_one, c));
	EXPECT_EQ(-EINTR, interrupt(&job, 0));
	EXPECT_TRUE(job_start(&job, job_recv, c));
	EXPECT_EQ(-EINTR, interrupt(&job, 0));
	EXPECT_TRUE(job_start(&job, job_recv, c));
	close(accept(no, NULL, NULL));
	EXPECT_TRUE(wait_events(c, POLLOUT));
	EXPECT_FALSE(job.done);
}

/* what a child does with a broken pipe; the wait status */
static int pipe_child(int fd, bool ignore, int flags)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		signal(SIGPIPE, ignore ? SIG_IGN : SIG_DFL);
		send(fd, "x", 1, flags);
		_exit(errno == EPIPE ? 77 : 78);
	}
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

TEST_F(sig, pipe)
{
	EXPECT_OK(shutdown(self->c, SHUT_WR));
	EXPECT_EQ(-SIGPIPE, pipe_child(self->c, false, 0));
	EXPECT_EQ(77, pipe_child(self->c, true, 0));
	EXPECT_EQ(77, pipe_child(self->c, false, MSG_NOSIGNAL));
}

TEST_F(sig, pipe_after_reset)
{
	EXPECT_OK(set_linger(self->s, 1, 0));
	close(self->s);
	EXPECT_TRUE(wait_events(self->c, POLLERR));
	EXPECT_EQ(ECONNRESET, so_error(self->c));
	EXPECT_EQ(-SIGPIPE, pipe_child(self->c, false, 0));
	EXPECT_EQ(77, pipe_child(self->c, false, MSG_NOSIGNAL));
}

/* kill a child that sleeps in @call */
static void kill_in(long (*call)(int fd), int fd, int close_first)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		close(close_first);
		call(fd);
		pause();
	}
	wait_asleep(pid);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
}

TEST_F(waiting, killed_connecting)
{
	int filler, no = silent_port(&filler), c = client(0);

	ASSERT_LE(0, no);
	kill_in(job_dial, c, no);
	/* the attempt belongs to the socket */
	EXPECT_OK(set_nonblock(c, true));
	EXPECT_ERR(EALREADY, dial(c));
	close(accept(no, NULL, NULL));
	EXPECT_TRUE(wait_events(c, POLLOUT));
	EXPECT_OK(dial(c));
}

TEST_F(waiting, killed_accepting)
{
	int l = listener(0, 5), c = client(0), s;

	kill_in(job_accept, l, -1);
	ASSERT_OK(dial(c));
	s = accept(l, NULL, NULL);
	EXPECT_TRUE(passes(c, s));
}

/* the listener dies with its process, and its clients are told */
TEST_F(waiting, killed_listening)
{
	int c = client(0), d = client(0), p[2], status;
	pid_t pid;

	ASSERT_OK(pipe(p));
	pid = fork();
	if (!pid) {
		int l = listener(0, 5);

		if (l < 0 || write(p[1], &conf, sizeof(conf)) != sizeof(conf))
			_exit(1);
		pause();
	}
	ASSERT_RET(sizeof(conf), read(p[0], &conf, sizeof(conf)));
	ASSERT_OK(dial(c));
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	EXPECT_GT(0, recv_next(c));
	EXPECT_ERR(ECONNREFUSED, dial(d));
}

TEST_F(sig, killed_shared)
{
	kill_in(job_recv, self->c, -1);
	/* the other process is not concerned */
	EXPECT_TRUE(passes(self->c, self->s));
	EXPECT_TRUE(passes(self->s, self->c));
}

TEST_HARNESS_MAIN
