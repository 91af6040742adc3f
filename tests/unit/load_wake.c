/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The programs of load count passive wake-ups like the programs of wake, so both pass the same
 * tests.
 */
#define BY_LOAD
#include "wake_passive.c"
