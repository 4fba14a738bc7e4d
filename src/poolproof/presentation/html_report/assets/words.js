"use strict";
// Used by all parts of the page: its data, formatted numbers, elements, tables.
const P = { data: JSON.parse(document.getElementById("data")?.textContent ?? "null"), cell: -1 };

P.digits = (value, digits) => Number(value.toPrecision(digits));

// A value in the first unit in which it is less than `step`.
P.scaled = (value, step, units, text) => {
  const index = units.findIndex((_, number) => Math.abs(value) < step ** (number + 1));
  const last = index < 0 ? units.length - 1 : index;
  return `${text(value / step ** last, last)} ${units[last]}`;
};
P.size = (bytes) => P.scaled(bytes, 1024, ["B", "KiB", "MiB", "GiB", "TiB"], (value, unit) => (!unit || value >= 100 ? Math.round(value) : P.digits(value, 3)));
P.rate = (bytes) => P.scaled(bytes, 1000, ["B/s", "kB/s", "MB/s", "GB/s"], (value) => P.digits(value, 3));
P.seconds = (value) => (value ? P.scaled(value * 1e9, 1000, ["ns", "µs", "ms", "s"], (scaled) => P.digits(scaled, 3)) : "0 s");
P.percent = (share) => `${share >= 0.1 ? Math.round(100 * share) : P.digits(100 * share, 2)}%`;

// `2 trials`; the plural is regular unless it is given.
P.count = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;

P.byId = (id) => document.getElementById(id);

// An element with attributes and children; text is never parsed as markup.
P.make = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
};
P.quiet = (...children) => P.make("p", { class: "quiet" }, ...children);
P.mark = (text) => P.make("span", { class: "mark", "aria-hidden": "true" }, text);

// Text between backticks is code; a single backtick stays as it is.
P.coded = (text) => {
  const parts = text.split("`");
  if (parts.length % 2 === 0) return [text];
  return parts.map((part, number) => (number % 2 ? P.make("code", {}, part) : part)).filter((part) => part !== "");
};

// A table of texts or elements; the first column has the names of the rows.
P.table = (headings, rows, caption) => P.make("table", { class: "plain" },
  caption ? P.make("caption", { class: "away" }, caption) : null,
  P.make("thead", {}, P.make("tr", {}, ...headings.map((name) => P.make("th", { scope: "col" }, name)))),
  P.make("tbody", {}, ...rows.map((row) => P.make("tr", {},
    ...row.map((value, number) => P.make(number ? "td" : "th", { scope: number ? null : "row" }, value ?? "–"))))));

P.options = (select, entries, chosen) => {
  select.replaceChildren(...entries.map(([value, text]) => P.make("option", { value, selected: String(value) === String(chosen) }, text)));
};

P.unique = (values) => [...new Set(values)];

P.nameOf = (cell) => `${P.data.workloads[cell.w]} on ${P.data.layouts[cell.l]}`;

P.say = (text) => { P.byId("said").textContent = text; };

P.copy = async (text, button) => {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = P.make("textarea", { class: "away", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    button.focus();
  }
  const before = button.textContent;
  button.textContent = "Copied";
  P.say("Copied");
  setTimeout(() => { button.textContent = before; }, 1500);
};
