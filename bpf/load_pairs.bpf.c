/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Sums the time in which two cgroups run on the two hyperthreads of one physical core. */
#include "task.bpf.h"
#include "map.bpf.h"
#include "abi/load_pairs.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Constants that user space sets before it loads the programs. */
const volatile bool cgroup_v2;
const volatile bool switch_state_first;

/*
 * Number of the measurement window; the lowest bit selects the map that the program writes. User
 * space increments pair_window_seq at the end of each window.
 */
__u64 pair_window_seq SEC(".data");

MAPPED_ARRAY(pair_cpus, struct load_pair_cpu);
MAP(pairs_even, HASH, 0, LOAD_PAIRS_MAX, struct load_pair_key, s64);
MAP(pairs_odd, HASH, 0, LOAD_PAIRS_MAX, struct load_pair_key, s64);

static __always_inline u64 pair_group(struct task_struct *task)
{
	return task->pid ? task_cgroup_id(task, cgroup_v2) : LOAD_PAIR_IDLE;
}

static __always_inline long pair_add(void *map, const struct load_pair_key *key, s64 ns)
{
	s64 *sum = bpf_map_lookup_elem(map, key);

	if (!sum)
		return bpf_map_update_elem(map, key, &ns, BPF_NOEXIST);
	/* The map key contains the CPU number, so only one CPU writes the sum of a key. */
	*sum += ns;
	return 0;
}

SEC("tp_btf/sched_switch")
int load_pairs_switch(u64 *ctx)
{
	u64 group = pair_group(switch_next(ctx, switch_state_first)), now;
	struct load_pair_key key = {.cpu = bpf_get_smp_processor_id()};
	struct load_pair_cpu *own = bpf_map_lookup_elem(&pair_cpus, &key.cpu), *sibling;
	s64 ns;

	if (!own || own->group == group)
		return 0;
	sibling = bpf_map_lookup_elem(&pair_cpus, &own->sibling);
	if (!sibling)
		return 0;
	key.group[0] = own->group;
	key.group[1] = sibling == own ? LOAD_PAIR_IDLE : sibling->group;
	now = bpf_ktime_get_ns();
	/*
	 * The two hyperthreads of a core share one timestamp since_ns. The atomic exchange of
	 * since_ns makes sure that each ns of the physical core is counted once.
	 */
	ns = now - __sync_lock_test_and_set(
			   key.cpu <= own->sibling ? &own->since_ns : &sibling->since_ns, now);
	own->group = group;
	if (key.group[0] == LOAD_PAIR_IDLE && key.group[1] == LOAD_PAIR_IDLE)
		return 0;
	if (pair_window_seq & 1 ? pair_add(&pairs_odd, &key, ns) : pair_add(&pairs_even, &key, ns))
		own->lost_ns += ns;
	return 0;
}

/*
 * load_pairs_seed() runs once at the start and stores the cgroup of each running task, because a
 * CPU may have no context switch for a long time.
 */
SEC("iter/task")
int load_pairs_seed(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct load_pair_cpu *own;
	u32 cpu;

	if (!task || !task->on_cpu)
		return 0;
	cpu = task_cpu(task);
	own = bpf_map_lookup_elem(&pair_cpus, &cpu);
	if (own)
		__sync_val_compare_and_swap(&own->group, LOAD_PAIR_UNKNOWN, pair_group(task));
	return 0;
}
