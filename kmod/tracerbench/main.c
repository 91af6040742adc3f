// SPDX-License-Identifier: GPL-2.0
/*
 * Module tracerbench: measures in cycles the cost of disabling and enabling interrupts and
 * preemption.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/init.h>
#include <linux/module.h>
#include <linux/timex.h>

#include "tracerbench.h"

/* Returns false if get_cycles() always returns 0, as on some architectures. */
static bool has_cycle_counter(void)
{
	cycles_t before = get_cycles();

	udelay(50);
	return get_cycles() != before;
}

static int __init tracerbench_init(void)
{
	int err;

	if (!has_cycle_counter()) {
		pr_err("this machine has no cycle counter that get_cycles() can read\n");
		return -ENODEV;
	}
	err = tb_files_create();
	if (err)
		pr_err("cannot create the debugfs tree: error %d\n", err);
	return err;
}

static void __exit tracerbench_exit(void)
{
	tb_files_remove();
}

module_init(tracerbench_init);
module_exit(tracerbench_exit);

MODULE_DESCRIPTION("Latency of irq and preempt disable/enable pairs, per CPU, in cycles");
MODULE_AUTHOR("The subtick authors");
MODULE_LICENSE("GPL");
MODULE_VERSION("1.0.0");
