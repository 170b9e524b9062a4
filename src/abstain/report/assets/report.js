"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const PAGE = 25;
  const FIRST = 75;
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
  const shown = (cell, kind) => {
    if (cell === null) return kind === "text" ? "" : "–";
    if (Array.isArray(cell)) return "";
    if (kind === "score") return cell.toFixed(data.digits).replace("-", "−");
    if (kind === "percent") return cell.toFixed(1).replace("-", "−");
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

  const makeTable = (host, table) => {
    let order = null;
    let direction = 1;
    let page = 0;
    let words = "";
    const chosen = {};
    const size = host.dataset.table === "leaderboard" ? FIRST : PAGE;
    const body = el("tbody");
    const heads = table.columns.map((column, index) => {
      const button = el("button", { type: "button" }, column.name);
      const head = el("th", { scope: "col", class: column.kind === "text" ? "text" : "" }, button);
      button.addEventListener("click", () => {
        const numeric = column.kind !== "text";
        direction = order === index ? -direction : numeric ? -1 : 1;
        order = index;
        page = 0;
        draw();
      });
      return head;
    });
    const status = el("span", { "aria-live": "polite" });
    const back = el("button", { type: "button", onclick: () => { page -= 1; draw(); } }, "Previous");
    const next = el("button", { type: "button", onclick: () => { page += 1; draw(); } }, "Next");
    const main = table.columns.findIndex((column) => column.kind === "text" && column.name !== "#");
    const draw = () => {
      let rows = table.rows.map((cells, number) => ({ cells, number }));
      if (words) {
        rows = rows.filter(({ cells }) =>
          cells.some((cell) => typeof cell === "string" && cell.toLowerCase().includes(words)));
      }
      for (const [index, value] of Object.entries(chosen)) {
        if (value) rows = rows.filter(({ cells }) => cells[index] === value);
      }
      if (order !== null) rows.sort((a, b) => compare(a.cells[order], b.cells[order], direction) || a.number - b.number);
      const pages = Math.max(1, Math.ceil(rows.length / size));
      page = Math.min(Math.max(page, 0), pages - 1);
      const part = rows.slice(page * size, (page + 1) * size);
      body.replaceChildren(...part.map(({ cells, number }) => {
        const row = el("tr");
        if (table.dim.includes(number)) row.classList.add("dim");
        if (order === null && number && table.breaks.includes(number)) row.classList.add("break");
        cells.forEach((cell, i) => {
          const kind = table.columns[i].kind;
          const node = i === main ? el("th", { scope: "row" }) : el("td", { class: kind === "text" ? "text" : "" });
          if (Array.isArray(cell)) node.append(bar(cell));
          else node.textContent = shown(cell, kind);
          row.append(node);
        });
        return row;
      }));
      heads.forEach((head, i) => {
        if (i === order) head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
        else head.removeAttribute("aria-sort");
      });
      const hidden = table.total > table.rows.length ? ` of ${table.total.toLocaleString("en")} in the CSV` : "";
      status.textContent = pages > 1 || words || Object.values(chosen).some(Boolean) || hidden
        ? `rows ${rows.length ? page * size + 1 : 0} to ${page * size + part.length} of ${rows.length.toLocaleString("en")}${hidden}` : "";
      back.disabled = page === 0;
      next.disabled = page === pages - 1;
      back.hidden = next.hidden = pages === 1;
    };
    const tools = el("div", { class: "tools" });
    if (table.rows.length > 12) {
      const input = el("input", { type: "search", placeholder: "name…" });
      input.addEventListener("input", () => { words = input.value.trim().toLowerCase(); page = 0; draw(); });
      tools.append(el("label", {}, "Find", input));
    }
    for (const index of table.filters) {
      const values = [...new Set(table.rows.map((cells) => cells[index]).filter(Boolean))].sort();
      const select = el("select", {}, el("option", { value: "" }, "all"),
        ...values.map((value) => el("option", { value }, value)));
      select.addEventListener("change", () => { chosen[index] = select.value; page = 0; draw(); });
      tools.append(el("label", {}, table.columns[index].name, select));
    }
    const frame = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": table.title },
      el("table", {}, el("thead", {}, el("tr", {}, ...heads)), body));
    host.replaceChildren(tools, frame, el("div", { class: "pager" }, back, next, status));
    draw();
  };

  const save = (name, type, text) => {
    const link = el("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const csv = (rows) => {
    const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
    const cell = (value) => {
      let text = value === null || value === undefined ? "" : String(value);
      if (typeof value === "string" && /^[=+\-@]/.test(text)) text = `'${text}`;
      return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    return [names.map(cell).join(","), ...rows.map((row) => names.map((n) => cell(row[n])).join(","))].join("\n") + "\n";
  };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const drawChart = async (host, name, spec) => {
    const plot = host.querySelector(".plot");
    const themed = structuredClone(spec);
    themed.config = { ...themed.config, background: "transparent" };
    if (plot.clientWidth < 500) themed.config.legend = { ...themed.config.legend, orient: "bottom", columns: 2 };
    if (dark.matches) {
      const ink = { labelColor: "#c9d1da", titleColor: "#e8ebef" };
      themed.config.axis = { ...themed.config.axis, ...ink, gridColor: "#2c353f", domainColor: "#5b6675" };
      themed.config.legend = { ...themed.config.legend, ...ink };
      themed.config.title = { ...themed.config.title, color: "#e8ebef", subtitleColor: "#a3aebb" };
    }
    const result = await vegaEmbed(plot, themed, { actions: false, ast: true, renderer: "svg" });
    const graphic = plot.querySelector("svg");
    if (graphic) graphic.setAttribute("aria-label", host.querySelector("figcaption").textContent.trim());
    host.querySelector("[data-save=svg]").onclick = async () => save(`${name}.svg`, "image/svg+xml", await result.view.toSVG());
    host.querySelector("[data-save=csv]").onclick = () => save(`${name}.csv`, "text/csv", csv(spec.data.values));
  };
  const inView = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      inView.unobserve(entry.target);
      const name = entry.target.dataset.chart;
      drawChart(entry.target, name, data.charts[name]);
    }
  }, { rootMargin: "400px" });

  for (const host of document.querySelectorAll("[data-table]")) {
    const table = data.tables[host.dataset.table];
    const fold = host.closest("details");
    if (fold && !fold.open) fold.addEventListener("toggle", () => makeTable(host, table), { once: true });
    else makeTable(host, table);
  }
  const figures = document.querySelectorAll("[data-chart]");
  figures.forEach((figure) => inView.observe(figure));
  dark.addEventListener("change", () =>
    figures.forEach((figure) => drawChart(figure, figure.dataset.chart, data.charts[figure.dataset.chart])));
  addEventListener("beforeprint", () => {
    figures.forEach((figure) => drawChart(figure, figure.dataset.chart, data.charts[figure.dataset.chart]));
    document.querySelectorAll("details").forEach((fold) => { fold.open = true; });
  });
})();
