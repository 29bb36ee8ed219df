"use strict";
// What the page of a check does beyond being read: filters, the keys of its tables, and the ways between a finding and
// its line.  Everything it shows is in the document already; nothing is made of text.
(() => {
  const $ = (id) => document.getElementById(id);
  document.documentElement.classList.add("scripted");
  for (const element of document.querySelectorAll(".filters, .keys")) element.hidden = false;

  // --- A case is opened below its row, and its details go back to the list when it is closed.

  const homes = new Map();  // the place of a case's details in the list
  const bodyOf = (row) => $(row.dataset.case);
  const headOf = (row) => row.cells[0];
  const isOpen = (row) => headOf(row).getAttribute("aria-expanded") === "true";

  function open(row) {
    const body = bodyOf(row);
    if (!body || isOpen(row)) return;
    homes.set(body, body.parentElement);
    const detail = document.createElement("tr");
    detail.className = "detail";
    const cell = detail.insertCell();
    cell.colSpan = row.cells.length;
    cell.append(body);
    row.after(detail);
    headOf(row).setAttribute("aria-expanded", "true");
  }

  function close(row) {
    if (!isOpen(row)) return;
    const body = bodyOf(row);
    homes.get(body).append(body);
    row.nextElementSibling.remove();
    headOf(row).setAttribute("aria-expanded", "false");
  }

  // The row whose case is shown in `element`, or that it is part of.
  function rowOf(element) {
    const row = element.closest?.("table.cases tbody tr");
    return row?.classList.contains("detail") ? row.previousElementSibling : row;
  }

  // --- Each table: one cell can be reached with Tab, the arrow keys go from there.

  function setUp(table) {
    const rows = [...table.tBodies[0].rows];
    const shown = () => rows.filter((row) => !row.hidden);
    table.setAttribute("role", "grid");
    for (const row of table.rows) row.setAttribute("role", "row");
    for (const cell of table.querySelectorAll("td")) cell.setAttribute("role", "gridcell");
    for (const row of rows) {
      for (const cell of row.cells) cell.tabIndex = -1;
      for (const link of row.querySelectorAll("a")) link.tabIndex = -1;
      if (!row.dataset.case) continue;
      row.classList.add("opens");
      headOf(row).setAttribute("aria-expanded", "false");
    }
    let current = rows[0].cells[0];

    function enter(cell) {
      current.tabIndex = -1;
      current = cell;
      current.tabIndex = 0;
    }

    function move(row, column) {
      if (!row) return;
      enter(row.cells[Math.min(Math.max(column, 0), row.cells.length - 1)]);
      current.focus();
      current.scrollIntoView({ block: "nearest", inline: "nearest" });
    }

    function toggle(row) {
      if (isOpen(row)) close(row);
      else open(row);
    }

    table.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const row = rowOf(event.target);
      if (!row) return;
      if (event.key === "Escape") {
        if (!isOpen(row)) return;
        close(row);
        move(row, 0);
      } else if (event.target.closest(".detail")) {
        return;
      } else if (event.key === "Enter" || event.key === " ") {
        toggle(row);
      } else {
        const visible = shown();
        const at = visible.indexOf(row);
        const column = event.target.closest("td, th").cellIndex;
        const steps = {
          ArrowDown: [at + 1, column], ArrowUp: [at - 1, column], ArrowRight: [at, column + 1], ArrowLeft: [at, column - 1],
          Home: [at, 0], End: [at, row.cells.length - 1], PageDown: [Math.min(at + 10, visible.length - 1), column],
          PageUp: [Math.max(at - 10, 0), column],
        };
        if (!(event.key in steps)) return;
        move(visible[steps[event.key][0]], steps[event.key][1]);
      }
      event.stopPropagation();
      event.preventDefault();
    });

    table.addEventListener("click", (event) => {
      const row = rowOf(event.target);
      if (!row || event.target.closest(".detail") || event.target.closest("a.place") || String(getSelection())) return;
      if (event.target.closest("a")) event.preventDefault();
      toggle(row);
      enter(headOf(row));
    });

    // --- Filters.

    const form = table.closest("section").querySelector(".filters");
    function filter() {
      const { setting, verdict } = form.elements;
      const folds = form.elements.fold?.checked && !setting.value;
      table.classList.toggle("folded", Boolean(folds));
      for (const row of rows) {
        const is_hidden = (setting.value && row.dataset.setting !== setting.value) ||
          (verdict.value && row.dataset.verdict !== verdict.value) || (folds && row.classList.contains("alike"));
        if (is_hidden) close(row);
        row.hidden = Boolean(is_hidden);
      }
      form.querySelector("output").textContent = `${shown().length} of ${rows.length} cases`;
      if (current.parentElement.hidden || current.tabIndex !== 0) enter((shown()[0] ?? rows[0]).cells[0]);
    }
    form.addEventListener("input", filter);
    form.addEventListener("submit", (event) => event.preventDefault());
    filter();

    return { reveal(row) {
      if (row.hidden) {
        form.reset();
        if (form.elements.fold) form.elements.fold.checked = false;
        filter();
      }
      open(row);
      move(row, 0);
    } };
  }

  // Of many templates each is folded, and made ready when it is opened.
  const ready = new Map();
  function use(table) {
    if (!ready.has(table)) ready.set(table, setUp(table));
    return ready.get(table);
  }
  for (const table of document.querySelectorAll("table.cases")) {
    const fold = table.closest("details.model");
    if (fold) fold.addEventListener("toggle", () => fold.open && use(table));
    else use(table);
  }

  // --- Links: to a case, a finding, a line.

  const lit = [];
  function light(elements) {
    for (const element of lit.splice(0)) element.classList.remove("lit");
    for (const element of elements) {
      element.classList.add("lit");
      lit.push(element);
    }
  }

  const findingsOf = (line) => [...document.querySelectorAll(".finding")].filter((finding) => finding.dataset.line === line.id);

  // Shows what the id stands for; false if it is none of these.
  function reveal(id) {
    const target = $(id);
    const fold = target?.closest("details.model");
    if (fold) fold.open = true;
    const row = document.querySelector(`tr[data-case="${CSS.escape(id)}"]`);
    if (row && id) {
      use(row.closest("table")).reveal(row);
      return true;
    }
    const finding = target?.closest(".finding");
    if (finding) {
      finding.open = true;
      light([finding, ...(finding.dataset.line ? [$(finding.dataset.line)] : [])]);
      finding.querySelector("summary").focus();
      finding.scrollIntoView({ block: "nearest" });
      if (finding.dataset.line) showLine($(finding.dataset.line));
      return true;
    }
    if (target?.classList.contains("l")) {
      light([target, ...findingsOf(target)]);
      showLine(target);
      return true;
    }
    return false;
  }

  // Only the pane of the template is scrolled where it stands beside; below, the page goes there.
  function showLine(line) {
    const pane = line.closest(".source");
    if (matchMedia("(max-width: 1050px)").matches) return;
    const top = line.offsetTop;
    if (top < pane.scrollTop || top + line.offsetHeight > pane.scrollTop + pane.clientHeight) pane.scrollTop = top - pane.clientHeight / 3;
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href^='#']");
    if (link) {
      const id = decodeURIComponent(link.hash.slice(1));
      const isNarrow = matchMedia("(max-width: 1050px)").matches;
      if (event.defaultPrevented || !reveal(id)) return;
      // In a single column the line is elsewhere on the page: the link itself goes there.
      if (!isNarrow || !$(id).classList.contains("l")) event.preventDefault();
      return;
    }
    const line = event.target.closest?.(".l.blamed");
    if (!line || String(getSelection())) return;
    const findings = findingsOf(line);
    for (const finding of findings) finding.open = true;
    light([line, ...findings]);
    findings[0].querySelector("summary").focus({ preventScroll: true });
    findings[0].scrollIntoView({ block: "center" });
  });

  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    const finding = event.target.closest?.(".finding[open]");
    if (finding) {
      finding.open = false;
      finding.querySelector("summary").focus();
    }
    light([]);
  });

  const arrive = () => location.hash && reveal(decodeURIComponent(location.hash.slice(1)));
  addEventListener("hashchange", arrive);
  arrive();
})();
