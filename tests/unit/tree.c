/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Creates and removes the simulated machines of the unit tests. */
#include "tree.h"

#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static void die(const char *what, const char *path)
{
	fprintf(stderr, "tree: %s %s: %s\n", what, path, strerror(errno));
	exit(1);
}

int tree_setup(void **state)
{
	struct tree *tree = calloc(1, sizeof(*tree));
	/* Thousands of directories would take seconds on a disk. */
	const char *tmp = getenv("TMPDIR") ?: access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";

	if (!tree)
		return -1;
	if (snprintf(tree->root, sizeof(tree->root), "%s/subtick-XXXXXX", tmp) >=
	    (int)sizeof(tree->root))
		strcpy(tree->root, "/tmp/subtick-XXXXXX");
	if (!mkdtemp(tree->root))
		die("mkdtemp", tree->root);
	*state = tree;
	return 0;
}

static int tree_unlink(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

int tree_teardown(void **state)
{
	struct tree *tree = *state;
	int rc = nftw(tree->root, tree_unlink, 16, FTW_DEPTH | FTW_PHYS);

	free(tree);
	return rc;
}

static void tree_path(const struct tree *tree, const char *path, char *full)
{
	char *slash;

	if (snprintf(full, PATH_MAX, "%s%s", tree->root, path) >= PATH_MAX)
		die("path", path);
	for (slash = strchr(full + strlen(tree->root) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(full, 0755) && errno != EEXIST)
			die("mkdir", full);
		*slash = '/';
	}
}

void tree_bytes(const struct tree *tree, const char *path, const void *bytes, size_t len)
{
	char full[PATH_MAX];
	FILE *file;

	tree_path(tree, path, full);
	file = fopen(full, "w");
	if (!file || fwrite(bytes, 1, len, file) != len || fclose(file))
		die("write", full);
}

void tree_file(const struct tree *tree, const char *path, const char *text)
{
	tree_bytes(tree, path, text, strlen(text));
}

void tree_link(const struct tree *tree, const char *path, const char *target)
{
	char full[PATH_MAX];

	tree_path(tree, path, full);
	if ((unlink(full) && errno != ENOENT) || symlink(target, full))
		die("symlink", full);
}

void tree_remove(const struct tree *tree, const char *path)
{
	char full[PATH_MAX];

	tree_path(tree, path, full);
	if (nftw(full, tree_unlink, 16, FTW_DEPTH | FTW_PHYS))
		die("remove", full);
}
