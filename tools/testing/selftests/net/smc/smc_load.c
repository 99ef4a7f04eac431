// SPDX-License-Identifier: GPL-2.0
/*
 * The stack under load, between two hosts (network namespaces).
 *
 * One program has both ends of each connection, so that a test can say what
 * each side does when. Figures are printed as comments; the exit status is the
 * result.
 *
 *   smc_load [-k KIND] [-A NS] [-B NS] [-a ADDR] [-p PORT] [-n CONNS]
 *            [-b KIB] [-t SECS] [-x CMD] [-K] TEST
 *
 * signal   senders that are blocked get a signal every 5 ms
 * share    senders that never stop share one link
 * stalled  one connection whose reader is stopped beside request/response
 * both     checked streams both ways: KIB on each connection, or for SECS
 * hold     one connection, blocked as its reader does not read, until killed
 * teardown blocked senders and readers while CMD takes away what carries them;
 *          -K: CMD kills the peer's process, PEER
 *
 * Waits end after LIMIT seconds, which only something that hangs needs.
 */
#include "smc_load.h"

/* ---- signal ---- */

#define SIGNALS_BLOCKED	30	/* that a restarted call has to survive */

struct sig_state {
	atomic_uint signals, eintr, shorts;
	atomic_bool filled;	/* the sender is at a blocking call */
	atomic_bool reading;	/* the reader has begun */
};

static struct sig_state *sig_now;

static void on_alarm(int sig)
{
	sig_now->signals++;
}

static void alarm_every(int ms)
{
	struct itimerval it = {
		.it_interval.tv_usec = ms * 1000,
		.it_value.tv_usec = ms * 1000,
	};

	setitimer(ITIMER_REAL, &it, NULL);
}

/* until nothing has fitted for a while: all buffers on the way are full */
static int fill_up(int fd, uint32_t seed, uint64_t *pos)
{
	static uint8_t buf[CHUNK];
	int full = 0;
	ssize_t n;

	while (full < 6) {
		stream_fill(seed, *pos, buf, sizeof(buf));
		n = send(fd, buf, sizeof(buf), MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno != EAGAIN)
			return fail("send into the buffers");
		full = n < 0 ? full + 1 : 0;
		if (n < 0)
			sleep_ms(50);
		else
			*pos += n;
	}
	return 0;
}

/* Nobody reads. Without SA_RESTART the call ends, with nothing taken. With it
 * the call sleeps on through many signals and ends when the reader has begun.
 */
static int sig_blocked(int fd, bool restart, uint32_t seed, uint64_t *pos)
{
	struct sig_state *s = sig_now;
	uint8_t c;
	ssize_t n;
	int i;

	for (i = 0; i < 5 && !restart; i++) {
		c = stream_byte(seed, *pos);
		n = send(fd, &c, 1, MSG_NOSIGNAL);
		if (n >= 0 || errno != EINTR)
			return bad("blocked send returned, not with EINTR", n);
	}
	s->filled = true;
	if (!restart)
		return 0;
	c = stream_byte(seed, *pos);
	n = send(fd, &c, 1, MSG_NOSIGNAL);
	if (n != 1)
		return fail("restarted send");
	*pos += n;
	if (!s->reading)
		return bad("restarted send ended before anybody read", n);
	return 0;
}

static int sig_stream(int fd, bool restart, uint32_t seed, uint64_t pos)
{
	uint8_t *buf = malloc(8 * CHUNK);
	unsigned int rnd = seed;
	size_t len;
	ssize_t n;

	while (pos < bytes) {
		len = 1 + rand_r(&rnd) % (8 * CHUNK);
		if (len > bytes - pos)
			len = bytes - pos;
		stream_fill(seed, pos, buf, len);
		n = send(fd, buf, len, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR && !restart) {
			sig_now->eintr++;
			continue;
		}
		if (n <= 0)
			return fail("send");
		sig_now->shorts += (size_t)n < len;
		pos += n;
	}
	free(buf);
	return 0;
}

static int sig_sender(int fd, bool restart, uint32_t seed)
{
	struct sigaction sa = {
		.sa_handler = on_alarm,
		.sa_flags = restart ? SA_RESTART : 0,
	};
	uint64_t pos = 0;
	int rc;

	sigaction(SIGALRM, &sa, NULL);
	if (fill_up(fd, seed, &pos))
		return -1;
	if (pos >= bytes)
		return bad("the buffers take all", pos);
	alarm_every(5);
	rc = sig_blocked(fd, restart, seed, &pos);
	if (!rc)
		rc = sig_stream(fd, restart, seed, pos);
	alarm_every(0);
	return rc || shutdown(fd, SHUT_WR);
}

static int sig_reader(int fd, struct sig_state *s, uint32_t seed)
{
	struct sigaction sa = { .sa_handler = on_alarm };
	struct sig_state own = {};
	int64_t end = now_ms() + LIMIT * 1000;
	unsigned int from;
	uint64_t pos = 0;

	while (!s->filled && now_ms() < end)
		sleep_ms(1);
	from = s->signals;
	while (s->signals - from < SIGNALS_BLOCKED && now_ms() < end)
		sleep_ms(1);
	s->reading = true;
	sig_now = &own;
	sigaction(SIGALRM, &sa, NULL);
	alarm_every(10);
	if (read_stream(fd, seed, &pos, bytes + 1, true))
		return -1;
	return pos == bytes ? 0 : bad("bytes came", pos);
}

/* ends of @n children: how many failed; what hangs is killed and has failed */
static int reap(pid_t *pid, int n)
{
	int64_t end = now_ms() + LIMIT * 1000;
	int i, status, nbad = 0;

	for (i = 0; i < n; i++) {
		while (!waitpid(pid[i], &status, WNOHANG)) {
			if (now_ms() < end) {
				sleep_ms(5);
				continue;
			}
			bad("hangs, child", i);
			kill(pid[i], SIGKILL);
			waitpid(pid[i], &status, 0);
			break;
		}
		nbad += !WIFEXITED(status) || WEXITSTATUS(status);
	}
	return nbad;
}

/* a child that runs one end of pair @i */
static pid_t fork_end(int i, bool sender, struct sig_state *s)
{
	bool restart = i % 2;
	pid_t pid;
	int j;

	fflush(stdout);
	pid = fork();
	if (pid)
		return pid;
	for (j = 0; j < nconns; j++) {
		if (j != i || !sender)
			close(pairs[j].a);
		if (j != i || sender)
			close(pairs[j].b);
	}
	sig_now = s;
	j = sender ? sig_sender(pairs[i].a, restart, i) :
		     sig_reader(pairs[i].b, s, i);
	fflush(stdout);
	_exit(j ? 1 : 0);
}

/* every other connection with SA_RESTART */
static int test_signal(void)
{
	struct sig_state *s = shared(nconns * sizeof(*s));
	unsigned int signals = 0, shorts = 0;
	pid_t pid[2 * MAXCONNS];
	int i, nbad;

	if (connect_pairs(nconns))
		return -1;
	for (i = 0; i < nconns; i++) {
		pid[2 * i] = fork_end(i, true, &s[i]);
		pid[2 * i + 1] = fork_end(i, false, &s[i]);
	}
	for (i = 0; i < nconns; i++) {
		close(pairs[i].a);
		close(pairs[i].b);
	}
	nbad = reap(pid, 2 * nconns);
	for (i = 0; i < nconns; i++) {
		printf("# connection %d%s: %u signals, %u EINTR, %u short counts\n",
		       i, i % 2 ? " SA_RESTART" : "", s[i].signals, s[i].eintr,
		       s[i].shorts);
		signals += s[i].signals;
		shorts += s[i].shorts;
	}
	if (nbad)
		return bad("ends that failed", nbad);
	if (signals < (SIGNALS_BLOCKED + 5U) * nconns)
		return bad("signals are too few to mean anything", signals);
	return shorts ? 0 : bad("short counts", shorts);
}

/* ---- share ---- */

static void *share_send(void *arg)
{
	static uint8_t buf[CHUNK];
	struct worker *w = arg;
	ssize_t n;

	while (!stop) {
		n = send(w->fd, buf, sizeof(buf), MSG_NOSIGNAL);
		if (n <= 0 && !stop)
			w->rc = fail("send");
		if (n <= 0)
			break;
	}
	return NULL;
}

static void *share_recv(void *arg)
{
	static __thread uint8_t buf[65536];
	struct worker *w = arg;
	ssize_t n;

	while (!stop) {
		n = recv(w->fd, buf, sizeof(buf), 0);
		if (n <= 0 && !stop)
			w->rc = fail("recv");
		if (n <= 0)
			break;
		w->count += n;
	}
	return NULL;
}

/* For so many bytes, not so much time: what is compared are connections of one
 * run, so a slow machine makes it longer and changes nothing else.
 */
static int test_share(void)
{
	static struct worker w[2 * MAXCONNS];
	uint64_t goal = bytes * nconns, least = UINT64_MAX, sum = 0, most = 0;
	int64_t end = now_ms() + LIMIT * 1000;
	uint64_t got[MAXCONNS];
	int i, hang;

	if (connect_pairs(nconns))
		return -1;
	for (i = 0; i < nconns; i++) {
		start(&w[i], share_recv, pairs[i].b, i);
		start(&w[nconns + i], share_send, pairs[i].a, i);
	}
	go = true;
	while (total(w, nconns) < goal && !failed(w, 2 * nconns) &&
	       now_ms() < end)
		sleep_ms(2);
	for (i = 0; i < nconns; i++)
		got[i] = w[i].count;
	stop = true;
	for (i = 0; i < nconns; i++) {
		shutdown(pairs[i].a, SHUT_RDWR);
		shutdown(pairs[i].b, SHUT_RDWR);
		sum += got[i];
		least = got[i] < least ? got[i] : least;
		most = got[i] > most ? got[i] : most;
	}
	hang = join_all(w, 2 * nconns);
	printf("# %llu bytes; the least of a connection is %llu %% of the mean, the most %llu %%\n",
	       (unsigned long long)sum, (unsigned long long)least * nconns * 100 / (sum + 1),
	       (unsigned long long)most * nconns * 100 / (sum + 1));
	if (hang || failed(w, 2 * nconns))
		return bad("ends that hang or failed", hang + failed(w, 2 * nconns));
	if (sum < goal)
		return bad("bytes within the limit", sum);
	return 4 * least >= sum / nconns ? 0 : bad("starved", least);
}

/* ---- stalled ---- */

struct stall {
	atomic_int rounds;	/* that the reader has read whole */
};

static void *rr_client(void *arg)
{
	struct worker *w = arg;
	uint8_t req[200] = {}, rsp[1000];

	while (!stop) {
		if (send(w->fd, req, sizeof(req), MSG_NOSIGNAL) != sizeof(req) ||
		    recv(w->fd, rsp, sizeof(rsp), MSG_WAITALL) != sizeof(rsp)) {
			if (!stop)
				w->rc = fail("request");
			break;
		}
		w->count++;
	}
	shutdown(w->fd, SHUT_WR);
	return NULL;
}

static void *rr_server(void *arg)
{
	struct worker *w = arg;
	uint8_t req[200], rsp[1000] = {};

	while (recv(w->fd, req, sizeof(req), MSG_WAITALL) == sizeof(req))
		if (send(w->fd, rsp, sizeof(rsp), MSG_NOSIGNAL) != sizeof(rsp))
			break;
	return NULL;
}

static void *stall_send(void *arg)
{
	static uint8_t buf[CHUNK];
	struct worker *w = arg;
	uint64_t end = (w->no + 1) * bytes, pos = w->no * bytes;
	ssize_t n;

	while (pos < end) {
		stream_fill(1, pos, buf, sizeof(buf));
		n = send(w->fd, buf, end - pos < CHUNK ? end - pos : CHUNK, MSG_NOSIGNAL);
		if (n <= 0) {
			w->rc = fail("send to the stopped one");
			break;
		}
		pos += n;
		w->count += n;
	}
	return NULL;
}

static pid_t stall_reader(struct stall *s, int rounds)
{
	uint64_t pos = 0;
	pid_t pid;
	int i;

	fflush(stdout);
	pid = fork();
	if (pid)
		return pid;
	for (i = 0; i < rounds; i++) {
		if (read_stream(pairs[0].b, 1, &pos, (i + 1) * bytes, false) ||
		    pos != (i + 1) * bytes)
			break;
		s->rounds++;
	}
	fflush(stdout);
	_exit(i != rounds);
}

/* transactions within the time */
static uint64_t rr_measure(struct worker *w, int n)
{
	uint64_t before = total(w, n);

	sleep_ms(secs * 1000);
	return total(w, n) - before;
}

/* until the sender sleeps with all buffers full */
static int wait_full(struct worker *w)
{
	struct pollfd p = { .fd = w->fd, .events = POLLOUT };
	int64_t end = now_ms() + LIMIT * 1000;
	uint64_t count;

	do {
		count = w->count;
		sleep_ms(300);
		if (w->count >= bytes)
			return bad("the stopped reader took all", w->count);
		if (count == w->count && !poll(&p, 1, 0))
			return 0;
	} while (now_ms() < end);
	return bad("never full", count);
}

/* one round: without, then with, a stopped reader; then that one reads all */
static int stall_round(struct worker *rr, int round, pid_t reader,
		       struct stall *s, uint64_t *without, uint64_t *with)
{
	int64_t end;
	struct worker w;
	int status;

	*without += rr_measure(rr, nconns - 1);
	kill(reader, SIGSTOP);
	waitpid(reader, &status, WUNTRACED);
	start(&w, stall_send, pairs[0].a, round);
	status = wait_full(&w);
	*with += rr_measure(rr, nconns - 1);
	kill(reader, SIGCONT);
	if (join_all(&w, 1))
		return bad("the sender hangs, round", round);
	end = now_ms() + LIMIT * 1000;
	while (s->rounds <= round && now_ms() < end)
		sleep_ms(2);
	if (s->rounds <= round)
		return bad("not all arrived when the reader went on, round", round);
	return status | w.rc;
}

static int test_stalled(void)
{
	static struct worker w[2 * MAXCONNS];
	struct stall *s = shared(sizeof(*s));
	uint64_t without = 0, with = 0;
	int i, n = nconns - 1, rc;
	pid_t reader;

	if (connect_pairs(nconns))
		return -1;
	reader = stall_reader(s, 2);
	for (i = 0; i < n; i++) {
		start(&w[i], rr_client, pairs[i + 1].a, i);
		start(&w[n + i], rr_server, pairs[i + 1].b, i);
	}
	go = true;
	sleep_ms(200);
	rc = stall_round(w, 0, reader, s, &without, &with);
	if (!rc)
		rc = stall_round(w, 1, reader, s, &without, &with);
	if (rc)
		kill(reader, SIGKILL);
	rc |= reap(&reader, 1);
	stop = true;
	i = join_all(w, 2 * n);
	printf("# %d connections: %llu transactions, with a stopped one beside them %llu\n",
	       n, (unsigned long long)without, (unsigned long long)with);
	if (rc || i || failed(w, 2 * n))
		return bad("failed or hang", i + failed(w, 2 * n));
	if (!with || 2 * with < without)
		return bad("slowed down to %", with * 100 / (without + 1));
	return 0;
}

/* ---- both ---- */

static int64_t deadline;

static void *both_send(void *arg)
{
	struct worker *w = arg;
	uint8_t *buf = malloc(4 * CHUNK);
	unsigned int rnd = w->no;
	uint64_t pos = 0;
	size_t len;
	ssize_t n;

	while (secs ? now_ms() < deadline : pos < bytes) {
		len = 1 + rand_r(&rnd) % (4 * CHUNK);
		if (!secs && len > bytes - pos)
			len = bytes - pos;
		stream_fill(w->no, pos, buf, len);
		n = send(w->fd, buf, len, MSG_NOSIGNAL);
		if (n <= 0) {
			w->rc = fail("send");
			break;
		}
		pos += n;
	}
	shutdown(w->fd, SHUT_WR);
	w->count = pos;
	free(buf);
	return NULL;
}

static void *both_recv(void *arg)
{
	struct worker *w = arg;
	uint64_t pos = 0;

	w->rc = read_stream(w->fd, w->no, &pos, UINT64_MAX, false);
	w->count = pos;
	return NULL;
}

static int test_both(void)
{
	static struct worker tx[2 * MAXCONNS], rx[2 * MAXCONNS];
	int i, n = 2 * nconns, hang, nbad;

	if (connect_pairs(nconns))
		return -1;
	for (i = 0; i < n; i++) {
		struct pair *p = &pairs[i / 2];

		start(&tx[i], both_send, i % 2 ? p->b : p->a, i);
		start(&rx[i], both_recv, i % 2 ? p->a : p->b, i);
	}
	deadline = now_ms() + secs * 1000;
	go = true;
	hang = join_all(tx, n) + join_all(rx, n);
	printf("# %llu bytes in %d streams\n", (unsigned long long)total(tx, n), n);
	nbad = failed(tx, n) + failed(rx, n);
	for (i = 0; i < n; i++)
		nbad += tx[i].count != rx[i].count || !tx[i].count;
	return hang || nbad ? bad("streams that hang or failed", hang + nbad) : 0;
}

/* ---- teardown ---- */

static void *down_send(void *arg)
{
	static uint8_t buf[CHUNK];
	struct worker *w = arg;
	ssize_t n;

	do {
		n = send(w->fd, buf, sizeof(buf), MSG_NOSIGNAL);
		w->count += n > 0 ? n : 0;
	} while (n > 0);
	w->err = errno;
	w->rc = !n;
	return NULL;
}

static void *down_recv(void *arg)
{
	struct worker *w = arg;
	char c;
	ssize_t n = recv(w->fd, &c, 1, 0);

	w->err = n ? errno : 0;
	w->rc = n > 0;
	return NULL;
}

static void *down_drain(void *arg)
{
	static uint8_t buf[CHUNK];
	struct worker *w = arg;
	ssize_t n;

	do {
		n = recv(w->fd, buf, sizeof(buf), 0);
	} while (n > 0);
	w->err = n ? errno : 0;
	return NULL;
}

/* until all sleep in their call and nothing moves */
static int wait_asleep(struct worker *w, int n)
{
	int64_t end = now_ms() + LIMIT * 1000;
	int i, asleep;
	uint64_t count;

	do {
		count = total(w, n);
		sleep_ms(300);
		for (i = asleep = 0; i < n; i++)
			asleep += tid_sleeps(w[i].tid);
		if (count == total(w, n) && asleep == n)
			return 0;
	} while (now_ms() < end);
	return bad("not blocked, of all", n - asleep);
}

/* what ended the calls, and whether it was right that they ended */
static int show_ends(struct worker *w, int n, const char *who, int hang)
{
	int i, err, count;

	for (err = 0; err < 200; err++) {
		for (i = count = 0; i < n; i++)
			count += w[i].err == err && !w[i].rc;
		if (count && !hang)
			printf("# %s: %d times %s\n", who, count,
			       err ? strerror(err) : "end of file");
	}
	if (hang) {
		printf("# %s that hang: %d\n", who, hang);
		return -1;
	}
	return failed(w, n) ? bad("ended without error", failed(w, n)) : 0;
}

/* Host B has its ends and does nothing. When the rest is over it reads what is
 * left in each; that ends, too.
 */
static void peer_main(int over)
{
	static struct worker w[MAXCONNS];
	int i, rc;
	char c;

	for (i = 0; i < nconns; i++)
		close(pairs[i].a);
	if (read(over, &c, 1) < 0)
		_exit(1);
	for (i = 0; i < nconns; i++)
		start(&w[i], down_drain, pairs[i].b, i);
	go = true;
	rc = show_ends(w, nconns, "peer's readers", join_all(w, nconns));
	fflush(stdout);
	_exit(rc ? 1 : 0);
}

/* Nobody reads or writes at B, so one thread sleeps in send and another one in
 * recv on each connection.
 */
static int test_teardown(void)
{
	static struct worker tx[MAXCONNS], rx[MAXCONNS];
	int i, j, p[2], rc, status;
	char number[16];
	pid_t peer;

	if (connect_pairs(nconns) || pipe(p))
		return -1;
	fflush(stdout);
	peer = fork();
	if (!peer) {
		close(p[1]);
		peer_main(p[0]);
	}
	for (i = 0; i < nconns; i++) {
		close(pairs[i].b);
		start(&tx[i], down_send, pairs[i].a, i);
		start(&rx[i], down_recv, pairs[i].a, i);
	}
	go = true;
	rc = wait_asleep(tx, nconns) || wait_asleep(rx, nconns);
	snprintf(number, sizeof(number), "%d", peer);
	setenv("PEER", number, 1);
	status = system(cmd);
	if (status)
		rc = bad("the command ended with", status);
	i = join_all(tx, nconns);
	j = join_all(rx, nconns);
	rc |= show_ends(tx, nconns, "senders", i);
	rc |= show_ends(rx, nconns, "readers", j);
	close(p[1]);
	if (kill_peer)
		kill(peer, SIGKILL);
	i = reap(&peer, 1);
	return kill_peer ? rc : rc | i;
}

/* ---- hold ---- */

static int test_hold(void)
{
	uint64_t pos = 0;
	uint8_t c = 0;

	if (connect_pairs(1) || fill_up(pairs[0].a, 0, &pos))
		return -1;
	printf("# full\n");
	fflush(stdout);
	return bad("the blocked send returned", send(pairs[0].a, &c, 1, MSG_NOSIGNAL));
}

static const struct {
	const char *name;
	int (*run)(void);
	int conns;
} tests[] = {
	{ "signal", test_signal, 4 },
	{ "share", test_share, 16 },
	{ "stalled", test_stalled, 9 },
	{ "both", test_both, 4 },
	{ "hold", test_hold, 1 },
	{ "teardown", test_teardown, 16 },
};

static int run_test(const char *name)
{
	int64_t begin;
	unsigned int i;
	int rc;

	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		if (strcmp(tests[i].name, name))
			continue;
		if (!nconns)
			nconns = tests[i].conns;
		begin = now_ms();
		rc = tests[i].run() ? 1 : 0;
		printf("# %s: %lld ms\n", name, (long long)(now_ms() - begin));
		return rc;
	}
	fprintf(stderr, "no test '%s'\n", name);
	return 2;
}

int main(int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, HOST_OPTIONS "n:b:t:x:K")) != -1) {
		if (host_option(opt))
			continue;
		switch (opt) {
		case 'n':
			nconns = atoi(optarg);
			break;
		case 'b':
			bytes = strtoull(optarg, NULL, 0) * 1024;
			break;
		case 't':
			secs = atoi(optarg);
			break;
		case 'x':
			cmd = optarg;
			break;
		case 'K':
			kill_peer = true;
			break;
		default:
			return 2;
		}
	}
	if (optind + 1 != argc || nconns > MAXCONNS || nconns < 0)
		return 2;
	signal(SIGPIPE, SIG_IGN);
	return run_test(argv[optind]);
}
