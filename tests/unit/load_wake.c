/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs the tests of wake_passive.c, which are for the BPF programs of `subtick wake`, with the BPF
 * programs of `subtick load`.
 */
#define BY_LOAD
#include "wake_passive.c"
