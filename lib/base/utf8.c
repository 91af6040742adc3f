/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decodes UTF-8. Overlong forms, surrogates and code points above U+10FFFF are invalid. */
#include "base/utf8.h"

size_t utf8_decode(const char *str, size_t max, uint32_t *ret_code)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned char lead = max ? *str : 0;
	uint32_t code;
	size_t len;

	if (lead < 0x80) {
		*ret_code = lead;
		return lead ? 1 : 0;
	}
	if (lead < 0xc2 || lead > 0xf4)
		return 0;
	len = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
	if (len > max)
		return 0;
	code = lead & (0x7f >> len);
	for (size_t i = 1; i < len; i++) {
		if ((str[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (str[i] & 0x3f);
	}
	if (code < smallest[len] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	*ret_code = code;
	return len;
}
