/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Times as people write them: 0.5, 200ms, 1s. */
#ifndef SUBTICK_BASE_DURATION_H
#define SUBTICK_BASE_DURATION_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A plain decimal number with s, ms, us, µs or ns behind it, or seconds without. False, and
 * @ret_ns untouched, for anything else and for times outside @min_ns … @max_ns.
 */
bool duration_parse(const char *text, uint64_t min_ns, uint64_t max_ns, uint64_t *ret_ns);

#endif
