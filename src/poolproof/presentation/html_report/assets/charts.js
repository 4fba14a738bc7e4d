"use strict";
// Vega charts: the specification comes with the page, rows are put in here; drawn when first seen, again by theme.
P.theme = () => document.documentElement.dataset.theme || "light";
P.drawn = new Map();

// Rows by the names of a specification's data; data without a name is `points`.
P.filled = (spec, rows) => {
  const made = structuredClone(spec);
  const walk = (node) => {
    if (Array.isArray(node)) node.forEach(walk);
    else if (node && typeof node === "object") {
      if (node.data && "values" in node.data) node.data = { values: rows[node.data.name || "points"] || [] };
      Object.values(node).forEach(walk);
    }
  };
  walk(made);
  return made;
};

// Colours that are too dark for a dark page have a lighter twin.
P.inTheme = (spec) => {
  if (P.theme() === "light") return spec;
  let text = JSON.stringify(spec);
  for (const [dark, light] of Object.entries(P.data.look.lighter)) text = text.replaceAll(`"${dark}"`, `"${light}"`);
  return JSON.parse(text);
};

P.widthFor = (holder) => Math.max(240, holder.clientWidth || 320);

// draw: a function that gives { spec, rows, label }, called anew when the theme or the width changes.
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
    // One picture with one name: Vega's roles on every mark only make noise for those who listen.
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

// What is larger than its place can be scrolled by keyboard too.
P.scrollable = (holder) => {
  const wide = holder.scrollWidth > holder.clientWidth || holder.scrollHeight > holder.clientHeight;
  const names = { tabindex: "0", role: "region", "aria-label": "Larger than its place: scroll with the arrow keys" };
  for (const [name, value] of Object.entries(names)) {
    if (wide) holder.setAttribute(name, value);
    else holder.removeAttribute(name);
  }
};

P.watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) P.redraw(entry.target.id);
}, { rootMargin: "300px" });
