/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of smc_load.c stand on: both ends of connections, threads that
 * are waited for with a limit, a stream that is checked.
 */
#ifndef SMC_LOAD_H
#define SMC_LOAD_H

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "smc_hosts.h"

#define MAXCONNS	64
#define CHUNK		32768
#define LIMIT		60

static const char *cmd;
static int nconns, secs;
static uint64_t bytes = 1 << 20;
static bool kill_peer;

/* the two ends of a connection; a in host A, b in host B */
struct pair {
	int a, b;
};

static struct pair pairs[MAXCONNS];

static int fail(const char *what)
{
	printf("# %s: %s\n", what, strerror(errno));
	return -1;
}

static int bad(const char *what, long long val)
{
	printf("# %s: %lld\n", what, val);
	return -1;
}

/* memory that processes share */
static void *shared(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(2);
	}
	return p;
}

/* a socket of the kind; TCP is held to buffers of the size that SMC has */
static int new_socket(int family)
{
	int fd = kind_socket(kind, family, SOCK_CLOEXEC), size = 65536;

	if (fd >= 0 && kind == KIND_TCP) {
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	}
	return fd;
}

/* @n connections from A to B; they have to be what the kind says */
static int connect_pairs(int n)
{
	struct sockaddr_storage ss;
	socklen_t len = make_addr(&ss, addr, port);
	int64_t begin = now_ms();
	int lfd, i, one = 1;

	enter_ns(ns_b);
	lfd = new_socket(ss.ss_family);
	if (lfd < 0)
		return fail("socket");
	setsockopt(lfd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(lfd, (void *)&ss, len) || listen(lfd, 64))
		return fail("listen");
	enter_ns(ns_a);
	for (i = 0; i < n; i++) {
		pairs[i].a = new_socket(ss.ss_family);
		if (pairs[i].a < 0 || connect(pairs[i].a, (void *)&ss, len))
			return fail("connect");
		pairs[i].b = accept(lfd, NULL, NULL);
		if (pairs[i].b < 0)
			return fail("accept");
		if (kind != KIND_TCP &&
		    diag_mode(pairs[i].a, NULL) != SMC_DIAG_MODE_SMCR)
			return bad("not over SMC-R, connection", i);
	}
	close(lfd);
	printf("# %lld ms to connect\n", (long long)(now_ms() - begin));
	return 0;
}

/* ---- threads ---- */

struct worker {
	pthread_t thread;
	void *(*main)(void *arg);
	int fd, no;
	pid_t tid;
	int err;		/* of the call that ended it */
	int rc;
	_Atomic uint64_t count;	/* bytes or transactions */
};

static atomic_bool stop, go;

static void *worker_main(void *arg)
{
	struct worker *w = arg;

	w->tid = syscall(SYS_gettid);
	while (!go)
		sleep_ms(1);
	return w->main(w);
}

static void start(struct worker *w, void *(*main)(void *arg), int fd, int no)
{
	memset(w, 0, sizeof(*w));
	w->main = main;
	w->fd = fd;
	w->no = no;
	if (pthread_create(&w->thread, NULL, worker_main, w)) {
		perror("pthread_create");
		exit(2);
	}
}

/* how many have not ended within the limit */
static int join_all(struct worker *w, int n)
{
	struct timespec ts;
	int i, hang = 0;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += LIMIT + secs;
	for (i = 0; i < n; i++)
		hang += !!pthread_timedjoin_np(w[i].thread, NULL, &ts);
	return hang;
}

static uint64_t total(struct worker *w, int n)
{
	uint64_t sum = 0;

	while (n--)
		sum += w[n].count;
	return sum;
}

static int failed(struct worker *w, int n)
{
	int sum = 0;

	while (n--)
		sum += !!w[n].rc;
	return sum;
}

/* ---- a stream that is checked ---- */

static int read_stream(int fd, uint32_t seed, uint64_t *pos, uint64_t len,
		       bool pause)
{
	static __thread uint8_t buf[65536];
	unsigned int rnd = seed;
	long long at;
	ssize_t n;

	while (*pos < len) {
		n = 1 + rand_r(&rnd) % sizeof(buf);
		if ((uint64_t)n > len - *pos)
			n = len - *pos;
		n = recv(fd, buf, n, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail("recv");
		if (!n)
			return 0;
		at = stream_check(seed, *pos, buf, n);
		if (at >= 0)
			return bad("wrong byte at", at);
		*pos += n;
		if (pause && rand_r(&rnd) % 2)
			sleep_ms(1 + rand_r(&rnd) % 6);
	}
	return 0;
}

#endif /* SMC_LOAD_H */
