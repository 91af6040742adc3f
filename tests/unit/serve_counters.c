/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests counters of waits: they never decrease, are limited, and end with their cgroup. */
#include "serve/export/collector.h"

#include "base/clock.h"
#include "measure/runq/runq.h"
#include "measure/runq/window.h"
#include "serve_store.h"
#include "view/prom.h"

struct group {
	const char *cgroup;
	bool ended;
	uint64_t count, sum_ns;
};

/*
 * Pod UID of all cgroups that absorb_runq() adds, or NULL for cgroups outside of pods. The pod's
 * name is unknown.
 */
static const char *pod_uid;
/* Offset of the wall clock from CLOCK_MONOTONIC, which tests change. */
static uint64_t wall_ahead_ns;

/*
 * Adds a window of `runq` to the series. Each wait of the window is for an idle core, and its
 * length is between the 4th and the 5th boundary. The culprit of a cgroup's waits is the next
 * cgroup in @groups. If pod_uid is set, every second culprit is (gone), which stands for an ended
 * cgroup. The simulated kernel does not report throttled time.
 */
static void absorb_runq(uint64_t time_ns, const struct group *groups, size_t nr)
{
	struct runq_group *names = calloc(nr, sizeof(*names));
	struct runq_group_window *rows = calloc(nr, sizeof(*rows));
	struct runq_blame *blame = calloc(nr, sizeof(*blame));
	struct runq_idle_state *idle = calloc(nr, sizeof(*idle));
	struct runq_pressed *pressed = calloc(nr, sizeof(*pressed));
	uint64_t *le_counts = calloc(nr * config.nr_le, sizeof(*le_counts));
	struct runq_window window = {
		.time_unix_ns = time_ns + wall_ahead_ns,
		.time_mono_ns = time_ns,
		.le_ns = config.le_ns,
		.nr_le = config.nr_le,
		.causes_known = 1u << RUNQ_IDLE,
		.groups = rows,
		.nr_groups = nr,
		.blame = blame,
		.nr_blame = nr,
		.idle_states = idle,
		.nr_idle_states = nr,
		.pressed = pressed,
		.nr_pressed = nr,
	};

	for (size_t i = 0; i < nr; i++) {
		uint64_t *le_count = &le_counts[i * config.nr_le];

		names[i] = (struct runq_group){.path = groups[i].cgroup, .pod_uid = pod_uid};
		for (unsigned int j = 4; j < config.nr_le; j++)
			le_count[j] = groups[i].count;
		rows[i] = (struct runq_group_window){
			.party = {.group = &names[i]},
			.ended = groups[i].ended,
			.count = groups[i].count,
			.sum_ns = groups[i].sum_ns,
			.cause_ns = {[RUNQ_IDLE] = groups[i].sum_ns, [RUNQ_THROTTLED] = 1},
			.le_count = le_count,
		};
		idle[i] = (struct runq_idle_state){
			.party = {.group = &names[i]},
			.name = "C6",
			.count = groups[i].count,
			.wait_ns = groups[i].sum_ns + 3,
		};
		pressed[i] = (struct runq_pressed){.group = &names[i]};
		blame[i] = (struct runq_blame){
			.victim = {.group = &names[i]},
			.culprit = {.group = &names[(i + 1) % nr]},
			.wait_ns = groups[i].sum_ns,
			.count = groups[i].count,
		};
		if (pod_uid && i % 2)
			blame[i].culprit = (struct runq_party){.kind = RUNQ_PARTY_GONE};
	}
	runq_absorb(&store, &window);
	free(names);
	free(rows);
	free(blame);
	free(idle);
	free(pressed);
	free(le_counts);
}

/*
 * Rows that are not cgroups keep their name, do not count against --cgroup-limit, and are never
 * merged into the series (other).
 */
TEST_WITH(test_parties, setup, teardown)
{
	static const struct {
		enum runq_party_kind kind;
		const char *label;
	} parties[] = {
		{RUNQ_PARTY_GONE, "(gone)"},	   {RUNQ_PARTY_IDLE, "(idle)"},
		{RUNQ_PARTY_QUOTA, "(quota)"},	   {RUNQ_PARTY_KTHREADS, "(kernel threads)"},
		{RUNQ_PARTY_UNKNOWN, "(unknown)"}, {RUNQ_PARTY_OTHER_CORE, "(other core)"},
		{RUNQ_PARTY_EXCLUDED, "(excluded)"}, {RUNQ_PARTY_OTHER, "(other)"},
	};
	struct runq_group a = {.path = "/a"}, strange = {.path = "/(idle)"};
	uint64_t le_count[16] = {0};
	struct runq_group_window rows[] = {
		{.party = {.group = &a}, .count = 1, .sum_ns = 10, .le_count = le_count},
		{.party = {.kind = RUNQ_PARTY_OTHER},
		 .count = 2,
		 .sum_ns = 20,
		 .le_count = le_count},
	};
	struct runq_blame blame[] = {{.victim = {.group = &a}, .wait_ns = 5, .count = 1},
				     {.victim = {.group = &a},
				      .culprit = {.group = &strange},
				      .wait_ns = 7,
				      .count = 1}};
	struct runq_window window = {.time_mono_ns = 1, .groups = rows, .nr_groups = 2};
	char labels[64];

	window.blame = blame;
	window.nr_blame = 1;
	for (size_t i = 0; i < sizeof(parties) / sizeof(parties[0]); i++) {
		blame[0].culprit.kind = parties[i].kind;
		runq_absorb(&store, &window);
		snprintf(labels, sizeof(labels), "victim=\"/a\",culprit=\"%s\"", parties[i].label);
		assert_int_equal(word(F_RUNQ_BLAME, labels, 0), 5);
	}
	assert_int_equal(word(F_RUNQ_GROUPS, "", 0), 1);
	assert_int_equal(word(F_RUNQ, "cgroup=\"/a\"", config.nr_le), 8);
	assert_int_equal(word(F_RUNQ, "cgroup=\"(other)\"", config.nr_le), 16);
	assert_int_equal(sum_of(F_RUNQ, config.nr_le), 24);
	window.blame = &blame[1];
	runq_absorb(&store, &window);
	assert_int_equal(word(F_RUNQ_BLAME, "victim=\"/a\",culprit=\"(other)\"", 0), 12);
}

static const char *more(enum family_id id, const char *labels)
{
	unsigned int part;
	const struct series_row *row = row_of(id, labels, &part);

	assert_non_null(row);
	return row->names ? row->names->data : "";
}

/*
 * Pod names are additional labels. If the pod name of a cgroup is found later, the series of the
 * cgroup do not restart.
 */
TEST_WITH(test_names, setup, teardown)
{
	struct runq_group_names names = {.namespace = "shop", .pod = "web", .container = "nginx"};
	struct runq_group pod = {.path = "/pod", .pod_uid = "0a1b", .qos = "burstable"};
	struct runq_group plain = {.path = "/system"};
	struct runq_group vm = {.path = "/vm", .container_id = "web", .runtime = "libvirt"};
	struct runq_group lxc = {.path = "/lxc", .container_id = "web", .runtime = "lxc"};
	uint64_t le_count[16] = {0};
	struct runq_group_window rows[] = {
		{.party = {.group = &vm}, .count = 1, .sum_ns = 10, .le_count = le_count},
		{.party = {.group = &lxc}, .count = 1, .sum_ns = 10, .le_count = le_count},
		{.party = {.group = &pod}, .count = 1, .sum_ns = 10, .le_count = le_count},
		{.party = {.group = &plain}, .count = 1, .sum_ns = 10, .le_count = le_count},
	};
	struct runq_blame blame = {
		.victim = {.group = &plain}, .culprit = {.group = &pod}, .wait_ns = 5, .count = 1};
	struct runq_idle_state idle = {
		.party = {.group = &pod}, .name = "C6", .count = 1, .wait_ns = 1};
	struct runq_group machine = {.path = "/"}, silent = {.path = "/silent"};
	struct runq_pressed pressed[] = {
		{.group = &machine, .times = {.waiting_ns = {1, 2, 3, 4}, .stalled_ns = {5}}},
		{.group = &pod, .times = {.waiting_ns = {10, 20}, .stalled_ns = {30, 40, 50, 60}}},
		{.group = &silent, .times = {.waiting_ns = {1}}},
	};
	struct runq_window window = {.time_mono_ns = 1,
				     .causes_known = 1u << RUNQ_IDLE,
				     .has_pressure = true,
				     .pressed = pressed,
				     .nr_pressed = 3,
				     .pressure_losses = {.full = 3, .shared = 4, .crowded = 5, .unstable = 6},
				     .groups = rows,
				     .nr_groups = 4,
				     .blame = &blame,
				     .nr_blame = 1,
				     .idle_states = &idle,
				     .nr_idle_states = 1};

	runq_absorb(&store, &window);
	assert_string_equal(more(F_RUNQ, "cgroup=\"/pod\""), "");
	pod.names = &names;
	runq_absorb(&store, &window);
	assert_int_equal(word(F_RUNQ, "cgroup=\"/pod\"", config.nr_le), 2);
	assert_int_equal(count(F_RUNQ), 4);
	assert_string_equal(more(F_RUNQ, "cgroup=\"/vm\""), "vm=\"web\"");
	assert_string_equal(more(F_RUNQ, "cgroup=\"/lxc\""), "");
	assert_string_equal(more(F_RUNQ, "cgroup=\"/pod\""),
			    "namespace=\"shop\",pod=\"web\",container=\"nginx\"");
	assert_string_equal(more(F_RUNQ_CAUSE, "cgroup=\"/pod\",cause=\"idle_exit\""),
			    "namespace=\"shop\",pod=\"web\",container=\"nginx\"");
	assert_string_equal(more(F_RUNQ_IDLE, "cgroup=\"/pod\",state=\"C6\""),
			    "namespace=\"shop\",pod=\"web\",container=\"nginx\"");
	/* The machine and each cgroup below the limit have series of pressure by cause. */
	assert_int_equal(count(F_RUNQ_WAITING), 2 * RUNQ_PRESSURE_NR_CAUSES);
	assert_int_equal(word(F_RUNQ_WAITING, "cgroup=\"/\",cause=\"quota\"", 0), 8);
	assert_int_equal(word(F_RUNQ_WAITING, "cgroup=\"/\",cause=\"idle_exit\"", 0), 6);
	assert_int_equal(word(F_RUNQ_WAITING, "cgroup=\"/pod\",cause=\"contention\"", 0), 20);
	assert_int_equal(word(F_RUNQ_STALLED, "cgroup=\"/pod\",cause=\"kernel_thread\"", 0), 80);
	assert_string_equal(more(F_RUNQ_STALLED, "cgroup=\"/pod\",cause=\"quota\""),
			    "namespace=\"shop\",pod=\"web\",container=\"nginx\"");
	assert_int_equal(word(F_LOSS, "collector=\"runq\",kind=\"pressure_shared\"", 0), 4);
	assert_int_equal(word(F_LOSS, "collector=\"runq\",kind=\"pressure_unstable\"", 0), 6);
	assert_string_equal(more(F_RUNQ, "cgroup=\"/system\""), "");
	assert_string_equal(more(F_RUNQ_BLAME, "victim=\"/system\",culprit=\"/pod\""),
			    "culprit_namespace=\"shop\",culprit_pod=\"web\""
			    ",culprit_container=\"nginx\"");
	config.labels = 1u << CONFIG_LABEL_qos | 1u << CONFIG_LABEL_pod_uid;
	runq_absorb(&store, &window);
	assert_string_equal(more(F_RUNQ, "cgroup=\"/pod\""), "pod_uid=\"0a1b\",qos=\"burstable\"");
	config.labels = 0;
	runq_absorb(&store, &window);
	assert_string_equal(more(F_RUNQ, "cgroup=\"/pod\""), "");
	assert_string_equal(more(F_RUNQ_CAUSE, "cgroup=\"/pod\",cause=\"idle_exit\""), "");
	assert_string_equal(more(F_RUNQ_BLAME, "victim=\"/system\",culprit=\"/pod\""), "");
}

/*
 * If waits are counted per namespace or QoS class, each series has a label namespace or qos instead
 * of cgroup, also the series (other).
 */
TEST_WITH(test_per, setup, teardown)
{
	static const struct group groups[] = {{"shop", true, 10, 1000}, {"bank", false, 5, 500}};

	config.per = CONFIG_PER_NAMESPACE;
	config.cgroup_limit = 1;
	absorb_runq(1, &groups[0], 1);
	assert_int_equal(word(F_RUNQ, "namespace=\"shop\"", config.nr_le), 10);
	absorb_runq(2, &groups[1], 1);
	assert_int_equal(word(F_RUNQ, "namespace=\"bank\"", config.nr_le), 5);
	assert_int_equal(word(F_RUNQ, "namespace=\"(other)\"", config.nr_le), 10);
	assert_int_equal(word(F_RUNQ_CAUSE, "namespace=\"(other)\",cause=\"idle_exit\"", 0), 1000);
	config.per = CONFIG_PER_QOS;
	absorb_runq(3, &groups[1], 1);
	assert_null(find(F_RUNQ, "cgroup=\"(other)\""));
}

/* Ten containers have series, (other) has the sum of all others, and no wait is lost. */
TEST_WITH(test_limit, setup, teardown)
{
	struct group groups[50];
	char names[50][32];

	config.cgroup_limit = 10;
	config.blame_limit = 5;
	pod_uid = "0a1b";
	for (int second = 1; second <= 5; second++) {
		for (int i = 0; i < 50; i++) {
			snprintf(names[i], sizeof(names[i]), "/kubepods/pod%d-%d", second, i);
			groups[i] = (struct group){names[i], false, 1, 7};
		}
		absorb_runq(second * NSEC_PER_SEC, groups, 50);
	}
	pod_uid = NULL;
	assert_int_equal(count(F_RUNQ), 11);
	assert_int_equal(word(F_RUNQ, "cgroup=\"(other)\"", config.nr_le), 240);
	assert_int_equal(word(F_RUNQ_FOLDED, "kind=\"waits\"", 0), 240);
	assert_int_equal(sum_of(F_RUNQ, config.nr_le), 250);
	assert_true(count(F_RUNQ_BLAME) <= 6);
	assert_int_equal(sum_of(F_RUNQ_BLAME, 0), 5 * 350);
	for (size_t i = 0; i < store.tables[F_RUNQ].nr; i++)
		assert_null(store.tables[F_RUNQ].rows[i]->names);
}

/*
 * Cgroups with a common path prefix have different series. The series of a cgroup end after an hour
 * without waits.
 */
TEST_WITH(test_expire, setup, teardown)
{
	static const struct group three[] = {
		{"/a", false, 1, 10}, {"/a/b", false, 1, 10}, {"/ab", false, 1, 10}};
	static const struct group ended[] = {{"/a", true, 1, 10}};
	const uint64_t minute = 60 * NSEC_PER_SEC;

	absorb_runq(minute, three, 3);
	absorb_runq(2 * minute, ended, 1);
	absorb_runq(8 * minute, &three[1], 1);
	assert_null(find(F_RUNQ, "cgroup=\"/a\""));
	assert_int_equal(word(F_RUNQ, "cgroup=\"/a/b\"", config.nr_le), 2);
	assert_int_equal(word(F_RUNQ, "cgroup=\"/ab\"", config.nr_le), 1);
	assert_int_equal(count(F_RUNQ_CAUSE), 2);
	assert_int_equal(count(F_RUNQ_IDLE), 2);
	assert_int_equal(count(F_RUNQ_IDLE_WAITS), 2);
	assert_int_equal(count(F_RUNQ_WAITING), 2 * RUNQ_PRESSURE_NR_CAUSES);
	assert_int_equal(count(F_RUNQ_STALLED), 2 * RUNQ_PRESSURE_NR_CAUSES);
	/* Only the blame series with /a as victim or culprit are removed. */
	assert_int_equal(word(F_RUNQ_BLAME, "victim=\"/a/b\",culprit=\"/ab\"", 0), 10);
	assert_int_equal(count(F_RUNQ_BLAME), 2);
	assert_int_equal(word(F_RUNQ_GROUPS, "", 0), 2);
	/* Cgroup /ab last waited at minute 1, so the series of /ab end at minute 61. */
	absorb_runq(60 * minute, &three[1], 1);
	assert_int_equal(word(F_RUNQ, "cgroup=\"/ab\"", config.nr_le), 1);
	absorb_runq(61 * minute, &three[1], 1);
	assert_null(find(F_RUNQ, "cgroup=\"/ab\""));
	assert_int_equal(word(F_RUNQ, "cgroup=\"/a/b\"", config.nr_le), 4);
	absorb_runq(62 * minute, ended, 1);
	assert_int_equal(word(F_RUNQ, "cgroup=\"/a\"", config.nr_le), 1);
}

/*
 * Twelve cgroups end, and --cgroup-limit is eight. A live cgroup replaces one of the ended cgroups.
 * The sum of all series of a family never decreases.
 */
TEST_WITH(test_dead_give_way, setup, teardown)
{
	static const struct group live = {"/live", false, 5, 50};
	struct group dead;
	char name[16];

	config.cgroup_limit = 8;
	for (int i = 0; i < 12; i++) {
		snprintf(name, sizeof(name), "/dead%d", i);
		dead = (struct group){name, true, 1, 10};
		absorb_runq((i + 1) * NSEC_PER_SEC, &dead, 1);
	}
	assert_int_equal(word(F_RUNQ, "cgroup=\"(other)\"", config.nr_le), 4);
	assert_int_equal(count(F_RUNQ_EVICTED), 0);
	absorb_runq(13 * NSEC_PER_SEC, &live, 1);
	assert_int_equal(word(F_RUNQ, "cgroup=\"/live\"", config.nr_le), 5);
	assert_int_equal(word(F_RUNQ_CAUSE, "cgroup=\"/live\",cause=\"idle_exit\"", 0), 50);
	assert_null(find(F_RUNQ, "cgroup=\"/dead0\""));
	assert_int_equal(word(F_RUNQ, "cgroup=\"/dead1\"", config.nr_le), 1);
	assert_int_equal(word(F_RUNQ, "cgroup=\"(other)\"", config.nr_le), 5);
	assert_int_equal(word(F_RUNQ, "cgroup=\"(other)\"", 4), 5);
	assert_int_equal(word(F_RUNQ, "cgroup=\"(other)\"", config.nr_le + 1), 50);
	assert_int_equal(word(F_RUNQ_CAUSE, "cgroup=\"(other)\",cause=\"idle_exit\"", 0), 50);
	assert_int_equal(word(F_RUNQ_BLAME, "victim=\"(other)\",culprit=\"(other)\"", 0), 50);
	/* Stalled times cannot be added up, so the series (other) has no stalled time. */
	assert_null(find(F_RUNQ_STALLED, "cgroup=\"(other)\",cause=\"quota\""));
	assert_int_equal(word(F_RUNQ_EVICTED, "reason=\"ended\"", 0), 1);
	assert_int_equal(word(F_RUNQ_FOLDED, "kind=\"waits\"", 0), 5);
	assert_int_equal(word(F_RUNQ_GROUPS, "", 0), 8);
	assert_int_equal(sum_of(F_RUNQ, config.nr_le), 17);
	assert_int_equal(sum_of(F_RUNQ, config.nr_le + 1), 170);
	assert_int_equal(sum_of(F_RUNQ_CAUSE, 0), 170);
	assert_int_equal(sum_of(F_RUNQ_BLAME, 0), 170);
}

/*
 * Core pairs (pairs of cgroups on one core) have a separate limit. The core pairs of an evicted
 * cgroup are added to the series (other). The core pairs of an ended cgroup are removed.
 */
TEST_WITH(test_core_pairs, setup, teardown)
{
	struct runq_group names[] = {{.path = "/a"}, {.path = "/b"}, {.path = "/c"}};
	struct runq_group_names app = {.pod = "app", .namespace = "shop"};
	uint64_t le_count[16] = {0};
	struct runq_group_window rows[3];
	struct runq_blame pairs[] = {
		{.victim = {.group = &names[0]}, .culprit = {.group = &names[1]}, .wait_ns = 5, .count = 1},
		{.victim = {.group = &names[1]}, .culprit = {.group = &names[0]}, .wait_ns = 7, .count = 1},
		{.victim = {.group = &names[2]}, .culprit = {.group = &names[1]}, .wait_ns = 9, .count = 1},
	};
	struct runq_window window = {.time_mono_ns = NSEC_PER_SEC,
				     .groups = rows,
				     .nr_groups = 3,
				     .core_pairs = pairs,
				     .nr_core_pairs = 3};
	const uint64_t minute = 60 * NSEC_PER_SEC;

	for (int i = 0; i < 3; i++)
		rows[i] = (struct runq_group_window){
			.party = {.group = &names[i]}, .count = 1, .sum_ns = 1, .le_count = le_count};
	config.core_pairs = 2;
	config.blame_limit = 0;
	names[0].pod_uid = "1";
	names[0].names = &app;
	runq_absorb(&store, &window);
	window.time_mono_ns = 2 * minute;
	rows[0].ended = true;
	runq_absorb(&store, &window);
	assert_int_equal(word(F_CORE_PAIRS, "cgroup=\"/a\",sibling=\"/b\"", 0), 10);
	assert_int_equal(word(F_CORE_PAIRS, "cgroup=\"/b\",sibling=\"/a\"", 0), 14);
	assert_int_equal(word(F_CORE_PAIRS, "cgroup=\"(other)\",sibling=\"(other)\"", 0), 18);
	assert_int_equal(word(F_RUNQ_FOLDED, "kind=\"core_pairs\"", 0), 2);
	assert_string_equal(store.tables[F_CORE_PAIRS].rows[0]->names->data,
			    "cgroup_namespace=\"shop\",cgroup_pod=\"app\"");
	assert_string_equal(store.tables[F_CORE_PAIRS].rows[1]->names->data,
			    "sibling_namespace=\"shop\",sibling_pod=\"app\"");
	assert_int_equal(count(F_RUNQ_BLAME), 0);
	/*
	 * Five minutes after /a ended, the core pairs of /a are removed, so the pair of /c and /b
	 * fits into the limit.
	 */
	window.time_mono_ns = 8 * minute;
	window.groups = &rows[1];
	window.nr_groups = 2;
	window.core_pairs = &pairs[2];
	window.nr_core_pairs = 1;
	runq_absorb(&store, &window);
	assert_null(find(F_CORE_PAIRS, "cgroup=\"/a\",sibling=\"/b\""));
	assert_null(find(F_CORE_PAIRS, "cgroup=\"/b\",sibling=\"/a\""));
	assert_int_equal(word(F_CORE_PAIRS, "cgroup=\"/c\",sibling=\"/b\"", 0), 9);
	/* Pod /a evicts /b, so (other) replaces /b in the core pair of /c and /b. */
	config.cgroup_limit = 2;
	window.time_mono_ns = 20 * minute;
	window.groups = rows;
	window.nr_groups = 1;
	window.nr_core_pairs = 0;
	rows[0].ended = false;
	runq_absorb(&store, &window);
	assert_int_equal(word(F_RUNQ_EVICTED, "reason=\"priority\"", 0), 1);
	assert_int_equal(word(F_CORE_PAIRS, "cgroup=\"/c\",sibling=\"(other)\"", 0), 9);
	assert_int_equal(sum_of(F_CORE_PAIRS, 0), 18 + 9);
	assert_null(find(F_CORE_PAIRS, "cgroup=\"/c\",sibling=\"/b\""));
}

TEST_WITH(test_dead_before_silent, setup, teardown)
{
	static const struct group silent = {"/silent", false, 1, 10}, dead = {"/dead", true, 1, 10},
				  live = {"/live", false, 1, 10};
	const uint64_t minute = 60 * NSEC_PER_SEC;

	config.cgroup_limit = 2;
	absorb_runq(minute, &silent, 1);
	absorb_runq(20 * minute, &dead, 1);
	absorb_runq(20 * minute + NSEC_PER_SEC, &live, 1);
	assert_int_equal(word(F_RUNQ, "cgroup=\"/silent\"", config.nr_le), 1);
	assert_int_equal(word(F_RUNQ, "cgroup=\"/live\"", config.nr_le), 1);
	assert_null(find(F_RUNQ, "cgroup=\"/dead\""));
	assert_int_equal(word(F_RUNQ_EVICTED, "reason=\"ended\"", 0), 1);
}

/*
 * The cgroup whose last wait is the oldest is evicted. A cgroup that waited recently is never
 * evicted.
 */
TEST_WITH(test_silent_give_way, setup, teardown)
{
	static const struct group first[] = {{"/a", false, 1, 10}, {"/b", false, 1, 10}};
	static const struct group more[] = {
		{"/c", false, 1, 10}, {"/b", false, 1, 10}, {"/d", false, 1, 10}};
	const uint64_t minute = 60 * NSEC_PER_SEC;

	config.cgroup_limit = 2;
	absorb_runq(minute, first, 2);
	absorb_runq(2 * minute, &first[0], 1);
	absorb_runq(2 * minute + 1, more, 1);
	/*
	 * A cgroup is not evicted a minute after its last wait, because two scrapes may be more
	 * than a minute apart.
	 */
	assert_null(find(F_RUNQ, "cgroup=\"/c\""));
	assert_int_equal(word(F_RUNQ, "cgroup=\"(other)\"", config.nr_le), 1);
	/*
	 * Before this window the last wait of /b is the oldest. In this window /b waits, and /b
	 * follows /c in the list of cgroups.
	 */
	absorb_runq(10 * minute, more, 3);
	assert_int_equal(word(F_RUNQ, "cgroup=\"/c\"", config.nr_le), 1);
	assert_int_equal(word(F_RUNQ, "cgroup=\"/b\"", config.nr_le), 2);
	assert_null(find(F_RUNQ, "cgroup=\"/a\""));
	assert_null(find(F_RUNQ, "cgroup=\"/d\""));
	assert_int_equal(word(F_RUNQ_EVICTED, "reason=\"silent\"", 0), 1);
	/* /a was evicted, so (other) replaces /a in the labels of blame. */
	assert_int_equal(word(F_RUNQ_BLAME, "victim=\"(other)\",culprit=\"/b\"", 0), 10);
	assert_int_equal(word(F_RUNQ_BLAME, "victim=\"/b\",culprit=\"(other)\"", 0), 20);
	assert_int_equal(sum_of(F_RUNQ, config.nr_le), 7);
	assert_int_equal(sum_of(F_RUNQ_CAUSE, 0), 70);
	assert_int_equal(sum_of(F_RUNQ_BLAME, 0), 70);
	/* A reduced limit takes effect with the next new cgroup. */
	config.cgroup_limit = 1;
	absorb_runq(20 * minute, &more[2], 1);
	assert_int_equal(word(F_RUNQ_GROUPS, "", 0), 1);
	assert_int_equal(sum_of(F_RUNQ, config.nr_le), 8);
}

/*
 * A pod evicts a system service, even if the service waits longer. A service never evicts a live
 * pod.
 */
TEST_WITH(test_pods_first, setup, teardown)
{
	struct runq_group names[] = {{.path = "/s1"},
				     {.path = "/s2"},
				     {.path = "/p1", .pod_uid = "1"},
				     {.path = "/p2", .pod_uid = "2"},
				     {.path = "/p3", .pod_uid = "3"}};
	uint64_t le_count[16] = {0};
	struct runq_group_window rows[5];
	struct runq_window window = {.time_mono_ns = NSEC_PER_SEC, .groups = rows, .nr_groups = 2};

	for (int i = 0; i < 5; i++)
		rows[i] = (struct runq_group_window){.party = {.group = &names[i]},
						     .count = 1,
						     .sum_ns = 100 - i,
						     .le_count = le_count};
	config.cgroup_limit = 2;
	runq_absorb(&store, &window);
	assert_int_equal(word(F_RUNQ, "cgroup=\"/s1\"", config.nr_le), 1);
	/*
	 * The pods /p1 and /p2 have series. The services /s1 and /s2 have no series, although the
	 * services waited longer.
	 */
	window.time_mono_ns += NSEC_PER_SEC;
	window.nr_groups = 5;
	runq_absorb(&store, &window);
	assert_int_equal(word(F_RUNQ, "cgroup=\"/p1\"", config.nr_le), 1);
	assert_int_equal(word(F_RUNQ, "cgroup=\"/p2\"", config.nr_le), 1);
	assert_int_equal(count(F_RUNQ), 3);
	assert_int_equal(word(F_RUNQ, "cgroup=\"(other)\"", config.nr_le), 5);
	assert_int_equal(word(F_RUNQ_EVICTED, "reason=\"priority\"", 0), 2);
	/*
	 * Pods /p1 and /p2 keep their series, because pod /p3 has no higher priority than other
	 * pods.
	 */
	window.time_mono_ns += NSEC_PER_SEC;
	runq_absorb(&store, &window);
	assert_int_equal(word(F_RUNQ_EVICTED, "reason=\"priority\"", 0), 2);
	assert_int_equal(word(F_RUNQ, "cgroup=\"/p1\"", config.nr_le), 2);
	assert_int_equal(sum_of(F_RUNQ, config.nr_le), 12);
}

/* If the last window of an ended cgroup has no waits, its series end 5 minutes later. */
TEST_WITH(test_ended_silently, setup, teardown)
{
	static const struct group first[] = {{"/a", false, 1, 10}, {"/b", false, 1, 10}};
	static const struct group last[] = {{"/a", true, 0, 0}, {"/c", true, 0, 0}};
	static const struct group later[] = {{"/b", false, 1, 10}};

	absorb_runq(NSEC_PER_SEC, first, 2);
	absorb_runq(2 * NSEC_PER_SEC, last, 2);
	assert_int_equal(word(F_RUNQ_GROUPS, "", 0), 2);
	assert_null(find(F_RUNQ, "cgroup=\"/c\""));
	absorb_runq(301 * NSEC_PER_SEC, later, 1);
	assert_non_null(find(F_RUNQ, "cgroup=\"/a\""));
	absorb_runq(302 * NSEC_PER_SEC, later, 1);
	assert_null(find(F_RUNQ, "cgroup=\"/a\""));
	assert_non_null(find(F_RUNQ, "cgroup=\"/b\""));
}

/* If the wall clock is set, no series ends and no counter decreases. */
TEST_WITH(test_wall_clock_steps, setup, teardown)
{
	static const struct group groups[] = {{"/a", false, 1, 10}, {"/b", true, 1, 10}};
	static const int64_t steps_s[] = {-3, 3700, -7200, 86400 * 365, -86400 * 365};
	const uint64_t start = 86400 * NSEC_PER_SEC;
	size_t nr = sizeof(steps_s) / sizeof(steps_s[0]);

	wall_ahead_ns = 1700000000 * NSEC_PER_SEC;
	for (size_t i = 0; i < nr; i++) {
		absorb_runq(start + 2 * i * NSEC_PER_SEC, groups, 2);
		wall_ahead_ns += steps_s[i] * (int64_t)NSEC_PER_SEC;
		absorb_runq(start + (2 * i + 1) * NSEC_PER_SEC, groups, 1);
		assert_int_equal(word(F_RUNQ, "cgroup=\"/a\"", config.nr_le), 2 * i + 2);
		assert_int_equal(word(F_RUNQ, "cgroup=\"/b\"", config.nr_le), i + 1);
		assert_int_equal(word(F_RUNQ_CAUSE, "cgroup=\"/a\",cause=\"idle_exit\"", 0),
				 10 * (2 * i + 2));
	}
	/* The time until the series of an ended cgroup end is measured by CLOCK_MONOTONIC. */
	absorb_runq(start + 400 * NSEC_PER_SEC, groups, 1);
	assert_null(find(F_RUNQ, "cgroup=\"/b\""));
	wall_ahead_ns = 0;
}

static int to_file(void *arg, const char *data, size_t len)
{
	return fwrite(data, 1, len, arg) == len ? 0 : -EIO;
}

static char *rendered(enum prom_format format, size_t *ret_size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_size);
	struct prom *prom = calloc(1, sizeof(*prom));

	*prom = (struct prom){.format = format, .sink = to_file, .arg = out};
	prom_write(prom, &store.series[F_RUNQ], &store.tables[store.series[F_RUNQ].table]);
	assert_int_equal(prom_end(prom), 0);
	fclose(out);
	free(prom);
	return text;
}

/* Returns the number of buckets of /a on the page, and the count in the bucket @le. */
static size_t buckets(const char *le, uint64_t *ret_count)
{
	size_t size, nr = 0;
	char *text = rendered(PROM_TEXT, &size), want[80], *at;

	for (at = text; (at = strstr(at, "_bucket{cgroup=\"/a\"")); at++)
		nr++;
	snprintf(want, sizeof(want), "_bucket{cgroup=\"/a\",le=\"%s\"} ", le);
	at = strstr(text, want);
	*ret_count = at ? strtoull(at + strlen(want), NULL, 10) : UINT64_MAX;
	free(text);
	return nr;
}

TEST_WITH(test_show_le, setup, teardown)
{
	static const struct group groups[] = {{"/a", false, 10, 1000}};
	static const uint64_t few[] = {20000, 1000000}, other[] = {20000, 3000000};
	size_t all, less;
	uint64_t count;

	absorb_runq(1, groups, 1);
	free(rendered(PROM_PROTOBUF, &all));
	assert_int_equal(buckets("0.0002", &count), config.nr_le + 1);
	assert_int_equal(count, 10);
	store_show_le(&store, few, 2);
	/*
	 * In protobuf a bucket has 2 bytes of header, 2 bytes for the count and 9 bytes for the
	 * boundary. With fewer buckets, two length fields (of the histogram and of the metric) are
	 * one byte shorter each.
	 */
	free(rendered(PROM_PROTOBUF, &less));
	assert_int_equal(all - less, (config.nr_le - 2) * 13 + 2);
	absorb_runq(2, groups, 1);
	assert_int_equal(buckets("0.001", &count), 3);
	assert_int_equal(count, 20);
	buckets("0.0002", &count);
	assert_int_equal(count, UINT64_MAX);
	store_show_le(&store, other, 2);
	assert_int_equal(buckets("+Inf", &count), 3);
	assert_int_equal(count, 20);
	store_show_le(&store, config.le_ns, config.nr_le);
	assert_int_equal(buckets("0.0002", &count), config.nr_le + 1);
	assert_int_equal(count, 20);
}

TEST_MAIN()
