/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The programs of load count passive wake-ups as those of wake do: the same tests. */
#define BY_LOAD
#include "wake_passive.c"
