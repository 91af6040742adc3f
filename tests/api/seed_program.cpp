/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compiles seed_program.c as C++. */
#include "seed_program.c"
