"use strict";
// Controls: copying, the charts of a metric, the choice of a cell.
P.chosenRows = (chart) => {
  const value = (id) => P.byId(id).value;
  const layouts = new Set([...P.byId("layouts").querySelectorAll("input:checked")].map((box) => P.data.layouts[box.value]));
  const rows = P.rows(chart.rows[value("metric")]);
  const records = P.records(chart, rows);
  return rows.filter((_, number) => {
    const { layout, rest, panel } = records[number];
    return layouts.has(layout) && (rest === undefined || rest === value("rest")) && (panel === undefined || !value("mode") || panel === value("mode"));
  });
};

P.drawMetric = () => {
  const metric = P.byId("metric").value;
  const tables = P.chartsOf("metric").map((chart) => {
    const rows = P.chosenRows(chart);
    const scale = P.byId("scale").value;
    const specs = chart.specs[metric];
    P.drawRows(chart, specs[scale] ?? Object.values(specs)[0], rows, `${P.data.metrics[metric]} of ${P.count(rows.length, "cell")}`);
    P.byId(`${chart.name}-note`).textContent = P.metricNote(P.records(chart, rows), metric, scale in specs && scale === "log");
    return P.chartTable(chart, rows);
  });
  P.byId("curves-table").replaceChildren(...tables);
};

P.metricNote = (results, metric, isLog) => {
  const valid = results.filter((result) => result.counts);
  const rejected = results.length - valid.length;
  const unsettled = valid.filter((result) => result.unsettled).length;
  const zero = isLog ? results.filter((result) => !(result.value > 0)).length : 0;
  const few = valid.filter((result) => result.few && !result.unsettled).length;
  const alone = results.some((result) => result.low === null && !result.unsettled && !result.few);
  return [
    rejected ? `${P.count(rejected, "refuted or failed result is", "refuted or failed results are")} drawn hollow and unconnected.` : "",
    unsettled ? `${P.count(unsettled, "result that did not converge is", "results that did not converge are")} drawn hollow and unconnected, without an interval, at the mean of ${unsettled === 1 ? "its" : "their"} trials.` : "",
    few ? `${P.count(few, "percentile with too few events is", "percentiles with too few events are")} drawn hollow and unconnected, without an interval, and not ranked or compared.` : "",
    zero ? `${P.count(zero, "result of 0 is", "results of 0 are")} not drawn on a logarithmic scale.` : "",
    `Bars are ${P.data.intervals[metric]}${alone ? "; a result of one trial has none" : ""}.`,
    results.length ? "" : "There is nothing to draw with these choices.",
  ].filter(Boolean).join(" ");
};

P.metricControls = () => {
  const { metrics, columns, layouts, series_colours: colours } = P.data;
  const scales = P.unique(P.chartsOf("metric").flatMap((chart) => Object.values(chart.specs).flatMap(Object.keys)));
  const placed = columns.filter((column) => column.panel);
  const choices = { scale: scales.map((name) => [name, name === "log" ? "logarithmic" : name]) };
  choices.rest = P.unique(placed.map((column) => column.rest)).map((rest) => [rest, rest]);
  choices.mode = P.unique(placed.map((column) => column.panel)).map((panel) => [panel, panel]);
  for (const [id, entries] of Object.entries(choices)) {
    P.options(P.byId(id), id === "mode" ? [["", "all"], ...entries] : entries, entries[0]?.[0]);
    P.byId(`${id}-label`).hidden = entries.length < 2;
  }
  P.byId("mode").value = "";
  P.options(P.byId("metric"), Object.entries(metrics), P.data.metric);
  P.byId("layouts").append(...layouts.map((name, number) => {
    const key = P.make("span", { class: "key", "aria-hidden": "true" });
    key.style.background = colours[number % colours.length];
    return P.make("label", {}, P.make("input", { type: "checkbox", value: number, checked: true }), " ", key, name);
  }));
  P.byId("curve-controls").addEventListener("change", P.drawMetric);
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
  for (const chart of [...P.chartsOf("cell"), ...P.chartsOf("trial")]) {
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
  P.metricControls();
  P.drawMetric();
  P.cellControls();
  for (const chart of P.chartsOf("run")) P.drawRows(chart, chart.spec, P.rows(chart.rows), chart.title);
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
