// SPDX-License-Identifier: GPL-2.0-or-later
// The text beside the map: the verdicts on sockets above it, the tip of the box under the
// pointer, the detail panel of a chosen box with its time series, and the table below with
// all numbers.
import {bytes, exact, past, percent, short, verdict} from "./model.js";
import {make} from "./draw.js";

const SPAN = 300;		// limit of the snapshots in a time series

export function element(name, attributes = {}, ...content) {
	const made = document.createElement(name);
	for (const [key, value] of Object.entries(attributes))
		made.setAttribute(key, value);
	made.append(...content);
	return made;
}

/** The first event of a box, in the syntax of perf and uncore stat, to be copied. */
export function eventOf(box) {
	return box.counters.length ? box.counters[0].event : box.pmu + "/…/";
}

/** Copies a text to the clipboard. @returns a message for the user. */
export async function copy(text) {
	try {
		await navigator.clipboard.writeText(text);
	} catch {
		// Browsers have navigator.clipboard only with HTTPS and for local servers.
		const field = element("textarea", {class: "aside"});
		field.value = text;
		document.body.append(field);
		field.select();
		const done = document.execCommand("copy");
		field.remove();
		if (!done)
			return "cannot copy: mark and copy " + text;
	}
	return "copied " + text;
}

/** Formats the rate of a counter in the unit of its series. */
function rateText(view, counter) {
	const rate = view.rate(counter);
	return counter.series.unit === "bytes" ? bytes(rate) : short(rate, "/s");
}

/** Describes the load of a box (View.load()) in a sentence. */
function meaning(load) {
	if (load.text === "not counted")
		return "not counted here";
	if (load.down)
		return `${load.text}: it is not measured, and what it does is not known`;
	const {limit, capacity, share} = load;
	const most = !limit ? "" : !Number.isFinite(share) ?
		`; what it can do at most is not known (${limit.basis})` :
		`: ${percent(share)} of ` + (!limit.unit ? "the most" : limit.unit === "B/s" ?
			bytes(capacity) : short(capacity, "/s")) + ` (the most: ${limit.basis})`;
	return `${load.text} ${load.what}${most}`;
}

// --- verdicts on sockets

const PAST = 60;		// snapshots in a sparkline: a minute

/** Draws shares, 0 to 1, as a small curve. A share between unknown shares is a dot. */
function sparkline(shares) {
	const svg = make("svg", {viewBox: "0 0 120 20", class: "spark", "aria-hidden": "true"});
	let d = "", pen = false;
	shares.forEach((share, i) => {
		const known = Number.isFinite(share);
		if (known)
			d += (pen ? "L" : "M") + (120 - 2 * (shares.length - 1 - i)).toFixed(0) +
				" " + (18 - 16 * Math.min(share, 1)).toFixed(1) + (pen ? "" : "h0");
		pen = known;
	});
	svg.append(make("path", {d: "M0 19H120", class: "axis"}), make("path", {d, class: "line"}));
	return svg;
}

export class Verdicts {
	constructor(root, machine) {
		this.rows = machine.sockets.map((socket) => {
			const head = element("strong"), text = element("span"),
				spark = element("span", {class: "past"});
			const line = element("p", {"data-socket": socket.id}, spark,
				element("span", {class: "name"}, `Socket ${socket.id}`), " · ", head, text);
			return {socket, line, head, text, spark};
		});
		root.replaceChildren(...this.rows.map((row) => row.line));
	}

	update(view) {
		const {all} = view.history;
		for (const {socket, line, head, text, spark} of this.rows) {
			const said = verdict(view, socket);
			line.className = said.limited ? "limited" : "";
			head.textContent = said.head;
			text.textContent = said.text ? ": " + said.text : "";
			spark.title = said.told ? said.told + ", the last minute" : "";
			spark.replaceChildren(sparkline(past(all.slice(
				Math.max(view.index + 1 - PAST, 0), view.index + 1), socket, said.told)));
		}
	}
}

// --- the tip

export class Tip {
	constructor(root) {
		this.root = root;
		this.box = null;
	}

	show(box, at, view) {
		this.box = box;
		this.at = at;
		this.update(view);
	}

	hide() {
		this.box = null;
		this.root.hidden = true;
	}

	update(view) {
		if (!this.box)
			return;
		const load = view.load(this.box);
		const rows = this.box.counters.map((one) => element("tr", {},
			element("td", {}, element("code", {}, one.event)),
			element("td", {class: "number"}, exact(view.count(one)))));
		this.root.replaceChildren(
			element("strong", {}, `${this.box.name}, socket ${this.box.socket}`),
			element("p", {}, meaning(load)),
			element("table", {}, ...rows),
			element("p", {class: "hint"}, view.counted ?
				`counted in ${view.seconds.toFixed(3)} s; click for the time series, C copies` :
				"nothing was counted"));
		this.root.hidden = false;
		const box = this.at.getBoundingClientRect(), own = this.root.getBoundingClientRect();
		const left = Math.min(Math.max(box.left, 8), innerWidth - own.width - 8);
		const below = box.bottom + 8 + own.height < innerHeight;
		this.root.style.left = Math.max(left, 4) + "px";
		this.root.style.top = (below ? box.bottom + 8 :
			Math.max(box.top - own.height - 8, 4)) + "px";
	}
}

// --- a box and its time series

/** Draws rates as a curve, with a mark at index now. @returns the SVG and the largest rate. */
function chart(points, now) {
	const width = 360, height = 44;
	const most = Math.max(...points.filter(Number.isFinite), 0);
	const svg = make("svg", {viewBox: `0 0 ${width} ${height}`, class: "chart",
		preserveAspectRatio: "none", role: "img",
		"aria-label": "time series, at most " + short(most, "/s")});
	const x = (i) => points.length > 1 ? i * width / (points.length - 1) : 0;
	let d = "", pen = false;
	points.forEach((value, i) => {
		if (Number.isFinite(value))
			d += (pen ? "L" : "M") + x(i).toFixed(1) + " " +
				(most ? height - 2 - (height - 6) * value / most : height - 2).toFixed(1);
		pen = Number.isFinite(value);
	});
	svg.append(make("path", {d: `M${x(now).toFixed(1)} 0V${height}`, class: "now"}),
		make("path", {d, class: "line"}));
	return [svg, most];
}

export class Detail {
	constructor(root, history, box) {
		this.root = root;
		this.history = history;
		this.box = box || null;
		if (!box)
			this.hide();
	}

	get id() {
		return this.box ? this.box.id : "";
	}

	hide() {
		this.box = null;
		this.root.hidden = true;
	}

	show(box, view) {
		this.box = box;
		this.root.hidden = false;
		this.update(view);
		this.root.querySelector("[data-close]").focus();
	}

	update(view) {
		if (!this.box)
			return;
		const box = this.box, focused = this.focus();
		const first = Math.max(0, Math.min(view.index - SPAN / 2,
			this.history.length - SPAN));
		const views = [];
		for (let i = first; i < Math.min(first + SPAN, this.history.length); i++)
			views.push(this.history.view(i));
		const rows = box.counters.map((one) => {
			const unitOf = one.series.unit === "bytes" ? "B/s" : "/s";
			const [svg, most] = chart(views.map((each) => each.rate(one)),
				view.index - first);
			return element("li", {},
				element("div", {class: "event"}, element("code", {}, one.event),
					element("button", {type: "button", "data-copy": one.event}, "Copy")),
				element("p", {class: "help"}, one.series.help || "",
					...(one.labels.length ? [` (${one.labels.join(", ")})`] : [])),
				svg,
				element("p", {class: "scale"}, `now ${rateText(view, one)}, at most ` +
					`${short(most, unitOf)}; counted ${exact(view.count(one))} in ` +
					`${view.seconds.toFixed(3)} s, ${exact(view.total(one))} in all`));
		});
		this.root.replaceChildren(
			element("header", {}, element("h2", {}, `${box.name} of socket ${box.socket}`),
				element("button", {type: "button", "data-close": "1",
					"aria-label": "Close"}, "✕")),
			element("p", {}, meaning(view.load(box)) + (view.share(box) < 1 ?
				`; counted for ${percent(view.share(box))} of the time, and scaled` : "")),
			rows.length ? element("ul", {}, ...rows) :
				element("p", {}, "This program counts no event of it; ",
					element("code", {}, `uncore list ${box.box}`),
					" has those that there are."));
		if (focused && this.root.querySelector(focused))
			this.root.querySelector(focused).focus();
	}

	/** Selector of the button that has the focus. update() replaces all elements, and gives
	    the new button the focus again. */
	focus() {
		const now = document.activeElement;
		if (!now || !this.root.contains(now))
			return "";
		return now.dataset.copy ? `[data-copy="${CSS.escape(now.dataset.copy)}"]` :
			"[data-close]";
	}
}

// --- the table

export class Table {
	constructor(root, details, machine) {
		this.details = details;
		this.rows = [];
		const body = element("tbody");
		for (const box of machine.boxes) {
			for (const one of box.counters.length ? box.counters : [null]) {
				const cells = Array.from({length: 4}, () => element("td", {class: "number"}));
				const row = element("tr", {"data-socket": box.socket,
					"data-event": one ? one.event : box.pmu},
					element("td", {}, String(box.socket)), element("td", {}, box.name),
					element("td", {}, element("code", {}, one ? one.event :
						"not counted")), ...cells);
				body.append(row);
				this.rows.push({box, one, cells});
			}
		}
		const head = ["Socket", "Box", "Event", "A second", "Counted", "In all",
			"Of the most"].map((text) => element("th", {scope: "col"}, text));
		root.replaceChildren(element("table", {},
			element("caption", {}, "Counted: between this snapshot and the one before. " +
				"In all: since the first one."),
			element("thead", {}, element("tr", {}, ...head)), body));
	}

	update(view) {
		if (!this.details.open)
			return;
		for (const {box, one, cells} of this.rows) {
			if (one) {
				cells[0].textContent = rateText(view, one);
				cells[1].textContent = exact(view.count(one));
				cells[2].textContent = exact(view.total(one));
			}
			cells[3].textContent = percent(view.load(box).share);
		}
	}
}
