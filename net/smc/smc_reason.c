// SPDX-License-Identifier: GPL-2.0
/*
 * Texts of the fallback reasons and DECLINE diagnosis codes (layer 0).
 */
#include <linux/export.h>
#include <kunit/visibility.h>

#include "smc_reason.h"

/**
 * smc_reason_text() - text of a reason code
 * @reason: one of enum smc_reason, or whatever a peer sent; 0 means no reason
 *
 * Context: any.
 *
 * Return: a constant string, never NULL
 */
const char *smc_reason_text(u32 reason)
{
	switch (reason) {
#define X(name, val, text) case SMC_DECL_##name: return text;
	SMC_REASONS(X)
#undef X
	case 0:
		return "none";
	default:
		return "unknown";
	}
}
EXPORT_SYMBOL_IF_KUNIT(smc_reason_text);
