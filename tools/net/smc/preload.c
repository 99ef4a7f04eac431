// SPDX-License-Identifier: GPL-2.0
/*
 * libsmc-preload.so: makes TCP sockets of unmodified programs SMC sockets.
 *
 * Only socket(3) is replaced, and of its calls only those that ask for a TCP
 * stream over IPv4 or IPv6. IPPROTO_SMC is tried first because the program
 * keeps an inet socket then (SO_DOMAIN, SO_REUSEPORT, systemd and seccomp
 * filters); AF_SMC second, for kernels without it; the original call last, so
 * that a program never fails because of us.
 *
 * Environment, read once:
 *   SMC_DEBUG   first character not 0: messages on stderr
 *   SMC_SNDBUF  bytes, k/K and m/M as suffix: SO_SNDBUF of converted sockets
 *   SMC_RCVBUF  the same for SO_RCVBUF
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef AF_SMC
#define AF_SMC 43
#endif
#ifndef IPPROTO_SMC
#define IPPROTO_SMC 256
#endif
#define SMCPROTO_SMC	0
#define SMCPROTO_SMC6	1
#define TYPE_MASK	0xf	/* the rest are SOCK_NONBLOCK and SOCK_CLOEXEC */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int (*next_socket)(int domain, int type, int protocol);
static int debug, sndbuf, rcvbuf;

static void say(const char *fmt, ...)
{
	int saved = errno;
	va_list args;
	char text[200];

	if (!debug)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	/* one write: other threads and processes share stderr */
	dprintf(STDERR_FILENO, "libsmc-preload: %s", text);
	errno = saved;
}

static int size_from_env(const char *name)
{
	const char *text = getenv(name);
	long long val;
	char *end;

	if (!text || !*text)
		return 0;
	val = strtoll(text, &end, 10);
	if (*end == 'k' || *end == 'K') {
		val *= 1024;
		end++;
	} else if (*end == 'm' || *end == 'M') {
		val *= 1024 * 1024;
		end++;
	}
	if (*end || val <= 0 || val > 0x3fffffff) {
		say("%s=%s is no size, ignored\n", name, text);
		return 0;
	}
	return val;
}

static void start(void)
{
	const char *text = getenv("SMC_DEBUG");

	debug = text && *text && *text != '0';
	next_socket = dlsym(RTLD_NEXT, "socket");
	sndbuf = size_from_env("SMC_SNDBUF");
	rcvbuf = size_from_env("SMC_RCVBUF");
}

/*
 * Before the program runs, so that a socket made in a signal handler or in the
 * child of a fork finds it done; 'once' remains for constructors before ours.
 */
__attribute__((constructor)) static void early(void)
{
	pthread_once(&once, start);
}

static int call_next(int domain, int type, int protocol)
{
	if (next_socket)
		return next_socket(domain, type, protocol);
	return syscall(SYS_socket, domain, type, protocol);
}

static void set_size(int fd, int option, int val, const char *name)
{
	if (val && setsockopt(fd, SOL_SOCKET, option, &val, sizeof(val)))
		say("%s %d refused: %m\n", name, val);
}

static int smc_socket(int domain, int type)
{
	int fd;

	fd = call_next(domain, type, IPPROTO_SMC);
	if (fd < 0)
		fd = call_next(AF_SMC, type, domain == AF_INET ?
			       SMCPROTO_SMC : SMCPROTO_SMC6);
	return fd;
}

__attribute__((visibility("default")))
int socket(int domain, int type, int protocol)
{
	int fd, saved = errno;

	pthread_once(&once, start);
	if ((domain != AF_INET && domain != AF_INET6) ||
	    (type & TYPE_MASK) != SOCK_STREAM ||
	    (protocol && protocol != IPPROTO_TCP))
		return call_next(domain, type, protocol);

	fd = smc_socket(domain, type);
	if (fd < 0) {
		say("no SMC socket (%m), TCP instead\n");
		return call_next(domain, type, protocol);
	}
	set_size(fd, SO_SNDBUF, sndbuf, "SMC_SNDBUF");
	set_size(fd, SO_RCVBUF, rcvbuf, "SMC_RCVBUF");
	say("socket %d is SMC\n", fd);
	errno = saved;	/* of the attempts before */
	return fd;
}
