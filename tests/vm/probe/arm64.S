/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Minimal arm64 guest that tests whether KVM works: prints a message on the serial port and halts.
 *
 * QEMU loads this code as a flat binary and starts it with the MMU off. The serial port is the
 * PL011 of `-M virt`.
 */
	.text
	adr x1, text
	mov x2, #0x09000000
1:	ldr w3, [x2, #0x18] /* flag register; bit 5: transmitter full */
	tbnz w3, #5, 1b
	ldrb w0, [x1], #1
	cbz w0, 2f
	str w0, [x2]
	b 1b
2:	wfi
	b 2b
text:
	.asciz "subtick-vm: the probe runs\r\n"
	.balign 4
