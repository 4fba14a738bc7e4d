"use strict";
// The open cell: byte accounting, findings and charts.
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
  P.drawCell(number);
  if (location.hash !== `#cell=${number}` && go) history.replaceState(null, "", `#cell=${number}`);
  if (go) {
    P.byId("account").scrollIntoView({ block: "start" });
    P.byId("cell-head").focus({ preventScroll: true });
  }
};

P.cellHead = (cell) => {
  const share = P.shareText(cell, "; ");
  const trials = cell.t.map(([number, mark, text]) => `${mark} ${text}`).join(", ");
  P.byId("cell-head").replaceChildren(
    P.make("p", { class: "cell-line" }, `${P.nameOf(cell)}: ${cell.f.replace(/^\[|\]$/g, "")} `, P.make("span", { class: `v-${cell.v}` }, `${P.data.marks[cell.v]} ${cell.v}`)),
    P.quiet(`${cell.t.length === 1 ? "one trial" : `${cell.t.length} trials`}: ${trials}${share && `${share} of this workload`}`),
    cell.u ? P.unsettledBlock(cell) : "",
    ...(cell.r ?? []).map((remark) => P.quiet(`${remark[0].toUpperCase()}${remark.slice(1)}.`)),
    cell.e ? P.make("div", { class: "finding e-suspects unsettled" }, P.make("p", {}, P.mark("~"), ` This percentile has too few events to be ranked, compared or used in a claim: ${cell.e}.`)) : "");
};

P.unsettledBlock = (cell) => P.make("div", { class: "finding e-suspects unsettled" },
  P.make("p", {}, P.mark("~"), " This result did not converge: its trials did not reach the requested precision. Do not rely on its mean."),
  ...cell.u.map(([name, sentence]) => P.make("p", {}, P.make("code", {}, name), ": ", ...P.coded(sentence))));

// What a finding does to a result, by its effect. Notes do nothing to it.
P.done = {
  fails: (what) => `shows that ${what} failed`,
  refutes: (what) => `refutes ${what}`,
  suspects: (what) => `makes ${what} suspect`,
  "leaves-unproven": (what) => `leaves ${what} unproven`,
};

P.cellFindings = (cell) => {
  const found = cell.x.map((number) => P.data.findings[number]);
  const notes = found.filter(([, effect]) => effect === "notes");
  const block = (what) => ([rule, effect, message, fix]) => P.make("div", { class: `finding e-${effect}` },
    P.make("p", {}, P.make("code", {}, rule), ` ${P.done[effect](what)}: `, ...P.coded(message)),
    P.quiet("fix: ", ...P.coded(fix)));
  P.byId("cell-findings").replaceChildren(
    ...found.filter((each) => !notes.includes(each)).map(block("it")),
    ...(cell.o || []).flatMap(([names, verdict, numbers]) => [
      P.make("p", {}, `${names}: `, P.make("span", { class: `v-${verdict}` }, `${P.data.marks[verdict]} ${verdict}`)),
      ...numbers.map((number) => block(names)(P.data.findings[number]))]),
    notes.length ? P.make("details", { class: "behind" }, P.make("summary", {}, `${P.count(notes.length, "note")} (verdict unaffected)`),
      ...notes.map(([rule, , message]) => P.make("p", {}, P.make("code", {}, rule), " ", ...P.coded(message)))) : "");
};

P.trialChoices = (number) => {
  const trials = P.data.trials[number] || [];
  P.options(P.byId("trial"), trials.map((each, index) => [index, `${each.number}`]), 0);
  P.byId("time-controls").hidden = trials.length < 2;
};

P.chartsOf = (scope) => P.data.charts.filter((chart) => chart.scope === scope);

// Draws all charts of a cell and of its chosen trial, and the tables behind them.
P.drawCell = (number) => {
  const cell = P.data.cells[number];
  const trial = (P.data.trials[number] || [])[Number(P.byId("trial").value) || 0];
  P.byId("time-note").textContent = trial ? `Trial ${trial.number}.` : "This page has no samples for this cell.";
  const tables = { time: [], disks: [] };
  for (const chart of [...P.chartsOf("cell"), ...P.chartsOf("trial")]) {
    const made = trial?.charts[chart.name];
    const ofCell = chart.scope === "cell";
    const rows = ofCell ? P.rows(cell.charts[chart.name]) : made ? P.rowsOfLines(made.lines, trial.times) : [];
    P.byId(`${chart.name}-note`).textContent = made?.note ?? "";
    if (ofCell) P.drawRows(chart, chart.spec, rows, `${chart.title} of ${P.nameOf(cell)}`);
    else P.drawTrial(chart, rows, trial, P.nameOf(cell));
    if (rows.length) tables[chart.section].push(P.chartTable(chart, rows));
  }
  for (const [section, parts] of Object.entries(tables)) {
    P.byId(`${section}-table`).replaceChildren(...(parts.length ? parts : [P.make("p", {}, "There is nothing to show.")]));
  }
};

P.drawTrial = (chart, rows, trial, of) => {
  const names = P.unique(rows.map((row) => row[1]));
  P.chart(`${chart.name}-chart`, (holder) => (rows.length ? {
    spec: P.withDomain({ ...P.only(chart.spec, chart.columns[1][0], names), width: P.widthFor(holder) - 80 }, trial.domain),
    rows: { points: P.records(chart, rows), phases: trial.phases },
    label: `${chart.title} of ${of}; the table below has the same data`,
  } : null));
};

// Gives all charts of a trial the same time axis.
P.withDomain = (spec, domain) => {
  P.walk(spec, (node) => { if (node.field === "at_s") node.scale = { ...node.scale, domain }; });
  return spec;
};

// Limits the legend to the names that are drawn; each keeps its colour.
P.only = (spec, field, names) => {
  const made = structuredClone(spec);
  P.walk(made, (node) => {
    if (node.field !== field || !node.scale?.range) return;
    const { domain, range } = node.scale;
    node.scale = { domain: names, range: names.map((name) => range[domain.indexOf(name)]) };
  });
  return made;
};
