// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs the browser tests and prints TAP. tests/suites/web prepares the files that the browser tests need.
import {done} from "./browser.mjs";
import {pageTests} from "./page.mjs";
import {reportTests} from "./report.mjs";
import {barTests, serveTests} from "./serve.mjs";
import {timelineTests} from "./timeline.mjs";
import {traceTests} from "./trace.mjs";

if (process.argv[2] === "bar") {
	await barTests();
} else {
	await pageTests();
	await reportTests();
	await timelineTests();
	await traceTests();
	await serveTests();
}
process.exit(done());
