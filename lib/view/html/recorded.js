// SPDX-License-Identifier: LGPL-2.1-or-later
// Passes the windows that are embedded in a file of `subtick report` to the views of the page.
import {nounOf} from "./feed.js";

export class Recorded {
	// data: {machine, missing: [{command, why}], windows}.
	constructor(data, onReport, onRefusal) {
		this.data = data;
		this.onReport = onReport;
		this.onRefusal = onRefusal;
	}

	async get(noun) {
		const found = this.data.windows.findLast((report) => nounOf(report) === noun);

		if (!found)
			throw new Error(`this file has no ${noun}`);
		return found;
	}

	run() {
		const time = (report) => report.time_unix_ns ?? 0;

		for (const report of [...this.data.windows].sort((a, b) => time(a) - time(b)))
			this.onReport(report);
		for (const {command, why} of this.data.missing)
			this.onRefusal(command, why);
	}
}
