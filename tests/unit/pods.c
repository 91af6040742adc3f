/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests names of pods and containers from kubelet's log directories. */
#include "test.h"

#include <sys/stat.h>
#include <unistd.h>

#include "pods/name.h"
#include "pods/pods.h"
#include "pods/table.h"
#include "tree.h"

#define UID    "0a1b2c3d-4e5f-6789-abcd-ef0123456789"
#define STATIC "0123456789abcdef0123456789abcdef"
#define ID     "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static void check_text(struct pod_text text, const char *want)
{
	assert_int_equal(text.len, strlen(want));
	assert_memory_equal(text.at, want, text.len);
}

TEST(directories)
{
	struct pod_name name;

	assert_true(pod_name_of_dir("shop_web-7d9_" UID, &name));
	check_text(name.namespace, "shop");
	check_text(name.pod, "web-7d9");
	check_text(name.uid, UID);
	/* The UID of a static pod is a hash. Names of pods can contain dots. */
	assert_true(pod_name_of_dir("kube-system_etcd.node-1_" STATIC, &name));
	check_text(name.pod, "etcd.node-1");
	check_text(name.uid, STATIC);
}

TEST(directories_refused)
{
	static const char *const files[] = {
		"", "_", "__", "shop", "shop_web", "shop_web_", "_web_" UID, "shop__" UID,
		"shop_web_" UID "x", "shop_web_" STATIC "0", "shop_web_x_" UID, "shop_web" UID,
		"Shop_web_" UID, "shop_we\nb_" UID, "shop_we\"b_" UID, "shop_\033[31m_" UID,
		"shop_we b_" UID, "shop_-web_" UID, "shop_web-_" UID, "sh.op_web_" UID,
		"shop_w\xc3\xa9_" UID, "../x_web_" UID, "shop_web_0a1b2c3d-4e5f-6789-abcd-ef012345678G",
		"shop_web_0a1b2c3d44e5f46789-abcd-ef0123456789",
	};
	struct pod_name name;
	char *huge = malloc(65537);

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (pod_name_of_dir(files[i], &name))
			fail_msg("accepted: %s", files[i]);
	memset(huge, 'a', 65536);
	huge[65536] = '\0';
	assert_false(pod_name_of_dir(huge, &name));
	memcpy(huge, "shop_", 5);
	strcpy(huge + 65536 - strlen("_" UID), "_" UID);
	assert_false(pod_name_of_dir(huge, &name));
	free(huge);
}

TEST(links)
{
	char file[300], pod[200];
	struct pod_name name;

	assert_true(pod_name_of_link("web-7d9_shop_nginx-proxy-" ID ".log", &name));
	check_text(name.namespace, "shop");
	check_text(name.pod, "web-7d9");
	check_text(name.container, "nginx-proxy");
	check_text(name.id, ID);
	assert_false(name.cut);
	/* kubelet cuts a log link's name before .log to 255 bytes. */
	memset(pod, 'p', sizeof(pod));
	snprintf(file, sizeof(file), "%.180s_shop_nginx-%.59s.log", pod, ID);
	assert_int_equal(strlen(file), 255);
	assert_true(pod_name_of_link(file, &name));
	assert_true(name.cut);
	assert_int_equal(name.id.len, 59);
}

TEST(links_refused)
{
	static const char *const files[] = {
		"", ".log", "web_shop_nginx-" ID, "web_shop_nginx-" ID "0.log", "web_shop_nginx.log",
		"web_shop_nginx-00112233445566778899.log", "web_shop_-" ID ".log",
		"web_nginx-" ID ".log", "web_shop_x_nginx-" ID ".log", "web_SHOP_nginx-" ID ".log",
		"web_shop_ngi\nnx-" ID ".log", "web_shop_ngi\033nx-" ID ".log",
	};
	struct pod_name name;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (pod_name_of_link(files[i], &name))
			fail_msg("accepted: %s", files[i]);
}

static void path_of(const struct tree *tree, const char *dir, const char *file, char buf[512])
{
	snprintf(buf, 512, "%s/var/log/%s/%s", tree->root, dir, file);
}

static void make_pod(const struct tree *tree, const char *file)
{
	char path[512];

	path_of(tree, "pods", file, path);
	assert_int_equal(mkdir(path, 0755), 0);
}

static void remove_pod(const struct tree *tree, const char *file)
{
	char path[512];

	path_of(tree, "pods", file, path);
	assert_int_equal(rmdir(path), 0);
}

static struct pods *open_names(const struct tree *tree)
{
	struct pods *pods;

	/* tree_file() also creates the directories /var/log/pods and /var/log/containers. */
	tree_file(tree, "/var/log/pods/README", "");
	tree_file(tree, "/var/log/containers/README", "");
	assert_int_equal(pods_open(tree->root, -1, &pods), 0);
	return pods;
}

static void check_names(const struct pods *pods, const char *uid, const char *id,
			const char *namespace, const char *pod, const char *container)
{
	struct pods_names names;

	pods_find(pods, uid, id, &names);
	assert_string_equal(names.namespace ? names.namespace : "", namespace);
	assert_string_equal(names.pod ? names.pod : "", pod);
	assert_string_equal(names.container ? names.container : "", container);
}

TREE_TEST(come_and_go)
{
	struct pods *pods = open_names(tree);

	assert_int_equal(pods_generation(pods), 0);
	make_pod(tree, "shop_web_" UID);
	tree_link(tree, "/var/log/containers/web_shop_nginx-" ID ".log", "/nowhere");
	check_names(pods, UID, ID, "", "", "");
	pods_refresh(pods);
	check_names(pods, UID, ID, "shop", "web", "nginx");
	/* A pause container has no link to its log, and a pod has no container name. */
	check_names(pods, UID, STATIC STATIC, "shop", "web", "");
	check_names(pods, UID, NULL, "shop", "web", "");
	check_names(pods, NULL, ID, "shop", "web", "nginx");
	check_names(pods, STATIC, NULL, "", "", "");
	/* The waits of a removed pod may be reported after its log directory was deleted. */
	remove_pod(tree, "shop_web_" UID);
	pods_refresh(pods);
	check_names(pods, UID, ID, "shop", "web", "nginx");
	pods_close(pods);
	make_pod(tree, "shop_web_" UID);
	assert_int_equal(pods_open(tree->root, -1, &pods), 0);
	check_names(pods, UID, NULL, "shop", "web", "");
	pods_close(pods);
}

TREE_TEST(no_kubelet)
{
	struct pods *pods;

	assert_int_equal(pods_open(tree->root, -1, &pods), 0);
	pods_refresh(pods);
	check_names(pods, UID, ID, "", "", "");
	pods_close(pods);
	check_names(NULL, UID, ID, "", "", "");
	pods_refresh(NULL);
	pods_close(NULL);
}

/* A file, a link or a FIFO in place of a directory does not count as a pod and is not opened. */
TREE_TEST(other_types)
{
	struct pods *pods;
	char path[512];

	tree_link(tree, "/var/log/pods/shop_link_" UID, "/");
	tree_file(tree, "/var/log/pods/shop_file_" STATIC, "text");
	path_of(tree, "containers", "web_shop_fifo-" ID ".log", path);
	tree_file(tree, "/var/log/containers/README", "");
	assert_int_equal(mkfifo(path, 0644), 0);
	assert_int_equal(pods_open(tree->root, -1, &pods), 0);
	assert_int_equal(pods_generation(pods), 0);
	path_of(tree, "pods", "shop_fifo_" STATIC, path);
	assert_int_equal(mkfifo(path, 0644), 0);
	tree_file(tree, "/var/log/containers/web_shop_file-" ID ".log", "text");
	pods_refresh(pods);
	assert_int_equal(pods_generation(pods), 0);
	pods_close(pods);
}

/*
 * If the log directories have two names for one pod UID, no name is shown, because one of the names
 * is wrong.
 */
TREE_TEST(contradictions)
{
	struct pods *pods = open_names(tree);

	make_pod(tree, "shop_web_" UID);
	make_pod(tree, "bank_web_" UID);
	make_pod(tree, "bank_db_" STATIC);
	tree_link(tree, "/var/log/containers/web_shop_nginx-" ID ".log", "/nowhere");
	pods_refresh(pods);
	check_names(pods, UID, NULL, "", "", "");
	check_names(pods, STATIC, ID, "bank", "db", "");
	pods_close(pods);
}

TREE_TEST(cut_ids)
{
	struct pods *pods = open_names(tree);
	char pod[181], file[300], path[512];

	memset(pod, 'p', 180);
	pod[180] = '\0';
	snprintf(file, sizeof(file), "shop_%s_" STATIC, pod);
	make_pod(tree, file);
	snprintf(path, sizeof(path), "/var/log/containers/%s_shop_nginx-%.59s.log", pod, ID);
	tree_link(tree, path, "/nowhere");
	pods_refresh(pods);
	check_names(pods, STATIC, ID, "shop", pod, "nginx");
	/*
	 * A truncated container ID matches only containers of the same pod whose ID begins with the
	 * truncated ID.
	 */
	check_names(pods, UID, ID, "", "", "");
	check_names(pods, NULL, ID, "", "", "");
	check_names(pods, STATIC, STATIC STATIC, "shop", pod, "");
	pods_close(pods);
}

TREE_TEST(directory_replaced)
{
	struct pods *pods = open_names(tree);
	char from[512], to[512];

	snprintf(from, sizeof(from), "%s/var/log/pods", tree->root);
	snprintf(to, sizeof(to), "%s/var/log/old", tree->root);
	assert_int_equal(rename(from, to), 0);
	pods_refresh(pods);
	assert_int_equal(mkdir(from, 0755), 0);
	make_pod(tree, "shop_web_" UID);
	pods_refresh(pods);
	check_names(pods, UID, NULL, "", "", "");
	pods_retry(pods);
	check_names(pods, UID, NULL, "shop", "web", "");
	pods_close(pods);
}

TEST(many)
{
	struct pod_table table = {0};
	char key[40];

	for (unsigned int i = 0; i < 20000; i++) {
		struct pod_name name = {.namespace = {"ns", 2}, .pod = {key, 0}};

		name.pod.len = snprintf(key, sizeof(key), "pod-%u", i);
		pod_table_add(&table, name.pod, &name);
		if (i >= 100) {
			char old[40];
			int len = snprintf(old, sizeof(old), "pod-%u", i - 100);

			pod_table_leave(&table, (struct pod_text){old, len});
		}
		assert_true(table.nr <= 100 + 4097 + 1);
	}
	for (unsigned int i = 19900; i < 20000; i++) {
		const struct pod_table_names *names;

		snprintf(key, sizeof(key), "pod-%u", i);
		names = pod_table_find(&table, key);
		assert_non_null(names);
		assert_string_equal(names->pod, key);
	}
	assert_null(pod_table_find(&table, "pod-0"));
	pod_table_free(&table);
}

TEST_MAIN()
