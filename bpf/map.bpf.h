/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Declarations of maps, one line each. User space sets sizes that depend on the machine. */
#ifndef SUBTICK_BPF_MAP_H
#define SUBTICK_BPF_MAP_H

#define MAP(name, kind, flags, entries, key_type, value_type) \
	struct {                                              \
		__uint(type, BPF_MAP_TYPE_##kind);            \
		__uint(map_flags, flags);                     \
		__uint(max_entries, entries);                 \
		__type(key, key_type);                        \
		__type(value, value_type);                    \
	} name SEC(".maps")

#define QUEUE(name, kind, entries, value_type)     \
	struct {                                   \
		__uint(type, BPF_MAP_TYPE_##kind); \
		__uint(max_entries, entries);      \
		__uint(key_size, 0);               \
		__type(value, value_type);         \
	} name SEC(".maps")

/* User space maps the memory of this one. */
#define MAPPED_ARRAY(name, value_type) MAP(name, ARRAY, BPF_F_MMAPABLE, 1, u32, value_type)

#endif
