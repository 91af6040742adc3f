// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the view "Trace" of the live page: recordings of the exporter, and files that the user opens.
import {execFileSync} from "node:child_process";
import {mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {Browser, Fixture, ok, shots, test} from "./browser.mjs";
import {CHAIN, PAGE, ROUNDS, colours, known} from "./timeline.mjs";

const CANVAS = "#view-trace canvas";
// Names of the recordings in the order of the list, which is sorted by date.
const NAMES = ["evil <b>&amp;.html", "known trace.html", "half.html"];
const EVIL = `<script>document.title = "owned"</script><img src=x onerror="document.title = 'owned'"><iframe src="/metrics"></iframe>`;

const WAIT = "0.445000 ms show|29.8 µs|<img src=x> (9)|1|</script><b>x (7) on CPU 0|\"'&<!-- (8)|24.8 µs|–|2.00 µs|3.00 µs|–";

// Writes three files: a valid recording, a recording with hostile markup and script, and a truncated recording.
function make(folder) {
	const whole = join(folder, NAMES[1]);

	execFileSync(PAGE, [whole, String(ROUNDS), "1000"]);
	const text = readFileSync(whole, "utf8");

	writeFileSync(join(folder, NAMES[0]), text.replace("<header>", `<header>${EVIL}`).replace("<main>", `<main>${EVIL}`));
	writeFileSync(join(folder, NAMES[2]), text.slice(0, text.indexOf("\"waits\"")));
	NAMES.forEach((name, age) => utimesSync(join(folder, name), 1e9 - age, 1e9 - age));
}

async function press(page, name, button = "show") {
	await page.click(`#view-trace .traces tr:has(th:text-is("${name}")) button:text-is("${button}")`);
}

async function drawn(page, name) {
	await page.waitForSelector(`#view-trace .trace h3:text-is("${name}")`);
	const {wide, narrow} = await page.evaluate((at) => ({...document.querySelector(at).dataset}), CANVAS);
	const wrong = (await colours(page, known(), CANVAS)).filter(([is, wanted]) => is !== wanted);

	return Number(wide) === known().length && Number(narrow) === 0 && !wrong.length;
}

async function listed(page) {
	await page.keyboard.press("5");
	await page.waitForSelector("#view-trace .traces tbody tr");
	const names = await page.locator("#view-trace .traces tbody th").allTextContents();

	ok(names.join() === NAMES.join(), "trace: the recordings of the exporter, newest first", names.join());
	ok((await page.textContent("#view-trace .summary")).includes("3 older ones are not listed"), "trace: and how many are not listed");
}

async function shown(page) {
	await press(page, NAMES[1]);
	ok(await drawn(page, NAMES[1]), "trace: a recording is drawn, each slice in its place and colour");
	await page.click("#view-trace .waits tbody tr:first-child button");
	const chain = await page.locator("#view-trace ol li").allTextContents();

	ok(chain.join("\n") === CHAIN.join("\n"), "trace: the longest wait shows its chain", chain.join("\n"));
	await page.click("#view-trace button:text-is('all')");
	await page.focus(CANVAS);
	await page.keyboard.press("+");
	const view = await page.evaluate((at) => ({...document.querySelector(at).dataset}), CANVAS);

	ok(view.from === "125000" && view.to === "375000", "trace: keys of the picture zoom it", JSON.stringify(view));
	await page.screenshot({path: join(shots, "trace.png"), fullPage: true});
	const text = await page.textContent("#view-trace .trace");

	const first = await page.locator("#view-trace .waits tbody tr:first-child td").allTextContents();

	ok(first.join("|") === WAIT, "trace: the table has all of the longest wait", first.join("|"));
	ok(text.includes("5 more waits began before the recording") && text.includes("Nothing was lost, and nothing is left out"),
		"trace: what the file says of its losses is there", text.slice(0, 400));
}

// Checks that the page uses only the data of a file, because files are untrusted.
async function hostile(page) {
	await press(page, NAMES[0]);
	ok(await drawn(page, NAMES[0]), "trace: a file with markup in it is drawn");
	const found = await page.evaluate(() => ({title: document.title, scripts: document.scripts.length,
		inside: document.querySelectorAll("#view-trace :is(img, iframe, script, b, a)").length}));

	ok(found.title !== "owned" && found.scripts === 1 && !found.inside, "trace: nothing of it runs or becomes markup",
		JSON.stringify(found));
	await press(page, NAMES[2]);
	await page.waitForSelector("#view-trace .summary:has-text('not a whole file')");
	ok(true, "trace: a file that is not whole is refused with the reason");
}

async function own(page, folder) {
	await page.setInputFiles("#trace-file", join(folder, NAMES[1]));
	ok(await drawn(page, NAMES[1]), "trace: a file of the reader is drawn");
	const before = page.requests.length;

	await page.setInputFiles("#trace-file", "tests/web/trace.mjs");
	await page.waitForSelector("#view-trace .summary:has-text('not a whole file')");
	ok(page.requests.slice(before).every((url) => !url.includes("traces")), "trace: and is sent to nobody");
	// The page may have become narrower while the view was hidden.
	await page.keyboard.press("Escape");
	await page.click("#tab-cores");
	await page.setViewportSize({width: 360, height: 740});
	await page.click("#tab-trace");
	await page.waitForFunction((at) => {
		const canvas = document.querySelector(at);

		return canvas.clientWidth < 360 && Math.abs(canvas.width / devicePixelRatio - canvas.clientWidth) < 2;
	}, CANVAS);
	ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth + 1), "trace: fits a phone");
}

async function recordings(browser, folder) {
	const server = await Fixture.start("--traces", folder, "--token", "sesame");
	const page = await browser.page();

	await page.goto(server.url);
	await page.fill("#token", "sesame");
	await page.click("#token-form button");
	await page.waitForSelector(".core");
	// Clear the recorded problems, because one problem is expected: the server rejected the request without the token.
	page.problems.length = 0;
	await listed(page);
	await shown(page);
	await hostile(page);
	await own(page, folder);
	ok(!page.problems.length, "trace: no console errors", page.problems.join("\n"));
	ok(page.requests.every((url) => url.startsWith(server.url)), "trace: asks its own server only", page.requests.join("\n"));
	await page.close();
	server.stop();
}

async function none(browser) {
	const server = await Fixture.start(), page = await browser.page();

	await page.goto(server.url);
	await page.click("#tab-trace");
	await page.waitForSelector("#view-trace .notes li");
	ok((await page.textContent("#view-trace")).includes("this exporter shows no recordings") && !page.problems.length,
		"trace: without recordings the view says why", page.problems.join("\n"));
	await page.close();
	server.stop();
}

export async function traceTests() {
	const folder = mkdtempSync(join(tmpdir(), "subtick-trace-")), files = join(folder, "files");
	const browser = await Browser.open({viewport: {width: 1280, height: 900}});

	mkdirSync(files);
	make(files);
	await test("trace: recordings", () => recordings(browser, files));
	await test("trace: none", () => none(browser));
	await browser.close();
	rmSync(folder, {recursive: true, force: true});
}
