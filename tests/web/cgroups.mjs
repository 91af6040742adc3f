// SPDX-License-Identifier: LGPL-2.1-or-later
// Creates real cgroups whose names contain markup. Each cgroup has a task that sometimes waits for a core.
import {spawn} from "node:child_process";
import {accessSync, constants, mkdirSync, readdirSync, rmdirSync, writeFileSync} from "node:fs";

const ROOTS = ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"];
const TRIES = 100;

export const tag = `subtick-web-${process.pid}`;

// Cgroup names with markup and control characters. A name cannot contain a slash, so a text with a slash is given as
// a pair of nested cgroups.
const NAMES = [
	["<script>document.title='owned'<", "script>"],
	["<img src=x onerror=\"document.title='owned'\">"],
	["quotes\"'`><b>bold<", "b>"],
	["return\rtab\ttwo  spaces"],
	["x".repeat(255 - Buffer.byteLength(`${tag} `))],
	[Buffer.from([0x62, 0x61, 0x64, 0xff, 0xfe, 0x80])],
];
// Text that the page must show for these cgroup names: control characters as codes, invalid bytes as U+FFFD.
export const shown = ["<script>document.title='owned'</script>", "onerror=\"document.title='owned'\">",
	"quotes\"'`><b>bold</b>", "return\\x0dtab\\x09two  spaces", "x".repeat(255 - tag.length - 1),
	"bad\ufffd\ufffd\ufffd"];

function hasCgroups(root) {
	try {
		return readdirSync(root, {withFileTypes: true}).some((entry) => entry.isDirectory());
	} catch {
		return false;
	}
}

// Returns the root of the cgroup hierarchy that the exporter measures: v1 if v1 contains cgroups, else v2.
export function cgroupRoot() {
	const onlyV2 = hasCgroups(ROOTS[1]) && !hasCgroups(ROOTS[0]);

	return ROOTS.slice(onlyV2 ? 1 : 0).find((root) => {
		try {
			accessSync(`${root}/cgroup.procs`, constants.W_OK);
			return true;
		} catch {
			return false;
		}
	});
}

function join(...parts) {
	return Buffer.concat(parts.flatMap((part, i) => i ? [Buffer.from("/"), Buffer.from(part)] : [Buffer.from(part)]));
}

export class Cgroups {
	constructor(root) {
		this.root = root;
		this.made = [];
		this.tasks = [];
		this.stop = () => this.remove();
		process.on("exit", this.stop);
		this.signal = () => process.exit(1);
		["SIGINT", "SIGTERM", "SIGHUP"].forEach((name) => process.on(name, this.signal));
	}

	make() {
		for (const [first, ...rest] of NAMES) {
			let path = join(this.root, Buffer.concat([Buffer.from(`${tag} `), Buffer.from(first)]));

			mkdirSync(path);
			this.made.push(path);
			for (const name of rest) {
				path = join(path, name);
				mkdirSync(path);
				this.made.push(path);
			}
			const task = spawn("sh", ["-c", "while :; do sleep 0.02; done"], {stdio: "ignore"});

			this.tasks.push(task);
			writeFileSync(join(path, "cgroup.procs"), String(task.pid));
		}
	}

	// True if the kernel accepts a cgroup name with a newline. If a later kernel does, this test must cover such
	// a name.
	takesNewline() {
		const path = join(this.root, `${tag} new\nline`);

		try {
			mkdirSync(path);
			this.made.push(path);
			return true;
		} catch {
			return false;
		}
	}

	// Removes the cgroups. The function waits synchronously, because it also runs at process exit.
	remove() {
		const clock = new Int32Array(new SharedArrayBuffer(4));

		process.off("exit", this.stop);
		["SIGINT", "SIGTERM", "SIGHUP"].forEach((name) => process.off(name, this.signal));
		this.tasks.forEach((task) => task.kill("SIGKILL"));
		for (let i = 0; i < TRIES && this.made.length; i++) {
			this.made = this.made.reverse().filter((path) => {
				try {
					rmdirSync(path);
					return false;
				} catch (error) {
					return error.code !== "ENOENT";
				}
			}).reverse();
			// Wait and retry, because a killed task may still be in its last sleep.
			Atomics.wait(clock, 0, 0, this.made.length ? 50 : 0);
		}
		return !this.made.length;
	}
}
