"use strict";
// How a chart is dressed for the room and the light that it stands in.
const DARK_COLOURS = ["#56b4e9", "#e69f00", "#2fc296", "#e29bc4", "#f0e442", "#8fa8ff", "#a3aebb", "#e8ebef"];
const AT_NIGHT = { "#0072b2": "#56b4e9", "#d55e00": "#e69f00", "#c9ced6": "#566170" };
const RUNS_AT_NIGHT = {
  "#332288": "#a08cf5", "#44aa99": "#5fd0bd", "#aa4499": "#e88bdc", "#999933": "#d0d05e",
  "#882255": "#f5789f", "#88ccee": "#a9def7", "#cc6677": "#f2a3ad", "#117733": "#63c784", "#7f7f7f": "#a3aebb",
};
const SCHEMES_AT_NIGHT = { // the least stands back, the most shines
  blues: ["#202b37", "#2b5880", "#4a97cc", "#cfe9fb"],
  blueorange: ["#56b4e9", "#28313b", "#e69f00"],
};
const NARROW = 500;
const LEAST_CELL = 32, LEAST_ROW = 22, TALL = 500; // pixels of a heat map that can be read and touched

const dressed = (given, { night, room }) => {
  const spec = structuredClone(given);
  const narrow = room < NARROW;
  const layers = spec.layer ?? [spec];
  const rows = spec.data?.values ?? [];
  const namesIn = (field) => {
    const name = field.replace(/\\(.)/g, "$1");
    return [...new Set(rows.map((row) => String(row[name] ?? "")))];
  };
  const longest = (field) => Math.max(0, ...namesIn(field).map((name) => name.length));
  // Of a long name that stays which tells it from the others: what all share at an end goes first.
  const shortened = (field, most) => {
    const long = namesIn(field).filter((name) => name.length > most);
    const length = Math.max(0, ...long.map((name) => name.length));
    const shared = (from) => {
      let n = 0;
      while (long.length > 1 && n < length && long.every((name) => name.at(from(n)) === long[0].at(from(n)))) n += 1;
      return n;
    };
    const [start, end] = [shared((n) => n), shared((n) => -1 - n)];
    const after = end > 3 ? end : 0, before = Math.max(0, length - after - most + 2);
    const label = (before && before <= start) || (!before && after)
      ? `${before ? "'…' + " : ""}slice(datum.label, ${before}, length(datum.label) - ${after})${after ? " + '…'" : ""}`
      : `slice(datum.label, 0, ${Math.ceil(most / 2) - 1}) + '…' + slice(datum.label, -${Math.floor(most / 2)})`;
    return `length(datum.label) > ${most} ? ${label} : datum.label`;
  };
  const recolour = (part) => {
    for (const [key, value] of Object.entries(part)) {
      if (typeof value === "string") part[key] = ["color", "fill", "value"].includes(key) ? AT_NIGHT[value] ?? value : value;
      else if (key === "range" && Array.isArray(value)) part[key] = value.map((one) => AT_NIGHT[one] ?? RUNS_AT_NIGHT[one] ?? one);
      else if (value && typeof value === "object" && key !== "data" && key !== "sort") recolour(value);
    }
  };
  spec.config = { ...spec.config, background: "transparent" };
  spec.config.axisX = { ...spec.config.axisX, tickCount: narrow ? 4 : 8, labelOverlap: true, labelSeparation: 8 };
  if (night) {
    recolour(spec);
    const ink = { labelColor: "#c9d1da", titleColor: "#e8ebef" };
    spec.config.axis = { ...spec.config.axis, ...ink, gridColor: "#2c353f", domainColor: "#5b6675", tickColor: "#5b6675" };
    spec.config.legend = { ...spec.config.legend, ...ink };
    spec.config.range = { category: DARK_COLOURS };
    spec.config.text = { color: "#e8ebef" };
    spec.config.title = { ...spec.config.title, color: "#e8ebef", subtitleColor: "#a3aebb" };
  }
  if (narrow) spec.config.legend = { ...spec.config.legend, orient: "bottom", gradientLength: Math.max(100, room - 170) };
  if (spec.usermeta?.square) { // both axes of a kind are equally long
    const legend = narrow ? 0 : 240;
    spec.width = spec.height = Math.max(160, Math.min(given.height, room - 70 - legend));
  }
  let turned = false;
  for (const layer of layers) {
    const { x, y, color } = layer.encoding ?? {};
    for (const [axis, most] of [[x, narrow ? 12 : 24], [y, narrow ? 16 : 36]]) {
      if (axis?.type !== "nominal" || axis.axis === null) continue;
      axis.axis = { ...axis.axis, labelExpr: shortened(axis.field, most), labelLimit: 300 };
    }
    if (narrow && x?.type === "nominal" && x.axis?.labelAngle === 0 && 8 * longest(x.field) > room / 4) x.axis.labelAngle = -90;
    if (narrow && x?.axis?.tickCount) x.axis.tickCount = Math.min(x.axis.tickCount, 4);
    if (color?.type === "nominal" && color.field && color.legend !== null) {
      const most = longest(color.field);
      if (!("sort" in color)) color.sort = null; // as the data have it
      const columns = narrow ? { columns: most > 18 ? 1 : 2 } : {};
      color.legend = { ...color.legend, ...columns, labelExpr: shortened(color.field, narrow ? 40 : 28), labelLimit: 300 };
    }
    if (night && SCHEMES_AT_NIGHT[color?.scale?.scheme]) {
      turned ||= color.scale.scheme === "blues";
      const { scheme, ...rest } = color.scale;
      color.scale = { ...rest, range: SCHEMES_AT_NIGHT[scheme], interpolate: "rgb" };
    }
  }
  const heat = layers.find(({ mark, encoding }) => mark.type === "rect" && encoding?.x?.type === "nominal" && encoding.y?.type === "nominal");
  if (heat) {
    const { x, y } = heat.encoding;
    const names = 7 * Math.min(longest(y.field), narrow ? 16 : 36) + 16;
    if ((room - names) / namesIn(x.field).length < LEAST_CELL) {
      spec.width = { step: LEAST_CELL };
      x.axis = { ...x.axis, titleAnchor: "start" };
      spec.config.legend = { ...spec.config.legend, orient: "bottom", gradientLength: Math.max(100, Math.min(300, room - 170)) };
    }
    if (narrow) spec.height = Math.max(spec.height, LEAST_ROW * namesIn(y.field).length);
    if (spec.height > TALL) for (const { encoding } of layers) if (encoding.x) encoding.x.axis = { ...encoding.x.axis, orient: "top" };
  }
  if (turned) {
    for (const { mark, encoding } of layers) {
      if (mark.type === "text" && encoding.color?.condition) {
        encoding.color = { condition: { ...encoding.color.condition, value: "#11151a" }, value: "#e8ebef" };
      }
    }
  }
  return spec;
};

// Vega-Lite looks for names one level too high where a pointer finds the nearest point.
const namesNearby = (vega) => {
  for (const mark of vega.marks ?? []) {
    const tooltip = mark.name?.endsWith("_voronoi") ? mark.encode.update.tooltip : undefined;
    if (tooltip?.signal) tooltip.signal = tooltip.signal.replace(/(?<!datum\.)datum\[/g, "datum.datum[");
  }
  return vega;
};
