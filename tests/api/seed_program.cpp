/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The same program, as C++. */
#include "seed_program.c"
