/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs wake_passive.c with the BPF programs of `subtick load`. */
#define BY_LOAD
#include "wake_passive.c"
