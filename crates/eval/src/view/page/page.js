// The page itself: head, figures, theme, keys and links.

function drawHead() {
  const title = isComparison ? `${runs[0].label} against ${runs[1].label}` : runs[0].label;
  document.getElementById("title").append(isComparison ? "Comparison: " : "Run: ", name(title));
  const about = document.getElementById("about");
  document.getElementById("about-title").textContent = isComparison ? "Runs" : "Run";
  for (const verdict of content.verdicts) {
    about.append(h("p", { class: `verdict ${verdict.tone}` }, h("strong", null, { better: "▲ ", worse: "▼ ", noise: "≈ ", plain: "" }[verdict.tone]), verdict.text));
  }
  for (const note of content.notes) about.append(h("p", { class: "note warning" }, h("strong", null, "Note: "), note));
  about.append(h("div", { class: "runs" }, runs.map(runCard)));
}

function runCard(run) {
  const entries = [
    ["Begun", moment(run.created)],
    ["State", run.complete ? "complete" : "incomplete: it did not run to its end"],
    ["Samples", `${number(run.samples.length)}: ${counted(run.fixtures.length, "fixture")}, ${counted(run.arms.length, "arm")}, ${counted(run.repeats, "repeat")}`],
    ["Excluded", number(run.samples.filter((sample) => sample.excluded).length)],
    ["Target", run.target],
    ["Cost", run.cost ?? "not recorded here"],
    ...run.models.map((model) => [model.part, [name(model.name), " ", h("span", { class: "sub" }, name(model.id), " at ", name(model.url))]]),
    run.focus && ["Focus", run.focus],
    run.scored_from && ["Scored anew from", run.scored_from],
  ].filter(Boolean);
  const digest = (title, value) => h("tr", null, h("th", { scope: "row" }, name(title)), h("td", { class: "digest" }, name(value)));
  const digests = h("table", { class: "plain" }, h("tbody", null,
    run.fixtures.map((fixture) => [digest(`fixture ${fixture.name}`, fixture.digest), digest(`probes of ${fixture.name}`, fixture.probes_digest)]).flat(),
    run.arms.map((arm) => digest(`arm ${arm.name}`, arm.digest)),
    run.prompts.map(([title, value]) => digest(`prompt ${title}`, value))));
  return h("div", { class: "card" },
    isComparison ? h("h3", null, `${LETTERS[run.place]}: `, name(run.label)) : null,
    h("dl", { class: "facts-list" }, entries.map(([term, value]) => h("div", null, h("dt", null, term), h("dd", null, value)))),
    h("details", null, h("summary", null, "Digests, tokenizer and seed"), h("p", null, `Program ${run.program}, tokenizer ${run.tokenizer}, seed ${run.seed}.`), h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Digests" }, digests)));
}

function drawFigures() {
  const place = document.getElementById("figures");
  const part = (title, says, ...children) => place.append(h("section", { class: "figure-part", "aria-label": title }, h("h3", null, title), h("p", { class: "sub" }, says), ...children.flat()));
  const arms = runs[0].arms;
  if (isComparison) {
    const { dimensions, kinds } = content.comparison;
    part("Differences, B minus A", "Over probes that both runs have; means over repeats, 95 % intervals clustered by fixture. Right of zero: B is better.", panels(dimensions, arms), panelTable(dimensions, arms));
    part("Differences by type of probe", kinds.length ? "The first measure above, by what the probe asks for." : "", panels(kinds, arms), panelTable(kinds, arms));
    part("Tokens and facts", "Each arm’s states in both runs: up and to the left is better.", h("div", { class: "side-by-side" }, runs.map((run) => h("div", null, h("h4", null, `${LETTERS[run.place]}: `, name(run.label)), tradeoff(run.figures.tradeoff, run.arms)))));
    return;
  }
  const run = runs[0];
  const { dimensions, kinds, tradeoff: points } = run.figures;
  if (!run.samples.length) return place.append(h("p", { class: "note" }, "There are no samples yet."));
  part(run.isJudged ? "Scores" : "Facts that are there", "Means over all samples of an arm, 95 % intervals clustered by fixture. Hollow marks are controls.", panels(dimensions, arms), panelTable(dimensions, arms));
  if (points.length) part("Tokens and facts", "What an arm leaves of a fixture’s tokens, and of the facts that its probes expect: up and to the left is better.", tradeoff(points, arms));
  part("Fixtures and arms", "Means; a cell leads to its samples.", heatMap(run, pick));
  part("By type of probe", `${kinds.length ? kinds[0].measure : ""}, by what the probe asks for.`, panels(kinds, arms), panelTable(kinds, arms));
}

const KEYS = [
  ["/", "search"],
  ["j, ↓", "next row; in an open probe the next one"],
  ["k, ↑", "previous row"],
  ["Enter", "open the row"],
  ["Esc", "close"],
  ["m", "only misses, on and off"],
  ["t", "light and dark"],
  ["?", "these keys"],
];

function drawKeys() {
  const keys = document.getElementById("keys");
  keys.append(h("h2", { id: "keys-title" }, "Keys"), h("dl", null, KEYS.map(([key, says]) => h("div", null, h("dt", null, h("kbd", null, key)), h("dd", null, says)))),
    h("button", { type: "button", onclick: () => keys.close() }, "Close"));
  document.getElementById("show-keys").addEventListener("click", () => keys.showModal());
}

// Where the focus was when the sheet opened, to go back there.
let opener = null;

function route() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const isSheet = wanted.has("state") || wanted.has("probe");
  if (isSheet && !sheet.open) opener = document.activeElement;
  if (wanted.has("state")) openState(wanted);
  else if (wanted.has("probe")) openProbe(wanted);
  else if (sheet.open) {
    sheet.close();
    if (opener && opener.isConnected) opener.focus({ preventScroll: true });
  }
}

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.getElementById("keys").open) return;
  const { target, key } = event;
  const isTyping = target.matches("input[type=search], select, textarea");
  if (key === "Escape" && isTyping && !sheet.open) return target.blur();
  if (isTyping) return;
  const isInTable = target.classList.contains("row-link");
  const inSheet = (label) => { const button = sheet.querySelector(`[aria-label="${label}"]`); if (button && !button.disabled) button.click(); };
  const deeds = {
    "/": () => { if (!sheet.open) document.getElementById("filter-words").focus(); },
    j: () => (sheet.open ? inSheet("Next row") : step(1)),
    k: () => (sheet.open ? inSheet("Previous row") : step(-1)),
    m: () => { if (!sheet.open) document.getElementById("filter-misses").click(); },
    t: theme.turn,
    "?": () => document.getElementById("keys").showModal(),
  };
  if (isInTable && !sheet.open) Object.assign(deeds, { ArrowDown: deeds.j, ArrowUp: deeds.k });
  if (!deeds[key]) return;
  event.preventDefault();
  deeds[key]();
}

drawHead();
drawFigures();
drawFilters();
drawTable();
drawKeys();
document.getElementById("foot").append("One file, no network: everything here stands in it.");
document.addEventListener("keydown", press);
sheet.addEventListener("cancel", (event) => { event.preventDefault(); closeSheet(); });
// A browser may close a dialog without asking: the address follows.
sheet.addEventListener("close", () => { if (/[#&](state|probe)=/.test(location.hash)) closeSheet(); });
addEventListener("hashchange", route);
route();
document.documentElement.dataset.ready = "yes";
