/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory that the runq programs find at a fixed address, made as large as it has to be. */
#ifndef SUBTICK_MEASURE_RUNQ_AREA_H
#define SUBTICK_MEASURE_RUNQ_AREA_H

#include <stddef.h>

#include "base/err.h"

struct bpf_map;
struct bpf_object_skeleton;

struct runq_area {
	int fd; /* of the map behind it */
	void *pages;
	size_t len;
	unsigned int declared; /* bytes of the section */
};

/*
 * @map is a section of the programs that only has a name there: before they are loaded it gets
 * memory of @bytes, all zeros. Call runq_area_close() even if it fails.
 */
int runq_area_open(struct runq_area *area, struct bpf_map *map, const char *name, size_t bytes,
		   struct err *err);
/* Keeps libbpf from mapping the section itself, which it would at the size that is declared. */
void runq_area_hide(struct bpf_object_skeleton *skeleton, const struct bpf_map *map);
/* After loading: libbpf unmaps what it once mapped for the section, and must know how much. */
int runq_area_release(const struct runq_area *area, struct bpf_map *map, struct err *err);
void runq_area_close(struct runq_area *area);

#endif
