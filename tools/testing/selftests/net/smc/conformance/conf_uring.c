// SPDX-License-Identifier: GPL-2.0
/*
 * io_uring: the socket requests of programs that make no system calls. The
 * rings are set up by hand, one request at a time is enough here.
 */
#include <linux/io_uring.h>

#include "conf.h"

FIXTURE_ALONE(uring);

#define ENTRIES		8

static struct {
	int fd;
	unsigned int *sq_tail, *sq_mask, *sq_array;
	unsigned int *cq_head, *cq_tail, *cq_mask;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
	/* for the next request only */
	struct {
		int ioprio, flags, buf_group;
	} with;
	unsigned int cqe_flags;	/* of the last completion */
} ring;

static int ring_open(void)
{
	struct io_uring_params p = {};
	char *sq, *cq;

	ring.fd = syscall(SYS_io_uring_setup, ENTRIES, &p);
	if (ring.fd < 0)
		return -1;
	sq = mmap(NULL, p.sq_off.array + p.sq_entries * sizeof(int),
		  PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring.fd,
		  IORING_OFF_SQ_RING);
	cq = mmap(NULL, p.cq_off.cqes + p.cq_entries * sizeof(*ring.cqes),
		  PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring.fd,
		  IORING_OFF_CQ_RING);
	ring.sqes = mmap(NULL, p.sq_entries * sizeof(*ring.sqes),
			 PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
			 ring.fd, IORING_OFF_SQES);
	if (sq == MAP_FAILED || cq == MAP_FAILED || ring.sqes == MAP_FAILED)
		return -1;
	ring.sq_tail = (void *)(sq + p.sq_off.tail);
	ring.sq_mask = (void *)(sq + p.sq_off.ring_mask);
	ring.sq_array = (void *)(sq + p.sq_off.array);
	ring.cq_head = (void *)(cq + p.cq_off.head);
	ring.cq_tail = (void *)(cq + p.cq_off.tail);
	ring.cq_mask = (void *)(cq + p.cq_off.ring_mask);
	ring.cqes = (void *)(cq + p.cq_off.cqes);
	return 0;
}

/* hand a request over; @id comes back with its completion */
static int submit(int op, int fd, const void *addr, unsigned int len,
		  uint64_t off, int flags, uint64_t id)
{
	unsigned int tail = *ring.sq_tail, i = tail & *ring.sq_mask;
	struct io_uring_sqe *sqe = &ring.sqes[i];

	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = op;
	sqe->fd = fd;
	sqe->addr = (uintptr_t)addr;
	sqe->len = len;
	sqe->off = off;
	sqe->msg_flags = flags;
	sqe->user_data = id;
	sqe->ioprio = ring.with.ioprio;
	sqe->flags = ring.with.flags;
	sqe->buf_group = ring.with.buf_group;
	memset(&ring.with, 0, sizeof(ring.with));
	ring.sq_array[i] = i;
	__atomic_store_n(ring.sq_tail, tail + 1, __ATOMIC_RELEASE);
	return syscall(SYS_io_uring_enter, ring.fd, 1, 0, 0, NULL, 0) == 1 ?
	       0 : -1;
}

/* is there a completion? */
static bool completed(void)
{
	return *ring.cq_head != __atomic_load_n(ring.cq_tail, __ATOMIC_ACQUIRE);
}

#define NOTHING	(-9999)

/* result of the next completion, which is of request @id */
static int result_of(uint64_t id)
{
	long end = now_ms() + CONF_LONG;
	struct io_uring_cqe *cqe;
	int res;

	while (!completed()) {
		if (now_ms() > end)
			return NOTHING;
		/* lets the kernel run what has to run in this task */
		syscall(SYS_io_uring_enter, ring.fd, 0, 0,
			IORING_ENTER_GETEVENTS, NULL, 0);
		sleep_ms(1);
	}
	cqe = &ring.cqes[*ring.cq_head & *ring.cq_mask];
	res = cqe->user_data == id ? cqe->res : NOTHING;
	ring.cqe_flags = cqe->flags;
	__atomic_store_n(ring.cq_head, *ring.cq_head + 1, __ATOMIC_RELEASE);
	return res;
}

static bool completion_has(unsigned int flag)
{
	return ring.cqe_flags & flag;
}

static int ring_dial(int fd, uint64_t id)
{
	return submit(IORING_OP_CONNECT, fd, &conf.addr, 0, conf.addrlen, 0,
		      id);
}

TEST_F(uring, connection)
{
	int l = listener(0, 5), c = client(0), s;
	char buf[8] = "";

	ASSERT_OK(ring_open());
	/* waits for a client */
	EXPECT_OK(submit(IORING_OP_ACCEPT, l, NULL, 0, 0, 0, 1));
	sleep_ms(CONF_SHORT);
	EXPECT_FALSE(completed());
	EXPECT_OK(ring_dial(c, 2));
	/* their order is not fixed */
	while (!completed())
		sleep_ms(1);
	sleep_ms(2 * CONF_SHORT);
	if (ring.cqes[*ring.cq_head & *ring.cq_mask].user_data == 1) {
		s = result_of(1);
		EXPECT_EQ(0, result_of(2));
	} else {
		EXPECT_EQ(0, result_of(2));
		s = result_of(1);
	}
	ASSERT_LE(0, s);
	EXPECT_TRUE(carried_as_wanted(0, conf.cfg->client, c));
	/* waits for data */
	EXPECT_OK(submit(IORING_OP_RECV, s, buf, 8, 0, 0, 3));
	sleep_ms(CONF_SHORT);
	EXPECT_FALSE(completed());
	EXPECT_OK(submit(IORING_OP_SEND, c, "hello", 5, 0, 0, 4));
	EXPECT_EQ(5, result_of(4));
	EXPECT_EQ(5, result_of(3));
	EXPECT_STREQ("hello", buf);
	/* plain reads and writes */
	EXPECT_OK(submit(IORING_OP_WRITE, s, "world", 5, 0, 0, 5));
	EXPECT_EQ(5, result_of(5));
	EXPECT_OK(submit(IORING_OP_READ, c, buf, 8, 0, 0, 6));
	EXPECT_EQ(5, result_of(6));
	EXPECT_STREQ("world", buf);
	EXPECT_OK(submit(IORING_OP_SHUTDOWN, c, NULL, SHUT_WR, 0, 0, 7));
	EXPECT_EQ(0, result_of(7));
	EXPECT_EQ(0, recv_next(s));
	EXPECT_OK(submit(IORING_OP_CLOSE, s, NULL, 0, 0, 0, 8));
	EXPECT_EQ(0, result_of(8));
	EXPECT_EQ(0, recv_next(c));
}

TEST_F(uring, refused)
{
	int no = closed_port(), c = client(0);

	ASSERT_OK(ring_open());
	EXPECT_OK(ring_dial(c, 1));
	EXPECT_EQ(-ECONNREFUSED, result_of(1));
	close(no);
}

TEST_F(uring, not_connected)
{
	int c = client(0);
	char buf[4];

	ASSERT_OK(ring_open());
	EXPECT_OK(submit(IORING_OP_RECV, c, buf, 4, 0, 0, 1));
	EXPECT_EQ(-ENOTCONN, result_of(1));
	EXPECT_OK(submit(IORING_OP_SEND, c, buf, 4, 0, MSG_NOSIGNAL, 2));
	EXPECT_EQ(-EPIPE, result_of(2));
	EXPECT_OK(submit(IORING_OP_ACCEPT, c, NULL, 0, 0, 0, 3));
	EXPECT_EQ(-EINVAL, result_of(3));
}

TEST_F(uring, poll)
{
	int fds[2];

	ASSERT_OK(make_pair(fds));
	ASSERT_OK(ring_open());
	EXPECT_OK(submit(IORING_OP_POLL_ADD, fds[0], NULL, 0, 0, POLLIN, 1));
	sleep_ms(CONF_SHORT);
	EXPECT_FALSE(completed());
	EXPECT_RET(1, send(fds[1], "x", 1, 0));
	EXPECT_EQ(POLLIN, result_of(1));
	EXPECT_OK(submit(IORING_OP_POLL_ADD, fds[0], NULL, 0, 0, POLLOUT, 2));
	EXPECT_EQ(POLLOUT, result_of(2));
	EXPECT_OK(submit(IORING_OP_POLL_ADD, fds[0], NULL, 0, 0, POLLRDHUP, 3));
	close(fds[1]);
	EXPECT_EQ(POLLRDHUP, result_of(3));
}

/* a poll request from before the connection was made */
TEST_F(uring, poll_early)
{
	int l = listener(0, 1), c = client(SOCK_NONBLOCK), s;
	char buf[4];

	ASSERT_OK(ring_open());
	EXPECT_ERR(EINPROGRESS, dial(c));
	EXPECT_OK(submit(IORING_OP_POLL_ADD, c, NULL, 0, 0, POLLIN, 1));
	s = accept(l, NULL, NULL);
	EXPECT_TRUE(wait_events(c, POLLOUT));
	sleep_ms(CONF_SHORT);
	EXPECT_FALSE(completed());
	EXPECT_RET(1, send(s, "x", 1, 0));
	EXPECT_EQ(POLLIN, result_of(1));
	EXPECT_OK(submit(IORING_OP_RECV, c, buf, 4, 0, 0, 2));
	EXPECT_EQ(1, result_of(2));
}

TEST_F(uring, waitall)
{
	char buf[8] = "";
	int fds[2];

	ASSERT_OK(make_pair(fds));
	ASSERT_OK(ring_open());
	EXPECT_OK(submit(IORING_OP_RECV, fds[1], buf, 6, 0, MSG_WAITALL, 1));
	EXPECT_RET(3, send(fds[0], "abc", 3, 0));
	sleep_ms(CONF_SHORT);
	EXPECT_FALSE(completed());
	EXPECT_RET(3, send(fds[0], "def", 3, 0));
	EXPECT_EQ(6, result_of(1));
	EXPECT_STREQ("abcdef", buf);
}

/* one request, many connections */
TEST_F(uring, accept_multishot)
{
	int l = listener(0, 5), c, s, i;

	ASSERT_OK(ring_open());
	ring.with.ioprio = IORING_ACCEPT_MULTISHOT;
	EXPECT_OK(submit(IORING_OP_ACCEPT, l, NULL, 0, 0, 0, 1));
	for (i = 0; i < 3; i++) {
		c = client(0);
		ASSERT_OK(dial(c));
		s = result_of(1);
		ASSERT_LE(0, s);
		EXPECT_TRUE(completion_has(IORING_CQE_F_MORE));
		EXPECT_TRUE(passes(c, s));
		EXPECT_TRUE(passes(s, c));
	}
	EXPECT_OK(shutdown(l, SHUT_RD));
	EXPECT_EQ(-EINVAL, result_of(1));
	EXPECT_FALSE(completion_has(IORING_CQE_F_MORE));
}

/* one request, all data, to the end */
TEST_F(uring, recv_multishot)
{
	static char bufs[4][8];
	int fds[2];

	ASSERT_OK(make_pair(fds));
	ASSERT_OK(ring_open());
	ring.with.buf_group = 7;
	EXPECT_OK(submit(IORING_OP_PROVIDE_BUFFERS, 4, bufs, 8, 0, 0, 1));
	EXPECT_EQ(0, result_of(1));
	ring.with.ioprio = IORING_RECV_MULTISHOT;
	ring.with.flags = IOSQE_BUFFER_SELECT;
	ring.with.buf_group = 7;
	EXPECT_OK(submit(IORING_OP_RECV, fds[1], NULL, 0, 0, 0, 2));
	EXPECT_RET(5, send(fds[0], "hello", 5, 0));
	EXPECT_EQ(5, result_of(2));
	EXPECT_TRUE(completion_has(IORING_CQE_F_MORE));
	EXPECT_STREQ("hello", bufs[ring.cqe_flags >> IORING_CQE_BUFFER_SHIFT]);
	EXPECT_RET(3, send(fds[0], "abc", 3, 0));
	EXPECT_EQ(3, result_of(2));
	EXPECT_TRUE(completion_has(IORING_CQE_F_MORE));
	EXPECT_OK(shutdown(fds[0], SHUT_WR));
	EXPECT_EQ(0, result_of(2));
	EXPECT_FALSE(completion_has(IORING_CQE_F_MORE));
}

/* a completion says whether there is more */
TEST_F(uring, nonempty)
{
	char buf[8];
	int fds[2];

	ASSERT_OK(make_pair(fds));
	ASSERT_OK(ring_open());
	EXPECT_RET(6, send(fds[0], "abcdef", 6, 0));
	EXPECT_EQ(6, ask_becomes(fds[1], SIOCINQ, 6));
	EXPECT_OK(submit(IORING_OP_RECV, fds[1], buf, 2, 0, 0, 1));
	EXPECT_EQ(2, result_of(1));
	EXPECT_TRUE(completion_has(IORING_CQE_F_SOCK_NONEMPTY));
	EXPECT_OK(submit(IORING_OP_RECV, fds[1], buf, 4, 0, 0, 2));
	EXPECT_EQ(4, result_of(2));
	EXPECT_FALSE(completion_has(IORING_CQE_F_SOCK_NONEMPTY));
}

/* lengths of the queues; SOCKET_URING_OP_SIOCINQ and SIOCOUTQ */
TEST_F(uring, queues)
{
	int l = listener(0, 1), fds[2];

	ASSERT_OK(make_pair(fds));
	ASSERT_OK(ring_open());
	EXPECT_RET(6, send(fds[0], "abcdef", 6, 0));
	EXPECT_EQ(6, ask_becomes(fds[1], SIOCINQ, 6));
	EXPECT_OK(submit(IORING_OP_URING_CMD, fds[1], NULL, 0, 0, 0, 1));
	EXPECT_EQ(6, result_of(1));
	EXPECT_LT(0, fill_up(fds[1]));
	EXPECT_OK(submit(IORING_OP_URING_CMD, fds[1], NULL, 0, 1, 0, 2));
	EXPECT_LT(0, result_of(2));
	EXPECT_OK(submit(IORING_OP_URING_CMD, l, NULL, 0, 0, 0, 3));
	EXPECT_EQ(-EINVAL, result_of(3));
}

TEST_F(uring, send_all)
{
	static char buf[2 << 20];
	int fds[2];

	ASSERT_OK(make_pair(fds));
	ASSERT_OK(ring_open());
	EXPECT_OK(submit(IORING_OP_SEND, fds[0], buf, sizeof(buf), 0,
			 MSG_WAITALL | MSG_NOSIGNAL, 1));
	EXPECT_EQ((long)sizeof(buf), drain(fds[1], sizeof(buf)));
	EXPECT_EQ((int)sizeof(buf), result_of(1));
}

TEST_F(uring, reset)
{
	int fds[2];
	char buf[4];

	ASSERT_OK(make_pair(fds));
	ASSERT_OK(ring_open());
	EXPECT_OK(submit(IORING_OP_RECV, fds[0], buf, 4, 0, 0, 1));
	EXPECT_OK(set_linger(fds[1], 1, 0));
	close(fds[1]);
	EXPECT_EQ(-ECONNRESET, result_of(1));
}

TEST_F(uring, cancelled)
{
	int l = listener(0, 1);

	ASSERT_OK(ring_open());
	EXPECT_OK(submit(IORING_OP_ACCEPT, l, NULL, 0, 0, 0, 1));
	EXPECT_OK(submit(IORING_OP_ASYNC_CANCEL, -1, (void *)1, 0, 0, 0, 2));
	while (!completed())
		sleep_ms(1);
	if (ring.cqes[*ring.cq_head & *ring.cq_mask].user_data == 1) {
		EXPECT_EQ(-ECANCELED, result_of(1));
		EXPECT_EQ(0, result_of(2));
	} else {
		EXPECT_EQ(0, result_of(2));
		EXPECT_EQ(-ECANCELED, result_of(1));
	}
}

/* zero-copy sends are there, or refused cleanly */
TEST_F(uring, zerocopy)
{
	int fds[2], res;

	ASSERT_OK(make_pair(fds));
	ASSERT_OK(ring_open());
	EXPECT_OK(submit(IORING_OP_SEND_ZC, fds[0], "hello", 5, 0, 0, 1));
	res = result_of(1);
	EXPECT_TRUE(res == 5 || (res == -EOPNOTSUPP && over_smc()))
		TH_LOG("%d", res);
	if (res == 5)
		EXPECT_EQ(5, recv_next(fds[1]));
}

/* the task ends with requests under way */
TEST_F(uring, exit_with_requests)
{
	int fds[2], status;
	char buf[4];
	pid_t pid;

	ASSERT_OK(make_pair(fds));
	pid = fork();
	if (!pid) {
		close(fds[1]);
		if (ring_open())
			_exit(1);
		submit(IORING_OP_RECV, fds[0], buf, 4, 0, 0, 1);
		submit(IORING_OP_POLL_ADD, fds[0], NULL, 0, 0, POLLIN, 2);
		_exit(0);
	}
	close(fds[0]);
	EXPECT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, recv_next(fds[1]));
}

TEST_HARNESS_MAIN
