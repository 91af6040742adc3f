/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Validates the objects on standard input, a JSON array, against the schemas of Kubernetes; prints what is wrong. */
import {text} from "node:stream/consumers";

for (const object of JSON.parse(await text(process.stdin))) {
	const models = await import(`kubernetes-models/${object.apiVersion}/${object.kind}`);

	try {
		new models[object.kind](object).validate();
	} catch (error) {
		console.log(`${object.kind}: ${error.message}`);
	}
}
