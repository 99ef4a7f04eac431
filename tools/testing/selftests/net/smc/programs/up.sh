#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Two hosts with SMC-R for the programs.
. "$(dirname "$0")/lib.sh"
check "module and two hosts" smc_up || exit 1
B ip link set lo up
tap_end
