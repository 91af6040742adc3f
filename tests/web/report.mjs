// SPDX-License-Identifier: LGPL-2.1-or-later
// The file of `subtick report` in real Chromium: from file://, without a request, with hostile names.
import {execFileSync} from "node:child_process";
import {mkdtempSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {pathToFileURL} from "node:url";
import {Browser, Fixture, ok, shots, test} from "./browser.mjs";

const SUBTICK = join(process.env.SUBTICK_BUILD, "subtick");

async function look(browser, file, name) {
	const page = await browser.page(), url = pathToFileURL(file).href;

	await page.goto(url);
	const found = await page.evaluate(() => ({
		title: document.title,
		headings: [...document.querySelectorAll("h2")].map((h2) => h2.textContent),
		alien: document.querySelectorAll("script, img, b, a, iframe, link, object").length,
		pictures: document.querySelectorAll("svg").length,
		wide: document.documentElement.scrollWidth > innerWidth + 1,
		cut: [...document.querySelectorAll("svg")].flatMap((svg) => {
			const box = svg.getBoundingClientRect();

			return [...svg.querySelectorAll("text")].filter((node) => {
				const at = node.getBoundingClientRect();

				return at.left < box.left - 1 || at.right > box.right + 1;
			}).map((node) => node.textContent.slice(0, 60));
		}),
		text: document.body.textContent,
	}));

	ok(page.requests.length === 1 && page.requests[0] === url, `report: ${name} asks for nothing`,
		page.requests.join("\n"));
	ok(!page.problems.length, `report: ${name} has no console errors`, page.problems.join("\n"));
	ok(found.title === "subtick report" && !found.alien, `report: ${name} holds no script and no markup of names`,
		`${found.title}, ${found.alien}`);
	ok(found.headings.join() === "Summary,Plots,Tables,Method", `report: ${name} begins with the summary`,
		found.headings.join());
	ok(found.pictures > 0 && !found.wide, `report: ${name} has pictures and fits`, JSON.stringify(found.pictures));
	ok(!found.cut.length, `report: ${name} cuts no text of a picture`, found.cut.slice(0, 10).join("\n"));
	await page.screenshot({path: join(shots, `report-${name}.png`), fullPage: true});
	await printed(page, name);
	await page.pdf({path: join(shots, `report-${name}.pdf`), format: "A4"});
	await page.close();
	return found.text;
}

// As wide as A4 between the margins of the document: on paper nothing scrolls into sight.
async function printed(page, name) {
	const before = page.viewportSize();

	await page.emulateMedia({media: "print", colorScheme: "dark"});
	await page.setViewportSize({width: Math.floor((210 - 2 * 12) / 25.4 * 96), height: 1000});
	const found = await page.evaluate(() => ({
		cut: [...document.querySelectorAll("table, svg, li, p")].filter((node) =>
			node.getBoundingClientRect().right > innerWidth + 1).map((node) => node.textContent.slice(0, 60)),
		tall: [...document.querySelectorAll("svg")].filter((node) => node.getBoundingClientRect().height > 950).length,
		back: getComputedStyle(document.body).backgroundColor,
	}));

	ok(!found.cut.length && !found.tall, `report: ${name} is not cut by a sheet of paper`, JSON.stringify(found));
	ok(found.back === "rgb(255, 255, 255)", `report: ${name} prints dark on white`, found.back);
	await page.emulateMedia({media: "screen", colorScheme: "light"});
	await page.setViewportSize(before);
}

async function hostile(browser, folder) {
	const server = await Fixture.start("--cpus", "8", "--hostile", "--losses");
	const files = [];

	for (const noun of ["load", "runq", "wake", "doctor"]) {
		const answer = await fetch(`${server.url}api/v1/${noun}`);

		files.push(join(folder, `${noun}.json`));
		writeFileSync(files.at(-1), await answer.text());
	}
	server.stop();
	const out = join(folder, "hostile.html");

	execFileSync(SUBTICK, ["report", "-o", out, "--from", ...files], {stdio: "pipe"});
	const text = await look(browser, out, "hostile");

	for (const part of ["/<script>document.title='owned'</script>", "/quotes\"'`><b>bold</b>",
		"/new\\x0aline", "x".repeat(254), "/bad\ufffd\ufffd utf8"])
		ok(text.includes(part), `report: shows ${JSON.stringify(part.slice(0, 40))} as text`);
	ok(text.includes("12 waits of groups") || text.includes("12 table_full_total"),
		"report: losses are in the summary", text.slice(0, 400));
}

async function many(browser, folder) {
	const server = await Fixture.start("--cpus", "256", "--cgroups", "2000");
	const files = [];

	for (const noun of ["load", "runq"]) {
		files.push(join(folder, `${noun}.json`));
		writeFileSync(files.at(-1), await (await fetch(`${server.url}api/v1/${noun}`)).text());
	}
	server.stop();
	const out = join(folder, "many.html");

	execFileSync(SUBTICK, ["report", "-o", out, "--from", ...files], {stdio: "pipe"});
	const text = await look(browser, out, "many");

	ok(text.includes("the first 100 of 2000 rows"), "report: says how many of 2,000 groups it shows");
}

async function measured(browser, folder) {
	const out = join(folder, "measured.html");

	execFileSync(SUBTICK, ["report", "--seconds", "1", "--collect", "doctor,load", "-o", out], {stdio: "pipe"});
	const text = await look(browser, out, "measured");

	ok(/busy \d+\.\d% of the time/.test(text), "report: of this machine says how busy it was");
}

export async function reportTests() {
	const folder = mkdtempSync(join(tmpdir(), "subtick-report-"));
	const browser = await Browser.open({viewport: {width: 1100, height: 900}});

	await test("report: hostile names", () => hostile(browser, folder));
	await test("report: many", () => many(browser, folder));
	await test("report: measured", () => measured(browser, folder));
	await browser.close();
	rmSync(folder, {recursive: true, force: true});
}
