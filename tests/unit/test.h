/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cmocka, and the headers that it needs before it. */
#ifndef SUBTICK_TESTS_UNIT_TEST_H
#define SUBTICK_TESTS_UNIT_TEST_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#endif
