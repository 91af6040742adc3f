/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the build configuration of the guest's kernel. */
#include "configured.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include "live.h"
#include "host/file.h"
#include "host/kernel.h"

static void open_config(struct kconfig *config)
{
	struct utsname name;

	uname(&name);
	if (kconfig_open(config, NULL, name.release))
		live_fail_all("the guest lacks its kernel's configuration");
}

int configured_hz(void)
{
	struct kconfig config = {0};
	char value[16];

	open_config(&config);
	if (kconfig_value(&config, "HZ", value, sizeof(value)) != KCONFIG_VALUE)
		live_fail_all("the kernel's configuration has no HZ");
	kconfig_close(&config);
	return atoi(value);
}

bool configured_with(const char *symbol)
{
	struct kconfig config = {0};
	bool on;

	open_config(&config);
	on = kconfig_get(&config, symbol) == KCONFIG_YES;
	kconfig_close(&config);
	return on;
}

const char *configured_regime(unsigned int cpu)
{
	uint64_t full;

	/* The test guests have at most one nohz_full core. */
	if (!sys_read_u64(NULL, "/sys/devices/system/cpu/nohz_full", &full) && full == cpu)
		return "virt-gen";
	return configured_with("IRQ_TIME_ACCOUNTING") ? "irqtime" : "tick";
}
