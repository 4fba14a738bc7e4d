"use strict";
// Used by all parts of the page: its data, formatted numbers, elements, tables.
const P = { data: null, cell: -1 };
{
  const found = document.getElementById("data");
  if (found) P.data = JSON.parse(found.textContent);
}

P.size = (bytes) => {
  let value = bytes;
  for (const unit of ["B", "KiB", "MiB", "GiB", "TiB"]) {
    if (Math.abs(value) < 1024 || unit === "TiB") {
      return `${unit === "B" || value >= 100 ? Math.round(value) : Number(value.toPrecision(3))} ${unit}`;
    }
    value /= 1024;
  }
};

P.percent = (share) => {
  const value = 100 * share;
  return `${value >= 10 ? Math.round(value) : Number(value.toPrecision(2))} %`;
};

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

// Text between backticks is code; a single backtick stays as it is.
P.coded = (text) => {
  const parts = text.split("`");
  if (parts.length % 2 === 0) return [text];
  return parts.map((part, number) => (number % 2 ? P.make("code", {}, part) : part)).filter((part) => part !== "");
};

P.table = (headings, rows, caption) => {
  const cell = (value, number) => number === 0
    ? P.make("th", { scope: "row" }, String(value))
    : P.make("td", { class: typeof value === "number" ? "number" : null }, String(value ?? "–"));
  return P.make("table", { class: "plain" },
    caption ? P.make("caption", { class: "away" }, caption) : null,
    P.make("thead", {}, P.make("tr", {}, ...headings.map((name) => P.make("th", { scope: "col" }, name)))),
    P.make("tbody", {}, ...rows.map((row) => P.make("tr", {}, ...row.map(cell)))));
};

P.options = (select, entries, chosen) => {
  select.replaceChildren(...entries.map(([value, text]) => P.make("option", { value, selected: String(value) === String(chosen) }, text)));
};

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
