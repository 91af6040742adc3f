/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the exporter's settings: accepted and refused values, messages, addresses, hosts. */
#include "serve/config.h"

#include <sys/stat.h>
#include <unistd.h>

#include "measure/runq/opts.h"
#include "measure/runq/runq.h"
#include "serve/http/address.h"
#include "serve/http/request.h"
#include "serve/export/resource_limits.h"
#include "test.h"

static void check_good(const char *text, struct config *ret_config)
{
	struct err err = {0};

	assert_int_equal(config_init(ret_config), 0);
	if (config_parse(ret_config, text, strlen(text), "f", &err))
		fail_msg("%s: %s", text, err.what);
}

TEST(test_file)
{
	struct config c;

	check_good("# exporter\n"
		   "listen = 127.0.0.1:80\r\n"
		   "listen=[::1]:81\n"
		   "\n  \tlisten =  unix:/run/subtick.sock  \n"
		   "interval = 500ms\n"
		   "le = 100us,1ms,10ms\n"
		   "cgroup-limit = 10\n"
		   "core-pairs = 20\n"
		   "per = pod\n"
		   "labels = qos,pod_uid\n"
		   "max-connections = 7\n"
		   "timeout = 3s\n"
		   "token-file = /etc/a b\n"
		   "user = daemon\n"
		   "traces = /srv/a b\n"
		   "host = node1\n"
		   "host = node1.example\n"
		   "collect = load\n"
		   "no-sandbox = yes\n"
		   "sample = 0.25\n"
		   "no-causes = yes\n"
		   "fine = yes\n"
		   "idle-states = yes\n"
		   "pressure = yes\n"
		   "   # indented",
		   &c);
	assert_int_equal(c.nr_listen, 3);
	assert_string_equal(c.listen[0], "127.0.0.1:80");
	assert_string_equal(c.listen[1], "[::1]:81");
	assert_string_equal(c.listen[2], "unix:/run/subtick.sock");
	assert_int_equal(c.interval_ns, 500000000);
	assert_int_equal(c.nr_le, 3);
	assert_int_equal(c.le_ns[0], 100000);
	assert_int_equal(c.per, CONFIG_PER_POD);
	assert_int_equal(c.labels, 1u << CONFIG_LABEL_pod_uid | 1u << CONFIG_LABEL_qos);
	assert_int_equal(c.le_ns[2], 10000000);
	assert_int_equal(c.cgroup_limit, 10);
	assert_int_equal(c.core_pairs, 20);
	assert_int_equal(c.max_connections, 7);
	assert_int_equal(c.timeout_ns, 3000000000);
	assert_string_equal(c.token_file, "/etc/a b");
	assert_string_equal(c.user, "daemon");
	assert_string_equal(c.traces, "/srv/a b");
	assert_string_equal(c.hosts, "node1,node1.example");
	assert_true(c.no_sandbox);
	assert_true(c.fine && c.idle_states && c.pressure && c.no_causes && c.sample_ratio > 0.2499 &&
		    c.sample_ratio < 0.2501);
	config_free(&c);
}

TEST(test_bad)
{
	static const struct {
		const char *text, *named;
	} rows[] = {
		{"listen = 80", "listen 80"},
		{"listen = localhost:80", "localhost"},
		{"listen = 1.2.3.4:99999", "99999"},
		{"listen = 1.2.3.4:", "1.2.3.4:"},
		{"listen = [::1]", "[::1]"},
		{"listen = ::1:80", "::1:80"},
		{"listen = unix:", "unix:"},
		{"collect = load,nosuch", "nosuch"},
		{"collect =", "collect"},
		{"le = 1ms,1ms", "1ms"},
		{"le = 1ms,1.01ms", "1.01ms"},
		{"le = 10ms,1ms", "1ms"},
		{"le = x", "x"},
		{"le = 1ms,100s", "100s"}, /* 100 s exceeds the histogram's range */
		{"interval = 0", "interval 0"},
		{"interval = nan", "nan"},
		{"interval = 0x10", "0x10"},
		{"interval = 2h", "2h"},
		{"keep = 0.5M", "0.5M"},
		{"keep = 7d,", "7d"},
		{"keep = 7y", "7y"},
		{"keep = 10s", "10s"},
		{"interval =", "interval"},
		{"cgroup-limit = -1", "-1"},
		{"cgroup-limit = 1e3", "1e3"},
		{"cgroup-limit = 99999999999999999999", "99999"},
		{"max-connections = 0", "max-connections 0"},
		{"no-sandbox = maybe", "maybe"},
		{"host = node1:80", "node1:80"},
		{"host = a,b", "a,b"},
		{"host = a.", "a."},
		{"host = http://a", "http://a"},
		{"host =", "host"},
		{"sample = 0", "from 0.000001 to 1"},
		{"sample = 1.1", "from 0.000001 to 1"},
		{"sample = nan", "from 0.000001 to 1"},
		{"sample = 0.5x", "from 0.000001 to 1"},
		{"include = web", "include web"},
		{"include = node=a", "node=a"},
		{"exclude = cgroup=a", "cgroup=a"},
		{"exclude = pod=", "pod="},
		{"per = task", "cgroup, pod, namespace or qos"},
		{"depth = 0", "depth 0"},
		{"depth = 12", "depth 12"},
		{"labels = colour", "colour"},
		{"labels = pod,,qos", "pod_uid"},
		{"nosuch = 1", "nosuch"},
		/* Some options exist only on the command line. */
		{"config = /etc/other", "unknown setting config"},
		{"check-config = yes", "unknown setting check-config"},
		{"listen", "listen"},
		{"= 1", ""},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err err = {0};
		struct config c;
		char text[128];

		snprintf(text, sizeof(text), "interval = 1s\n%s\n", rows[i].text);
		assert_int_equal(config_init(&c), 0);
		if (!config_parse(&c, text, strlen(text), "f", &err))
			fail_msg("%s is taken", rows[i].text);
		if (!strstr(err.what, rows[i].named) || strncmp(err.what, "f:2: ", 5))
			fail_msg("%s: says %s", rows[i].text, err.what);
		config_free(&c);
	}
}

TEST(test_bytes)
{
	char fifo[64];
	struct err err = {0};
	struct config c;

	assert_int_equal(config_init(&c), 0);
	assert_int_equal(config_parse(&c, "user = a\0b\n", 11, "f", &err), -EINVAL);
	assert_int_equal(config_read(&c, "/nonexistent/file", &err), -ENOENT);
	assert_int_equal(config_read(&c, "/dev/zero", &err), -EFBIG);
	/* Opening a FIFO as settings file must not wait for a writer. */
	snprintf(fifo, sizeof(fifo), "/tmp/subtick-config-%d", getpid());
	assert_int_equal(mkfifo(fifo, 0600), 0);
	alarm(10);
	assert_int_equal(config_read(&c, fifo, &err), -EINVAL);
	alarm(0);
	unlink(fifo);
	config_free(&c);
}

TEST(test_keep)
{
	struct config c;

	check_good("history = /var/lib/subtick/history", &c);
	assert_string_equal(c.history, "/var/lib/subtick/history");
	assert_int_equal(c.keep.age_ns, 7 * 86400000000000ULL);
	assert_int_equal(c.keep.bytes, 4ULL << 30);
	config_free(&c);
	check_good("keep = 36h", &c);
	assert_int_equal(c.keep.age_ns, 36 * 3600000000000ULL);
	assert_int_equal(c.keep.bytes, 4ULL << 30);
	config_free(&c);
	check_good("keep = 500M,30d", &c);
	assert_int_equal(c.keep.age_ns, 30 * 86400000000000ULL);
	assert_int_equal(c.keep.bytes, 500ULL << 20);
	config_free(&c);
}

#define LISTEN "listen = 127.0.0.1:1\n"

/*
 * Each row has changed settings, and the name of the setting that needs a restart, or NULL if
 * SIGHUP applies the change.
 */
TEST(test_restart)
{
	static const struct {
		const char *text, *restart;
	} rows[] = {
		{LISTEN "interval = 2s", NULL},
		{"listen = 127.0.0.1:2", "listen"},
		{LISTEN "listen = 127.0.0.1:2", "listen"},
		/*
		 * A boundary can be removed from `le` without a restart. For a new boundary the BPF
		 * programs must be loaded again.
		 */
		{LISTEN "le = 1ms", NULL},
		{LISTEN "le = 1ms,3ms", "le"},
		{LISTEN "user = daemon", "user"},
		{LISTEN "traces = /srv", "traces"},
		{LISTEN "collect = load", "collect"},
		{LISTEN "no-sandbox = yes", "no-sandbox"},
		{LISTEN "sample = 0.5", "sample"},
		{LISTEN "no-causes = yes", "no-causes"},
		{LISTEN "fine = yes", "fine"},
		{LISTEN "per = pod", "per"},
		{LISTEN "depth = 2", "depth"},
		{LISTEN "exclude = pod=a=b", "include or exclude"},
		{LISTEN "native-histograms = yes", "native-histograms"},
		{LISTEN "idle-states = yes", "idle-states"},
		{LISTEN "pressure = yes", "pressure"},
		{LISTEN "blame-limit = 5\nlabels = none", NULL},
	};
	struct config a, b;

	check_good(LISTEN "interval = 1s", &a);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *restart;

		check_good(rows[i].text, &b);
		restart = config_needs_restart(&a, &b);
		if (!restart != !rows[i].restart || (restart && strcmp(restart, rows[i].restart)))
			fail_msg("%s: restart for %s", rows[i].text, restart ?: "nothing");
		config_free(&b);
	}
	config_free(&a);
}

TEST(test_restart_limits)
{
	struct config a, b;

	check_good(LISTEN, &a);
	check_good(LISTEN "le = 10us,1ms,1s", &b);
	assert_null(config_needs_restart(&a, &b));
	config_swap_live(&a, &b);
	assert_true(a.nr_le == 16 && a.le_ns[1] == 20000);
	config_free(&b);
	/* BPF programs that were loaded without sampling cannot start to sample. */
	check_good(LISTEN "sample = 0.5", &b);
	config_swap_live(&a, &b);
	assert_true(a.sample_ratio == 1.0);
	a.sample_ratio = 0.1;
	assert_null(config_needs_restart(&a, &b));
	config_swap_live(&a, &b);
	assert_true(a.sample_ratio == 0.5);
	/*
	 * A lower sample ratio needs a restart: the BPF programs would measure the clock's lag at
	 * fewer switches.
	 */
	b.sample_ratio = 0.02;
	assert_string_equal(config_needs_restart(&a, &b), "sample");
	a.sample_ratio = 1.0;
	config_free(&b);
	check_good(LISTEN "depth = 2\nexclude = pod=a=b", &b);
	assert_int_equal(b.depth, 2);
	assert_string_equal(b.rules.rule[0].pattern, "a=b");
	config_free(&b);
	check_good(LISTEN "blame-limit = 5", &b);
	a.no_blame = true;
	assert_string_equal(config_needs_restart(&a, &b), "blame-limit");
	a.no_blame = false;
	config_free(&b);
	config_free(&a);
}

TEST(test_swap_live)
{
	struct config a, b;

	check_good("interval = 1s\ntoken-file = /a\nhost = a\nlabels = pod\nuser = a\ncollect = load", &a);
	check_good("interval = 2s\ntoken-file = /b\nhost = b\nlabels = qos\nuser = b\ncollect = runq\n"
		   "cgroup-limit = 1\nblame-limit = 2\nmax-connections = 3\ntimeout = 4s\nle = 1ms",
		   &b);
	config_swap_live(&a, &b);
	assert_string_equal(a.token_file, "/b");
	assert_string_equal(a.hosts, "b");
	assert_true(a.interval_ns == 2000000000 && a.timeout_ns == 4000000000 && a.cgroup_limit == 1);
	assert_true(a.blame_limit == 2 && a.max_connections == 3);
	assert_int_equal(a.labels, 1u << CONFIG_LABEL_qos);
	assert_string_equal(a.user, "a");
	assert_int_equal(a.collect, 1u << CONFIG_COLLECT_load);
	assert_true(a.nr_le > 1);
	/* config_free() frees each string of the configurations a and b once. */
	assert_string_equal(b.token_file, "/a");
	config_free(&a);
	config_free(&b);
}

/* The exporter checks for conflicts between settings with the same function as `subtick runq`. */
TEST(test_complete)
{
	static const struct {
		const char *text, *what;
	} rows[] = {
		{"per = pod\ndepth = 2", "depth needs per cgroup"},
		{"per = qos\npressure = yes", "pressure needs per cgroup or pod"},
		{"per = namespace\npressure = yes", "pods of a namespace have no cgroup in common"},
		{"core-pairs = 9\ncollect = load,wake",
		 "core-pairs needs the collectors load and runq"},
		{"core-pairs = 9\ncollect = runq", "core-pairs needs the collectors load and runq"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err err = {0};
		struct config c;

		check_good(rows[i].text, &c);
		assert_int_equal(config_complete(&c, &err), -EINVAL);
		if (!strstr(err.what, rows[i].what) || strstr(err.what, "--"))
			fail_msg("%s: says %s", rows[i].text, err.what);
		config_free(&c);
	}
}

TEST(test_local)
{
	static const struct {
		const char *text;
		bool local;
	} rows[] = {
		{"127.0.0.1:1", true}, {"127.9.9.9:1", true},	{"0.0.0.0:1", false},
		{"10.0.0.1:1", false}, {"[::1]:1", true},	{"[::]:1", false},
		{"unix:/x", true},     {"[2001:db8::1]:1", false},
	};
	struct address address;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(address_parse(rows[i].text, &address), 0);
		if (address_is_local(&address) != rows[i].local)
			fail_msg("%s", rows[i].text);
	}
}

/* chmod() would follow a symbolic link in place of the socket. */
int __wrap_chmod(const char *path, mode_t mode)
{
	fail_msg("chmod() of %s", path);
	return 0;
}

/* The mode of the socket does not depend on the umask. The socket's directory limits access. */
TEST(test_socket_mode)
{
	char folder[] = "/tmp/subtick-socket-XXXXXX", text[64], *path = text + strlen("unix:");
	mode_t was = umask(077);
	struct err err = {0};
	struct stat st;
	int fd;

	assert_non_null(mkdtemp(folder));
	snprintf(text, sizeof(text), "unix:%s/socket", folder);
	assert_int_equal(address_listen(text, &fd, &err), 0);
	assert_int_equal(umask(was), 077);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISSOCK(st.st_mode));
	assert_int_equal(st.st_mode & 0777, 0666);
	close(fd);
	unlink(path);
	rmdir(folder);
}

TEST(test_gzip)
{
	static const struct {
		const char *header;
		bool gzip;
	} rows[] = {
		{NULL, false},		  {"", false},		     {"gzip", true},
		{"deflate, GZIP", true},  {"gzip;q=0", false},	     {"gzip; q=0.000", false},
		{"gzip;q=0.1", true},	  {"*", true},		     {"*;q=0", false},
		{"identity", false},	  {"gzipped", false},	     {"*;q=0, gzip", true},
		{"gzip;q=0, *", false},	  {"gzip;x=1;q=0", false},   {"gzip;x=1; q=0.5;y=0", true},
		{"gzip;q=0;x=1", false},	  {"br;q=1.0, gzip;q=0.8", true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (request_accepts_gzip(rows[i].header) != rows[i].gzip)
			fail_msg("%s", rows[i].header ? rows[i].header : "(none)");
}

/* A Host header is accepted only if its name cannot belong to another web site. */
TEST(test_host)
{
	static const struct {
		const char *header;
		bool allowed;
	} rows[] = {
		{NULL, true},			{"", true},
		{"127.0.0.1", true},		{"127.0.0.1:7828", true},
		{"10.1.2.3:80", true},		{"[::1]", true},
		{"[::1]:7828", true},		{"[fe80::1%25eth0]:80", true},
		{"localhost", true},		{"LocalHost:7828", true},
		{"localhost.:80", true},	{"node1", true},
		{"Node1.Example:7828", true},	{"node1.example.", true},
		{"evil.example", false},	{"evil.example:7828", false},
		{"localhost.evil.example", false}, {"127.0.0.1.evil.example", false},
		{"node1.example.evil", false},	{"node1.exam", false},
		{"node", false},		{"node1,node1.example", false},
		{"127.0.0.1:80@evil", false},	{"evil:80:127.0.0.1", false},
		{"[::1].evil", false},		{"[::1", false},
		{"[]", false},			{"[evil]:80", false},
		{"[1:2:3:4:5:6:7:8:9:1:2:3:4:5:6:7:8:9:1:2:3:4:5:6:7:8:9]", false},
		{":80", false},			{".", false},
		{"127.1", false},		{"0x7f000001", false},
	};
	char longest[600];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (host_allowed("node1,node1.example", rows[i].header) != rows[i].allowed)
			fail_msg("%s", rows[i].header ? rows[i].header : "(none)");
	assert_false(host_allowed(NULL, "node1"));
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_false(host_allowed(longest, longest));
	assert_false(host_is_name(longest));
}

TEST(test_query)
{
	char value[8];

	assert_true(request_query("a=1&collect=load", "collect", value, sizeof(value)));
	assert_string_equal(value, "load");
	assert_true(request_query("collect=", "collect", value, sizeof(value)));
	assert_string_equal(value, "");
	assert_false(request_query("xcollect=load", "collect", value, sizeof(value)));
	assert_false(request_query("collector=load", "collect", value, sizeof(value)));
	assert_true(request_query("collector=x&collect=load", "collect", value, sizeof(value)));
	assert_string_equal(value, "load");
	assert_false(request_query("collect", "collect", value, sizeof(value)));
	assert_false(request_query("collect=12345678", "collect", value, sizeof(value)));
	assert_false(request_query(NULL, "collect", value, sizeof(value)));
}

/* Counter slots for cgroups beyond --cgroup-limit use at most half of the memory limit. */
TEST(test_slots_by_memory)
{
	const uint64_t limit = 128 << 20;
	struct runq_opts opts = {0};
	struct resources needs;
	struct config c;

	check_good("collect = load,runq,wake", &c);
	opts.reserve = c.cgroup_limit;
	opts.reserve_most = resources_most_cgroups(&c, 256, limit);
	/* The 5,000 counter slots for 4,000 cgroups would take 114 MB. */
	assert_true(runq_memory_bytes(5000, 256, false) > 114000000);
	assert_true(opts.reserve_most >= 1500 && opts.reserve_most <= 2500);
	needs = resources_compute(&c, 256);
	assert_true(needs.heap_bytes + runq_memory_bytes(runq_opts_reserve(&opts, 4000), 256, false) <=
		    limit / 2);
	assert_true(runq_memory_bytes(opts.reserve_most + 256, 256, false) + needs.heap_bytes +
			    256 * 16384 > limit / 2);
	/*
	 * Counter slots up to --cgroup-limit are always reserved. All slots are reserved if memory
	 * suffices.
	 */
	assert_int_equal(runq_opts_reserve(&opts, 100), 1000);
	assert_int_equal(runq_opts_reserve(&opts, 1200), 1500);
	opts.reserve_most = resources_most_cgroups(&c, 2, 8ULL << 30);
	assert_int_equal(runq_opts_reserve(&opts, 4000), 5000);
	assert_int_equal(resources_most_cgroups(&c, 256, 1 << 20), 1000);
	c.core_pairs = 1;
	assert_int_equal(resources_compute(&c, 256).map_bytes - needs.map_bytes, 2 * 16384 * 96);
	assert_true(resources_compute(&c, 256).heap_bytes > needs.heap_bytes + (2 << 20));
	config_free(&c);
}

/*
 * The default memory limit of the exporter's pod suffices for 128 CPUs with noise, and for 256 CPUs
 * without noise.
 */
TEST(test_room_for_noise)
{
	const uint64_t limit = 128 << 20;
	struct config c;

	check_good("cgroup-limit = 500", &c);
	assert_true(resources_have_room(&c, 128, limit));
	assert_false(resources_have_room(&c, 256, limit));
	c.no_room = 1u << CONFIG_COLLECT_noise;
	assert_true(resources_have_room(&c, 256, limit));
	assert_false(config_collects(&c, CONFIG_COLLECT_noise));
	assert_true(config_collects(&c, CONFIG_COLLECT_load));
	config_free(&c);
}

TEST_MAIN()
