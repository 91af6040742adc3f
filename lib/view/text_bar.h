/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stacked bars and histograms in text. */
#ifndef SUBTICK_VIEW_TEXT_BAR_H
#define SUBTICK_VIEW_TEXT_BAR_H

#include "view/view.h"

#define TEXT_BAR_MIN 24 /* columns, edges included */
#define TEXT_BAR_MAX 62

void text_bar(const struct view *view, const struct table *table, size_t row, size_t width);
void text_bar_legend(struct view *view, const struct table *table);

/* True if a table is a histogram (le_ns and count); the second function prints it. */
bool text_is_hist(const struct table *table);
void text_hist(const struct view *view, const struct table *table);

#endif
