// The price slider, inserting the names of columns, and a question to begin with. Everything also works without it.
"use strict";
// A preview goes where the form says. htmx would send it to where the button leads that was clicked last.
document.addEventListener("htmx:configRequest", event => {
  event.detail.path = event.detail.elt.getAttribute("hx-post") ?? event.detail.path;
});
document.addEventListener("DOMContentLoaded", () => {
  document.documentElement.classList.add("script");
  const sql = document.getElementById("sql"), slider = document.getElementById("slider");
  const changed = element => element.dispatchEvent(new Event("input", {bubbles: true}));
  if (slider) {
    slider.addEventListener("input", () => {
      const prices = slider.dataset.prices.split(" "), price = document.getElementById("price");
      price.value = prices[Number(slider.value)];
      slider.setAttribute("aria-valuetext", price.value);
      const target = document.getElementById("target");
      if (target) target.value = "";
    });
  }
  document.getElementById("act")?.addEventListener("input", event => event.stopPropagation());
  for (const output of document.querySelectorAll("output[for]")) {
    const input = document.getElementById(output.htmlFor.value);
    input.addEventListener("input", () => { output.textContent = input.value; });
  }
  if (!sql) return;
  const starters = document.getElementById("starters");
  if (starters) sql.addEventListener("input", () => { starters.hidden = sql.value !== ""; });
  for (const name of document.querySelectorAll(".names code")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "link";
    button.textContent = name.textContent;
    button.addEventListener("click", () => {
      const plain = /^[a-z_][a-z0-9_]*$/.test(button.textContent);
      sql.setRangeText(plain ? button.textContent : `"${button.textContent.replaceAll('"', '""')}"`, sql.selectionStart, sql.selectionEnd, "end");
      sql.focus();
      changed(sql);
    });
    name.replaceChildren(button);
  }
  for (const starter of document.querySelectorAll("a.starter")) {
    starter.addEventListener("click", event => {
      event.preventDefault();
      sql.value = new URL(starter.href).searchParams.get("sql");
      sql.focus();
      changed(sql);
    });
  }
});
