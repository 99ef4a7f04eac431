// SPDX-License-Identifier: GPL-2.0
/*
 * getsockopt(2), setsockopt(2): values, levels, lengths, and that options take
 * effect, also with TCP when it carries the connection after all.
 */
#include <linux/filter.h>

#include "conf.h"

FIXTURE_ALONE(alone);
FIXTURE_PAIR(option);

#define ANY_FAMILY	0

static const struct row {
	int family, level, name, val;
	int set;	/* result of setsockopt() */
	int get;	/* what getsockopt() says afterwards */
} rows[] = {
	{ ANY_FAMILY, SOL_SOCKET, SO_KEEPALIVE, 1, 0, 1 },
	{ ANY_FAMILY, SOL_SOCKET, SO_KEEPALIVE, 7, 0, 1 },
	{ ANY_FAMILY, SOL_SOCKET, SO_OOBINLINE, 1, 0, 1 },
	{ ANY_FAMILY, SOL_SOCKET, SO_REUSEADDR, 1, 0, 1 },
	{ ANY_FAMILY, SOL_SOCKET, SO_REUSEPORT, 1, 0, 1 },
	{ ANY_FAMILY, SOL_SOCKET, SO_REUSEPORT, 0, 0, 0 },
	{ ANY_FAMILY, SOL_SOCKET, SO_BROADCAST, 1, 0, 1 },
	{ ANY_FAMILY, SOL_SOCKET, SO_DONTROUTE, 1, 0, 1 },
	{ ANY_FAMILY, SOL_SOCKET, SO_PRIORITY, 3, 0, 3 },
	{ ANY_FAMILY, SOL_SOCKET, SO_MARK, 5, 0, 5 },
	{ ANY_FAMILY, SOL_SOCKET, SO_RCVLOWAT, 4, 0, 4 },
	{ ANY_FAMILY, SOL_SOCKET, SO_RCVLOWAT, 0, 0, 1 },
	{ ANY_FAMILY, SOL_SOCKET, SO_SNDLOWAT, 4, -ENOPROTOOPT, 1 },
	{ ANY_FAMILY, SOL_SOCKET, SO_SNDBUF, 100000, 0, 200000 },
	{ ANY_FAMILY, SOL_SOCKET, SO_RCVBUF, 100000, 0, 200000 },
	{ ANY_FAMILY, SOL_SOCKET, SO_SNDBUFFORCE, 300000, 0, -ENOPROTOOPT },
	{ ANY_FAMILY, SOL_SOCKET, SO_RCVBUFFORCE, 300000, 0, -ENOPROTOOPT },
	{ ANY_FAMILY, SOL_SOCKET, SO_BUF_LOCK, 1, 0, 1 },
	{ ANY_FAMILY, SOL_SOCKET, SO_BUF_LOCK, 0, 0, 0 },
	{ ANY_FAMILY, SOL_SOCKET, SO_BUF_LOCK, 8, -EINVAL, 0 },
	{ ANY_FAMILY, SOL_SOCKET, SO_LOCK_FILTER, 1, 0, 1 },
	{ ANY_FAMILY, SOL_SOCKET, SO_LOCK_FILTER, 0, -EPERM, 1 },
	{ ANY_FAMILY, SOL_SOCKET, SO_TIMESTAMP, 1, 0, 1 },
	{ ANY_FAMILY, SOL_SOCKET, SO_BUSY_POLL, 10, 0, 10 },
	{ ANY_FAMILY, SOL_SOCKET, SO_MAX_PACING_RATE, 1000000, 0, 1000000 },
	{ ANY_FAMILY, SOL_SOCKET, SO_INCOMING_CPU, 0, 0, 0 },
	{ ANY_FAMILY, SOL_SOCKET, SO_TYPE, 1, -ENOPROTOOPT, SOCK_STREAM },
	{ ANY_FAMILY, SOL_SOCKET, SO_ERROR, 1, -ENOPROTOOPT, 0 },
	{ ANY_FAMILY, SOL_SOCKET, SO_ACCEPTCONN, 1, -ENOPROTOOPT, 0 },
	{ ANY_FAMILY, SOL_SOCKET, 9999, 1, -ENOPROTOOPT, -ENOPROTOOPT },
	{ ANY_FAMILY, SOL_TCP, TCP_NODELAY, 1, 0, 1 },
	{ ANY_FAMILY, SOL_TCP, TCP_NODELAY, 0, 0, 0 },
	{ ANY_FAMILY, SOL_TCP, TCP_CORK, 1, 0, 1 },
	{ ANY_FAMILY, SOL_TCP, TCP_CORK, 0, 0, 0 },
	{ ANY_FAMILY, SOL_TCP, TCP_KEEPIDLE, 60, 0, 60 },
	{ ANY_FAMILY, SOL_TCP, TCP_KEEPIDLE, 0, -EINVAL, 60 },
	{ ANY_FAMILY, SOL_TCP, TCP_KEEPINTVL, 10, 0, 10 },
	{ ANY_FAMILY, SOL_TCP, TCP_KEEPCNT, 4, 0, 4 },
	{ ANY_FAMILY, SOL_TCP, TCP_KEEPCNT, 999, -EINVAL, 4 },
	{ ANY_FAMILY, SOL_TCP, TCP_USER_TIMEOUT, 9000, 0, 9000 },
	{ ANY_FAMILY, SOL_TCP, TCP_SYNCNT, 3, 0, 3 },
	{ ANY_FAMILY, SOL_TCP, TCP_LINGER2, 11, 0, 11 },
	{ ANY_FAMILY, SOL_TCP, TCP_QUICKACK, 1, 0, 1 },
	{ ANY_FAMILY, SOL_TCP, TCP_NOTSENT_LOWAT, 16384, 0, 16384 },
	{ ANY_FAMILY, SOL_TCP, TCP_INQ, 1, 0, 1 },
	{ ANY_FAMILY, SOL_TCP, TCP_INQ, 2, -EINVAL, 1 },
	{ ANY_FAMILY, SOL_TCP, TCP_THIN_LINEAR_TIMEOUTS, 1, 0, 1 },
	{ ANY_FAMILY, SOL_TCP, 9999, 1, -ENOPROTOOPT, -ENOPROTOOPT },
	{ AF_INET, SOL_IP, IP_TOS, 0x10, 0, 0x10 },
	{ AF_INET, SOL_IP, IP_TTL, 9, 0, 9 },
	{ AF_INET, SOL_IP, IP_TTL, 256, -EINVAL, 9 },
	{ AF_INET, SOL_IP, IP_MTU_DISCOVER, 2, 0, 2 },
	{ AF_INET, SOL_IP, IP_FREEBIND, 1, 0, 1 },
	{ AF_INET, SOL_IP, IP_RECVERR, 1, 0, 1 },
	{ AF_INET, SOL_IP, 51 /* IP_LOCAL_PORT_RANGE */, 0x70006000, 0, 0x70006000 },
	{ AF_INET, SOL_IP, 9999, 1, -ENOPROTOOPT, -ENOPROTOOPT },
	{ AF_INET6, SOL_IPV6, IPV6_TCLASS, 0x10, 0, 0x10 },
	{ AF_INET6, SOL_IPV6, IPV6_UNICAST_HOPS, 9, 0, 9 },
	{ AF_INET6, SOL_IPV6, IPV6_V6ONLY, 0, 0, 0 },
	{ AF_INET6, SOL_IPV6, IPV6_MTU_DISCOVER, 2, 0, 2 },
	{ AF_INET6, SOL_IPV6, IPV6_RECVERR, 1, 0, 1 },
	{ AF_INET6, SOL_IPV6, IPV6_RECVPKTINFO, 1, 0, 1 },
	{ AF_INET6, SOL_IPV6, IPV6_AUTOFLOWLABEL, 1, 0, 1 },
	{ AF_INET6, SOL_IPV6, 33 /* IPV6_FLOWINFO_SEND */, 1, 0, 1 },
	{ AF_INET6, SOL_IP, IP_TOS, 0x20, 0, 0x20 },
	{ AF_INET, 12345, 1, 1, -ENOPROTOOPT, -EOPNOTSUPP },
	{ AF_INET6, 12345, 1, 1, -ENOPROTOOPT, -ENOPROTOOPT },
};

TEST_F(alone, values)
{
	int l = listener(0, 5), fd = client(0), s;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];

		if (r->family && r->family != conf.cfg->family)
			continue;
		EXPECT_RET(r->set, set_opt(fd, r->level, r->name, r->val))
			TH_LOG("row %u", i);
		EXPECT_EQ(r->get, get_opt(fd, r->level, r->name))
			TH_LOG("row %u", i);
	}
	/* after all that it is carried as before, and in that state */
	EXPECT_OK(set_opt(fd, SOL_SOCKET, SO_DONTROUTE, 0));
	ASSERT_OK(join(l, fd, &s));
	EXPECT_TRUE(passes(fd, s));
	EXPECT_EQ(1, get_opt(fd, SOL_SOCKET, SO_KEEPALIVE));
	/* IP_TOS has changed that; and these two stay behind what was forced */
	EXPECT_EQ(conf.cfg->family == AF_INET ? 6 : 0,
		  get_opt(fd, SOL_SOCKET, SO_PRIORITY));
	EXPECT_LE(600000, get_opt(fd, SOL_SOCKET, SO_SNDBUF));
	EXPECT_LE(600000, get_opt(fd, SOL_SOCKET, SO_RCVBUF));
	EXPECT_EQ(5, get_opt(fd, SOL_SOCKET, SO_MARK));
	EXPECT_EQ(0, get_opt(fd, SOL_SOCKET, SO_BUF_LOCK));
	EXPECT_EQ(1, get_opt(fd, SOL_SOCKET, SO_LOCK_FILTER));
	EXPECT_EQ(60, get_opt(fd, SOL_TCP, TCP_KEEPIDLE));
	EXPECT_EQ(9000, get_opt(fd, SOL_TCP, TCP_USER_TIMEOUT));
}

/* on a connection */
TEST_F(option, connected)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];
		bool size = r->level == SOL_SOCKET &&
			    (r->name == SO_SNDBUF || r->name == SO_RCVBUF);

		if (r->family && r->family != conf.cfg->family)
			continue;
		if (r->level == SOL_IPV6 && r->name == IPV6_V6ONLY)
			continue;
		EXPECT_RET(r->set, set_opt(self->c, r->level, r->name, r->val))
			TH_LOG("row %u", i);
		if (size) {
			EXPECT_LE(r->get, get_opt(self->c, r->level, r->name));
			continue;
		}
		EXPECT_EQ(r->get, get_opt(self->c, r->level, r->name))
			TH_LOG("row %u", i);
	}
	EXPECT_OK(set_opt(self->c, SOL_SOCKET, SO_RCVLOWAT, 1));
	EXPECT_TRUE(passes(self->c, self->s));
	EXPECT_TRUE(passes(self->s, self->c));
}

TEST_F(option, txrehash)
{
	EXPECT_OK(set_opt(self->c, SOL_SOCKET, SO_TXREHASH, 0));
	EXPECT_EQ(differs(DIFF_TXREHASH) ? -EOPNOTSUPP : 0,
		  get_opt(self->c, SOL_SOCKET, SO_TXREHASH));
	EXPECT_ERR(EINVAL, set_opt(self->c, SOL_SOCKET, SO_TXREHASH, 2));
}

TEST_F(alone, lengths)
{
	unsigned char byte = 0x10;
	socklen_t len = 2;
	int fd = client(0), val = 1;

	EXPECT_ERR(EINVAL, setsockopt(fd, SOL_TCP, TCP_NODELAY, &val, 3));
	EXPECT_ERR(EINVAL, setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &val, 0));
	EXPECT_ERR(EINVAL, setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &val, 3));
	EXPECT_ERR(EFAULT, setsockopt(fd, SOL_TCP, TCP_NODELAY, (void *)8, 4));
	EXPECT_ERR(EFAULT, setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE,
				      (void *)8, 4));
	EXPECT_ERR(EFAULT, setsockopt(fd, SOL_SOCKET, SO_REUSEPORT,
				      (void *)8, 4));
	EXPECT_ERR(EINVAL, setsockopt(fd, SOL_TCP, TCP_NODELAY, &val, -1));
	if (conf.cfg->family == AF_INET)
		EXPECT_OK(setsockopt(fd, SOL_IP, IP_TOS, &byte, 1));
	val = -1;
	EXPECT_OK(getsockopt(fd, SOL_TCP, TCP_NODELAY, &val, &len));
	EXPECT_EQ(2, (int)len);
	EXPECT_EQ(-65536, val);
	len = -1;
	EXPECT_ERR(EINVAL, getsockopt(fd, SOL_TCP, TCP_NODELAY, &val, &len));
	len = 4;
	EXPECT_ERR(EFAULT, getsockopt(fd, SOL_TCP, TCP_NODELAY, (void *)8,
				      &len));
	EXPECT_ERR(EFAULT, getsockopt(fd, SOL_TCP, TCP_NODELAY, &val,
				      (void *)8));
	EXPECT_ERR(EBADF, setsockopt(-1, SOL_TCP, TCP_NODELAY, &val, 4));
}

TEST_F(alone, congestion)
{
	int l = listener(0, 1), fd = client(0), s;
	char name[16] = "";
	socklen_t len = sizeof(name);

	EXPECT_OK(setsockopt(fd, SOL_TCP, TCP_CONGESTION, "reno", 4));
	EXPECT_ERR(ENOENT, setsockopt(fd, SOL_TCP, TCP_CONGESTION, "xyz", 3));
	EXPECT_OK(getsockopt(fd, SOL_TCP, TCP_CONGESTION, name, &len));
	EXPECT_STREQ("reno", name);
	ASSERT_OK(join(l, fd, &s));
	EXPECT_TRUE(passes(fd, s));
}

TEST_F(option, tcp_info)
{
	struct tcp_info info = {};
	socklen_t len = sizeof(info);

	EXPECT_TRUE(passes(self->c, self->s));
	EXPECT_OK(getsockopt(self->c, SOL_TCP, TCP_INFO, &info, &len));
	EXPECT_EQ(TCP_ESTABLISHED, info.tcpi_state);
	EXPECT_LT(0U, info.tcpi_snd_mss);
	EXPECT_LT(0U, info.tcpi_rtt);
	EXPECT_LT(500, get_opt(self->c, SOL_TCP, TCP_MAXSEG));
}

TEST_F(alone, device)
{
	int l = listener(0, 1), fd = client(0), s;
	char name[16] = "";
	socklen_t len = sizeof(name);

	EXPECT_ERR(ENODEV, setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE,
				      "none", 5));
	EXPECT_OK(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "v0", 3));
	EXPECT_OK(getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name, &len));
	EXPECT_STREQ("v0", name);
	ASSERT_OK(join(l, fd, &s));
	EXPECT_TRUE(passes(fd, s));
	/* a way that does not lead there */
	fd = client(0);
	EXPECT_OK(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3));
	EXPECT_OK(set_timeo(fd, SO_SNDTIMEO, 100));
	EXPECT_GT(0, dial(fd));
	EXPECT_OK(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "", 0));
}

TEST_F(alone, ulp)
{
	int fd = client(0), l, s;

	/* TCP: not connected; programs do without it then */
	EXPECT_GT(0, setsockopt(fd, SOL_TCP, TCP_ULP, "tls", 4));
	l = listener(0, 1);
	ASSERT_OK(join(l, fd, &s));
	if (differs(DIFF_ULP)) {
		EXPECT_ERR(EOPNOTSUPP, setsockopt(fd, SOL_TCP, TCP_ULP,
						  "tls", 4));
		EXPECT_TRUE(passes(fd, s));
	} else {
		/* tls, or ENOENT where there is no such module */
		EXPECT_ERR(ENOENT, setsockopt(fd, SOL_TCP, TCP_ULP, "xyz", 4));
	}
}

TEST_F(alone, fastopen)
{
	int l = server(0), c = client(0), s;
	char buf[4];

	EXPECT_OK(set_opt(l, SOL_TCP, TCP_FASTOPEN, 5));
	ASSERT_OK(start_listen(l, 5));
	EXPECT_OK(set_opt(c, SOL_TCP, TCP_FASTOPEN_CONNECT, 1));
	EXPECT_OK(dial(c));
	EXPECT_RET(3, send(c, "abc", 3, 0));
	s = accept(l, NULL, NULL);
	EXPECT_EQ(3, recv_all(s, buf, 3));
	EXPECT_TRUE(passes(s, c));

	c = client(0);
	EXPECT_RET(3, sendto(c, "abc", 3, MSG_FASTOPEN, (void *)&conf.addr,
			     conf.addrlen));
	s = accept(l, NULL, NULL);
	EXPECT_EQ(3, recv_all(s, buf, 3));
	EXPECT_TRUE(passes(s, c));
	EXPECT_TRUE(passes(c, s));
	EXPECT_ERR(EISCONN, sendto(c, "abc", 3, MSG_FASTOPEN,
				   (void *)&conf.addr, conf.addrlen));
}

TEST_F(option, fastopen_connected)
{
	EXPECT_ERR(EINVAL, set_opt(self->c, SOL_TCP, TCP_FASTOPEN, 5));
	EXPECT_ERR(EINVAL, set_opt(self->c, SOL_TCP, TCP_FASTOPEN_CONNECT, 1));
	EXPECT_TRUE(passes(self->c, self->s));
}

TEST_F(option, names_of_the_kind)
{
	int proto = get_opt(self->c, SOL_SOCKET, SO_PROTOCOL);
	int domain = get_opt(self->c, SOL_SOCKET, SO_DOMAIN);

	if (!over_smc() || conf.cfg->client == KIND_TCP) {
		EXPECT_EQ(conf.cfg->family, domain);
		EXPECT_EQ(IPPROTO_TCP, proto);
	} else if (conf.cfg->client == KIND_AF_SMC) {
		EXPECT_EQ(AF_SMC, domain);
		EXPECT_EQ(conf.cfg->family == AF_INET6, proto);
	} else {
		EXPECT_EQ(conf.cfg->family, domain);
		EXPECT_EQ(IPPROTO_SMC, proto);
	}
	EXPECT_EQ(SOCK_STREAM, get_opt(self->c, SOL_SOCKET, SO_TYPE));
	EXPECT_EQ(0, get_opt(self->c, SOL_SOCKET, SO_ACCEPTCONN));
}

TEST_F(option, cookie)
{
	uint64_t a = 0, b = 0;
	socklen_t len = sizeof(a);

	EXPECT_OK(getsockopt(self->c, SOL_SOCKET, SO_COOKIE, &a, &len));
	EXPECT_OK(getsockopt(self->s, SOL_SOCKET, SO_COOKIE, &b, &len));
	EXPECT_NE(0UL, a);
	EXPECT_NE(a, b);
}

/* buffers cannot be smaller than asked for, and are there in each case */
TEST_F(alone, buffers)
{
	static const int sizes[] = { 4096, 20000, 65536, 100000, 400000 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		int l = server(0), c = client(0), s;

		EXPECT_OK(set_opt(l, SOL_SOCKET, SO_RCVBUFFORCE, sizes[i]));
		EXPECT_OK(set_opt(c, SOL_SOCKET, SO_SNDBUFFORCE, sizes[i]));
		EXPECT_EQ(2 * sizes[i], get_opt(c, SOL_SOCKET, SO_SNDBUF));
		ASSERT_OK(start_listen(l, 1));
		ASSERT_OK(join(l, c, &s));
		EXPECT_LE(2 * sizes[i], get_opt(c, SOL_SOCKET, SO_SNDBUF));
		EXPECT_LE(2 * sizes[i], get_opt(s, SOL_SOCKET, SO_RCVBUF));
		EXPECT_LE(sizes[i] / 2, fill_up(c));
		EXPECT_LT(0, drain(s, 1));
	}
}

/* a filter that lets @bytes of each segment pass */
static int set_filter(int fd, unsigned int bytes)
{
	struct sock_filter code = BPF_STMT(BPF_RET | BPF_K, bytes);
	struct sock_fprog prog = { 1, &code };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog,
			  sizeof(prog));
}

static int unset_filter(int fd)
{
	return set_opt(fd, SOL_SOCKET, SO_DETACH_FILTER, 0);
}

/* dial and accept with a filter on one side; what carries it is not asked */
static int meet(int l, int *c)
{
	*c = client(0);
	return dial(*c) ? -1 : accept(l, NULL, NULL);
}

/* what is to be kept out stays out, whatever would carry it */
TEST_F(alone, filter)
{
	int l = server(0), c = client(0), s;

	EXPECT_ERR(ENOENT, unset_filter(l));
	EXPECT_OK(set_filter(l, -1));
	ASSERT_OK(start_listen(l, 5));
	s = meet(l, &c);
	ASSERT_LE(0, s);
	EXPECT_TRUE(passes(c, s));
	EXPECT_OK(set_filter(s, 0));
	EXPECT_RET(1, send(c, "x", 1, 0));
	EXPECT_EQ(0, poll_events(s, POLLIN, 5 * CONF_SHORT));
	/* accepted sockets have it from the listener */
	EXPECT_OK(unset_filter(s));
	EXPECT_ERR(ENOENT, unset_filter(s));
	EXPECT_EQ(1, recv_next(s));
	EXPECT_OK(set_filter(l, 0));
	c = client(0);
	EXPECT_OK(set_timeo(c, SO_SNDTIMEO, 5 * CONF_SHORT));
	EXPECT_ERR(EINPROGRESS, dial(c));
	EXPECT_OK(unset_filter(l));
	EXPECT_OK(set_timeo(c, SO_SNDTIMEO, 0));
	EXPECT_OK(dial(c));
	/* the answer does not come through */
	c = client(0);
	EXPECT_OK(set_filter(c, 0));
	EXPECT_OK(set_timeo(c, SO_SNDTIMEO, 5 * CONF_SHORT));
	EXPECT_ERR(EINPROGRESS, dial(c));
}

/* a filter for a listener that listens already */
TEST_F(alone, filter_late)
{
	int l = listener(0, 5), c, s;

	EXPECT_OK(set_filter(l, -1));
	s = meet(l, &c);
	ASSERT_LE(0, s);
	EXPECT_TRUE(passes(c, s));
	EXPECT_TRUE(passes(s, c));
	EXPECT_OK(unset_filter(s));
}

TEST_F(option, filter)
{
	EXPECT_ERR(ENOENT, unset_filter(self->c));
	if (differs(DIFF_SEGMENTS)) {
		EXPECT_ERR(EOPNOTSUPP, set_filter(self->c, -1));
	} else {
		EXPECT_OK(set_filter(self->c, -1));
		EXPECT_OK(unset_filter(self->c));
	}
	EXPECT_TRUE(passes(self->s, self->c));
}

/* a connection made of nothing but what the program knows of it */
TEST_F(alone, repair)
{
	int l = listener(0, 1), c = client(0);

	EXPECT_OK(set_opt(c, SOL_TCP, TCP_REPAIR, 1));
	EXPECT_EQ(1, get_opt(c, SOL_TCP, TCP_REPAIR));
	EXPECT_OK(dial(c));
	EXPECT_OK(has_peer(c));
	EXPECT_EQ(0, poll_events(l, POLLIN, 2 * CONF_SHORT));
}

TEST_F(option, repair)
{
	EXPECT_EQ(differs(DIFF_SEGMENTS) ? -EOPNOTSUPP : 0,
		  CALL(set_opt(self->c, SOL_TCP, TCP_REPAIR, 1)));
	if (!differs(DIFF_SEGMENTS))
		EXPECT_OK(set_opt(self->c, SOL_TCP, TCP_REPAIR, -1));
	EXPECT_TRUE(passes(self->c, self->s));
	EXPECT_TRUE(passes(self->s, self->c));
}

/* as in linux/tcp.h */
struct zerocopy_receive {
	uint64_t address;
	uint32_t length, recv_skip_hint, inq;
	int32_t err;
	uint64_t copybuf_address;
	int32_t copybuf_len;
	uint32_t flags;
};

/* without pages mapped it copies, or it is refused: it never says that there
 * is nothing
 */
TEST_F(option, zerocopy_receive)
{
	char buf[16] = "";
	struct zerocopy_receive zc = {
		.copybuf_address = (uintptr_t)buf, .copybuf_len = sizeof(buf),
	};
	socklen_t len = sizeof(zc);

	EXPECT_RET(4, send(self->c, "abc", 4, 0));
	EXPECT_EQ(4, ask_becomes(self->s, SIOCINQ, 4));
	if (differs(DIFF_ZEROCOPY)) {
		EXPECT_ERR(EOPNOTSUPP, getsockopt(self->s, SOL_TCP,
						  TCP_ZEROCOPY_RECEIVE, &zc,
						  &len));
		return;
	}
	EXPECT_OK(getsockopt(self->s, SOL_TCP, TCP_ZEROCOPY_RECEIVE, &zc,
			     &len));
	EXPECT_EQ(4, zc.copybuf_len);
	EXPECT_STREQ("abc", buf);
}

TEST_F(option, peek_off)
{
	char buf[8];

	EXPECT_EQ(-1, get_opt(self->s, SOL_SOCKET, SO_PEEK_OFF));
	EXPECT_OK(set_opt(self->s, SOL_SOCKET, SO_PEEK_OFF, 0));
	EXPECT_RET(6, send(self->c, "abcdef", 6, 0));
	EXPECT_EQ(6, ask_becomes(self->s, SIOCINQ, 6));
	EXPECT_RET(2, recv(self->s, buf, 2, MSG_PEEK));
	EXPECT_RET(2, recv(self->s, buf, 2, MSG_PEEK));
	EXPECT_EQ(0, memcmp(buf, "cd", 2));
	EXPECT_EQ(4, get_opt(self->s, SOL_SOCKET, SO_PEEK_OFF));
	EXPECT_RET(1, recv(self->s, buf, 1, 0));
	EXPECT_EQ(3, get_opt(self->s, SOL_SOCKET, SO_PEEK_OFF));
	EXPECT_RET(2, recv(self->s, buf, 8, MSG_PEEK));
	EXPECT_EQ(0, memcmp(buf, "ef", 2));
	EXPECT_ERR(EAGAIN, recv(self->s, buf, 8, MSG_PEEK | MSG_DONTWAIT));
	EXPECT_RET(1, send(self->c, "g", 1, 0));
	EXPECT_RET(1, recv(self->s, buf, 8, MSG_PEEK));
	EXPECT_EQ('g', buf[0]);
	EXPECT_RET(6, recv(self->s, buf, 8, 0));
	EXPECT_EQ(0, get_opt(self->s, SOL_SOCKET, SO_PEEK_OFF));
	EXPECT_OK(set_opt(self->s, SOL_SOCKET, SO_PEEK_OFF, -1));
}

/* set before the connection was made */
TEST_F(alone, peek_off)
{
	int l = listener(0, 1), c = client(0), s;
	char buf[4];

	EXPECT_OK(set_opt(c, SOL_SOCKET, SO_PEEK_OFF, 1));
	EXPECT_OK(set_opt(l, SOL_SOCKET, SO_PEEK_OFF, 2));
	ASSERT_OK(join(l, c, &s));
	EXPECT_EQ(1, get_opt(c, SOL_SOCKET, SO_PEEK_OFF));
	EXPECT_EQ(2, get_opt(s, SOL_SOCKET, SO_PEEK_OFF));
	EXPECT_RET(4, send(s, "abcd", 4, 0));
	EXPECT_EQ(4, ask_becomes(c, SIOCINQ, 4));
	EXPECT_RET(3, recv(c, buf, 4, MSG_PEEK));
	EXPECT_EQ(0, memcmp(buf, "bcd", 3));
}

/* nothing of TCP leaves the port of the server, or it does again */
static int mute_server(const char *what)
{
	bool v6 = conf.cfg->family == AF_INET6 && !conf.cfg->mapped;
	char cmd[128];

	snprintf(cmd, sizeof(cmd),
		 "ip %s rule %s ipproto tcp sport %d blackhole", v6 ? "-6" : "",
		 what, ss_port(&conf.addr));
	return system(cmd);
}

/* the peer vanishes without a word: keepalive notices */
TEST_F(option, keepalive)
{
	struct job job;

	EXPECT_OK(set_opt(self->c, SOL_TCP, TCP_KEEPIDLE, 1));
	EXPECT_OK(set_opt(self->c, SOL_TCP, TCP_KEEPINTVL, 1));
	EXPECT_OK(set_opt(self->c, SOL_TCP, TCP_KEEPCNT, 2));
	EXPECT_OK(set_opt(self->c, SOL_SOCKET, SO_KEEPALIVE, 1));
	EXPECT_TRUE(job_start(&job, job_recv, self->c));
	in_ns(1);
	ASSERT_EQ(0, mute_server("add"));
	EXPECT_EQ(-ETIMEDOUT, job_result(&job));
	ASSERT_EQ(0, mute_server("del"));
	EXPECT_EQ(0, so_error(self->c));
	EXPECT_EQ(0, recv_next(self->c));
}

TEST_HARNESS_MAIN
