// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the page of a real exporter: live bars under a generated load, and every view.
import {spawn, spawnSync} from "node:child_process";
import {createServer} from "node:net";
import {chmodSync, mkdtempSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {Browser, ok, shots, skip, test} from "./browser.mjs";
import {cgroupRoot, Cgroups, shown, tag} from "./cgroups.mjs";

const SUBTICK = join(process.env.SUBTICK_BUILD, "subtick");
const ROUNDS = 6;
const ROOM = 0.5, MOVE = 0.2; // shares of a core; interrupts and a hypervisor may use the rest

async function freePort() {
	const server = createServer();

	await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
	const {port} = server.address();

	await new Promise((resolve) => server.close(resolve));
	return port;
}

async function ready(url, child) {
	for (let i = 0; i < 100; i++) {
		if (child.exitCode !== null)
			throw new Error(`serve ended with ${child.exitCode}: ${child.said}`);
		try {
			if ((await fetch(`${url}readyz`)).ok)
				return;
		} catch {
			// The exporter is not listening yet.
		}
		await new Promise((resolve) => setTimeout(resolve, 200));
	}
	throw new Error(`serve was not ready after 20 s: ${child.said}`);
}

// Returns the maximum width of the task part in each core's bar over some windows, as a share of the bar.
async function shares(page) {
	const seen = [];

	for (let i = 0; i < 4; i++) {
		await page.waitForTimeout(1100);
		seen.push(await page.evaluate(() => [...document.querySelectorAll(".core")].map((core) =>
			core.querySelector(".ctx-task").getBoundingClientRect().width /
				core.querySelector(".bar").getBoundingClientRect().width)));
	}
	return seen[0].map((_, cpu) => Math.max(...seen.slice(1).map((row) => row[cpu])));
}

// Checks that a busy loop fills the bar of its core. The result comes from the first round in which a core is not
// already busy.
async function moves(page) {
	const filled = [];

	while (filled.length < ROUNDS) {
		const before = await shares(page);
		const least = Math.min(...before), cpu = before.indexOf(least);

		if (least > 1 - ROOM) {
			filled.push(least.toFixed(2));
			continue;
		}
		const burner = spawn("taskset", ["-c", String(cpu), "sh", "-c", "while :; do :; done"]);
		const during = (await shares(page))[cpu];

		burner.kill("SIGKILL");
		ok(during - least >= MOVE, "serve: the bar of a core grows under a load",
			`CPU ${cpu}: ${least.toFixed(2)} then ${during.toFixed(2)}`);
		return;
	}
	skip("serve: a bar grows under a load", `other work fills every core: ${filled.join(", ")} of the least busy one`);
}

async function hostile(page) {
	const root = cgroupRoot();

	if (!root) {
		skip("serve: real cgroups with hostile names", "no cgroup hierarchy to write to");
		return;
	}
	const cgroups = new Cgroups(root);

	try {
		cgroups.make();
		ok(!cgroups.takesNewline(), "serve: the kernel takes no cgroup with a newline in its name");
		await page.click("#tab-runq");
		await page.fill("#runq-filter", tag);
		const names = () => page.evaluate(() => [...document.querySelectorAll(".runq tbody th")]
			.map((th) => th.textContent));

		await page.waitForFunction((parts) => parts.every((part) =>
			[...document.querySelectorAll(".runq tbody th")].some((th) => th.textContent.includes(part))),
		shown).catch(() => {});
		const seen = await names();

		for (const part of shown)
			ok(seen.some((name) => name.includes(part)), `serve: shows the cgroup ${JSON.stringify(part.slice(0, 45))}`,
				seen.join("\n"));
		const found = await page.evaluate(() => ({title: document.title, scripts: document.scripts.length,
			inside: document.querySelectorAll("main img, main b, main script, main a").length}));

		ok(/^[^<]+ – subtick$/.test(found.title) && found.scripts === 1 && !found.inside,
			"serve: names of real cgroups are text, never markup", JSON.stringify(found));
		await page.click(".runq tbody th button >> nth=0");
		await page.waitForSelector(".detail:visible .bars");
		await page.screenshot({path: join(shots, "serve-hostile.png"), fullPage: true});
		await page.keyboard.press("Escape");
		await page.fill("#runq-filter", "");
	} finally {
		ok(cgroups.remove(), "serve: its cgroups are gone again", cgroups.made.join("\n"));
	}
}

// Records a trace of this machine while the exporter runs. The page must draw the slices, and their sum must equal
// the recorded time.
async function recorded(page, folder) {
	const run = spawnSync(SUBTICK, ["trace", "--for", "50ms", "--json", "-o", join(folder, "now.html")]);

	if (run.status === 77) {
		skip("serve: a recording is drawn", String(run.stderr).trim().replaceAll("\n", " "));
		return;
	}
	const windows = JSON.parse(run.stdout).cpus.map(({window_ns}) => window_ns);

	await page.click("#tab-trace");
	await page.click("#view-trace .traces button:text-is('show')");
	await page.waitForSelector("#view-trace canvas");
	const view = await page.evaluate(() => ({...document.querySelector("#view-trace canvas").dataset}));

	ok(Number(view.wide) + Number(view.narrow) >= windows.length && Number(view.to) - Number(view.from) >= Math.max(...windows),
		"serve: a recording of this machine is drawn", JSON.stringify([view, windows]));
	await page.screenshot({path: join(shots, "serve-trace.png"), fullPage: true});
}

// Opens the page and waits for the first figures.
async function live(browser, url) {
	const page = await browser.page();
	const answer = await page.goto(url);

	await page.waitForSelector("#state:has-text('live')");
	await page.waitForSelector(".core");
	return [page, answer];
}

async function served(browser, url, folder) {
	const [page, answer] = await live(browser, url);

	ok(/script-src 'self'/.test(answer.headers()["content-security-policy"] ?? ""),
		"serve: the page comes with its policy", JSON.stringify(answer.headers()));
	await hostile(page);
	for (const [view, noun] of [["cores", "load"], ["runq", "runq"], ["wake", "wake"], ["noise", "noise"],
		["doctor", "doctor"]]) {
		if ((await fetch(`${url}api/v1/${noun}`)).status === 404) {
			skip(`serve: ${view} has figures`, `this exporter has no ${noun}`);
			continue;
		}
		await page.click(`#tab-${view}`);
		await page.waitForTimeout(2500);
		const text = await page.textContent(`#view-${view} .summary`);

		ok(text.length > 8 && !/unavailable/i.test(text), `serve: ${view} has figures`, text);
		await page.screenshot({path: join(shots, `serve-${view}.png`), fullPage: true});
	}
	await recorded(page, folder);
	ok(!page.problems.length, "serve: no console errors", page.problems.join("\n"));
	ok(page.requests.every((asked) => asked.startsWith(url)), "serve: the page asks its exporter only");
	await page.close();
}

// Simulates DNS rebinding: opens a page under the name of another site that resolves to the exporter's address.
async function rebound(exported) {
	const browser = await Browser.open({}, ["--host-resolver-rules=MAP rebound.example 127.0.0.1"]);
	const url = `http://rebound.example:${new URL(exported).port}/`;

	await test("serve: the page of another site", async () => {
		const page = await browser.page();
		const answer = await page.goto(`${url}healthz`);

		ok(answer.status() === 200, "serve: the browser takes our address for that of another site", answer.status());
		for (const path of ["metrics", "api/v1/load", "api/v1/stream", ""]) {
			const got = await page.evaluate(async (asked) => {
				const reply = await fetch(asked);

				return {status: reply.status, text: await reply.text()};
			}, `/${path}`);

			ok(got.status === 403 && !/cpu/.test(got.text), `serve: another site's page reads nothing of /${path}`,
				JSON.stringify(got).slice(0, 200));
		}
	});
	await browser.close();
}

// Calls @body with a browser and a real exporter. Also checks that the exporter exits cleanly.
async function exporter(body) {
	const help = spawnSync(SUBTICK, ["serve", "--help"]);

	if (help.status !== 0) {
		skip("serve: the real exporter", "this build has no subtick serve");
		return;
	}
	if (process.getuid() !== 0) {
		skip("serve: the real exporter", "needs root");
		return;
	}
	const port = await freePort(), url = `http://127.0.0.1:${port}/`;
	const folder = mkdtempSync(join(tmpdir(), "subtick-traces-"));

	chmodSync(folder, 0o755);
	const child = spawn(SUBTICK, ["serve", "--listen", `127.0.0.1:${port}`, "--traces", folder],
	{stdio: ["ignore", "ignore", "pipe"]});

	child.said = "";
	child.stderr.on("data", (data) => { child.said += data; });
	const browser = await Browser.open();

	await test("serve: the real exporter", async () => {
		await ready(url, child);
		await body(browser, url, folder);
	});
	await browser.close();
	child.kill("SIGTERM");
	rmSync(folder, {recursive: true, force: true});
	await new Promise((resolve) => child.exitCode !== null ? resolve() : child.once("exit", resolve));
	ok(child.exitCode === 0, "serve: ends cleanly with the page's connections", `${child.exitCode} ${child.said}`);
}

export async function serveTests() {
	await exporter(async (browser, url, folder) => {
		await test("serve: the page", () => served(browser, url, folder));
		await rebound(url);
	});
}

// This test runs separately, because it needs an idle core.
export async function barTests() {
	await exporter(async (browser, url) => {
		const [page] = await live(browser, url);

		await moves(page);
		await page.close();
	});
}
