/* SPDX-License-Identifier: GPL-2.0 */
/*
 * EIDs (layer 6): names that say which hosts may use SMC v2 with each other.
 * Up to four user EIDs (UEID), one table for the whole system, and on s390 the
 * system EID (SEID). 32 bytes each, blank padded, compared as raw bytes.
 */
#ifndef SMC_EID_H
#define SMC_EID_H

#include <linux/types.h>

struct netlink_ext_ack;

#define SMC_EID_BYTES	32
#define SMC_EID_MAX	4	/* UEIDs of this system */

bool smc_eid_valid_ueid(const u8 eid[SMC_EID_BYTES]);
int smc_eid_add(const u8 eid[SMC_EID_BYTES], struct netlink_ext_ack *extack);
int smc_eid_del(const u8 eid[SMC_EID_BYTES], struct netlink_ext_ack *extack);
void smc_eid_flush(void);
unsigned int smc_eid_snapshot(u8 eids[][SMC_EID_BYTES], unsigned int max);
bool smc_eid_match(const u8 client[][SMC_EID_BYTES], unsigned int n,
		   u8 out[SMC_EID_BYTES]);
bool smc_eid_have_any(void);
int smc_eid_set_seid(bool on, struct netlink_ext_ack *extack);

#endif /* SMC_EID_H */
