"use strict";
// Controls: copying, the curves, the choice of a cell.
P.curveRows = () => {
  const { columns, cells } = P.data;
  const metric = P.byId("metric").value;
  const rest = P.byId("rest").value;
  const mode = P.byId("mode").value;
  const shown = new Set([...P.byId("layouts").querySelectorAll("input:checked")].map((box) => box.value));
  const column = new Map(columns.map((each) => [each.workload, each]));
  const rows = cells.flatMap((cell) => {
    const place = column.get(cell.w);
    const figure = cell.m[metric];
    if (!figure || !shown.has(String(cell.l))) return [];
    if (P.hasCurves && (!place.panel || place.rest !== rest || (mode && place.panel !== mode))) return [];
    const believed = cell.v !== "refuted" && cell.v !== "failed";
    return [{
      layout: P.data.layouts[cell.l], workload: P.data.workloads[cell.w], panel: place.panel, at: place.at, order: place.order,
      value: figure[0], low: figure[1], high: figure[2], line: believed && !cell.u ? figure[0] : null, believed, unsettled: Boolean(cell.u),
      verdict: cell.v, text: P.figureText(figure, metric),
    }];
  });
  return rows.sort((a, b) => a.order - b.order);
};

// A figure that did not settle has no interval, but the least and most of its trials.
P.figureText = ([mean, low, high, least, most], metric) => {
  const word = metric === "iops" ? (value) => `${Number(value.toPrecision(3)).toLocaleString("en")} IOPS` : metric === "bandwidth" ? P.rate : P.seconds;
  if (least !== undefined) return `about ${word(mean)} (unsettled, ${least === null ? "one trial" : `trials ${word(least)} … ${word(most)}`})`;
  return low === null ? `${word(mean)} (one trial: no interval)` : `${word(mean)} (${word(low)} … ${word(high)})`;
};

P.drawCurves = () => {
  const metric = P.byId("metric").value;
  const rows = P.curveRows();
  const name = P.hasCurves ? `curves ${metric} ${P.byId("scale").value}` : `figures ${metric}`;
  const refuted = rows.filter((row) => !row.believed).length;
  const unsettled = rows.filter((row) => row.believed && row.unsettled).length;
  const still = P.byId("scale")?.value === "log" ? rows.filter((row) => !(row.value > 0)).length : 0;
  const alone = rows.some((row) => row.low === null && !row.unsettled);
  P.byId("curves-note").textContent = [
    P.hasCurves ? "" : "No workload varies over block size here, so each workload has its own panel.",
    refuted ? `${refuted} refuted or failed ${refuted === 1 ? "figure is" : "figures are"} drawn hollow and unconnected.` : "",
    unsettled ? `${unsettled} unsettled ${unsettled === 1 ? "figure is" : "figures are"} drawn hollow and unconnected, without an interval, at the mean of ${unsettled === 1 ? "its" : "their"} trials.` : "",
    P.hasCurves && still ? `${still} ${still === 1 ? "figure of 0 is" : "figures of 0 are"} not drawn on a logarithmic scale.` : "",
    `Bars are ${P.data.intervals[metric]}${alone ? "; a figure of one trial has none" : ""}.`,
    rows.length ? "" : "There is nothing to draw with these choices.",
  ].filter(Boolean).join(" ");
  P.chart("curves-chart", (holder) => {
    if (!rows.length) return null;
    const width = P.widthFor(holder);
    const spec = structuredClone(P.data.specs[name]);
    spec.columns = Math.max(1, Math.min(3, Math.floor((width - (P.hasCurves && width > 700 ? 230 : 0)) / (P.hasCurves ? 300 : 360))));
    if (!P.hasCurves) spec.facet.sort = [...new Set(rows.map((row) => row.workload))];
    if (width < 700) spec.spec.width = Math.max(150, Math.min(270, width - 130));
    if (width < 700 && P.hasCurves) P.legendBelow(spec);
    return { spec, rows: { points: rows }, label: `${P.data.metrics[metric]} of ${rows.length} cells; the table below has the same data` };
  });
  const head = P.hasCurves ? ["layout", "mode", "at", P.data.metrics[metric], "verdict"] : ["layout", "workload", P.data.metrics[metric], "verdict"];
  P.byId("curves-table").replaceChildren(P.table(head, rows.map((row) => (P.hasCurves
    ? [row.layout, row.panel, row.at, row.text, row.verdict] : [row.layout, row.workload, row.text, row.verdict])), "The figures of the curves"));
};

P.legendBelow = (spec) => P.walk(spec, (node) => {
  if (node.field === "layout" && node.legend !== null) node.legend = { ...(node.legend || {}), orient: "bottom", columns: 1 };
});

P.curveControls = () => {
  const { metrics, columns, layouts, metric_of: own } = P.data;
  P.hasCurves = columns.some((column) => column.panel);
  P.options(P.byId("metric"), Object.entries(metrics), own[0]);
  const rests = [...new Set(columns.filter((column) => column.panel).map((column) => column.rest))];
  P.options(P.byId("rest"), rests.map((rest) => [rest, rest]), rests[0]);
  P.byId("rest-label").hidden = rests.length < 2;
  const modes = [...new Set(columns.map((column) => column.panel).filter(Boolean))];
  P.options(P.byId("mode"), [["", "all"], ...modes.map((mode) => [mode, mode])], "");
  P.byId("mode-label").hidden = modes.length < 2;
  P.byId("scale-label").hidden = !P.hasCurves;
  const colours = P.data.series_colours;
  P.byId("layouts").append(...layouts.map((name, number) => {
    const key = P.make("span", { class: "key", "aria-hidden": "true" });
    key.style.background = colours[number % colours.length];
    return P.make("label", {}, P.make("input", { type: "checkbox", value: number, checked: true }), " ", key, name);
  }));
  P.byId("curve-controls").addEventListener("change", P.drawCurves);
};

P.cellControls = () => {
  const { layouts, workloads, cells } = P.data;
  P.options(P.byId("cell-layout"), layouts.map((name, number) => [number, name]), 0);
  P.options(P.byId("cell-workload"), workloads.map((name, number) => [number, name]), 0);
  P.byId("cell-controls").addEventListener("change", () => {
    const l = Number(P.byId("cell-layout").value), w = Number(P.byId("cell-workload").value);
    const number = cells.findIndex((cell) => cell.l === l && cell.w === w);
    if (number >= 0) P.open(number, false);
    else P.notMeasured(l, w);
  });
  P.byId("time-controls").addEventListener("change", () => P.drawCell(P.cell));
};

P.notMeasured = (l, w) => {
  P.byId("cell-head").replaceChildren(P.make("p", { class: "cell-line" }, `${P.data.workloads[w]} on ${P.data.layouts[l]} was not measured.`));
  for (const id of ["flow", "flow-table", "cell-findings", "time-table", "disks-table", "time-note"]) P.byId(id).replaceChildren();
  for (const chart of P.data.charts.filter((each) => each.scope !== "run")) {
    P.chart(`${chart.name}-chart`, () => null);
    P.byId(`${chart.name}-note`).replaceChildren();
  }
};

P.fromHash = (go) => {
  const match = location.hash.match(/^#cell=(\d+)$/);
  if (match) P.open(Number(match[1]), go);
  return Boolean(match);
};

P.start = () => {
  P.startTheme();
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button.copy");
    if (button) P.copy(button.dataset.copy ?? P.byId(button.dataset.copyFrom).textContent, button);
  });
  if (!P.data) return;
  P.drawMap();
  P.curveControls();
  P.drawCurves();
  P.cellControls();
  for (const chart of P.chartsOf("run")) P.drawRows(chart, chart.rows, "");
  if (!P.fromHash(true)) P.open(P.data.open, false);
  addEventListener("hashchange", () => P.fromHash(true));
  let width = innerWidth;
  let waiting = 0;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (innerWidth === width) return;
      width = innerWidth;
      P.allStale();
      P.drawMap();
      P.drawFlows(P.data.cells[P.cell]);
      document.querySelectorAll(".scroll").forEach(P.scrollable);
    }, 150);
  });
  addEventListener("beforeprint", () => { for (const id of P.drawn.keys()) P.redraw(id); });
  for (const details of document.querySelectorAll("details")) {
    details.addEventListener("toggle", () => details.querySelectorAll(".scroll").forEach(P.scrollable));
  }
  document.querySelectorAll(".scroll").forEach(P.scrollable);
  document.documentElement.dataset.ready = "yes";
};

P.start();
