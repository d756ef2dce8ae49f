// SPDX-License-Identifier: GPL-2.0-or-later
// The machine and its counts, without drawing: the topology document, a history of
// snapshots, and the numbers of each box. A limit of the topology is a formula for the
// capacity of a box type, the most that a box can do, and for the used part. A box's share
// is the used part of its capacity, 0 to 1. NaN stands for an unknown number.

const LIVE_MOST = 3600;		// limit of snapshots in the history of a live machine

/** A box of a socket, with its counters. kind: role of the box type and its part in the role,
    such as "memory/channel"; either can be empty. */
class Box {
	constructor(facts, index) {
		Object.assign(this, facts);
		this.index = index;
		this.counters = [];
		this.kind = `${this.role || ""}/${this.part || ""}`;
		this.called = this.kind === "io/unit" ? `PCIe (${this.title})` : this.title;
		this.name = this.called + (this.number === null ||
					   this.number === undefined ? "" : " " + this.number);
		this.id = this.socket + "/" + this.pmu;
	}
}

export class Machine {
	constructor(topology) {
		this.topology = topology;
		this.facts = topology.machine;
		this.boxes = topology.boxes.map((one, i) => new Box(one, i));
		this.counters = topology.counters.map((one, i) => ({
			...one, index: i, by: one.labels,
			series: topology.series[one.series],
			labels: Object.values(one.labels),
		}));
		for (const one of this.counters)
			if (this.boxes[one.box])
				this.boxes[one.box].counters.push(one);
		this.sockets = topology.sockets.map((one) => ({
			...one, boxes: this.boxes.filter((box) => box.socket === one.id),
		}));
		this.limits = topology.limits || [];
	}

	/** Identifies the server's process. The counts of a new process begin again. */
	get instance() {
		return this.topology.instance;
	}

	/** Text that is the same for two topologies with the same boxes and counters, whose
	    snapshots can be in one history. */
	get layout() {
		return JSON.stringify([this.facts, this.topology.boxes, this.topology.counters]);
	}

	box(id) {
		return this.boxes.find((box) => box.id === id);
	}

	/** The limit of a box, without limits of a whole socket such as the part of its misses
	    that is remote. */
	limitOf(box) {
		return this.limits.find((one) => one.box === box.box && !one.of);
	}
}

/** The snapshots so far. Of a live machine the oldest are dropped. */
export class History {
	constructor(machine, most = LIVE_MOST) {
		this.machine = machine;
		this.most = most;
		this.all = [];
		this.dropped = 0;
	}

	get length() {
		return this.all.length;
	}

	push(snapshot) {
		const last = this.all[this.all.length - 1];
		const counts = snapshot.counts ?
			Float64Array.from(snapshot.counts, (one) => one === null ? NaN : one) : null;
		// Snapshots of one server process have the same run; its first counts are
		// subtracted for a total.
		const run = last && last.instance === snapshot.instance ? last.run : {first: null};
		if (counts && !run.first)
			run.first = counts;
		this.all.push({...snapshot, counts, run});
		if (this.all.length > this.most) {
			this.all.shift();
			this.dropped++;
		}
	}

	view(index) {
		return new View(this, index);
	}
}

/** The numbers of a snapshot: counts since the previous snapshot, rates and shares. */
export class View {
	constructor(history, index) {
		const now = history.all[index], before = history.all[index - 1];
		this.history = history;
		this.machine = history.machine;
		this.snapshot = now;
		this.index = index;
		this.problem = now ? now.problem : "no snapshot yet";
		this.counted = !!(now && before && now.counts && before.counts &&
				  now.run === before.run);
		this.seconds = this.counted ? now.seconds - before.seconds : NaN;
		this.now = now && now.counts;
		this.before = before && before.counts;
		// Boxes that are not measured, with the reason: "dead", "stopped".
		this.down = new Map(Object.entries((now && now.down) || {})
			.map(([place, why]) => [this.machine.boxes[place], String(why)]));
	}

	/** Count of a counter since the previous snapshot. */
	count(counter) {
		const grown = this.counted ?
			this.now[counter.index] - this.before[counter.index] : NaN;
		return grown >= 0 ? grown : NaN;
	}

	/** Count of a counter since the first snapshot of the server's process. */
	total(counter) {
		const grown = this.now && this.snapshot.run.first ?
			this.now[counter.index] - this.snapshot.run.first[counter.index] : NaN;
		return grown >= 0 ? grown : NaN;
	}

	rate(counter) {
		return this.count(counter) * counter.factor / this.seconds;
	}

	/** Sum of the rates of a box's counters of a series; with a label, only of counters with
	    this label. NaN without such a counter. */
	sum(box, series, label) {
		const all = box.counters.filter((one) => one.series.name === series &&
			(!label || one.labels.includes(label)));
		return all.length ? all.reduce((sum, one) => sum + this.rate(one), 0) : NaN;
	}

	/** Part of the time for which a box's events were counted, 0 to 1. */
	share(box) {
		const shared = this.snapshot && this.snapshot.shared;
		const part = shared && shared[box.socket + "/" + box.box];
		return typeof part === "number" ? part : 1;
	}

	/** Capacity of a box a second. A limit has a fact of the socket as capacity (PCIe links),
	    or a series of clocks times a factor, which another box type of the socket may have. */
	capacity(limit, box, socket) {
		const {fact, box: other, series, factor} = limit.capacity;
		if (fact)
			return typeof socket[fact] === "number" ? socket[fact] : NaN;
		const from = !other ? box : socket.boxes.find((one) => one.box === other);
		return from ? this.sum(from, series) * factor : NaN;
	}

	/** Rates of what boxes do, by way (such as reads and writes, each with its own capacity),
	    and the share of the fuller way. */
	use(limit, boxes, capacity) {
		const ways = {};
		for (const box of boxes)
			for (const {series, factor} of limit.used)
				for (const one of box.counters.filter((each) =>
					each.series.name === series)) {
					const way = limit.by ? one.by[limit.by] : "";
					ways[way] = (ways[way] || 0) + this.rate(one) * factor;
				}
		const all = Object.values(ways);
		return {ways, capacity, share: all.length && capacity > 0 ?
			Math.max(...all.map((one) => one / capacity)) : NaN};
	}

	/** Use of a box. The capacity of PCIe links is the socket's, so all boxes of the type
	    are added. */
	boxUse(limit, box) {
		const socket = this.machine.sockets.find((one) => one.id === box.socket);
		const boxes = limit.capacity.fact ?
			socket.boxes.filter((one) => one.box === limit.box) : [box];
		return this.use(limit, boxes, this.capacity(limit, box, socket));
	}

	/** Memory traffic of a socket's cgroups in bytes a second, the largest first. */
	cgroups(socket) {
		const last = this.history.all[this.index - 1];
		const [now, before] = [this.snapshot, last].map((one) =>
			one && one.cgroups && one.cgroups[socket.id]);
		if (!this.counted || !now || !before)
			return [];
		return Object.entries(now).filter(([name]) => name in before)
			.map(([name, bytes]) => [name, (bytes - before[name]) / this.seconds])
			.sort((a, b) => b[1] - a[1]);
	}

	/** What the map shows of a box. value: the number; text: the number as text, or the reason
	    why it is missing; parts: shares of each way. */
	load(box) {
		if (this.down.has(box))
			return {value: NaN, share: NaN, text: this.down.get(box), parts: [],
				down: true};
		const loadOf = LOADS[box.kind];
		if (!loadOf || !box.counters.length)
			return {value: NaN, share: NaN, text: "not counted", parts: []};
		const limit = this.machine.limitOf(box);
		const use = limit ? this.boxUse(limit, box) : {share: NaN, ways: {}};
		const load = loadOf(this, box, use);
		return {parts: [], share: use.share, capacity: use.capacity, limit, ...load};
	}
}

/** Load of a ring stop: the used share of the ring's slots in each direction. */
function ring(ways) {
	return (view, box, use) => {
		const parts = ways.map(([label, sign]) => ({
			label, sign, share: use.ways[label] / use.capacity,
		}));
		return {value: use.share, parts, what: "of the data ring's slots", note: "of the ring",
			text: parts.map((one) => one.sign + percent(one.share).replace(" %", ""))
				.join(" ") + " %"};
	};
}

/** Load of a box between devices and the memory. */
function devices(view, box) {
	const value = view.sum(box, "uncore_pcie_bytes");
	return {value, text: bytes(value), what: "read and written by devices"};
}

const WAYS = [["clockwise", "↻"], ["counterclockwise", "↺"]];

/** Functions that return what is shown of a box, by its kind; load() adds the share. */
const LOADS = {
	"memory/channel"(view, box, use) {
		const [read, write] = ["read", "write"].map((label) =>
			view.sum(box, "uncore_memory_bytes", label));
		return {value: read + write, text: bytes(read + write), what: "read and written",
			parts: [{label: "read", value: read, share: read / use.capacity},
				{label: "write", value: write, share: write / use.capacity}]};
	},
	"link/link"(view, box) {
		const data = view.sum(box, `uncore_${box.box}_data_bytes`);
		return {value: data, text: bytes(data), what: "of data sent"};
	},
	"/stop": ring([["up", "↑"], ["down", "↓"]]),
	"io/stop": ring(WAYS),
	"link/stop": ring(WAYS),
	"power/unit"(view, box, use) {
		const clock = view.sum(box, "uncore_pcu_clock_cycles");
		const cores = view.sum(box, "uncore_active_core_cycles") / clock;
		return {value: cores,
			text: Number.isFinite(cores) ? cores.toFixed(1) + " cores on" : "–",
			note: Number.isFinite(use.share) ? percent(use.share) + " held back" : "",
			what: "in C0 or C1; held back by power or heat"};
	},
	"/clock"(view, box) {
		const clock = view.sum(box, "uncore_clock_cycles");
		return {value: clock, text: short(clock, "Hz"), what: "uncore clock"};
	},
	"cache/slice"(view, box) {
		const value = view.sum(box, "uncore_llc_lookups");
		return {value, text: short(value, "/s"), what: "lookups in the cache"};
	},
	"memory/agent"(view, box) {
		const requests = view.sum(box, "uncore_home_agent_requests");
		if (Number.isFinite(requests))
			return {value: requests, text: short(requests, "/s"), what: "requests"};
		const lookups = view.sum(box, "uncore_directory_lookups");
		return {value: lookups, text: short(lookups, "/s"), what: "directory lookups"};
	},
	"io/unit": devices,
	"io/stack": devices,
};

/* The kinds whose titles stand before a meaning, and the meaning. It is shown if the machine
   has boxes of the first kind. */
const MEANINGS = [
	[["io/unit"], "what devices read and write."],
	[["io/stack"], "what devices read and write."],
	[["cache/slice"], "a slice of the last-level cache, and its lookups."],
	[["memory/agent"], "a home agent, and its requests, or its lookups in the directory that " +
		"is kept in memory."],
	[["memory/channel"], "a memory channel."],
	[["link/link"], "a link to another socket, and the data that it sends."],
	[["/stop", "io/stop", "link/stop"],
		"stops of the ring, and how much of it is in use each way."],
	[["power/unit"],
		"the cores that are on, and for how much of the time power or heat held them back."],
	[["/clock"], "the uncore's clock."],
];

/** Descriptions of the machine's box types, for the legend. */
export function meanings(machine) {
	const titleOf = (kind) => {
		const box = machine.boxes.find((one) => one.kind === kind);
		return box && box.called;
	};
	return MEANINGS.filter(([kinds]) => titleOf(kinds[0])).map(([kinds, text]) =>
		`${kinds.map(titleOf).filter(Boolean).join(", ")}: ${text}`).join(" ");
}

// --- what limits a socket

/** The server's verdict on a socket (exporter/limits.hpp), with the cgroup that has most of
    its memory traffic. @returns limited: name of the limiting use, or empty; head and text:
    the sentence; told: name of the use whose history is shown. */
export function verdict(view, socket) {
	const {limited, head, facts, told} =
		((view.snapshot && view.snapshot.verdicts) || {})[socket.id] ||
		{limited: "", head: "not measured", facts: [], told: ""};
	const [top] = view.cgroups(socket).filter(([name]) => name !== "idle");
	const said = [...facts];
	if (top && top[1] > 0)
		said.push(`most by ${middle(top[0], 48)} (${bytes(top[1])})`);
	return {limited, told, head, text: said.join("; ")};
}

/** The share of one use in each of the snapshots. */
export function past(snapshots, socket, name) {
	return snapshots.map(({verdicts}) =>
		verdicts && verdicts[socket.id] ? verdicts[socket.id].uses[name] : NaN);
}

/** Up to two lines of text in a socket's panel: memory traffic, and cache misses. */
export function summary(view, socket) {
	const add = (kind, series, label) => {
		const all = socket.boxes.filter((box) => box.kind === kind)
			.map((box) => view.sum(box, series, label)).filter(Number.isFinite);
		return all.length ? all.reduce((a, b) => a + b) : NaN;
	};
	const [read, write] = ["read", "write"].map((way) =>
		add("memory/channel", "uncore_memory_bytes", way));
	const missed = add("cache/slice", "uncore_llc_misses");
	const remote = add("cache/slice", "uncore_llc_misses", "remote");
	const said = [];
	if (Number.isFinite(read))
		said.push(`memory reads ${bytes(read)}, writes ${bytes(write)}`);
	if (Number.isFinite(missed))
		said.push("LLC misses " + short(missed, "/s") + (missed > 0 &&
			Number.isFinite(remote) ? `, ${percent(remote / missed)} remote` : ""));
	return said;
}

/** Cuts a text in its middle: cgroups' paths begin alike and differ at their ends. */
export function middle(text, most) {
	const head = Math.floor((most - 1) / 3);
	return text.length <= most ? text :
		text.slice(0, head) + "…" + text.slice(text.length - (most - 1 - head));
}

// --- numbers for people

export function short(value, unit, thousand = 1000) {
	if (!Number.isFinite(value))
		return "–";
	let power = 0;
	for (; value >= 999.5 && power < 5; power++)
		value /= thousand;
	const digits = power && value < 99.95 ? (value < 9.995 ? 2 : 1) : 0;
	const gap = unit === "/s" && !"kMGTP"[power - 1] ? "" : " ";
	const prefix = power ? "kMGTP"[power - 1] + (thousand === 1024 ? "i" : "") : "";
	return value.toFixed(digits) + gap + prefix + unit;
}

export function bytes(value) {
	return short(value, "B/s", 1024);
}

export function percent(share) {
	if (!Number.isFinite(share))
		return "–";
	return (share * 100).toFixed(share < 0.0995 && share > 0 ? 1 : 0) + " %";
}

/** A number with all its digits. */
export function exact(value) {
	if (!Number.isFinite(value))
		return "–";
	return Number.isInteger(value) ? value.toLocaleString("en") :
		value.toLocaleString("en", {maximumFractionDigits: 3});
}
