/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the paths of cgroups that are victims of noise, and reads the counters of IPI senders. */
#include "measure/noise/names.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "measure/load/lines.h"

/*
 * Minimum pause between two searches of the cgroup directories, as a multiple of the duration of
 * the last search, so that searches take at most 0.5 % of a CPU. A search of 5,000 directories
 * takes about 100 ms.
 */
#define WALK_REST	200
#define WALK_PERIOD_MAX (10 * NSEC_PER_SEC)
#define MAX_DEPTH	32

void noise_names_open(struct noise_names *names, const char *mount)
{
	*names = (struct noise_names){0};
	cgroup_paths_open(&names->paths, mount);
}

void noise_names_close(struct noise_names *names)
{
	cgroup_paths_close(&names->paths);
}

static struct noise_name *find(struct noise_names *names, uint64_t id)
{
	for (size_t i = 0; i < names->nr; i++)
		if (names->list[i].id == id)
			return &names->list[i];
	return NULL;
}

/*
 * Stores the paths of requested cgroups below a directory. The inode number of a cgroup directory
 * is the cgroup id.
 */
static void walk(struct noise_names *names, int parent, const char *name, char *path, size_t len,
		 int depth)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(dir))) {
		struct noise_name *wanted;
		size_t more = strlen(entry->d_name) + 1;

		if (entry->d_type != DT_DIR || !strcmp(entry->d_name, ".") ||
		    !strcmp(entry->d_name, "..") || len + more >= NOISE_CGROUP_SIZE)
			continue;
		snprintf(path + len, NOISE_CGROUP_SIZE - len, "/%s", entry->d_name);
		wanted = find(names, entry->d_ino);
		if (wanted)
			memcpy(wanted->path, path, sizeof(wanted->path));
		if (depth < MAX_DEPTH)
			walk(names, fd, entry->d_name, path, len + more, depth + 1);
		path[len] = '\0';
	}
	closedir(dir);
}

/*
 * Finds paths by searching the cgroup directories, because the exporter lacks the capability for
 * open_by_handle_at(2).
 */
static void find_unnamed(struct noise_names *names, const struct noise_hit *hits, size_t nr)
{
	uint64_t begin_ns = clock_mono_ns(), end_ns, rest_ns;
	char path[NOISE_CGROUP_SIZE] = "";
	struct noise_name *root;
	bool wanted = false;
	struct stat mount;

	if (begin_ns < names->next_walk_ns)
		return;
	array_for_each(hit, hits, nr) {
		if (hit->cgroup[0] || find(names, hit->key))
			continue;
		names->nr %= NOISE_NAMES_MAX;
		names->list[names->nr++] = (struct noise_name){.id = hit->key};
		wanted = true;
	}
	if (!wanted)
		return;
	root = fstat(names->paths.fd, &mount) ? NULL : find(names, mount.st_ino);
	if (root)
		snprintf(root->path, sizeof(root->path), "/");
	walk(names, names->paths.fd, ".", path, 0, 0);
	end_ns = clock_mono_ns();
	rest_ns = WALK_REST * (end_ns - begin_ns);
	names->next_walk_ns = end_ns + (rest_ns < WALK_PERIOD_MAX ? rest_ns : WALK_PERIOD_MAX);
}

void noise_names_fill(struct noise_names *names, struct noise_hit *hits, size_t nr)
{
	const struct noise_name *name;
	bool walk_needed = false;

	array_for_each(hit, hits, nr) {
		hit->cgroup[0] = '\0';
		if (hit->key == NOISE_ON_IDLE)
			snprintf(hit->cgroup, sizeof(hit->cgroup), "(idle)");
		else if (hit->key == NOISE_ON_THREAD)
			snprintf(hit->cgroup, sizeof(hit->cgroup), "(kernel threads)");
		else if (cgroup_path(&names->paths, hit->key, hit->cgroup, sizeof(hit->cgroup)) ==
			 -EPERM)
			walk_needed = true;
	}
	if (walk_needed)
		find_unnamed(names, hits, nr);
	array_for_each(hit, hits, nr) {
		if (hit->cgroup[0])
			continue;
		name = find(names, hit->key);
		if (name && name->path[0])
			memcpy(hit->cgroup, name->path, sizeof(hit->cgroup));
		else
			snprintf(hit->cgroup, sizeof(hit->cgroup), "%s",
				 name || !walk_needed ? "(gone)" : "(new)");
	}
}

void noise_senders_open(struct noise_senders *senders, struct noise_window *w,
			struct blocks *memory, const struct noise_sends *live, unsigned int nr_cpus)
{
	*senders = (struct noise_senders){.nr_cpus = nr_cpus, .live = live, .window = w};
	senders->was = blocks_calloc(memory, nr_cpus, sizeof(*senders->was));
	w->senders.list = blocks_calloc(
		memory, nr_cpus, NOISE_SEND_CALL * NOISE_NR_SENDS * sizeof(*w->senders.list));
	w->calls.list = blocks_calloc(memory, nr_cpus, NOISE_NR_SENDS * sizeof(*w->calls.list));
}

/*
 * Returns the name of an IPI or of a function that is called by IPI, or "" for a function whose
 * address has no kernel symbol.
 */
static const char *entry_name(const struct noise_send *entry, bool call)
{
	if (call && !strncmp(entry->name, "0x", 2))
		return "";
	return entry->sum.key < LOAD_LINE_KINDS ? load_line_kind_name(entry->sum.key) : entry->name;
}

/*
 * Fills @ret_sender. Returns false if CPU @from has sent no IPI to @cpus since the previous reading
 * @was.
 */
static bool read_entry(const struct noise_send *live, struct noise_send *was, unsigned int from,
		       const struct cpuset *cpus, uint64_t window_seq, bool call,
		       struct noise_sender *ret_sender)
{
	const __typeof__(was->by[0]) *by = &was->by[window_seq & 1];
	uint64_t count = __atomic_load_n(&live->sum.count, __ATOMIC_ACQUIRE);
	uint64_t grown = count - was->sum.count;

	if (!grown)
		return false;
	*was = *live;
	was->sum.count = count;
	if (!cpuset_has(cpus, was->sum.id))
		return false;
	*ret_sender = (struct noise_sender){.cpu = was->sum.id, .from_cpu = from, .count = grown};
	snprintf(ret_sender->name, sizeof(ret_sender->name), "%.*s", (int)sizeof(was->name) - 1,
		 entry_name(was, call));
	if (by->window_seq >> NOISE_WINDOW_SHIFT == window_seq) {
		ret_sender->by_process = by->votes;
		ret_sender->pid = by->tgid;
		memcpy(ret_sender->comm, by->comm, sizeof(ret_sender->comm) - 1);
	}
	return true;
}

static int by_pair(const void *a, const void *b)
{
	const struct noise_sender *left = a, *right = b;

	return CMP(left->cpu, right->cpu) ?:
	       CMP(left->from_cpu, right->from_cpu) ?:
	       strcmp(left->name, right->name);
}

static int by_core_and_count(const void *a, const void *b)
{
	const struct noise_sender *left = a, *right = b;

	return CMP(left->cpu, right->cpu) ?: CMP(right->count, left->count) ?: by_pair(a, b);
}

/*
 * Adds the row @more to the row @sum of the same sender of IPIs. In the majority vote for the
 * sending process, votes for different processes cancel out.
 */
static void add_sender(void *sum, const void *more)
{
	const struct noise_sender *from = more;
	struct noise_sender *to = sum;
	uint64_t votes = to->by_process;

	to->count += from->count;
	if (to->pid == from->pid) {
		to->by_process += from->by_process;
	} else if (votes >= from->by_process) {
		to->by_process -= from->by_process;
	} else {
		to->by_process = from->by_process - votes;
		to->pid = from->pid;
		memcpy(to->comm, from->comm, sizeof(to->comm));
	}
}

/*
 * Merges two rows of an IPI that two BPF programs counted. Also merges the rows of all functions
 * without a name.
 */
static void merge(struct noise_sent *sent)
{
	sent->nr = array_merge(sent->list, sent->nr, sizeof(*sent->list), by_pair, add_sender);
	qsort(sent->list, sent->nr, sizeof(*sent->list), by_core_and_count);
}

static void read_table(struct noise_senders *senders, unsigned int from, int program,
		       const struct cpuset *cpus, uint64_t window_seq)
{
	bool call = program == NOISE_SEND_CALL;
	struct noise_sent *sent = call ? &senders->window->calls : &senders->window->senders;

	for (int i = 0; i < NOISE_NR_SENDS; i++)
		sent->nr += read_entry(&senders->live[from].of[program].sends[i],
				       &senders->was[from].of[program].sends[i], from, cpus,
				       window_seq, call, &sent->list[sent->nr]);
	sent->lost += senders->live[from].of[program].lost;
}

void noise_senders_read(struct noise_senders *senders, const struct cpuset *cpus,
			uint64_t window_seq)
{
	struct noise_window *w = senders->window;

	if (!senders->live)
		return;
	w->senders = (struct noise_sent){.list = w->senders.list};
	w->calls = (struct noise_sent){.list = w->calls.list};
	for (unsigned int from = 0; from < senders->nr_cpus; from++)
		for (int program = 0; program < NOISE_SEND_PROGRAMS; program++)
			read_table(senders, from, program, cpus, window_seq);
	merge(&w->senders);
	merge(&w->calls);
}
