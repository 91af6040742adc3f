/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs the tests of passive wake-ups, written for the BPF programs of wake, with the BPF programs
 * of load.
 */
#define BY_LOAD
#include "wake_passive.c"
