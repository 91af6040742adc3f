/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* FNV-1a, for tables and to notice changes; not for input that someone chooses to collide. */
#ifndef SUBTICK_BASE_HASH_H
#define SUBTICK_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START 0xcbf29ce484222325ULL

static inline uint64_t hash_bytes(uint64_t hash, const void *data, size_t len)
{
	for (const unsigned char *byte = data, *end = byte + len; byte < end; byte++)
		hash = (hash ^ *byte) * 0x100000001b3ULL;
	return hash;
}

#endif
