// SPDX-License-Identifier: GPL-2.0
/*
 * What the system knows of a socket: /proc/net, owners, BPF programs of a
 * cgroup, memory. And that nothing is left when sockets have gone.
 */
#include <linux/bpf.h>
#include <sys/mount.h>

#include "conf.h"

FIXTURE_ALONE(account);

/* sockets in a line of /proc/net/protocols of the namespace */
static int in_use(int ns, const char *proto)
{
	char line[256], name[32];
	int n = -1, size, sockets;
	FILE *f;

	in_ns(ns);
	f = fopen("/proc/thread-self/net/protocols", "r");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%31s %d %d", name, &size, &sockets) == 3 &&
		    !strcmp(name, proto))
			n = sockets;
	fclose(f);
	return n;
}

static const char *proto_of(enum smc_kind kind)
{
	bool v6 = conf.cfg->family == AF_INET6;

	if (kind == KIND_AF_SMC)
		return v6 ? "SMC6" : "SMC";
	if (kind == KIND_IPPROTO_SMC)
		return v6 ? "INET6_SMC" : "INET_SMC";
	return v6 ? "TCPv6" : "TCP";
}

static bool in_use_becomes(int ns, const char *proto, int n)
{
	long end = now_ms() + CONF_LONG;

	while (in_use(ns, proto) != n)
		if (now_ms() > end)
			return false;
		else
			sleep_ms(20);
	return true;
}

TEST_F(account, protocols)
{
	const char *cp = proto_of(conf.cfg->client);
	int before = in_use(0, cp), fds[8], i;

	/* of earlier tests */
	if (conf.cfg->client == KIND_TCP)
		SKIP(return, "TCP counts what is in TIME_WAIT as well");
	EXPECT_LE(0, before);
	for (i = 0; i < 8; i++)
		fds[i] = client(0);
	EXPECT_LE(8, in_use(0, cp));
	for (i = 0; i < 8; i++)
		close(fds[i]);
	EXPECT_TRUE(in_use_becomes(0, cp, 0));
}

/* connections of each end do not stay */
TEST_F(account, nothing_left)
{
	const char *cp = proto_of(conf.cfg->client);
	const char *sp = proto_of(conf.cfg->server);
	int fds[2], i;

	for (i = 0; i < 6; i++) {
		ASSERT_OK(make_pair(fds));
		if (i & 1)
			send(fds[0], "unread", 6, 0);
		if (i & 2)
			shutdown(fds[1], SHUT_WR);
		if (i & 4)
			set_linger(fds[0], 1, 0);
		close(fds[i & 1]);
		close(fds[!(i & 1)]);
	}
	if (conf.cfg->client != KIND_TCP)
		EXPECT_TRUE(in_use_becomes(0, cp, 0));
	if (conf.cfg->server != KIND_TCP)
		EXPECT_TRUE(in_use_becomes(1, sp, 0));
}

/* uid of the socket with this local port in /proc/net/tcp or tcp6 */
static int uid_of_port(int ns, int port)
{
	bool v6 = conf.cfg->family == AF_INET6;
	char line[512], addr[64], rem[64];
	unsigned int p, uid, st;
	int found = -1;
	FILE *f;

	in_ns(ns);
	f = fopen(v6 ? "/proc/thread-self/net/tcp6" :
		  "/proc/thread-self/net/tcp", "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, " %*d: %63[0-9A-F]:%x %63s %x %*s %*s %*s %u",
			   addr, &p, rem, &st, &uid) == 5 &&
		    (int)p == port && st == TCP_ESTABLISHED)
			found = uid;
	if (f)
		fclose(f);
	return found;
}

/* sockets belong to who makes them, accepted ones to who accepts them */
TEST_F(account, owner)
{
	int l = listener(0, 1), c, s, port;
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	struct stat st;

	in_ns(0);
	ASSERT_OK(syscall(SYS_setresuid, -1, 1234, -1));
	c = kind_socket(conf.cfg->client, conf.cfg->family, 0);
	ASSERT_OK(syscall(SYS_setresuid, -1, 0, -1));
	ASSERT_LE(0, c);
	ASSERT_OK(dial(c));
	ASSERT_OK(getsockname(c, (void *)&ss, &len));
	port = ss_port(&ss);
	s = accept(l, NULL, NULL);
	ASSERT_LE(0, s);
	EXPECT_EQ(1234, uid_of_port(0, port));
	EXPECT_OK(fstat(s, &st));
	EXPECT_EQ(0U, st.st_uid);
	EXPECT_TRUE(passes(c, s));
}

/* a BPF program that answers @verdict, for a hook of a cgroup */
static int bpf_answer(int prog_type, int attach_type, int verdict)
{
	struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0,
		  .imm = verdict },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = prog_type,
		.insns = (uintptr_t)insns,
		.insn_cnt = ARRAY_SIZE(insns),
		.license = (uintptr_t)"GPL",
		.expected_attach_type = attach_type,
	};

	return syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static int bpf_attach(int cgroup, int prog, int attach_type)
{
	union bpf_attr attr = {
		.target_fd = cgroup,
		.attach_bpf_fd = prog,
		.attach_type = attach_type,
	};

	return syscall(SYS_bpf, BPF_PROG_ATTACH, &attr, sizeof(attr));
}

#define CGROUP_ROOT	"/run/conf-cgroup"

/* a cgroup of its own for this process, under @name */
static int enter_cgroup(const char *name)
{
	char path[128], pid[16];
	int fd, n;

	mkdir(CGROUP_ROOT, 0700);
	if (access(CGROUP_ROOT "/cgroup.procs", F_OK) &&
	    mount("none", CGROUP_ROOT, "cgroup2", 0, NULL))
		return -1;
	snprintf(path, sizeof(path), CGROUP_ROOT "/%s", name);
	mkdir(path, 0700);
	strncat(path, "/cgroup.procs", sizeof(path) - strlen(path) - 1);
	fd = open(path, O_WRONLY);
	n = snprintf(pid, sizeof(pid), "%d", getpid());
	if (fd < 0 || write(fd, pid, n) != n)
		return -1;
	close(fd);
	*strrchr(path, '/') = 0;
	return open(path, O_RDONLY | O_DIRECTORY);
}

TEST_F(account, cgroup_connect)
{
	bool v6 = conf.cfg->family == AF_INET6;
	int hook = v6 ? BPF_CGROUP_INET6_CONNECT : BPF_CGROUP_INET4_CONNECT;
	int cg = enter_cgroup("connect"), prog, c, l = listener(0, 1);

	ASSERT_LE(0, cg);
	c = client(0);
	prog = bpf_answer(BPF_PROG_TYPE_CGROUP_SOCK_ADDR, hook, 0);
	ASSERT_LE(0, prog);
	ASSERT_OK(bpf_attach(cg, prog, hook));
	EXPECT_ERR(EPERM, dial(c));
	EXPECT_POLL(EV_OUT | POLLHUP, c);
	EXPECT_EQ(0, so_error(c));
	close(l);
}

TEST_F(account, cgroup_bind)
{
	bool v6 = conf.cfg->family == AF_INET6;
	int hook = v6 ? BPF_CGROUP_INET6_BIND : BPF_CGROUP_INET4_BIND;
	int cg = enter_cgroup("bind"), prog, fd;

	ASSERT_LE(0, cg);
	fd = server(0);
	prog = bpf_answer(BPF_PROG_TYPE_CGROUP_SOCK_ADDR, hook, 0);
	ASSERT_LE(0, prog);
	ASSERT_OK(bpf_attach(cg, prog, hook));
	EXPECT_ERR(EPERM, bind_host(fd, 1, 0));
}

TEST_F(account, cgroup_socket)
{
	int cg = enter_cgroup("socket"), prog;

	ASSERT_LE(0, cg);
	prog = bpf_answer(BPF_PROG_TYPE_CGROUP_SOCK,
			  BPF_CGROUP_INET_SOCK_CREATE, 0);
	ASSERT_LE(0, prog);
	ASSERT_OK(bpf_attach(cg, prog, BPF_CGROUP_INET_SOCK_CREATE));
	EXPECT_ERR(EPERM, client(0));
}

/* many at a time, all alive */
TEST_F(account, many)
{
	int l = listener(0, 64), c[40], s[40], i;

	for (i = 0; i < 40; i++) {
		c[i] = client(0);
		ASSERT_OK(dial(c[i]));
		s[i] = accept(l, NULL, NULL);
		ASSERT_LE(0, s[i]);
	}
	for (i = 0; i < 40; i++)
		EXPECT_TRUE(passes(c[i], s[i]));
	for (i = 0; i < 40; i++)
		EXPECT_TRUE(passes(s[i], c[i]));
}

/* no descriptors: nothing is lost but the call */
TEST_F(account, no_descriptors)
{
	int l = listener(0, 5), c = client(0), s, i, top;
	char buf[4];

	ASSERT_OK(dial(c));
	EXPECT_RET(3, send(c, "abc", 3, 0));
	EXPECT_TRUE(wait_readable(l));
	for (i = 0; (top = dup(0)) >= 0; i++)
		;
	EXPECT_EQ(EMFILE, errno);
	EXPECT_ERR(EMFILE, accept(l, NULL, NULL));
	EXPECT_ERR(EMFILE, kind_socket(conf.cfg->client, conf.cfg->family, 0));
	for (i = 50; i < 100; i++)
		close(i);
	s = accept(l, NULL, NULL);
	ASSERT_LE(0, s);
	EXPECT_EQ(3, recv_all(s, buf, 3));
}

TEST_HARNESS_MAIN
