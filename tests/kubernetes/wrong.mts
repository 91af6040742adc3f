/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The compiler notices a key that a type of Kubernetes does not have: without that error this file is wrong. */
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
