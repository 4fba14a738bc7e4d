"use strict";
// The byte accounting as a flow: from the load on the left to each disk on the right; every height is bytes.
P.svg = (tag, attributes = {}, ...children) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};

P.FLOW = { tall: 170, node: 13, gap: 16, row: 46, top: 34 };

// A band between two vertical spans; its edges start and end horizontally.
P.band = (x0, top0, bottom0, x1, top1, bottom1) => {
  const m = (x0 + x1) / 2;
  return `M${x0},${top0} C${m},${top0} ${m},${top1} ${x1},${top1} L${x1},${bottom1} C${m},${bottom1} ${m},${bottom0} ${x0},${bottom0} Z`;
};

// The name of the load generator of a cell's workload.
P.generator = (cell) => P.data.generators[cell.w] ?? P.data.generators[0];

P.drawFlows = (cell) => {
  const holder = P.byId("flow");
  const flows = cell.flows || [];
  if (!flows.length) {
    holder.replaceChildren(P.make("p", {}, cell.v === "failed"
      ? "The trials failed: their bytes were not counted."
      : "The I/O of this layout's disks could not be counted, so it is unknown where its bytes went."));
    return;
  }
  const levels = P.levelsText(cell, flows);
  holder.replaceChildren(...flows.flatMap((flow, number) => [
    P.make("p", { class: "flow-verdict" }, `${P.did(flow)}: ${flow.verdict}.`),
    P.drawFlow({ ...flow, by: P.generator(cell) }, number, Math.max(320, holder.clientWidth || 800)),
    flow.late ? P.quiet(`Hatched at the disks: ${flow.late}.`) : "",
  ]), ...(levels ? [P.quiet(levels)] : []));
};

// The bytes that the layers between the load and the disks counted, as text.
P.levelsText = (cell, flows) => {
  const [trial, levels] = cell.levels || [];
  if (!levels) return "";
  const moved = ([layer, name, read, written]) => {
    const parts = [flows.some((flow) => flow.direction === "read") && `read ${P.size(read)}`, flows.some((flow) => flow.direction === "write") && `wrote ${P.size(written)}`];
    return `${layer} ${name} ${parts.filter(Boolean).join(", ")}`;
  };
  return `Layers between ${P.generator(cell)} and the disks, in trial ${trial}: ${levels.map(moved).join("; ")}.`;
};

P.did = (flow) => (flow.direction === "read" ? "Reads" : "Writes");

// The position of everything, in pixels; heights are bytes times one scale.
P.flowPlan = (flow, width) => {
  const { tall, node, gap, row, top } = P.FLOW;
  const kept = flow.kept_bytes || 0, lost = flow.lost_bytes || 0, extra = flow.extra_bytes || 0;
  const below = kept * flow.factor + extra;
  const scale = tall / Math.max(flow.fio_bytes, below, 1);
  const narrow = width < 620;
  const x = narrow
    ? { fio: 0, split: 0.34 * width, copy: 0.44 * width, leaf: 0.6 * width }
    : { fio: 130, split: 130 + 0.3 * (width - 400), copy: 130 + 0.5 * (width - 400), leaf: width - 250 };
  const leaves = [];
  let y = top;
  for (const [name, bytes, late, under] of flow.leaves) {
    const high = Math.max(bytes * scale, bytes ? 1.5 : 0);
    leaves.push({ name, bytes, late: late || 0, under, top: y, high });
    y += Math.max(high + gap, under ? row + 16 : row);
  }
  return { kept, lost, extra, below, scale, x, leaves, narrow, node, top, end: y };
};

P.drawFlow = (flow, number, width) => {
  const plan = P.flowPlan(flow, width);
  const colour = flow.direction === "read" ? "var(--read)" : "var(--write)";
  const { x, top, scale, node, kept, lost, extra } = plan;
  const h = (bytes) => (bytes > 0 ? Math.max(bytes * scale, 1.5) : 0);
  const art = P.svg("g");
  const words = P.svg("g");
  const fioTop = plan.narrow ? top + 26 : top;
  const stem = { top: fioTop, bottom: fioTop + h(kept) };
  const leakTop = Math.max(stem.bottom + 22, fioTop + h(kept));
  const copied = { top: fioTop, bottom: fioTop + h(kept * flow.factor) };
  art.append(P.svg("rect", { x: x.fio, y: fioTop, width: node, height: h(flow.fio_bytes), rx: 2, fill: "var(--fio)" }));
  const turn = x.split + (plan.narrow ? 0 : 46); // the copies spread only after the lost part has faded
  const flat = `M${x.fio + node},${stem.top} H${turn} V${stem.bottom} H${x.fio + node} Z`;
  if (kept) art.append(P.svg("path", { d: `${flat} ${P.band(turn, stem.top, stem.bottom, x.copy, copied.top, copied.bottom)}`, fill: colour, opacity: 0.55 }));
  P.drawLeaves(plan, flow, art, words, colour, copied, number, width);
  let bottom = Math.max(plan.end, fioTop + h(flow.fio_bytes) + 12);
  if (lost && flow.lost) bottom = Math.max(bottom, P.drawLost(plan, flow, art, words, { fioTop, leakTop, stem, h, number, width }));
  if (extra && flow.extra) bottom = Math.max(bottom, P.drawExtra(plan, flow, art, words, { copied, h, number, width }));
  P.flowHeads(plan, flow, words, fioTop, copied, width);
  const title = `${P.did(flow)}: ${flow.by} moved ${P.size(flow.fio_bytes)}; ${flow.verdict}. ${flow.lost ? `${flow.lost}. ` : ""}${flow.extra ? `${flow.extra}.` : ""}`;
  const tall = Math.ceil(bottom + 8);
  return P.svg("svg", { viewBox: `0 0 ${width} ${tall}`, role: "img", "aria-label": title, class: "flow-art" }, P.flowDefs(number, colour), art, words);
};

P.flowDefs = (number, colour) => {
  const hatch = (id, stroke) => P.svg("pattern", { id: `${id}${number}`, width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    P.svg("rect", { width: 7, height: 7, fill: stroke, opacity: 0.28 }), P.svg("rect", { width: 2.6, height: 7, fill: stroke, opacity: 0.85 }));
  const fade = P.svg("linearGradient", { id: `fade${number}`, x1: 0, x2: 1 },
    P.svg("stop", { offset: "0.55", "stop-color": "white" }), P.svg("stop", { offset: "1", "stop-color": "black" }));
  const comes = P.svg("linearGradient", { id: `comes${number}`, x1: 0, x2: 1 },
    P.svg("stop", { offset: "0", "stop-color": "black" }), P.svg("stop", { offset: "0.5", "stop-color": "white" }));
  const mask = (id, by) => P.svg("mask", { id: `${id}${number}`, maskContentUnits: "objectBoundingBox" },
    P.svg("rect", { width: 1, height: 1, fill: `url(#${by}${number})` }));
  return P.svg("defs", {}, hatch("lost", "var(--lost)"), hatch("extra", "var(--extra)"), hatch("late", colour), fade, comes, mask("away", "fade"), mask("in", "comes"));
};

P.drawLeaves = (plan, flow, art, words, colour, copied, number, width) => {
  const { x, node, scale } = plan;
  let from = copied.top;
  for (const leaf of plan.leaves) {
    const high = leaf.bytes * scale;
    if (leaf.bytes) {
      art.append(P.svg("path", { d: P.band(x.copy, from, from + Math.max(high, 1), x.leaf, leaf.top, leaf.top + leaf.high), fill: colour, opacity: flow.factor === 1 ? 0.55 : 0.38 }));
      art.append(P.svg("rect", { x: x.leaf, y: leaf.top, width: node, height: leaf.high, rx: 2, fill: colour }));
      const late = Math.min(leaf.late * scale, leaf.high);
      if (late > 1) {
        art.append(P.svg("rect", { x: x.leaf, y: leaf.top + leaf.high - late, width: node, height: late, fill: "var(--paper)" }));
        art.append(P.svg("rect", { x: x.leaf, y: leaf.top + leaf.high - late, width: node, height: late, fill: `url(#late${number})`, stroke: colour }));
      }
    } else {
      art.append(P.svg("rect", { x: x.leaf, y: leaf.top, width: node, height: 12, rx: 2, fill: "none", stroke: "var(--line)" }));
    }
    from += high;
    const share = plan.below && plan.leaves.length > 1 ? `, ${P.percent(leaf.bytes / plan.below)}` : "";
    const at = x.leaf + node + 9;
    words.append(P.fit(leaf.name, { x: at, y: leaf.top + 12, class: "big" }, width - at, 10));
    words.append(P.svg("text", { x: at, y: leaf.top + 29 }, leaf.bytes ? `${P.size(leaf.bytes)}${share}` : "nothing"));
    if (leaf.under) words.append(P.fit(leaf.under, { x: at, y: leaf.top + 45, class: "quietly" }, width - at, 7));
  }
};

// Bytes that never reached a disk bend down and fade; their label is next to them.
P.drawLost = (plan, flow, art, words, at) => {
  const { x, node, lost } = plan;
  const high = at.h(lost);
  const to = { x: x.split + (plan.narrow ? 0 : 40), top: plan.narrow ? Math.max(at.leakTop, plan.end) : at.leakTop };
  art.append(P.svg("path", { d: P.band(x.fio + node, at.stem.bottom, at.stem.bottom + high, to.x, to.top, to.top + high), fill: `url(#lost${at.number})`, mask: `url(#away${at.number})`, class: "leak" }));
  const from = plan.narrow ? { x: 0, y: to.top + high + 22 } : { x: to.x + 14, y: Math.max(to.top + high / 2, plan.end > to.top + 10 && x.leaf < to.x + 420 ? plan.end + 8 : 0) };
  return Math.max(to.top + high, P.label(words, flow.lost, from.x, from.y, at.width, "lost-text")) + 8;
};

// Extra bytes of the disks come in from below.
P.drawExtra = (plan, flow, art, words, at) => {
  const { x, extra } = plan;
  const high = at.h(extra);
  const from = { x: x.split - 30, top: Math.max(plan.end, at.copied.bottom + 30) };
  art.append(P.svg("path", { d: P.band(from.x, from.top, from.top + high, x.copy, at.copied.bottom, at.copied.bottom + high), fill: `url(#extra${at.number})`, mask: `url(#in${at.number})`, class: "extra" }));
  return P.label(words, flow.extra, plan.narrow ? 0 : 130, from.top + high + 20, at.width, "extra-text") + 8;
};

P.flowHeads = (plan, flow, words, fioTop, copied, width) => {
  const verb = flow.direction === "read" ? "read" : "wrote";
  if (plan.narrow) {
    words.append(P.svg("text", { x: 0, y: 14, class: "big" }, `${flow.by} ${verb} ${P.size(flow.fio_bytes)}`));
  } else {
    words.append(P.svg("text", { x: 118, y: fioTop + 14, "text-anchor": "end", class: "big" }, `${flow.by} ${verb}`));
    words.append(P.svg("text", { x: 118, y: fioTop + 33, "text-anchor": "end" }, P.size(flow.fio_bytes)));
    words.append(P.svg("text", { x: plan.x.leaf, y: 16, class: "quietly" }, flow.direction === "read" ? "the disks read" : "the disks wrote"));
  }
  if (flow.copies && !plan.narrow) {
    words.append(P.svg("text", { x: plan.x.copy, y: 16, "text-anchor": "middle", class: "quietly" }, `× ${Number(flow.factor.toPrecision(3))} ${flow.copies.split(":")[0]}`));
    words.append(P.svg("line", { x1: plan.x.copy, x2: plan.x.copy, y1: 22, y2: Math.max(copied.bottom, copied.top + 4), stroke: "var(--quiet)", "stroke-dasharray": "2 3" }));
  }
};

// Text that is cut to fit the picture; its title has all of it.
P.fit = (text, attributes, room, letter) => {
  const most = Math.max(4, Math.floor(room / letter));
  const made = P.svg("text", attributes, text.length > most ? `${text.slice(0, most - 1)}…` : text);
  if (text.length > most) made.append(P.svg("title", {}, text));
  return made;
};

// A label in as many lines as it needs; returns the position of the last one.
P.label = (words, text, x, y, width, name) => {
  const most = Math.max(16, Math.floor((width - x) / 8.1));
  const lines = [];
  for (const word of text.split(" ")) {
    if (lines.length && lines.at(-1).length + word.length < most) lines.push(`${lines.pop()} ${word}`);
    else lines.push(word);
  }
  lines.forEach((line, number) => words.append(P.svg("text", { x, y: y + 18 * number, class: name }, line)));
  return y + 18 * (lines.length - 1);
};

P.flowTable = (cell) => {
  const rows = (cell.flows || []).flatMap((flow) => [
    [`${P.generator(cell)} ${flow.direction === "read" ? "read" : "wrote"}`, P.size(flow.fio_bytes), ""],
    ...(flow.lost ? [["lost", P.size(flow.lost_bytes), flow.lost]] : []),
    ...(flow.copies ? [["write amplification (expected)", `× ${flow.factor}`, flow.copies]] : []),
    ...(flow.extra ? [["in addition", P.size(flow.extra_bytes), flow.extra]] : []),
    ...flow.leaves.map(([name, bytes, late, under]) => [name, P.size(bytes), [late ? `${P.size(late)} after ${P.generator(cell)} had ended` : "", under].filter(Boolean).join("; ")]),
  ]);
  const [trial, levels] = cell.levels || [];
  const table = levels ? [P.table([`layer (trial ${trial})`, "name", "read", "written"], levels.map(([layer, name, read, written]) => [layer, name, P.size(read), P.size(written)]), `The layers between ${P.generator(cell)} and the disks`)] : [];
  P.byId("flow-table").replaceChildren(P.table(["where", "bytes", "what"], rows, "Byte accounting"), ...table);
};
