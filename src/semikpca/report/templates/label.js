// The map of the rows. Cells only ever reach the page as textContent, and never reach Plotly, which reads tags in text.
(() => {
  "use strict";
  const stage = document.getElementById("map-stage");
  const card = document.getElementById("map-card");
  const points = JSON.parse(document.getElementById("map-data").textContent);
  const all = (selector) => Array.from(document.querySelectorAll(selector));
  const legend = all(".map-legend [data-group]");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const coarse = matchMedia("(pointer: coarse)").matches;
  const n = points.x.length;
  const size = (n > 3000 ? 6 : n > 1000 ? 7.5 : 9) * (stage.clientWidth < 600 ? 0.8 : 1);
  // Classes have a confidence, and numbers have their own size: what colors go by where they go from low to high.
  const shade = points.value ?? points.confidence;
  const [least, most] = points.range ?? [Math.min(...points.confidence), 1];
  const state = { mode: points.value ? "value" : "class", hidden: new Set(), marks: { given: true, wrong: true }, found: null, isActive: false };
  const members = legend.length ? legend.map(() => []) : [[]];
  points.group.forEach((group, index) => members[group].push(index));
  const placeOf = new Map(points.row.map((row, index) => [row, index]));
  const kind = hasWebGL() ? "scattergl" : "scatter";
  const home = { x: padded(points.x), y: padded(points.y) };

  function hasWebGL() {
    try {
      const canvas = document.createElement("canvas");
      return Boolean(canvas.getContext("webgl") || canvas.getContext("webgl2"));
    } catch {
      return false;
    }
  }

  function padded(values) {
    const low = Math.min(...values), high = Math.max(...values);
    const space = 0.06 * (high - low) || 1;
    return [low - space, high + space];
  }

  function styleOf(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  function stops() {
    const colors = [];
    while (styleOf(`--ramp-${colors.length}`)) colors.push(styleOf(`--ramp-${colors.length}`));
    return colors;
  }

  // What the rows of a group look like: one value where they are of one class, or else one for each row.
  function looks(indices, ofClass) {
    const classes = indices.map((index) => points.predicted[index]);
    return new Set(classes).size > 1 ? classes.map((number) => ofClass[number]) : ofClass[classes[0]];
  }

  function trace(indices, marker, hoverinfo) {
    return {
      type: kind, mode: "markers", hoverinfo, marker,
      x: indices.map((index) => points.x[index]),
      y: indices.map((index) => points.y[index]),
      customdata: indices,
    };
  }

  function traces() {
    const byClass = state.mode === "class";
    const colors = points.places.map((place) => styleOf(`--class-${place}`));
    const shown = members.map((indices, group) => (state.hidden.has(group) ? [] : indices));
    const drawn = shown.map((indices) => trace(indices, {
      size,
      symbol: looks(indices, points.shapes),
      color: byClass ? looks(indices, colors) : indices.map((index) => shade[index]),
      coloraxis: byClass ? undefined : "coloraxis",
      opacity: byClass ? indices.map((index) => 0.4 + 0.6 * sureness(index)) : 0.9,
      line: { width: 0 },
    }, "none"));
    const visible = shown.flat();
    const ring = (indices, symbol, color, larger, width) =>
      drawn.push(trace(indices, { size: size + larger, symbol, color, opacity: 1, line: { width } }, "skip"));
    ring(state.marks.given ? visible.filter((index) => points.given[index] !== null) : [], "circle-open", styleOf("--ink"), 6, 1.75);
    ring(state.marks.wrong ? visible.filter((index) => points.others_say[index] !== null) : [], "diamond-open", styleOf("--warn"), 13, 2.5);
    ring(state.found === null ? [] : [state.found], "circle-open", styleOf("--accent"), 20, 3);
    return drawn;
  }

  function sureness(index) {
    return least < 1 ? (points.confidence[index] - least) / (1 - least) : 1;
  }

  function layout() {
    const axis = { visible: false, fixedrange: false };
    return {
      xaxis: { ...axis, range: home.x.slice() },
      yaxis: { ...axis, range: home.y.slice() },
      margin: { l: 0, r: 0, t: 0, b: 0 },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      showlegend: false,
      hovermode: "closest",
      hoverdistance: 12,
      // A finger that moves over the map scrolls the page; the buttons zoom.
      dragmode: coarse ? false : "zoom",
      uirevision: "kept",
      coloraxis: {
        cmin: least, cmax: most, showscale: false,
        colorscale: stops().map((color, place, all) => [place / (all.length - 1), color]),
      },
    };
  }

  function draw() {
    return Plotly.react(stage, traces(), layout(), { displayModeBar: false, responsive: true, scrollZoom: true, showTips: false });
  }

  // -- the card of a row --------------------------------------------------------------------------------------

  function line(text, className) {
    const element = document.createElement("p");
    element.textContent = text;
    if (className) element.className = className;
    return element;
  }

  function predictionOf(index) {
    if (points.value) return points.said[index];
    return `${points.names[points.predicted[index]]} (${Math.round(100 * points.confidence[index])}%)`;
  }

  function showCard(index) {
    const given = points.given[index];
    const lines = [line(points.name[index], "card-name")];
    if (points.text[index]) lines.push(line(points.text[index], "card-text"));
    lines.push(line(`Predicted: ${predictionOf(index)}`));
    lines.push(line(given === null ? `No ${points.value ? "number" : "label"} was given.` : `Given: ${given}`));
    const other = points.others_say[index];
    if (other !== null) lines.push(line(`Looks wrong: the other ${points.value ? "numbers" : "labels"} say ${other}.`, "card-warn"));
    card.replaceChildren(...lines);
    card.hidden = false;
    const { xaxis, yaxis } = stage._fullLayout;
    const share = (value, [low, high]) => (value - low) / (high - low);
    const left = share(points.x[index], xaxis.range) * stage.clientWidth;
    const top = (1 - share(points.y[index], yaxis.range)) * stage.clientHeight;
    const isRight = left + 16 + card.offsetWidth > stage.clientWidth;
    const x = isRight ? left - 16 - card.offsetWidth : left + 16;
    const y = top - card.offsetHeight / 2;
    card.style.left = `${clamp(x, 8, stage.clientWidth - card.offsetWidth - 8)}px`;
    card.style.top = `${clamp(y, 8, stage.clientHeight - card.offsetHeight - 8)}px`;
  }

  function clamp(value, low, high) {
    return Math.max(low, Math.min(high, value));
  }

  function hideCard() {
    card.hidden = true;
  }

  // -- zoom ---------------------------------------------------------------------------------------------------

  function zoom(factor, center) {
    const change = {};
    for (const name of ["x", "y"]) {
      const [low, high] = stage._fullLayout[`${name}axis`].range;
      const middle = center ? center[name] : (low + high) / 2;
      const half = (factor * (high - low)) / 2;
      change[`${name}axis.range`] = [middle - half, middle + half];
    }
    hideCard();
    return Plotly.relayout(stage, change);
  }

  function showAll() {
    hideCard();
    return Plotly.relayout(stage, { "xaxis.range": home.x.slice(), "yaxis.range": home.y.slice() });
  }

  async function locate(row) {
    const index = placeOf.get(row);
    state.found = index;
    state.hidden.delete(points.group[index]);
    press();
    await draw();
    await showAll();
    await zoom(0.35, { x: points.x[index], y: points.y[index] });
    stage.scrollIntoView({ block: "center", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
    stage.focus({ preventScroll: true });
    showCard(index);
  }

  // -- buttons ------------------------------------------------------------------------------------------------

  function press() {
    for (const button of all("[data-mode]")) button.ariaPressed = String(button.dataset.mode === state.mode);
    for (const button of legend) button.ariaPressed = String(!state.hidden.has(Number(button.dataset.group)));
    for (const button of all("[data-marks]")) button.ariaPressed = String(state.marks[button.dataset.marks]);
    document.querySelector(".ramp").hidden = state.mode === "class";
    document.querySelector(".map-legend").classList.toggle("colorless", state.mode === "confidence");
  }

  function changed() {
    press();
    hideCard();
    draw();
  }

  const onClick = (selector, action) => all(selector).forEach((button) => button.addEventListener("click", () => action(button.dataset)));
  onClick("[data-mode]", ({ mode }) => { state.mode = mode; changed(); });
  onClick("[data-marks]", ({ marks }) => { state.marks[marks] = !state.marks[marks]; changed(); });
  onClick("[data-group]", ({ group }) => {
    const number = Number(group);
    if (!state.hidden.delete(number)) state.hidden.add(number);
    changed();
  });
  onClick("[data-zoom]", ({ zoom: way }) => { if (way === "all") { state.found = null; draw().then(showAll); } else zoom(way === "in" ? 0.6 : 1 / 0.6); });
  for (const button of all(".locate")) {
    const row = Number(button.dataset.row);
    button.hidden = !placeOf.has(row);
    button.addEventListener("click", () => locate(row));
  }

  // -- start --------------------------------------------------------------------------------------------------

  // The wheel scrolls the page over the map, until someone has clicked into it.
  stage.addEventListener("wheel", (event) => { if (!state.isActive) event.stopPropagation(); }, { capture: true });
  stage.addEventListener("pointerdown", () => { state.isActive = true; }, { capture: true });
  stage.addEventListener("pointerleave", () => { state.isActive = false; });
  stage.tabIndex = 0;
  stage.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (event.key === "+" || event.key === "=") zoom(0.6);
    else if (event.key === "-") zoom(1 / 0.6);
    else if (event.key === "0") showAll();
    else if (event.key === "Escape") hideCard();
    else if (step) {
      const [x, y] = ["xaxis", "yaxis"].map((name) => stage._fullLayout[name].range);
      zoom(1, { x: (x[0] + x[1]) / 2 + 0.15 * step[0] * (x[1] - x[0]), y: (y[0] + y[1]) / 2 + 0.15 * step[1] * (y[1] - y[0]) });
    } else return;
    event.preventDefault();
  });
  draw().then(() => {
    stage.on("plotly_hover", ({ points: [point] }) => showCard(point.customdata));
    stage.on("plotly_click", ({ points: [point] }) => showCard(point.customdata));
    stage.on("plotly_unhover", hideCard);
    stage.on("plotly_relayouting", hideCard);
    stage.on("plotly_doubleclick", () => { showAll(); return false; });
    stage.dataset.ready = "yes";
  });
  dark.addEventListener("change", draw);
})();
