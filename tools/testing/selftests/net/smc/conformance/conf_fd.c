// SPDX-License-Identifier: GPL-2.0
/*
 * Descriptors and processes: dup, fork, SCM_RIGHTS, exec flags, ioctls,
 * signals of the descriptor (SIGIO), what the kernel shows of a socket.
 */
#include <net/if.h>
#include <sys/un.h>
#include <sys/xattr.h>

#include "conf.h"

FIXTURE_ALONE(before);
FIXTURE_PAIR(fd);

static int send_fd(int via, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = "", b = 0;
	struct iovec v = { &b, 1 };
	struct msghdr m = {
		.msg_iov = &v, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(via, &m, 0) == 1 ? 0 : -1;
}

static int recv_fd(int via)
{
	char control[CMSG_SPACE(sizeof(int))], b;
	struct iovec v = { &b, 1 };
	struct msghdr m = {
		.msg_iov = &v, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	int fd = -1;

	if (recvmsg(via, &m, 0) != 1 || !CMSG_FIRSTHDR(&m))
		return -1;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

/* the same socket by way of a Unix socket; the original is closed */
static int pass_on(int fd)
{
	int u[2], got;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, u) || send_fd(u[0], fd))
		return -1;
	close(fd);
	got = recv_fd(u[1]);
	close(u[0]);
	close(u[1]);
	return got;
}

TEST_F(fd, dup)
{
	int d = dup(self->c), e = fcntl(self->c, F_DUPFD_CLOEXEC, 100);

	EXPECT_TRUE(passes(d, self->s));
	close(self->c);
	EXPECT_TRUE(passes(d, self->s));
	EXPECT_TRUE(passes(self->s, e));
	close(d);
	EXPECT_TRUE(passes(self->s, e));
	close(e);
	EXPECT_EQ(0, recv_next(self->s));
}

TEST_F(fd, dup_shares_flags)
{
	int d = dup(self->c);

	EXPECT_OK(set_nonblock(d, true));
	EXPECT_ERR(EAGAIN, recv(self->c, &d, 1, 0));
}

TEST_F(fd, fork)
{
	int status;
	pid_t pid;

	pid = fork();
	if (!pid) {
		close(self->s);
		if (send(self->c, "child", 5, 0) != 5)
			_exit(1);
		_exit(recv_next(self->c) == 4 ? 0 : 2);
	}
	EXPECT_EQ(5, recv_next(self->s));
	EXPECT_RET(4, send(self->s, "four", 4, 0));
	EXPECT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	/* the child has gone, the connection has not */
	EXPECT_TRUE(passes(self->c, self->s));
	EXPECT_TRUE(passes(self->s, self->c));
}

TEST_F(fd, passed)
{
	int c = pass_on(self->c);

	ASSERT_LE(0, c);
	self->c = c;
	EXPECT_TRUE(passes(self->c, self->s));
	EXPECT_TRUE(passes(self->s, self->c));
}

TEST_F(fd, passed_and_lost)
{
	int u[2];

	ASSERT_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, u));
	ASSERT_OK(send_fd(u[0], self->c));
	close(self->c);
	EXPECT_RET(1, send(self->s, "x", 1, 0));
	/* in flight it lives on; it ends with the one that carries it */
	close(u[0]);
	close(u[1]);
	EXPECT_TRUE(wait_readable(self->s));
	EXPECT_GE(0, recv_next(self->s));
}

TEST_F(before, dup)
{
	int l = listener(0, 1), c = client(SOCK_NONBLOCK), d = dup(c), s;

	EXPECT_ERR(EINPROGRESS, dial(c));
	EXPECT_TRUE(wait_events(d, POLLOUT));
	s = accept(l, NULL, NULL);
	close(c);
	EXPECT_TRUE(passes(d, s));
	EXPECT_TRUE(passes(s, d));
	EXPECT_POLL(EV_OUT, d);
	close(d);
	EXPECT_EQ(0, recv_next(s));
}

TEST_F(before, passed)
{
	int l = listener(0, 2), c = client(SOCK_NONBLOCK), s;

	c = pass_on(c);
	ASSERT_LE(0, c);
	EXPECT_ERR(EINPROGRESS, dial(c));
	c = pass_on(c);
	EXPECT_TRUE(wait_events(c, POLLOUT));
	l = pass_on(l);
	s = accept(l, NULL, NULL);
	s = pass_on(s);
	EXPECT_TRUE(passes(c, s));
	EXPECT_TRUE(passes(s, c));
}

/* another process makes the connection of a socket */
TEST_F(before, fork)
{
	int l = listener(0, 1), c = client(0), s, status;
	pid_t pid = fork();

	if (!pid)
		_exit(dial(c) ? 1 : 0);
	s = accept(l, NULL, NULL);
	EXPECT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_TRUE(passes(c, s));
	EXPECT_TRUE(passes(s, c));
	EXPECT_ERR(EISCONN, dial(c));
}

/* a reader in one thread, the end in another, all descriptors the same */
TEST_F(fd, dup2_over)
{
	int null = open("/dev/null", O_RDWR);

	EXPECT_EQ(self->c, dup2(null, self->c));
	EXPECT_EQ(0, recv_next(self->s));
	close(null);
}

TEST_F(fd, sigio)
{
	sig_catch(SIGIO, SA_RESTART);
	EXPECT_OK(fcntl(self->c, F_SETOWN, getpid()));
	EXPECT_EQ(getpid(), fcntl(self->c, F_GETOWN));
	EXPECT_OK(fcntl(self->c, F_SETFL, O_ASYNC));
	EXPECT_RET(1, send(self->s, "x", 1, 0));
	EXPECT_TRUE(wait_readable(self->c));
	sleep_ms(CONF_SHORT);
	EXPECT_LE(1, sig_taken(SIGIO));
	EXPECT_OK(fcntl(self->c, F_SETFL, 0));
	EXPECT_RET(1, send(self->s, "x", 1, 0));
	EXPECT_EQ(2, ask_becomes(self->c, SIOCINQ, 2));
	sleep_ms(CONF_SHORT);
	EXPECT_EQ(0, sig_taken(SIGIO));
	EXPECT_OK(ioctl(self->c, FIOASYNC, &(int){ 1 }));
	EXPECT_OK(shutdown(self->s, SHUT_WR));
	EXPECT_TRUE(wait_events(self->c, POLLRDHUP));
	sleep_ms(CONF_SHORT);
	EXPECT_LE(1, sig_taken(SIGIO));
}

/* F_SETSIG: the signal says which descriptor, and what happened */
TEST_F(fd, setsig)
{
	struct timespec limit = { .tv_sec = CONF_LONG / 1000 };
	int sig = SIGRTMIN + 3;
	siginfo_t info = {};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	EXPECT_OK(sigprocmask(SIG_BLOCK, &set, NULL));
	EXPECT_OK(fcntl(self->c, F_SETOWN, getpid()));
	EXPECT_OK(fcntl(self->c, F_SETSIG, sig));
	EXPECT_OK(fcntl(self->c, F_SETFL, O_ASYNC));
	EXPECT_RET(1, send(self->s, "x", 1, 0));
	EXPECT_EQ(sig, sigtimedwait(&set, &info, &limit));
	EXPECT_EQ(self->c, info.si_fd);
	EXPECT_EQ(POLL_IN, info.si_code);
	EXPECT_EQ(EV_IN, (int)info.si_band);
	EXPECT_OK(fcntl(self->c, F_SETFL, 0));
}

/* the owner was set before the connection was made */
TEST_F(before, sigio)
{
	int l = listener(0, 1), c = client(SOCK_NONBLOCK), s;

	sig_catch(SIGIO, SA_RESTART);
	EXPECT_OK(fcntl(c, F_SETOWN, getpid()));
	EXPECT_OK(fcntl(c, F_SETFL, O_ASYNC | O_NONBLOCK));
	EXPECT_ERR(EINPROGRESS, dial(c));
	EXPECT_TRUE(wait_events(c, POLLOUT));
	sleep_ms(CONF_SHORT);
	EXPECT_LE(1, sig_taken(SIGIO));
	s = accept(l, NULL, NULL);
	EXPECT_RET(1, send(s, "x", 1, 0));
	EXPECT_TRUE(wait_readable(c));
	sleep_ms(CONF_SHORT);
	EXPECT_LE(1, sig_taken(SIGIO));
	EXPECT_OK(fcntl(c, F_SETFL, O_NONBLOCK));
	EXPECT_RET(1, send(s, "x", 1, 0));
	EXPECT_EQ(2, ask_becomes(c, SIOCINQ, 2));
	sleep_ms(CONF_SHORT);
	EXPECT_EQ(0, sig_taken(SIGIO));
}

TEST_F(before, sigio_listener)
{
	int l = listener(0, 1), c = client(0);

	sig_catch(SIGIO, SA_RESTART);
	EXPECT_OK(fcntl(l, F_SETOWN, getpid()));
	EXPECT_OK(fcntl(l, F_SETFL, O_ASYNC));
	EXPECT_OK(dial(c));
	EXPECT_TRUE(wait_readable(l));
	sleep_ms(CONF_SHORT);
	EXPECT_LE(1, sig_taken(SIGIO));
}

/* the number of the queue is the bytes in it */
TEST_F(fd, queues)
{
	static char buf[10000];
	long n;

	EXPECT_EQ(0, ask(self->s, SIOCINQ));
	EXPECT_EQ(0, ask(self->c, SIOCOUTQ));
	EXPECT_EQ(0, ask(self->c, SIOCOUTQNSD));
	EXPECT_RET(10000, send(self->c, buf, 10000, 0));
	EXPECT_EQ(10000, ask_becomes(self->s, SIOCINQ, 10000));
	EXPECT_RET(1000, recv(self->s, buf, 1000, 0));
	EXPECT_EQ(9000, ask(self->s, SIOCINQ));
	EXPECT_EQ(9000, drain(self->s, 9000));
	/* a program waits like this until all has arrived */
	EXPECT_EQ(0, ask_becomes(self->c, SIOCOUTQ, 0));
	n = fill_up(self->c);
	EXPECT_LT(0, ask(self->c, SIOCOUTQ));
	EXPECT_EQ(n, drain(self->s, n));
	EXPECT_EQ(0, ask_becomes(self->c, SIOCOUTQ, 0));
	EXPECT_EQ(0, ask(self->c, SIOCOUTQNSD));
	/* the end counts as one while there is nothing else */
	EXPECT_OK(shutdown(self->c, SHUT_WR));
	EXPECT_TRUE(wait_events(self->s, POLLRDHUP));
	EXPECT_EQ(0, ask(self->s, SIOCINQ));
}

TEST_F(fd, ioctls)
{
	struct ifreq ifr = { .ifr_name = "lo" };
	int on = 1;

	EXPECT_OK(ioctl(self->c, SIOCGIFFLAGS, &ifr));
	EXPECT_OK(ioctl(self->c, SIOCGIFINDEX, &ifr));
	if (conf.cfg->family == AF_INET)
		EXPECT_OK(ioctl(self->c, SIOCGIFADDR, &ifr));
	EXPECT_ERR(ENOTTY, ioctl(self->c, 0x5401 /* TCGETS */, &ifr));
	EXPECT_ERR(EFAULT, ioctl(self->c, SIOCINQ, 8));
	EXPECT_ERR(EFAULT, ioctl(self->c, SIOCOUTQ, 8));
	EXPECT_OK(ioctl(self->c, FIONBIO, &on));
	EXPECT_ERR(EAGAIN, recv(self->c, &on, 1, 0));
	EXPECT_FALSE(isatty(self->c));
}

TEST_F(fd, not_a_file)
{
	struct stat st;
	void *map;

	EXPECT_ERR(ESPIPE, lseek(self->c, 0, SEEK_SET));
	EXPECT_ERR(ESPIPE, pread(self->c, &st, 1, 0));
	EXPECT_ERR(EINVAL, fsync(self->c));
	EXPECT_ERR(EINVAL, ftruncate(self->c, 0));
	EXPECT_ERR(ENOTDIR, fchdir(self->c));
	EXPECT_TRUE(mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, self->c, 0) ==
		    MAP_FAILED);
	/* where TCP puts what TCP_ZEROCOPY_RECEIVE finds */
	map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, self->c, 0);
	if (differs(DIFF_ZEROCOPY)) {
		EXPECT_TRUE(map == MAP_FAILED);
		EXPECT_EQ(ENODEV, errno);
	} else {
		EXPECT_FALSE(map == MAP_FAILED);
	}
	EXPECT_OK(fstat(self->c, &st));
	EXPECT_TRUE(S_ISSOCK(st.st_mode));
	EXPECT_EQ(getuid(), st.st_uid);
}

/* every call in the state that a listener is in has been seen; these are for
 * the wrong kind of descriptor
 */
TEST_F(before, no_socket)
{
	int p[2];

	ASSERT_OK(pipe(p));
	closed_port();
	EXPECT_ERR(ENOTSOCK, dial(p[0]));
	EXPECT_ERR(ENOTSOCK, listen(p[0], 1));
	EXPECT_ERR(EBADF, dial(999));
}

/* /proc/self/fd and the xattr of the socket say what it is */
TEST_F(fd, shown)
{
	char path[64], text[64] = "";
	struct stat st;

	ASSERT_OK(fstat(self->c, &st));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", self->c);
	EXPECT_LT(0, readlink(path, text, sizeof(text) - 1));
	snprintf(path, sizeof(path), "socket:[%lu]", (long)st.st_ino);
	EXPECT_STREQ(path, text);
	EXPECT_LT(0, fgetxattr(self->c, "system.sockprotoname", text,
			       sizeof(text)));
}

TEST_HARNESS_MAIN
