// SPDX-License-Identifier: GPL-2.0-or-later
// What is known of the machine and what it counted: the topology document, a
// history of snapshots, and what they say of each box. No drawing.

const LINE_TIMES = 16;		// bytes a channel's clock cycle: two transfers of 8
const FLIT = 8;			// bytes of data in a flit
const LIVE_MOST = 3600;		// snapshots that are kept of a machine that is live
const LEAST_OF_CLOCK = 0.01;	// what a peak that was only seen is at least

const STATED = {
	imc: "two transfers of 8 bytes in each of the channel's clock cycles, which are counted",
	qpi: "a flit in each slot of the port's clock, which is counted",
	ring: "a packet in each slot of the ring's clock, which is counted",
	pcu: "all of the time",
};
const SEEN = "the most that any box of its kind has had on this page, or 1 % of its clock";

/* Who looks for PCIe does not know that it is the "IRP". */
const CALLED = {irp: "PCIe (IRP)"};

/** A box of a socket, and its counters' places in a snapshot. */
class Box {
	constructor(facts, index) {
		Object.assign(this, facts);
		this.index = index;
		this.counters = [];
		this.name = (CALLED[this.box] || this.title) + (this.number === null ||
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
			...one, index: i,
			series: topology.series[one.series],
			labels: Object.values(one.labels),
		}));
		for (const one of this.counters)
			if (this.boxes[one.box])
				this.boxes[one.box].counters.push(one);
		this.sockets = topology.sockets.map((one) => ({
			...one, boxes: this.boxes.filter((box) => box.socket === one.id),
		}));
	}

	/** What must be the same for a history to go on. */
	get layout() {
		return JSON.stringify([this.topology.boxes, this.topology.counters]);
	}

	box(id) {
		return this.boxes.find((box) => box.id === id);
	}
}

export class History {
	constructor(machine, most = LIVE_MOST) {
		this.machine = machine;
		this.most = most;
		this.all = [];
		this.dropped = 0;
		this.first = null;	// counts, when the page began
		this.seen = {};		// the most of a kind of box
	}

	get length() {
		return this.all.length;
	}

	push(snapshot) {
		const counts = snapshot.counts ?
			Float64Array.from(snapshot.counts, (one) => one === null ? NaN : one) : null;
		this.all.push({...snapshot, counts});
		if (counts && !this.first)
			this.first = counts;
		if (this.all.length > this.most) {
			this.all.shift();
			this.dropped++;
		}
		const view = this.view(this.all.length - 1);
		for (const box of view.counted ? this.machine.boxes : [])
			if (box.box in MEASURED)
				this.seen[box.box] = Math.max(this.seen[box.box] || 0,
					MEASURED[box.box](view, box).value || 0);
	}

	view(index) {
		return new View(this, index);
	}
}

/** What was counted between a snapshot and the one before it. */
export class View {
	constructor(history, index) {
		const now = history.all[index], before = history.all[index - 1];
		this.history = history;
		this.machine = history.machine;
		this.snapshot = now;
		this.index = index;
		this.problem = now ? now.problem : "nothing has come yet";
		this.counted = !!(now && before && now.counts && before.counts);
		this.seconds = this.counted ? now.seconds - before.seconds : NaN;
		this.now = now && now.counts;
		this.before = before && before.counts;
	}

	/** How often in that time. */
	count(counter) {
		const grown = this.counted ?
			this.now[counter.index] - this.before[counter.index] : NaN;
		return grown >= 0 ? grown : NaN;
	}

	/** How often since the first snapshot. */
	total(counter) {
		return this.now && this.history.first ?
			this.now[counter.index] - this.history.first[counter.index] : NaN;
	}

	rate(counter) {
		return this.count(counter) * counter.factor / this.seconds;
	}

	/** Of a box's counters of a series, with one of its labels; NaN where it has none. */
	sum(box, series, label) {
		const all = box.counters.filter((one) => one.series.name === series &&
			(!label || one.labels.includes(label)));
		return all.length ? all.reduce((sum, one) => sum + this.rate(one), 0) : NaN;
	}

	/** For how much of the time it was counted. */
	share(box) {
		const shared = this.snapshot && this.snapshot.shared;
		const part = shared && shared[box.socket + "/" + box.box];
		return typeof part === "number" ? part : 1;
	}

	load(box) {
		const kind = KINDS[box.box] || MEASURED[box.box];
		if (!kind || !box.counters.length)
			return {value: NaN, share: NaN, text: "not counted", parts: []};
		const load = {parts: [], ...kind(this, box)};
		if (box.box in MEASURED) {
			load.peak = Math.max(this.history.seen[box.box] || 0,
					     LEAST_OF_CLOCK * (load.bound || 0));
			load.share = load.value / load.peak;
			load.basis = SEEN;
		}
		if (load.value === 0)
			load.share = 0;
		return load;
	}
}

/** A part of the ring's slots, each way. */
function ring(view, box, used, clock, ways) {
	const cycles = view.sum(box, clock);
	const most = (box.counters.find((one) => one.series.name === used) || {}).most || 1;
	const parts = ways.map(([label, sign]) => ({
		label, sign, share: view.sum(box, used, label) / (cycles * most),
	}));
	const share = Math.max(...parts.map((one) => one.share));
	return {value: share, share, peak: 1, parts, basis: STATED.ring,
		text: parts.map((one) => one.sign + percent(one.share).replace(" %", ""))
			.join(" ") + " %",
		what: "of the data ring's slots"};
}

const WAYS = [["clockwise", "↻"], ["counterclockwise", "↺"]];

/** Boxes whose peak is known: what goes on in one, and what share of the peak that is. */
const KINDS = {
	imc(view, box) {
		const read = view.sum(box, "uncore_memory_bytes", "read");
		const write = view.sum(box, "uncore_memory_bytes", "write");
		const peak = LINE_TIMES * view.sum(box, "uncore_memory_clock_cycles");
		const value = read + write;
		return {value, peak, share: value / peak, basis: STATED.imc,
			text: bytes(value), what: "read and written",
			parts: [{label: "read", value: read, share: read / peak},
				{label: "write", value: write, share: write / peak}]};
	},
	qpi(view, box) {
		const data = view.sum(box, "uncore_qpi_data_bytes");
		const flits = data / FLIT + view.sum(box, "uncore_qpi_overhead_flits");
		const slots = view.sum(box, "uncore_qpi_clock_cycles") *
			(view.machine.facts.flits_per_qpi_clock || 1);
		return {value: data, peak: FLIT * slots, share: flits / slots,
			basis: STATED.qpi, text: bytes(data), what: "of data sent",
			// headers and the like take slots, too
			of: "the slots for flits,"};
	},
	sbox: (view, box) => ring(view, box, "uncore_ring_used_cycles",
		"uncore_ring_clock_cycles", [["up", "↑"], ["down", "↓"]]),
	r2pcie: (view, box) => ring(view, box, "uncore_pcie_ring_used_cycles",
		"uncore_pcie_ring_clock_cycles", WAYS),
	r3qpi: (view, box) => ring(view, box, "uncore_qpi_ring_used_cycles",
		"uncore_qpi_ring_clock_cycles", WAYS),
	pcu(view, box) {
		const clock = view.sum(box, "uncore_pcu_clock_cycles");
		const cores = view.sum(box, "uncore_active_core_cycles") / clock;
		const share = view.sum(box, "uncore_frequency_limited_cycles") / clock;
		return {value: share, share, peak: 1, basis: STATED.pcu,
			text: Number.isFinite(cores) ? cores.toFixed(1) + " cores on" : "–",
			what: "of the time held back by power or heat"};
	},
	ubox(view, box) {
		const clock = view.sum(box, "uncore_clock_cycles");
		return {value: clock, share: NaN, text: short(clock, "Hz"), what: "uncore clock"};
	},
};

/** Boxes of which no manual states a peak. */
const MEASURED = {
	cbox(view, box) {
		const value = view.sum(box, "uncore_llc_lookups");
		return {value, bound: uncoreClock(view, box), text: short(value, "/s"),
			what: "lookups in the cache"};
	},
	ha(view, box) {
		const value = view.sum(box, "uncore_home_agent_requests");
		return {value, bound: uncoreClock(view, box), text: short(value, "/s"),
			what: "requests"};
	},
	irp(view, box) {
		const value = view.sum(box, "uncore_pcie_bytes");
		return {value, bound: 64 * uncoreClock(view, box),
			text: bytes(value), what: "read and written by devices"};
	},
};

function uncoreClock(view, box) {
	const ubox = view.machine.boxes.find((one) => one.box === "ubox" &&
					     one.socket === box.socket);
	return ubox ? view.sum(ubox, "uncore_clock_cycles") : NaN;
}

/** A line about a socket. */
export function summary(view, socket) {
	const of = (kind) => socket.boxes.filter((box) => box.box === kind);
	const add = (kind, series, label) => of(kind).reduce((sum, box) =>
		sum + (view.sum(box, series, label) || 0), 0);
	const channels = of("imc").map((box) => view.load(box));
	// a channel without a module has a clock, too
	const peak = channels.reduce((sum, one) => sum + (one.value > 0 ? one.peak : 0), 0);
	const memory = channels.reduce((sum, one) => sum + one.value, 0);
	const missed = add("cbox", "uncore_llc_misses");
	const remote = add("cbox", "uncore_llc_misses", "remote");
	const said = [];
	if (channels.length)
		said.push("memory " + bytes(memory) + (peak ? ", " + percent(memory / peak) +
			" of " + bytes(peak) : ""));
	if (of("cbox").length)
		said.push("LLC misses " + short(missed, "/s") +
			(missed ? ", " + percent(remote / missed) + " remote" : ""));
	return said;
}

// --- numbers for people

export function short(value, unit) {
	if (!Number.isFinite(value))
		return "–";
	let power = 0;
	for (; value >= 999.5 && power < 5; power++)
		value /= 1000;
	const digits = power && value < 99.95 ? (value < 9.995 ? 2 : 1) : 0;
	const gap = unit === "/s" && !"kMGTP"[power - 1] ? "" : " ";
	return value.toFixed(digits) + gap + (power ? "kMGTP"[power - 1] : "") + unit;
}

export function bytes(value) {
	return short(value, "B/s");
}

export function percent(share) {
	if (!Number.isFinite(share))
		return "–";
	return (share * 100).toFixed(share < 0.0995 && share > 0 ? 1 : 0) + " %";
}

/** All of its digits. */
export function exact(value) {
	if (!Number.isFinite(value))
		return "–";
	return Number.isInteger(value) ? value.toLocaleString("en") :
		value.toLocaleString("en", {maximumFractionDigits: 3});
}
