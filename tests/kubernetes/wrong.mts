/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests that the TypeScript compiler rejects a misspelt key. If the compiler accepts hostPid below,
 * compiling this file fails.
 */
import type {IDaemonSet} from "kubernetes-models/apps/v1";

export const wrong: IDaemonSet = {
	apiVersion: "apps/v1",
	kind: "DaemonSet",
	spec: {
		selector: {},
		template: {
			spec: {
				containers: [],
				// @ts-expect-error hostPID is meant
				hostPid: true,
			},
		},
	},
};
