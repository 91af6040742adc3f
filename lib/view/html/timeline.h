/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The script of a timeline, which embed.py makes of timeline.js and timeline_file.js. */
#ifndef SUBTICK_VIEW_HTML_TIMELINE_H
#define SUBTICK_VIEW_HTML_TIMELINE_H

extern const char html_timeline_script[];
/* What the page's Content-Security-Policy allows: this script and no other. */
extern const char html_timeline_hash[];

#endif
