// The price slider, and inserting the names of columns. Everything also works without this script.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const slider = document.getElementById("slider"), price = document.getElementById("price");
  if (slider && price) {
    const prices = slider.dataset.prices.split(" ");
    slider.addEventListener("input", () => {
      price.value = prices[Number(slider.value)];
      slider.setAttribute("aria-valuetext", price.value);
    });
  }
  const sql = document.getElementById("sql");
  for (const name of document.querySelectorAll(".names code")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "link";
    button.textContent = name.textContent;
    button.addEventListener("click", () => {
      sql.setRangeText(/^[a-z_][a-z0-9_]*$/.test(button.textContent) ? button.textContent : `"${button.textContent.replaceAll('"', '""')}"`,
        sql.selectionStart, sql.selectionEnd, "end");
      sql.focus();
      sql.dispatchEvent(new Event("input", {bubbles: true}));
    });
    name.replaceChildren(button);
  }
});
