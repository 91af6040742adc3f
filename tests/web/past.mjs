// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests earlier windows in Chromium: history after a reload, links to a moment, saved files.
import {readFile} from "node:fs/promises";
import {Fixture, ok} from "./browser.mjs";

// Reads, from the legend, the time in seconds between the start of the first plot and the last window.
async function reach(page) {
	const time = async () => {
		const [h, m, s] = (await page.textContent("#view-cores .plot-legend .value >> nth=0")).split(":").map(Number);

		return h * 3600 + m * 60 + s;
	};

	await page.hover("h1");
	const last = await time();

	await page.hover("#view-cores canvas >> nth=0", {position: {x: 70, y: 60}});
	const first = await time();

	await page.hover("h1");
	return (last - first + 86400) % 86400;
}

async function saved(page, button) {
	const [download] = await Promise.all([page.waitForEvent("download"), page.click(button)]);

	return {name: download.suggestedFilename(), text: await readFile(await download.path(), "utf8")};
}

async function moment(browser, server) {
	const then = Math.floor(Date.now() / 1000) - 120, page = await browser.page();

	await page.goto(`${server.url}#runq@${then}`);
	await page.waitForSelector("#state:has-text('paused')");
	await page.waitForSelector(".runq tbody tr");
	ok(await page.isVisible("#view-runq") && (await page.textContent("#pause")) === "Resume",
		"past: a link to a moment opens its view, paused");
	const {name, text} = await saved(page, "#save-json");
	const times = text.trim().split("\n").map((line) => JSON.parse(line).time_unix_ns / 1e9);

	ok(name === "subtick.jsonl" && times.length === 4 && times.every((time) => Math.abs(time - then) <= 6),
		"past: that moment is what is shown and saved", `${then}: ${times}`);
	const report = await saved(page, "#save-report");

	ok(report.name === "subtick-report.html" && Math.abs(Number(/at=([0-9.]+)/.exec(report.text)?.[1]) - then) <= 6,
		"past: the report is asked for of that moment", report.text);
	await page.click("#pause");
	await page.waitForSelector("#state:has-text('live')");
	ok(!page.url().includes("@"), "past: resumed, the address has no moment", page.url());
	await page.goto("about:blank");
	await page.goto(`${server.url}#cores@${then - 100000}`);
	await page.waitForSelector("#state:has-text('no longer kept')");
	ok(true, "past: says when the moment is no longer kept");
	ok(!page.problems.length, "past: no console errors", page.problems.join("\n"));
	await page.close();
}

// Checks that a delayed history response is not drawn after newer windows.
async function late(browser) {
	const server = await Fixture.start("--late", "4"), page = await browser.page();

	await page.goto(server.url);
	await page.waitForSelector(".core");
	await page.waitForTimeout(1000);
	const before = await reach(page);

	ok(before > 200 && !page.requests.some((url) => url.endsWith("/api/v1/load")),
		"past: nothing is shown before a history that comes late", `${before} s, ${page.requests}`);
	await page.close();
	server.stop();
}

// Selects an earlier day in the time field. The page must show only windows of that day until Resume.
async function files(browser) {
	// The fixture creates 600 windows for each request. With 30 cgroups this takes 10 s on a busy machine.
	const server = await Fixture.start("--files", "--cgroups", "2"), page = await browser.page();
	// The seconds are 30, because a browser omits seconds that are 0 from the field, which makes page.fill() fail.
	const then = Math.floor(Date.now() / 60000) * 60 + 30 - 86400;

	await page.goto(server.url);
	await page.waitForSelector(".core");
	await page.waitForSelector("#state:has-text('live')");
	await page.fill("#when", await page.evaluate((s) => new Date((s - new Date().getTimezoneOffset() * 60) * 1000).toISOString().slice(0, 19), then));
	await page.waitForSelector("#moment-label:visible");
	await page.waitForTimeout(1500);
	const {text} = await saved(page, "#save-json");
	const times = text.trim().split("\n").map((line) => JSON.parse(line).time_unix_ns / 1e9);

	ok(times.length === 4 && times.every((time) => Math.abs(time - then) <= 1), "past: the time field leads to an earlier day",
		`${then}: ${times}`);
	ok(await reach(page) > 500, "past: the charts have the minutes around it", `${await reach(page)} s`);
	await page.selectOption("#moment", {index: 0});
	ok(Math.abs(Number(/@([0-9.]+)$/.exec(page.url())[1]) - (then - 300)) <= 1, "past: each window of it can be chosen", page.url());
	await page.click("#pause");
	await page.waitForSelector("#state:text-is('live')");
	ok(!page.url().includes("@") && await page.isHidden("#moment-label"), "past: Resume leads back to now", page.url());
	ok(!page.problems.length, "past: no console errors with files", page.problems.join("\n"));
	await page.close();
	server.stop();
}

export async function pastTests(browser) {
	const server = await Fixture.start("--cpus", "2");
	const page = await browser.page();

	await page.goto(server.url);
	await page.waitForSelector(".core");
	await page.waitForSelector("#host:has-text('web-7')");
	ok((await page.textContent("#host")).includes("<b>web-7</b>, Linux 6.12.9, up 3 d 4 h"),
		"past: name, kernel and uptime of the machine", await page.textContent("#host"));
	ok(await page.title() === "<b>web-7</b> – subtick", "past: the title names the machine", await page.title());
	const before = await reach(page);

	ok(before > 200 && before < 400, "past: a new page shows what was before it", `${before} s`);
	await page.click("#pause");
	ok(/#cores@[0-9.]+$/.test(page.url()), "past: paused, the address leads to the moment", page.url());
	const shown = await page.textContent(".core .busy >> nth=0");

	await page.waitForTimeout(2500);
	await page.click("#tab-runq");
	await page.click("#tab-cores");
	ok(await page.textContent(".core .busy >> nth=0") === shown, "past: paused, another view and back show the same");
	await page.reload();
	await page.waitForSelector("#state:has-text('paused')");
	ok(true, "past: the reloaded page is at that moment");
	ok(!page.problems.length, "past: no console errors", page.problems.join("\n"));
	await page.close();
	await moment(browser, server);
	server.stop();
	await late(browser);
	await files(browser);
}
