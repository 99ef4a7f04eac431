// SPDX-License-Identifier: GPL-2.0
/*
 * smcbench: load on kernel sockets, so that the cost of system calls and of
 * switching to user space does not hide the stack.
 *
 * /proc/smcbench takes one command per write and shows the result
 * of the last one as a line of JSON. Sockets are made in the network namespace
 * of the writer.
 *
 *   server family=smc|tcp port=N req=N rsp=N [stream]
 *   connect family=smc|tcp port=N req=N rsp=N addr=A conns=N msecs=N
 *          [stream] [cps]
 *   go              the load, on the connections there are
 *   close           end the connections
 *   hold            keep the connections aside, idle, so that more can be made
 *   release         end the connections kept
 *   stop            end the servers
 *
 * Each returns when it is done, so that counters can be read in between. The
 * load is request and response in turn on each connection; with stream, only
 * requests; with cps, connect, one request and response, close, over and over
 * (and connect does nothing).
 */
#include <linux/in.h>
#include <linux/inet.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/nsproxy.h>
#include <linux/parser.h>
#include <linux/proc_fs.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <net/sock.h>

#include "cmdfile.h"
#include "hist.h"

struct params {
	bool smc;
	bool stream;
	bool cps;
	int port;
	int req;
	int rsp;
	int conns;
	int msecs;
	__be32 addr;
};

struct run {
	struct params p;
	struct net *net;
	struct completion ready;	/* all connected */
	struct completion go;
	struct completion done;		/* the load is over */
	struct completion close;
	struct completion gone;		/* no worker any more */
	atomic_t connecting;
	atomic_t loading;
	atomic_t running;
	atomic64_t fails;
	atomic64_t errs;
	struct worker *workers;
};

struct worker {
	struct run *run;
	struct hist hist;
};

struct server {
	struct list_head node;
	struct params p;
	struct socket *sock;
	struct task_struct *task;
	struct net *net;
	atomic_t conns;
	bool stop;
};

struct served {
	struct server *srv;
	struct socket *sock;
};

/* under lock of cmdfile.h */
static LIST_HEAD(servers);
static struct run *current_run, *held_run;

static int make_socket(struct net *net, const struct params *p,
		       struct socket **s)
{
	if (p->smc)
		return sock_create_kern(net, AF_SMC, SOCK_STREAM, 0, s);
	return sock_create_kern(net, AF_INET, SOCK_STREAM, IPPROTO_TCP, s);
}

static int move(struct socket *s, void *buf, int len, bool tx)
{
	int done = 0, rc;

	while (done < len) {
		struct kvec v = {
			.iov_base = buf + done,
			.iov_len = len - done,
		};
		struct msghdr m = { .msg_flags = MSG_NOSIGNAL };

		rc = tx ? kernel_sendmsg(s, &m, &v, 1, v.iov_len) :
			  kernel_recvmsg(s, &m, &v, 1, v.iov_len, 0);
		if (rc <= 0)
			return rc ?: -ECONNRESET;
		done += rc;
	}
	return 0;
}

static int serve(void *arg)
{
	struct served *c = arg;
	struct params *p = &c->srv->p;
	void *buf;

	buf = kvzalloc(max(p->req, p->rsp), GFP_KERNEL);
	while (buf && !move(c->sock, buf, p->req, false))
		if (!p->stream && move(c->sock, buf, p->rsp, true))
			break;
	kvfree(buf);
	sock_release(c->sock);
	atomic_dec(&c->srv->conns);
	kfree(c);
	return 0;
}

static int accept_main(void *arg)
{
	struct server *srv = arg;

	allow_signal(SIGINT);	/* ends a blocking accept */
	while (!kthread_should_stop()) {
		struct task_struct *task;
		struct served *c;

		c = kzalloc_obj(*c);
		if (!c)
			break;
		c->srv = srv;
		if (kernel_accept(srv->sock, &c->sock, 0)) {
			kfree(c);
			if (signal_pending(current))
				break;
			msleep(20);
			continue;
		}
		atomic_inc(&srv->conns);
		task = kthread_run(serve, c, "smcbench_srv");
		if (IS_ERR(task)) {
			sock_release(c->sock);
			atomic_dec(&srv->conns);
			kfree(c);
		}
	}
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

static int start_server(const struct params *p)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_port = htons(p->port),
	};
	struct server *srv;
	int rc;

	srv = kzalloc_obj(*srv);
	if (!srv)
		return -ENOMEM;
	srv->p = *p;
	srv->net = current->nsproxy->net_ns;
	rc = make_socket(srv->net, p, &srv->sock);
	if (rc)
		goto free;
	sock_set_reuseaddr(srv->sock->sk);
	rc = kernel_bind(srv->sock, (struct sockaddr_unsized *)&a, sizeof(a));
	if (!rc)
		rc = kernel_listen(srv->sock, 1024);
	if (rc)
		goto release;
	srv->task = kthread_run(accept_main, srv, "smcbench_acc");
	if (IS_ERR(srv->task)) {
		rc = PTR_ERR(srv->task);
		goto release;
	}
	list_add(&srv->node, &servers);
	return 0;

release:
	sock_release(srv->sock);
free:
	kfree(srv);
	return rc;
}

static void stop_servers(void)
{
	struct server *srv, *next;
	int i;

	list_for_each_entry_safe(srv, next, &servers, node) {
		send_sig(SIGINT, srv->task, 1);
		kthread_stop(srv->task);
		sock_release(srv->sock);
		for (i = 0; i < 3000 && atomic_read(&srv->conns); i++)
			msleep(10);
		list_del(&srv->node);
		if (atomic_read(&srv->conns))
			pr_err("smcbench: %d connections stuck\n",
			       atomic_read(&srv->conns));
		else
			kfree(srv);
	}
}

static int dial(struct run *r, struct socket **s)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_port = htons(r->p.port),
		.sin_addr.s_addr = r->p.addr,
	};
	int rc;

	rc = make_socket(r->net, &r->p, s);
	if (rc)
		return rc;
	rc = kernel_connect(*s, (struct sockaddr_unsized *)&a, sizeof(a), 0);
	if (rc) {
		sock_release(*s);
		*s = NULL;
	}
	return rc;
}

static int one_op(struct run *r, struct socket *s, void *buf)
{
	int rc = move(s, buf, r->p.req, true);

	return rc ?: r->p.stream ? 0 : move(s, buf, r->p.rsp, false);
}

static void load(struct worker *w, struct socket *s, void *buf)
{
	struct run *r = w->run;
	ktime_t end = ktime_add_ms(ktime_get(), r->p.msecs);

	while (ktime_before(ktime_get(), end)) {
		ktime_t t0 = ktime_get();

		if (r->p.cps && dial(r, &s)) {
			atomic64_inc(&r->fails);
			continue;
		}
		if (one_op(r, s, buf)) {
			atomic64_inc(&r->errs);
			if (!r->p.cps)
				return;
		} else {
			hist_add(&w->hist, ktime_get() - t0);
		}
		if (r->p.cps)
			sock_release(s);
	}
}

static int client_main(void *arg)
{
	struct worker *w = arg;
	struct run *r = w->run;
	struct socket *s = NULL;
	void *buf;
	int rc = 0;

	buf = kvzalloc(max(r->p.req, r->p.rsp), GFP_KERNEL);
	if (!r->p.cps)
		rc = dial(r, &s);
	if (rc || !buf)
		atomic64_inc(&r->fails);
	if (atomic_dec_and_test(&r->connecting))
		complete_all(&r->ready);
	wait_for_completion(&r->go);
	if (!rc && buf)
		load(w, s, buf);
	if (atomic_dec_and_test(&r->loading))
		complete_all(&r->done);
	wait_for_completion(&r->close);
	if (s && !r->p.cps)
		sock_release(s);
	kvfree(buf);
	if (atomic_dec_and_test(&r->running))
		complete_all(&r->gone);
	return 0;
}

static int report(struct run *r)
{
	u64 least = U64_MAX;
	struct hist *h;
	int i;

	h = kvzalloc_obj(*h);
	if (!h)
		return -ENOMEM;
	for (i = 0; i < r->p.conns; i++) {
		hist_merge(h, &r->workers[i].hist);
		least = min(least, r->workers[i].hist.n);
	}
	snprintf(result, sizeof(result),
		 "{\"ops\": %llu, \"msecs\": %d, \"conns\": %d, \"req\": %d, \"rsp\": %d, \"mean_us\": %llu, \"max_us\": %llu, \"p50_tenths_us\": %llu, \"p99_tenths_us\": %llu, \"p999_tenths_us\": %llu, \"slowest_ops\": %llu, \"connect_fails\": %lld, \"errors\": %lld}\n",
		 h->n, r->p.msecs, r->p.conns, r->p.req,
		 r->p.stream ? 0 : r->p.rsp,
		 div_u64(hist_mean_tenths_us(h), 10), div_u64(h->max, 1000),
		 hist_tenths_us(h, 500), hist_tenths_us(h, 990),
		 hist_tenths_us(h, 999), least, atomic64_read(&r->fails),
		 atomic64_read(&r->errs));
	kvfree(h);
	return 0;
}

static void no_worker(struct run *r)
{
	atomic64_inc(&r->fails);
	if (atomic_dec_and_test(&r->connecting))
		complete_all(&r->ready);
	if (atomic_dec_and_test(&r->loading))
		complete_all(&r->done);
	if (atomic_dec_and_test(&r->running))
		complete_all(&r->gone);
}

static int run_connect(const struct params *p)
{
	struct run *r;
	int i;

	if (current_run)
		return -EBUSY;
	r = kzalloc_obj(*r);
	if (!r)
		return -ENOMEM;
	r->workers = kvcalloc(p->conns, sizeof(*r->workers), GFP_KERNEL);
	if (!r->workers) {
		kfree(r);
		return -ENOMEM;
	}
	r->p = *p;
	r->net = current->nsproxy->net_ns;
	init_completion(&r->ready);
	init_completion(&r->go);
	init_completion(&r->done);
	init_completion(&r->close);
	init_completion(&r->gone);
	atomic_set(&r->connecting, p->conns);
	atomic_set(&r->loading, p->conns);
	atomic_set(&r->running, p->conns);
	current_run = r;
	for (i = 0; i < p->conns; i++) {
		struct task_struct *task;

		r->workers[i].run = r;
		task = kthread_run(client_main, &r->workers[i], "smcbench_cli");
		if (IS_ERR(task))
			no_worker(r);
	}
	wait_for_completion(&r->ready);
	return 0;
}

static int run_go(void)
{
	struct run *r = current_run;

	if (!r)
		return -ENOTCONN;
	complete_all(&r->go);
	wait_for_completion(&r->done);
	return report(r);
}

static int run_close(void)
{
	struct run *r = current_run;

	if (!r)
		return -ENOTCONN;
	if (!completion_done(&r->go))
		r->p.msecs = 0;
	complete_all(&r->go);
	complete_all(&r->close);
	wait_for_completion(&r->gone);
	current_run = NULL;
	kvfree(r->workers);
	kfree(r);
	return 0;
}

static int run_hold(bool hold)
{
	if (!hold) {
		if (current_run || !held_run)
			return -EBUSY;
		current_run = held_run;
		held_run = NULL;
		return run_close();
	}
	if (held_run)
		return -EBUSY;
	held_run = current_run;
	current_run = NULL;
	return 0;
}

enum { OPT_FAMILY, OPT_PORT, OPT_REQ, OPT_RSP, OPT_CONNS, OPT_MSECS, OPT_ADDR,
       OPT_STREAM, OPT_CPS, OPT_BAD };

static const match_table_t tokens = {
	{ OPT_FAMILY, "family=%s" },
	{ OPT_PORT, "port=%d" },
	{ OPT_REQ, "req=%d" },
	{ OPT_RSP, "rsp=%d" },
	{ OPT_CONNS, "conns=%d" },
	{ OPT_MSECS, "msecs=%d" },
	{ OPT_ADDR, "addr=%s" },
	{ OPT_STREAM, "stream" },
	{ OPT_CPS, "cps" },
	{ OPT_BAD, NULL },
};

static int parse_one(char *word, struct params *p)
{
	substring_t args[MAX_OPT_ARGS];
	char text[32] = "";
	int val = 0, tok;

	tok = match_token(word, tokens, args);
	if (tok == OPT_BAD)
		return -EINVAL;
	if (tok == OPT_FAMILY || tok == OPT_ADDR)
		match_strlcpy(text, args, sizeof(text));
	else if (tok < OPT_STREAM && (match_int(args, &val) || val < 0))
		return -EINVAL;
	switch (tok) {
	case OPT_FAMILY:
		p->smc = !strcmp(text, "smc");
		break;
	case OPT_ADDR:
		p->addr = in_aton(text);
		break;
	case OPT_PORT:
		p->port = val;
		break;
	case OPT_REQ:
		p->req = val;
		break;
	case OPT_RSP:
		p->rsp = val;
		break;
	case OPT_CONNS:
		p->conns = clamp(val, 1, 100000);
		break;
	case OPT_MSECS:
		p->msecs = val;
		break;
	case OPT_STREAM:
		p->stream = true;
		break;
	case OPT_CPS:
		p->cps = true;
		break;
	}
	return 0;
}

static int command(char *line)
{
	struct params p = { .conns = 1, .msecs = 1000, .req = 1, .rsp = 1 };
	char *verb, *word;
	int rc;

	verb = strsep(&line, " \n");
	while ((word = strsep(&line, " \n"))) {
		if (!*word)
			continue;
		rc = parse_one(word, &p);
		if (rc)
			return rc;
	}
	if (!strcmp(verb, "server"))
		return start_server(&p);
	if (!strcmp(verb, "connect"))
		return run_connect(&p);
	if (!strcmp(verb, "go"))
		return run_go();
	if (!strcmp(verb, "close"))
		return run_close();
	if (!strcmp(verb, "hold") || !strcmp(verb, "release"))
		return run_hold(*verb == 'h');
	if (strcmp(verb, "stop"))
		return -EINVAL;
	stop_servers();
	return 0;
}

static int __init bench_init(void)
{
	return proc_create("smcbench", 0600, NULL, &cmdfile_ops) ? 0 : -ENOMEM;
}

static void __exit bench_exit(void)
{
	remove_proc_entry("smcbench", NULL);
	run_close();
	run_hold(false);
	stop_servers();
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_DESCRIPTION("Load generator on kernel sockets for TCP and SMC");
MODULE_LICENSE("GPL");
