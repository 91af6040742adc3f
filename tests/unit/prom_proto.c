/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests the protobuf format of Prometheus: native histograms, exact numbers, and large pages. The
 * expected bytes of the histograms were written by hand from the message definitions. The golden
 * test decodes a page with every metric family.
 */
#include "view/prom.h"

#include "oom.h"
#include "series_table.h"

struct page {
	unsigned char data[1 << 20];
	size_t len;
};

static int collect(void *arg, const char *data, size_t len)
{
	struct page *page = arg;

	assert_true(page->len + len <= sizeof(page->data));
	memcpy(page->data + page->len, data, len);
	page->len += len;
	return 0;
}

static int write_page(struct page *ret_page)
{
	static struct prom prom;

	ret_page->len = 0;
	prom = (struct prom){.format = PROM_PROTOBUF, .sink = collect, .arg = ret_page};
	prom_write(&prom, &s, &table);
	return prom_end(&prom);
}

static const struct page *render(void)
{
	static struct page page;

	assert_int_equal(write_page(&page), 0);
	return &page;
}

/* Compares only the bytes of a page after the name and the help text. */
#define ENDS(page, bytes)                                                                         \
	do {                                                                                      \
		assert_true((page)->len >= sizeof(bytes) - 1);                                    \
		assert_memory_equal((page)->data + (page)->len - (sizeof(bytes) - 1), bytes,      \
				    sizeof(bytes) - 1);                                           \
	} while (0)

/* Numbers equal the doubles that a parser reads from the text page. */
TEST(test_nearest)
{
	double got;

	begin(F_UPDATE_TIME, NULL, 0);
	add_pairs(NULL, 0);
	for (uint64_t ns = 1794798878425460315; ns < 1794798878425460315 + 4000000; ns += 977) {
		const struct page *page;
		char text[32];

		table.rows[0]->words->u64 = ns;
		page = render();
		memcpy(&got, page->data + page->len - sizeof(got), sizeof(got));
		snprintf(text, sizeof(text), "%llu.%09llu", (unsigned long long)ns / 1000000000,
			 (unsigned long long)ns % 1000000000);
		if (memcmp(&got, &(double){strtod(text, NULL)}, sizeof(got)))
			fail_msg("%s s is %.9f", text, got);
	}
	series_free(&table);
}

/*
 * Makes a native histogram from cumulative counts: 3 waits in the zero bucket, 0 and 4 waits in the
 * next buckets, 300 waits above the last boundary.
 */
TEST(test_coarse)
{
	static const uint64_t le[] = {250000000, 500000000, 1000000000};
	union word *words;

	begin(F_RUNQ, le, 3);
	s.native = (struct series_native){.schema = 0, .first = -1, .nr = 3};
	words = add_pairs(NULL, 0)->words;
	words[0].u64 = words[1].u64 = 3;
	words[2].u64 = 7;
	words[3].u64 = 307;
	words[4].u64 = 1500000000;
	ENDS(render(), "\x18\x04"
			 "\x22\x4d\x3a\x4b"
			 "\x08\xb3\x02"				    /* count 307 */
			 "\x11\x00\x00\x00\x00\x00\x00\xf8\x3f"	    /* sum 1.5 */
			 /* cumulative count: 3 waits up to 0.25 s */
			 "\x1a\x0b\x08\x03\x11\x00\x00\x00\x00\x00\x00\xd0\x3f"
			 /* cumulative count: 3 waits up to 0.5 s */
			 "\x1a\x0b\x08\x03\x11\x00\x00\x00\x00\x00\x00\xe0\x3f"
			 /* cumulative count: 7 waits up to 1 s */
			 "\x1a\x0b\x08\x07\x11\x00\x00\x00\x00\x00\x00\xf0\x3f"
			 "\x28\x00"				    /* schema 0 */
			 "\x31\x00\x00\x00\x00\x00\x00\xd0\x3f"	    /* zero bucket up to 0.25 s */
			 "\x38\x03"				    /* with 3 waits */
			 /* span of two native buckets, starting at index 0 */
			 "\x62\x04\x08\x00\x10\x02"
			 /* differences of successive bucket counts: 4, 296 */
			 "\x6a\x03\x08\xd0\x04");
	series_free(&table);
}

/*
 * A span is a list of consecutive buckets. A gap of two empty buckets is filled with zeros, and a
 * gap of three empty buckets begins a new span.
 */
TEST(test_fine)
{
	union word *words;

	begin(F_RUNQ, NULL, 0);
	s.native = (struct series_native){.schema = 3, .first = -7, .nr = 20, .at = 2};
	words = add_pairs(NULL, 0)->words;
	ENDS(render(), "\x08\x00\x11\x00\x00\x00\x00\x00\x00\x00\x00"
			 "\x28\x06\x31\x00\x00\x00\x00\x00\x00\xe0\x3f\x38\x00");
	words[0].u64 = 13;
	words[2].u64 = 1;	/* zero bucket */
	words[2 + 3].u64 = 5;	/* index -5 */
	words[2 + 6].u64 = 2;	/* -2 */
	words[2 + 10].u64 = 4;	/* 2 */
	words[2 + 20].u64 = 1;	/* 12 */
	ENDS(render(), "\x08\x0d\x11\x00\x00\x00\x00\x00\x00\x00\x00"
			 "\x28\x06\x31\x00\x00\x00\x00\x00\x00\xe0\x3f\x38\x01"
			 "\x62\x04\x08\x09\x10\x04" /* span of 4 buckets from index -5 */
			 "\x62\x04\x08\x06\x10\x01" /* span of 1 bucket, after 3 empty buckets */
			 "\x62\x04\x08\x12\x10\x01" /* span of 1 bucket, after 9 empty buckets */
			 /* differences of successive bucket counts: 5, -5, 0, 2, 2, -3 */
			 "\x6a\x06\x0a\x09\x00\x04\x04\x05");
	series_free(&table);
}

/*
 * The page needs several blocks of memory. The length prefix of a metric family covers all its
 * rows.
 */
TEST(test_blocks)
{
	const struct page *page;
	size_t len = 0;
	unsigned int i = 0;
	char kind[400];

	begin(F_LOSS, NULL, 0);
	for (unsigned int row = 0; row < 3000; row++) {
		snprintf(kind, sizeof(kind), "%0*u", 1 + (int)row % 300, row);
		ADD(LABEL("kind", kind));
	}
	page = render();
	do
		len |= (size_t)(page->data[i] & 0x7f) << 7 * i;
	while (page->data[i++] & 0x80);
	assert_int_equal(len + i, page->len);
	assert_true(page->len > 2 * sizeof(((struct prom *)0)->block));
	series_free(&table);
}

TEST(test_memory)
{
	static struct page page;
	unsigned long failed;
	int rc;

	begin(F_UP, NULL, 0);
	ADD(LABEL("collector", "runq"));
	for (unsigned long at = 0; at < 20; at++) {
		oom_arm(at, false);
		rc = write_page(&page);
		failed = oom_disarm();
		assert_int_equal(rc, failed ? -ENOMEM : 0);
		if (failed)
			assert_int_equal(page.len, 0);
	}
	series_free(&table);
}

TEST_MAIN()
