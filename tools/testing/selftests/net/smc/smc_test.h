/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers of the SMC test programs: sockets of each kind, namespaces, time, a
 * reproducible byte stream, and the mode of a connection from sock_diag.
 */
#ifndef SMC_TEST_H
#define SMC_TEST_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <linux/smc_diag.h>

#ifndef AF_SMC
#define AF_SMC 43
#endif
#ifndef IPPROTO_SMC
#define IPPROTO_SMC 256
#endif

enum smc_kind {
	KIND_TCP,
	KIND_AF_SMC,
	KIND_IPPROTO_SMC,
};

static inline int kind_parse(const char *s)
{
	if (!strcmp(s, "tcp"))
		return KIND_TCP;
	if (!strcmp(s, "smc"))
		return KIND_AF_SMC;
	if (!strcmp(s, "ipsmc"))
		return KIND_IPPROTO_SMC;
	fprintf(stderr, "kind is tcp, smc or ipsmc\n");
	exit(2);
}

static inline int kind_socket(enum smc_kind kind, int family, int flags)
{
	int type = SOCK_STREAM | flags;

	if (kind == KIND_AF_SMC)
		return socket(AF_SMC, type, family == AF_INET6);
	return socket(family, type,
		      kind == KIND_IPPROTO_SMC ? IPPROTO_SMC : IPPROTO_TCP);
}

/* numeric IPv4 or IPv6 address and port; length of the result */
static inline socklen_t make_addr(struct sockaddr_storage *ss, const char *host,
				  int port)
{
	struct sockaddr_in6 *in6 = (void *)ss;
	struct sockaddr_in *in = (void *)ss;

	memset(ss, 0, sizeof(*ss));
	if (inet_pton(AF_INET, host, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		return sizeof(*in);
	}
	if (inet_pton(AF_INET6, host, &in6->sin6_addr) == 1) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
		return sizeof(*in6);
	}
	fprintf(stderr, "%s is no address\n", host);
	exit(2);
}

static inline void enter_ns(const char *name)
{
	char path[128];
	int fd;

	if (!name)
		return;
	snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET)) {
		perror(path);
		exit(2);
	}
	close(fd);
}

static inline long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* signals do not make it shorter */
static inline void sleep_ms(int ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

/* does a thread or process sleep, other than for memory? */
static inline bool tid_sleeps(pid_t tid)
{
	char path[64], text[256], *p;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	p = strrchr(text, ')');
	return p && p[2] == 'S';
}

/* a stream of bytes that depends on seed and position only */
static inline uint8_t stream_byte(uint32_t seed, uint64_t pos)
{
	uint64_t x = (pos >> 3) * 0x9e3779b97f4a7c15ULL + seed;

	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9ULL;
	x ^= x >> 32;
	return x >> ((pos & 7) * 8);
}

static inline void stream_fill(uint32_t seed, uint64_t pos, uint8_t *buf,
			       size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		buf[i] = stream_byte(seed, pos + i);
}

/* position of the first wrong byte, or -1 */
static inline long long stream_check(uint32_t seed, uint64_t pos,
				     const uint8_t *buf, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (buf[i] != stream_byte(seed, pos + i))
			return pos + i;
	return -1;
}

/* SMC_DIAG_MODE_* of a socket, -1 if sock_diag does not show it; @reason may
 * be NULL
 */
static inline int diag_mode(int fd, uint32_t *reason)
{
	struct {
		struct nlmsghdr nlh;
		struct smc_diag_req req;
	} req = {
		.nlh = {
			.nlmsg_len = sizeof(req),
			.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		},
		.req.diag_family = AF_SMC,
	};
	static char buf[65536];
	int nl, mode = -1, done = 0;
	struct stat st;

	if (fstat(fd, &st))
		return -1;
	nl = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (nl < 0 || send(nl, &req, sizeof(req), 0) < 0) {
		if (nl >= 0)
			close(nl);
		return -1;
	}
	while (!done) {
		ssize_t n = recv(nl, buf, sizeof(buf), 0);
		struct nlmsghdr *h = (void *)buf;

		if (n <= 0)
			break;
		for (; NLMSG_OK(h, n); h = NLMSG_NEXT(h, n)) {
			struct smc_diag_msg *m = NLMSG_DATA(h);
			struct nlattr *a;
			int left;

			if (h->nlmsg_type == NLMSG_DONE ||
			    h->nlmsg_type == NLMSG_ERROR) {
				done = 1;
				break;
			}
			if (m->diag_inode != st.st_ino)
				continue;
			mode = m->diag_mode;
			a = (void *)((char *)m + NLMSG_ALIGN(sizeof(*m)));
			left = h->nlmsg_len - NLMSG_HDRLEN -
			       NLMSG_ALIGN(sizeof(*m));
			while (reason && left >= (int)sizeof(*a) &&
			       a->nla_len >= sizeof(*a)) {
				if (a->nla_type == SMC_DIAG_FALLBACK)
					memcpy(reason, a + 1, 4);
				left -= NLA_ALIGN(a->nla_len);
				a = (void *)((char *)a + NLA_ALIGN(a->nla_len));
			}
		}
	}
	close(nl);
	return mode;
}

#endif /* SMC_TEST_H */
