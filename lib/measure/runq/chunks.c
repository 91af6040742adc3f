/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Creates and maps chunks of slots, and adds free slots to the programs' queue. */
#include "measure/runq/chunks.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/array.h"
#include "measure/core/core.h"
#include "host/bpf.h"

/*
 * Number of slots to keep free: SPARE_MIN plus a quarter of the used slots, but at most SPARE_MIN
 * plus SPARE_MORE.
 */
#define SPARE_MIN  256
#define SPARE_MORE 512

/* Kernel memory of an element of a hash map and its bucket, without key and value. */
#define HASH_ELEM_BYTES 64
#define RING_BYTES	(256 * 1024)

unsigned int runq_stripes(unsigned int cpus)
{
	return cpus < RUNQ_MAX_STRIPES ? roundup_pow_of_two(cpus) : RUNQ_MAX_STRIPES;
}

size_t runq_cells_at(const struct runq_shape *shape)
{
	return RUNQ_CELLS_AT(runq_stripe_size(shape), shape->stripes);
}

size_t runq_slot_size(const struct runq_shape *shape)
{
	return RUNQ_SLOT_BYTES(runq_stripe_size(shape), shape->stripes, shape->cpus);
}

unsigned int runq_first_slots(const struct runq_shape *shape)
{
	return RUNQ_FIRST_SIZE / runq_slot_size(shape);
}

static size_t spare(size_t used)
{
	return SPARE_MIN + (used / 4 < SPARE_MORE ? used / 4 : SPARE_MORE);
}

size_t runq_slots_for(const struct runq_shape *shape, size_t nr_groups, bool fixed)
{
	size_t first = runq_first_slots(shape), chunks;
	size_t want = 1 + nr_groups + (fixed ? 0 : spare(nr_groups));

	if (want <= first)
		return first;
	chunks = (want - first + RUNQ_CHUNK - 1) / RUNQ_CHUNK;
	if (chunks > (RUNQ_NR_SLOTS - first) / RUNQ_CHUNK)
		chunks = (RUNQ_NR_SLOTS - first) / RUNQ_CHUNK;
	return first + chunks * RUNQ_CHUNK;
}

static uint64_t hash(uint64_t entries, size_t key, size_t value)
{
	/* In a hash map the kernel rounds the sizes of key and value up to 8 bytes. */
	return entries * (HASH_ELEM_BYTES + (key + 7) / 8 * 8 + (value + 7) / 8 * 8);
}

uint64_t runq_memory(const struct runq_shape *shape, const struct runq_sizes *sizes)
{
	size_t groups = sizes->fixed ? sizes->nr_slots : RUNQ_NR_SLOTS;
	size_t pairs = sizes->blame ? RUNQ_NR_BLAME : 1;
	uint64_t tables = hash(groups, sizeof(uint64_t), sizeof(uint32_t)) +
			  hash(pairs, sizeof(struct runq_pair), sizeof(uint32_t)) +
			  hash(sizes->throttles ? RUNQ_NR_THROTTLES : 1,
			       sizeof(struct runq_throttle_key), sizeof(struct runq_throttle)) +
			  pairs * (sizeof(uint32_t) + sizeof(struct runq_row)) +
			  groups * sizeof(uint32_t) + RUNQ_NR_CHUNKS * sizeof(void *) + RING_BYTES;
	uint64_t tasks = RUNQ_NR_TASKS * sizeof(struct runq_task) +
			 (sizes->wakeup ? RUNQ_NR_TASKS : 1) * sizeof(uint64_t) +
			 RUNQ_NR_EXITS * sizeof(uint64_t);
	uint64_t blocks = core_blocks(shape->cpus);
	uint64_t cores = blocks * sizeof(struct core_block) +
			 (sizes->blame ? blocks * RUNQ_PAIRS_BYTES + shape->cpus * sizeof(uint32_t) : 0);

	return RUNQ_FIRST_BYTES +
	       (sizes->nr_slots - runq_first_slots(shape)) * runq_slot_size(shape) + tables +
	       tasks + cores;
}

int runq_map_create(const char *name, size_t bytes, unsigned int entries)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, name, sizeof(uint32_t), bytes, entries, &opts);

	return fd < 0 ? -errno : fd;
}

int runq_chunk_create(const struct runq_shape *shape, struct err *err)
{
	int fd = runq_map_create("runq_chunk", runq_slot_size(shape), RUNQ_CHUNK);

	return fd < 0 ? sys_bpf_fail(err, fd, "cannot make a map for groups of tasks") : fd;
}

static unsigned int chunk_slots(const struct runq_chunks *chunks, unsigned int chunk)
{
	return chunk ? RUNQ_CHUNK : chunks->first_slots;
}

/* Size of the memory mapping of each chunk of slots after the first chunk. */
static size_t chunk_len(const struct runq_chunks *chunks)
{
	size_t page = getpagesize();

	return (chunks->slot_size * RUNQ_CHUNK + page - 1) / page * page;
}

static size_t chunk_first(const struct runq_chunks *chunks, unsigned int chunk)
{
	return chunk ? chunks->first_slots + (size_t)(chunk - 1) * RUNQ_CHUNK : 0;
}

size_t runq_chunks_slots(const struct runq_chunks *chunks)
{
	return chunk_first(chunks, chunks->nr);
}

struct runq_head *runq_chunks_slot(const struct runq_chunks *chunks, size_t slot)
{
	unsigned int chunk =
		slot < chunks->first_slots ? 0 : 1 + (slot - chunks->first_slots) / RUNQ_CHUNK;

	return (void *)(chunks->mapped[chunk] +
			(slot - chunk_first(chunks, chunk)) * chunks->slot_size);
}

size_t runq_chunks_at(const struct runq_chunks *chunks, uint32_t slot_ref)
{
	if (slot_ref < RUNQ_LATER_CHUNK)
		return slot_ref / chunks->slot_size;
	return (size_t)chunks->first_slots + (slot_ref - RUNQ_LATER_CHUNK);
}

uint64_t runq_chunks_key(const struct runq_chunks *chunks, uint32_t who)
{
	size_t slot = runq_chunks_at(chunks, who);
	uint64_t key = 0;

	if (who >= RUNQ_SLOT_UNWANTED)
		return (uint64_t)(int64_t)(int32_t)who;
	if (slot && slot < runq_chunks_slots(chunks))
		key = *(volatile uint64_t *)&runq_chunks_slot(chunks, slot)->key;
	return key ? key : RUNQ_KEY_OTHER;
}

int runq_chunks_free_slot(struct runq_chunks *chunks, uint32_t slot, struct err *err)
{
	if (bpf_map_update_elem(chunks->free_fd, NULL, &slot, BPF_ANY))
		return sys_bpf_fail(err, -errno, "cannot add a slot to the queue of free slots");
	chunks->nr_free++;
	return 0;
}

/* Adds a mapped chunk to @chunks and puts the slots of the chunk into the queue of free slots. */
static int chunk_add(struct runq_chunks *chunks, void *mapped, struct err *err)
{
	uint32_t chunk = chunks->nr;
	int rc = 0;

	chunks->mapped[chunks->nr++] = mapped;
	for (uint32_t i = 0; !rc && i < chunk_slots(chunks, chunk); i++)
		if (chunk || i) /* slot 0 counts all groups without a slot */
			rc = runq_chunks_free_slot(chunks, chunk_first(chunks, chunk) + i, err);
	return rc;
}

static int chunk_new(struct runq_chunks *chunks, struct err *err)
{
	int fd = runq_chunk_create(&chunks->shape, err), rc = 0;
	uint32_t chunk = chunks->nr;
	void *mapped;

	if (fd < 0)
		return fd;
	mapped = mmap(NULL, chunk_len(chunks), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mapped == MAP_FAILED) {
		rc = sys_bpf_fail(err, -errno, "cannot map a chunk of slots");
	} else if (bpf_map_update_elem(chunks->chunks_fd, &chunk, &fd, BPF_ANY)) {
		/*
		 * The update of the map waits for an RCU grace period of about 10 ms. Updates are
		 * rare, because each chunk has many slots.
		 */
		rc = sys_bpf_fail(err, -errno, "cannot add a chunk of slots");
		munmap(mapped, chunk_len(chunks));
	}
	close(fd);
	return rc ? rc : chunk_add(chunks, mapped, err);
}

static bool chunks_full(const struct runq_chunks *chunks)
{
	return chunks->nr == RUNQ_NR_CHUNKS ||
	       runq_chunks_slots(chunks) + RUNQ_CHUNK > RUNQ_NR_SLOTS;
}

/* Returns the number of slots for groups: all slots except slot 0. */
static size_t slots_usable(const struct runq_chunks *chunks)
{
	return chunks->nr ? runq_chunks_slots(chunks) - 1 : 0;
}

int runq_chunks_refill(struct runq_chunks *chunks, size_t taken, struct err *err)
{
	size_t used, want;
	int rc = 0;

	chunks->nr_free -= taken < chunks->nr_free ? taken : chunks->nr_free;
	used = slots_usable(chunks) - chunks->nr_free;
	if (chunks->fixed)
		return 0;
	want = spare(used);
	while (!rc && chunks->nr_free < want && !chunks_full(chunks))
		rc = chunk_new(chunks, err);
	return rc;
}

int runq_chunks_recount(struct runq_chunks *chunks, size_t used, struct err *err)
{
	if (used <= slots_usable(chunks))
		chunks->nr_free = slots_usable(chunks) - used;
	return runq_chunks_refill(chunks, 0, err);
}

int runq_chunks_open(struct runq_chunks *chunks, void *first_chunk, size_t nr_groups,
		     struct err *err)
{
	size_t want = runq_slots_for(&chunks->shape, nr_groups, chunks->fixed);
	int rc;

	chunks->slot_size = runq_slot_size(&chunks->shape);
	chunks->first_slots = runq_first_slots(&chunks->shape);
	rc = chunk_add(chunks,
		       (char *)first_chunk + RUNQ_FIRST_TABLE + RUNQ_FIRST_CELLS -
			       runq_cells_at(&chunks->shape),
		       err);
	while (!rc && runq_chunks_slots(chunks) < want && !chunks_full(chunks))
		rc = chunk_new(chunks, err);
	return rc;
}

void runq_chunks_close(struct runq_chunks *chunks)
{
	for (unsigned int i = 1; i < chunks->nr; i++)
		munmap(chunks->mapped[i], chunk_len(chunks));
}
