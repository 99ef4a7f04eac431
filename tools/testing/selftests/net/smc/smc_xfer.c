// SPDX-License-Identifier: GPL-2.0
/*
 * Traffic between two hosts that checks every byte.
 *
 * The server takes connections for ever (or until -n of them have ended); the
 * first byte of a connection says what both sides do. The client runs one or
 * all cases and prints TAP. Both sides verify; the server reports what it saw
 * in the last byte where the case allows it, and counts failures of its own.
 *
 *   smc_xfer -s [-k KIND] [-N NS] -p PORT ADDR
 *   smc_xfer -c [-k KIND] [-N NS] -p PORT [-m MODE] ADDR [CASE ..]
 *
 * -m smcr|tcp: fail unless the connections are carried so (sock_diag).
 * -x: the other end is the SMC of Linux 7.3, which loses data in a half-close
 *     that finds its buffer full, and ends an abortive close by a clean end of
 *     file: stay below the first and accept the second.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "smc_test.h"

#define BULK	(2U << 20)	/* bytes each way of a bulk case */
#define MAXW	(1U << 20)	/* longest single write */
#define HALF	300000U		/* bytes of a half-close case */
#define HALF_LAX 60000U		/* .. that fits the buffers of a lossy peer */

static enum smc_kind kind = KIND_AF_SMC;
static const char *host, *ns;
static int port = 5000, want_mode = -1;
static int failures;
static bool lax;

struct cse {
	char id;
	const char *name;
	int (*client)(int fd, uint32_t seed);
	int (*server)(int fd, uint32_t seed);
};

static int fail(const char *what)
{
	fprintf(stderr, "# %s: %s\n", what, strerror(errno));
	return -1;
}

static int bad(const char *what, long long val)
{
	fprintf(stderr, "# %s: %lld\n", what, val);
	return -1;
}

static int write_all(int fd, const void *buf, size_t len)
{
	while (len) {
		ssize_t n = send(fd, buf, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fail("send");
		buf = (const char *)buf + n;
		len -= n;
	}
	return 0;
}

/* exactly @len bytes of the stream of @seed from @pos on */
static int read_check(int fd, uint32_t seed, uint64_t pos, size_t len)
{
	static __thread uint8_t buf[65536];

	while (len) {
		ssize_t n = recv(fd, buf, len < sizeof(buf) ? len : sizeof(buf), 0);
		long long at;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail("recv");
		if (!n)
			return bad("early end of file, bytes missing", len);
		at = stream_check(seed, pos, buf, n);
		if (at >= 0)
			return bad("wrong byte at", at);
		pos += n;
		len -= n;
	}
	return 0;
}

static int read_eof(int fd)
{
	char c;
	ssize_t n = recv(fd, &c, 1, 0);

	return n < 0 ? fail("recv at end") : n ? bad("data after the end", c) : 0;
}

/* writes of random length, 1 byte to 1 MiB */
static int write_stream(int fd, uint32_t seed, size_t len)
{
	uint8_t *buf = malloc(MAXW);
	unsigned int rnd = seed;
	uint64_t pos = 0;
	int rc = 0;

	while (pos < len && !rc) {
		size_t n = 1 + rand_r(&rnd) % (1U << (rand_r(&rnd) % 21));

		if (n > len - pos)
			n = len - pos;
		stream_fill(seed, pos, buf, n);
		rc = write_all(fd, buf, n);
		pos += n;
	}
	free(buf);
	return rc;
}

struct wr {
	pthread_t thread;
	int fd;
	uint32_t seed;
	size_t len;
	int rc;
};

static void *wr_main(void *arg)
{
	struct wr *w = arg;

	w->rc = write_stream(w->fd, w->seed, w->len);
	return NULL;
}

static int bulk(int fd, uint32_t out, uint32_t in)
{
	struct wr w = { .fd = fd, .seed = out, .len = BULK };
	int rc;

	pthread_create(&w.thread, NULL, wr_main, &w);
	rc = read_check(fd, in, 0, BULK);
	if (rc)
		shutdown(fd, SHUT_RDWR);
	pthread_join(w.thread, NULL);
	return rc | w.rc;
}

static int bulk_c(int fd, uint32_t seed)
{
	return bulk(fd, seed, seed + 1) || shutdown(fd, SHUT_WR) || read_eof(fd);
}

static int bulk_s(int fd, uint32_t seed)
{
	return bulk(fd, seed + 1, seed) || read_eof(fd);
}

static int short_c(int fd, uint32_t seed)
{
	uint8_t c = seed;

	return write_all(fd, &c, 1) || read_check(fd, seed, 0, 1);
}

static int short_s(int fd, uint32_t seed)
{
	uint8_t c;

	if (recv(fd, &c, 1, 0) != 1 || c != (uint8_t)seed)
		return fail("short");
	c = stream_byte(seed, 0);
	return write_all(fd, &c, 1);
}

static size_t half(void)
{
	return lax ? HALF_LAX : HALF;
}

/* client is done first: the server answers into the open half */
static int halfc_c(int fd, uint32_t seed)
{
	return write_stream(fd, seed, half()) || shutdown(fd, SHUT_WR) ||
	       read_check(fd, seed + 1, 0, half()) || read_eof(fd);
}

static int halfc_s(int fd, uint32_t seed)
{
	return read_check(fd, seed, 0, half()) || read_eof(fd) ||
	       write_stream(fd, seed + 1, half());
}

static int abort_out(int fd, uint32_t seed)
{
	struct linger lg = { .l_onoff = 1 };

	if (write_stream(fd, seed, 1000))
		return -1;
	return setsockopt(fd, SOL_SOCKET, SO_LINGER, &lg, sizeof(lg)) ?
	       fail("linger") : 0;	/* the close that follows resets */
}

static int abort_in(int fd, uint32_t seed)
{
	uint8_t buf[2000];
	ssize_t n;

	do {
		n = recv(fd, buf, sizeof(buf), 0);
	} while (n > 0);
	if (!n)
		return lax ? 0 : bad("clean end of file after a reset", 0);
	return errno == ECONNRESET ? 0 : fail("not ECONNRESET");
}

static int urgent_out(int fd, uint32_t seed)
{
	if (write_all(fd, "abc", 3) || send(fd, "xy!", 3, MSG_OOB) != 3 ||
	    write_all(fd, "def", 3))
		return fail("urgent");
	return shutdown(fd, SHUT_WR) || read_eof(fd);
}

static int urgent_in(int fd, uint32_t seed)
{
	struct pollfd p = { .fd = fd, .events = POLLPRI };
	char buf[16] = "", c = 0;
	int n = 0, rc;

	if (poll(&p, 1, 5000) != 1 || !(p.revents & POLLPRI))
		return fail("no POLLPRI");
	while (recv(fd, &c, 1, MSG_OOB) != 1) {
		if (errno != EAGAIN && errno != EINVAL)
			return fail("recv MSG_OOB");
		if (n++ > 500)
			return bad("urgent byte never came", n);
		usleep(10000);
	}
	if (c != '!')
		return bad("urgent byte is", c);
	for (n = 0; n < 8; n += rc) {
		rc = recv(fd, buf + n, 8 - n, 0);
		if (rc <= 0)
			return fail("recv");
	}
	if (memcmp(buf, "abcxydef", 8)) {
		fprintf(stderr, "# data around the urgent byte: %s\n", buf);
		return -1;
	}
	return read_eof(fd);
}

static const struct cse cases[] = {
	{ 'b', "bulk", bulk_c, bulk_s },
	{ 's', "short", short_c, short_s },
	{ 'h', "halfclose-client", halfc_c, halfc_s },
	{ 'H', "halfclose-server", halfc_s, halfc_c },
	{ 'a', "abort-client", abort_out, abort_in },
	{ 'A', "abort-server", abort_in, abort_out },
	{ 'u', "urgent-client", urgent_out, urgent_in },
	{ 'U', "urgent-server", urgent_in, urgent_out },
};

static const struct cse *find_case(char id)
{
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (cases[i].id == id)
			return &cases[i];
	return NULL;
}

static int dial(char id, uint32_t seed)
{
	struct sockaddr_storage ss;
	struct timeval tv = { .tv_sec = 60 };
	socklen_t len = make_addr(&ss, host, port);
	uint8_t hello[5] = { id, seed >> 24, seed >> 16, seed >> 8, seed };
	uint32_t reason = 0;
	int fd, mode;

	fd = kind_socket(kind, ss.ss_family, SOCK_CLOEXEC);
	if (fd < 0 || connect(fd, (void *)&ss, len)) {
		fail(fd < 0 ? "socket" : "connect");
		if (fd >= 0)
			close(fd);
		return -1;
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	if (want_mode >= 0) {
		mode = diag_mode(fd, &reason);
		if (mode != want_mode) {
			fprintf(stderr, "# mode %d, reason 0x%08x\n", mode, reason);
			close(fd);
			return -1;
		}
	}
	if (write_all(fd, hello, sizeof(hello))) {
		close(fd);
		return -1;
	}
	return fd;
}

static int one(const struct cse *c, uint32_t seed)
{
	int fd, rc;

	fd = dial(c->id, seed);
	if (fd < 0)
		return -1;
	rc = c->client(fd, seed);
	close(fd);
	return rc;
}

/* @n connections of a case at once; number of those that failed */
static int parallel(const struct cse *c, int n, uint32_t seed)
{
	int i, status, bad = 0;

	fflush(stdout);
	for (i = 0; i < n; i++)
		if (!fork())
			_exit(one(c, seed + 2 * i) ? 1 : 0);
	while (wait(&status) > 0)
		bad += !WIFEXITED(status) || WEXITSTATUS(status);
	return bad;
}

static int tap_no;

static void tap(bool ok, const char *name)
{
	printf("%sok %d %s\n", ok ? "" : "not ", ++tap_no, name);
	fflush(stdout);
	failures += !ok;
}

static bool chosen(int argc, char **argv, const char *name)
{
	int i;

	for (i = 0; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return !argc;
}

static int client(int argc, char **argv)
{
	uint32_t seed = 1000;
	unsigned int k;
	int i, n;

	printf("TAP version 13\n");
	if (chosen(argc, argv, "bulk4"))
		tap(!parallel(find_case('b'), 4, 1), "4 connections, 2 MiB of checked data both ways");
	if (chosen(argc, argv, "short200")) {
		for (i = n = 0; i < 200; i++)
			n += !!one(find_case('s'), seed++);
		tap(!n, "200 short connections one after the other");
	}
	if (chosen(argc, argv, "short50"))
		tap(!parallel(find_case('s'), 50, 7), "50 short connections at once");
	for (k = 2; k < sizeof(cases) / sizeof(cases[0]); k++)
		if (chosen(argc, argv, cases[k].name))
			tap(!one(&cases[k], seed++), cases[k].name);
	printf("1..%d\n", tap_no);
	return failures ? 1 : 0;
}

static int serve_one(int fd)
{
	struct timeval tv = { .tv_sec = 60 };
	const struct cse *c;
	uint8_t hello[5];
	uint32_t seed;
	int rc;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	if (recv(fd, hello, sizeof(hello), MSG_WAITALL) != sizeof(hello))
		return fail("hello");
	if (want_mode >= 0 && diag_mode(fd, NULL) != want_mode)
		return bad("server: wrong mode", diag_mode(fd, NULL));
	c = find_case(hello[0]);
	if (!c)
		return bad("unknown case", hello[0]);
	seed = hello[1] << 24 | hello[2] << 16 | hello[3] << 8 | hello[4];
	rc = c->server(fd, seed);
	if (rc)
		fprintf(stderr, "# server: case %s failed\n", c->name);
	return rc;
}

static volatile sig_atomic_t stop;

static void on_term(int sig)
{
	stop = 1;
}

static int server(void)
{
	struct sigaction sa = { .sa_handler = on_term };
	struct sockaddr_storage ss;
	socklen_t len = make_addr(&ss, host, port);
	int lfd, fd, one = 1, status, bad_children = 0;

	sigaction(SIGTERM, &sa, NULL);
	lfd = kind_socket(kind, ss.ss_family, SOCK_CLOEXEC);
	if (lfd < 0)
		return fail("socket") ? 2 : 2;
	setsockopt(lfd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(lfd, (void *)&ss, len) || listen(lfd, 128)) {
		fail("listen");
		return 2;
	}
	printf("# listening\n");
	fflush(stdout);
	while (!stop) {
		while (waitpid(-1, &status, WNOHANG) > 0)
			bad_children += status != 0;
		fd = accept(lfd, NULL, NULL);
		if (fd < 0)
			continue;
		if (!fork()) {
			close(lfd);
			_exit(serve_one(fd) ? 1 : 0);
		}
		close(fd);
	}
	close(lfd);
	while (wait(&status) > 0)
		bad_children += status != 0;
	printf("# server: %d connections failed\n", bad_children);
	return bad_children ? 1 : 0;
}

int main(int argc, char **argv)
{
	bool serve = false;
	int opt;

	while ((opt = getopt(argc, argv, "csxk:N:p:m:")) != -1) {
		switch (opt) {
		case 's':
			serve = true;
			break;
		case 'x':
			lax = true;
			break;
		case 'k':
			kind = kind_parse(optarg);
			break;
		case 'N':
			ns = optarg;
			break;
		case 'p':
			port = atoi(optarg);
			break;
		case 'm':
			want_mode = strcmp(optarg, "tcp") ?
				    SMC_DIAG_MODE_SMCR :
				    SMC_DIAG_MODE_FALLBACK_TCP;
			break;
		}
	}
	if (optind >= argc)
		return 2;
	host = argv[optind++];
	signal(SIGPIPE, SIG_IGN);
	enter_ns(ns);
	return serve ? server() : client(argc - optind, argv + optind);
}
