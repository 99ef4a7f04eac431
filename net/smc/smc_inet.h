/* SPDX-License-Identifier: GPL-2.0 */
/*
 * IPPROTO_SMC (layer 7).
 */
#ifndef SMC_INET_H
#define SMC_INET_H

int smc_inet_init(void);
void smc_inet_exit(void);

#endif /* SMC_INET_H */
