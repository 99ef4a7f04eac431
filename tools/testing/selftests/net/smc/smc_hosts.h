/* SPDX-License-Identifier: GPL-2.0 */
/* Test programs that have both hosts' ends: the options they share. */
#ifndef SMC_HOSTS_H
#define SMC_HOSTS_H

#include "smc_test.h"

#define HOST_OPTIONS	"k:A:B:a:p:"

static enum smc_kind kind = KIND_AF_SMC;
static const char *ns_a, *ns_b, *addr = "10.0.0.2";
static int port = 5100;

/* take one of HOST_OPTIONS, whose value is in optarg; false if it is none */
static bool host_option(int opt)
{
	switch (opt) {
	case 'k':
		kind = kind_parse(optarg);
		return true;
	case 'A':
		ns_a = optarg;
		return true;
	case 'B':
		ns_b = optarg;
		return true;
	case 'a':
		addr = optarg;
		return true;
	case 'p':
		port = atoi(optarg);
		return true;
	}
	return false;
}

#endif /* SMC_HOSTS_H */
