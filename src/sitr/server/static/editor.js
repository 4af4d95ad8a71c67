// Colours in the question, and names that complete what is typed. The names are public, and come with the page.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const sql = document.getElementById("sql"), chips = document.getElementById("names");
  if (!sql || !chips) return;
  const KEYWORDS = "SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT AS AND OR NOT IN BETWEEN IS NULL CASE WHEN THEN ELSE END DESC ASC DISTINCT FILTER LIKE JOIN LEFT ON WITH CAST".split(" ");
  const FUNCTIONS = "COUNT( SUM( AVG( MIN( MAX( MEDIAN( QUANTILE( VAR( STDDEV( COUNT_IF( ANY_VALUE( EXTRACT( ROUND( ABS( COALESCE(".split(" ");
  const names = JSON.parse(sql.dataset.words);
  const TOKEN = /('(?:[^']|'')*'?)|("(?:[^"]|"")*"?)|(--[^\n]*)|(\d+(?:\.\d+)?)|([A-Za-z_]\w*)|([^\w'"]+)/g;
  const known = new Set(names.map(name => name.toLowerCase())), words = new Set(KEYWORDS), calls = new Set(FUNCTIONS.map(each => each.slice(0, -1)));

  const shade = document.createElement("pre");
  shade.className = "shade";
  shade.setAttribute("aria-hidden", "true");
  sql.parentElement.prepend(shade);
  sql.classList.add("clear");
  const kind = (found, word) => found[1] || found[4] ? "literal" : found[3] ? "soft" : known.has(word.toLowerCase()) ? "name"
    : words.has(word.toUpperCase()) ? "keyword" : calls.has(word.toUpperCase()) ? "call" : "";
  function draw() {
    const parts = [];
    for (const found of sql.value.matchAll(TOKEN)) {
      const piece = document.createElement("span"), word = found[0];
      piece.className = kind(found, word);
      piece.textContent = word;
      parts.push(piece);
    }
    shade.replaceChildren(...parts, "\n");
    shade.scrollTop = sql.scrollTop;
  }

  function typed() {
    const before = sql.value.slice(0, sql.selectionStart), found = before.match(/("[^"]*|'[^']*|[A-Za-z_]\w*)$/);
    return sql.selectionStart === sql.selectionEnd && found ? found[0] : "";
  }
  function fitting(part) {
    const low = part.toLowerCase(), all = [...names, ...FUNCTIONS, ...KEYWORDS];
    return part ? all.filter(each => each.toLowerCase().startsWith(low) && each.toLowerCase() !== low).slice(0, 6) : [];
  }
  function complete(word) {
    const part = typed();
    sql.setRangeText(word, sql.selectionStart - part.length, sql.selectionStart, "end");
    sql.focus();
    sql.dispatchEvent(new Event("input", {bubbles: true}));
  }
  function offer() {
    const found = fitting(typed());
    chips.hidden = !found.length;
    const label = document.createElement("span");
    label.className = "soft";
    label.textContent = `${chips.dataset.label} `;
    chips.replaceChildren(label, ...found.map(word => {
      const chip = document.createElement("button");
      chip.type = "button";
      chip.className = "chip";
      chip.textContent = word;
      chip.addEventListener("click", () => complete(word));
      return chip;
    }));
  }
  sql.addEventListener("input", () => { draw(); offer(); });
  sql.addEventListener("scroll", () => { shade.scrollTop = sql.scrollTop; });
  sql.addEventListener("keydown", event => {
    const [first] = fitting(typed());
    if (event.ctrlKey && event.code === "Space" && first) { event.preventDefault(); complete(first); }
    if (event.key === "Escape") chips.hidden = true;
    if (event.ctrlKey && event.key === "Enter") sql.form.requestSubmit(document.querySelector("[formaction$=preview]"));
  });
  window.addEventListener("pageshow", draw);  // after what was typed before is there again
  draw();
});
