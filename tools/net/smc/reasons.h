/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's own list of reasons, so that texts cannot differ. */
#ifndef REASONS_H
#define REASONS_H

#include <linux/types.h>

typedef __u32 u32;
#include "../../../net/smc/smc_reason.h"

static const struct {
	unsigned int code;
	const char *text;
} reasons[] = {
#define X(name, val, text) { val, text },
	SMC_REASONS(X)
#undef X
};

#endif
