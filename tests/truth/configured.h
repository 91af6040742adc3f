/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Build options of the guest's kernel, read from its configuration without subtick. */
#ifndef SUBTICK_TESTS_TRUTH_CONFIGURED_H
#define SUBTICK_TESTS_TRUTH_CONFIGURED_H

#include <stdbool.h>

/*
 * configured_hz() and configured_with() fail the test program if the guest has no file with its
 * kernel's configuration.
 */
int configured_hz(void);
/* True if the option @symbol, without the prefix CONFIG_, is enabled. */
bool configured_with(const char *symbol);
/* Name of the CPU time accounting on @cpu, as `subtick audit` prints it. */
const char *configured_regime(unsigned int cpu);

#endif
