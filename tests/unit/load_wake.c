/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs the tests of wake_passive.c with the BPF programs of `subtick load`. The tests were written
 * for the BPF programs of `subtick wake`.
 */
#define BY_LOAD
#include "wake_passive.c"
