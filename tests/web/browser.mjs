// SPDX-License-Identifier: LGPL-2.1-or-later
// Helpers for the browser tests: Chromium, the fixture server, TAP output.
import {spawn} from "node:child_process";
import {mkdirSync, mkdtempSync, rmSync} from "node:fs";
import {createRequire} from "node:module";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {createInterface} from "node:readline";

const require = createRequire(join(process.env.WEB_MODULES, "package.json"));
const {chromium} = require("playwright-core");

export const shots = process.env.WEB_SHOTS;
mkdirSync(shots, {recursive: true});

let number = 0, failed = 0;

export function ok(good, name, why = "") {
	number++;
	if (!good)
		failed++;
	console.log(`${good ? "ok" : "not ok"} ${number} - ${name}`);
	if (!good && why)
		console.log(String(why).split("\n").map((line) => `# ${line}`).join("\n"));
}

export function skip(name, why) {
	console.log(`ok ${++number} - ${name} # SKIP ${why}`);
}

export function done() {
	console.log(`1..${number}`);
	return failed ? 1 : 0;
}

// Runs one test. An exception fails this test, and the next tests still run.
export async function test(name, body) {
	try {
		await body();
	} catch (error) {
		ok(false, name, error.stack);
	}
}

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
	"--disable-background-networking", "--disable-component-update", "--disable-sync"];

// Chromium with a temporary profile. The profile is removed at the end.
export class Browser {
	static async open(options = {}, flags = []) {
		const self = new Browser();

		self.profile = mkdtempSync(join(tmpdir(), "subtick-web-"));
		self.context = await chromium.launchPersistentContext(self.profile, {
			executablePath: process.env.CHROMIUM, args: [...FLAGS, ...flags], headless: true,
			viewport: {width: 1280, height: 900}, ...options});
		return self;
	}

	async page() {
		const page = await this.context.newPage();

		page.problems = [];
		page.requests = [];
		page.on("console", (message) => {
			if (["error", "warning"].includes(message.type()))
				page.problems.push(`${message.type()}: ${message.text()}`);
		});
		page.on("pageerror", (error) => page.problems.push(`exception: ${error.stack}`));
		page.on("request", (request) => page.requests.push(request.url()));
		page.setDefaultTimeout(20000);
		return page;
	}

	async close() {
		await this.context.close();
		rmSync(this.profile, {recursive: true, force: true});
	}
}

export class Fixture {
	static async start(...args) {
		const self = new Fixture();

		self.child = spawn("tests/web/fixture.py", ["--web", "lib/view/html", ...args], {stdio: ["pipe", "pipe", "inherit"]});
		const lines = createInterface({input: self.child.stdout});
		const [port] = await new Promise((resolve, reject) => {
			lines.once("line", (line) => resolve([line]));
			self.child.once("exit", (code) => reject(new Error(`fixture ended with ${code}`)));
		});

		self.url = `http://127.0.0.1:${port}/`;
		return self;
	}

	stop() {
		this.child.stdin.end();
	}
}
