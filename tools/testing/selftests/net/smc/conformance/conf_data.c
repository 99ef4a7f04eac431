// SPDX-License-Identifier: GPL-2.0
/*
 * send(2) and recv(2): flags, partial transfers, vectors, bad memory, time
 * limits, blocking and nonblocking.
 */
#include <limits.h>

#include "conf.h"

FIXTURE_PAIR(data);

#define BIG	(1 << 20)	/* more than all buffers of small_buffers() */

TEST_F(data, both_ways)
{
	EXPECT_TRUE(passes(self->c, self->s));
	EXPECT_TRUE(passes(self->s, self->c));
	EXPECT_RET(1, write(self->c, "x", 1));
	EXPECT_EQ(1, recv_next(self->s));
}

static long job_recv_nothing(int fd)
{
	return recv(fd, NULL, 0, 0);
}

TEST_F(data, zero_length)
{
	struct job job;
	char buf[4] = "";

	EXPECT_RET(0, send(self->c, buf, 0, 0));
	EXPECT_RET(0, write(self->c, buf, 0));
	EXPECT_RET(0, read(self->s, buf, 0));
	/* recv() waits for data, if only to take none of them */
	EXPECT_ERR(EAGAIN, recv(self->s, buf, 0, MSG_DONTWAIT));
	EXPECT_TRUE(job_start(&job, job_recv_nothing, self->s));
	EXPECT_RET(2, send(self->c, "ab", 2, 0));
	EXPECT_EQ(0, job_result(&job));
	EXPECT_EQ(2, ask_becomes(self->s, SIOCINQ, 2));
	EXPECT_RET(0, recv(self->s, buf, 0, MSG_DONTWAIT));
	EXPECT_RET(0, recv(self->s, NULL, 0, MSG_PEEK));
	EXPECT_EQ(2, recv_next(self->s));
	EXPECT_OK(shutdown(self->c, SHUT_WR));
	EXPECT_TRUE(wait_readable(self->s));
	EXPECT_RET(0, recv(self->s, buf, 0, 0));
}

TEST_F(data, nonblocking)
{
	char buf[4];

	EXPECT_OK(set_nonblock(self->s, true));
	EXPECT_ERR(EAGAIN, recv(self->s, buf, 4, 0));
	EXPECT_ERR(EAGAIN, read(self->s, buf, 4));
	EXPECT_ERR(EAGAIN, recv(self->s, buf, 4, MSG_PEEK));
	EXPECT_ERR(EAGAIN, recv(self->s, buf, 4, MSG_WAITALL));
	EXPECT_ERR(EAGAIN, recv(self->s, buf, 4, MSG_ERRQUEUE));
	EXPECT_LT(0, fill_up(self->s));
	EXPECT_ERR(EAGAIN, send(self->s, buf, 4, 0));
	EXPECT_ERR(EAGAIN, write(self->s, buf, 4));
	EXPECT_RET(0, send(self->s, buf, 0, 0));
}

TEST_F(data, peek)
{
	char buf[8] = "";

	EXPECT_RET(4, send(self->c, "abcd", 4, 0));
	EXPECT_EQ(4, ask_becomes(self->s, SIOCINQ, 4));
	EXPECT_RET(2, recv(self->s, buf, 2, MSG_PEEK));
	EXPECT_EQ(0, memcmp(buf, "ab", 2));
	EXPECT_RET(4, recv(self->s, buf, 8, MSG_PEEK));
	EXPECT_RET(1, recv(self->s, buf, 1, 0));
	EXPECT_RET(3, recv(self->s, buf, 8, MSG_PEEK | MSG_DONTWAIT));
	EXPECT_EQ(0, memcmp(buf, "bcd", 3));
	EXPECT_EQ(3, ask(self->s, SIOCINQ));
	EXPECT_RET(3, recv(self->s, buf, 8, 0));
	EXPECT_ERR(EAGAIN, recv(self->s, buf, 8, MSG_PEEK | MSG_DONTWAIT));
	/* a probe: is the peer still there? */
	close(self->c);
	EXPECT_TRUE(wait_readable(self->s));
	EXPECT_RET(0, recv(self->s, buf, 1, MSG_PEEK | MSG_DONTWAIT));
}

static long job_waitall(int fd)
{
	char buf[10];

	return recv(fd, buf, sizeof(buf), MSG_WAITALL);
}

static long job_peek_waitall(int fd)
{
	char buf[10];

	return recv(fd, buf, sizeof(buf), MSG_WAITALL | MSG_PEEK);
}

TEST_F(data, waitall)
{
	struct job job;

	EXPECT_RET(4, send(self->c, "abcd", 4, 0));
	EXPECT_TRUE(job_start(&job, job_waitall, self->s));
	EXPECT_RET(6, send(self->c, "efghij", 6, 0));
	EXPECT_EQ(10, job_result(&job));
	/* the end ends the waiting */
	EXPECT_RET(4, send(self->c, "abcd", 4, 0));
	EXPECT_TRUE(job_start(&job, job_waitall, self->s));
	EXPECT_OK(shutdown(self->c, SHUT_WR));
	EXPECT_EQ(4, job_result(&job));
	EXPECT_EQ(0, recv_next(self->s));
}

TEST_F(data, waitall_peek)
{
	struct job job;

	EXPECT_RET(4, send(self->c, "abcd", 4, 0));
	EXPECT_TRUE(job_start(&job, job_peek_waitall, self->s));
	EXPECT_RET(6, send(self->c, "efghij", 6, 0));
	EXPECT_EQ(10, job_result(&job));
	EXPECT_EQ(10, ask(self->s, SIOCINQ));
}

TEST_F(data, waitall_interrupted)
{
	struct job job;

	sig_catch(SIGUSR1, SA_RESTART);
	EXPECT_RET(4, send(self->c, "abcd", 4, 0));
	EXPECT_TRUE(job_start(&job, job_waitall, self->s));
	pthread_kill(job.thread, SIGUSR1);
	EXPECT_EQ(4, job_result(&job));
}

TEST_F(data, waitall_timeout)
{
	EXPECT_OK(set_timeo(self->s, SO_RCVTIMEO, 60));
	EXPECT_RET(4, send(self->c, "abcd", 4, 0));
	EXPECT_TRUE(wait_readable(self->s));
	EXPECT_RET(4, job_waitall(self->s));
	EXPECT_ERR(EAGAIN, job_waitall(self->s));
}

TEST_F(data, trunc)
{
	char buf[8] = "zzzzzzz";

	EXPECT_RET(6, send(self->c, "abcdef", 6, 0));
	EXPECT_EQ(6, ask_becomes(self->s, SIOCINQ, 6));
	/* discarded, and the buffer is not touched */
	EXPECT_RET(2, recv(self->s, buf, 2, MSG_TRUNC));
	EXPECT_EQ('z', buf[0]);
	EXPECT_RET(2, recv(self->s, NULL, 2, MSG_TRUNC));
	EXPECT_RET(2, recv(self->s, buf, 8, 0));
	EXPECT_EQ(0, memcmp(buf, "ef", 2));
}

TEST_F(data, rcvlowat)
{
	struct job job;

	EXPECT_OK(set_opt(self->s, SOL_SOCKET, SO_RCVLOWAT, 5));
	EXPECT_TRUE(job_start(&job, job_recv, self->s));
	EXPECT_RET(4, send(self->c, "abcd", 4, 0));
	EXPECT_EQ(4, ask_becomes(self->s, SIOCINQ, 4));
	EXPECT_FALSE(job.done);
	EXPECT_RET(1, send(self->c, "e", 1, 0));
	EXPECT_EQ(5, job_result(&job));
	/* not more than was asked for, and not when it must not wait */
	EXPECT_RET(2, send(self->c, "ab", 2, 0));
	EXPECT_RET(1, recv(self->s, &job, 1, 0));
	EXPECT_RET(1, recv(self->s, &job, 8, MSG_DONTWAIT));
}

TEST_F(data, recv_timeout)
{
	long t0 = now_ms();
	char buf[4];

	EXPECT_OK(set_timeo(self->s, SO_RCVTIMEO, 100));
	EXPECT_ERR(EAGAIN, recv(self->s, buf, 4, 0));
	EXPECT_LE(80, now_ms() - t0);
	EXPECT_TRUE(passes(self->c, self->s));
	/* off again */
	EXPECT_OK(set_timeo(self->s, SO_RCVTIMEO, 0));
	EXPECT_ERR(EDOM, set_timeo(self->s, SO_RCVTIMEO, -1));
}

static long job_send_big(int fd)
{
	char *buf = calloc(1, BIG);
	long n;

	if (!buf)
		return -1;
	n = send(fd, buf, BIG, MSG_NOSIGNAL);
	free(buf);
	return n;
}

/* a blocking call sends everything */
TEST_F(data, send_all)
{
	struct job job;

	EXPECT_OK(small_buffers(self->c, self->s));
	EXPECT_TRUE(job_start(&job, job_send_big, self->c));
	EXPECT_EQ(BIG, drain(self->s, BIG));
	EXPECT_EQ(BIG, job_result(&job));
	EXPECT_ERR(EAGAIN, recv(self->s, &job, 1, MSG_DONTWAIT));
}

TEST_F(data, send_timeout)
{
	long n;

	EXPECT_OK(small_buffers(self->c, self->s));
	EXPECT_OK(set_timeo(self->c, SO_SNDTIMEO, 100));
	n = job_send_big(self->c);
	EXPECT_LT(0, n);
	EXPECT_GT(BIG, n);
	EXPECT_LE(0, fill_up(self->c));
	while ((n = CALL(send(self->c, "x", 1, 0))) == 1)
		;
	EXPECT_EQ(-EAGAIN, n);
}

TEST_F(data, send_interrupted)
{
	struct job job;
	long n;

	EXPECT_OK(small_buffers(self->c, self->s));
	sig_catch(SIGUSR1, SA_RESTART);
	EXPECT_TRUE(job_start(&job, job_send_big, self->c));
	pthread_kill(job.thread, SIGUSR1);
	n = job_result(&job);
	/* what was taken is told, and it is exactly what arrives */
	EXPECT_LT(0, n);
	EXPECT_GT(BIG, n);
	EXPECT_OK(shutdown(self->c, SHUT_WR));
	EXPECT_EQ(n, drain(self->s, BIG));
	EXPECT_EQ(0, recv_next(self->s));
}

/* the reader goes while a writer waits */
TEST_F(data, send_reader_gone)
{
	struct job job;

	EXPECT_OK(small_buffers(self->c, self->s));
	EXPECT_TRUE(job_start(&job, job_send_big, self->c));
	close(self->s);
	EXPECT_LT(0, job_result(&job));
	EXPECT_GT(0, job_send_big(self->c));
}

TEST_F(data, more)
{
	EXPECT_RET(3, send(self->c, "abc", 3, MSG_MORE));
	EXPECT_RET(3, send(self->c, "def", 3, 0));
	EXPECT_EQ(6, ask_becomes(self->s, SIOCINQ, 6));
	/* held back, but not for ever */
	EXPECT_RET(3, send(self->c, "ghi", 3, MSG_MORE));
	EXPECT_EQ(9, ask_becomes(self->s, SIOCINQ, 9));
	/* nothing is held back behind the end */
	EXPECT_RET(3, send(self->c, "jkl", 3, MSG_MORE));
	close(self->c);
	EXPECT_EQ(12, drain(self->s, 100));
}

TEST_F(data, cork)
{
	EXPECT_OK(set_opt(self->c, SOL_TCP, TCP_CORK, 1));
	EXPECT_EQ(1, get_opt(self->c, SOL_TCP, TCP_CORK));
	EXPECT_RET(3, send(self->c, "abc", 3, 0));
	EXPECT_RET(3, send(self->c, "def", 3, 0));
	EXPECT_OK(set_opt(self->c, SOL_TCP, TCP_CORK, 0));
	EXPECT_EQ(6, ask_becomes(self->s, SIOCINQ, 6));
	EXPECT_OK(set_opt(self->c, SOL_TCP, TCP_CORK, 1));
	EXPECT_RET(3, send(self->c, "abc", 3, 0));
	EXPECT_OK(set_opt(self->c, SOL_TCP, TCP_NODELAY, 1));
	EXPECT_EQ(9, ask_becomes(self->s, SIOCINQ, 9));
	/* the 200 ms */
	EXPECT_RET(3, send(self->c, "abc", 3, 0));
	EXPECT_EQ(12, ask_becomes(self->s, SIOCINQ, 12));
}

TEST_F(data, vectors)
{
	char out[64], in[64] = "";
	struct iovec v[64];
	int i;

	for (i = 0; i < 64; i++) {
		out[i] = i;
		v[i].iov_base = &out[i];
		v[i].iov_len = i % 3 ? 1 : 0;
	}
	/* pieces of one byte and of none */
	EXPECT_RET(42, writev(self->c, v, 64));
	for (i = 0; i < 64; i++)
		v[i].iov_base = &in[i];
	EXPECT_EQ(42, ask_becomes(self->s, SIOCINQ, 42));
	EXPECT_RET(42, readv(self->s, v, 64));
	for (i = 0; i < 64; i++)
		EXPECT_EQ(i % 3 ? i : 0, in[i]);
	EXPECT_RET(0, writev(self->c, v, 0));
	EXPECT_ERR(EINVAL, syscall(SYS_writev, self->c, v, IOV_MAX + 1));
	EXPECT_ERR(EINVAL, syscall(SYS_writev, self->c, v, -1));
	EXPECT_ERR(EFAULT, syscall(SYS_writev, self->c, 8, 1));
	v[0].iov_len = SSIZE_MAX;
	v[1].iov_len = SSIZE_MAX;
	EXPECT_ERR(EFAULT, writev(self->c, v, 2));
}

TEST_F(data, vectors_many)
{
	static struct iovec v[IOV_MAX];
	static char bytes[IOV_MAX];
	int i;

	for (i = 0; i < IOV_MAX; i++) {
		v[i].iov_base = &bytes[i];
		v[i].iov_len = 1;
		bytes[i] = i;
	}
	EXPECT_RET(IOV_MAX, writev(self->c, v, IOV_MAX));
	EXPECT_EQ(IOV_MAX, ask_becomes(self->s, SIOCINQ, IOV_MAX));
	memset(bytes, 0, sizeof(bytes));
	EXPECT_RET(IOV_MAX, readv(self->s, v, IOV_MAX));
	for (i = 0; i < IOV_MAX; i++)
		ASSERT_EQ((char)i, bytes[i]);
}

TEST_F(data, mmsg)
{
	char out[4][2] = { "a", "b", "c", "d" }, in[4][2];
	struct mmsghdr m[4] = {};
	struct iovec v[4];
	int i;

	for (i = 0; i < 4; i++) {
		v[i].iov_base = out[i];
		v[i].iov_len = 1;
		m[i].msg_hdr.msg_iov = &v[i];
		m[i].msg_hdr.msg_iovlen = 1;
	}
	EXPECT_RET(4, sendmmsg(self->c, m, 4, 0));
	EXPECT_EQ(4, ask_becomes(self->s, SIOCINQ, 4));
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(1U, m[i].msg_len);
		v[i].iov_base = in[i];
	}
	EXPECT_RET(4, recvmmsg(self->s, m, 4, MSG_DONTWAIT, NULL));
	for (i = 0; i < 4; i++)
		EXPECT_EQ("abcd"[i], in[i][0]);
	EXPECT_ERR(EAGAIN, recvmmsg(self->s, m, 4, MSG_DONTWAIT, NULL));
	/* waits for the first one only */
	EXPECT_RET(1, send(self->c, "e", 1, 0));
	EXPECT_RET(1, recvmmsg(self->s, m, 4, MSG_WAITFORONE, NULL));
}

/* memory that is there for a part of the call only */
TEST_F(data, bad_memory)
{
	long page = sysconf(_SC_PAGESIZE);
	char *mem = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *edge = mem + page - 4, buf[16];
	struct iovec v[2] = { { buf, 4 }, { (void *)8, 4 } };

	memset(mem, 'x', page);
	munmap(mem + page, page);
	EXPECT_ERR(EFAULT, send(self->c, (void *)8, 4, 0));
	EXPECT_ERR(EAGAIN, recv(self->s, buf, 16, MSG_DONTWAIT));
	/* a piece that cannot be read whole is not sent in part */
	EXPECT_ERR(EFAULT, send(self->c, edge, 8, 0));
	EXPECT_ERR(EFAULT, writev(self->c, v, 2));
	EXPECT_RET(8, send(self->c, "abcdefgh", 8, 0));
	EXPECT_EQ(8, ask_becomes(self->s, SIOCINQ, 8));
	/* nothing is lost that was not delivered */
	EXPECT_ERR(EFAULT, recv(self->s, (void *)8, 8, 0));
	EXPECT_EQ(8, ask(self->s, SIOCINQ));
	EXPECT_ERR(EFAULT, recv(self->s, edge, 8, 0));
	EXPECT_EQ(8, ask(self->s, SIOCINQ));
	EXPECT_RET(4, recv(self->s, edge, 4, 0));
	EXPECT_EQ(0, memcmp(edge, "abcd", 4));
	EXPECT_RET(4, recv(self->s, buf, 16, 0));
	EXPECT_EQ(0, memcmp(buf, "efgh", 4));
}

/* recvmsg() says nothing of addresses and control data */
TEST_F(data, msghdr)
{
	char name[64], control[64], buf[8];
	struct iovec v = { buf, sizeof(buf) };
	struct msghdr m = {
		.msg_name = name, .msg_namelen = sizeof(name),
		.msg_control = control, .msg_controllen = sizeof(control),
		.msg_iov = &v, .msg_iovlen = 1, .msg_flags = -1,
	};

	EXPECT_RET(2, send(self->c, "ab", 2, MSG_EOR));
	EXPECT_TRUE(wait_readable(self->s));
	EXPECT_RET(2, recvmsg(self->s, &m, 0));
	EXPECT_EQ(0U, m.msg_namelen);
	EXPECT_EQ(0UL, m.msg_controllen);
	EXPECT_EQ(0, m.msg_flags);
	m.msg_namelen = -1;
	EXPECT_ERR(EINVAL, recvmsg(self->s, &m, MSG_DONTWAIT));
}

/* read @len bytes; the control message of @level and @type as an int, -1 none */
static int control_of(int fd, size_t len, int flags, int level, int type)
{
	char control[256], buf[64];
	struct iovec v = { buf, len };
	struct msghdr m = {
		.msg_control = control, .msg_controllen = sizeof(control),
		.msg_iov = &v, .msg_iovlen = 1,
	};
	struct cmsghdr *c;
	int val = -1;

	if (recvmsg(fd, &m, flags) < 0)
		return -errno;
	for (c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c))
		if (c->cmsg_level == level && c->cmsg_type == type)
			memcpy(&val, CMSG_DATA(c), sizeof(val));
	return val;
}

static int left_after(int fd, size_t len, int flags)
{
	return control_of(fd, len, flags, SOL_TCP, TCP_CM_INQ);
}

/* TCP_INQ: each read tells how much is left */
TEST_F(data, inq)
{
	EXPECT_RET(8, send(self->c, "abcdefgh", 8, 0));
	EXPECT_EQ(8, ask_becomes(self->s, SIOCINQ, 8));
	EXPECT_EQ(-1, left_after(self->s, 1, 0));
	EXPECT_OK(set_opt(self->s, SOL_TCP, TCP_INQ, 1));
	EXPECT_EQ(5, left_after(self->s, 2, 0));
	EXPECT_EQ(5, left_after(self->s, 2, MSG_PEEK));
	EXPECT_EQ(0, left_after(self->s, 5, 0));
	EXPECT_EQ(-EAGAIN, left_after(self->s, 1, MSG_DONTWAIT));
	/* the end counts, too */
	EXPECT_RET(3, send(self->c, "abc", 3, 0));
	EXPECT_OK(shutdown(self->c, SHUT_WR));
	EXPECT_TRUE(wait_events(self->s, POLLRDHUP));
	EXPECT_EQ(3, left_after(self->s, 1, 0));
	EXPECT_EQ(1, left_after(self->s, 8, 0));
	EXPECT_EQ(1, left_after(self->s, 8, 0));
}

/* packets have times; TCP may need some until the kernel notes them */
TEST_F(data, timestamps)
{
	int i, there = 0;

	EXPECT_OK(set_opt(self->s, SOL_SOCKET, SO_TIMESTAMP, 1));
	for (i = 0; i < (over_smc() ? 5 : 500) && !there; i++) {
		EXPECT_RET(1, send(self->c, "a", 1, 0));
		EXPECT_TRUE(wait_readable(self->s));
		there = control_of(self->s, 1, 0, SOL_SOCKET,
				   SCM_TIMESTAMP) != -1;
		sleep_ms(2);
	}
	EXPECT_EQ(!differs(DIFF_TIMESTAMPS), there);
}

static long send_control(int fd, int level, int type, size_t len)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr c;
	} u = { .c = { .cmsg_level = level, .cmsg_type = type,
		       .cmsg_len = len } };
	struct iovec v = { "x", 1 };
	struct msghdr m = {
		.msg_control = u.buf, .msg_controllen = sizeof(u.buf),
		.msg_iov = &v, .msg_iovlen = 1,
	};

	return sendmsg(fd, &m, MSG_NOSIGNAL);
}

/* control data of a send are checked, though nothing comes of them */
TEST_F(data, control_sent)
{
	size_t len = CMSG_LEN(sizeof(int));

	EXPECT_RET(1, send_control(self->c, SOL_SOCKET, SO_MARK, len));
	EXPECT_RET(1, send_control(self->c, SOL_SOCKET, SCM_RIGHTS, len));
	EXPECT_RET(1, send_control(self->c, SOL_IP, 9999, len));
	EXPECT_ERR(EINVAL, send_control(self->c, SOL_SOCKET, 9999, len));
	EXPECT_ERR(EINVAL, send_control(self->c, SOL_SOCKET, SO_MARK, len - 1));
	EXPECT_ERR(EINVAL, send_control(self->c, SOL_SOCKET, SO_MARK, 3));
	EXPECT_EQ(3, ask_becomes(self->s, SIOCINQ, 3));
	/* the state of the connection comes first */
	EXPECT_OK(shutdown(self->c, SHUT_WR));
	EXPECT_ERR(EPIPE, send_control(self->c, SOL_SOCKET, 9999, len));
}

/* flags that mean nothing to a stream */
TEST_F(data, flags)
{
	static const int out[] = { MSG_CONFIRM, MSG_DONTROUTE, MSG_EOR,
				   MSG_PROXY, MSG_TRUNC, MSG_CTRUNC, MSG_RST };
	static const int in[] = { MSG_CMSG_CLOEXEC, MSG_DONTROUTE, MSG_EOR,
				  MSG_CTRUNC, MSG_CONFIRM, MSG_NOSIGNAL,
				  MSG_MORE };
	unsigned int i;
	char c;

	for (i = 0; i < ARRAY_SIZE(out); i++)
		EXPECT_RET(1, send(self->c, "x", 1, out[i])) TH_LOG("%u", i);
	EXPECT_EQ((int)i, ask_becomes(self->s, SIOCINQ, i));
	for (i = 0; i < ARRAY_SIZE(in); i++)
		EXPECT_RET(1, recv(self->s, &c, 1, in[i])) TH_LOG("%u", i);
	EXPECT_ERR(EAGAIN, recv(self->s, &c, 1, MSG_DONTWAIT));
}

/* preadv2(), pwritev2(): a place in a stream there is none, not to wait there is */
TEST_F(data, vectors_at)
{
	char buf[4];
	struct iovec v = { buf, 4 };

	EXPECT_ERR(ESPIPE, preadv(self->s, &v, 1, 0));
	EXPECT_ERR(ESPIPE, pwritev(self->s, &v, 1, 0));
	EXPECT_ERR(EAGAIN, preadv2(self->s, &v, 1, -1, RWF_NOWAIT));
	EXPECT_RET(4, pwritev2(self->c, &v, 1, -1, RWF_NOWAIT));
	EXPECT_EQ(4, ask_becomes(self->s, SIOCINQ, 4));
	EXPECT_RET(4, preadv2(self->s, &v, 1, -1, RWF_NOWAIT));
	EXPECT_LT(0, fill_up(self->c));
	EXPECT_ERR(EAGAIN, pwritev2(self->c, &v, 1, -1, RWF_NOWAIT));
}

/* an address given to a connected socket is not looked at */
TEST_F(data, sendto)
{
	struct sockaddr_storage ss = { .ss_family = AF_UNIX };
	socklen_t len = sizeof(ss);
	char buf[8];

	EXPECT_RET(2, sendto(self->c, "ab", 2, 0, (void *)&ss, sizeof(ss)));
	EXPECT_TRUE(wait_readable(self->s));
	EXPECT_RET(2, recvfrom(self->s, buf, 8, 0, (void *)&ss, &len));
	EXPECT_EQ(0U, len);
}

TEST_F(data, zerocopy)
{
	char buf[8];

	/* without SO_ZEROCOPY the flag means nothing */
	EXPECT_RET(4, send(self->c, "abcd", 4, MSG_ZEROCOPY));
	EXPECT_EQ(4, recv_next(self->s));
	EXPECT_ERR(EAGAIN, recv(self->c, buf, 8, MSG_ERRQUEUE | MSG_DONTWAIT));
}

TEST_F(data, fastopen_connected)
{
	EXPECT_ERR(EISCONN, sendto(self->c, "x", 1, MSG_FASTOPEN,
				   (void *)&conf.addr, conf.addrlen));
	EXPECT_TRUE(passes(self->c, self->s));
}

static long job_pump(int fd)
{
	static __thread char buf[32768];
	long sum = 0, n;

	while (sum < BIG) {
		n = send(fd, buf, sizeof(buf), MSG_NOSIGNAL);
		if (n <= 0)
			return -1;
		sum += n;
	}
	return sum;
}

/* all directions at once */
TEST_F(data, full_duplex)
{
	struct job a, b;
	long nc = 0, ns = 0;

	job_start(&a, job_pump, self->c);
	job_start(&b, job_pump, self->s);
	while (nc < BIG || ns < BIG) {
		long dc = nc < BIG ? drain(self->c, 32768) : 0;
		long ds = ns < BIG ? drain(self->s, 32768) : 0;

		if (dc + ds <= 0)
			break;
		nc += dc;
		ns += ds;
	}
	EXPECT_EQ(BIG, nc);
	EXPECT_EQ(BIG, ns);
	EXPECT_EQ(BIG, job_result(&a));
	EXPECT_EQ(BIG, job_result(&b));
}

/* bytes and their order, with sizes around all limits */
TEST_F(data, contents)
{
	static const int sizes[] = {
		1, 2, 3, 7, 8, 44, 45, 1000, 4095, 4096, 4097, 16383, 16384,
		16385, 30000, 32768, 65535, 65536, 65537, 100000
	};
	static uint8_t out[100000], in[100000];
	uint64_t pos = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		int sent = 0, got = 0;

		stream_fill(1, pos, out, sizes[i]);
		while (got < sizes[i]) {
			long n = send(self->c, out + sent, sizes[i] - sent,
				      MSG_DONTWAIT | MSG_NOSIGNAL);

			if (n > 0)
				sent += n;
			n = recv_all(self->s, in + got, sent - got);
			ASSERT_EQ(sent - got, n);
			got += n;
		}
		ASSERT_EQ(-1, stream_check(1, pos, in, sizes[i]));
		pos += sizes[i];
	}
}

/* two readers of one socket get all bytes, each once */
TEST_F(data, two_readers)
{
	struct job a, b;

	EXPECT_TRUE(job_start(&a, job_recv, self->s));
	EXPECT_TRUE(job_start(&b, job_recv, self->s));
	EXPECT_RET(2, send(self->c, "ab", 2, 0));
	while (!a.done && !b.done)
		sleep_ms(1);
	EXPECT_FALSE(a.done && b.done);
	EXPECT_RET(3, send(self->c, "cde", 3, 0));
	EXPECT_EQ(5, job_result(&a) + job_result(&b));
}

TEST_HARNESS_MAIN
