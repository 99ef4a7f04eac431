// SPDX-License-Identifier: GPL-2.0
/*
 * Nothing is lost at the end of a connection.
 *
 * A sender writes a stream and ends it (exit without close, close,
 * shutdown(SHUT_WR), close with linger) while data is still unsent; a reader
 * on the other host is fast, or pauses first, or is stopped and started again.
 * Right is: every byte before end of file, or a reset; wrong is a clean end of
 * file with bytes missing, or silence.
 *
 *   smc_eof [-k KIND] [-A NS] [-B NS] [-a ADDR] [-p PORT] [-n FAST] [-l SLOW]
 */
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "smc_hosts.h"

static int nfast = 300, nslow = 20;

enum ending { END_EXIT, END_CLOSE, END_SHUT, END_LINGER, NENDINGS };
enum reader { READ_FAST, READ_PAUSE, READ_STOP };

static const char * const ending_name[] = {
	"exit without close", "close", "shutdown(SHUT_WR)", "linger",
};

#define OUT_OK		0
#define OUT_RESET	3	/* acceptable: the reader knows */
#define OUT_SHORT	4
#define OUT_WRONG	5
#define OUT_STUCK	6

/* sends what fits without waiting for the reader, at least @min bytes; the
 * count goes to the reader out of band, through the pipe
 */
static void send_and_end(int fd, int report, enum ending how, int fast)
{
	struct linger lg = { .l_onoff = 1, .l_linger = 60 };
	static uint8_t buf[300000];
	uint64_t total = 0;
	ssize_t n;

	if (how == END_LINGER)
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &lg, sizeof(lg));
	stream_fill(9, 0, buf, sizeof(buf));
	if (fast) {
		while (total < sizeof(buf)) {
			n = send(fd, buf + total, sizeof(buf) - total, MSG_NOSIGNAL);
			if (n <= 0)
				break;
			total += n;
		}
	} else {
		/* both buffers filled up while the reader sleeps */
		struct pollfd p = { .fd = fd, .events = POLLOUT };

		while (total < sizeof(buf) && poll(&p, 1, 500) > 0) {
			n = send(fd, buf + total, sizeof(buf) - total,
				 MSG_NOSIGNAL | MSG_DONTWAIT);
			if (n <= 0)
				break;
			total += n;
		}
	}
	if (write(report, &total, sizeof(total)) != sizeof(total))
		_exit(1);
	if (how == END_EXIT)
		_exit(0);
	if (how == END_SHUT) {
		char c;

		shutdown(fd, SHUT_WR);
		recv(fd, &c, 1, 0);	/* reader is done, or has reset */
	}
	close(fd);
	_exit(0);
}

static int read_all(int fd, int report, enum reader how)
{
	struct timeval tv = { .tv_sec = 90 };
	static uint8_t buf[65536];
	uint64_t got = 0, total;
	ssize_t n;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	if (how == READ_PAUSE)
		sleep(3);
	if (how == READ_STOP)
		raise(SIGSTOP);
	while ((n = recv(fd, buf, sizeof(buf), 0)) > 0) {
		if (stream_check(9, got % 300000, buf, n) >= 0)
			return OUT_WRONG;
		got += n;
	}
	if (n < 0)
		return errno == EAGAIN ? OUT_STUCK : OUT_RESET;
	if (read(report, &total, sizeof(total)) != sizeof(total))
		return OUT_STUCK;
	if (got != total)
		fprintf(stderr, "# %llu of %llu bytes, then end of file\n",
			(unsigned long long)got, (unsigned long long)total);
	return got == total ? OUT_OK : OUT_SHORT;
}

/* one transfer: forks the sender into namespace A, reads here (namespace B) */
static int transfer(int lfd, enum ending end, enum reader how)
{
	struct sockaddr_storage ss;
	socklen_t len = make_addr(&ss, addr, port);
	int report[2], fd, rc, status;
	pid_t pid;

	if (pipe(report))
		return OUT_STUCK;
	pid = fork();
	if (!pid) {
		close(lfd);
		enter_ns(ns_a);
		fd = kind_socket(kind, ss.ss_family, 0);
		if (fd < 0 || connect(fd, (void *)&ss, len)) {
			perror("# connect");
			_exit(1);
		}
		send_and_end(fd, report[1], end, how == READ_FAST);
	}
	close(report[1]);
	fd = accept(lfd, NULL, NULL);
	if (fd < 0)
		return OUT_STUCK;
	rc = read_all(fd, report[0], how);
	close(fd);
	close(report[0]);
	waitpid(pid, &status, 0);
	return rc;
}

static int listen_on(int p)
{
	struct sockaddr_storage ss;
	socklen_t len = make_addr(&ss, addr, p);
	int fd, one = 1;

	fd = kind_socket(kind, ss.ss_family, SOCK_CLOEXEC);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 || bind(fd, (void *)&ss, len) || listen(fd, 128)) {
		perror("listen");
		exit(2);
	}
	return fd;
}

static int test_no, failed;

static void verdict(const int *cnt, int n, const char *end, const char *how)
{
	bool ok = cnt[OUT_OK] + cnt[OUT_RESET] == n;

	printf("%sok %d %d times %s, reader %s: %d whole, %d reset, %d short, %d wrong, %d stuck\n",
	       ok ? "" : "not ", ++test_no, n, end, how, cnt[OUT_OK],
	       cnt[OUT_RESET], cnt[OUT_SHORT], cnt[OUT_WRONG], cnt[OUT_STUCK]);
	fflush(stdout);
	failed += !ok;
}

static void run_fast(enum ending end)
{
	int cnt[8] = { 0 }, i, lfd = listen_on(port);

	for (i = 0; i < nfast; i++)
		cnt[transfer(lfd, end, READ_FAST)]++;
	close(lfd);
	verdict(cnt, nfast, ending_name[end], "fast");
}

/* all at once: each has a listener of its own */
static void run_slow(enum ending end, enum reader how)
{
	int cnt[8] = { 0 }, i, status, base = port, running = nslow;
	struct timespec delay = { .tv_sec = 4 };
	pid_t pids[nslow];

	fflush(stdout);
	for (i = 0; i < nslow; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			port = base + 1 + i;
			_exit(transfer(listen_on(port), end, how));
		}
	}
	if (how == READ_STOP) {
		for (i = 0; i < nslow; i++)
			waitpid(pids[i], &status, WUNTRACED);
		nanosleep(&delay, NULL);
		for (i = 0; i < nslow; i++)
			kill(pids[i], SIGCONT);
	}
	while (running && wait(&status) > 0) {
		if (WIFSTOPPED(status))
			continue;
		running--;
		cnt[WIFEXITED(status) && WEXITSTATUS(status) < 8 ?
		    WEXITSTATUS(status) : OUT_STUCK]++;
	}
	verdict(cnt, nslow, ending_name[end],
		how == READ_PAUSE ? "pauses 3 s" : "is stopped and started");
}

int main(int argc, char **argv)
{
	int opt, end;

	while ((opt = getopt(argc, argv, HOST_OPTIONS "n:l:")) != -1) {
		if (host_option(opt))
			continue;
		switch (opt) {
		case 'n':
			nfast = atoi(optarg);
			break;
		case 'l':
			nslow = atoi(optarg);
			break;
		default:
			return 2;
		}
	}
	signal(SIGPIPE, SIG_IGN);
	enter_ns(ns_b);
	printf("TAP version 13\n1..%d\n", 3 * NENDINGS);
	for (end = 0; end < NENDINGS; end++) {
		run_fast(end);
		run_slow(end, READ_PAUSE);
		run_slow(end, READ_STOP);
	}
	return failed ? 1 : 0;
}
