/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests json_walk(), and names that are read from valid and hostile files of container runtimes. */
#include "test.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "pods/json_walk.h"
#include "pods/pods.h"
#include "pods/runtime_files.h"
#include "pods/runtime_name.h"
#include "tree.h"

#define UID  "0a1b2c3d-4e5f-6789-abcd-ef0123456789"
#define ID   "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define ID2  "ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define TASK "/run/containerd/io.containerd.runtime.v2.task/k8s.io/"
#define CRI  "io.kubernetes.cri."

#define OCI(namespace, pod, container)                                                           \
	"{\"ociVersion\":\"1.0.2\",\"process\":{\"env\":[\"" CRI "sandbox-name=no\"]},"                 \
	"\"annotations\":{\"" CRI "container-name\":\"" container "\",\"" CRI "image-name\":"        \
	"\"localhost/box:1\",\"" CRI "sandbox-name\":\"" pod "\",\"" CRI "sandbox-namespace\":\""    \
	namespace "\",\"" CRI "sandbox-uid\":\"" UID "\"}}"
#define SANDBOX                                                                                  \
	"{\"annotations\":{\"" CRI "container-type\":\"sandbox\",\"" CRI "sandbox-name\":\"web\",\"" \
	CRI "sandbox-namespace\":\"shop\",\"" CRI "sandbox-uid\":\"" UID "\"}}"

static char said[1024];

static void note(void *arg, struct pod_text id, const struct pod_name *name)
{
	size_t len = strlen(said);

	snprintf(said + len, sizeof(said) - len, "%.2s:%.*s/%.*s/%.*s@%.*s;", id.at,
		 (int)name->namespace.len, name->namespace.at ? name->namespace.at : "",
		 (int)name->pod.len, name->pod.at ? name->pod.at : "", (int)name->container.len,
		 name->container.at ? name->container.at : "", (int)name->image.len,
		 name->image.at ? name->image.at : "");
}

static void check(enum runtime_format format, const char *text, const char *want)
{
	said[0] = '\0';
	runtime_name_parse(format, (struct pod_text){ID, strlen(ID)}, text, strlen(text), note, NULL);
	assert_string_equal(said, want);
}

TEST(containerd)
{
	check(RUNTIME_OCI, OCI("shop", "web-1", "nginx"), "00:shop/web-1/nginx@localhost/box:1;");
	check(RUNTIME_OCI, SANDBOX, "00:shop/web/@;");
	check(RUNTIME_OCI, "{\"annotations\":{}}", "");
	check(RUNTIME_OCI, "{\"annotations\":{\"" CRI "sandbox-name\":\"web\"}}", "");
	check(RUNTIME_OCI, OCI("shop", "web\\\"} 1\\n", "nginx"), "");
	check(RUNTIME_OCI, OCI("shop", "web", "\\u001b[31m"), "");
	check(RUNTIME_OCI, OCI("shop", "web", "a\xff"), "");
	check(RUNTIME_OCI, OCI("Shop", "web", "nginx"), "");
	check(RUNTIME_OCI, OCI("shop", "web\",\"" CRI "sandbox-name\":\"db", "nginx"), "");
	check(RUNTIME_OCI, OCI("shop", "web", "nginx") "}", "");
	check(RUNTIME_OCI, "", "");
	/* A key with an expected name is ignored inside another object. */
	check(RUNTIME_OCI, "{\"a\":" OCI("shop", "web", "nginx") "}", "");
}

TEST(docker)
{
	check(RUNTIME_DOCKER,
	      "{\"ID\":\"" ID "\",\"Name\":\"/web_1\",\"Config\":{\"Image\":\"nginx:1.2\"}}",
	      "00://web_1@nginx:1.2;");
	check(RUNTIME_DOCKER, "{\"Name\":\"/web\",\"Config\":{\"Image\":\"a b\\n\"}}", "00://web@;");
	check(RUNTIME_DOCKER, "{\"ID\":\"" ID2 "\",\"Name\":\"/web\"}", "");
	check(RUNTIME_DOCKER, "{\"Name\":\"/we\\\"b\"}", "");
	check(RUNTIME_DOCKER, "{\"Name\":\"/\"}", "");
	check(RUNTIME_DOCKER, "{\"Config\":{\"Name\":\"/web\"}}", "");
	/* cri-dockerd gives containers names such as "k8s_nginx_web-1_shop_UID". */
	check(RUNTIME_DOCKER, "{\"Name\":\"/k8s_nginx_web-1_shop_" UID "_0\"}", "00:shop/web-1/nginx@;");
	check(RUNTIME_DOCKER, "{\"Name\":\"/k8s_POD_web-1_shop_" UID "_0\"}", "00:shop/web-1/@;");
	check(RUNTIME_DOCKER, "{\"Name\":\"/k8s_nginx_web-1_shop_0\"}", "");
	check(RUNTIME_DOCKER, "{\"Name\":\"/k8s_Nginx_web-1_shop_" UID "_0\"}", "");
}

#define ENTRY(id, name)                                                                           \
	"{\"id\":\"" id "\",\"names\":[\"" name "\",\"other\"],\"image\":\"c4\",\"metadata\":"           \
	"\"{\\\"image-name\\\":\\\"localhost/box:1\\\",\\\"name\\\":\\\"before\\\"}\"}"

/* First part of a container's JSON text, which ends inside the metadata object. */
#define LISTED	    "{\"id\":\"" ID "\",\"names\":[\"web\"],\"metadata\":\"{"
#define IMAGE(name) "\\\"image-name\\\":\\\"" name "\\\""

TEST(storage)
{
	char text[8192];

	check(RUNTIME_STORAGE, "[]", "");
	check(RUNTIME_STORAGE, "[" ENTRY(ID, "web") "," ENTRY(ID2, "db") "]",
	      "00://web@localhost/box:1;ff://db@localhost/box:1;");
	/* CRI-O gives containers names such as "k8s_nginx_web-1_shop_UID". */
	check(RUNTIME_STORAGE, "[" ENTRY(ID, "k8s_nginx_web-1_shop_" UID "_1") "]",
	      "00:shop/web-1/nginx@localhost/box:1;");
	/* Entries of containers without a valid id or name are skipped. Valid entries are kept. */
	check(RUNTIME_STORAGE, "[{\"names\":[\"x\"]}," ENTRY("0011", "y") "," ENTRY(ID, "a\\u0000b")
	      "," ENTRY(ID2, "db") "]", "ff://db@localhost/box:1;");
	check(RUNTIME_STORAGE, "[{\"id\":\"" ID "\",\"names\":[\"web\"],\"metadata\":\"{\"}]",
	      "00://web@;");
	/*
	 * The metadata of a container is ignored if it is too long, occurs twice, or has an unusual
	 * escape.
	 */
	check(RUNTIME_STORAGE, "[" LISTED IMAGE("\\u0061") "}\"}]", "00://web@;");
	check(RUNTIME_STORAGE, "[" LISTED IMAGE("a") "}\",\"metadata\":\"{}\"}]", "00://web@;");
	for (int spaces = 4078; spaces <= 4079; spaces++) {
		snprintf(text, sizeof(text), "[" LISTED IMAGE("a") "%*s}\"}]", spaces, "");
		check(RUNTIME_STORAGE, text, spaces == 4078 ? "00://web@a;" : "00://web@;");
	}
	check(RUNTIME_STORAGE, "[" ENTRY(ID, "web") ",", "");
	check(RUNTIME_STORAGE, "{\"a\":" ENTRY(ID, "web") "}", "");
}

static void check_names(const struct pods *pods, const char *uid, const char *id, const char *want)
{
	struct pods_names names;
	char text[512];

	pods_find(pods, uid, id, &names);
	snprintf(text, sizeof(text), "%s/%s/%s@%s", names.namespace ? names.namespace : "",
		 names.pod ? names.pod : "", names.container ? names.container : "",
		 names.image ? names.image : "");
	assert_string_equal(text, want);
}

TREE_TEST(come_and_go)
{
	struct pods *pods;
	char path[512];

	tree_file(tree, TASK ID "/config.json", OCI("shop", "web", "nginx"));
	assert_int_equal(pods_open(tree->root, -1, &pods), 0);
	assert_true(pods_present(pods));
	check_names(pods, UID, ID, "shop/web/nginx@localhost/box:1");
	check_names(pods, UID, NULL, "shop/web/@");
	check_names(pods, "0123456789abcdef0123456789abcdef", ID, "//@");
	/*
	 * A container runtime creates the directory of a container (here ID2), and then writes
	 * config.json in several parts.
	 */
	snprintf(path, sizeof(path), "%s" TASK ID2, tree->root);
	assert_int_equal(mkdir(path, 0700), 0);
	pods_refresh(pods);
	check_names(pods, NULL, ID2, "//@");
	tree_file(tree, TASK ID2 "/config.json", "{\"annotations\":{\"" CRI "sandbox-name\"");
	pods_refresh(pods);
	check_names(pods, NULL, ID2, "//@");
	tree_file(tree, TASK ID2 "/config.json", SANDBOX);
	pods_refresh(pods);
	check_names(pods, NULL, ID2, "shop/web/@");
	/* The log directory of kubelet has another name for the pod, so no name is shown. */
	tree_file(tree, "/var/log/pods/shop_db_" UID "/x", "");
	pods_retry(pods);
	check_names(pods, UID, ID, "//@");
	pods_close(pods);
}

/* Reads a valid file with @spaces leading spaces, and expects the names @want. */
static void check_size(const struct tree *tree, size_t spaces, const char *want)
{
	char *text = malloc(spaces + sizeof(SANDBOX));
	struct pods *pods;

	assert_non_null(text);
	memset(text, ' ', spaces);
	memcpy(text + spaces, SANDBOX, sizeof(SANDBOX));
	tree_file(tree, TASK ID2 "/config.json", text);
	assert_int_equal(pods_open(tree->root, -1, &pods), 0);
	check_names(pods, NULL, ID2, want);
	pods_close(pods);
	free(text);
}

/* Links, FIFOs and directories in place of a file are not opened, so that opening never blocks. */
TREE_TEST(hostile)
{
	struct pods *pods;
	char path[512];

	tree_file(tree, "/secret/config.json", OCI("shop", "web", "nginx"));
	tree_file(tree, TASK "README", "");
	tree_link(tree, TASK ID, "../../../../secret");
	tree_link(tree, TASK ID2 "/config.json", "../../../../../secret/config.json");
	assert_int_equal(pods_open(tree->root, -1, &pods), 0);
	check_names(pods, NULL, ID, "//@");
	check_names(pods, NULL, ID2, "//@");
	pods_close(pods);
	tree_remove(tree, TASK ID2 "/config.json");
	snprintf(path, sizeof(path), "%s" TASK ID2 "/config.json", tree->root);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(pods_open(tree->root, -1, &pods), 0);
	pods_refresh(pods);
	check_names(pods, NULL, ID2, "//@");
	pods_close(pods);
	tree_remove(tree, TASK ID2 "/config.json");
	check_size(tree, 1 << 20, "shop/web/@");
	check_size(tree, 5 << 20, "//@");
}

/* Reads the hostile file of container ID together with the valid file of container ID2. */
static void check_hostile(const struct tree *tree, const char *good)
{
	struct pods *pods;

	tree_file(tree, "/var/lib/docker/containers/" ID2 "/config.v2.json", good);
	assert_int_equal(pods_open(tree->root, -1, &pods), 0);
	pods_refresh(pods);
	check_names(pods, NULL, ID, "//@");
	check_names(pods, NULL, ID2, "//db@");
	pods_close(pods);
}

/* The container of a hostile file gets no name. Valid files are still read. */
TREE_TEST(hostile_state)
{
	static const char *const files[] = {
		"/var/lib/docker/containers/" ID "/config.v2.json",
		"/var/lib/containers/storage/overlay-containers/containers.json",
		"/var/lib/containers/storage/overlay-containers/volatile-containers.json",
	};
	static const char docker[] = "{\"Name\":\"/web\"}", list[] = "[" ENTRY(ID, "web") "]",
			  good[] = "{\"Name\":\"/db\"}";
	size_t deep = 1 << 20;
	char *brackets = malloc(deep + 1), path[512];
	int fd;

	assert_non_null(brackets);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", tree->root, files[i]);
		/* The hostile file is a link to a valid file, or a link to itself. */
		tree_file(tree, "/secret", i ? list : docker);
		tree_link(tree, files[i], i ? "../../../../../../secret" : "../../../../../secret");
		check_hostile(tree, good);
		tree_remove(tree, files[i]);
		tree_link(tree, files[i], strrchr(files[i], '/') + 1);
		check_hostile(tree, good);
		tree_remove(tree, files[i]);
		assert_int_equal(mkfifo(path, 0600), 0);
		check_hostile(tree, good);
		tree_remove(tree, files[i]);
		/* The hostile file is sparse: larger than any memory, but without disk space. */
		tree_file(tree, files[i], i ? list : docker);
		fd = open(path, O_WRONLY | O_CLOEXEC);
		assert_true(fd >= 0 && !ftruncate(fd, (off_t)1 << 40));
		close(fd);
		check_hostile(tree, good);
		/* The hostile file nests arrays and objects more deeply than any stack allows. */
		memset(brackets, '[', deep);
		brackets[deep] = '\0';
		tree_file(tree, files[i], brackets);
		check_hostile(tree, good);
		memset(brackets + deep / 2, ']', deep / 2);
		tree_file(tree, files[i], brackets);
		check_hostile(tree, good);
		for (size_t at = 0; at + 5 <= deep; at += 5)
			memcpy(brackets + at, "{\"a\":", 5);
		tree_file(tree, files[i], brackets);
		check_hostile(tree, good);
		/* The hostile name is a path, a label or an escape sequence. */
		tree_file(tree, files[i],
			  i ? "[" ENTRY(ID, "../../etc") "," ENTRY(ID, "a\\u001b[2J") "," ENTRY(ID, "a\\\",b=\\\"") "]"
			    : "{\"Name\":\"/../../etc\\u001b[2J\"}");
		check_hostile(tree, good);
		tree_remove(tree, files[i]);
	}
	free(brackets);
}

TREE_TEST(renamed)
{
	static const char list[] = "/var/lib/containers/storage/overlay-containers/containers.json";
	struct pods *pods;

	tree_file(tree, list, "[" ENTRY(ID, "web") "]");
	assert_int_equal(pods_open(tree->root, -1, &pods), 0);
	check_names(pods, NULL, ID, "//web@localhost/box:1");
	tree_remove(tree, list);
	tree_file(tree, list, "[" ENTRY(ID, "api") "," ENTRY(ID2, "db") "]");
	pods_refresh(pods);
	check_names(pods, NULL, ID, "//api@localhost/box:1");
	check_names(pods, NULL, ID2, "//db@localhost/box:1");
	pods_close(pods);
}

TREE_TEST(renamed_by_docker)
{
	static const char file[] = "/var/lib/docker/containers/" ID "/config.v2.json";
	char from[512], to[512];
	struct pods *pods;

	tree_file(tree, file, "{\"Name\":\"/web\"}");
	assert_int_equal(pods_open(tree->root, -1, &pods), 0);
	check_names(pods, NULL, ID, "//web@");
	for (int i = 0; i < 2; i++) {
		tree_file(tree, "/var/lib/docker/new", i ? "{\"Name\":\"/db\"}" : "{\"Name\":\"/api\"}");
		snprintf(from, sizeof(from), "%s/var/lib/docker/new", tree->root);
		snprintf(to, sizeof(to), "%s%s", tree->root, file);
		assert_int_equal(rename(from, to), 0);
		pods_refresh(pods);
		check_names(pods, NULL, ID, i ? "//db@" : "//api@");
	}
	/*
	 * The directory of the container is removed. The container keeps the name that was read
	 * last.
	 */
	tree_remove(tree, file);
	snprintf(to, sizeof(to), "%s/var/lib/docker/containers/" ID, tree->root);
	assert_int_equal(rmdir(to), 0);
	pods_refresh(pods);
	check_names(pods, NULL, ID, "//db@");
	pods_close(pods);
}

/* Another process opens the files and sends the descriptors to subtick. */
TREE_TEST(channel)
{
	struct pods *pods;
	char path[512];
	int pair[2], fd;

	tree_file(tree, "/file", OCI("shop", "web", "nginx"));
	snprintf(path, sizeof(path), "%s/file", tree->root);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(runtime_channel_send(pair[1], 0, ID, fd), 0);
	assert_int_equal(runtime_channel_send(pair[1], RUNTIME_NR_PLACES, NULL, -1), 0);
	assert_int_equal(pods_open(tree->root, pair[0], &pods), 0);
	check_names(pods, NULL, ID, "shop/web/nginx@localhost/box:1");
	assert_int_equal(runtime_channel_send(pair[1], 0, ID2, fd), 0);
	/* The sending process sends the descriptor of a socket, and then an invalid message. */
	assert_int_equal(runtime_channel_send(pair[1], 0, ID2, pair[1]), 0);
	assert_int_equal(send(pair[1], "x", 1, 0), 1);
	assert_int_equal(runtime_channel_send(pair[1], 0, ID, -1), 0);
	pods_refresh(pods);
	check_names(pods, NULL, ID2, "shop/web/nginx@localhost/box:1");
	check_names(pods, NULL, ID, "shop/web/nginx@localhost/box:1");
	close(pair[1]);
	pods_refresh(pods);
	pods_refresh(pods);
	check_names(pods, NULL, ID2, "shop/web/nginx@localhost/box:1");
	close(fd);
	pods_close(pods);
}

/* A container directory without a file is read again only a limited number of times. */
TREE_TEST(many_without_file)
{
	struct timespec begin, end;
	struct pods *pods;
	char path[512];

	tree_file(tree, TASK "file", "");
	for (int i = 0; i < 2000; i++) {
		snprintf(path, sizeof(path), "%s" TASK "%064x", tree->root, i);
		assert_int_equal(mkdir(path, 0755), 0);
	}
	tree_file(tree, TASK ID "/config.json", OCI("shop", "web", "nginx"));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	assert_int_equal(pods_open(tree->root, -1, &pods), 0);
	for (int i = 0; i < 10; i++)
		pods_refresh(pods);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	check_names(pods, NULL, ID, "shop/web/nginx@localhost/box:1");
	assert_true(end.tv_sec - begin.tv_sec <= 2);
	pods_close(pods);
}

/* Appends "key.key=value;" to said[]. The key of an array member is its index. */
static void note_place(void *arg, const struct json_path *place, struct pod_text value)
{
	size_t len = strlen(said);

	for (size_t i = 0; i < place->depth; i++)
		len += place->key[i].at
			       ? snprintf(said + len, sizeof(said) - len, "%.*s.",
					  (int)place->key[i].len, place->key[i].at)
			       : snprintf(said + len, sizeof(said) - len, "%zu.", place->index[i]);
	snprintf(said + len, sizeof(said) - len, "=%.*s;", (int)value.len, value.at);
}

static int walk(const char *text)
{
	said[0] = '\0';
	return json_walk(text, strlen(text), note_place, NULL);
}

TEST(places_in_json)
{
	assert_int_equal(walk(" {\"a\": \"1\", \"b\": {\"c\": [\"x\", 2, {\"d\": \"y\"}], \"e\": []},"
			      "\"f\": {}, \"g\": null, \"h\": [[\"z\"]]} \n"),
			 0);
	assert_string_equal(said, "a.=1;b.c.0.=x;b.c.2.d.=y;h.0.0.=z;");
	assert_int_equal(walk("\"alone\""), 0);
	assert_string_equal(said, "=alone;");
	assert_int_equal(walk("[\"\", \"\\\"\\u0041\"]"), 0);
	assert_string_equal(said, "0.=;1.=\\\"\\u0041;");
}

TEST(not_json)
{
	static const char *const texts[] = {
		"", " ", "{", "[", "}", "{]", "[}", "{\"a\"}", "{\"a\":}", "{\"a\" \"b\"}", "{a:1}",
		"{\"a\":1,}", "[1,]", "[,1]", "[1 2]", "\"", "\"\\\"", "\"\\x\"", "\"\\u12g4\"",
		"\"\\u123\"", "\"\n\"", "\"\x01\"", "tru", "nul", "01", "1.", ".5", "+1", "1e", "1e+",
		"--1", "1 1", "{} {}", "\"\xff\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "\"\xe2\x82\"",
		"\"\xf4\x90\x80\x80\"", "\"\xf8\x88\x80\x80\x80\"", "'a'", "[\"a\"]x", "\xef\xbb\xbf{}",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (!walk(texts[i]))
			fail_msg("accepts %s", texts[i]);
	assert_int_equal(json_walk("{}\0", 3, note_place, NULL), -EINVAL);
}

TEST(depth_of_json)
{
	char text[2 * JSON_WALK_DEPTH + 8];

	for (int depth = JSON_WALK_DEPTH; depth <= JSON_WALK_DEPTH + 1; depth++) {
		memset(text, '[', depth);
		memset(text + depth, ']', depth);
		text[2 * depth] = '\0';
		assert_int_equal(walk(text), depth == JSON_WALK_DEPTH ? 0 : -EINVAL);
	}
}

static void ignore(void *arg, const struct json_path *place, struct pod_text value)
{
}

/* jansson and json_walk() accept the same randomly changed texts. */
TEST(as_jansson)
{
	static const char seed[] = "{\"a\":[1,-2.5e3,\"x\\u00e9\\n\",true,null,{\"b\":{}}],\"\\\"\":\"\"}";
	static const char bytes[] = "{}[]\",:\\u0aeE+-.1 \n\xc3\xa9tfn";
	unsigned int accepted = 0;

	srand(1);
	for (int i = 0; i < 20000; i++) {
		char text[sizeof(seed)];
		json_t *json;

		memcpy(text, seed, sizeof(seed));
		for (int change = rand() % 3; change >= 0; change--)
			text[rand() % (sizeof(seed) - 1)] = bytes[rand() % (sizeof(bytes) - 1)];
		json = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
		/*
		 * json_walk() may accept two kinds of text that jansson refuses: half a surrogate
		 * pair, and numbers beyond the range of a double.
		 */
		if (json) {
			accepted++;
			if (json_walk(text, strlen(text), ignore, NULL))
				fail_msg("refuses %s", text);
		} else if (!json_walk(text, strlen(text), ignore, NULL) && !strstr(text, "\\u") &&
			   !strpbrk(text, "eE")) {
			fail_msg("accepts %s", text);
		}
		json_decref(json);
	}
	assert_true(accepted > 100);
}

TEST_MAIN()
