// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the page of `subtick trace -o FILE.html` in Chromium: each slice of a known trace, and a trace of this
// machine.
import {execFileSync, spawnSync} from "node:child_process";
import {mkdtempSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {pathToFileURL} from "node:url";
import {Browser, ok, shots, skip, test} from "./browser.mjs";

const SUBTICK = join(process.env.SUBTICK_BUILD, "subtick");
export const PAGE = join(process.env.SUBTICK_BUILD, "tests/web/timeline_page");
export const ROUNDS = 5;
const LEFT = 52, AXIS = 20, ROW = 28;

// Returns the slices of one round of tests/web/timeline_page.c in µs: [CPU, from, to, part].
export function known() {
	const found = [];

	for (let round = 0; round < ROUNDS; round++) {
		const at = 100 * round, got = round === ROUNDS - 1 ? 45 : 40;

		found.push([0, at ? at - 79 : 0, at + 10, "idle"], [0, at + 10, at + 11, "idle_loop"], [0, at + 11, at + 20, "task"],
			[0, at + 20, at + 21, "idle_loop"], [1, at ? at - 40 : 0, at + 30, "task"], [1, at + 30, at + 32, "hardirq"],
			[1, at + 32, at + 35, "softirq_on_task"], [1, at + 35, at + got, "task"], [1, at + got, at + got + 20, "task"]);
	}
	found.push([0, 100 * ROUNDS - 79, 100 * ROUNDS, "idle"], [1, 100 * ROUNDS - 35, 100 * ROUNDS, "task"]);
	return found;
}

// Returns the colours of the canvas at the positions of the slices, and the expected colours of their parts.
export function colours(page, slices, at = "#rows") {
	return page.evaluate(([list, left, axis, row, selector]) => {
		const canvas = document.querySelector(selector), sharp = canvas.width / canvas.clientWidth;
		// Read the colours from a copy of the canvas, because Chromium warns if a canvas is read twice.
		const ctx = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", {willReadFrequently: true});
		const from = Number(canvas.dataset.from) / 1000, to = Number(canvas.dataset.to) / 1000;
		ctx.drawImage(canvas, 0, 0);
		const style = getComputedStyle(document.documentElement), {data} = ctx.getImageData(0, 0, canvas.width, canvas.height);

		return list.map(([cpu, begin, end, part]) => {
			const x = left + ((begin + end) / 2 - from) / (to - from) * (canvas.clientWidth - left);
			const at = 4 * (Math.floor(x * sharp) + canvas.width * Math.floor((axis + row * cpu + 2) * sharp));
			const hex = `#${[...data.subarray(at, at + 3)].map((c) => c.toString(16).padStart(2, "0")).join("")}`;

			return [hex, style.getPropertyValue(`--ctx-${part}`).trim(), part, begin];
		});
	}, [slices, LEFT, AXIS, ROW, at]);
}

async function seen(page) {
	const found = await page.evaluate(() => ({...document.getElementById("rows").dataset}));

	return Object.fromEntries(Object.entries(found).map(([key, value]) => [key, Number(value)]));
}

async function zooms(page) {
	await page.click("[data-do=in]");
	let view = await seen(page);
	ok(view.to - view.from === 250000 && view.from === 125000, "timeline: + halves the time around the middle", JSON.stringify(view));

	await page.click("[data-do=all]");
	const box = await page.locator("#rows").boundingBox(), x = LEFT + (box.width - LEFT) * 0.2;

	await page.mouse.move(box.x + x, box.y + 30);
	await page.keyboard.down("Control");
	await page.mouse.wheel(0, -400);
	await page.keyboard.up("Control");
	await page.waitForFunction(() => Number(document.getElementById("rows").dataset.to) < 500000);
	view = await seen(page);
	const under = view.from + 0.2 * (view.to - view.from);

	ok(view.to - view.from < 130000 && Math.abs(under - 100000) < 1500, "timeline: the wheel keeps what is under the pointer",
		JSON.stringify(view));
	await page.evaluate(() => { location.hash = "#30000-35000"; });
	await page.waitForFunction(() => document.getElementById("rows").dataset.from === "30000");
	view = await seen(page);
	// In this interval CPU 0 is idle, and CPU 1 has an interrupt and a softirq.
	ok(view.wide === 3 && !view.narrow, "timeline: a link shows its time, with the three slices of it", JSON.stringify(view));
	ok((await colours(page, known().filter(([cpu, from]) => cpu && (from === 30 || from === 32)))).every(([is, wanted]) => is === wanted),
		"timeline: and in their colours");
	await page.focus("#rows");
	await page.keyboard.press("Home");
	view = await seen(page);
	ok(view.from === 0 && view.to === 500000, "timeline: Home shows all", JSON.stringify(view));
}

export const CHAIN = [
	"0.415000 ms: </script><b>x (7) on CPU 0 wakes <img src=x> (9)",
	"0.415200 ms: CPU 1 has \"'&<!-- (8) for 14.8 \u00b5s",
	"0.430000 ms: CPU 1 has <i>eth0 for 2 \u00b5s",
	"0.432000 ms: CPU 1 has softirq NET_RX for 3 \u00b5s",
	"0.435000 ms: CPU 1 has \"'&<!-- (8) for 10 \u00b5s",
	"0.445000 ms: <img src=x> (9) gets CPU 1 after 29.8 \u00b5s",
];

// Checks the wait of a task that was throttled for 15 of 20 µs. The wait must be in the list, and the throttled time
// must be the dark part of its bar.
async function held(page) {
	await page.click("tbody tr:nth-child(6) button");
	const chain = await page.locator("#chain li").allTextContents();
	ok(/^0\.0?\d+ ms: its CPU quota is used up and holds it for 15 \u00b5s$/.test(chain[1]), "timeline: says how long a quota held",
		chain.join("\n"));
	const bars = await page.evaluate(([left, axis, row]) => {
		const canvas = document.getElementById("rows"), sharp = canvas.width / canvas.clientWidth;
		const ctx = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", {willReadFrequently: true});
		const from = Number(canvas.dataset.from), to = Number(canvas.dataset.to);
		const wait = JSON.parse(document.getElementById("data").textContent).waits[5];
		ctx.drawImage(canvas, 0, 0);

		return [7500, 17500].map((ns) => {
			const x = left + (wait.from + ns - from) / (to - from) * (canvas.clientWidth - left);

			return [...ctx.getImageData(Math.floor(x * sharp), Math.floor((axis + row * 2 - 3) * sharp), 1, 1).data].join();
		});
	}, [LEFT, AXIS, ROW]);
	ok(bars[0] === "27,31,36,255" && bars[1] !== bars[0], "timeline: a hold has another colour than the rest of its wait", bars.join(" "));
	ok((await seen(page)).ticks <= 1, "timeline: only the ticks of what is seen are drawn");
	await page.click("[data-do=all]");
	ok((await seen(page)).ticks === ROUNDS, "timeline: each tick is drawn", JSON.stringify(await seen(page)));
}

async function drawn(browser, folder) {
	const file = join(folder, "known.html"), page = await browser.page(), url = pathToFileURL(file).href;

	execFileSync(PAGE, [file, String(ROUNDS), "1000"]);
	await page.goto(url);
	const view = await seen(page), slices = known();
	ok(view.wide === slices.length && !view.narrow, `timeline: draws the ${slices.length} slices of the trace`, JSON.stringify(view));
	const wrong = (await colours(page, slices)).filter(([is, wanted]) => is !== wanted);
	ok(!wrong.length, "timeline: each slice is where it was, in the colour of what it is", JSON.stringify(wrong));
	await zooms(page);
	await page.click("tbody tr:first-child button");
	const chain = await page.locator("#chain li").allTextContents();
	ok(chain.join("\n") === CHAIN.join("\n"), "timeline: the longest wait shows its chain", chain.join("\n"));
	const box = await seen(page);
	ok(box.from < 415000 && box.to > 445000 && box.to - box.from < 50000, "timeline: and is zoomed to", JSON.stringify(box));
	await held(page);
	const alien = await page.evaluate(() => document.querySelectorAll("main b, main i:not([style]), img, a, iframe, link").length);
	const text = await page.evaluate("document.body.innerText");
	ok(text.includes("10 of 10 waits. 5 more waits began before the recording"), "timeline: says how many waits have no known start");
	ok(!alien && await page.title() === "subtick trace", "timeline: names of tasks and interrupts stay text", String(alien));
	await page.screenshot({path: join(shots, "timeline.png"), fullPage: true});
	ok(page.requests.length === 1 && !page.problems.length, "timeline: asks for nothing, and has no console errors",
		[...page.requests, ...page.problems].join("\n"));
	await page.close();
}

async function elsewhere(browser, folder) {
	const file = join(folder, "phone.html"), page = await browser.page();

	execFileSync(PAGE, [file, String(ROUNDS), "1000"]);
	await page.setViewportSize({width: 360, height: 740});
	await page.emulateMedia({colorScheme: "dark"});
	await page.goto(pathToFileURL(file).href);
	const wide = () => page.evaluate(() => document.documentElement.scrollWidth > innerWidth + 1);
	const idle = () => page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--idle"));
	const dark = await colours(page, known().filter(([, , , part]) => part === "idle"));
	const darkIdle = await idle();
	ok(!await wide(), "timeline: fits a phone");
	ok(dark.every(([is]) => is === darkIdle), "timeline: is dark in dark mode", JSON.stringify([dark[0], darkIdle]));
	await page.screenshot({path: join(shots, "timeline-phone.png"), fullPage: true});
	await page.setViewportSize({width: 703, height: 1000});
	await page.emulateMedia({media: "print", colorScheme: "dark"});
	await page.waitForTimeout(200);
	const paper = await colours(page, known().filter(([, , , part]) => part === "idle")), paperIdle = await idle();
	ok(paperIdle !== darkIdle && paper.every(([is]) => is === paperIdle), "timeline: prints dark on white",
		JSON.stringify([paper[0], paperIdle]));
	ok(!await wide(), "timeline: is not cut by a sheet of paper");
	await page.close();
}

async function many(browser, folder) {
	const file = join(folder, "many.html"), page = await browser.page();

	execFileSync(PAGE, [file, "1000", "500"]);
	await page.goto(pathToFileURL(file).href);
	const view = await seen(page), text = await page.locator("main .status").first().textContent();
	const said = /The picture has (\d+) of 9002 slices/.exec(text);
	ok(said && Number(said[1]) <= 500 && Number(said[1]) > 450 && view.wide + view.narrow === Number(said[1]),
		"timeline: says how many of too many slices it has", `${text} ${JSON.stringify(view)}`);
	// The longest wait is in the last round of the trace.
	ok(view.from < 99915200 && view.to > 99945000, "timeline: and they are those around the longest wait", JSON.stringify(view));
	await page.close();
}

// Records a trace of this machine. The times of its slices must sum to the window that the command reports.
async function measured(browser, folder) {
	const file = join(folder, "measured.html"), run = spawnSync(SUBTICK, ["trace", "--for", "50ms", "--json", "-o", file]);

	if (run.status === 77) {
		skip("timeline: of this machine", String(run.stderr).trim().replaceAll("\n", " "));
		return;
	}
	const page = await browser.page(), report = JSON.parse(run.stdout);

	await page.goto(pathToFileURL(file).href);
	const sums = await page.evaluate(() => JSON.parse(document.getElementById("data").textContent).cpus.map(({cpu, slices}) =>
		[cpu, slices.filter((_, i) => i % 3 === 0).reduce((a, b) => a + b, 0)]));
	const windows = report.cpus.map(({cpu, window_ns}) => [cpu, window_ns]);
	const view = await seen(page);
	ok(JSON.stringify(sums) === JSON.stringify(windows), "timeline: the slices of each CPU sum to its window", JSON.stringify([sums, windows]));
	ok(view.wide + view.narrow >= sums.length && !page.problems.length, "timeline: of this machine is drawn",
		[JSON.stringify(view), ...page.problems].join("\n"));
	await page.screenshot({path: join(shots, "timeline-measured.png"), fullPage: true});
	await page.close();
}

export async function timelineTests() {
	const folder = mkdtempSync(join(tmpdir(), "subtick-timeline-"));
	const browser = await Browser.open({viewport: {width: 1280, height: 900}});

	await test("timeline: drawn", () => drawn(browser, folder));
	await test("timeline: elsewhere", () => elsewhere(browser, folder));
	await test("timeline: many", () => many(browser, folder));
	await test("timeline: measured", () => measured(browser, folder));
	await browser.close();
	rmSync(folder, {recursive: true, force: true});
}
