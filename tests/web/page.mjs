// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the live page in Chromium with made-up figures: every view, hostile names, large reports.
import {join} from "node:path";
import {Browser, Fixture, ok, shots, test} from "./browser.mjs";
import {pastTests} from "./past.mjs";

const VIEWS = ["cores", "runq", "wake", "noise", "trace", "doctor"];

async function views(page, name) {
	for (const view of VIEWS) {
		await page.click(`#tab-${view}`);
		await page.waitForFunction((id) => {
			const panel = document.getElementById(id);

			return !panel.hidden && panel.querySelector(".summary").textContent.length > 8;
		}, `view-${view}`);
		await page.waitForTimeout(700);
		await page.screenshot({path: join(shots, `${name}-${view}.png`), fullPage: view !== "runq"});
	}
}

// True if the page is not wider than the window, so that a phone does not scroll sideways.
async function fits(page) {
	return page.evaluate(() => document.documentElement.scrollWidth <= innerWidth + 1);
}

// Adds windows of one measurement at given times (in seconds), and checks the list of findings after each window.
async function steadyFindings(page) {
	const seen = await page.evaluate(async () => {
		const {Findings} = await import("./findings.js");
		const place = document.createElement("div"), list = new Findings(place, () => {});
		const texts = () => [...place.querySelectorAll("li")].map((item) => item.textContent);
		const add = (second, ...findings) => {
			list.add("runq", {time_unix_ns: second * 1e9, window_ns: 1e9, findings: findings.map(([victim, lost]) =>
				({rule: "quota", finding: `${victim} waits`, victim, culprit: null, cpu: null, lost_ns: lost, next: null}))});
			return texts();
		};

		return [add(100, ["a", 9e8], ["b", 5e8]), add(101, ["b", 8e8], ["a", 1e8]), add(111, ["b", 8e8], ["a", 1e8]),
			add(112, ["b", 8e8]), add(171, ["b", 8e8]), add(173, ["b", 8e8])];
	});
	const order = seen.map((texts) => texts.map((text) => text[0]).join(""));

	ok(order[0] === "ab" && order[1] === "ab", "findings: the order stays for 10 s", JSON.stringify(seen));
	ok(order[2] === "ba", "findings: after 10 s the largest is first", JSON.stringify(seen));
	ok(/Ended at/.test(seen[3][1]) && order[4] === "ba", "findings: one that ended is shown for a minute", JSON.stringify(seen));
	ok(order[5] === "b", "findings: one that ended a minute ago is gone", JSON.stringify(seen));
}

async function small(browser) {
	const server = await Fixture.start("--cpus", "2", "--hostile", "--losses");
	const page = await browser.page();

	await page.goto(server.url);
	await page.waitForSelector("#state:has-text('live')");
	await page.waitForSelector(".core");
	ok(await page.locator(".core").count() === 2, "page: a bar for each of two cores");
	const width = () => page.evaluate(() =>
		document.querySelector(".core .ctx-task").getBoundingClientRect().width);
	const before = await width();

	await page.waitForFunction((was) => Math.abs(
		document.querySelector(".core .ctx-task").getBoundingClientRect().width - was) > 3, before);
	ok(true, "page: the bars move with the stream");
	ok(await page.locator(".core .mark:visible").count() === 2, "page: the busy share of /proc/stat is marked");
	ok((await page.textContent("#view-cores .legend")).includes("more than 7 points off") &&
		/7 points on/.test(await page.textContent("#view-cores .summary")),
	"page: where /proc/stat is called wrong comes with the figures", await page.textContent("#view-cores"));
	ok((await page.textContent("#losses")).includes(": waits of groups that got no slot") &&
		(await page.textContent("#losses")).includes(": abandoned samples"),
	"page: losses are named above every view", await page.textContent("#losses"));
	const shared = await page.textContent("#view-cores");

	ok(/CPUs 0,1\s*50\.0 % both, 30\.0 % one/.test(shared) && shared.includes("<script>document.title='owned'</script> beside /batch"),
		"page: shared cores and the cgroups that share them, as text", shared);
	await page.waitForFunction(() => document.querySelectorAll("#findings li").length === 2);
	ok((await page.textContent("#findings li:first-child")).includes("waits <i>640</i> ms per second."),
		"page: the finding that loses most time comes first, as text", await page.innerHTML("#findings"));
	ok((await page.textContent("#findings li:last-child")).endsWith("CPU 1 is 60.0 % busy. Next: subtick audit"),
		"page: a finding has its next step", await page.innerHTML("#findings"));
	await page.click("#findings li:first-child button");
	ok(await page.isVisible("#view-runq .detail") && await page.getAttribute("#tab-runq", "aria-selected") === "true",
		"page: a finding leads to its view and its group", await page.innerHTML("#view-runq .detail"));
	await page.click("#view-runq .detail .close");
	await page.click("#tab-cores");
	await steadyFindings(page);
	await page.waitForFunction(() => document.getElementById("losses").textContent.includes("none in the last window"));
	ok(!await page.evaluate(() => document.getElementById("losses").classList.contains("bad")),
		"page: what was lost earlier is no alarm now", await page.innerHTML("#losses"));
	await page.click(".core >> nth=1");
	await page.waitForSelector("figcaption:has-text('CPU 1')");
	ok(await page.locator("#view-cores canvas").count() === 2, "page: history of one core on a click");
	const time = () => page.textContent("#view-cores .plot-legend .value >> nth=0");
	const early = await time();

	// Wait until the history is longer than one second.
	await page.waitForFunction((was) =>
		document.querySelector("#view-cores .plot-legend .value").textContent !== was, early);
	await page.click("#pause");
	const last = await time();

	await page.hover("#view-cores canvas >> nth=0", {position: {x: 70, y: 60}});
	const pointed = await time();

	await page.hover("h1");
	ok(isEarlier(pointed, last) && await time() === last, "page: a plot shows the values at the pointer, else the last ones",
		`${pointed} at the left edge, ${last} and ${await time()} without a pointer`);
	await page.click("#pause");
	await views(page, "two");
	await distribution(page);
	await noise(page);
	await hostile(page);
	await keyboard(page);
	ok(!page.problems.length, "page: no console errors", page.problems.join("\n"));
	ok(page.requests.every((url) => url.startsWith(server.url)), "page: asks its own server only",
		page.requests.filter((url) => !url.startsWith(server.url)).join("\n"));
	await page.close();
	server.stop();
}

// Returns whether the time of day a, as "23:59:58", is at most 12 hours before b. b may be on the next day.
function isEarlier(a, b) {
	const seconds = (text) => text.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
	const day = 24 * 3600, passed = (seconds(b) - seconds(a) + day) % day;
	return passed > 0 && passed < day / 2;
}

// Checks the plot of the distribution by its pixels and its text. The colour of each idle state and the claims of the
// driver must appear.
async function distribution(page) {
	await page.click("#tab-wake");
	await page.waitForSelector("#view-wake .columns canvas");
	const found = await page.evaluate(() => {
		const style = getComputedStyle(document.documentElement);
		const canvas = document.querySelector("#view-wake .columns canvas");
		const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
		const drawn = new Set();

		for (let at = 0; at < data.length; at += 4)
			if (data[at + 3] === 255)
				drawn.add("#" + [0, 1, 2].map((i) => data[at + i].toString(16).padStart(2, "0")).join(""));
		return {
			labels: [...document.querySelectorAll("#view-wake .columns figure:first-child .plot-legend li")]
				.map((node) => node.textContent),
			colors: ["--ctx-task", "--ctx-hardirq", "--ctx-poll_idle"].map((name) =>
				drawn.has(style.getPropertyValue(name).trim())),
			text: document.querySelector("#view-wake").textContent,
		};
	});

	ok(["POLL", "C1", "C6"].every((name) => found.labels.some((label) => label.startsWith(name))) &&
		found.colors.every(Boolean), "page: wake latency is a distribution per idle state", JSON.stringify(found));
	ok(found.text.includes("Dashed: the exit latency that the driver claims"),
		"page: what the driver claims is in the distribution", found.text.slice(0, 400));
}

// Checks the view "noise". In the fixture, the second core has more noise than the first core, and the timer of the
// second core takes one nanosecond longer.
async function noise(page) {
	await page.click("#tab-noise");
	await page.waitForSelector(".noise-sources tbody tr");
	const found = await page.evaluate(() => {
		const texts = (at) => [...document.querySelectorAll(at)].map((cell) => cell.textContent);
		const bar = document.querySelector(".noise-cores .bar").getBoundingClientRect().width;

		return {
			summary: document.querySelector("#view-noise .summary").textContent,
			cores: texts(".noise-cores tbody th"),
			core: texts(".noise-cores tbody tr:first-child td.number"),
			interrupts: document.querySelector(".noise-cores .ctx-hardirq").getBoundingClientRect().width / bar,
			source: texts(".noise-sources tbody tr:first-child :is(th, td)"),
			sources: document.querySelectorAll(".noise-sources tbody tr").length,
			hit: texts(".noise-hits tbody tr:first-child :is(th, td)"),
			hits: document.querySelector(".noise-hits caption").textContent,
			delay: texts(".noise-delays tbody tr:first-child :is(th, td)"),
			delays: document.querySelector(".noise-delays caption").textContent,
			work: texts(".noise-functions tbody tr:first-child :is(th, td)"),
			markup: document.querySelectorAll("#view-noise b, #view-noise script").length,
			plots: document.querySelectorAll("#view-noise canvas").length,
		};
	});

	ok(/^CPU 1 loses most: 0\.1\d % of its time, 501 events per second, the longest 13\.0 µs\.$/.test(found.summary) &&
		found.cores.join() === "CPU 1,CPU 0" && /^0\.1\d %,501,13\.0 µs$/.test(found.core.join()) &&
		found.interrupts > 0.6 && found.interrupts < 0.8 && found.plots === 2,
	"page: noise of each core by kind, the worst first", JSON.stringify(found));
	ok(found.sources === 10 && found.source.slice(0, 6).join() ===
		"arch_timer (line 11),CPU 1,100,300 µs,15.0 µs,30.0 µs", "page: its sources, most time first", JSON.stringify(found));
	ok(found.hit[0].includes("document.title='owned'") && found.hit.slice(1).join() ===
		"1.00 ms,5.00 µs,7.00 µs,9.00 µs,<b>nginx</b>, PID 4711" && found.hits.startsWith("20 of 31 rows") && !found.markup,
	"page: whom noise hit, as text", JSON.stringify(found));
	ok(found.delay.join() === "NET_RX,CPU 1,10,50.0 µs,10.0 µs,12.5 µs" && found.delays.startsWith("4 of 4 rows"),
		"page: delay of softirqs, most time first", JSON.stringify(found.delay));
	ok(found.work.join() === "blk_mq_run_work_fn,CPU 1,30,90.0 µs,9.00 µs,90.0 µs,180 µs",
		"page: what kernel workers executed", JSON.stringify(found.work));
	await page.keyboard.press("/");
	await page.keyboard.type("softirq cpu 0");
	await page.waitForFunction(() => document.querySelectorAll(".noise-sources tbody tr").length === 1);
	const only = await page.textContent(".noise-sources tbody");

	ok(only.startsWith("TIMERCPU 0") && only.endsWith("rcu_nocbs=, timer migration"),
		"page: / filters the sources, and each has what would move it", only);
	await page.fill("#noise-filter", "");
	ok((await page.textContent("#losses")).includes(": events whose source found no room"),
		"page: what noise lost is named", await page.textContent("#losses"));
}

// Checks the view of a disabled collector, which must show the command line that enables the collector.
async function without(browser) {
	const server = await Fixture.start("--without", "noise");
	const page = await browser.page();

	await page.goto(server.url);
	await page.waitForSelector(".core");
	await page.keyboard.press("4");
	await page.waitForSelector("#view-noise .summary:has-text('subtick serve')");
	ok((await page.innerText("#view-noise")).trim() === "subtick serve --collect load,runq,wake,noise",
		"page: a tab without figures has the command line and nothing else", await page.innerText("#view-noise"));
	await page.close();
	server.stop();
}

async function hostile(page) {
	await page.click("#tab-runq");
	await page.waitForSelector(".runq tbody tr");
	const found = await page.evaluate(() => ({
		title: document.title,
		// The page must contain only its own markup, and no markup from hostile names.
		inside: document.querySelectorAll("main img, main b, main script, main a").length,
		names: [...document.querySelectorAll(".runq tbody th")].map((th) => th.textContent),
		scripts: document.scripts.length,
	}));

	ok(found.title === "<b>web-7</b> – subtick" && found.inside === 0 && found.scripts === 1,
		"page: hostile names are text, never markup", JSON.stringify(found));
	for (const part of ["/<script>document.title='owned'</script>", "/quotes\"'`><b>bold</b>",
		"/new\\x0aline\\x0d\\x09tab", "x".repeat(254), "/bad\ufffd\ufffd utf8", "\\xe2\\x80\\xaedesrever",
		"(empty)", "__proto__"])
		ok(found.names.some((name) => name.includes(part)), `page: shows ${JSON.stringify(part.slice(0, 40))}`,
			found.names.slice(0, 12).join("\n"));
	await page.click(".runq tbody th button >> nth=0");
	await page.waitForSelector(".detail:visible .bars");
	ok(await page.locator(".detail .bars").count() === 2, "page: histogram and causes of a group on a click");
	ok(await page.locator(".detail canvas").count() === 1, "page: history of that group");
	await page.screenshot({path: join(shots, "two-runq-detail.png"), fullPage: true});
	ok(await page.locator(".heatmap td.heat").count() > 16, "page: victims by culprits as a heat map");
	const idle = await page.textContent(".idle-states");

	ok(idle.includes("20 of 30 pairs") && idle.includes("C6") && idle.includes("30.0 ms, 10 ×") &&
		await page.locator(".idle-states tbody tr").count() === 20 &&
		(await page.textContent("#view-runq .notes")).includes("a latency limit of 132 us"),
	"page: who waited for cores to leave an idle state, the largest first, with the advice", idle);
	await pressure(page);
}

// Checks the pressure table. In the fixture, the window is one second, and the first row is the machine: it waits for
// 30 % of wall time, 21 % for quota.
async function pressure(page) {
	const found = await page.evaluate(() => {
		const row = document.querySelector(".pressure tbody tr");
		const bar = row.querySelector(".bar").getBoundingClientRect().width;

		return {
			cells: [...row.querySelectorAll("th, td.number")].map((cell) => cell.textContent),
			widths: [...row.querySelectorAll(".part")].map((part) =>
				Math.round(part.getBoundingClientRect().width / bar * 100)),
			rows: document.querySelectorAll(".pressure tbody tr").length,
			text: document.querySelector(".pressure").textContent,
		};
	});

	ok(found.cells.join() === "this machine,30.0 %,21.0 %,15.0 %,12.3 %" && found.widths.join() === "6,0,3,21" &&
		found.rows === 20 && found.text.includes("20 of 30 rows") && found.text.includes("document.title='owned'"),
	"page: how long somebody waited, by cause, the machine first, beside PSI", JSON.stringify(found));
}

async function keyboard(page) {
	await page.keyboard.press("Escape");
	await page.waitForSelector(".detail", {state: "hidden"});
	await page.keyboard.press("/");
	await page.keyboard.type("pod3");
	await page.waitForFunction(() => [...document.querySelectorAll(".runq tbody th")]
		.every((th) => th.textContent.includes("pod3")));
	ok(await page.locator(".runq tbody tr").count() > 0, "page: / filters the groups");
	await page.fill("#runq-filter", "");
	await page.locator("#tab-runq").focus();
	await page.keyboard.press("ArrowRight");
	ok(await page.evaluate(() => document.activeElement.id === "tab-wake" &&
		!document.getElementById("view-wake").hidden), "page: arrows move between the views");
	await page.keyboard.press("1");
	await page.keyboard.press("p");
	await page.waitForSelector("#state:has-text('paused')");
	const still = () => page.textContent(".core .busy");
	const was = await still();

	await page.waitForTimeout(1500);
	ok(await still() === was, "page: p stops the picture");
	await page.keyboard.press("p");
	await page.waitForFunction((old) => document.querySelector(".core .busy").textContent !== old, was);
	ok(true, "page: and p again lets it go on");
	const unnamed = await page.evaluate(() => [...document.querySelectorAll("button, input, [role=img]")]
		.filter((node) => !(node.getAttribute("aria-label") || node.textContent.trim() ||
			node.labels?.length)).map((node) => node.outerHTML.slice(0, 100)));

	ok(!unnamed.length, "page: every control has a name", unnamed.join("\n"));
}

// Computes the contrast of text against its background by the formula of WCAG.
async function contrast(page) {
	return page.evaluate(() => {
		const channel = (c) => c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4;
		const parse = (text) => text.match(/[\d.]+/g).map(Number);
		const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
		const behind = (node) => {
			for (let at = node; at; at = at.parentElement) {
				const c = parse(getComputedStyle(at).backgroundColor);

				if (c.length === 3 || c[3] === 1)
					return c;
			}
			return [255, 255, 255];
		};
		const bad = [];

		for (const node of document.querySelectorAll("main *, header *, footer *, #losses *, [role=tab]")) {
			const own = [...node.childNodes].some((n) => n.nodeType === 3 && n.data.trim());

			if (!own || !node.getClientRects().length || node.closest(".heat, .offline, svg"))
				continue;
			const a = light(parse(getComputedStyle(node).color)), b = light(behind(node));
			const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);

			if (ratio < 4.5)
				bad.push(`${ratio.toFixed(2)} ${node.tagName}.${node.className}: ${node.textContent.slice(0, 40)}`);
		}
		return bad;
	});
}

async function large(browser) {
	const server = await Fixture.start("--cpus", "256", "--cgroups", "2000", "--interval", "1", "--hostile");
	const page = await browser.page();

	await page.goto(server.url);
	await page.waitForFunction(() => document.querySelectorAll(".core").length === 256);
	const height = await page.evaluate(() => document.querySelector(".cores").getBoundingClientRect().height);

	ok(height < 2400, "page: 256 cores in some two screens", `${height} pixels`);
	ok(await page.locator(".core.offline").count() === 1, "page: an offline core is told apart");
	await views(page, "many");
	await page.click("#tab-runq");
	await page.waitForFunction(() => document.querySelectorAll(".runq tbody tr").length === 50);
	ok((await page.textContent("#view-runq")).includes("50 of 2,000 groups"), "page: 50 of 2,000 groups, and says so");
	await page.click("text=Show 50 more");
	await page.waitForFunction(() => document.querySelectorAll(".runq tbody tr").length === 100);
	ok(await page.locator(".heatmap tbody tr").count() === 17, "page: the heat map sums what is beyond 16");
	// Measure the time for which a redraw blocks the page.
	const ms = await page.evaluate(() => new Promise((resolve) => {
		let worst = 0, last = performance.now(), left = 60;
		const beat = () => {
			worst = Math.max(worst, performance.now() - last);
			last = performance.now();
			if (left-- > 0)
				setTimeout(beat, 50);
			else
				resolve(worst);
		};

		beat();
	}));

	console.log(`# longest time without an answer at 256 cores and 2,000 groups: ${ms.toFixed(0)} ms`);
	ok(!page.problems.length, "page: no console errors with many", page.problems.join("\n"));
	await page.close();
	server.stop();
}

// Checks that a page with the dark theme is printed in dark colours on white.
async function printed(page) {
	await page.click("#tab-cores");
	await page.emulateMedia({media: "print"});
	await page.waitForTimeout(700);
	const found = await page.evaluate(() => ({back: getComputedStyle(document.body).backgroundColor,
		buttons: [...document.querySelectorAll("header button, [role=tablist], footer")]
			.filter((node) => node.offsetHeight).length}));

	ok(found.back === "rgb(255, 255, 255)" && !found.buttons, "page: on paper it is white, with nothing to press",
		JSON.stringify(found));
	await page.screenshot({path: join(shots, "print-cores.png"), fullPage: true});
	await page.emulateMedia({media: "screen"});
}

async function dark() {
	const server = await Fixture.start("--cpus", "8", "--losses", "--hostile");
	const browser = await Browser.open({colorScheme: "dark"});
	const page = await browser.page();

	await page.goto(server.url);
	await page.waitForSelector(".core");
	await views(page, "dark");
	for (const view of VIEWS) {
		await page.click(`#tab-${view}`);
		const bad = await contrast(page);

		ok(!bad.length, `page: dark ${view} has contrast`, bad.slice(0, 10).join("\n"));
	}
	const back = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);

	ok(back === "rgb(15, 20, 25)", "page: dark when the reader's system is", back);
	await printed(page);
	ok(!page.problems.length, "page: no console errors in dark", page.problems.join("\n"));
	await browser.close();
	server.stop();
}

async function phone() {
	const server = await Fixture.start("--cpus", "4", "--hostile", "--losses");
	const browser = await Browser.open({viewport: {width: 390, height: 844}, isMobile: true, hasTouch: true,
		deviceScaleFactor: 2});
	const page = await browser.page();

	await page.goto(server.url);
	await page.waitForSelector(".core");
	await views(page, "phone");
	for (const view of VIEWS) {
		await page.click(`#tab-${view}`);
		ok(await fits(page), `page: ${view} does not scroll sideways on a phone`);
		const bad = await contrast(page);

		ok(!bad.length, `page: light ${view} has contrast`, bad.slice(0, 10).join("\n"));
	}
	ok(!page.problems.length, "page: no console errors on a phone", page.problems.join("\n"));
	await browser.close();
	server.stop();
}

async function token(browser) {
	const server = await Fixture.start("--token", "s3cret");
	const page = await browser.page();

	await page.goto(server.url);
	await page.waitForSelector("#token-form:visible");
	await page.fill("#token", "s3cret");
	await page.click("#token-form button");
	await page.waitForSelector(".core");
	ok(true, "page: asks for the exporter's token and uses it");
	await page.close();
	server.stop();
}

async function outage(browser) {
	let server = await Fixture.start("--cpus", "2");
	const page = await browser.page();

	await page.goto(server.url);
	await page.waitForSelector("#state:has-text('live')");
	server.child.kill();
	await page.waitForSelector("#state:has-text('connection lost')");
	ok(true, "page: says so when the exporter is gone");
	await page.close();
}

export async function pageTests() {
	const browser = await Browser.open();

	await test("page: two cores", () => small(browser));
	await test("page: 256 cores and 2,000 groups", () => large(browser));
	await test("past", () => pastTests(browser));
	await test("page: token", () => token(browser));
	await test("page: outage", () => outage(browser));
	await test("page: without noise", () => without(browser));
	await browser.close();
	await test("page: dark", dark);
	await test("page: phone", phone);
}
