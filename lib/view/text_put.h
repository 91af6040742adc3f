/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Printing for the text view: text, colours, line breaks. */
#ifndef SUBTICK_VIEW_TEXT_PUT_H
#define SUBTICK_VIEW_TEXT_PUT_H

#include "base/hash.h"
#include "view/view.h"

/* SGR codes; "" is no colour. */
#define SGR_RESET  "\033[0m"
#define SGR_BOLD   "\033[1m"
#define SGR_RED	   "\033[31m"
#define SGR_GREEN  "\033[32m"
#define SGR_YELLOW "\033[33m"

/* Prints @text, coloured if the view uses colours. */
void text_put(const struct view *view, const char *sgr, const char *text);
/* Prints @text wrapped at blanks; continuation lines are indented by @indent; ends the line. */
void text_wrap(const struct view *view, const char *text, size_t indent);
uint64_t text_hash(uint64_t hash, const char *text);
/* True if the column counts losses. */
bool text_is_loss(const struct column *col, const struct value *value);
bool text_is_zero(const struct value *value);
/* True if the column counts losses, and there are some. */
bool text_lost(const struct column *col, const struct value *value);

#endif
