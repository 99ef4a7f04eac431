// SPDX-License-Identifier: GPL-2.0
/*
 * splice(2) out of an SMC socket (layer 5). The bytes are copied into fresh
 * pages: the ring belongs to the peer again at once, and pages in a pipe
 * neither hold a connection nor show what a later one receives.
 */
#include <linux/bvec.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/pipe_fs_i.h>
#include <linux/slab.h>
#include <linux/splice.h>
#include <linux/uio.h>

#include "smc_conn.h"

/* Fill the pages from the socket. */
static ssize_t smc_splice_fill(struct smc_sock *smc, struct page **pages,
			       struct bio_vec *bv, size_t npages, size_t len,
			       int flags)
{
	struct msghdr msg = { .msg_flags = flags };
	size_t i;

	for (i = 0; i < npages; i++)
		bvec_set_page(&bv[i], pages[i], PAGE_SIZE, 0);
	iov_iter_bvec(&msg.msg_iter, ITER_DEST, bv, npages, len);
	return smc_rx_recvmsg(smc, &msg, len, flags);
}

/* Give the first @len bytes to the pipe, in which there is room for them, and
 * the pages that hold nothing back.
 */
static void smc_splice_give(struct pipe_inode_info *pipe, struct page **pages,
			    size_t npages, size_t len)
{
	size_t i;

	for (i = 0; i < npages; i++) {
		struct pipe_buffer buf = {
			.page = pages[i],
			.len = min_t(size_t, len, PAGE_SIZE),
			.ops = &nosteal_pipe_buf_ops,
		};

		if (buf.len)
			add_to_pipe(pipe, &buf);	/* takes the page */
		else
			__free_page(pages[i]);
		len -= buf.len;
	}
}

/**
 * smc_splice_read() - move received bytes into a pipe
 * @smc: socket of an SMC connection
 * @ppos: must point to 0
 * @pipe: locked by the caller
 * @len: bytes wanted
 * @flags: SPLICE_F_*; SPLICE_F_NONBLOCK is about the pipe, as in TCP
 * @nonblock: the file of the socket is nonblocking
 *
 * Context: process, socket lock held; it is released while waiting for data.
 * Return: bytes moved, 0 at the end of the stream, -ESPIPE with an offset,
 * -EAGAIN, -ENOMEM, or an error of smc_rx_recvmsg()
 */
ssize_t smc_splice_read(struct smc_sock *smc, loff_t *ppos,
			struct pipe_inode_info *pipe, size_t len,
			unsigned int flags, bool nonblock)
{
	int rflags = nonblock ? MSG_DONTWAIT : 0;
	size_t room, npages;
	struct page **pages;
	struct bio_vec *bv;
	ssize_t ret;

	if (*ppos)
		return -ESPIPE;
	room = pipe->max_usage - min(pipe->max_usage, pipe_buf_usage(pipe));
	npages = min(room, DIV_ROUND_UP(len, PAGE_SIZE));
	if (!npages)
		return len ? -EAGAIN : 0;

	bv = kcalloc(npages, sizeof(*bv) + sizeof(*pages), GFP_KERNEL);
	if (!bv)
		return -ENOMEM;
	pages = (struct page **)(bv + npages);
	npages = alloc_pages_bulk(GFP_USER, npages, pages);
	len = min(len, npages * PAGE_SIZE);
	ret = npages ? smc_splice_fill(smc, pages, bv, npages, len, rflags) :
		       -ENOMEM;
	smc_splice_give(pipe, pages, npages, ret > 0 ? ret : 0);
	kfree(bv);
	return ret;
}
