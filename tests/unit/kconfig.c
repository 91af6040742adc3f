/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finding and reading the kernel's configuration. */
#include "host/kernel.h"

#include <zlib.h>

#include "test.h"
#include "tree.h"

static const char sample[] = "#\n# Automatically generated file; DO NOT EDIT.\n#\n"
			     "CONFIG_HZ_250=y\n# CONFIG_HZ_100 is not set\nCONFIG_HZ=250\n"
			     "CONFIG_VETH=m\nCONFIG_LOCALVERSION=\"-rt\"\nCONFIG_EMPTY=\"\"\n"
			     "CONFIG_ODD=n\nCONFIG_LAST=0x10";

TEST(test_parse)
{
	char buf[8];

#define GET(symbol) kconfig_parse(sample, strlen(sample), symbol, buf, sizeof(buf))
	assert_int_equal(GET("HZ_250"), KCONFIG_YES);
	assert_int_equal(GET("HZ_100"), KCONFIG_NO);
	assert_int_equal(GET("VETH"), KCONFIG_MODULE);
	assert_int_equal(GET("ODD"), KCONFIG_NO);
	assert_int_equal(GET("NEVER_HEARD"), KCONFIG_NO);
	assert_int_equal(GET("HZ"), KCONFIG_VALUE);
	assert_string_equal(buf, "250");
	assert_int_equal(GET("LOCALVERSION"), KCONFIG_VALUE);
	assert_string_equal(buf, "-rt");
	assert_int_equal(GET("EMPTY"), KCONFIG_VALUE);
	assert_string_equal(buf, "");
	assert_int_equal(GET("LAST"), KCONFIG_VALUE);
	assert_string_equal(buf, "0x10");
	/* A prefix of a symbol does not match. */
	assert_int_equal(GET("H"), KCONFIG_NO);
	assert_int_equal(GET("HZ_25"), KCONFIG_NO);
	assert_int_equal(kconfig_parse(sample, strlen(sample), "HZ", buf, 3), KCONFIG_UNKNOWN);
	assert_int_equal(kconfig_parse("", 0, "HZ", buf, sizeof(buf)), KCONFIG_NO);
	assert_int_equal(kconfig_parse("CONFIG_HZ=", 10, "HZ", buf, sizeof(buf)), KCONFIG_VALUE);
	assert_string_equal(buf, "");
	assert_int_equal(kconfig_parse("CONFIG_HZ=\"", 11, "HZ", buf, sizeof(buf)), KCONFIG_VALUE);
	assert_string_equal(buf, "\"");
#undef GET
}

static size_t deflate_gz(const char *text, size_t len, unsigned char *out, size_t size)
{
	z_stream z = {0};

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (unsigned char *)text;
	z.avail_in = len;
	z.next_out = out;
	z.avail_out = size;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return size - z.avail_out;
}

TEST_WITH(test_places, tree_setup, tree_teardown)
{
	const struct tree *tree = *state;
	unsigned char gz[1024];
	struct kconfig config;
	size_t len;

	assert_int_equal(kconfig_open(&config, tree->root, "6.1.0"), -ENOENT);
	assert_int_equal(kconfig_get(&config, "HZ_250"), KCONFIG_UNKNOWN);
	kconfig_close(&config);
	tree_file(tree, "/boot/config-6.1.1", sample);
	assert_int_equal(kconfig_open(&config, tree->root, "6.1.0"), -ENOENT);
	tree_file(tree, "/lib/modules/6.1.0/config", sample);
	assert_int_equal(kconfig_open(&config, tree->root, "6.1.0"), 0);
	assert_string_equal(config.source, "/lib/modules/6.1.0/config");
	kconfig_close(&config);
	tree_file(tree, "/boot/config-6.1.0", "CONFIG_HZ_250=y\n");
	assert_int_equal(kconfig_open(&config, tree->root, "6.1.0"), 0);
	assert_string_equal(config.source, "/boot/config-6.1.0");
	kconfig_close(&config);
	len = deflate_gz(sample, strlen(sample), gz, sizeof(gz));
	tree_bytes(tree, "/proc/config.gz", gz, len);
	assert_int_equal(kconfig_open(&config, tree->root, "6.1.0"), 0);
	assert_string_equal(config.source, "/proc/config.gz");
	assert_int_equal(config.len, strlen(sample));
	assert_int_equal(kconfig_get(&config, "VETH"), KCONFIG_MODULE);
	kconfig_close(&config);
	/* A truncated or corrupt file is skipped, and the next one tried. */
	for (size_t cut = 1; cut < len; cut += 7) {
		tree_bytes(tree, "/proc/config.gz", gz, cut);
		assert_int_equal(kconfig_open(&config, tree->root, "6.1.0"), 0);
		assert_string_equal(config.source, "/boot/config-6.1.0");
		kconfig_close(&config);
	}
}

TEST_WITH(test_no_config, tree_setup, tree_teardown)
{
	const struct tree *tree = *state;
	char *zeros = calloc(1, 1 << 20);
	struct kconfig config;
	gzFile file;
	char path[128];

	tree_file(tree, "/proc/config.gz", "this is no configuration\n");
	assert_int_equal(kconfig_open(&config, tree->root, "x"), -EINVAL);
	assert_int_equal(kconfig_get(&config, "HZ"), KCONFIG_UNKNOWN);
	/* A compression bomb: 32 MiB of zeros in 32 KiB. */
	snprintf(path, sizeof(path), "%s/proc/config.gz", tree->root);
	file = gzopen(path, "wb");
	for (int i = 0; i < 32; i++)
		assert_int_equal(gzwrite(file, zeros, 1 << 20), 1 << 20);
	gzclose(file);
	assert_int_equal(kconfig_open(&config, tree->root, "x"), -EFBIG);
	free(zeros);
}

TEST_MAIN()
