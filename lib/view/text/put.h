/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What every part of the text view prints with: words, colours, line breaks. */
#ifndef SUBTICK_VIEW_TEXT_PUT_H
#define SUBTICK_VIEW_TEXT_PUT_H

#include "view/view.h"

#define TEXT_HASH_START 0xcbf29ce484222325ULL

/* SGR codes; "" stands for no colour. */
#define SGR_RESET  "\033[0m"
#define SGR_BOLD   "\033[1m"
#define SGR_DIM	   "\033[2m"
#define SGR_RED	   "\033[31m"
#define SGR_GREEN  "\033[32m"
#define SGR_YELLOW "\033[33m"

/* @text on its own, coloured if the view is. */
void text_put(const struct view *view, const char *sgr, const char *text);
/* Breaks @text at blanks; continuation lines start after @indent columns; ends the line. */
void text_wrap(const struct view *view, const char *text, size_t indent);
uint64_t text_hash(uint64_t hash, const char *text);
/* Counts of what was lost get a line of their own, and only when there are any. */
bool text_is_loss(const struct column *col, const struct value *value);
bool text_is_zero(const struct value *value);

#endif
