/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Macros that declare maps. User space sets the map sizes that depend on the machine. */
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

/* Declares an array that user space maps into its memory. */
#define MAPPED_ARRAY(name, value_type) MAP(name, ARRAY, BPF_F_MMAPABLE, 1, u32, value_type)

/*
 * Returns the entry of @key in the hash map @map. If @key has no entry, adds an entry with the
 * value @none. Returns NULL if the hash map is full. If another CPU adds the entry first, the
 * update fails, and the second look-up finds the entry.
 */
#define MAP_ENTRY(map, key, none)                                                         \
	(bpf_map_lookup_elem(map, key) ?: (bpf_map_update_elem(map, key, none, BPF_NOEXIST), \
					   bpf_map_lookup_elem(map, key)))

#endif
