"use strict";
// Follows the run: a new report loads behind the visible one, scrolls to the same place, and then replaces it.
const byId = (id) => document.getElementById(id);
let shown = null;
let coming = null;
let latest = 0;
let version = 0;
let touched = -Infinity;
const CHOOSING_MS = 8000; // no API says whether a list is open, so one that was used recently counts as open
const DRAWN_MS = 700; // enough for the visible charts to be drawn

const place = (frame) => {
  const inner = frame.contentDocument;
  const controls = [...inner.querySelectorAll("select, input")].map((each) => [each.id, each.value, each.checked]);
  // The page grows, so the place is the section at the upper edge and the offset into it.
  const sections = [...inner.querySelectorAll("section[id]")].map((each) => [each.id, each.getBoundingClientRect().top]);
  return {
    section: sections.filter(([, top]) => top <= 1).pop() || null,
    top: frame.contentWindow.scrollY,
    left: frame.contentWindow.scrollX,
    theme: inner.documentElement.dataset.theme,
    open: [...inner.querySelectorAll("details")].map((each) => each.open),
    controls,
    focus: inner.activeElement ? inner.activeElement.id : "",
  };
};

const restore = (frame, was) => {
  const inner = frame.contentDocument;
  if (was.theme && inner.documentElement.dataset.theme !== was.theme) inner.getElementById("theme")?.click();
  const controls = [...inner.querySelectorAll("select, input")];
  was.controls.forEach(([id, value, checked], number) => {
    const now = id ? inner.getElementById(id) : controls.length === was.controls.length ? controls[number] : null;
    if (!now) return;
    const box = now.type === "checkbox";
    if (box ? now.checked === checked : now.value === value) return;
    if (!box && now.tagName === "SELECT" && ![...now.options].some((each) => each.value === value)) return;
    if (box) now.checked = checked;
    else now.value = value;
    now.dispatchEvent(new frame.contentWindow.Event("change", { bubbles: true }));
  });
  const details = [...inner.querySelectorAll("details")];
  if (details.length === was.open.length) details.forEach((each, number) => { each.open = was.open[number]; });
  scrollBack(frame, was);
  if (was.focus) inner.getElementById(was.focus)?.focus({ preventScroll: true });
};

const scrollBack = (frame, was) => {
  const section = was.section && frame.contentDocument.getElementById(was.section[0]);
  const top = section ? section.getBoundingClientRect().top + frame.contentWindow.scrollY - was.section[1] : was.top;
  frame.contentWindow.scrollTo({ top, left: was.left, behavior: "instant" });
};

const busy = () => {
  // Do not replace the page while a list is open or text is selected.
  if (byId("hold").checked) return true;
  if (!shown || !shown.contentDocument) return false;
  const chosen = shown.contentWindow.getSelection();
  const choosing = shown.contentDocument.activeElement?.tagName === "SELECT" && performance.now() - touched < CHOOSING_MS;
  return (chosen && !chosen.isCollapsed) || choosing;
};

const swap = (number) => {
  if (shown) shown.remove();
  shown = coming;
  coming = null;
  version = number;
  shown.classList.remove("coming");
  for (const kind of ["pointerdown", "keydown", "change"]) {
    shown.contentDocument?.addEventListener(kind, () => { touched = performance.now(); });
  }
  document.documentElement.dataset.page = String(number);
  document.title = shown.contentDocument?.title || "poolproof watch";
  load();
};

const load = () => {
  if (coming || version === latest || (shown && busy())) return;
  const number = latest;
  coming = document.createElement("iframe");
  coming.className = "coming";
  coming.title = "The current report";
  coming.addEventListener("load", () => {
    if (!shown) { swap(number); return; }
    restore(coming, place(shown));
    setTimeout(() => {
      if (busy()) { coming.remove(); coming = null; return; }
      scrollBack(coming, place(shown));
      swap(number);
    }, DRAWN_MS);
  });
  coming.src = `report?${number}`;
  byId("pages").append(coming);
};

const showStatus = (status) => {
  const state = byId("state");
  state.textContent = state.className = status.running ? "running" : "ended";
  byId("progress").max = Math.max(1, status.total);
  byId("progress").value = status.done;
  if (byId("text").textContent !== status.text) byId("text").textContent = status.text;
  byId("cells").textContent = status.cells;
  showRates(status.rates);
  latest = status.page;
  load();
};

// Both rates use one scale, with a bar for each second, so that a difference between fio and the disks is visible.
const bars = (id, values, top) => {
  const width = 120 / Math.max(20, values.length);
  byId(id).replaceChildren(...values.flatMap((value, number) => {
    if (value === null || top <= 0) return [];
    const bar = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    const high = Math.max(value > 0 ? 1 : 0, 24 * value / top);
    const size = { x: number * width, y: 24 - high, width: Math.max(1, width - 0.5), height: high };
    for (const [name, pixels] of Object.entries(size)) bar.setAttribute(name, pixels);
    return [bar];
  }));
};

const showRates = (rates) => {
  byId("rates").hidden = !rates;
  if (!rates) return;
  byId("rates").className = rates.now ? "" : "past";
  byId("rates-of").textContent = `${rates.now ? "now" : "last"}: ${rates.of}`;
  const top = Math.max(0, ...rates.fio.filter((value) => value !== null), ...rates.disks);
  bars("fio", rates.fio, top);
  bars("disks", rates.disks, top);
  byId("fio-now").textContent = rates.text[0];
  byId("disks-now").textContent = rates.text[1];
};

const events = new EventSource("events");
events.onmessage = (event) => showStatus(JSON.parse(event.data));
events.onerror = () => {
  byId("state").textContent = "poolproof watch has stopped or cannot be reached";
  byId("state").className = "lost";
};
byId("hold").addEventListener("change", load);
setInterval(load, 1000);
