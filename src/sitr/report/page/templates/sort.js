"use strict";
document.body.classList.add("sorts");
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const first = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  const value = (row, at) => {
    const cell = row.cells[at];
    return cell.dataset.value === undefined ? cell.textContent.trim() : Number(cell.dataset.value);
  };
  const compare = (one, other) => {
    const numbers = [typeof one === "number", typeof other === "number"];
    if (numbers[0] !== numbers[1]) return numbers[0] ? -1 : 1;
    return numbers[0] ? one - other : one.localeCompare(other, document.documentElement.lang, { numeric: true });
  };
  heads.forEach((head, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const next = { ascending: "descending", descending: "" }[head.getAttribute("aria-sort")] ?? "ascending";
      heads.forEach((each) => each.removeAttribute("aria-sort"));
      const rows = [...first];
      if (next) {
        head.setAttribute("aria-sort", next);
        const texts = (row) => typeof value(row, at) === "string";
        const known = rows.some((row) => !texts(row));
        const last = known ? rows.filter(texts) : [];
        const sorted = (known ? rows.filter((row) => !texts(row)) : rows).sort((a, b) => compare(value(a, at), value(b, at)));
        body.append(...(next === "ascending" ? sorted : sorted.reverse()), ...last);
      } else {
        body.append(...rows);
      }
    });
  });
}
