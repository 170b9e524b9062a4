"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const ON_PAPER = 200, MOST_AT_ONCE = 500;
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
  const titled = (text, most) => (typeof text === "string" && text.length > most ? { title: text } : {});
  // A name goes on in the next line after a sign, and inside of a word only if that fills a phone.
  const inWordsOnly = (text) => text.split(/(?<=[^\p{L}\p{N}\s]|[\p{L}\p{N}]{18})(?=.)/u).flatMap((part, i) => (i ? [el("wbr"), part] : [part]));
  const fileName = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 40) || "slice";
  const fixed = (value, digits) => {
    const text = value.toFixed(digits);
    return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
  };
  const shown = (cell, kind) => {
    if (cell === null) return kind === "text" ? "" : "–";
    if (Array.isArray(cell)) return "";
    if (typeof cell !== "number") return String(cell);
    if (kind === "score") return fixed(cell, data.digits);
    if (kind === "percent") return fixed(cell, 1);
    if (kind === "count") return cell.toLocaleString("en", { maximumFractionDigits: 1 }).replace("-", "−");
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
  // "0.9", "2=", "<0.0001", "above 0.02" and "1.50 ± 0.20" go by their number, names by their letters.
  const numberIn = (cell) => {
    if (typeof cell !== "string") return cell;
    const found = /^(?:above |<)?([-−]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?:=|$| ± | to )/.exec(cell);
    return found ? Number(found[1].replace("−", "-")) : null;
  };
  const missing = (cell) => cell === null || cell === "" || cell === "–";
  const compare = (a, b, direction) => {
    const value = (cell) => (Array.isArray(cell) ? cell[0] / ((cell[0] + cell[1] + cell[2]) || 1) : cell);
    const [x, y] = [value(a), value(b)];
    if (x === y) return 0;
    if (missing(x) || missing(y)) return missing(x) - missing(y);
    const [m, n] = [numberIn(x), numberIn(y)];
    if ((m === null) !== (n === null)) return direction * (m === null ? 1 : -1);
    if (m !== n) return direction * (m - n);
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

  // A run has one colour: beside its name in tables, and in every chart.
  const NAMED = ["run", "against", "first", "second"];
  const swatch = (cell, column) => {
    const colour = NAMED.includes(column.name) ? data.colours[cell] : undefined;
    if (!colour) return [];
    const node = el("span", { class: "swatch", "aria-hidden": "true" });
    node.style.setProperty("--day", colour);
    node.style.setProperty("--night", RUNS_AT_NIGHT[colour] ?? colour);
    return [node];
  };

  const makeTable = (host, table) => {
    const name = host.dataset.table;
    const isText = (i) => table.columns[i].kind === "text";
    const inWords = (i) => isText(i) || table.rows.every((cells) => typeof cells[i] === "string");
    const main = table.columns.findIndex((column, i) => isText(i) && column.name !== "#");
    const isDim = new Set(table.dim);
    const quiet = table.quiet && table.rows.length > 12 && isDim.size > table.rows.length / 3;
    const state = { order: null, direction: 1, page: 0, words: "", chosen: {}, variant: null, whole: false, quiet };
    const body = el("tbody");
    const grid = el("table", { class: table.late.length ? "few" : "" });

    // What a slice does not say: it holds for all questions only.
    const untold = (i) => state.variant !== null && !state.variant.cells[i]
      && !(isText(i) && table.columns[i].name !== "group");
    const cellsOf = (cells, number) => state.variant === null ? cells : cells.map((cell, i) => {
      const own = state.variant.cells[i];
      if (own) return own[number];
      return untold(i) ? null : cell;
    });
    const fits = ({ cells, number }) => !(state.quiet && isDim.has(number)) &&
      (!state.words || cells.some((cell) => typeof cell === "string" && cell.toLowerCase().includes(state.words)))
      && Object.entries(state.chosen).every(([i, value]) => !value || cells[i] === value);
    const wanted = () => {
      const rows = table.rows.map((cells, number) => ({ cells: cellsOf(cells, number), number })).filter(fits);
      const order = state.order ?? (state.variant ? table.ordered : null);
      const direction = state.order !== null ? state.direction : table.rising ? 1 : -1;
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
        if (table.late.includes(i)) node.classList.add("late");
        if (untold(i)) node.classList.add("untold");
        if (table.beneath.includes(i)) node.classList.add("apart");
        if (Array.isArray(cell)) node.append(bar(cell));
        else if (i === main) node.append(el("span", { class: "name", ...titled(cell, 18) }, ...swatch(cell, table.columns[i]), ...inWordsOnly(shown(cell, kind))));
        else node.append(...swatch(cell, table.columns[i]), shown(cell, kind));
        if (i === main) node.append(...table.beneath.map((k) => el("span", { class: "beneath" }, shown(cells[k], "text"))));
        row.append(node);
      });
      return row;
    };

    const status = el("span", { role: "status" });
    const turn = (step) => () => { state.page += step; draw(); };
    const back = el("button", { type: "button", onclick: turn(-1), "aria-label": `Previous rows of ${table.title}` }, "Previous");
    const next = el("button", { type: "button", onclick: turn(1), "aria-label": `Next rows of ${table.title}` }, "Next");
    const whole = el("button", { type: "button", onclick: () => { state.whole = !state.whole; state.page = 0; draw(); } });
    const keep = el("button", { type: "button", "aria-label": `Save as CSV: ${table.title}` },
      table.cut ? "Save this part as CSV" : "Save as CSV");
    keep.addEventListener("click", () => {
      const columns = table.columns.map((column, i) => i).filter((i) => table.columns[i].kind !== "bar" && !untold(i));
      const slice = state.variant === null ? [] : [[state.variant.group, state.variant.name]];
      const rows = wanted().map(({ cells }) => [...slice.map(([, value]) => value), ...columns.map((i) => cells[i])]);
      const headings = [...slice.map(([group]) => group), ...columns.map((i) => table.columns[i].name)];
      save(`${[name, ...slice.flat().map(fileName)].join("-")}.csv`, "text/csv", csvLines([headings, ...rows]));
    });
    const heads = table.columns.map((column, index) => {
      const said = [column.name.length > 24 ? column.name : "", column.means ?? ""].filter(Boolean).join(": ");
      const button = el("button", { type: "button", ...(said ? { title: said } : {}) }, column.name);
      button.addEventListener("click", () => {
        state.direction = state.order === index ? -state.direction : inWords(index) ? 1 : -1;
        state.order = index;
        state.page = 0;
        draw();
      });
      const head = el("th", { scope: "col", class: isText(index) ? "text" : "" }, button);
      head.classList.toggle("late", table.late.includes(index));
      head.classList.toggle("apart", table.beneath.includes(index));
      return head;
    });

    const draw = () => {
      const rows = wanted();
      const size = printing ? Math.max(table.size, ON_PAPER) : state.whole ? Math.max(table.size, rows.length) : table.size;
      const pages = Math.max(1, Math.ceil(rows.length / size));
      state.page = Math.min(Math.max(state.page, 0), pages - 1);
      const start = state.page * size;
      const part = rows.slice(start, start + size);
      const nothing = el("tr", {}, el("td", { class: "nothing", colspan: table.columns.length }, "No row fits."));
      body.replaceChildren(...(part.length ? part.map(rowOf) : [nothing]));
      const unsaid = table.columns.filter((_, i) => untold(i)).map((column) => column.name);
      if (more) more.hidden = table.late.every(untold);
      note.hidden = state.variant === null;
      note.textContent = note.hidden ? "" : `Over the questions of ${state.variant.group} ${state.variant.name}. `
        + (unsaid.length ? `Known for all questions only, and left out here: ${unsaid.join(", ")}.` : "");
      heads.forEach((head, i) => {
        head.classList.toggle("untold", untold(i));
        if (i === state.order) head.setAttribute("aria-sort", state.direction > 0 ? "ascending" : "descending");
        else head.removeAttribute("aria-sort");
      });
      const number = (n) => n.toLocaleString("en");
      const hidden = table.total > table.rows.length ? `, ${number(table.total)} in all` : "";
      const words = `${number(rows.length)} ${rows.length === 1 ? "row" : "rows"}${hidden}`;
      status.textContent = rows.length && pages > 1 ? `${number(start + 1)} to ${number(start + part.length)} of ${words}` : words;
      whole.hidden = printing || rows.length <= table.size || rows.length > MOST_AT_ONCE;
      whole.textContent = state.whole ? `${number(table.size)} at a time` : `Show all ${number(rows.length)}`;
      // not `disabled`: a button that disables itself loses the keyboard's place
      back.setAttribute("aria-disabled", state.page === 0);
      next.setAttribute("aria-disabled", state.page === pages - 1);
      back.hidden = next.hidden = pages === 1;
      fit();
    };
    // A table that has room lets the page scroll it and keeps its heading in sight.
    const fit = () => {
      if (!frame.clientWidth) return;
      const wide = grid.offsetWidth > frame.clientWidth + 1;
      frame.classList.toggle("fits", !wide);
      if (wide) frame.tabIndex = 0;
      else frame.removeAttribute("tabindex");
      const further = wide && frame.scrollLeft + frame.clientWidth < grid.offsetWidth - 2;
      holder.classList.toggle("further", further);
      hint.hidden = !wide;
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
    const toggle = (press, label) => {
      const button = el("button", { type: "button", class: "switch", "aria-pressed": "false" }, label);
      button.addEventListener("click", () => {
        const on = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", on);
        press(on);
        draw();
      });
      tools.append(button);
      return button;
    };
    if (quiet) toggle((on) => { state.quiet = !on; state.page = 0; }, `Show ${isDim.size.toLocaleString("en")} references`);
    const more = table.late.length && toggle((on) => grid.classList.toggle("few", !on), `Show ${table.late.length} more column${table.late.length > 1 ? "s" : ""}`);
    grid.append(el("thead", {}, el("tr", {}, ...heads)), body);
    const frame = el("div", { class: "scroll", role: "region", "aria-label": table.title || name, onscroll: () => fit() }, grid);
    const holder = el("div", { class: table.columns.length > 5 ? "holder" : "holder slim" }, frame);
    const hint = el("span", { class: "hint" }, "Scroll the table sideways for more →");
    const note = el("p", { class: "soft note", role: "status" });
    const pager = el("div", { class: "pager" }, back, next, whole, keep, status, hint);
    host.replaceChildren(...(tools.children.length ? [tools] : []), note, holder, pager);
    redraw.push(draw);
    draw();
    new ResizeObserver(fit).observe(frame);
  };

  const ready = new Promise((resolve) => addEventListener("charts", resolve, { once: true }));
  const dark = matchMedia("(prefers-color-scheme: dark)");
  // A finger that was lifted has left: a tap says once more what a pointer would.
  // A mouse that rests elsewhere then seems to leave, and must not take it back.
  let finger = false;
  const tapped = ({ target, clientX, clientY, pointerType }) => {
    finger = pointerType === "touch";
    for (const type of ["pointerover", "pointermove"]) target.dispatchEvent(new PointerEvent(type, { bubbles: true, clientX, clientY }));
  };
  addEventListener("mouseout", (event) => { if (finger) event.stopImmediatePropagation(); }, { capture: true });
  addEventListener("pointermove", (event) => { if (event.pointerType === "mouse") finger = false; });
  const hush = () => document.getElementById("vg-tooltip-element")?.classList.remove("visible");
  addEventListener("scroll", hush, { capture: true, passive: true });
  addEventListener("pointerdown", (event) => { if (!event.target.closest(".plot")) hush(); });
  // What is wider than its frame scrolls in it, with the keyboard too, and says so.
  const slide = (plot) => {
    const wide = plot.scrollWidth > plot.clientWidth + 1;
    if (wide) plot.tabIndex = 0;
    else plot.removeAttribute("tabindex");
    plot.parentElement.classList.toggle("slides", wide);
    plot.parentElement.classList.toggle("further", wide && plot.scrollLeft + plot.clientWidth < plot.scrollWidth - 2);
  };
  // The names of a heat map's rows once more, above it: they stay in sight where its cells scroll.
  const keepNames = (plot, graphic) => {
    const axis = graphic.querySelector("[aria-label^='Y-axis']");
    if (!axis) return;
    const frame = graphic.firstElementChild.cloneNode(false);
    frame.append(axis.cloneNode(true));
    const names = graphic.cloneNode(false);
    const edge = graphic.firstElementChild.transform.baseVal[0].matrix.e;
    names.removeAttribute("style"); // it would show what it covers
    names.setAttribute("width", edge);
    names.setAttribute("viewBox", `0 0 ${edge} ${graphic.getAttribute("height")}`);
    names.append(frame);
    plot.prepend(el("div", { class: "kept", "aria-hidden": "true" }, names));
  };
  const drawChart = async (host, name, spec) => {
    const plot = host.querySelector(".plot");
    await ready;
    const themed = dressed(spec, { night: dark.matches && !printing, room: plot.clientWidth || 640 });
    await vegaEmbed(plot, themed, { actions: false, ast: true, renderer: "svg", patch: namesNearby });
    const graphic = plot.querySelector("svg");
    if (graphic) {
      if (typeof themed.width === "object") keepNames(plot, graphic);
      for (const part of [plot, ...graphic.querySelectorAll("[role]")]) {
        for (const name of ["role", "aria-label", "aria-roledescription"]) part.removeAttribute(name);
      }
      graphic.setAttribute("role", "img");
      graphic.setAttribute("aria-label", host.querySelector("figcaption").textContent.trim());
      graphic.addEventListener("click", tapped);
      plot.onscroll = () => slide(plot);
      slide(plot);
    }
    host.querySelector("[data-save=svg]").onclick = async () => {
      const light = dressed(spec, { night: false, room: plot.clientWidth || 640 });
      light.layer = light.layer.filter((one) => !one.name?.startsWith("nearest"));
      if (light.width === "container") light.width = plot.clientWidth || 640;
      light.config.background = "white";
      const copy = await vegaEmbed(el("div"), light, { actions: false, ast: true, renderer: "svg" });
      save(`${name}.svg`, "image/svg+xml", await copy.view.toSVG());
      copy.finalize();
    };
    host.querySelector("[data-save=csv]").onclick = () => save(`${name}.csv`, "text/csv", csv(spec.data.values));
  };
  const drawn = new Map();
  const drawFigure = (host) => { // one drawing after another, so that the last one stays
    const name = host.dataset.chart;
    const failed = (error) => console.error(`The chart ${name} could not be drawn:`, error);
    const before = drawn.get(host) ?? Promise.resolve();
    drawn.set(host, before.then(() => drawChart(host, name, data.charts[name])).catch(failed));
  };
  const inView = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      inView.unobserve(entry.target);
      drawFigure(entry.target);
    }
  }, { rootMargin: "400px" });

  for (const host of document.querySelectorAll("[data-table]")) {
    const table = data.tables[host.dataset.table];
    const fold = host.closest("details");
    const make = () => makeTable(host, table);
    if (fold) fold.addEventListener("toggle", make, { once: true });
    else make();
  }
  const figures = document.querySelectorAll("[data-chart]");
  figures.forEach((figure) => inView.observe(figure));
  const drawAgain = () => [...drawn.keys()].forEach(drawFigure);
  dark.addEventListener("change", drawAgain);
  matchMedia(`(max-width: ${NARROW}px)`).addEventListener("change", drawAgain); // a phone is turned
  let unfolded = [];
  addEventListener("beforeprint", () => {
    printing = true;
    unfolded = [...document.querySelectorAll("details:not([open])")].filter((fold) => !fold.querySelector("[data-table]"));
    unfolded.forEach((fold) => { fold.open = true; });
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
