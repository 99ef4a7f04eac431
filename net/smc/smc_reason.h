/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Why a connection is not carried by SMC: reasons of a fallback, which are
 * also the diagnosis codes of a CLC DECLINE. One list makes the enum and the
 * names. Inside the stack errors are negative errno; these codes exist at the
 * handshake edge only.
 */
#ifndef SMC_REASON_H
#define SMC_REASON_H

#include <linux/types.h>

#define SMC_REASONS(X)							\
	X(MEM,		0x01010000, "no memory or buffer")		\
	X(TIMEOUT_CL,	0x02010000, "no CONFIRM LINK in time")		\
	X(TIMEOUT_AL,	0x02020000, "no ADD LINK in time")		\
	X(CNFERR,	0x03000000, "configuration error")		\
	X(PEERNOSMC,	0x03010000, "peer does not speak SMC")		\
	X(IPSEC,	0x03020000, "IPsec in use")			\
	X(NOSMCDEV,	0x03030000, "no SMC device")			\
	X(NOSMCDDEV,	0x03030001, "no SMC-D device")			\
	X(NOSMCRDEV,	0x03030002, "no SMC-R device")			\
	X(NOISM2SUPP,	0x03030003, "no SMC-Dv2 support")		\
	X(NOV2EXT,	0x03030004, "no v2 extension in proposal")	\
	X(NOV2DEXT,	0x03030005, "no SMC-Dv2 extension in proposal")	\
	X(NOSEID,	0x03030006, "no system EID in proposal")	\
	X(NOSMCD2DEV,	0x03030007, "no SMC-Dv2 device")		\
	X(NOUEID,	0x03030008, "no common user EID")		\
	X(RELEASEERR,	0x03030009, "release mismatch")			\
	X(MAXCONNERR,	0x0303000a, "bad connection limit")		\
	X(MAXLINKERR,	0x0303000b, "bad link limit")			\
	X(MODEUNSUPP,	0x03040000, "mode not offered")			\
	X(RMBE_EC,	0x03050000, "peer wants RMBE eyecatchers")	\
	X(OPTUNSUPP,	0x03060000, "socket option unsupported")	\
	X(DIFFPREFIX,	0x03070000, "IP subnet mismatch")		\
	X(GETVLANERR,	0x03080000, "no VLAN or route information")	\
	X(ISMVLANERR,	0x03090000, "VLAN refused by ISM device")	\
	X(NOACTLINK,	0x030a0000, "no active link in link group")	\
	X(NOSRVLINK,	0x030b0000, "server's link unknown")		\
	X(VERSMISMAT,	0x030c0000, "version mismatch")			\
	X(MAX_DMB,	0x030d0000, "no more DMBs")			\
	X(NOROUTE,	0x030e0000, "no route to peer GID")		\
	X(NOINDIRECT,	0x030f0000, "peer says indirect, route is direct") \
	X(SYNCERR,	0x04000000, "link groups out of sync")		\
	X(PEERDECL,	0x05000000, "peer declined")			\
	X(INTERR,	0x09990000, "internal error")			\
	X(ERR_RTOK,	0x09990001, "remote key table full")		\
	X(ERR_RDYLNK,	0x09990002, "link could not be readied")	\
	X(ERR_REGBUF,	0x09990003, "buffer registration failed")

enum smc_reason {
#define X(name, val, text) SMC_DECL_##name = val,
	SMC_REASONS(X)
#undef X
};

#endif /* SMC_REASON_H */
