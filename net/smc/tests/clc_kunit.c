// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of CLC messages over a TCP connection: exactly one message is
 * taken, nothing of what follows, and nothing if it is no message. Needs the
 * loopback device of the initial namespace to be up.
 */
#include <kunit/test.h>
#include <linux/in.h>
#include <linux/module.h>
#include <linux/net.h>
#include <net/tcp.h>

#include "../smc_clc.h"
#include "../smc_reason.h"

#define CLC_SOON	msecs_to_jiffies(5000)	/* comes, or the test fails */
#define CLC_NEVER	msecs_to_jiffies(60)	/* does not come */
#define CLC_PAUSE	msecs_to_jiffies(30)

/* the end under test and the peer's, which is plain TCP */
struct clc_pair {
	struct smc_sock *smc;
	struct socket *peer;
	struct smc_clc_in in;
	u8 buf[SMC_CLC_MAX_LEN];
	/* what the peer sends a bit later; NULL: we shut down instead */
	struct delayed_work later;
	const u8 *later_data;
	size_t later_len;
};

static int clc_peer_send(struct clc_pair *pair, const void *data, size_t len,
			 int flags)
{
	struct kvec vec = { .iov_base = (void *)data, .iov_len = len };
	struct msghdr msg = { .msg_flags = flags };

	return kernel_sendmsg(pair->peer, &msg, &vec, 1, len);
}

static void clc_peer_later(struct work_struct *work)
{
	struct clc_pair *pair = container_of(to_delayed_work(work),
					     struct clc_pair, later);

	if (pair->later_data)
		clc_peer_send(pair, pair->later_data, pair->later_len, 0);
	else
		kernel_sock_shutdown(pair->smc->tcp, SHUT_RDWR);
}

static void clc_peer_send_later(struct clc_pair *pair, const void *data,
				size_t len)
{
	pair->later_data = data;
	pair->later_len = len;
	schedule_delayed_work(&pair->later, CLC_PAUSE);
}

static int clc_connect(struct socket *listener, struct socket *client)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct sockaddr_unsized *any = (struct sockaddr_unsized *)&addr;
	int rc;

	rc = kernel_bind(listener, any, sizeof(addr));
	if (!rc)
		rc = kernel_listen(listener, 1);
	if (!rc)
		rc = kernel_getsockname(listener, (struct sockaddr *)&addr);
	if (rc < 0)
		return rc;
	return kernel_connect(client, any, sizeof(addr), 0);
}

static int clc_make_pair(struct clc_pair *pair)
{
	struct socket *listener;
	int rc;

	rc = sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_TCP,
			      &listener);
	if (rc)
		return rc;
	rc = sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_TCP,
			      &pair->peer);
	if (!rc) {
		rc = clc_connect(listener, pair->peer);
		if (!rc)
			rc = kernel_accept(listener, &pair->smc->tcp, 0);
	}
	sock_release(listener);
	return rc;
}

static void clc_close_peer(struct clc_pair *pair)
{
	cancel_delayed_work_sync(&pair->later);
	if (pair->peer)
		sock_release(pair->peer);
	pair->peer = NULL;
}

static int clc_init(struct kunit *test)
{
	struct clc_pair *pair;

	pair = kunit_kzalloc(test, sizeof(*pair), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pair);
	pair->smc = kunit_kzalloc(test, sizeof(*pair->smc), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pair->smc);
	sock_net_set(&pair->smc->sk, &init_net);
	INIT_DELAYED_WORK(&pair->later, clc_peer_later);
	test->priv = pair;
	if (clc_make_pair(pair))
		kunit_skip(test, "no TCP over loopback");
	tcp_sock_set_nodelay(pair->peer->sk);
	return 0;
}

static void clc_exit(struct kunit *test)
{
	struct clc_pair *pair = test->priv;

	if (!pair || !pair->smc)
		return;
	clc_close_peer(pair);
	if (pair->smc->tcp)
		sock_release(pair->smc->tcp);
}

/* a message of which only the header is right */
static void clc_fill(u8 *msg, u8 type, u8 version, u16 len)
{
	static const u8 eyecatcher[4] = { 0xe2, 0xd4, 0xc3, 0xd9 };

	memset(msg, 0xaa, len);
	memcpy(msg, eyecatcher, sizeof(eyecatcher));
	msg[4] = type;
	msg[5] = len >> 8;
	msg[6] = len;
	msg[7] = version << 4;
}

static int clc_decline(u8 *msg, size_t room, u32 diagnosis, bool out_of_sync)
{
	const struct smc_clc_decline decline = {
		.version = 2,
		.out_of_sync = out_of_sync,
		.diagnosis = diagnosis,
	};

	return smc_clc_encode_decline(msg, room, &decline);
}

static int clc_recv(struct clc_pair *pair, u8 type, unsigned long time)
{
	return smc_clc_recv(pair->smc, type, pair->buf, sizeof(pair->buf),
			    jiffies + time, &pair->in);
}

/* what stands at the head of the stream */
static void clc_expect_data(struct kunit *test, const void *data, int len)
{
	struct clc_pair *pair = test->priv;
	u8 buf[64];
	struct kvec vec = { .iov_base = buf, .iov_len = sizeof(buf) };
	struct msghdr msg = {};
	int n;

	n = kernel_recvmsg(pair->smc->tcp, &msg, &vec, 1, sizeof(buf),
			   MSG_DONTWAIT);
	KUNIT_ASSERT_EQ(test, n, len);
	KUNIT_EXPECT_MEMEQ(test, buf, data, len);
}

static void clc_test_exact(struct kunit *test)
{
	struct clc_pair *pair = test->priv;
	u8 msg[100 + 2];

	clc_fill(msg, SMC_CLC_PROPOSAL, 2, 100);
	memcpy(msg + 100, "hi", 2);
	KUNIT_ASSERT_EQ(test, clc_peer_send(pair, msg, sizeof(msg), 0), 102);
	KUNIT_EXPECT_EQ(test, clc_recv(pair, SMC_CLC_PROPOSAL, CLC_SOON), 0);
	KUNIT_EXPECT_EQ(test, pair->in.hdr.len, 100);
	KUNIT_EXPECT_EQ(test, pair->in.hdr.version, 2);
	KUNIT_EXPECT_MEMEQ(test, pair->buf, msg, 100);
	clc_expect_data(test, "hi", 2);
}

/* cut at each place that matters */
static void clc_test_pieces(struct kunit *test)
{
	static const int cuts[] = { 1, 4, 7, 8, 9, 99 };
	struct clc_pair *pair = test->priv;
	u8 msg[100];
	int i;

	clc_fill(msg, SMC_CLC_ACCEPT, 1, sizeof(msg));
	for (i = 0; i < ARRAY_SIZE(cuts); i++) {
		clc_peer_send(pair, msg, cuts[i], 0);
		clc_peer_send_later(pair, msg + cuts[i],
				    sizeof(msg) - cuts[i]);
		KUNIT_EXPECT_EQ(test, clc_recv(pair, SMC_CLC_ACCEPT, CLC_SOON),
				0);
		KUNIT_EXPECT_MEMEQ(test, pair->buf, msg, sizeof(msg));
		flush_delayed_work(&pair->later);
	}
}

/* TCP reports nothing below SO_RCVLOWAT */
static void clc_test_rcvlowat(struct kunit *test)
{
	struct clc_pair *pair = test->priv;
	u8 msg[100];

	clc_fill(msg, SMC_CLC_ACCEPT, 1, sizeof(msg));
	WRITE_ONCE(pair->smc->tcp->sk->sk_rcvlowat, 1000);
	clc_peer_send_later(pair, msg, sizeof(msg));
	KUNIT_EXPECT_EQ(test, clc_recv(pair, SMC_CLC_ACCEPT, CLC_SOON), 0);
}

/* longer than the room: the rest goes too, what follows stays */
static void clc_test_room(struct kunit *test)
{
	struct clc_pair *pair = test->priv;
	u8 small[SMC_CLC_DECLINE_ROOM];
	u8 *msg;

	msg = kunit_kzalloc(test, SMC_CLC_MAX_LEN + 2, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, msg);
	clc_fill(msg, SMC_CLC_PROPOSAL, 1, SMC_CLC_MAX_LEN);
	memcpy(msg + SMC_CLC_MAX_LEN, "hi", 2);
	clc_peer_send(pair, msg, SMC_CLC_MAX_LEN + 2, 0);
	KUNIT_EXPECT_EQ(test, smc_clc_recv(pair->smc, SMC_CLC_PROPOSAL, small,
					   sizeof(small), jiffies + CLC_SOON,
					   &pair->in), 0);
	KUNIT_EXPECT_EQ(test, pair->in.hdr.len, SMC_CLC_MAX_LEN);
	KUNIT_EXPECT_MEMEQ(test, small, msg, sizeof(small));
	clc_expect_data(test, "hi", 2);
}

static void clc_test_no_clc(struct kunit *test)
{
	static const u8 almost[] = { 0xe2, 0xd4, 0x00 };
	struct clc_pair *pair = test->priv;

	/* one byte is enough to tell */
	clc_peer_send(pair, "G", 1, 0);
	KUNIT_EXPECT_EQ(test, clc_recv(pair, SMC_CLC_PROPOSAL, CLC_SOON),
			SMC_DECL_PEERNOSMC);
	clc_expect_data(test, "G", 1);

	clc_peer_send(pair, almost, sizeof(almost), 0);
	KUNIT_EXPECT_EQ(test, clc_recv(pair, SMC_CLC_PROPOSAL, CLC_SOON),
			SMC_DECL_PEERNOSMC);
	clc_expect_data(test, almost, sizeof(almost));

	/* a client has proposed already */
	clc_peer_send(pair, "GET /", 5, 0);
	KUNIT_EXPECT_EQ(test, clc_recv(pair, SMC_CLC_ACCEPT, CLC_SOON),
			-EPROTO);
}

static void clc_test_no_clc_fin(struct kunit *test)
{
	static const u8 begin[] = { 0xe2, 0xd4, 0xc3 };
	struct clc_pair *pair = test->priv;

	clc_peer_send(pair, begin, sizeof(begin), 0);
	kernel_sock_shutdown(pair->peer, SHUT_WR);
	KUNIT_EXPECT_EQ(test, clc_recv(pair, SMC_CLC_PROPOSAL, CLC_SOON),
			SMC_DECL_PEERNOSMC);
	clc_expect_data(test, begin, sizeof(begin));
}

static void clc_test_silence(struct kunit *test)
{
	static const u8 begin[] = { 0xe2, 0xd4, 0xc3 };
	struct clc_pair *pair = test->priv;

	KUNIT_EXPECT_EQ(test, clc_recv(pair, SMC_CLC_PROPOSAL, CLC_NEVER),
			-ETIMEDOUT);
	clc_peer_send(pair, begin, sizeof(begin), 0);
	KUNIT_EXPECT_EQ(test, clc_recv(pair, SMC_CLC_PROPOSAL, CLC_NEVER),
			-ETIMEDOUT);
}

/* a message that stops halfway, then the end of the stream */
static void clc_test_truncated(struct kunit *test)
{
	struct clc_pair *pair = test->priv;
	u8 msg[100];

	clc_fill(msg, SMC_CLC_PROPOSAL, 1, sizeof(msg));
	clc_peer_send(pair, msg, 60, 0);
	KUNIT_EXPECT_EQ(test, clc_recv(pair, SMC_CLC_PROPOSAL, CLC_NEVER),
			-ETIMEDOUT);
	clc_peer_send(pair, msg, 60, 0);
	kernel_sock_shutdown(pair->peer, SHUT_WR);
	KUNIT_EXPECT_EQ(test, clc_recv(pair, SMC_CLC_PROPOSAL, CLC_SOON),
			-ECONNRESET);
}

static void clc_test_fin(struct kunit *test)
{
	struct clc_pair *pair = test->priv;

	kernel_sock_shutdown(pair->peer, SHUT_WR);
	KUNIT_EXPECT_EQ(test, clc_recv(pair, SMC_CLC_PROPOSAL, CLC_SOON),
			-ECONNRESET);
}

static void clc_test_reset(struct kunit *test)
{
	struct clc_pair *pair = test->priv;

	sock_no_linger(pair->peer->sk);
	clc_close_peer(pair);
	KUNIT_EXPECT_EQ(test, clc_recv(pair, SMC_CLC_PROPOSAL, CLC_SOON),
			-ECONNRESET);
}

/* close of the SMC socket ends the wait */
static void clc_test_shutdown(struct kunit *test)
{
	struct clc_pair *pair = test->priv;

	clc_peer_send_later(pair, NULL, 0);
	KUNIT_EXPECT_EQ(test, clc_recv(pair, SMC_CLC_PROPOSAL, CLC_SOON),
			-ECONNRESET);
	/* and there is no further one */
	KUNIT_EXPECT_EQ(test, clc_recv(pair, SMC_CLC_PROPOSAL, CLC_SOON),
			-ECONNRESET);
}

static void clc_test_bad_header(struct kunit *test)
{
	struct clc_pair *pair = test->priv;
	u8 msg[100];

	clc_fill(msg, SMC_CLC_CONFIRM, 1, sizeof(msg));
	clc_peer_send(pair, msg, sizeof(msg), 0);
	KUNIT_EXPECT_EQ(test, clc_recv(pair, SMC_CLC_ACCEPT, CLC_SOON),
			-EPROTO);
	/* nothing was taken: it still is a Confirm */
	KUNIT_EXPECT_EQ(test, clc_recv(pair, SMC_CLC_CONFIRM, CLC_SOON), 0);

	msg[5] = 0xff;		/* length */
	clc_peer_send(pair, msg, sizeof(msg), 0);
	KUNIT_EXPECT_EQ(test, clc_recv(pair, SMC_CLC_CONFIRM, CLC_SOON),
			-EPROTO);
}

/* an urgent byte is skipped by readers: the message can not become complete */
static void clc_test_urgent(struct kunit *test)
{
	struct clc_pair *pair = test->priv;
	u8 msg[100];

	clc_fill(msg, SMC_CLC_PROPOSAL, 1, sizeof(msg));
	clc_peer_send(pair, msg, 6, MSG_OOB);
	clc_peer_send(pair, msg + 6, 2, 0);
	KUNIT_EXPECT_LT(test, clc_recv(pair, SMC_CLC_PROPOSAL, CLC_NEVER), 0);
}

/* a Decline, then data, then FIN: all there before we look */
static void clc_test_decline(struct kunit *test)
{
	struct clc_pair *pair = test->priv;
	u8 msg[SMC_CLC_DECLINE_ROOM + 2];
	int len;

	len = clc_decline(msg, sizeof(msg), SMC_DECL_SYNCERR, true);
	KUNIT_ASSERT_GT(test, len, 0);
	memcpy(msg + len, "hi", 2);
	clc_peer_send(pair, msg, len + 2, 0);
	clc_close_peer(pair);
	KUNIT_EXPECT_EQ(test, clc_recv(pair, SMC_CLC_CONFIRM, CLC_SOON),
			SMC_DECL_PEERDECL);
	KUNIT_EXPECT_TRUE(test, pair->in.out_of_sync);
	KUNIT_EXPECT_EQ(test, pair->smc->peer_diagnosis, SMC_DECL_SYNCERR);
	clc_expect_data(test, "hi", 2);
}

static void clc_test_swallow(struct kunit *test)
{
	struct clc_pair *pair = test->priv;
	u8 msg[SMC_CLC_DECLINE_ROOM + 2];
	int len;

	KUNIT_EXPECT_FALSE(test, smc_clc_swallow_decline(pair->smc,
							 jiffies + 1));

	len = clc_decline(msg, sizeof(msg), SMC_DECL_MEM, false);
	KUNIT_ASSERT_GT(test, len, 0);
	memcpy(msg + len, "hi", 2);
	clc_peer_send(pair, msg, len + 2, 0);
	KUNIT_EXPECT_TRUE(test, smc_clc_swallow_decline(pair->smc,
							jiffies + CLC_SOON));
	KUNIT_EXPECT_EQ(test, pair->smc->peer_diagnosis, SMC_DECL_MEM);

	/* data, and a part of a Decline, are left alone */
	KUNIT_EXPECT_FALSE(test, smc_clc_swallow_decline(pair->smc,
							 jiffies + CLC_SOON));
	clc_expect_data(test, "hi", 2);
	clc_peer_send(pair, msg, len - 1, 0);
	KUNIT_EXPECT_FALSE(test, smc_clc_swallow_decline(pair->smc,
							 jiffies + CLC_NEVER));
	clc_expect_data(test, msg, len - 1);
}

/* what we send is what we would take */
static void clc_test_send_decline(struct kunit *test)
{
	struct clc_pair *pair = test->priv;
	struct socket *tcp = pair->smc->tcp;

	KUNIT_EXPECT_EQ(test, smc_clc_send_decline(pair->smc, 2,
						   SMC_DECL_SYNCERR), 0);
	pair->smc->tcp = pair->peer;
	KUNIT_EXPECT_EQ(test, clc_recv(pair, SMC_CLC_ACCEPT, CLC_SOON),
			SMC_DECL_PEERDECL);
	pair->smc->tcp = tcp;
	KUNIT_EXPECT_EQ(test, pair->in.hdr.version, 2);
	KUNIT_EXPECT_TRUE(test, pair->in.out_of_sync);
	KUNIT_EXPECT_EQ(test, pair->smc->peer_diagnosis, SMC_DECL_SYNCERR);

	/* to a peer that is gone: an error, sooner or later */
	sock_no_linger(pair->peer->sk);
	clc_close_peer(pair);
	KUNIT_EXPECT_LT(test, smc_clc_send_decline(pair->smc, 1, SMC_DECL_MEM),
			0);
}

static struct kunit_case clc_cases[] = {
	KUNIT_CASE(clc_test_exact),
	KUNIT_CASE(clc_test_pieces),
	KUNIT_CASE(clc_test_rcvlowat),
	KUNIT_CASE(clc_test_room),
	KUNIT_CASE(clc_test_no_clc),
	KUNIT_CASE(clc_test_no_clc_fin),
	KUNIT_CASE(clc_test_silence),
	KUNIT_CASE(clc_test_truncated),
	KUNIT_CASE(clc_test_fin),
	KUNIT_CASE(clc_test_reset),
	KUNIT_CASE(clc_test_shutdown),
	KUNIT_CASE(clc_test_bad_header),
	KUNIT_CASE(clc_test_urgent),
	KUNIT_CASE(clc_test_decline),
	KUNIT_CASE(clc_test_swallow),
	KUNIT_CASE(clc_test_send_decline),
	{}
};

static struct kunit_suite clc_suite = {
	.name = "smc_clc",
	.init = clc_init,
	.exit = clc_exit,
	.test_cases = clc_cases,
};

kunit_test_suite(clc_suite);

MODULE_DESCRIPTION("KUnit tests of SMC's CLC messages over TCP");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
