"use strict";
// Light and dark: the theme of the system until the button is used.
P.setTheme = (name) => {
  document.documentElement.dataset.theme = name;
  const button = P.byId("theme");
  button.textContent = name === "dark" ? "Light" : "Dark";
  button.setAttribute("aria-pressed", String(name === "dark"));
  if (P.data) P.allStale();
};

P.startTheme = () => {
  P.setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  P.byId("theme").addEventListener("click", () => P.setTheme(P.theme() === "dark" ? "light" : "dark"));
};
