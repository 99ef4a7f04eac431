// SPDX-License-Identifier: GPL-2.0
/*
 * What needs the cable between the hosts for itself, since it hurts others.
 */
#include "conf.h"

FIXTURE_ALONE(cable);

/* all packets between the hosts take longer, or not any more */
static int slow_cable(const char *what)
{
	char cmd[128];
	int i, rc = 0;

	for (i = 0; i < 2; i++) {
		in_ns(i);
		snprintf(cmd, sizeof(cmd),
			 "tc qdisc %s dev v%d root netem delay 400ms", what, i);
		rc |= system(cmd);
	}
	return rc;
}

/* two clients meet on the way: a connection, and nothing SMC could carry */
TEST_F(cable, crossed)
{
	int a = client(SOCK_NONBLOCK), b = server(SOCK_NONBLOCK);
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	ASSERT_OK(bind_host(a, 0, 0));
	ASSERT_OK(bind_host(b, 1, 0));
	ASSERT_OK(getsockname(a, (void *)&ss, &len));
	ASSERT_OK(learn_addr(b));
	ASSERT_EQ(0, slow_cable("replace"));
	EXPECT_ERR(EINPROGRESS, dial(a));
	EXPECT_ERR(EINPROGRESS, connect(b, (void *)&ss, len));
	EXPECT_TRUE(wait_events(a, POLLOUT));
	EXPECT_TRUE(wait_events(b, POLLOUT));
	slow_cable("del");
	EXPECT_OK(dial(a));
	EXPECT_OK(connect(b, (void *)&ss, len));
	EXPECT_TRUE(passes(a, b));
	EXPECT_TRUE(passes(b, a));
}

TEST_HARNESS_MAIN
