"use strict";
// The open cell: its account, its trials through time, its disks.
P.open = (number, go) => {
  const cell = P.data.cells[number];
  if (!cell) return;
  P.cell = number;
  P.markOpen(number);
  P.byId("cell-layout").value = cell.l;
  P.byId("cell-workload").value = cell.w;
  P.cellHead(cell);
  P.drawFlows(cell);
  P.flowTable(cell);
  P.cellFindings(cell);
  document.querySelectorAll(".cell-name").forEach((line) => { line.textContent = P.nameOf(cell); });
  P.trialChoices(number);
  P.drawTime(number);
  P.drawDisks(cell);
  if (location.hash !== `#cell=${number}` && go) history.replaceState(null, "", `#cell=${number}`);
  if (go) {
    P.byId("account").scrollIntoView({ block: "start" });
    P.byId("cell-head").focus({ preventScroll: true });
  }
};

P.cellHead = (cell) => {
  const near = P.shareWords(cell, "; ");
  const share = near && `${near} of this workload`;
  const trials = cell.t.map(([number, mark, text]) => `${mark} ${text}`).join(", ");
  P.byId("cell-head").replaceChildren(
    P.make("p", { class: "cell-line" }, `${P.nameOf(cell)}: ${cell.f.replace(/^\[|\]$/g, "")} `, P.make("span", { class: `v-${cell.v}` }, `${cell.k} ${cell.v}`)),
    P.make("p", { class: "quiet" }, `${cell.t.length === 1 ? "one trial" : `${cell.t.length} trials`}: ${trials}${share}`),
    ...(cell.u ? [P.unsettledBlock(cell)] : []));
};

// Why the figure is not known: the reasons, as the terminal tells them.
P.unsettledBlock = (cell) => P.make("div", { class: "finding e-suspects unsettled" },
  P.make("p", {}, P.make("span", { class: "mark", "aria-hidden": "true" }, "~"), " This figure is unsettled: its trials did not make it known to within the tolerance that was asked for. No mean of it is to be believed."),
  ...cell.u.map(([name, sentence]) => P.make("p", {}, P.make("code", {}, name), ": ", ...P.coded(sentence))));

P.cellFindings = (cell) => {
  const found = cell.x.map((number) => P.data.findings[number]);
  const strong = found.filter(([, effect]) => effect !== "notes");
  const notes = found.filter(([, effect]) => effect === "notes");
  P.byId("cell-findings").replaceChildren(
    ...strong.map(([rule, effect, message, fix]) => P.make("div", { class: `finding e-${effect}` },
      P.make("p", {}, P.make("code", {}, rule), ` ${effect} it: `, ...P.coded(message)),
      P.make("p", { class: "quiet" }, "mend: ", ...P.coded(fix)))),
    ...(notes.length ? [P.make("details", { class: "behind" }, P.make("summary", {}, `${notes.length} ${notes.length === 1 ? "note" : "notes"}, which ${notes.length === 1 ? "changes" : "change"} no verdict`),
      ...notes.map(([rule, , message]) => P.make("p", {}, P.make("code", {}, rule), " ", ...P.coded(message))))] : []));
};

P.trialChoices = (number) => {
  const series = P.data.series[number] || [];
  P.options(P.byId("trial"), series.map((each, index) => [index, `${each.n}`]), 0);
  P.byId("time-controls").hidden = series.length < 2;
};

P.spans = (series) => {
  const spans = [{ name: "window", from_s: 0, to_s: series.window }];
  if (series.t[0] < -0.02) spans.push({ name: "before", from_s: series.t[0], to_s: 0 });
  if (series.warm) spans.push({ name: "warm-up", from_s: 0, to_s: series.warm });
  if (series.drain > 0.005 * series.window) spans.push({ name: "drain", from_s: series.window, to_s: series.window + series.drain });
  return spans;
};

// Rates as points; after the window comes what the disks still had to write.
P.ratePoints = (series, cell) => {
  const mega = 1e6;
  const points = [];
  const add = (source, values) => {
    if (!values.some((value) => value > 0)) return;
    series.t.forEach((at, number) => points.push({ at_s: at, source, rate: (values[number] ?? values[number - 1] ?? 0) * mega }));
    if (source === "disks, writes" && series.drain > 0.005 * series.window && series.late) {
      points.push({ at_s: series.window, source, rate: series.late * mega }, { at_s: series.window + series.drain, source, rate: series.late * mega });
    }
  };
  add("disks, reads", series.r);
  add("disks, writes", series.w);
  if (series.fioRate) {
    series.fioRate.forEach(([at, rate]) => points.push({ at_s: at, source: "fio", rate: rate * mega }));
  } else if (series.fio) {
    points.push({ at_s: 0, source: "fio", rate: series.fio * mega }, { at_s: series.window, source: "fio", rate: series.fio * mega });
  }
  return points;
};

P.drawTime = (number) => {
  const cell = P.data.cells[number];
  const series = (P.data.series[number] || [])[Number(P.byId("trial").value) || 0];
  const note = P.byId("time-note");
  const wide = (spec, holder) => P.over({ ...structuredClone(spec), width: P.widthFor(holder) - 80 }, series);
  if (series) {
    const points = P.ratePoints(series, cell);
    const most = Math.max(...points.filter((point) => point.source !== "fio").map((point) => point.rate), 0);
    note.textContent = `Trial ${series.n}. ${series.fioRate ? "" : "The line of fio is its mean. "}The disks' fastest moment was ${P.rate(most)}, fio's mean over the window ${P.rate(series.fio * 1e6)}.`;
    P.chart("rates-chart", (holder) => ({ spec: wide(P.data.specs.rates, holder), rows: { points, spans: P.spans(series) }, label: `Rates through time of ${P.nameOf(cell)}; the table below has the same` }));
    P.chart("busy-chart", (holder) => ({ spec: wide(P.only(P.data.specs.busy, "leaf", Object.keys(series.u)), holder), rows: { points: P.busyPoints(series), spans: P.spans(series) }, label: `How busy each disk was, of ${P.nameOf(cell)}` }));
  } else {
    note.textContent = "There are no samples of this cell in the page.";
    for (const id of ["rates-chart", "busy-chart"]) P.chart(id, () => null);
  }
  P.drawLatencyTime(cell, series, wide);
  const rows = P.latencies(cell);
  P.chart("latency-chart", (holder) => (rows.length ? { spec: { ...P.data.specs.latency, width: Math.min(620, P.widthFor(holder) - 130) }, rows: { points: rows }, label: `Latency percentiles of ${P.nameOf(cell)}` } : null));
  P.timeTables(cell, series);
};

// Percentiles of what completed in each stretch, from the differences of fio's histograms.
P.latencySteps = (series) => Object.entries(series.lat.lines).flatMap(([line, values]) => {
  let last = 0;
  return [...values, 0].map((value, number) => ({ at_s: series.lat.ends[number], line: P.data.latency_lines[line], seconds: (last = value || last) }));
});

P.latencyWords = (series, lines) => {
  if (!series) return "";
  if (!lines.length) return "There is no latency through time: fio told of it only at the end (a job that goes by its work, or of less than a second), or too few I/Os completed.";
  const syncs = lines.some((line) => line.startsWith("sync"));
  const lacking = P.data.latency_lines.filter((line) => !lines.includes(line) && (syncs || !line.startsWith("sync")));
  return `Each step is the percentile of what completed in it alone, and as long as it takes for ten completions to be slower. ${lacking.length ? `Too few I/Os for ${lacking.join(" and ")}.` : ""}`;
};

P.drawLatencyTime = (cell, series, wide) => {
  const lines = series?.lat ? Object.keys(series.lat.lines).map((line) => P.data.latency_lines[line]) : [];
  P.byId("latency-note").textContent = P.latencyWords(series, lines);
  P.chart("latency-time-chart", (holder) => (lines.length
    ? { spec: P.only(wide(P.data.specs["latency time"], holder), "line", lines), rows: { points: P.latencySteps(series), spans: P.spans(series) }, label: `Latency percentiles through time of ${P.nameOf(cell)}; the table below has the same` }
    : null));
};

// Both pictures over the same stretch of time.
P.over = (spec, series) => {
  const drain = series.drain > 0.005 * series.window ? series.drain : 0;
  const domain = [Math.min(0, series.t[0]), series.window + drain];
  const walk = (node) => {
    if (Array.isArray(node)) node.forEach(walk);
    else if (node && typeof node === "object") {
      if (node.field === "at_s") node.scale = { ...node.scale, domain };
      Object.values(node).forEach(walk);
    }
  };
  walk(spec);
  return spec;
};

P.busyPoints = (series) => Object.entries(series.u).flatMap(([leaf, values]) =>
  series.t.map((at, number) => ({ at_s: at, leaf, busy: (values[number] ?? values[number - 1] ?? 0) / 100 })));

// Only the names that are drawn in the legend, each in its own colour.
P.only = (spec, field, names) => {
  const made = structuredClone(spec);
  const narrow = (node) => {
    if (Array.isArray(node)) node.forEach(narrow);
    else if (node && typeof node === "object") {
      if (node.field === field && node.scale) {
        const { domain, range } = node.scale;
        node.scale = { domain: names, range: names.map((name) => range[domain.indexOf(name)]) };
      }
      Object.values(node).forEach(narrow);
    }
  };
  narrow(made);
  return made;
};

P.rate = (bytes) => {
  let value = bytes;
  for (const unit of ["B/s", "kB/s", "MB/s", "GB/s"]) {
    if (value < 1000 || unit === "GB/s") return `${Number(value.toPrecision(3))} ${unit}`;
    value /= 1000;
  }
};

P.seconds = (value) => {
  for (const [unit, size] of [["s", 1], ["ms", 1e-3], ["µs", 1e-6]]) if (value >= size) return `${Number((value / size).toPrecision(3))} ${unit}`;
  return `${Number((value / 1e-9).toPrecision(3))} ns`;
};

P.latencies = (cell) => cell.lat.flatMap(([name, values]) =>
  values.map(([trial, seconds]) => ({ trial: `trial ${trial}`, percentile: P.data.percentiles[name], seconds })));

P.timeTables = (cell, series) => {
  const holder = P.byId("time-table");
  const parts = [];
  const latencies = P.latencies(cell).map((row) => [row.trial, row.percentile, P.seconds(row.seconds)]);
  if (latencies.length) parts.push(P.table(["trial", "percentile", "latency"], latencies, "Latency percentiles"));
  if (series) {
    const names = Object.keys(series.u);
    const step = Math.max(1, Math.ceil(series.r.length / 25));
    const rows = series.r.map((_, number) => number).filter((number) => number % step === 0)
      .map((number) => [`${series.t[number]} s`, P.rate(series.r[number] * 1e6), P.rate(series.w[number] * 1e6), ...names.map((name) => `${series.u[name][number]} %`)]);
    parts.push(P.table(["time", "disks read", "disks wrote", ...names.map((name) => `${name} busy`)], rows, "Rates through time"));
    if (series.lat) parts.push(P.latencyTable(series.lat));
  }
  holder.replaceChildren(...parts);
};

// A dash where the step before goes on.
P.latencyTable = ({ ends, lines }) => {
  const [names, values] = [Object.keys(lines).map((line) => P.data.latency_lines[line]), Object.values(lines)];
  const rows = ends.slice(0, -1).map((end, number) => [`${end} s`, ...values.map((each) => (each[number] ? P.seconds(each[number]) : "–"))]);
  return P.table(["from", ...names], rows, "Latency percentiles through time");
};

P.drawDisks = (cell) => {
  const rows = cell.shares.map(([disk, what, share, note]) => ({ disk, what, share, note }));
  P.chart("shares-chart", (holder) => {
    if (!rows.length) return null;
    const columns = Math.max(1, Math.min(4, Math.floor(P.widthFor(holder) / 270)));
    return { spec: { ...P.data.specs.shares, columns }, rows: { points: rows }, label: `Shares of the disks of ${P.nameOf(cell)}` };
  });
  const disks = [...new Set(rows.map((row) => row.disk))];
  const value = (disk, what) => {
    const row = rows.find((each) => each.disk === disk && each.what === what);
    return row ? P.percent(row.share) : "–";
  };
  const table = disks.map((disk) => [disk, ...["reads", "writes", "stored", "busy"].map((what) => value(disk, what)), disk in cell.requests ? P.seconds(cell.requests[disk]) : "–", rows.find((row) => row.disk === disk)?.note ? "▲ holds the layout back" : ""]);
  P.byId("shares-table").replaceChildren(table.length
    ? P.table(["disk", "reads", "writes", "stored", "busy", "a request took", ""], table, "Shares of the disks")
    : P.make("p", {}, "No disk was counted."));
};
