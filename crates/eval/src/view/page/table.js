// The table: all samples of a run, or all probes of two. Filtered and sorted whole, put into the page piece by piece.

// Rows are added in pieces of this size: some screens full, quick to lay out.
const PIECE = 150;

const table = { rows: [], shown: [], drawn: 0, sort: null, columns: [], body: null, links: [] };

function marks(sample) {
  const grade = gradeOf(sample);
  return [
    sample.excluded && h("span", { class: "badge bad", title: sample.excluded }, "excluded"),
    grade.stale && h("span", { class: "badge bad", title: "A stale fact is given as current" }, "stale"),
    grade.leaks && h("span", { class: "badge bad", title: "A secret is shown" }, "leak"),
    sample.searched !== undefined && h("span", { class: "badge", title: "Searched what was dropped" }, "search"),
  ].filter(Boolean);
}

// Whether all, some or none is there: a sign, and the numbers.
function share(part, whole) {
  const sign = part === whole ? ["all", "●"] : part === 0 ? ["none", "○"] : ["some", "◐"];
  return h("span", { class: `share ${sign[0]}` }, h("span", { "aria-hidden": "true" }, sign[1] + " "), `${part}/${whole}`);
}

const gradeCell = (grade) => (grade ? share(foundIn(grade), grade.found.length) : "–");

function probeCell(probe, href) {
  return [h("a", { href, class: "row-link" }, name(probe.id)), h("span", { class: "sub" }, name(probe.fixtureName))];
}

function sampleColumns(run) {
  return [
    { title: "Probe", head: true, by: (row) => keyOf(row.of.fixtureName, row.of.id), cell: (row) => probeCell(row.of, row.href) },
    { title: "Type", minor: true, by: (row) => row.of.kind, cell: (row) => row.of.kind },
    { title: "Arm", by: (row) => row.arm, cell: (row) => armKey(run.arms[row.arm], row.arm) },
    { title: "Repeat", minor: true, number: true, by: (row) => row.repeat, cell: (row) => String(row.repeat) },
    { title: "In state", minor: run.isAnswered, number: true, by: (row) => recallOf(row.state), cell: (row) => gradeCell(row.state) },
    run.isAnswered && { title: "In answer", number: true, by: (row) => (row.graded ? recallOf(row.graded) : -1), cell: (row) => gradeCell(row.graded) },
    run.isJudged && { title: "Judge", number: true, by: (row) => overall(row) ?? -1, cell: (row) => figure(overall(row)) },
    { title: "Marks", minor: true, by: (row) => marks(row).length, cell: marks },
  ].filter(Boolean);
}

function sampleRows(run) {
  return run.samples.map((sample) => Object.assign(sample, {
    fixtureName: sample.of.fixtureName,
    kind: sample.of.kind,
    miss: isMiss(sample),
    href: probeLink(sample.of, sample.armName, sample.repeat),
    search: () => wordsOf(sample),
  }));
}

// A probe with one arm in both runs. It passes in a run where most of its repeats are clean.
function pairRows() {
  const [first, second] = runs;
  const rows = [];
  for (const probe of first.probes) {
    const twin = second.probeAt.get(keyOf(probe.fixtureName, probe.id));
    if (!twin) continue;
    first.arms.forEach((arm, index) => {
      const mine = probe.samples.filter((sample) => sample.arm === index);
      const theirs = twin.samples.filter((sample) => sample.armName === arm.name);
      if (!mine.length || !theirs.length) return;
      const sides = [mine, theirs].map(side);
      const difference = sides[0].score === null || sides[1].score === null ? sides[1].recall - sides[0].recall : (sides[1].score - sides[0].score) / 5;
      const flip = sides[0].passes === sides[1].passes ? 0 : sides[1].passes ? 1 : -1;
      rows.push({
        of: probe, arm: index, armName: arm.name, sides, difference, flip,
        fixtureName: probe.fixtureName, kind: probe.kind,
        miss: !sides[0].passes || !sides[1].passes,
        href: probeLink(probe, arm.name),
        search: () => mine.concat(theirs).map(wordsOf).join("\n"),
      });
    });
  }
  // Flipped first, the worse before the better, then by how much.
  const rank = (row) => (row.flip < 0 ? 0 : row.flip > 0 ? 1 : 2);
  return rows.sort((one, other) => rank(one) - rank(other) || Math.abs(other.difference) - Math.abs(one.difference));
}

function side(samples) {
  const clean = samples.filter((sample) => !isMiss(sample)).length;
  const scores = samples.map(overall).filter((score) => score !== null);
  return { samples, clean, passes: clean * 2 > samples.length, score: mean(scores), recall: mean(samples.map((sample) => recallOf(gradeOf(sample)))) };
}

function pairColumns() {
  const hasScores = runs.some((run) => run.isJudged);
  const passed = (place) => ({
    title: `Clean ${LETTERS[place]}`, number: true, by: (row) => row.sides[place].clean / row.sides[place].samples.length,
    cell: (row) => share(row.sides[place].clean, row.sides[place].samples.length),
  });
  const scored = (place) => ({ title: `Judge ${LETTERS[place]}`, minor: true, number: true, by: (row) => row.sides[place].score ?? -1, cell: (row) => figure(row.sides[place].score) });
  return [
    { title: "Probe", head: true, by: (row) => keyOf(row.of.fixtureName, row.of.id), cell: (row) => probeCell(row.of, row.href) },
    { title: "Type", minor: true, by: (row) => row.of.kind, cell: (row) => row.of.kind },
    { title: "Arm", by: (row) => row.arm, cell: (row) => armKey(runs[0].arms[row.arm], row.arm) },
    passed(0), passed(1),
    hasScores && scored(0), hasScores && scored(1),
    { title: "Flip", by: (row) => row.flip, cell: flipCell },
  ].filter(Boolean);
}

function flipCell(row) {
  if (!row.flip) return "";
  return row.flip > 0 ? h("span", { class: "badge good" }, "▲ better") : h("span", { class: "badge bad" }, "▼ worse");
}

const filters = { fixture: "", arm: "", kind: "", misses: false, flipped: false, words: "" };

function drawFilters() {
  const form = document.getElementById("filters");
  const choice = (field, title, values) => h("label", null, h("span", null, title), h("select", { id: `filter-${field}`, onchange: (event) => narrow({ [field]: event.target.value }) },
    h("option", { value: "" }, "all"), values.map((value) => h("option", { value }, clip(value, 40)))));
  // Options keep the name itself as their value: what is shown may be spelled out or clipped.
  const exactly = (label, values) => label.querySelectorAll("option").forEach((option, index) => { if (index) option.value = values[index - 1]; });
  const fixtures = runs[0].fixtures.map((fixture) => fixture.name);
  const arms = runs[0].arms.map((arm) => arm.name);
  const byFixture = choice("fixture", "Fixture", fixtures);
  const byArm = choice("arm", "Arm", arms);
  exactly(byFixture, fixtures);
  exactly(byArm, arms);
  const tick = (field, title) => h("label", { class: "tick" }, h("input", { type: "checkbox", id: `filter-${field}`, onchange: (event) => narrow({ [field]: event.target.checked }) }), h("span", null, title));
  form.append(byFixture, byArm,
    choice("kind", "Type", ["recall", "artifact", "continuation", "decision"]),
    h("label", { class: "search" }, h("span", null, "Search"), h("input", { type: "search", id: "filter-words", placeholder: "questions, answers, facts", autocomplete: "off", spellcheck: "false", oninput: (event) => narrow({ words: event.target.value }) })),
    tick("misses", isComparison ? "only with misses" : "only misses"),
    isComparison ? tick("flipped", "only flipped") : "",
    h("button", { type: "reset" }, "Clear"));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => narrow({ fixture: "", arm: "", kind: "", misses: false, flipped: false, words: "" }));
}

function narrow(change) {
  Object.assign(filters, change);
  refresh();
}

function pick(fixture, arm) {
  document.getElementById("filters").reset();
  document.getElementById("filter-fixture").value = fixture;
  document.getElementById("filter-arm").value = arm;
  narrow({ fixture, arm });
  document.getElementById("samples").scrollIntoView();
  document.getElementById("samples").focus({ preventScroll: true });
}

function drawTable() {
  table.columns = isComparison ? pairColumns() : sampleColumns(runs[0]);
  table.rows = isComparison ? pairRows() : sampleRows(runs[0]);
  table.body = h("tbody");
  const head = h("tr", null, table.columns.map((column, index) => h("th", { scope: "col", class: column.minor ? "minor" : null, "aria-sort": "none" },
    h("button", { type: "button", onclick: () => sortBy(index) }, column.title, h("span", { class: "arrow", "aria-hidden": "true" })))));
  const caption = isComparison ? "Probes of both runs, by arm" : "Samples: one probe, answered from one arm’s state in one repeat";
  table.element = h("table", { class: "samples" }, h("caption", { class: "quiet" }, caption), h("thead", null, head), table.body);
  document.getElementById("table-place").append(table.element);
  new IntersectionObserver((entries) => { if (entries.some((entry) => entry.isIntersecting)) more(); }, { rootMargin: "600px" })
    .observe(document.getElementById("table-end"));
  refresh();
}

function sortBy(index) {
  const isAgain = table.sort && table.sort.index === index;
  table.sort = isAgain && table.sort.down ? null : { index, down: isAgain };
  table.element.querySelectorAll("thead th").forEach((cell, place) => {
    const isSorted = table.sort && table.sort.index === place;
    cell.setAttribute("aria-sort", isSorted ? (table.sort.down ? "descending" : "ascending") : "none");
    cell.querySelector(".arrow").textContent = isSorted ? (table.sort.down ? " ▼" : " ▲") : "";
  });
  refresh();
}

function refresh() {
  const words = filters.words.toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = (row) =>
    (!filters.fixture || row.fixtureName === filters.fixture) && (!filters.arm || row.armName === filters.arm) &&
    (!filters.kind || row.kind === filters.kind) && (!filters.misses || row.miss) && (!filters.flipped || row.flip) &&
    (!words.length || (() => { const text = row.search(); return words.every((word) => text.includes(word)); })());
  table.shown = table.rows.filter(wanted);
  if (table.sort) {
    const { by } = table.columns[table.sort.index];
    const keyed = table.shown.map((row, place) => [by(row), place, row]);
    const order = table.sort.down ? -1 : 1;
    keyed.sort((one, other) => (one[0] < other[0] ? -order : one[0] > other[0] ? order : one[1] - other[1]));
    table.shown = keyed.map((entry) => entry[2]);
  }
  table.body.textContent = "";
  table.drawn = 0;
  table.links = [];
  table.element.setAttribute("aria-rowcount", String(table.shown.length + 1));
  const noun = isComparison ? "pairs" : "samples";
  const missed = table.shown.filter((row) => (isComparison ? row.flip : row.miss)).length;
  document.getElementById("count").textContent = `${number(table.shown.length)} of ${number(table.rows.length)} ${noun}, ${number(missed)} ${isComparison ? "flipped" : "with a miss"}`;
  more();
}

function more() {
  if (table.drawn >= table.shown.length) return false;
  const piece = document.createDocumentFragment();
  for (const row of table.shown.slice(table.drawn, table.drawn + PIECE)) {
    table.drawn += 1;
    const cells = table.columns.map((column) => h(column.head ? "th" : "td", { scope: column.head ? "row" : null, class: [column.minor && "minor", column.number && "figure"].filter(Boolean).join(" ") || null }, column.cell(row)));
    const line = h("tr", { "aria-rowindex": table.drawn + 1, class: row.miss ? "miss" : null }, cells);
    table.links.push(line.querySelector(".row-link"));
    piece.append(line);
  }
  table.body.append(piece);
  return true;
}

// From the row that has the focus to one before or after it.
function step(by) {
  const now = table.links.indexOf(document.activeElement);
  const next = now === -1 ? (by > 0 ? 0 : table.links.length - 1) : now + by;
  while (next >= table.links.length && more());
  const found = table.links[Math.min(Math.max(next, 0), table.links.length - 1)];
  if (found) {
    found.focus({ preventScroll: true });
    found.scrollIntoView({ block: "nearest" });
  }
}
