// SPDX-License-Identifier: GPL-2.0
/*
 * sockets [COMMAND]: which sockets a program gets. Run by smc_run.
 *
 * kinds      kinds of sockets with the protocol that they have
 * threads N  N threads make their first socket at the same moment
 * flags      SOCK_CLOEXEC and SOCK_NONBLOCK
 * errors     errno of calls that must fail
 * buffers    SO_SNDBUF, SO_RCVBUF of a stream and of a datagram socket
 * full       no free descriptor
 * fork       sockets of children
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

static int get(int fd, int opt)
{
	socklen_t len = sizeof(int);
	int val = -1;

	getsockopt(fd, SOL_SOCKET, opt, &val, &len);
	return val;
}

static void show(const char *name, int fd)
{
	if (fd < 0)
		printf("%s: %s\n", name, strerror(errno));
	else
		printf("%s: domain %d type %d protocol %d\n", name,
		       get(fd, SO_DOMAIN), get(fd, SO_TYPE),
		       get(fd, SO_PROTOCOL));
	if (fd >= 0)
		close(fd);
}

static int kinds(void)
{
	int pair[2];

	show("inet stream 0", socket(AF_INET, SOCK_STREAM, 0));
	show("inet stream tcp", socket(AF_INET, SOCK_STREAM, IPPROTO_TCP));
	show("inet6 stream 0", socket(AF_INET6, SOCK_STREAM, 0));
	show("inet6 stream tcp", socket(AF_INET6, SOCK_STREAM, IPPROTO_TCP));
	show("inet datagram", socket(AF_INET, SOCK_DGRAM, 0));
	show("inet6 datagram", socket(AF_INET6, SOCK_DGRAM, IPPROTO_UDP));
	show("raw tcp", socket(AF_INET, SOCK_RAW, IPPROTO_TCP));
	show("stream mptcp", socket(AF_INET, SOCK_STREAM, IPPROTO_MPTCP));
	show("stream udp", socket(AF_INET, SOCK_STREAM, IPPROTO_UDP));
	show("datagram tcp", socket(AF_INET, SOCK_DGRAM, IPPROTO_TCP));
	show("unix stream", socket(AF_UNIX, SOCK_STREAM, 0));
	show("unix datagram", socket(AF_UNIX, SOCK_DGRAM, 0));
	show("netlink", socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE));
	show("packet", socket(AF_PACKET, SOCK_DGRAM, 0));
	show("system call", syscall(SYS_socket, AF_INET, SOCK_STREAM, 0));
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return 1;
	show("pair", pair[0]);
	return 0;
}

static pthread_barrier_t barrier;

static void *first_socket(void *arg)
{
	int fd;

	pthread_barrier_wait(&barrier);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	return (void *)(long)(fd < 0 ? -1 : get(fd, SO_PROTOCOL));
}

static int threads(int n)
{
	pthread_t *t = calloc(n, sizeof(*t));
	int i, tcp = 0, smc = 0;
	void *proto;

	pthread_barrier_init(&barrier, NULL, n);
	for (i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, first_socket, NULL))
			return 1;
	for (i = 0; i < n; i++) {
		pthread_join(t[i], &proto);
		tcp += (long)proto == IPPROTO_TCP;
		smc += (long)proto == 256;
	}
	printf("%d threads: %d tcp %d smc\n", n, tcp, smc);
	free(t);
	return 0;
}

static void show_flags(const char *name, int extra)
{
	int fd = socket(AF_INET, SOCK_STREAM | extra, 0);

	printf("%s: cloexec %d nonblock %d protocol %d\n", name,
	       fcntl(fd, F_GETFD) & FD_CLOEXEC,
	       !!(fcntl(fd, F_GETFL) & O_NONBLOCK), get(fd, SO_PROTOCOL));
	close(fd);
}

static int flags(void)
{
	show_flags("none", 0);
	show_flags("cloexec", SOCK_CLOEXEC);
	show_flags("nonblock", SOCK_NONBLOCK);
	show_flags("both", SOCK_CLOEXEC | SOCK_NONBLOCK);
	return 0;
}

static int errors(void)
{
	int fd;

	show("unknown family", socket(200, SOCK_STREAM, 0));
	show("unknown type", socket(AF_INET, 9, 0));
	show("unknown protocol", socket(AF_INET, SOCK_STREAM, 77));
	show("unknown flag", socket(AF_INET, SOCK_STREAM | 0x100000, 0));
	errno = 0;
	fd = socket(AF_INET, SOCK_STREAM, 0);
	printf("errno after success: %d\n", fd < 0 ? -1 : errno);
	return 0;
}

static int buffers(void)
{
	int stream = socket(AF_INET, SOCK_STREAM, 0);
	int dgram = socket(AF_INET, SOCK_DGRAM, 0);

	printf("stream %d %d\n", get(stream, SO_SNDBUF), get(stream, SO_RCVBUF));
	printf("datagram %d %d\n", get(dgram, SO_SNDBUF), get(dgram, SO_RCVBUF));
	return 0;
}

static int full(void)
{
	struct rlimit lim = { 3, 3 };

	setrlimit(RLIMIT_NOFILE, &lim);
	show("full", socket(AF_INET, SOCK_STREAM, 0));
	return 0;
}

static int forks(void)
{
	int i, status, bad = 0;

	for (i = 0; i < 8; i++) {
		fflush(stdout);
		if (fork() == 0) {
			int fd = socket(AF_INET, SOCK_STREAM, 0);

			_exit(get(fd, SO_PROTOCOL) & 0x7f);
		}
	}
	while (wait(&status) > 0)
		bad += WEXITSTATUS(status) != 0;	/* 256 & 0x7f */
	printf("children without SMC: %d\n", bad);
	return 0;
}

int main(int argc, char **argv)
{
	const char *cmd = argc > 1 ? argv[1] : "";

	if (!strcmp(cmd, "kinds"))
		return kinds();
	if (!strcmp(cmd, "threads"))
		return threads(argc > 2 ? atoi(argv[2]) : 8);
	if (!strcmp(cmd, "flags"))
		return flags();
	if (!strcmp(cmd, "errors"))
		return errors();
	if (!strcmp(cmd, "buffers"))
		return buffers();
	if (!strcmp(cmd, "full"))
		return full();
	if (!strcmp(cmd, "fork"))
		return forks();
	fprintf(stderr, "usage: sockets COMMAND, see the source\n");
	return 2;
}
