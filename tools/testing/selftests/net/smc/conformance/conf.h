/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the conformance tests share. Each check says what TCP does, and runs
 * over TCP as well as over every kind of SMC socket and every way a connection
 * can be carried. Clients live in the namespace A, servers in B.
 *
 * Only one thing may differ in SMC: what is in conf_diffs[], which
 * Documentation/networking/smc/api.rst explains one by one.
 *
 * A test runs in a process of its own; so globals are per test.
 */
#ifndef SMC_CONF_H
#define SMC_CONF_H

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include <linux/sockios.h>

#include "../smc_test.h"
#include "kselftest_harness.h"

/* a test that hangs shall not hold up the others for ever; a busy guest with a
 * debug kernel is slow
 */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	300

/* what carries a connection, and why */
enum conf_path {
	PATH_TCP,	/* both sockets are TCP's: the oracle */
	PATH_SMC,	/* SMC-R v2 */
	PATH_PEER,	/* one side knows no SMC */
	PATH_OPTION,	/* an option only TCP can fulfil */
	PATH_DECLINE,	/* the handshake ends with a Decline */
};

/**
 * struct conf_cfg - a variant
 * @client: kind of the sockets in A
 * @server: kind of the sockets in B
 * @family: AF_INET or AF_INET6
 * @mapped: IPv6 sockets with IPv4 addresses
 * @path: what has to carry the connections
 */
struct conf_cfg {
	enum smc_kind client;
	enum smc_kind server;
	int family;
	bool mapped;
	enum conf_path path;
};

/* SMC-R v2 works with IPv4 addresses; native IPv6 ends in a Decline here */
#define CONF_VARIANTS(fixture)						\
	CONF_VARIANT(fixture, tcp4, TCP, TCP, AF_INET, 0, TCP)		\
	CONF_VARIANT(fixture, tcp6, TCP, TCP, AF_INET6, 0, TCP)		\
	CONF_VARIANT(fixture, smc4, AF_SMC, AF_SMC, AF_INET, 0, SMC)	\
	CONF_VARIANT(fixture, smc6, AF_SMC, AF_SMC, AF_INET6, 1, SMC)	\
	CONF_VARIANT(fixture, ipsmc4, IPPROTO_SMC, IPPROTO_SMC,		\
		     AF_INET, 0, SMC)					\
	CONF_VARIANT(fixture, ipsmc6, IPPROTO_SMC, IPPROTO_SMC,		\
		     AF_INET6, 1, SMC)					\
	CONF_VARIANT(fixture, smc4_to_tcp, AF_SMC, TCP, AF_INET, 0, PEER) \
	CONF_VARIANT(fixture, ipsmc6_to_tcp, IPPROTO_SMC, TCP,		\
		     AF_INET6, 0, PEER)					\
	CONF_VARIANT(fixture, tcp_to_smc6, TCP, AF_SMC, AF_INET6, 0, PEER) \
	CONF_VARIANT(fixture, tcp_to_ipsmc4, TCP, IPPROTO_SMC,		\
		     AF_INET, 0, PEER)					\
	CONF_VARIANT(fixture, ipsmc4_option, IPPROTO_SMC, IPPROTO_SMC,	\
		     AF_INET, 0, OPTION)				\
	CONF_VARIANT(fixture, smc6_decline, AF_SMC, AF_SMC,		\
		     AF_INET6, 0, DECLINE)				\
	CONF_VARIANT(fixture, ipsmc6_decline, IPPROTO_SMC, IPPROTO_SMC,	\
		     AF_INET6, 0, DECLINE)

#define CONF_VARIANT(fixture, name, c, s, fam, map, way)		\
	FIXTURE_VARIANT_ADD(fixture, name) {				\
		.cfg.client = KIND_##c, .cfg.server = KIND_##s,		\
		.cfg.family = fam, .cfg.mapped = map,			\
		.cfg.path = PATH_##way,					\
	};

/* Differences that may be, see the file comment. */
enum conf_diff {
	DIFF_ZEROCOPY,
	DIFF_ULP,
	DIFF_TXREHASH,
	DIFF_URGENT,
	DIFF_ACCEPT_ORDER,
	DIFF_SEGMENTS,
	DIFF_TIMESTAMPS,
};

static const char * const conf_diffs[] __attribute__((unused)) = {
	[DIFF_ZEROCOPY] = "zerocopy",
	[DIFF_ULP] = "ulp",
	[DIFF_TXREHASH] = "txrehash",
	[DIFF_URGENT] = "urgent",
	[DIFF_ACCEPT_ORDER] = "accept-order",
	[DIFF_SEGMENTS] = "segments",
	[DIFF_TIMESTAMPS] = "timestamps",
};

/* longer than anything that is waited for may take in a busy guest, ms */
#define CONF_LONG	60000
/* time for something that shall not happen, ms */
#define CONF_SHORT	40
/* nothing moves any more if nothing does for so long, ms: an acknowledgement of
 * TCP, which makes room, may take 200, and a worker of a busy guest some time
 */
#define CONF_QUIET	400

#define EV_IN		(POLLIN | POLLRDNORM)
#define EV_OUT		(POLLOUT | POLLWRNORM)
#define EV_ALL		(EV_IN | EV_OUT | POLLPRI | POLLRDHUP)

/* result of a call: what it returned, or the negative errno */
#define CALL(expr)	({						\
	long r_ = (long)(expr);						\
	r_ < 0 ? -(long)errno : r_;					\
})
#define EXPECT_RET(val, expr)	EXPECT_EQ((long)(val), CALL(expr))
#define EXPECT_OK(expr)		EXPECT_EQ(0L, CALL(expr))
#define EXPECT_ERR(err, expr)	EXPECT_EQ(-(long)(err), CALL(expr))
#define ASSERT_OK(expr)		ASSERT_EQ(0L, CALL(expr))
#define ASSERT_RET(val, expr)	ASSERT_EQ((long)(val), CALL(expr))
/* the same, now or soon */
#define EXPECT_BECOMES(val, expr)	EXPECT_EQ((long)(val), ({	\
	long end_ = now_ms() + CONF_LONG, v_;				\
	while ((v_ = CALL(expr)) != (long)(val) && now_ms() < end_)	\
		sleep_ms(2);						\
	v_;								\
}))
/* poll() reports exactly these, at once or soon */
#define EXPECT_POLL(mask, fd)	EXPECT_EQ((mask), poll_becomes(fd, mask))
/* one SIGPIPE since the last question, or none */
#define EXPECT_SIGPIPE()	EXPECT_EQ(1, sig_taken(SIGPIPE))
#define EXPECT_NO_SIGPIPE()	EXPECT_EQ(0, sig_taken(SIGPIPE))

static struct {
	const struct conf_cfg *cfg;
	int ns[2];
	struct sockaddr_storage addr;	/* of the last listener() */
	socklen_t addrlen;
	volatile int signals[65];
} conf;

static inline bool over_smc(void)
{
	return conf.cfg->path == PATH_SMC;
}

/* May this difference be seen here? */
static inline bool differs(enum conf_diff diff)
{
	(void)diff;
	return over_smc();
}

static inline void sig_count(int sig)
{
	conf.signals[sig]++;
}

/* how often @sig came since the last question */
static inline int sig_taken(int sig)
{
	return __atomic_exchange_n(&conf.signals[sig], 0, __ATOMIC_SEQ_CST);
}

static inline void sig_catch(int sig, int flags)
{
	struct sigaction sa = { .sa_handler = sig_count, .sa_flags = flags };

	sigaction(sig, &sa, NULL);
}

static inline int conf_init(const struct conf_cfg *cfg)
{
	conf.cfg = cfg;
	conf.ns[0] = open("/run/netns/A", O_RDONLY | O_CLOEXEC);
	conf.ns[1] = open("/run/netns/B", O_RDONLY | O_CLOEXEC);
	sig_catch(SIGPIPE, SA_RESTART);
	return conf.ns[0] < 0 || conf.ns[1] < 0 ? -1 : 0;
}

static inline int in_ns(int i)
{
	return setns(conf.ns[i], CLONE_NEWNET);
}

static inline int conf_socket(int ns, enum smc_kind kind, int flags)
{
	int fd, qlen = 1;

	in_ns(ns);
	fd = kind_socket(kind, conf.cfg->family, flags);
	/* means nothing to a socket that does not listen, but SMC has to go */
	if (fd >= 0 && conf.cfg->path == PATH_OPTION)
		setsockopt(fd, SOL_TCP, TCP_FASTOPEN, &qlen, sizeof(qlen));
	return fd;
}

static inline int client(int flags)
{
	return conf_socket(0, conf.cfg->client, flags);
}

static inline int server(int flags)
{
	return conf_socket(1, conf.cfg->server, flags);
}

/* an address of the host A (0) or B (1) */
static inline socklen_t host_addr(struct sockaddr_storage *ss, int host,
				  int port)
{
	char text[32];

	if (conf.cfg->family == AF_INET6 && !conf.cfg->mapped)
		snprintf(text, sizeof(text), "fd00::%d", host + 1);
	else
		snprintf(text, sizeof(text), "%s10.0.0.%d",
			 conf.cfg->mapped ? "::ffff:" : "", host + 1);
	return make_addr(ss, text, port);
}

static inline int ss_port(const struct sockaddr_storage *ss)
{
	return ntohs(ss->ss_family == AF_INET ?
		     ((struct sockaddr_in *)ss)->sin_port :
		     ((struct sockaddr_in6 *)ss)->sin6_port);
}

static inline int bind_host(int fd, int host, int port)
{
	struct sockaddr_storage ss;
	socklen_t len = host_addr(&ss, host, port);

	return bind(fd, (struct sockaddr *)&ss, len);
}

/* remember the address of @fd for dial() */
static inline int learn_addr(int fd)
{
	conf.addrlen = sizeof(conf.addr);
	return getsockname(fd, (struct sockaddr *)&conf.addr, &conf.addrlen);
}

/* bind and listen at a free port, which dial() then goes to */
static inline int start_listen(int fd, int backlog)
{
	return bind_host(fd, 1, 0) || listen(fd, backlog) ||
	       learn_addr(fd) ? -1 : 0;
}

static inline int listener(int flags, int backlog)
{
	int fd = server(flags);

	return start_listen(fd, backlog) ? -1 : fd;
}

static inline int dial(int fd)
{
	return connect(fd, (struct sockaddr *)&conf.addr, conf.addrlen);
}

/* dial() goes to a port where nobody listens; returns who keeps it that way */
static inline int closed_port(void)
{
	int fd;

	in_ns(1);
	fd = kind_socket(KIND_TCP, conf.cfg->family, 0);
	if (bind_host(fd, 1, 0) || learn_addr(fd))
		return -1;
	return fd;
}

/* dial() goes to a port that answers no SYN until accept() was called on the
 * result, which is a TCP socket
 */
static inline int silent_port(int *filler)
{
	struct pollfd p = { .events = POLLIN };

	in_ns(1);
	p.fd = kind_socket(KIND_TCP, conf.cfg->family, 0);
	if (start_listen(p.fd, 0))
		return -1;
	in_ns(0);
	*filler = kind_socket(KIND_TCP, conf.cfg->family, 0);
	if (dial(*filler) || poll(&p, 1, CONF_LONG) != 1)
		return -1;
	return p.fd;
}

static inline int unspec(int fd)
{
	struct sockaddr sa = { .sa_family = AF_UNSPEC };

	return connect(fd, &sa, sizeof(sa));
}

static inline int poll_events(int fd, int events, int ms)
{
	struct pollfd p = { .fd = fd, .events = events };

	return poll(&p, 1, ms) < 0 ? -errno : p.revents;
}

static inline int poll_now(int fd)
{
	return poll_events(fd, EV_ALL, 0);
}

/* what poll() reports when it reports @mask, or after a long time */
static inline int poll_becomes(int fd, int mask)
{
	long end = now_ms() + CONF_LONG;
	int ev;

	while ((ev = poll_now(fd)) != mask && now_ms() < end)
		sleep_ms(2);
	return ev;
}

/* wait until all of @events are there */
static inline bool wait_events(int fd, int events)
{
	long end = now_ms() + CONF_LONG;

	while ((poll_now(fd) & events) != events) {
		if (now_ms() > end)
			return false;
		sleep_ms(1);
	}
	return true;
}

static inline bool wait_readable(int fd)
{
	return poll_events(fd, POLLIN, CONF_LONG) & POLLIN;
}

static inline int get_opt(int fd, int level, int name)
{
	socklen_t len = sizeof(int);
	int val = -1;

	return getsockopt(fd, level, name, &val, &len) ? -errno : val;
}

static inline int set_opt(int fd, int level, int name, int val)
{
	return setsockopt(fd, level, name, &val, sizeof(val));
}

/* or TCP would take megabytes before a writer has to wait, and find room for
 * more some time later
 */
static inline int small_buffers(int from, int to)
{
	return set_opt(from, SOL_SOCKET, SO_SNDBUF, 65536) ||
	       set_opt(to, SOL_SOCKET, SO_RCVBUF, 65536) ? -1 : 0;
}

static inline int so_error(int fd)
{
	return get_opt(fd, SOL_SOCKET, SO_ERROR);
}

static inline int set_timeo(int fd, int name, int ms)
{
	struct timeval tv = { ms / 1000, ms % 1000 * 1000 };

	return setsockopt(fd, SOL_SOCKET, name, &tv, sizeof(tv));
}

static inline int set_linger(int fd, int on, int seconds)
{
	struct linger lg = { on, seconds };

	return setsockopt(fd, SOL_SOCKET, SO_LINGER, &lg, sizeof(lg));
}

static inline int set_nonblock(int fd, bool on)
{
	int fl = fcntl(fd, F_GETFL);

	return fcntl(fd, F_SETFL, on ? fl | O_NONBLOCK : fl & ~O_NONBLOCK);
}

static inline int has_peer(int fd)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	return getpeername(fd, (struct sockaddr *)&ss, &len);
}

static inline int ask(int fd, unsigned long cmd)
{
	int val = -1;

	return ioctl(fd, cmd, &val) ? -errno : val;
}

/* wait until ioctl @cmd says @val */
static inline int ask_becomes(int fd, unsigned long cmd, int val)
{
	long end = now_ms() + CONF_LONG;
	int got;

	while ((got = ask(fd, cmd)) != val && now_ms() < end)
		sleep_ms(1);
	return got;
}

/* all bytes of a peer's short message, which is on its way */
static inline long recv_all(int fd, void *buf, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n;

		if (!wait_readable(fd))
			return -ETIMEDOUT;
		n = recv(fd, (char *)buf + done, len - done, MSG_DONTWAIT);
		if (n <= 0)
			return n ? -errno : (long)done;
		done += n;
	}
	return done;
}

/* what the next read returns when there is something to say */
static inline long recv_next(int fd)
{
	char buf[64];

	if (!wait_readable(fd))
		return -ETIMEDOUT;
	return CALL(recv(fd, buf, sizeof(buf), MSG_DONTWAIT));
}

/* bytes pass from @from to @to */
static inline bool passes(int from, int to)
{
	char in[6] = "hello", out[6] = "";

	return send(from, in, 6, MSG_NOSIGNAL) == 6 &&
	       recv_all(to, out, 6) == 6 && !memcmp(in, out, 6);
}

/* fill the way from @from until a write would have to wait, and nothing moves
 * any more; bytes
 */
static inline long fill_up(int from)
{
	static char buf[65536];
	long end = now_ms() + CONF_LONG;
	long sum = 0, n, idle = 0;

	while (idle * 5 < CONF_QUIET && now_ms() < end) {
		n = send(from, buf, sizeof(buf), MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n > 0) {
			sum += n;
			idle = 0;
			continue;
		}
		if (errno != EAGAIN)
			return -errno;
		/* what was not sent yet waits for the reader */
		if (ask(from, SIOCOUTQNSD) > 0)
			idle++;
		sleep_ms(5);
	}
	return sum;
}

/* read @len bytes, or to the end; returns their number */
static inline long drain(int fd, long len)
{
	static char buf[65536];
	long sum = 0, n;

	while (sum < len) {
		if (!wait_readable(fd))
			break;
		n = recv(fd, buf, sizeof(buf) < (size_t)(len - sum) ?
			 sizeof(buf) : (size_t)(len - sum), MSG_DONTWAIT);
		if (n <= 0)
			break;
		sum += n;
	}
	return sum;
}

/* Is this socket carried as the variant wants it? */
static inline bool carried_as_wanted(int ns, enum smc_kind kind, int fd)
{
	int want = over_smc() ? SMC_DIAG_MODE_SMCR : SMC_DIAG_MODE_FALLBACK_TCP;
	int mode = 0;

	if (kind == KIND_TCP)
		return true;
	in_ns(ns);
	mode = diag_mode(fd, NULL);
	/* a listener that is TCP's has children which know nothing of SMC */
	if (mode == want ||
	    (ns == 1 && conf.cfg->path == PATH_OPTION && mode < 0))
		return true;
	fprintf(stderr, "# mode %d in place of %d\n", mode, want);
	errno = EPROTOTYPE;
	return false;
}

/* connect @c to a listener @l that learn_addr() knows, blocking; *s accepted */
static inline int join(int l, int c, int *s)
{
	*s = -1;
	if (dial(c))
		return -1;
	*s = accept(l, NULL, NULL);
	if (*s < 0)
		return -1;
	if (!carried_as_wanted(0, conf.cfg->client, c) ||
	    !carried_as_wanted(1, conf.cfg->server, *s))
		return -1;
	return 0;
}

/* a connection; fds[0] is the client's, fds[1] the server's */
static inline int make_pair(int *fds)
{
	int l = listener(0, 5);
	int rc;

	fds[0] = client(0);
	rc = join(l, fds[0], &fds[1]);
	close(l);
	return rc;
}

/**
 * struct job - a call in a thread of its own, which may sleep
 * @thread: the thread
 * @fn: the call
 * @fd: its argument
 * @tid: kernel's name of the thread
 * @ret: result or negative errno
 * @done: it has returned
 */
struct job {
	pthread_t thread;
	long (*fn)(int fd);
	int fd;
	volatile pid_t tid;
	long ret;
	volatile bool done;
};

static inline void *job_run(void *arg)
{
	struct job *job = arg;

	job->tid = syscall(SYS_gettid);
	job->ret = CALL(job->fn(job->fd));
	__sync_synchronize();
	job->done = true;
	return NULL;
}

/* a process has come to where it sleeps, and stays there */
static inline void wait_asleep(pid_t pid)
{
	long end = now_ms() + CONF_LONG;
	int asleep = 0;

	while (asleep < 4 && now_ms() < end) {
		sleep_ms(2);
		asleep = tid_sleeps(pid) ? asleep + 1 : 0;
	}
}

/* wait until a call sleeps; false when it has returned */
static inline bool job_sleeps(struct job *job)
{
	int asleep = 0;

	while (!job->done && asleep < 4) {
		sleep_ms(2);
		asleep = job->tid && tid_sleeps(job->tid) ? asleep + 1 : 0;
	}
	return !job->done;
}

/* start a call; true when it sleeps, false when it has returned */
static inline bool job_start(struct job *job, long (*fn)(int fd), int fd)
{
	memset(job, 0, sizeof(*job));
	job->fn = fn;
	job->fd = fd;
	if (pthread_create(&job->thread, NULL, job_run, job))
		return false;
	return job_sleeps(job);
}

/* the result of a call that is due to return */
static inline long job_result(struct job *job)
{
	long end = now_ms() + CONF_LONG;

	while (!job->done) {
		if (now_ms() > end)
			return -ETIMEDOUT;
		sleep_ms(1);
	}
	pthread_join(job->thread, NULL);
	return job->ret;
}

/* one signal to a call that sleeps; its result, or -EALREADY: the handler has
 * run, and it sleeps on
 */
static inline long interrupt(struct job *job, int flags)
{
	int before = conf.signals[SIGUSR1];
	long end = now_ms() + CONF_LONG;

	sig_catch(SIGUSR1, flags);
	pthread_kill(job->thread, SIGUSR1);
	while (conf.signals[SIGUSR1] == before && now_ms() < end)
		sleep_ms(1);
	return job_sleeps(job) ? -EALREADY : job_result(job);
}

static inline long job_recv(int fd)
{
	char buf[64];

	return recv(fd, buf, sizeof(buf), 0);
}

static inline long job_accept(int fd)
{
	return accept(fd, NULL, NULL);
}

static inline long job_dial(int fd)
{
	return dial(fd);
}

static inline long job_poll_in(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, CONF_LONG) < 0 ? -1 : p.revents;
}

/* fixture without a connection */
#define FIXTURE_ALONE(name)						\
	FIXTURE(name) {							\
		int unused;						\
	};								\
	FIXTURE_VARIANT(name) {						\
		struct conf_cfg cfg;					\
	};								\
	FIXTURE_SETUP(name)						\
	{								\
		ASSERT_OK(conf_init(&variant->cfg));			\
	}								\
	FIXTURE_TEARDOWN(name)						\
	{								\
	}								\
	CONF_VARIANTS(name)

/* fixture with a connection: self->c in A, self->s in B */
#define FIXTURE_PAIR(name)						\
	FIXTURE(name) {							\
		int c;							\
		int s;							\
	};								\
	FIXTURE_VARIANT(name) {						\
		struct conf_cfg cfg;					\
	};								\
	FIXTURE_SETUP(name)						\
	{								\
		int fds[2];						\
									\
		ASSERT_OK(conf_init(&variant->cfg));			\
		ASSERT_OK(make_pair(fds));				\
		self->c = fds[0];					\
		self->s = fds[1];					\
	}								\
	FIXTURE_TEARDOWN(name)						\
	{								\
		close(self->c);						\
		close(self->s);						\
	}								\
	CONF_VARIANTS(name)

#endif /* SMC_CONF_H */
