"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const ON_PAPER = 200;
  const redraw = [];
  let printing = false;
  const el = (name, attributes = {}, ...children) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "class") node.className = value;
      else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else node.setAttribute(key, value);
    }
    node.append(...children);
    return node;
  };
  const fixed = (value, digits) => {
    const text = value.toFixed(digits);
    return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
  };
  const shown = (cell, kind) => {
    if (cell === null) return kind === "text" ? "" : "–";
    if (Array.isArray(cell)) return "";
    if (typeof cell === "string") return cell;
    if (kind === "score") return fixed(cell, data.digits);
    if (kind === "percent") return fixed(cell, 1);
    if (kind === "count") return cell.toLocaleString("en", { maximumFractionDigits: 1 });
    return String(cell);
  };
  const bar = (cell) => {
    const total = cell.reduce((a, b) => a + b, 0) || 1;
    const shares = cell.map((part) => (100 * part) / total);
    const label = `${shares[0].toFixed(1)} % right, ${shares[1].toFixed(1)} % wrong, ${shares[2].toFixed(1)} % blank`;
    const node = el("div", { class: "bar", role: "img", "aria-label": label, title: label });
    ["r", "w", "b"].forEach((name, i) => {
      const piece = el("i", { class: name });
      piece.style.width = `${shares[i]}%`;
      node.append(piece);
    });
    return node;
  };
  const compare = (a, b, direction) => {
    const value = (cell) => (Array.isArray(cell) ? cell[0] / ((cell[0] + cell[1] + cell[2]) || 1) : cell);
    const [x, y] = [value(a), value(b)];
    if (x === y) return 0;
    if (x === null || x === "") return 1;
    if (y === null || y === "") return -1;
    if (typeof x === "number" && typeof y === "number") return direction * (x - y);
    return direction * String(x).localeCompare(String(y), "en", { numeric: true });
  };

  const save = (name, type, text) => {
    const link = el("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const csvCell = (value) => {
    if (value === null || value === undefined) return "";
    let text = Array.isArray(value) ? value.join(" ") : String(value);
    if (typeof value === "string" && /^[=+\-@]/.test(text)) text = `'${text}`;
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const csvLines = (rows) => rows.map((row) => row.map(csvCell).join(",")).join("\n") + "\n";
  const csv = (rows) => {
    const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
    return csvLines([names, ...rows.map((row) => names.map((name) => row[name]))]);
  };

  const makeTable = (host, table) => {
    const name = host.dataset.table;
    const isText = (i) => table.columns[i].kind === "text";
    const main = table.columns.findIndex((column, i) => isText(i) && column.name !== "#");
    const state = { order: null, direction: 1, page: 0, words: "", chosen: {}, variant: null };
    const body = el("tbody");

    const cellsOf = (cells, number) => state.variant === null ? cells : cells.map((cell, i) => {
      const own = state.variant.cells[i];
      if (own) return own[number];
      return isText(i) && table.columns[i].name !== "group" ? cell : null;
    });
    const fits = ({ cells }) =>
      (!state.words || cells.some((cell) => typeof cell === "string" && cell.toLowerCase().includes(state.words)))
      && Object.entries(state.chosen).every(([i, value]) => !value || cells[i] === value);
    const wanted = () => {
      const rows = table.rows.map((cells, number) => ({ cells: cellsOf(cells, number), number })).filter(fits);
      const order = state.order ?? (state.variant ? table.ordered : null);
      const direction = state.order === null ? -1 : state.direction;
      if (order !== null) rows.sort((a, b) => compare(a.cells[order], b.cells[order], direction) || a.number - b.number);
      return rows;
    };
    const rowOf = ({ cells, number }) => {
      const row = el("tr");
      if (table.dim.includes(number)) row.classList.add("dim");
      const asGiven = state.order === null && state.variant === null;
      if (asGiven && number && table.breaks.includes(number)) row.classList.add("break");
      cells.forEach((cell, i) => {
        const kind = table.columns[i].kind;
        const shape = kind === "text" ? (typeof cell === "string" && cell.length > 40 ? "text long" : "text") : "";
        const node = i === main ? el("th", { scope: "row" }) : el("td", { class: shape });
        if (Array.isArray(cell)) node.append(bar(cell));
        else node.textContent = shown(cell, kind);
        row.append(node);
      });
      return row;
    };

    const status = el("span", { role: "status" });
    const turn = (step) => () => { state.page += step; draw(); };
    const back = el("button", { type: "button", onclick: turn(-1), "aria-label": `Previous rows of ${table.title}` }, "Previous");
    const next = el("button", { type: "button", onclick: turn(1), "aria-label": `Next rows of ${table.title}` }, "Next");
    const keep = el("button", { type: "button", "aria-label": `Save as CSV: ${table.title}` },
      table.cut ? "Save this part as CSV" : "Save as CSV");
    keep.addEventListener("click", () => {
      const columns = table.columns.map((column, i) => i).filter((i) => table.columns[i].kind !== "bar");
      const rows = wanted().map(({ cells }) => columns.map((i) => cells[i]));
      save(`${name}.csv`, "text/csv", csvLines([columns.map((i) => table.columns[i].name), ...rows]));
    });
    const heads = table.columns.map((column, index) => {
      const button = el("button", { type: "button" }, column.name);
      button.addEventListener("click", () => {
        state.direction = state.order === index ? -state.direction : isText(index) ? 1 : -1;
        state.order = index;
        state.page = 0;
        draw();
      });
      return el("th", { scope: "col", class: isText(index) ? "text" : "" }, button);
    });

    const draw = () => {
      const rows = wanted();
      const size = printing ? Math.max(table.size, ON_PAPER) : table.size;
      const pages = Math.max(1, Math.ceil(rows.length / size));
      state.page = Math.min(Math.max(state.page, 0), pages - 1);
      const start = state.page * size;
      const part = rows.slice(start, start + size);
      body.replaceChildren(...part.map(rowOf));
      heads.forEach((head, i) => {
        if (i === state.order) head.setAttribute("aria-sort", state.direction > 0 ? "ascending" : "descending");
        else head.removeAttribute("aria-sort");
      });
      const number = (n) => n.toLocaleString("en");
      const hidden = table.total > table.rows.length ? `, ${number(table.total)} in all` : "";
      const narrowed = rows.length < table.rows.length;
      status.textContent = pages > 1 || narrowed || hidden
        ? `Rows ${number(rows.length ? start + 1 : 0)} to ${number(start + part.length)} of ${number(rows.length)}${hidden}` : "";
      // not `disabled`: a button that disables itself loses the keyboard's place
      back.setAttribute("aria-disabled", state.page === 0);
      next.setAttribute("aria-disabled", state.page === pages - 1);
      back.hidden = next.hidden = pages === 1;
    };

    const tools = el("div", { class: "tools" });
    const change = (update) => (event) => { update(event.target.value); state.page = 0; draw(); };
    if (table.rows.length > 12) {
      const input = el("input", { type: "search", placeholder: "name…", autocomplete: "off",
        oninput: change((value) => { state.words = value.trim().toLowerCase(); }) });
      tools.append(el("label", {}, "Find", input));
    }
    for (const index of table.filters) {
      const values = [...new Set(table.rows.map((cells) => cells[index]).filter((v) => typeof v === "string" && v))];
      values.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
      const select = el("select", { onchange: change((value) => { state.chosen[index] = value; }) },
        el("option", { value: "" }, "all"), ...values.map((value) => el("option", { value }, value)));
      tools.append(el("label", {}, table.columns[index].name, select));
    }
    if (table.variants.length) {
      const groups = new Map();
      table.variants.forEach((variant, i) => {
        if (!groups.has(variant.group)) groups.set(variant.group, el("optgroup", { label: variant.group }));
        groups.get(variant.group).append(el("option", { value: i }, variant.name));
      });
      const select = el("select", { "data-slice": "",
        onchange: change((value) => { state.variant = value === "" ? null : table.variants[value]; state.order = null; }) },
        el("option", { value: "" }, "all questions"), ...groups.values());
      tools.append(el("label", {}, "slice", select));
    }
    const frame = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": table.title || name },
      el("table", {}, el("thead", {}, el("tr", {}, ...heads)), body));
    host.replaceChildren(...(tools.children.length ? [tools] : []), frame, el("div", { class: "pager" }, back, next, keep, status));
    redraw.push(draw);
    draw();
    host.style.minHeight = "";
  };

  const DARK = ["#56b4e9", "#e69f00", "#2fc296", "#e29bc4", "#f0e442", "#8fa8ff", "#a3aebb", "#e8ebef"];
  const ready = new Promise((resolve) => addEventListener("charts", resolve, { once: true }));
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const drawChart = async (host, name, spec) => {
    const plot = host.querySelector(".plot");
    await ready;
    const themed = structuredClone(spec);
    themed.config = { ...themed.config, background: "transparent" };
    if (plot.clientWidth < 500) themed.config.legend = { ...themed.config.legend, orient: "bottom", columns: 2 };
    if (dark.matches && !printing) {
      const ink = { labelColor: "#c9d1da", titleColor: "#e8ebef" };
      themed.config.axis = { ...themed.config.axis, ...ink, gridColor: "#2c353f", domainColor: "#5b6675" };
      themed.config.legend = { ...themed.config.legend, ...ink };
      themed.config.range = { category: DARK };
      themed.config.text = { color: "#e8ebef" };
      themed.config.title = { ...themed.config.title, color: "#e8ebef", subtitleColor: "#a3aebb" };
    }
    await vegaEmbed(plot, themed, { actions: false, ast: true, renderer: "svg" });
    const graphic = plot.querySelector("svg");
    if (graphic) {
      for (const part of [plot, ...graphic.querySelectorAll("[role]")]) {
        for (const name of ["role", "aria-label", "aria-roledescription"]) part.removeAttribute(name);
      }
      graphic.setAttribute("role", "img");
      graphic.setAttribute("aria-label", host.querySelector("figcaption").textContent.trim());
      if (plot.scrollWidth > plot.clientWidth) plot.tabIndex = 0;
    }
    host.querySelector("[data-save=svg]").onclick = async () => {
      const light = { ...spec, width: plot.clientWidth || 640 };
      const copy = await vegaEmbed(el("div"), light, { actions: false, ast: true, renderer: "svg" });
      save(`${name}.svg`, "image/svg+xml", await copy.view.toSVG());
      copy.finalize();
    };
    host.querySelector("[data-save=csv]").onclick = () => save(`${name}.csv`, "text/csv", csv(spec.data.values));
  };
  const drawn = new Map();
  const drawFigure = (host) => { // one drawing after another, so that the last one stays
    const name = host.dataset.chart;
    drawn.set(host, Promise.resolve(drawn.get(host)).then(() => drawChart(host, name, data.charts[name])));
  };
  const inView = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      inView.unobserve(entry.target);
      drawFigure(entry.target);
    }
  }, { rootMargin: "400px" });

  const unfold = [];
  for (const host of document.querySelectorAll("[data-table]")) {
    const table = data.tables[host.dataset.table];
    const fold = host.closest("details");
    const make = () => { if (!host.firstChild) makeTable(host, table); };
    if (fold) {
      fold.addEventListener("toggle", make, { once: true });
      unfold.push(make);
    } else make();
  }
  const figures = document.querySelectorAll("[data-chart]");
  figures.forEach((figure) => inView.observe(figure));
  dark.addEventListener("change", () => [...drawn.keys()].forEach(drawFigure));
  let unfolded = [];
  addEventListener("beforeprint", () => {
    printing = true;
    unfolded = [...document.querySelectorAll("details:not([open])")];
    unfolded.forEach((fold) => { fold.open = true; });
    unfold.forEach((make) => make());
    redraw.forEach((draw) => draw());
    figures.forEach(drawFigure);
  });
  addEventListener("afterprint", () => {
    printing = false;
    unfolded.forEach((fold) => { fold.open = false; });
    redraw.forEach((draw) => draw());
    figures.forEach(drawFigure);
  });
})();
