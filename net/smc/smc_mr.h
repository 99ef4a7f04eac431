/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Buffers on links (layer 4): DMA mapping, registration, announcement, return.
 */
#ifndef SMC_MR_H
#define SMC_MR_H

#include "smc_buf.h"

struct smc_link;
struct smcr_lgr;

int smc_mr_map(struct smc_link *link, struct smcr_buf *buf);
int smc_mr_register(struct smc_link *link, struct smcr_buf *buf);
int smc_mr_announce(struct smc_link *link, struct smcr_buf *buf,
		    unsigned long deadline);
void smc_mr_set_confirmed(struct smc_link *link, struct smcr_buf *buf);
struct smcr_buf *smc_mr_get_buf(struct smc_link *link, enum smc_buf_dir dir,
				u32 wish);
void smc_mr_free_buf(struct smc_link *link, struct smcr_buf *buf);
void smc_mr_put_buf(struct smc_link *link, struct smcr_buf *buf, bool clean,
		    u32 dirty);
void smc_mr_sync(struct smc_link *link, struct smcr_buf *buf);

void smc_mr_unmap_link(struct smcr_lgr *lgr, unsigned int idx);
void smc_mr_free_all(struct smcr_lgr *lgr);
void smc_mr_reclaim_work(struct work_struct *work);
void smc_mr_shrink(struct smcr_lgr *lgr, unsigned int n);

#endif /* SMC_MR_H */
