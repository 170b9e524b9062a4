const spec = JSON.parse(document.getElementById("spec").textContent);
const actions = { export: true, source: false, compiled: false, editor: false };
addEventListener("charts", () => vegaEmbed("#chart", spec, { actions, ast: true, renderer: "svg" }), { once: true });
