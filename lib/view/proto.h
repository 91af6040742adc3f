/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Encodes protobuf messages: each field is a key and a varint, 8 bytes, or a length and bytes. */
#ifndef SUBTICK_VIEW_PROTO_H
#define SUBTICK_VIEW_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PROTO_VARINT, PROTO_DOUBLE, PROTO_BYTES };

#define PROTO_MAX_VARINT 10

/* Protobuf message under construction. */
struct proto_msg {
	char *data;
	size_t len, room;
	bool failed; /* true if an allocation failed; never reset */
};

static inline char *proto_room(struct proto_msg *m, size_t len)
{
	if (m->room - m->len < len && !m->failed) {
		size_t room = 2 * m->room + len;
		char *data = reallocarray(m->data, room, 1);

		if (data) {
			m->data = data;
			m->room = room;
		}
		m->failed = !data;
	}
	return m->failed ? NULL : m->data + m->len;
}

static inline void proto_bytes(struct proto_msg *m, const void *data, size_t len)
{
	char *to = proto_room(m, len);

	if (!to)
		return;
	memcpy(to, data, len);
	m->len += len;
}

static inline size_t proto_format_varint(char to[PROTO_MAX_VARINT], uint64_t value)
{
	size_t len = 0;

	for (; value >= 0x80; value >>= 7)
		to[len++] = (char)(value | 0x80);
	to[len++] = (char)value;
	return len;
}

static inline void proto_varint(struct proto_msg *m, uint64_t value)
{
	char bytes[PROTO_MAX_VARINT];

	proto_bytes(m, bytes, proto_format_varint(bytes, value));
}

static inline void proto_u64(struct proto_msg *m, unsigned int field, uint64_t value)
{
	proto_varint(m, field << 3 | PROTO_VARINT);
	proto_varint(m, value);
}

static inline void proto_str(struct proto_msg *m, unsigned int field, const char *str)
{
	proto_varint(m, field << 3 | PROTO_BYTES);
	proto_varint(m, strlen(str));
	proto_bytes(m, str, strlen(str));
}

/* Inserts key and length at @begin, so that the bytes from @begin on become a nested message. */
static inline void proto_close(struct proto_msg *m, unsigned int field, size_t begin)
{
	char head[2 * PROTO_MAX_VARINT];
	size_t len = m->len - begin, head_len;

	head_len = proto_format_varint(head, field << 3 | PROTO_BYTES);
	head_len += proto_format_varint(head + head_len, len);
	if (!proto_room(m, head_len))
		return;
	memmove(m->data + begin + head_len, m->data + begin, len);
	memcpy(m->data + begin, head, head_len);
	m->len += head_len;
}

#endif
