// SPDX-License-Identifier: GPL-2.0
/*
 * splice(2), sendfile(2), tee(2), vmsplice(2) into and out of sockets.
 */
#include <sys/sendfile.h>

#include "conf.h"

FIXTURE_PAIR(splice);

#define FILE_SIZE	300000

/* a file with the reproducible stream in it */
static int make_file(void)
{
	static uint8_t buf[FILE_SIZE];
	int fd = memfd_create("conf", MFD_CLOEXEC);

	stream_fill(7, 0, buf, sizeof(buf));
	if (fd < 0 || write(fd, buf, sizeof(buf)) != sizeof(buf))
		return -1;
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/* receive @len bytes of the stream from @pos on */
static bool gets_stream(int fd, uint64_t pos, size_t len)
{
	static uint8_t buf[FILE_SIZE];

	return recv_all(fd, buf, len) == (long)len &&
	       stream_check(7, pos, buf, len) < 0;
}

TEST_F(splice, sendfile)
{
	int fd = make_file();
	off_t off = 100;

	ASSERT_LE(0, fd);
	EXPECT_RET(5000, sendfile(self->c, fd, &off, 5000));
	EXPECT_EQ(5100, off);
	EXPECT_TRUE(gets_stream(self->s, 100, 5000));
	EXPECT_RET(1000, sendfile(self->c, fd, NULL, 1000));
	EXPECT_EQ(1000, lseek(fd, 0, SEEK_CUR));
	EXPECT_TRUE(gets_stream(self->s, 0, 1000));
	EXPECT_RET(0, sendfile(self->c, fd, NULL, 0));
}

/* more is asked for than the file has: the tail does not wait for the rest */
TEST_F(splice, sendfile_beyond_end)
{
	int fd = make_file();
	off_t off = FILE_SIZE - 3000;

	ASSERT_LE(0, fd);
	EXPECT_RET(3000, sendfile(self->c, fd, &off, 9000));
	EXPECT_TRUE(gets_stream(self->s, FILE_SIZE - 3000, 3000));
	EXPECT_RET(0, sendfile(self->c, fd, &off, 9000));
}

static int file_of_job;

static long job_sendfile(int fd)
{
	return sendfile(fd, file_of_job, NULL, FILE_SIZE);
}

TEST_F(splice, sendfile_big)
{
	struct job job;
	long sum = 0;

	file_of_job = make_file();
	ASSERT_LE(0, file_of_job);
	job_start(&job, job_sendfile, self->c);
	while (sum < FILE_SIZE) {
		long n = FILE_SIZE - sum < 10000 ? FILE_SIZE - sum : 10000;

		ASSERT_TRUE(gets_stream(self->s, sum, n));
		sum += n;
	}
	EXPECT_EQ(FILE_SIZE, job_result(&job));
}

TEST_F(splice, sendfile_nonblocking)
{
	int fd = make_file();
	off_t off = 0;

	ASSERT_LE(0, fd);
	EXPECT_OK(set_nonblock(self->c, true));
	EXPECT_LT(0, fill_up(self->c));
	EXPECT_ERR(EAGAIN, sendfile(self->c, fd, &off, 1000));
	EXPECT_EQ(0, off);
}

/* header, file, end of the cork: a web server */
TEST_F(splice, sendfile_corked)
{
	int fd = make_file();

	ASSERT_LE(0, fd);
	EXPECT_OK(set_opt(self->c, SOL_TCP, TCP_CORK, 1));
	EXPECT_RET(6, send(self->c, "header", 6, 0));
	EXPECT_RET(2000, sendfile(self->c, fd, NULL, 2000));
	EXPECT_OK(set_opt(self->c, SOL_TCP, TCP_CORK, 0));
	EXPECT_EQ(2006, ask_becomes(self->s, SIOCINQ, 2006));
	EXPECT_EQ(6, recv_all(self->s, (char[8]){}, 6));
	EXPECT_TRUE(gets_stream(self->s, 0, 2000));
}

TEST_F(splice, sendfile_broken)
{
	int fd = make_file();

	ASSERT_LE(0, fd);
	EXPECT_OK(shutdown(self->c, SHUT_WR));
	EXPECT_ERR(EPIPE, sendfile(self->c, fd, NULL, 1000));
	EXPECT_SIGPIPE();
}

TEST_F(splice, out)
{
	char buf[16] = "";
	int p[2];

	ASSERT_OK(pipe(p));
	EXPECT_RET(6, send(self->c, "abcdef", 6, 0));
	EXPECT_RET(4, splice(self->s, NULL, p[1], NULL, 4, 0));
	EXPECT_RET(4, read(p[0], buf, 16));
	EXPECT_EQ(0, memcmp(buf, "abcd", 4));
	EXPECT_RET(2, splice(self->s, NULL, p[1], NULL, 100, SPLICE_F_MOVE));
	EXPECT_RET(2, read(p[0], buf, 16));
	EXPECT_RET(0, splice(self->s, NULL, p[1], NULL, 0, 0));
	EXPECT_ERR(EINVAL, splice(self->s, &(loff_t){ 1 }, p[1], NULL, 4, 0));
	EXPECT_OK(shutdown(self->c, SHUT_WR));
	EXPECT_RET(0, splice(self->s, NULL, p[1], NULL, 4, 0));
}

TEST_F(splice, out_nonblocking)
{
	int p[2];

	ASSERT_OK(pipe(p));
	EXPECT_OK(set_nonblock(self->s, true));
	EXPECT_ERR(EAGAIN, splice(self->s, NULL, p[1], NULL, 4, 0));
	EXPECT_ERR(EAGAIN, splice(self->s, NULL, p[1], NULL, 4,
				  SPLICE_F_NONBLOCK));
	EXPECT_RET(6, send(self->c, "abcdef", 6, 0));
	EXPECT_TRUE(wait_readable(self->s));
	EXPECT_RET(6, splice(self->s, NULL, p[1], NULL, 100,
			     SPLICE_F_NONBLOCK));
}

/* the pipe is full: nothing of the socket is lost */
TEST_F(splice, out_full_pipe)
{
	static char junk[65536];
	int p[2];

	ASSERT_OK(pipe2(p, O_NONBLOCK));
	EXPECT_RET(65536, write(p[1], junk, 65536));
	EXPECT_RET(3, send(self->c, "abc", 3, 0));
	EXPECT_TRUE(wait_readable(self->s));
	EXPECT_ERR(EAGAIN, splice(self->s, NULL, p[1], NULL, 4,
				  SPLICE_F_NONBLOCK));
	EXPECT_EQ(3, ask(self->s, SIOCINQ));
}

static int pipe_of_job;

static long job_splice(int fd)
{
	return splice(fd, NULL, pipe_of_job, NULL, 100, 0);
}

TEST_F(splice, out_blocking)
{
	struct job job;
	int p[2];

	ASSERT_OK(pipe(p));
	pipe_of_job = p[1];
	EXPECT_TRUE(job_start(&job, job_splice, self->s));
	EXPECT_RET(3, send(self->c, "abc", 3, 0));
	EXPECT_EQ(3, job_result(&job));
	sig_catch(SIGUSR1, 0);
	EXPECT_TRUE(job_start(&job, job_splice, self->s));
	pthread_kill(job.thread, SIGUSR1);
	EXPECT_EQ(-EINTR, job_result(&job));
	EXPECT_TRUE(job_start(&job, job_splice, self->s));
	close(self->c);
	EXPECT_EQ(0, job_result(&job));
}

TEST_F(splice, in)
{
	int p[2];

	ASSERT_OK(pipe(p));
	EXPECT_RET(6, write(p[1], "abcdef", 6));
	EXPECT_RET(4, splice(p[0], NULL, self->c, NULL, 4, 0));
	EXPECT_EQ(4, recv_next(self->s));
	EXPECT_RET(2, splice(p[0], NULL, self->c, NULL, 4, SPLICE_F_MORE));
	/* the flag holds back for a moment at most */
	EXPECT_EQ(2, recv_next(self->s));
	close(p[1]);
	EXPECT_RET(0, splice(p[0], NULL, self->c, NULL, 4, 0));
}

/* a proxy: everything through a pipe, in both directions */
TEST_F(splice, proxy)
{
	int fds[2], p[2], file = make_file();
	long sum = 0;

	ASSERT_OK(make_pair(fds));
	ASSERT_OK(pipe(p));
	while (sum < 60000) {
		long in, out = 0;

		ASSERT_RET(4000, sendfile(self->c, file, NULL, 4000));
		ASSERT_EQ(4000, ask_becomes(self->s, SIOCINQ, 4000));
		in = splice(self->s, NULL, p[1], NULL, 65536,
			    SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
		ASSERT_EQ(4000, in);
		while (out < in) {
			long n = splice(p[0], NULL, fds[0], NULL, in - out,
					SPLICE_F_MOVE);

			ASSERT_LT(0, n);
			out += n;
		}
		ASSERT_TRUE(gets_stream(fds[1], sum, 4000));
		sum += 4000;
	}
}

TEST_F(splice, tee)
{
	int p[2], q[2];

	ASSERT_OK(pipe(p));
	ASSERT_OK(pipe(q));
	EXPECT_RET(4, send(self->c, "abcd", 4, 0));
	EXPECT_RET(4, splice(self->s, NULL, p[1], NULL, 100, 0));
	EXPECT_RET(4, tee(p[0], q[1], 100, 0));
	EXPECT_RET(4, splice(p[0], NULL, self->s, NULL, 100, 0));
	EXPECT_RET(4, splice(q[0], NULL, self->s, NULL, 100, 0));
	EXPECT_EQ(8, ask_becomes(self->c, SIOCINQ, 8));
	EXPECT_ERR(EINVAL, tee(self->s, q[1], 4, 0));
}

/* pages of the process go out as they are at that moment, or later: TCP sends
 * them by reference
 */
TEST_F(splice, vmsplice)
{
	static uint8_t page[8192] __attribute__((aligned(4096)));
	struct iovec v = { page, sizeof(page) };
	int p[2];

	stream_fill(7, 0, page, sizeof(page));
	ASSERT_OK(pipe(p));
	EXPECT_RET(8192, vmsplice(p[1], &v, 1, 0));
	EXPECT_RET(8192, splice(p[0], NULL, self->c, NULL, 8192, 0));
	EXPECT_TRUE(gets_stream(self->s, 0, 8192));
}

/* what is in the pipe belongs to nobody else any more */
TEST_F(splice, pages_outlive_socket)
{
	static char buf[8192];
	int p[2], file = make_file();

	ASSERT_OK(pipe(p));
	ASSERT_RET(8192, sendfile(self->c, file, NULL, 8192));
	ASSERT_EQ(8192, ask_becomes(self->s, SIOCINQ, 8192));
	ASSERT_RET(8192, splice(self->s, NULL, p[1], NULL, 65536, 0));
	ASSERT_TRUE(passes(self->c, self->s));
	close(self->c);
	close(self->s);
	EXPECT_RET(8192, read(p[0], buf, 8192));
	EXPECT_EQ(-1, stream_check(7, 0, (void *)buf, 8192));
}

TEST_HARNESS_MAIN
