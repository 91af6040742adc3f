/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Durations in text form: 0.5, 200ms, 1s. */
#ifndef SUBTICK_BASE_DURATION_H
#define SUBTICK_BASE_DURATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A decimal number with the unit s, ms, us, µs or ns; without a unit it is in seconds. False, and
 * @ret_ns untouched, for anything else and for times outside @min_ns … @max_ns.
 */
bool duration_parse(const char *text, uint64_t min_ns, uint64_t max_ns, uint64_t *ret_ns);
/* "100 us", "1.5 s", to six digits. */
void duration_format(uint64_t ns, char *buf, size_t size);

#endif
