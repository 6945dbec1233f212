// Charts: our own SVG. Every arm has a colour and a shape; controls are hollow. The numbers stand in a table below.

const SHAPES = [
  (x, y, r) => svg("circle", { cx: x, cy: y, r }),
  (x, y, r) => svg("rect", { x: x - r * 0.9, y: y - r * 0.9, width: r * 1.8, height: r * 1.8 }),
  (x, y, r) => svg("path", { d: `M${x} ${y - r * 1.2}L${x + r * 1.15} ${y + r * 0.85}L${x - r * 1.15} ${y + r * 0.85}Z` }),
  (x, y, r) => svg("path", { d: `M${x} ${y - r * 1.3}L${x + r * 1.3} ${y}L${x} ${y + r * 1.3}L${x - r * 1.3} ${y}Z` }),
  (x, y, r) => svg("path", { d: `M${x} ${y + r * 1.2}L${x + r * 1.15} ${y - r * 0.85}L${x - r * 1.15} ${y - r * 0.85}Z` }),
];
// As many colours as the style sheet has.
const COLOURS = 8;

function marker(arm, index, x, y, size = 5) {
  const shape = SHAPES[index % SHAPES.length](x, y, size);
  shape.setAttribute("class", `marker arm-${index % COLOURS}${arm && arm.control ? " hollow" : ""}`);
  return shape;
}

function armKey(arm, index) {
  const picture = svg("svg", { viewBox: "0 0 14 14", width: 14, height: 14, "aria-hidden": "true", class: "key" }, marker(arm, index, 7, 7));
  return h("span", { class: "arm" }, picture, name(arm.name));
}

function clip(text, most) {
  const characters = Array.from(visible(text));
  return characters.length > most ? characters.slice(0, most - 1).join("") + "…" : characters.join("");
}

// One measure: a row for each arm, a point for the mean and a line for the interval.
function intervals(panel, arms) {
  const [width, left, right, row, top] = [340, 112, 52, 22, 8];
  const [low, high] = [panel.least, panel.most];
  const bottom = top + panel.rows.length * row;
  const x = (value) => left + 8 + ((Math.min(Math.max(value, low), high) - low) / (high - low)) * (width - left - right - 16);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${bottom + 20}`, class: "intervals", role: "img", "aria-label": spoken(panel, arms) });
  for (const tick of ticks(low, high, panel.unit)) {
    const isZero = low < 0 && tick === 0;
    picture.append(svg("line", { x1: x(tick), x2: x(tick), y1: top, y2: bottom, class: isZero ? "zero" : "grid" }));
    picture.append(svg("text", { x: x(tick), y: bottom + 14, class: "tick", "text-anchor": "middle" }, panel.unit === "share" ? shortly(tick * 100) + " %" : shortly(tick)));
  }
  panel.rows.forEach((line, place) => {
    const [arm, y] = [arms[line.arm], top + place * row + row / 2];
    const said = saidBy(panel);
    const group = svg("g", { class: `row arm-${line.arm % COLOURS}` });
    const says = `${visible(arm.name)}: ${said(line.mean)}, interval ${said(line.low)} to ${said(line.high)}, ${line.count} observations in ${line.clusters} fixtures`;
    group.append(svg("title", null, says));
    group.append(svg("text", { x: left - 4, y: y + 4, class: "label", "text-anchor": "end" }, clip(arm.name, 16)));
    group.append(svg("line", { x1: x(line.low), x2: x(line.high), y1: y, y2: y, class: "interval" }));
    for (const end of [line.low, line.high]) group.append(svg("line", { x1: x(end), x2: x(end), y1: y - 4, y2: y + 4, class: "interval" }));
    group.append(marker(arm, line.arm, x(line.mean), y));
    group.append(svg("text", { x: width, y: y + 4, class: "value", "text-anchor": "end" }, said(line.mean)));
    picture.append(group);
  });
  return h("figure", { class: "panel" }, h("figcaption", null, panel.title), picture);
}

// How a panel's figures are written: scores to two places, shares in per cent, differences with their sign.
function saidBy(panel) {
  if (panel.unit !== "share") return panel.least < 0 ? signed : figure;
  return panel.least < 0 ? (value) => signed(value * 100, 1) + " %" : percent;
}

const shortly = (value) => String(Math.round(value * 100) / 100).replace("-", "−");

// Per cent take more room than scores, and those with a sign the most: fewer of them stand on an axis.
function ticks(low, high, unit) {
  const most = unit !== "share" ? 6 : low < 0 ? 2 : 4;
  const step = [0.05, 0.1, 0.2, 0.25, 0.5, 1, 2].find((size) => (high - low) / size <= most + 1e-9) || 5;
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + 1e-9; at += 1) found.push(at * step);
  return found;
}

function spoken(panel, arms) {
  return panel.title + ": " + panel.rows.map((line) => `${arms[line.arm].name} ${saidBy(panel)(line.mean)}`).join(", ");
}

function panelTable(panels, arms) {
  const used = arms.map((arm, index) => [arm, index]).filter(([, index]) => panels.some((panel) => panel.rows.some((line) => line.arm === index)));
  const head = h("tr", null, h("th", { scope: "col" }, "Arm"), panels.map((panel) => h("th", { scope: "col" }, panel.title)));
  const rows = used.map(([arm, index]) => {
    const cells = panels.map((panel) => {
      const line = panel.rows.find((candidate) => candidate.arm === index);
      const said = saidBy(panel);
      return h("td", { class: "figure" }, line ? `${said(line.mean)} [${said(line.low)}, ${said(line.high)}]` : "–");
    });
    return h("tr", null, h("th", { scope: "row" }, armKey(arm, index)), cells);
  });
  return numbers(h("table", { class: "plain" }, h("thead", null, head), h("tbody", null, rows)));
}

function numbers(table) {
  return h("details", { class: "numbers" }, h("summary", null, "As a table"), h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Table of figures" }, table));
}

function panels(list, arms) {
  return h("div", { class: "panels" }, list.map((panel) => intervals(panel, arms)));
}

// Tokens that are left against facts that are left: up and to the left is better.
function tradeoff(points, arms) {
  const place = h("div", { class: "tradeoff" });
  const draw = () => {
    const width = Math.max(280, Math.min(place.clientWidth || 640, 760));
    if (place.drawn === width) return;
    place.drawn = width;
    place.replaceChildren(scatter(points, arms, width));
  };
  new ResizeObserver(draw).observe(place);
  const rows = points.map((point) => h("tr", null, h("th", { scope: "row" }, armKey(arms[point.arm], point.arm)),
    [point.tokens, point.recall].map((estimate) => h("td", { class: "figure" }, `${percent(estimate.mean)} [${percent(estimate.low)}, ${percent(estimate.high)}]`))));
  const head = h("tr", null, ["Arm", "Tokens left", "Facts left"].map((title) => h("th", { scope: "col" }, title)));
  return h("div", null, place, numbers(h("table", { class: "plain" }, h("thead", null, head), h("tbody", null, rows))));
}

function scatter(points, arms, width) {
  const height = Math.round(Math.min(380, Math.max(260, width * 0.6)));
  const [left, right, top, bottom] = [62, 20, 24, height - 42];
  const x = (share) => left + Math.min(share, 1.02) * (width - left - right);
  const y = (share) => bottom - share * (bottom - top);
  const says = "Facts left against tokens left: " + points.map((point) => `${arms[point.arm].name} ${percent(point.recall.mean)} of the facts in ${percent(point.tokens.mean)} of the tokens`).join("; ");
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": says });
  for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
    picture.append(svg("line", { x1: x(tick), x2: x(tick), y1: top, y2: bottom, class: "grid" }));
    picture.append(svg("line", { x1: left, x2: width - right, y1: y(tick), y2: y(tick), class: "grid" }));
    picture.append(svg("text", { x: x(tick), y: bottom + 15, class: "tick", "text-anchor": tick === 1 ? "end" : "middle" }, Math.round(tick * 100) + " %"));
    picture.append(svg("text", { x: left - 6, y: y(tick) + 4, class: "tick", "text-anchor": "end" }, Math.round(tick * 100) + " %"));
  }
  picture.append(svg("text", { x: (left + width - right) / 2, y: height - 6, class: "axis", "text-anchor": "middle" }, "Tokens of the state, of the fixture’s"));
  picture.append(svg("text", { x: 0, y: 0, class: "axis", "text-anchor": "middle", transform: `translate(15 ${(top + bottom) / 2}) rotate(-90)` }, "Expected facts in the state"));
  points.forEach((point) => {
    const [cx, cy] = [x(point.tokens.mean), y(point.recall.mean)];
    const group = svg("g", { class: `row arm-${point.arm % COLOURS}` });
    group.append(svg("title", null, `${visible(arms[point.arm].name)}: ${percent(point.recall.mean)} of the facts in ${percent(point.tokens.mean)} of the tokens`));
    group.append(svg("line", { x1: cx, x2: cx, y1: y(point.recall.low), y2: y(point.recall.high), class: "interval" }));
    group.append(svg("line", { x1: x(point.tokens.low), x2: x(point.tokens.high), y1: cy, y2: cy, class: "interval" }));
    group.append(marker(arms[point.arm], point.arm, cx, cy, 6));
    picture.append(group);
  });
  // Names stand beside their points, pushed apart where they would lie on each other.
  const labels = points.map((point) => {
    const [cx, cy] = [x(point.tokens.mean), y(point.recall.mean)];
    return { cx, cy, y: cy, isLeft: cx > (left + width) * 0.6, point };
  });
  // In a narrow chart names of both sides meet.
  const sides = width < 480 ? [() => true] : [(one) => one.isLeft, (one) => !one.isLeft];
  for (const side of sides) {
    let last = -3;
    for (const label of labels.filter(side).sort((one, other) => one.cy - other.cy)) {
      label.y = Math.max(label.cy - 9, last + 15);
      last = label.y;
    }
  }
  for (const label of labels) {
    const shift = label.isLeft ? -12 : 12;
    if (Math.abs(label.y - label.cy) > 14) {
      picture.append(svg("line", { x1: label.cx, y1: label.cy, x2: label.cx + shift, y2: label.y - 3, class: "leader" }));
    }
    const arm = arms[label.point.arm];
    const shown = clip(arm.name, 22) + (arm.control ? " (control)" : "");
    picture.append(svg("text", { x: label.cx + shift, y: label.y, class: "label halo", "text-anchor": label.isLeft ? "end" : "start" }, shown));
  }
  return picture;
}

// Fixtures against arms, one measure at a time; a cell leads to its samples.
function heatMap(run, pick) {
  const measures = [
    run.isJudged && { title: "Judge, overall", most: 5, of: overall, shown: (value) => figure(value) },
    run.isAnswered && { title: "Facts in the answer", most: 1, of: (sample) => (sample.graded ? recallOf(sample.graded) : null), shown: percent },
    { title: "Facts in the state", most: 1, of: (sample) => recallOf(sample.state), shown: percent },
  ].filter(Boolean);
  const cells = new Map();
  for (const sample of run.samples) {
    const key = keyOf(sample.of.fixture, sample.arm);
    if (!cells.has(key)) cells.set(key, []);
    cells.get(key).push(sample);
  }
  const place = h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Fixtures against arms" });
  const draw = (measure) => {
    const head = h("tr", null, h("th", { scope: "col" }, "Fixture"), run.arms.map((arm, index) => h("th", { scope: "col" }, armKey(arm, index))));
    const rows = run.fixtures.map((fixture, row) => h("tr", null, h("th", { scope: "row" }, name(fixture.name)), run.arms.map((arm, index) => {
      const values = (cells.get(keyOf(row, index)) || []).map(measure.of).filter((value) => value !== null);
      const value = mean(values);
      if (value === null) return h("td", { class: "heat none" }, "–");
      const step = Math.min(6, Math.floor((value / measure.most) * 7));
      const says = `${visible(fixture.name)}, ${visible(arm.name)}: ${measure.shown(value)}; show its samples`;
      return h("td", { class: `heat heat-${step}` }, h("button", { type: "button", "aria-label": says, onclick: () => pick(fixture.name, arm.name) }, measure.shown(value)));
    })));
    place.replaceChildren(h("table", { class: "heat-map" }, h("thead", null, head), h("tbody", null, rows)));
  };
  draw(measures[0]);
  const choice = h("select", { id: "heat-measure", onchange: (event) => draw(measures[Number(event.target.value)]) },
    measures.map((measure, index) => h("option", { value: index }, measure.title)));
  return [h("p", { class: "choice" }, h("label", { for: "heat-measure" }, "Measure "), choice), place];
}
