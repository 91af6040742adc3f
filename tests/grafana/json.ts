/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Grafana's types as stored in a JSON file. An enum is stored as its value, and minus infinity (the
 * start of the first step) is stored as null.
 */
export type Json<T> = T extends string
	? `${T}`
	: T extends (infer U)[]
		? Json<U>[]
		: T extends object
			? {[K in keyof T]: Json<T[K]> | (K extends "value" ? null : never)}
			: T;
