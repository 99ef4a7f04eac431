// SPDX-License-Identifier: GPL-2.0
/*
 * A security module labels sockets and decides who may talk to whom. Smack
 * does, and needs no policy but rules: a process gives its label to the sockets
 * it makes, IPv4 carries it, and who receives must let it write.
 */
#include <sys/mount.h>
#include <sys/xattr.h>

#include "conf.h"

FIXTURE_ALONE(label);

#define SMACKFS	"/sys/fs/smackfs"

/* 0 or a negative errno */
static int tell(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int rc = 0;

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		rc = -errno;
	close(fd);
	return rc;
}

static bool smack(void)
{
	static const char * const rules[] = {
		"Cli Srv w", "Srv Cli w", "Bad Srv -", "Srv Bad w",
		/* all that comes over IPv6 is "_" */
		"Cli _ w", "_ Cli w", "Srv _ w", "_ Srv w",
	};
	unsigned int i;

	if (access(SMACKFS "/load2", F_OK) &&
	    mount("smackfs", SMACKFS, "smackfs", 0, NULL))
		return false;
	for (i = 0; i < ARRAY_SIZE(rules); i++)
		if (tell(SMACKFS "/load2", rules[i]))
			return false;
	return true;
}

/* of this process, until it changes again */
static int be(const char *name)
{
	return tell("/proc/thread-self/attr/current", name);
}

static const char *peer_of(int fd)
{
	static char text[256];
	socklen_t len = sizeof(text);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERSEC, text, &len))
		return strerror(errno);
	return text;
}

/* how packets to it (IPIN) and from it (IPOUT) are looked at */
static const char *label_of(int fd, const char *way)
{
	static char text[256];
	char name[64];
	ssize_t n;

	snprintf(name, sizeof(name), "security.SMACK64%s", way);
	n = fgetxattr(fd, name, text, sizeof(text) - 1);
	if (n < 0)
		return strerror(errno);
	text[n] = 0;
	return text;
}

static int labelled_listener(void)
{
	int l;

	if (be("Srv"))
		return -1;
	l = listener(0, 5);
	/* accept() is not what labels the connection */
	return be("_") ? -1 : l;
}

static int labelled_client(const char *name)
{
	int c;

	if (be(name))
		return -1;
	c = client(0);
	return be("_") ? -1 : c;
}

TEST_F(label, inherited)
{
	int l, c, s;

	if (!smack())
		SKIP(return, "needs Smack");
	l = labelled_listener();
	c = labelled_client("Cli");
	ASSERT_OK(join(l, c, &s));
	EXPECT_STREQ("Cli", label_of(c, "IPIN"));
	EXPECT_STREQ("Cli", label_of(c, "IPOUT"));
	EXPECT_STREQ("Srv", label_of(s, "IPIN"));
	EXPECT_STREQ("Srv", label_of(s, "IPOUT"));
	EXPECT_TRUE(passes(c, s));
	EXPECT_TRUE(passes(s, c));
}

TEST_F(label, peer)
{
	int l, c, s;

	if (!smack() || conf.cfg->family != AF_INET)
		SKIP(return, "needs Smack and IPv4");
	l = labelled_listener();
	c = labelled_client("Cli");
	ASSERT_OK(join(l, c, &s));
	EXPECT_STREQ("Cli", peer_of(s));
	EXPECT_STREQ("", peer_of(c));
	EXPECT_STREQ("", peer_of(l));
}

/* who may not write to the server does not get a connection */
TEST_F(label, stranger)
{
	int l, c;

	if (!smack() || conf.cfg->family != AF_INET)
		SKIP(return, "needs Smack and IPv4");
	l = labelled_listener();
	c = labelled_client("Bad");
	EXPECT_OK(set_opt(c, SOL_TCP, TCP_SYNCNT, 1));
	EXPECT_GT(0, CALL(dial(c)));
	EXPECT_EQ(0, poll_now(l));
	c = labelled_client("Cli");
	EXPECT_OK(dial(c));
}

TEST_HARNESS_MAIN
