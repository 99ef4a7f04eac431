// SPDX-License-Identifier: GPL-2.0
/*
 * Ground of the data path (layer 5): kick the transport, schedule close_work,
 * the workqueues of layers 5 and 6. The other files of the layer stand on it;
 * smc_event.c is on top of them.
 */
#include <linux/workqueue.h>
#include <net/sock.h>

#include "smc_conn.h"

/* ends of connections: sleep for a link to drain, hence unbound */
static struct workqueue_struct *smc_conn_wq;
/* handshakes of clients: sleep for the peer, so many at a time */
struct workqueue_struct *smc_connect_wq;
/* handshakes of servers: separate, as they may be what those of clients wait for */
struct workqueue_struct *smc_hs_wq;

/**
 * smc_conn_schedule() - let close_work look at the connection
 * @smc: socket
 * @delay: jiffies; 0 at once, else at the latest then: what is due already
 *	stays
 *
 * Nothing happens without an SMC connection. Context: any, under the socket
 * lock, the slock without an owner, or tx_lock.
 */
void smc_conn_schedule(struct smc_sock *smc, unsigned long delay)
{
	struct delayed_work *work = &smc->conn.close_work;

	if (!smc->conn.joined)
		return;
	if (delay)
		queue_delayed_work(smc_conn_wq, work, delay);
	else
		mod_delayed_work(smc_conn_wq, work, 0);
}

/**
 * smc_conn_kick() - there is a reason for a message
 * @conn: connection
 *
 * Context: any, tx_lock not held.
 */
void smc_conn_kick(struct smc_conn *conn)
{
	if (READ_ONCE(conn->joined) && !READ_ONCE(conn->left))
		conn->member.transport->kick(&conn->member);
}

/**
 * smc_wq_init() - workqueues of connections and handshakes
 *
 * Return: 0 or -ENOMEM
 */
int __init smc_wq_init(void)
{
	smc_conn_wq = alloc_workqueue("smc_close", WQ_MEM_RECLAIM | WQ_UNBOUND,
				      0);
	smc_connect_wq = alloc_workqueue("smc_connect", WQ_UNBOUND,
					 WQ_MAX_ACTIVE);
	smc_hs_wq = alloc_workqueue("smc_hs", WQ_UNBOUND, SMC_HS_MAX);
	if (smc_conn_wq && smc_connect_wq && smc_hs_wq)
		return 0;
	smc_wq_exit();
	return -ENOMEM;
}

/**
 * smc_wq_exit() - undo smc_wq_init(), in parts if need be; no socket is left
 */
void smc_wq_exit(void)
{
	if (smc_hs_wq)
		destroy_workqueue(smc_hs_wq);
	if (smc_connect_wq)
		destroy_workqueue(smc_connect_wq);
	if (smc_conn_wq)
		destroy_workqueue(smc_conn_wq);
}
