/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Minimal amd64 guest that tests whether KVM works: prints a message on the serial port and halts.
 *
 * QEMU's firmware runs in real mode and starts this code in protected mode. The code sets up page tables, enters long
 * mode and reads a register of the local APIC, because an incomplete KVM fails at these steps ("emulation failure").
 * The code is not linked, so every address is computed from BASE.
 */
#define BASE	0x100000
#define TABLES	0x200000 /* PML4, PDPT, four page directories: identity map of the first 4 GiB */
#define AT(x)	((x) - header + BASE)

	.text
	.code32
header:
	/* Multiboot header with load addresses, because this file is not an ELF file. */
	.long 0x1BADB002, 0x10000, -(0x1BADB002 + 0x10000)
	.long BASE, BASE, AT(end), AT(end), AT(start)

start:
	cli
	mov $TABLES, %edi
	xor %eax, %eax
	mov $(6 * 4096 / 4), %ecx
	cld
	rep stosl
	movl $(TABLES + 0x1003), TABLES
	movl $(TABLES + 0x2003), TABLES + 0x1000
	movl $(TABLES + 0x3003), TABLES + 0x1008
	movl $(TABLES + 0x4003), TABLES + 0x1010
	movl $(TABLES + 0x5003), TABLES + 0x1018
	mov $(TABLES + 0x2000), %edi
	mov $0x83, %eax /* page flags: present, writable, 2 MiB */
	mov $2048, %ecx
1:	mov %eax, (%edi)
	add $0x200000, %eax
	add $8, %edi
	loop 1b

	mov %cr4, %eax
	or $0x20, %eax /* PAE */
	mov %eax, %cr4
	mov $TABLES, %eax
	mov %eax, %cr3
	mov $0xC0000080, %ecx
	rdmsr
	or $0x100, %eax /* EFER.LME */
	wrmsr
	mov %cr0, %eax
	or $0x80000000, %eax /* PG */
	mov %eax, %cr0
	lgdt AT(gdt_pointer)
	ljmp $8, $AT(long_mode)

	.code64
long_mode:
	mov $0xFEE00030, %ebx
	mov (%rbx), %eax /* version register of the local APIC */
	mov $AT(text), %esi
2:	mov $0x3FD, %edx
3:	in (%dx), %al
	test $0x20, %al /* bit: transmitter empty */
	jz 3b
	mov $0x3F8, %edx
	lodsb
	test %al, %al
	jz 4f
	out %al, (%dx)
	jmp 2b
4:	cli
	hlt
	jmp 4b

	.balign 8
gdt:
	.quad 0, 0x00209A0000000000 /* null segment, 64-bit code segment */
gdt_pointer:
	.word 15
	.long AT(gdt)
text:
	.asciz "subtick-vm: the probe runs\r\n"
end:
