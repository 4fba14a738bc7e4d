"use strict";
// The map: a table as a grid; arrow keys move, Enter opens a cell.
P.FEW = 9;

P.drawMap = () => {
  const { layouts, columns, cells } = P.data;
  const at = new Map(cells.map((cell, number) => [`${cell.l} ${cell.w}`, number]));
  const few = columns.length <= P.FEW;
  const bands = P.bands(columns, few ? (innerWidth < 640 ? 118 : 150) : 24, P.byId("map-grid").clientWidth - Math.min(232, 20 + 7 * Math.max(...layouts.map((name) => name.length))));
  const tables = bands.map((band, number) => {
    const breaks = band.map((column, place) => place > 0 && P.groupOf(column) !== P.groupOf(band[place - 1]));
    const name = bands.length > 1 ? `Map of all cells, part ${number + 1} of ${bands.length}` : "Map of all cells";
    const table = P.make("table", { class: few ? "map few" : "map", role: "grid", "aria-label": name });
    const body = P.make("tbody");
    layouts.forEach((layout, l) => {
      const row = P.make("tr", { role: "row" }, P.make("th", { scope: "row", role: "rowheader", title: layout }, layout));
      band.forEach((column, place) => row.append(P.mapCell(at.get(`${l} ${column.workload}`), layout, column, breaks[place], few)));
      body.append(row);
    });
    table.append(P.mapHead(band, breaks, few), body);
    return table;
  });
  P.byId("map-grid").replaceChildren(...tables);
  P.mapKeys(tables);
  P.mapLegend();
  if (P.cell >= 0) P.markOpen(P.cell);
};

// Splits the columns into bands that fit the page; those of one group stay together.
P.bands = (columns, wide, room) => {
  const groups = [];
  for (const column of columns) {
    const same = column.group && groups.length && P.groupOf(groups.at(-1)[0]) === P.groupOf(column);
    if (same) groups.at(-1).push(column);
    else groups.push([column]);
  }
  const breaks = wide > 100 ? 0 : 6; // pixels between two groups
  const bands = [];
  let used = 0;
  for (const group of groups) {
    const needed = group.length * wide + breaks;
    if (bands.length && used + needed <= room) {
      bands.at(-1).push(...group);
      used += needed;
    } else {
      bands.push([...group]);
      used = needed;
    }
  }
  return bands;
};

P.groupOf = (column) => (column.group ? `${column.family}: ${column.group}` : "");

P.mapHead = (columns, breaks, few) => {
  const head = P.make("thead");
  if (columns.some((column) => column.group)) {
    const groups = P.make("tr", { role: "row" }, P.make("td", { role: "presentation" }));
    const families = new Set(P.data.columns.filter((column) => column.group).map((column) => column.family)).size;
    for (let from = 0; from < columns.length;) {
      let to = from + 1;
      while (to < columns.length && !breaks[to]) to += 1;
      const name = columns[from].group ? (families > 1 ? P.groupOf(columns[from]) : columns[from].group) : "";
      groups.append(P.make("th", { class: `${name ? "group" : ""}${from ? " break" : ""}`.trim() || null, colspan: to - from, scope: "colgroup", role: "columnheader" }, name));
      from = to;
    }
    head.append(groups);
  }
  const row = P.make("tr", { role: "row" }, P.make("td", { role: "presentation" }));
  columns.forEach((column, number) => {
    const names = [few ? "" : "up", breaks[number] ? "break" : ""].join(" ").trim();
    row.append(P.make("th", { scope: "col", role: "columnheader", class: names || null, title: P.data.workloads[column.workload] }, P.make("span", {}, column.label)));
  });
  head.append(row);
  return head;
};

P.mapCell = (number, layout, column, breaks, few) => {
  const side = breaks ? " break" : "";
  if (number === undefined) {
    return P.make("td", { class: `none${side}`, role: "gridcell", tabindex: "-1", "aria-label": `${P.data.workloads[column.workload]} on ${layout}: not measured` }, "·");
  }
  const cell = P.data.cells[number];
  const made = P.make("td", {
    class: `v-${cell.v}${cell.c ? "" : " bare"}${cell.u || cell.e ? " unsettled" : ""}${side}`, role: "gridcell", tabindex: "-1", "data-cell": number,
    "aria-label": `${P.nameOf(cell)}: ${cell.f}, ${cell.v}${P.shareText(cell, ", ")}`,
  }, P.make("span", { class: cell.c ? "" : "mark", "aria-hidden": "true" }, `${cell.u || cell.e ? "~" : ""}${P.data.marks[cell.v]}`));
  if (cell.c) {
    made.style.setProperty("--heat", cell.c);
    made.style.setProperty("--on", cell.i);
  }
  if (few) made.append(` ${P.shortResult(cell)}`);
  return made;
};

// How close a cell comes to the best of its workload; approximate if it did not converge.
P.shareText = (cell, before) => {
  if (cell.s === null) return "";
  if (cell.u && cell.s === 1) return `${before}about the best (none converged)`;
  return `${before}${cell.s === 1 ? "the best" : `${cell.u ? "about " : ""}${P.percent(cell.s)} of the best`}`;
};

// The result without its interval; a refuted one is in parentheses.
P.shortResult = (cell) => {
  const plain = cell.f.replace(/^\[|\]$/g, "").replace(/ \(.*$/, "");
  return cell.f.startsWith("[") ? `(${plain})` : plain;
};

// The keys move through all bands as one grid: down from the last layout continues in the next band.
P.mapKeys = (tables) => {
  const rows = tables.flatMap((table) => [...table.tBodies[0].rows].map((row) => [...row.cells].slice(1)));
  const places = new Map(rows.flatMap((row, r) => row.map((cell, c) => [cell, [r, c]])));
  const focus = (r, c) => {
    const next = rows[r]?.[Math.min(c, rows[r].length - 1)];
    if (!next) return;
    P.byId("map-grid").querySelector("td[tabindex='0']")?.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  };
  rows[0]?.[0]?.setAttribute("tabindex", "0");
  const keys = (event) => {
    const cell = event.target.closest("td[role='gridcell']");
    if (!cell) return;
    const [r, c] = places.get(cell);
    const moves = {
      ArrowRight: [r, c + 1], ArrowLeft: [r, Math.max(0, c - 1)], ArrowDown: [r + 1, c], ArrowUp: [r - 1, c],
      Home: [event.ctrlKey ? 0 : r, 0], End: [event.ctrlKey ? rows.length - 1 : r, Infinity],
    };
    if (moves[event.key]) {
      event.preventDefault();
      focus(...moves[event.key]);
    } else if ((event.key === "Enter" || event.key === " ") && cell.dataset.cell) {
      event.preventDefault();
      P.open(Number(cell.dataset.cell), true);
    } else if (event.key === "Escape") {
      P.byId("tip").hidden = true;
    }
  };
  for (const table of tables) {
    table.addEventListener("keydown", keys);
    table.addEventListener("click", (event) => {
      const cell = event.target.closest("td[data-cell]");
      if (cell) P.open(Number(cell.dataset.cell), true);
    });
    P.mapTips(table);
  }
};

P.mapTips = (table) => {
  const tip = P.byId("tip");
  const show = (event) => {
    const cell = event.target.closest?.("td[data-cell]");
    if (!cell) return;
    const about = P.data.cells[Number(cell.dataset.cell)];
    tip.textContent = `${P.nameOf(about)}\n${about.f}\n${P.data.marks[about.v]} ${about.v}${P.shareText(about, ", ")}`;
    const box = cell.getBoundingClientRect();
    tip.hidden = false;
    const left = Math.min(box.left + window.scrollX, window.scrollX + document.documentElement.clientWidth - tip.offsetWidth - 8);
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${box.bottom + window.scrollY + 6}px`;
  };
  const hide = () => { tip.hidden = true; };
  table.addEventListener("mouseover", show);
  table.addEventListener("focusin", show);
  table.addEventListener("mouseleave", hide);
  table.addEventListener("focusout", hide);
};

P.mapLegend = () => {
  const ramp = P.make("span", { class: "ramp", role: "img", "aria-label": "Colours from the best to a hundredth of the best" });
  ramp.style.background = `linear-gradient(to right, ${P.data.heat.join(", ")})`;
  P.byId("map-legend").replaceChildren(
    P.make("span", {}, "the best", ramp, "1/100 of the best or less"),
    ...Object.entries(P.data.marks).map(([word, mark]) => P.make("span", { class: `v-${word}` }, P.mark(mark), ` ${word}`)),
    P.data.cells.some((cell) => cell.u || cell.e) ? P.make("span", { class: "unsettled" }, P.mark("~"), ` ${[P.data.cells.some((cell) => cell.u) && "not converged", P.data.cells.some((cell) => cell.e) && "too few events"].filter(Boolean).join(" or ")}`) : "");
};

P.markOpen = (number) => {
  const grid = P.byId("map-grid");
  grid.querySelector("td[aria-selected='true']")?.removeAttribute("aria-selected");
  grid.querySelector(`td[data-cell='${number}']`)?.setAttribute("aria-selected", "true");
};
