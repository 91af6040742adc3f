// SPDX-License-Identifier: LGPL-2.1-or-later
// Handles the controls in the page of `subtick trace -o FILE.html`: buttons, the table of waits, links.
import {Timeline} from "./timeline.js";

const byId = (id) => document.getElementById(id);
const timeline = new Timeline(JSON.parse(byId("data").textContent),
	{canvas: byId("rows"), view: byId("view"), about: byId("about"), chain: byId("chain"), chained: byId("chained")});

// A link with #FROM-TO, in ns, restores the visible time range.
function follow() {
	const found = /^#(\d+)-(\d+)$/.exec(location.hash);

	if (found && Number(found[1]) < Number(found[2]))
		timeline.show(Number(found[1]), Number(found[2]));
}

for (const button of document.querySelectorAll("button[data-do]"))
	button.addEventListener("click", timeline.deeds[button.dataset.do]);
for (const cell of document.querySelectorAll("[data-wait]")) {
	const button = Object.assign(document.createElement("button"), {textContent: "show"});

	button.addEventListener("click", () => timeline.choose(Number(cell.dataset.wait)));
	cell.append(" ", button);
}
byId("link").addEventListener("click", () => location.replace(`#${timeline.from}-${timeline.to}`));
addEventListener("hashchange", follow);
for (const query of ["print", "(prefers-color-scheme: dark)"])
	matchMedia(query).addEventListener("change", () => timeline.draw());
follow();
