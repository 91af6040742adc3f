/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The format that a client asks for, and its content type. */
#ifndef SUBTICK_VIEW_PROM_ACCEPT_H
#define SUBTICK_VIEW_PROM_ACCEPT_H

#include "view/prom.h"

/* For the Content-Type header. */
const char *prom_content_type(enum prom_format format);
/*
 * The format that an Accept header, or NULL, gives the largest weight; of equal ones the last of
 * enum prom_format. Text if it names none. @protobuf: whether that is offered.
 */
enum prom_format prom_accept(const char *accept, bool protobuf);

#endif
