// SPDX-License-Identifier: GPL-2.0
/*
 * Messages of one size from host A to host B, as a program sees them: how many
 * bytes arrive, and how long the reader has to wait between two messages.
 *
 * usage: smc_sizes KIND PORT SIZE MSECS HOW
 *
 * HOW: stream	one write for each message
 *	auto	two writes, the first one short
 *	cork	the same between TCP_CORK on and off
 *	held	the same, TCP_CORK stays on
 * With "ping-" in front each message waits for an answer of one byte.
 */
#include <pthread.h>
#include <time.h>

#include "../smc_test.h"

#define HEAD	100		/* bytes of the first write of two */
#define WARM	3		/* messages before gaps count */

static struct {
	enum smc_kind kind;
	struct sockaddr_storage addr;
	socklen_t addrlen;
	size_t size;
	long msecs;
	bool ping, parts, cork, held;
	int listener;
} run;

static char buf[1 << 18];

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000ULL + ts.tv_nsec / 1000;
}

static void cork(int fd, int on)
{
	if (setsockopt(fd, SOL_TCP, TCP_CORK, &on, sizeof(on)))
		die("TCP_CORK");
}

static void send_all(int fd, size_t len)
{
	ssize_t n;

	for (; len; len -= n) {
		n = send(fd, buf, len, MSG_NOSIGNAL);
		if (n <= 0)
			die("send");
	}
}

static void send_message(int fd)
{
	size_t head = run.parts && run.size > HEAD ? HEAD : 0;
	char answer;

	if (run.cork)
		cork(fd, 1);
	if (head)
		send_all(fd, head);
	send_all(fd, run.size - head);
	if (run.cork)
		cork(fd, 0);
	if (run.ping && recv(fd, &answer, 1, 0) != 1)
		die("answer");
}

static void *reader(void *arg)
{
	uint64_t bytes = 0, seen = 0, late40 = 0, late200 = 0, max_gap = 0;
	uint64_t first = 0, last = 0;
	static char in[1 << 18];
	int fd;

	enter_ns("B");
	fd = accept(run.listener, NULL, NULL);
	if (fd < 0)
		die("accept");
	for (;;) {
		ssize_t n = recv(fd, in, sizeof(in), 0);
		uint64_t t = now_us(), done;

		if (n < 0)
			die("recv");
		if (!n)
			break;
		bytes += n;
		done = bytes / run.size;
		if (done == seen)
			continue;
		if (seen >= WARM) {
			max_gap = t - last > max_gap ? t - last : max_gap;
			late40 += t - last >= 35000;
			late200 += t - last >= 150000;
		}
		if (run.ping && send(fd, "", 1, MSG_NOSIGNAL) != 1)
			die("answer");
		first = first ? first : t;
		last = t;
		seen = done;
	}
	printf("{\"bytes\": %llu, \"messages\": %llu, \"usecs\": %llu, ",
	       (unsigned long long)bytes, (unsigned long long)seen,
	       (unsigned long long)(last - first));
	printf("\"max_gap_us\": %llu, \"late40\": %llu, \"late200\": %llu}\n",
	       (unsigned long long)max_gap, (unsigned long long)late40,
	       (unsigned long long)late200);
	close(fd);
	return arg;
}

static void parse(char **argv)
{
	const char *how = argv[5];

	run.kind = kind_parse(argv[1]);
	run.addrlen = make_addr(&run.addr, "10.0.0.2", atoi(argv[2]));
	run.size = strtoul(argv[3], NULL, 0);
	run.msecs = atol(argv[4]);
	run.ping = !strncmp(how, "ping-", 5);
	how += run.ping ? 5 : 0;
	run.parts = strcmp(how, "stream");
	run.cork = !strcmp(how, "cork");
	run.held = !strcmp(how, "held");
	if (!run.size || run.size > sizeof(buf) ||
	    (run.parts && !run.cork && !run.held && strcmp(how, "auto"))) {
		fprintf(stderr, "smc_sizes: bad size or way to send\n");
		exit(2);
	}
}

int main(int argc, char **argv)
{
	int c, on = 1;
	pthread_t thread;
	uint64_t end;

	if (argc != 6) {
		fprintf(stderr, "usage: smc_sizes KIND PORT SIZE MSECS HOW\n");
		return 2;
	}
	parse(argv);
	enter_ns("B");
	run.listener = kind_socket(run.kind, AF_INET, 0);
	setsockopt(run.listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(run.listener, (void *)&run.addr, run.addrlen) ||
	    listen(run.listener, 1))
		die("listen");
	if (pthread_create(&thread, NULL, reader, NULL))
		die("thread");
	enter_ns("A");
	c = kind_socket(run.kind, AF_INET, 0);
	if (connect(c, (void *)&run.addr, run.addrlen))
		die("connect");
	if (run.kind != KIND_TCP && diag_mode(c, NULL) != SMC_DIAG_MODE_SMCR) {
		fprintf(stderr, "smc_sizes: not over SMC-R\n");
		return 1;
	}
	if (run.held)
		cork(c, 1);
	for (end = now_us() + run.msecs * 1000; now_us() < end; )
		send_message(c);
	shutdown(c, SHUT_WR);
	pthread_join(thread, NULL);
	close(c);
	return 0;
}
