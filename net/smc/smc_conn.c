// SPDX-License-Identifier: GPL-2.0
/*
 * Ground of the data path (layer 5): kick the transport, schedule close_work,
 * the workqueue. The other files of the layer stand on it; smc_event.c is on
 * top of them.
 */
#include <linux/workqueue.h>
#include <kunit/visibility.h>
#include <net/sock.h>

#include "smc_close.h"
#include "smc_conn.h"

static struct workqueue_struct *smc_conn_wq;

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
 * smc_conn_module_init() - workqueue of closing connections
 *
 * Work items may sleep for a link to drain, hence unbound.
 *
 * Return: 0 or -ENOMEM
 */
int __init smc_conn_module_init(void)
{
	smc_conn_wq = alloc_workqueue("smc_close", WQ_MEM_RECLAIM | WQ_UNBOUND,
				      0);
	return smc_conn_wq ? 0 : -ENOMEM;
}

/**
 * smc_conn_module_exit() - no socket exists any more
 */
void smc_conn_module_exit(void)
{
	destroy_workqueue(smc_conn_wq);
}
