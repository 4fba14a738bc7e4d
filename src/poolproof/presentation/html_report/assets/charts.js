"use strict";
// Vega charts. Their specifications and rows are in the data of the page. A chart is drawn when it first becomes visible.
P.theme = () => document.documentElement.dataset.theme || "light";
P.drawn = new Map();

P.walk = (node, visit) => {
  if (Array.isArray(node)) node.forEach((each) => P.walk(each, visit));
  else if (node && typeof node === "object") {
    visit(node);
    Object.values(node).forEach((each) => P.walk(each, visit));
  }
};

// Puts rows into a specification, by the names of its data; data without a name is `points`.
P.filled = (spec, rows) => {
  const made = structuredClone(spec);
  P.walk(made, (node) => {
    if (node.data && "values" in node.data) node.data = { values: rows[node.data.name || "points"] || [] };
  });
  return made;
};

// Expands lines to rows [position, name, value]; null makes no row. Lines without positions are at `times`.
P.rowsOfLines = (lines, times) => lines.flatMap(({ at, values }) => Object.entries(values).flatMap(([name, own]) =>
  own.flatMap((value, number) => (value === null ? [] : [[(at ?? times)[number], name, value]]))));

// Returns rows from columns. A repetitive column has its distinct values and the index of each value.
P.rows = (packed) => {
  const columns = packed.map((column) => (Array.isArray(column[0]) ? column[1].map((number) => column[0][number]) : column));
  return (columns[0] ?? []).map((_, row) => columns.map((column) => column[row]));
};

P.records = (chart, rows) => rows.map((row) => Object.fromEntries(chart.columns.map(([field], number) => [field, row[number]])));

// Draws a chart of the run, of a cell or of a metric, as wide as the page allows.
P.drawRows = (chart, spec, rows, of) => P.chart(`${chart.name}-chart`, (holder) => (rows.length ? {
  spec: P.fitted(structuredClone(spec), P.widthFor(holder), chart.scope === "metric"),
  rows: { points: P.records(chart, rows) },
  label: `${of}; the table below has the same data`,
} : null));

// Panels in as many columns as fit, with room for a legend next to them or, on a narrow page, with the legend below.
P.fitted = (spec, width, shrinks) => {
  if (!spec.facet) return { ...spec, width: Math.min(spec.width, width - 130) };
  const legends = [];
  P.walk(spec, (node) => { if (node.legend?.title) legends.push(node.legend); });
  const narrow = width < 700;
  const room = width - (legends.length && !narrow ? 230 : 0);
  spec.columns = Math.max(1, Math.min(spec.columns, Math.floor(room / (spec.spec.width + (legends.length ? 30 : 120)))));
  if (narrow && shrinks) spec.spec.width = Math.max(150, Math.min(spec.spec.width, width - 130));
  if (narrow) legends.forEach((legend) => Object.assign(legend, { orient: "bottom", columns: 1 }));
  return spec;
};

P.format = { "": (value) => `${value}`, s: P.seconds, "MB/s": (value) => P.rate(value * 1e6), "%": (value) => `${value}%`, share: P.percent };
P.MOST_TABLE_ROWS = 25;

// The table behind a chart. A pivot table has the first column as rows, the second as columns, and further ones at the end.
P.chartTable = (chart, rows) => {
  const text = (row, number) => P.format[chart.columns[number][2]](row[number]);
  if (!chart.pivot) {
    const shown = chart.columns.flatMap(([, heading], number) => (heading ? [number] : []));
    return P.table(shown.map((number) => chart.columns[number][1]), rows.map((row) => shown.map((number) => text(row, number))), chart.title);
  }
  const names = P.unique(rows.map((row) => row[1]));
  const found = new Map();
  for (const row of rows) {
    const made = found.get(row[0]) || { head: text(row, 0), cells: {} };
    made.cells[row[1]] = text(row, 2);
    made.rest = row.slice(3);
    found.set(row[0], made);
  }
  const step = chart.scope === "trial" ? Math.max(1, Math.ceil(found.size / P.MOST_TABLE_ROWS)) : 1;
  const lines = [...found.values()].filter((_, number) => number % step === 0);
  const head = [chart.columns[0][1], ...names, ...chart.columns.slice(3).map(([, heading]) => heading)];
  return P.table(head, lines.map((line) => [line.head, ...names.map((name) => line.cells[name] ?? "–"), ...line.rest]), chart.title);
};

// On a dark page, dark colours are replaced by lighter ones.
P.inTheme = (spec) => {
  if (P.theme() === "light") return spec;
  let text = JSON.stringify(spec);
  for (const [dark, light] of Object.entries(P.data.look.lighter)) text = text.replaceAll(`"${dark}"`, `"${light}"`);
  return JSON.parse(text);
};

P.widthFor = (holder) => Math.max(240, holder.clientWidth || 320);

// `draw` returns { spec, rows, label }; it is called again when the theme or the width changes.
P.chart = (id, draw) => {
  const holder = P.byId(id);
  if (!holder) return;
  P.drawn.set(id, draw);
  holder.dataset.stale = "yes";
  P.watcher.unobserve(holder);
  P.watcher.observe(holder);
};

P.redraw = (id) => {
  const holder = P.byId(id);
  const draw = P.drawn.get(id);
  if (!draw || holder.dataset.stale !== "yes") return;
  holder.dataset.stale = "no";
  const made = draw(holder);
  holder.view?.finalize();
  holder.view = null;
  if (!made) {
    holder.replaceChildren();
    return;
  }
  const spec = { ...P.inTheme(P.filled(made.spec, made.rows)), config: P.data.look.themes[P.theme()] };
  if (P.theme() === "light") spec.config = { ...spec.config, background: "transparent" };
  const turn = (holder.turn = (holder.turn || 0) + 1);
  vegaEmbed(holder, spec, { renderer: "svg", actions: false, logLevel: 1, tooltip: { theme: P.theme() } }).then((result) => {
    if (holder.turn !== turn) {
      result.finalize();
      return;
    }
    holder.view = result;
    const svg = holder.querySelector("svg");
    svg?.setAttribute("role", "img");
    svg?.setAttribute("aria-label", made.label);
    // One image with one label: Vega's roles on every mark are noise for a screen reader.
    for (const each of [holder, ...(svg?.querySelectorAll("*") ?? [])]) {
      for (const name of ["role", "aria-roledescription", "aria-label"]) each.removeAttribute(name);
    }
    P.scrollable(holder);
    holder.dataset.ready = String(turn);
  });
};

P.allStale = () => {
  for (const id of P.drawn.keys()) P.chart(id, P.drawn.get(id));
};

// What does not fit can also be scrolled by keyboard.
P.scrollable = (holder) => {
  const wide = holder.scrollWidth > holder.clientWidth || holder.scrollHeight > holder.clientHeight;
  const names = { tabindex: "0", role: "region", "aria-label": "Larger than the page: scroll with the arrow keys" };
  for (const [name, value] of Object.entries(names)) {
    if (wide) holder.setAttribute(name, value);
    else holder.removeAttribute(name);
  }
};

P.watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) P.redraw(entry.target.id);
}, { rootMargin: "300px" });
