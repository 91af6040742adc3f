/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Validates a JSON array of Kubernetes objects on standard input against the schemas of Kubernetes. Prints the
 * errors.
 */
import {text} from "node:stream/consumers";

for (const object of JSON.parse(await text(process.stdin))) {
	const models = await import(`kubernetes-models/${object.apiVersion}/${object.kind}`);

	try {
		new models[object.kind](object).validate();
	} catch (error) {
		console.log(`${object.kind}: ${error.message}`);
	}
}
