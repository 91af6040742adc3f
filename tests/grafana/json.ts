/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Grafana's types as they are in a file: an enum is its value, and minus infinity, where steps begin, is null. */
export type Json<T> = T extends string
	? `${T}`
	: T extends (infer U)[]
		? Json<U>[]
		: T extends object
			? {[K in keyof T]: Json<T[K]> | (K extends "value" ? null : never)}
			: T;
