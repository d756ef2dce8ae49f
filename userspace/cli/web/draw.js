// SPDX-License-Identifier: GPL-2.0-or-later
// Draws the map as SVG: plan() computes the place of each box, class DieMap draws the boxes
// and colours them by their share (model.js). Names come from the machine and are not
// trusted: they are set as text, never as markup.
import {bytes, percent, summary} from "./model.js";

const NS = "http://www.w3.org/2000/svg";

/* Colours for shares from 0 to 1. Their lightness changes in one direction, away from the
   background, so that they can be told apart without seeing colours. */
const SCALES = {
	dark: [[58, 62, 122], [50, 88, 140], [45, 134, 146], [93, 182, 116], [242, 227, 76]],
	light: [[205, 222, 192], [152, 205, 168], [88, 176, 169], [44, 122, 160], [41, 56, 128]],
};

export function colour(theme, share) {
	if (!Number.isFinite(share))
		return null;
	const scale = SCALES[theme];
	const at = Math.min(Math.max(share, 0), 1) * (scale.length - 1);
	const low = Math.min(Math.floor(at), scale.length - 2);
	return scale[low].map((part, i) =>
		Math.round(part + (scale[low + 1][i] - part) * (at - low)));
}

const css = (rgb) => rgb && "rgb(" + rgb.join(",") + ")";

/** Black or white, whichever is easier to read on a colour: by its relative luminance. */
function ink(rgb) {
	const [r, g, b] = rgb.map((one) => {
		one /= 255;
		return one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4;
	});
	return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.19 ? "#0b0e14" : "#ffffff";
}

export function make(name, attributes = {}, text) {
	const made = document.createElementNS(NS, name);
	for (const [key, value] of Object.entries(attributes))
		made.setAttribute(key, value);
	if (text !== undefined)
		made.textContent = text;
	return made;
}

/** Compresses the letters of a text that is wider than most: machines with many channels
    have narrow boxes. */
function squeeze(text, most) {
	text.removeAttribute("textLength");
	if (text.getComputedTextLength() <= most)
		return;
	text.setAttribute("textLength", most);
	text.setAttribute("lengthAdjust", "spacingAndGlyphs");
}

// --- the plan: places of boxes, rings and arrows

/* Sizes in units of the SVG, on a wide page: of a socket's panel (width), between panels
   (gap), inside of its border (pad), of its title (head), of the column of links (side),
   between boxes (space); heights of boxes (row, slice, channel, stop) and of the arrows
   between home agents and channels (link); channels in a row (perRow); cache slices in a row
   where there is no ring (columns); weights of the widths of AGENTS. On a narrow page links
   are above or below the boxes (side 0). */
const WIDE = {
	width: 620, gap: 120, pad: 14, head: 82, side: 112, space: 8, row: 56, slice: 42,
	channel: 62, link: 34, perRow: 8, columns: 7, agents: [98, 98, 84, 112, 68], stop: 26,
};
const NARROW = {
	width: 368, gap: 84, pad: 10, head: 80, side: 0, space: 6, row: 52, slice: 38,
	channel: 52, link: 30, perRow: 4, columns: 4, agents: [1, 1], stop: 24,
};
/* Kinds of boxes (model.js) of the first row, in this order. Boxes whose kind is not in
   PLACED come last. */
const AGENTS = ["io/unit", "io/stack", "io/stop", "power/unit", "/clock"];
const PLACED = new Set([...AGENTS, "cache/slice", "/stop", "memory/agent", "memory/channel",
	"link/link", "link/stop"]);

/** Puts boxes side by side; their widths are in the ratio of the weights, or equal. */
function inRow(places, boxes, x, y, width, height, space, weights) {
	const all = boxes.map((_, i) => weights ? weights[i % weights.length] : 1);
	const unit = (width - space * (boxes.length - 1)) / all.reduce((a, b) => a + b, 0);
	boxes.forEach((box, i) => {
		places.push({box, x, y, width: all[i] * unit, height});
		x += all[i] * unit + space;
	});
}

/** Puts boxes in rows of perRow boxes. @returns the y below them. */
function inRows(places, boxes, perRow, x, y, width, height, space, weights) {
	for (let i = 0; i < boxes.length; i += perRow) {
		const row = boxes.slice(i, i + perRow);
		// Boxes of an incomplete last row are as wide as the others.
		const part = weights || i === 0 ? width :
			(width + space) * row.length / perRow - space;
		inRow(places, row, x, y, part, height, space, weights);
		y += height + space;
	}
	return y;
}

/**
 * Puts the rings, one for each two stops (SBo), at most two, with the cache slices divided
 * among them in the order of their numbers: no register tells on which ring a slice is.
 */
function putRings(of, plan, x, y, width) {
	const slices = of("cache/slice"), stops = of("/stop");
	const rings = Math.max(1, Math.min(Math.ceil(stops.length / 2), 2));
	const each = (width - plan.space * 2 * (rings - 1)) / rings;
	let bottom = y;

	for (let r = 0; r < rings; r++) {
		const mine = slices.slice(Math.round(r * slices.length / rings),
			Math.round((r + 1) * slices.length / rings));
		const own = stops.slice(r * 2, r === rings - 1 ? undefined : r * 2 + 2);
		const left = x + r * (each + plan.space * 2);
		const perRow = each > 300 ? 4 : 2;
		const inset = 16, top = y + plan.stop + 10;
		const end = inRows(plan.places, mine, perRow, left + inset, top,
			each - 2 * inset, plan.slice, plan.space) - plan.space;
		const loop = {x: left + 5, y: y + plan.stop / 2, width: each - 10,
			height: end + 10 - y, stops: own.length ? own : of("io/stop").slice(0, 1)};
		plan.loops.push(loop);
		own.forEach((box, i) => plan.places.push({
			box, x: left + 24 + (i > 1 ? each / 2 : 0), height: plan.stop, pill: true,
			y: i % 2 ? loop.y + loop.height - plan.stop / 2 : y,
			width: own.length > 2 ? each / 2 - 34 : each - 48}));
		bottom = Math.max(bottom, end + 10 + plan.stop);
	}
	return slices.length || stops.length ? bottom + 12 : y;
}

/** Puts the cache slices of a socket without rings in rows, in the order of their numbers: no
    register tells where in a mesh a slice is. */
function putSlices(of, plan, x, y, width) {
	const boxes = [...of("/stop"), ...of("cache/slice")];
	const end = inRows(plan.places, boxes, plan.columns, x, y, width, plan.slice, plan.space);
	return boxes.length ? end + 4 : y;
}

/** Puts the home agents, and below each an equal part of the memory channels. */
function putMemory(of, plan, x, y, width) {
	const agents = of("memory/agent"), channels = of("memory/channel");
	const groups = Math.max(agents.length, 1);
	const share = (width - plan.space * (groups - 1)) / groups;
	let bottom = y;

	if (!channels.length && !agents.length)
		return y;
	inRow(plan.places, agents, x, y, width, plan.row - 8, plan.space);
	if (agents.length)
		y += plan.row - 8;
	for (let g = 0; g < groups; g++) {
		const mine = channels.slice(Math.round(g * channels.length / groups),
			Math.round((g + 1) * channels.length / groups));
		const before = plan.places.length, left = x + g * (share + plan.space);
		const end = inRows(plan.places, mine, plan.perRow / groups || 1, left,
			y + plan.link, share, plan.channel, plan.space);
		for (const place of plan.places.slice(before))
			if (place.y === y + plan.link)
				plan.links.push({box: place.box, y, height: plan.link,
					x: place.x + place.width / 2});
		bottom = Math.max(bottom, end);
	}
	return bottom;
}

/** Puts a socket's panel at x, y. A mirrored socket is the right one of a pair: its links
    are on its left. @returns its height. */
function putSocket(socket, plan, x, y, mirrored) {
	const of = (kind) => socket.boxes.filter((box) => box.kind === kind);
	const narrow = plan.side === 0;
	const ports = of("link/link"), stops = of("link/stop");
	const side = ports.length + stops.length ? plan.side : 0;
	const inner = plan.width - 2 * plan.pad - (side ? side + plan.space * 2 : 0);
	const left = x + plan.pad + (side && mirrored ? side + plan.space * 2 : 0);
	const agents = AGENTS.flatMap(of);
	let at = y + plan.head;
	const panel = {socket, x, y, width: plan.width};

	plan.panels.push(panel);
	if (narrow && mirrored && ports.length)
		at = putPorts(at, true);
	if (agents.length)
		at = inRows(plan.places, agents, narrow ? 2 : 5, left, at, inner, plan.row,
			plan.space, plan.agents) + 4;
	at = (plan.rings ? putRings : putSlices)(of, plan, left, at, inner);
	if (side)
		panel.least = putSide(at) - y;
	at = putMemory(of, plan, left, at, inner);
	const others = socket.boxes.filter((box) => !PLACED.has(box.kind));
	at = inRows(plan.places, others, narrow ? 3 : 5, left, at, inner, plan.row, plan.space);
	if (narrow && !mirrored && ports.length)
		at = putPorts(at + 4, false);
	panel.height = Math.max(at - y + plan.pad - plan.space, panel.least || 0);
	return panel.height;

	/* Wide page: puts the links' ports in a column beside the other socket, each with its ring
	   stop. @returns the y below them. */
	function putSide(until) {
		const column = mirrored ? x + plan.pad : x + plan.width - plan.pad - side;
		const rows = Math.max(ports.length, stops.length);
		let from = y + plan.head;
		const slot = Math.min(Math.max((until - 12 - from) / rows, 104), 160);
		for (let i = 0; i < rows; i++, from += slot) {
			const high = Math.round(slot * 0.52);
			if (ports[i]) {
				plan.places.push({box: ports[i], x: column, y: from, width: side,
					height: high});
				plan.flows.push({box: ports[i], y: from + high / 2, upright: false,
					x: mirrored ? x : x + plan.width, back: mirrored});
			}
			if (stops[i])
				plan.places.push({box: stops[i], x: column, y: from + high + 5,
					width: side, height: slot - high - 18});
		}
		return from;
	}

	/* Narrow page: puts the links' ports and their ring stops in rows. */
	function putPorts(from, upwards) {
		const rows = upwards ? [ports, stops] : [stops, ports];
		for (const boxes of rows.filter((one) => one.length)) {
			const first = plan.places.length;
			inRow(plan.places, boxes, left, from, inner, plan.row, plan.space);
			if (boxes === ports)
				for (const place of plan.places.slice(first))
					plan.flows.push({box: place.box, upright: true, back: upwards,
						x: place.x + place.width / 2, edge: panel});
			from += plan.row + plan.space;
		}
		return from;
	}
}

/** Computes all places: sockets in pairs whose links face one another, or on a narrow
    page below one another. places: boxes; loops: rings; links: arrows between home agents
    and channels; flows: arrows between sockets. */
function plan(machine, narrow) {
	const made = {...(narrow ? NARROW : WIDE), places: [],
		rings: machine.facts.interconnect === "ring", loops: [], links: [],
		flows: [], panels: []};
	const pair = !narrow && machine.sockets.length > 1;
	let y = 0;

	machine.sockets.forEach((socket, i) => {
		const mirrored = i % 2 === 1;
		const x = pair && mirrored ? made.width + made.gap : 0;
		if (pair && mirrored)
			y = made.rowStart;
		made.rowStart = y;
		const height = putSocket(socket, made, x, y, mirrored);
		if (pair && mirrored) {
			// Both panels get the height of the higher panel.
			const [one, other] = made.panels.slice(-2);
			one.height = other.height = Math.max(one.height, other.height);
			y += one.height + made.gap / 2;
		} else {
			y += height + made.gap * (machine.sockets.length > 1 ? 1 : 0);
		}
	});
	made.total = {width: pair ? 2 * made.width + made.gap : made.width,
		height: Math.max(...made.panels.map((one) => one.y + one.height), 80)};
	return made;
}

// --- drawing

export class DieMap {
	constructor(machine, narrow, theme) {
		this.machine = machine;
		this.theme = theme;
		this.plan = plan(machine, narrow);
		this.parts = [];		// by box: the elements that update() changes
		this.summaries = [];
		const {width, height} = this.plan.total;
		this.svg = make("svg", {viewBox: `-2 -2 ${width + 4} ${height + 4}`,
			role: "group", "aria-label": "Sockets and their boxes"});
		// Do not enlarge a single socket to the size of the window.
		this.svg.style.maxWidth = width * (narrow ? 1.5 : 1.15) + "px";
		this.plan.panels.forEach((one) => this.drawPanel(one));
		this.loops = this.plan.loops.map((one) => this.drawLoop(one));
		this.links = this.plan.links.map((one) => this.drawLink(one));
		// No arrows from a single socket: there is no other socket to point at.
		this.flows = machine.sockets.length < 2 ? [] :
			this.plan.flows.map((one) => this.drawFlow(one));
		this.plan.places.forEach((one) => this.drawBox(one));
	}

	drawPanel({socket, x, y, width, height}) {
		const {pad} = this.plan;
		this.svg.append(make("rect", {class: "socket", x, y, width, height, rx: 14}),
			make("text", {class: "socket-name", x: x + pad, y: y + 28},
				"Socket " + socket.id),
			make("text", {class: "socket-cpus", x: x + width - pad, y: y + 28,
				"text-anchor": "end"}, socket.cpus ? "CPUs " + socket.cpus : ""));
		const lines = [0, 1].map((i) => make("text", {class: "socket-load",
			x: x + pad, y: y + 50 + 18 * i}));
		this.svg.append(...lines);
		this.summaries.push({socket, lines});
	}

	drawLoop({x, y, width, height, stops}) {
		const outer = make("rect", {class: "ring", x, y, width, height, rx: 16});
		const inner = make("rect", {class: "ring", x: x + 5, y: y + 5,
			width: width - 10, height: height - 10, rx: 12});
		this.svg.append(outer, inner);
		return {stops, ways: [outer, inner]};
	}

	/* Arrows of a channel: reads upwards on the left, writes downwards on the right. */
	drawLink({box, x, y, height}) {
		const lines = [-6, 6].map((dx) => make("path", {class: "link",
			d: dx < 0 ? `M${x + dx} ${y + height}v${-height + 6}` :
				`M${x + dx} ${y}v${height - 6}`}));
		const tips = [-6, 6].map((dx) => make("path", {class: "tip",
			d: dx < 0 ? `M${x + dx - 5} ${y + 8}h10l-5 -7z` :
				`M${x + dx - 5} ${y + height - 8}h10l-5 7z`}));
		this.svg.append(...lines, ...tips);
		return {box, lines, tips};
	}

	/** Draws an arrow for the data that a link sends, to the other socket of the pair.
	    With more than two sockets the arrow has half the length. */
	drawFlow({box, x, y, upright, back, edge}) {
		const {gap} = this.plan, only = this.machine.sockets.length === 2;
		const length = (only ? gap : gap / 2) - 10;
		let d, tip, text;
		if (upright) {
			const from = back ? edge.y : edge.y + edge.height;
			const at = x + (back ? 9 : -9), way = back ? -1 : 1;
			d = `M${at} ${from + way * 2}v${way * (length - 8)}`;
			tip = `M${at - 7} ${from + way * (length - 8)}h14l-7 ${way * 10}z`;
			// The labels of the two directions have different heights, so that
			// neighbours do not overlap.
			text = {x: at + (back ? 8 : -8), y: from + way * length * 0.3 + 4,
				"text-anchor": back ? "start" : "end"};
		} else {
			const at = y + (back ? 13 : -13), way = back ? -1 : 1;
			d = `M${x + way * 2} ${at}h${way * (length - 8)}`;
			tip = `M${x + way * (length - 8)} ${at - 7}v14l${way * 10} -7z`;
			text = {x: x + way * (only ? gap : gap / 2) / 2,
				y: back ? at + 20 : at - 10, "text-anchor": "middle"};
		}
		const line = make("path", {class: "link", d});
		const head = make("path", {class: "tip", d: tip});
		const label = make("text", {class: "flow", ...text});
		this.svg.append(line, head, label);
		return {box, line, head, label,
			room: upright ? this.roomBeside(x) : (only ? gap : gap / 2) - 8};
	}

	/** Width of the label of an upright arrow at x, beside the labels of its neighbours. */
	roomBeside(x) {
		const steps = this.plan.flows.map((one) => Math.abs(one.x - x))
			.filter((step) => step > 1);
		return Math.min(90, ...steps.map((step) => step - 4));
	}

	drawBox({box, x, y, width, height, pill}) {
		const group = make("g", {class: "box", tabindex: -1, role: "button",
			"data-box": box.id, transform: `translate(${x} ${y})`});
		const rect = make("rect", {width, height, rx: pill ? height / 2 : 6});
		const lines = pill ? [1] : height < 46 ? [1, 2] : [1, 2, 3];
		const texts = lines.map((n) => make("text", {class: "line" + n,
			x: width / 2, y: pill ? height / 2 + 4 :
				height / 2 + (n - (lines.length + 1) / 2) * 15 + 4,
			"text-anchor": "middle"}));
		group.append(rect, ...texts);
		this.svg.append(group);
		this.parts[box.index] = {box, group, rect, texts, pill, width, x, y, height};
	}

	update(view) {
		for (const part of this.parts.filter(Boolean))
			this.updateBox(part, view.load(part.box), view);
		for (const {stops, ways} of this.loops)
			ways.forEach((way, i) => {
				const all = stops.map((box) => (view.load(box).parts[i] || {}).share)
					.filter(Number.isFinite);
				this.paint(way, all.length ? all.reduce((a, b) => a + b) / all.length :
					NaN, 3);
			});
		for (const {box, lines, tips} of this.links)
			lines.forEach((line, i) => {
				const share = (view.load(box).parts[i] || {}).share;
				this.paint(line, share, 2 + 5 * Math.min(share || 0, 1));
				this.paint(tips[i], share);
			});
		for (const {box, line, head, label, room} of this.flows) {
			const load = view.load(box);
			this.paint(line, load.share, 3 + 9 * Math.min(load.share || 0, 1));
			this.paint(head, load.share);
			label.textContent = load.value > 0 ? bytes(load.value) : "";
			squeeze(label, room);
		}
		for (const {socket, lines} of this.summaries) {
			const said = summary(view, socket);
			lines.forEach((line, i) => {
				line.textContent = said[i] || "";
			});
		}
	}

	/** Colours an element by a share: a line, which gets a width, or a shape to fill. */
	paint(element, share, width) {
		const rgb = colour(this.theme, share);
		element.classList.toggle("unknown", !rgb);
		element.style[width ? "stroke" : "fill"] = css(rgb) || "";
		if (width)
			element.style.strokeWidth = width;
	}

	updateBox({box, group, rect, texts, pill, width}, load, view) {
		const rgb = colour(this.theme, load.share);
		const approx = view.share(box) < 1 ? "≈" : "";
		rect.style.fill = css(rgb) || "";
		group.classList.toggle("unknown", !rgb);
		group.classList.toggle("dead", !!load.down);
		for (const text of texts)
			text.style.fill = rgb ? ink(rgb) : "";
		const known = Number.isFinite(load.value);
		if (pill) {
			texts[0].textContent = box.name + (known ? "  " + approx + load.text : "");
		} else {
			texts[0].textContent = box.name;
			texts[1].textContent = known ? approx + load.text :
				load.down ? load.text :
				box.counters.length ? "–" : width > 80 ? "not counted" : "";
			if (texts[2])
				texts[2].textContent = known && load.note ? load.note :
					Number.isFinite(load.share) ? percent(load.share) : "";
			// Without the third line, move the other two to the middle.
			const down = texts[2] && !texts[2].textContent ? 7 : 0;
			texts.forEach((text) => text.setAttribute("dy", down));
		}
		for (const text of texts)
			squeeze(text, width - 4);
		group.setAttribute("aria-label", `${box.name} of socket ${box.socket}: ` +
			(known ? `${load.text} ${load.what}` + (Number.isFinite(load.share) ?
				`, ${percent(load.share)} of the most` : "") :
				load.down || load.text === "not counted" ? load.text : "no counts"));
	}

	/** The nearest box in a direction, for arrow keys. Distance to the side weighs 2.5
	    times as much. */
	next(box, dx, dy) {
		const from = this.parts[box.index];
		const middle = (one) => [one.x + one.width / 2, one.y + one.height / 2];
		const [x, y] = middle(from);
		let best = null, least = Infinity;
		for (const one of this.parts.filter((each) => each && each !== from)) {
			const [ox, oy] = middle(one);
			const ahead = (ox - x) * dx + (oy - y) * dy;
			const aside = Math.abs((ox - x) * dy) + Math.abs((oy - y) * dx);
			if (ahead < 4)
				continue;
			if (ahead + 2.5 * aside < least) {
				least = ahead + 2.5 * aside;
				best = one.box;
			}
		}
		return best;
	}

	element(box) {
		return this.parts[box.index] && this.parts[box.index].group;
	}
}

export function legend(theme) {
	const svg = make("svg", {viewBox: "0 0 330 34", class: "scale", role: "img",
		"aria-label": "Colours from 0 to 100 % of the most, and grey for no share"});
	for (let i = 0; i < 26; i++) {
		const cell = make("rect", {x: i * 10, y: 0, width: 10.5, height: 16});
		cell.style.fill = css(colour(theme, i / 25));
		svg.append(cell);
	}
	for (const [at, anchor] of [[0, "start"], [50, "middle"], [100, "end"]])
		svg.append(make("text", {x: at * 2.6, y: 31, "text-anchor": anchor}, at + " %"));
	svg.append(make("rect", {x: 288, y: 0, width: 28, height: 16, class: "unknown"}),
		make("text", {x: 302, y: 31, "text-anchor": "middle"}, "no share"));
	return svg;
}
