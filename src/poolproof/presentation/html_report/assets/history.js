"use strict";
// The page of many runs: the list of changes, and the chart and table of a chosen cell.
P.point = (row) => {
  const point = Object.fromEntries(P.data.columns.map((name, number) => [name, row[number]]));
  return { ...point, number: point.run, run: P.data.runs[point.run] };
};
P.where = (series) => [series.campaign, series.machine].join("\u0000");
P.machines = () => new Set(P.data.series.map((each) => each.machine)).size;
P.campaignText = (series) => P.machines() > 1 ? `${series.campaign} on ${series.machine}` : series.campaign;
P.isMarked = (point) => point.word === "slower" || point.word === "faster";
P.day = (run) => run.begun_at.slice(0, 16).replace("T", " ");
P.MOST_CHANGES = 200;

P.drawChanges = () => {
  const found = P.data.series.flatMap((series, index) => series.points.map(P.point).filter(P.isMarked).map((point) => ({ series, index, point })));
  found.sort((a, b) => b.point.number - a.point.number || (a.point.word < b.point.word ? 1 : -1));
  if (!found.length) return;
  const rows = found.slice(0, P.MOST_CHANGES).map(({ series, index, point }) => [
    P.make("button", { type: "button", "data-series": index }, `${series.workload} on ${series.layout}`),
    P.campaignText(series), `${point.word === "slower" ? "▼" : "▲"} ${point.word}`, point.factor, point.text,
    `${P.day(point.run)}, ${point.run.name}`, point.run.changed.join("; ") || "none recorded"]);
  const table = P.table(["cell", "campaign", "change", "speed", "result", "since run", "other changes"], rows);
  const more = found.length - rows.length;
  P.byId("changes-table").replaceChildren(table, more ? P.quiet(`and ${more} older ones`) : "");
  P.byId("changes-table").addEventListener("click", (event) => {
    const button = event.target.closest("button[data-series]");
    if (button) P.openSeries(Number(button.dataset.series), true);
  });
};

P.uniqueBy = (values, key) => [...new Map(values.map((value) => [key(value), value])).values()];

P.fillControls = (chosen) => {
  const { series } = P.data;
  const here = series.filter((each) => P.where(each) === P.where(chosen));
  P.options(P.byId("campaign"), P.uniqueBy(series, P.where).map((each) => [P.where(each), P.campaignText(each)]), P.where(chosen));
  P.options(P.byId("layout"), P.unique(here.map((each) => each.layout)).map((name) => [name, name]), chosen.layout);
  const own = here.filter((each) => each.layout === chosen.layout);
  P.options(P.byId("workload"), own.map((each) => [each.workload, each.workload]), chosen.workload);
};

P.chosenSeries = () => {
  const { series } = P.data;
  const value = (id) => P.byId(id).value;
  const here = series.filter((each) => P.where(each) === value("campaign"));
  const same = (...names) => here.find((each) => names.every((name) => each[name] === value(name)));
  return series.indexOf(same("layout", "workload") ?? same("workload") ?? same("layout") ?? here[0]);
};

P.openSeries = (index, jump) => {
  const series = P.data.series[index];
  P.fillControls(series);
  const points = series.points.map(P.point);
  const rows = points.filter((point) => point.value !== null).map((point) => ({
    ...point, begun_at: point.run.begun_at, run: point.run.name, versions: point.run.versions, change: P.isMarked(point) ? point.word : "",
  }));
  const label = `${P.data.metrics[series.metric]} of ${series.workload} on ${series.layout} over ${points.length} runs`;
  P.chart("history-chart", (holder) => ({ spec: { ...P.data.specs[series.metric], width: Math.max(260, Math.min(P.widthFor(holder) - 90, 1000)) }, rows: { points: rows }, label }));
  const table = points.map((point) => [P.day(point.run), point.run.name, point.run.versions,
    point.counts ? point.text : `(${point.text})`, `${P.data.marks[point.verdict]} ${point.verdict}`,
    [[point.word, point.factor].filter(Boolean).join(" "), point.reason].filter(Boolean).join("; "), point.run.changed.join("; ")]);
  P.byId("history-table").replaceChildren(P.table(["begun", "run", "versions", "result", "verdict", "vs previous run", "other changes"], table, label));
  P.say(label);
  if (jump) P.byId("cell").scrollIntoView();
};

P.startTheme();
P.byId("runs-table").replaceChildren(P.table(["begun", "run", "host", "versions", "differences from the previous run"],
  P.data.runs.map((run) => [P.day(run), run.name, run.host, run.versions, run.changed.join("; ")])));
if (P.data.series.length) {
  P.drawChanges();
  for (const id of ["campaign", "layout", "workload"]) P.byId(id).addEventListener("change", () => P.openSeries(P.chosenSeries(), false));
  const first = P.data.series.findIndex((series) => series.points.map(P.point).some(P.isMarked));
  P.openSeries(Math.max(0, first), false);
}
