"use strict";
// Frames are loaded when they come into view; on paper all have to be there.
window.addEventListener("beforeprint", () => {
  document.querySelectorAll("iframe").forEach((frame) => { frame.loading = "eager"; });
});
(() => {
  const table = document.getElementById("digest");
  if (!table) { return; }
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const heads = Array.from(table.tHead.rows[0].cells);
  const value = (row, column) => {
    const cell = row.cells[column];
    return "value" in cell.dataset ? Number(cell.dataset.value) : cell.querySelector("summary").textContent;
  };
  const sort = (column) => {
    const head = heads[column];
    // Numbers begin with the greatest, rank and text with the least.
    const first = column < 2 ? "ascending" : "descending";
    const other = column < 2 ? "descending" : "ascending";
    const order = head.getAttribute("aria-sort") === first ? other : first;
    heads.forEach((each) => each.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    const compare = (a, b) => {
      const [x, y] = [value(a, column), value(b, column)];
      return x < y ? -sign : x > y ? sign : value(a, 0) - value(b, 0);
    };
    body.append(...rows.sort(compare));
  };
  const search = document.getElementById("search");
  const found = document.getElementById("found");
  const all = document.getElementById("all");
  // At first as many as can be looked over.
  const few = 25;
  let showAll = rows.length <= few;
  const texts = new Map(rows.map((row) => [row, row.cells[1].textContent.toLowerCase()]));
  const show = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let fitting = 0;
    Array.from(body.rows).forEach((row) => {
      const fits = words.every((word) => texts.get(row).includes(word));
      fitting += fits ? 1 : 0;
      row.hidden = !fits || (!showAll && !words.length && fitting > few);
    });
    all.hidden = showAll || words.length > 0;
    found.textContent = words.length ? `${fitting} of ${rows.length} kinds` : "";
    if (!all.hidden) { found.textContent = `${few} of ${rows.length} kinds`; }
  };
  search.addEventListener("input", show);
  all.addEventListener("click", () => {
    showAll = true;
    show();
    search.focus();
  });
  show();
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    sort(column);
    show();
  }));
})();
