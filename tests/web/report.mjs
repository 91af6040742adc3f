// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the HTML file of `subtick report` in Chromium: opened from file://, without network requests, with hostile
// names, printed.
import {execFileSync} from "node:child_process";
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {pathToFileURL} from "node:url";
import {Browser, Fixture, ok, shots, test} from "./browser.mjs";

const SUBTICK = join(process.env.SUBTICK_BUILD, "subtick");
const TITLES = {cores: "Cores", runq: "Run queue", wake: "Wake latency", noise: "Noise", doctor: "Doctor", audit: "Audit",
	crit: "Critical sections", other: "Other"};

function make(out, ...args) {
	execFileSync(SUBTICK, ["report", "-o", out, ...args], {stdio: "pipe"});
}

// Opens every tab with its tables, and returns the text of all tabs.
async function look(browser, file, name, tabs) {
	const page = await browser.page(), url = pathToFileURL(file).href;
	let text = "";

	await page.goto(url);
	await page.waitForSelector(".recorded.ready");
	const found = await page.locator("[role=tab]:visible").allTextContents();

	ok(found.join() === tabs.map((tab) => TITLES[tab]).join(), `report: ${name} has a tab for each result`, found.join());
	for (const tab of tabs) {
		await page.click(`#tab-${tab}`);
		await page.evaluate(() => document.querySelectorAll("details").forEach((node) => { node.open = true; }));
		await page.waitForTimeout(200);
		ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth + 1), `report: ${name}, ${tab} fits`);
		text += await page.innerText(`#view-${tab}`);
		await page.screenshot({path: join(shots, `report-${name}-${tab}.png`), fullPage: true});
	}
	text += await page.innerText("#findings, #losses >> nth=0") + await page.innerText("#losses");
	const alien = await page.evaluate(() => document.querySelectorAll("main :is(script, img, b, a, iframe, link, object)").length);

	ok(page.requests.length === 1 && page.requests[0] === url, `report: ${name} asks for nothing`, page.requests.join("\n"));
	ok(!page.problems.length, `report: ${name} has no console errors`, page.problems.join("\n"));
	ok(await page.title() === "subtick report" && !alien, `report: ${name} has no markup of names`, `${await page.title()}, ${alien}`);
	await printed(page, name, tabs);
	await page.close();
	return text;
}

// Checks the printed report at the width of A4 between the margins. All views must be visible without scrolling.
async function printed(page, name, tabs) {
	await page.setViewportSize({width: Math.floor((210 - 2 * 12) / 25.4 * 96), height: 1000});
	await page.emulateMedia({media: "print", colorScheme: "dark"});
	await page.waitForFunction((number) => document.querySelectorAll("[role=tabpanel]:not([hidden])").length === number, tabs.length);
	const found = await page.evaluate(() => ({
		shown: [...document.querySelectorAll("[role=tabpanel]")].filter((node) => node.getBoundingClientRect().height > 0)
			.map((node) => node.id.replace("view-", "")),
		cut: [...document.querySelectorAll("table, svg, canvas, li, p")].filter((node) =>
			node.getBoundingClientRect().right > innerWidth + 1).map((node) => `${node.className}: ${node.textContent.slice(0, 60)}`),
		tall: [...document.querySelectorAll("svg, canvas")].filter((node) => node.getBoundingClientRect().height > 950).length,
		back: getComputedStyle(document.body).backgroundColor,
	}));

	ok(found.shown.join() === tabs.join(), `report: ${name} prints all views`, found.shown.join());
	ok(!found.cut.length && !found.tall, `report: ${name} is not cut by a sheet of paper`, JSON.stringify(found));
	ok(found.back === "rgb(255, 255, 255)", `report: ${name} prints dark on white`, found.back);
	await page.emulateMedia({media: null, colorScheme: null});
	await page.pdf({path: join(shots, `report-${name}.pdf`), format: "A4"});
}

async function saved(folder, nouns, ...options) {
	const server = await Fixture.start(...options), files = [];

	for (const noun of nouns) {
		files.push(join(folder, `${noun}.json`));
		writeFileSync(files.at(-1), await (await fetch(`${server.url}api/v1/${noun}`)).text());
	}
	server.stop();
	return files;
}

async function hostile(browser, folder) {
	const files = await saved(folder, ["load", "runq", "wake", "noise", "doctor"], "--cpus", "8", "--hostile", "--losses");
	const out = join(folder, "hostile.html");

	make(out, "--from", ...files);
	const text = await look(browser, out, "hostile", ["cores", "runq", "wake", "noise", "doctor"]);

	for (const part of ["/<script>document.title='owned'</script>", "/quotes\"'`><b>bold</b>", "/new\\x0aline", "x".repeat(254),
		"/bad\ufffd\ufffd utf8"])
		ok(text.includes(part), `report: shows ${JSON.stringify(part.slice(0, 40))} as text`);
	ok(text.includes("12 since the start: waits of groups"), "report: losses are above every view", text.slice(-400));
	ok(text.includes("waits <i>640</i> ms per second."), "report: findings are above every view", text.slice(-400));
	ok(text.includes("Who waited (rows) behind whom (columns)"), "report: has the map of victims and culprits");
	await drawer(browser, out);
}

async function drawer(browser, file) {
	const page = await browser.page();

	await page.goto(pathToFileURL(file).href);
	await page.click("#tab-runq");
	await page.click(".runq tbody button >> nth=0");
	await page.waitForSelector(".detail:visible");
	ok(/waits, .* in all, p99/.test(await page.innerText(".detail")), "report: a group opens its drawer", await page.innerText(".detail"));
	await page.close();
}

// Checks that the report contains the same figures as text if JavaScript is disabled.
async function without(folder) {
	const browser = await Browser.open({javaScriptEnabled: false}), page = await browser.page();

	await page.goto(pathToFileURL(join(folder, "hostile.html")).href);
	const text = await page.innerText("body");

	ok(text.includes("subtick load, measured") && text.includes("/quotes\"'`><b>bold</b>") && text.includes("ms per second"),
		"report: without JavaScript it has findings and figures", text.slice(0, 1000));
	ok(!await page.isVisible("#tabs") && !await page.isVisible("#save-json"), "report: without JavaScript it has no dead buttons");
	await page.screenshot({path: join(shots, "report-text.png"), fullPage: true});
	await browser.close();
}

async function many(browser, folder) {
	const files = await saved(folder, ["load", "runq"], "--cpus", "256", "--cgroups", "2000"), out = join(folder, "many.html");

	make(out, "--from", ...files);
	const text = await look(browser, out, "many", ["cores", "runq"]);

	ok(text.includes("the first 100 of 2000 rows"), "report: says how many of 2,000 groups a table shows");
}

// Checks that several windows of one command form a history, and that each window can be selected.
async function windows(browser, folder) {
	const load = JSON.parse(readFileSync(join(folder, "load.json"), "utf8")), file = join(folder, "windows.jsonl");
	const lines = [...Array(30).keys()].map((number) => JSON.stringify({...load, time_unix_ns: 1700000000e9 + number * 60e9,
		cpus: [{...load.cpus[0], busy_ratio: number / 100}]}));

	writeFileSync(file, lines.join("\n"));
	make(join(folder, "windows.html"), "--from", file);
	const page = await browser.page();

	await page.goto(pathToFileURL(join(folder, "windows.html")).href);
	ok(await page.locator("#moment option").count() === 30, "report: each of 30 windows can be chosen");
	ok(await page.textContent(".core .busy") === "29.0 %", "report: it begins with the last", await page.textContent(".core .busy"));
	await page.selectOption("#moment", {index: 3});
	ok(await page.textContent(".core .busy") === "3.0 %", "report: a chosen window is shown", await page.textContent(".core .busy"));
	await page.hover("#view-cores canvas >> nth=0", {position: {x: 70, y: 60}});
	const first = await page.textContent("#view-cores .plot-legend .value >> nth=0");
	const wanted = await page.evaluate(() => new Date(1700000000e3).toLocaleTimeString("en-GB"));

	ok(first === wanted, "report: the charts begin with the first, half an hour before", first);
	await page.close();
}

// Checks reports with results for which the exporter has no view, with results of two machines, and with a command of
// a later version.
async function recorded(browser, folder) {
	const wake = JSON.parse(readFileSync("tests/golden/report-in.jsonl", "utf8").split("\n")[0]), file = join(folder, "more.jsonl");
	const runs = ["here", "there", "there"].map((host, number) => ({...wake,
		time_unix_ns: wake.time_unix_ns + (number + 1) * 1e9,
		machine: {host, cpu_model: "a model"}}));
	const points = {schema: "subtick.wake.points/1", time_unix_ns: 1, machine: {host: "here"}, quality: {}, notes: [],
		points: [{cpu: 0, point: 0, silent_ns: 1000, latency_ns: 2000, c6_ns: 5}, {cpu: 0, point: 1, silent_ns: 90000, latency_ns: 3000, c6_ns: 9}]};
	const later = {schema: "subtick.later/1", time_unix_ns: 1, new_ns: 1500, rows: [{"name": "</script><!--\u2028", share_ratio: 0.5}],
		quality: {}, notes: ["from a later version"]};

	const doctor = {schema: "subtick.doctor/1", time_unix_ns: 1, checks: [], commands: [], quality: {}, notes: []};

	writeFileSync(file, [doctor, ...runs, points, later].map((one) => JSON.stringify(one)).join("\n"));
	make(join(folder, "more.html"), "--from", "tests/golden/report-in.jsonl", file);
	const text = await look(browser, join(folder, "more.html"), "recorded", ["wake", "noise", "audit", "crit", "other", "doctor"]);

	for (const part of ["procstat: <b>not</b> to be trusted below 1 s", "Time between increments: user+idle: all", "Accounted ÷ true",
		"Largest error of each source", "there (a model): C6", "\nhere (a model): C6", "there 2 (a model): C6", "Longest wake-up of each idle state, by machine", "Wake latency against silent time, by run",
		"Residency against silent time, by run", "Cost of one pair of disable and enable", "2.68 ns", "from a later version", "1.50 µs",
		"</script><!--\\xe2\\x80\\xa8", "50.0 %", "worst_error_ratio", "largest error of the columns of /proc/stat"])
		ok(text.includes(part), `report: has ${JSON.stringify(part)}`);
}

// Checks that a command that could not run has a tab with the reason.
async function missing(browser, folder) {
	const out = join(folder, "missing.html"), page = await browser.page();

	make(out, "--from", "tests/golden/report-in.jsonl");
	writeFileSync(out, readFileSync(out, "utf8").replace("\"missing\":[]",
		"\"missing\":[{\"command\":\"runq\",\"why\":\"no \\u003cb>BTF\"}]"));
	await page.goto(pathToFileURL(out).href);
	ok((await page.innerText("#losses")).includes("runq: missing: no <b>BTF"), "report: what is missing is above every view",
		await page.innerText("#losses"));
	await page.click("#tab-runq");
	ok((await page.innerText("#view-runq .summary")).endsWith("unavailable: no <b>BTF"), "report: its tab has the reason");
	await page.close();
}

async function measured(browser, folder) {
	const out = join(folder, "measured.html");

	make(out, "--seconds", "1", "--collect", "doctor,load");
	const text = await look(browser, out, "measured", ["cores", "doctor"]);

	ok(/busy \d+\.\d % on average/.test(text), "report: of this machine says how busy it was");
}

export async function reportTests() {
	const folder = mkdtempSync(join(tmpdir(), "subtick-report-"));
	const browser = await Browser.open({viewport: {width: 1100, height: 900}});

	await test("report: hostile names", () => hostile(browser, folder));
	await test("report: without JavaScript", () => without(folder));
	await test("report: many", () => many(browser, folder));
	await test("report: windows", () => windows(browser, folder));
	await test("report: recorded results", () => recorded(browser, folder));
	await test("report: missing", () => missing(browser, folder));
	await test("report: measured", () => measured(browser, folder));
	await browser.close();
	rmSync(folder, {recursive: true, force: true});
}
