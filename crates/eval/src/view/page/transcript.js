// A fixture before and after: what became of each message, and where facts stand.

const FATES = { k: ["kept", "✓"], s: ["shortened", "✂"], d: ["dropped", "✕"] };

function openState(wanted) {
  const run = runs[isComparison && wanted.get("run") === "B" ? 1 : 0];
  const [fixtureName, armName, repeat] = [wanted.get("fixture") || "", wanted.get("state"), Number(wanted.get("repeat") || 1)];
  const fixture = run.fixtures.find((each) => each.name === fixtureName);
  const state = run.stateAt.get(keyOf(fixtureName, armName, repeat));
  if (!fixture || !state) return showSheet(sheetHead("No such state", "The link names a state that is not in this page.", null));
  const probe = run.probeAt.get(keyOf(fixtureName, wanted.get("probe") || ""));
  const facts = probe ? probe.facts.concat(probe.stale.map((fact) => ({ ...fact, isStale: true }))) : [];
  const marked = pattern(facts);
  const back = probe && h("a", { class: "button", href: probeLink(probe, armName, repeat) }, "Answers");
  const before = columnOf("Before", (fixture.before || []).map((message, place) => messageBox(message, `before-${place}`, marked, beforeNotes(state, place))), fixture.before ? null : "The fixture’s messages are not in this page.");
  const after = columnOf("After", (state.after || []).map((message, place) => messageBox(message, `after-${place}`, marked, afterNotes(state, message), message.from === null ? "block" : "")), state.after ? null : "This state is left out of the page for its size.");
  showSheet(
    sheetHead([armKey(run.arms[state.arm], state.arm), " before and after"], [name(fixtureName), isComparison ? ` · run ${LETTERS[run.place]}` : ""], back),
    stateChoices(run, wanted, fixtureName, armName, repeat, probe),
    passes(state),
    facts.length ? places(facts, fixture, state) : null,
    legend(state),
    h("div", { class: "two" }, before, after),
  );
  if (wanted.get("message")) goTo(`before-${wanted.get("message")}`, true);
}

function stateChoices(run, wanted, fixtureName, armName, repeat, probe) {
  const go = (change) => { location.hash = link({ state: armName, fixture: fixtureName, repeat, probe: probe && probe.id, run: wanted.get("run"), ...change }); };
  const choice = (title, values, shown, now, change) => h("label", null, title + " ", h("select", { onchange: (event) => go(change(values[Number(event.target.value)])) },
    values.map((value, place) => h("option", { value: place, selected: value === now }, clip(shown(value), 40)))));
  const fixtures = run.fixtures.map((each) => each.name);
  const arms = run.arms.map((each) => each.name).filter((each) => run.stateAt.has(keyOf(fixtureName, each, repeat)) || each === armName);
  const repeats = run.states.filter((state) => run.fixtures[state.fixture].name === fixtureName && run.arms[state.arm].name === armName).map((state) => state.repeat);
  const probes = [""].concat(run.probes.filter((each) => each.fixtureName === fixtureName).map((each) => each.id));
  return h("form", { class: "filters", onsubmit: (event) => event.preventDefault() },
    isComparison && choice("Run", LETTERS, (value) => `${value}: ${runs[LETTERS.indexOf(value)].label}`, LETTERS[run.place], (value) => ({ run: value })),
    choice("Fixture", fixtures, (value) => value, fixtureName, (value) => ({ fixture: value, probe: undefined })),
    choice("Arm", arms, (value) => value, armName, (value) => ({ state: value })),
    choice("Repeat", repeats, String, repeat, (value) => ({ repeat: value })),
    choice("Mark facts of", probes, (value) => value || "no probe", probe ? probe.id : "", (value) => ({ probe: value || undefined })));
}

function passes(state) {
  const [before, after] = state.tokens;
  const head = h("p", null, h("strong", null, `${number(before)} → ${number(after)} tokens`), before ? `, ${percent(after / before)} are left` : "");
  const rows = state.passes.map((pass) => h("li", null, `after ${number(pass.messages)} messages: ${number(pass.tokens_before)} → ${number(pass.tokens_after)} tokens by `, name(pass.made), pass.remarks.map((remark) => ["; ", name(remark)]).flat()));
  return h("section", { "aria-label": "Compactions" }, head, rows.length ? h("ol", { class: "passes" }, rows) : null,
    state.flaws.length ? h("p", { class: "verdict-line bad" }, h("strong", null, "A provider would refuse it: "), state.flaws.map((flaw, index) => [index ? "; " : "", name(flaw)]).flat()) : null);
}

// Where each fact stands: its span, and every message that has it.
function places(facts, fixture, state) {
  const rows = facts.map((fact) => {
    const one = pattern([fact]);
    const holders = (messages, side) => (messages || []).map((message, place) => (one && textOf(message.text) !== null && textOf(message.text).search(one) !== -1 ? `${side}-${place}` : null)).filter(Boolean);
    const [before, after] = [holders(fixture.before, "before"), holders(state.after, "after")];
    const jumps = (ids) => ids.length ? ids.slice(0, 12).map((id) => [h("button", { type: "button", class: "jump", "aria-label": `Go to message ${id.split("-")[1]} ${id.split("-")[0]}`, onclick: () => goTo(id, true) }, "#" + id.split("-")[1]), " "]).flat().concat(ids.length > 12 ? `and ${ids.length - 12} more` : "") : "nowhere";
    const span = fact.span ? h("button", { type: "button", class: "jump", onclick: () => goTo(`before-${fact.span[0]}`, true) }, fact.span[0] === fact.span[1] ? `#${fact.span[0]}` : `#${fact.span[0]}–${fact.span[1]}`) : "–";
    return h("tr", null, h("th", { scope: "row" }, fact.isStale && h("span", { class: "badge bad" }, "stale"), " ", name(fact.fact)), h("td", null, span), h("td", null, jumps(before)), h("td", null, jumps(after)));
  });
  const head = h("tr", null, ["Fact", "Span", "Before in", "After in"].map((title) => h("th", { scope: "col" }, title)));
  return h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Where facts stand" }, h("table", { class: "plain facts" }, h("thead", null, head), h("tbody", null, rows)));
}

function legend(state) {
  const count = (letter) => state.fates.split(letter).length - 1;
  return h("p", { class: "legend" }, Object.entries(FATES).map(([letter, [word, mark]]) => h("span", { class: `fate ${word}` }, `${mark} ${word} ${number(count(letter))}`)),
    state.after ? h("span", { class: "fate block" }, `■ stands for others ${number(state.after.filter((message) => message.from === null).length)}`) : null);
}

function columnOf(title, boxes, note) {
  return h("section", { class: "column", tabindex: "0", "aria-label": title }, h("h3", null, `${title}, ${number(boxes.length)} messages`), note && h("p", { class: "note" }, note), boxes);
}

function beforeNotes(state, place) {
  const fate = FATES[state.fates[place]];
  const target = (state.after || []).findIndex((message) => message.from === place);
  return [fate ? h("span", { class: `fate ${fate[0]}` }, `${fate[1]} ${fate[0]}`) : h("span", { class: "fate" }, "? fate unknown"), target !== -1 && jump(`after-${target}`, `→ #${target}`)];
}

function afterNotes(state, message) {
  if (message.from === null) return [h("span", { class: "fate block" }, "■ stands for others")];
  const fate = FATES[state.fates[message.from]];
  return [fate && h("span", { class: `fate ${fate[0]}` }, `${fate[1]} ${fate[0]}`), jump(`before-${message.from}`, `← #${message.from}`)];
}

function jump(id, shown) {
  return h("button", { type: "button", class: "jump", "aria-label": `Go to message ${id.split("-")[1]} ${id.split("-")[0]}`, onclick: () => goTo(id) }, shown);
}

function messageBox(message, id, marked, notes, extra) {
  const text = textOf(message.text);
  const place = id.split("-")[1];
  const fate = notes.find((note) => note && note.classList && note.classList.contains("fate"));
  const kind = fate ? fate.className.replace("fate", "").trim() : "";
  const body = text === null ? h("p", { class: "note" }, "Left out of the page for its size.") : folded(text, marked);
  return h("article", { class: `message ${kind} ${extra || ""}`, id, tabindex: "-1" },
    h("header", null, h("strong", null, `#${place} `), name(message.role), h("span", { class: "sub" }, ` ${number(message.tokens)} tokens `), notes), body);
}

function goTo(id, showsFact) {
  const box = document.getElementById(id);
  if (!box) return;
  const folding = box.querySelector(".folding");
  if (showsFact && folding) folding.unfold();
  sheet.querySelectorAll(".message.here").forEach((other) => other.classList.remove("here"));
  box.classList.add("here");
  box.focus({ preventScroll: true });
  const mark = showsFact ? box.querySelector("mark") : null;
  (mark || box).scrollIntoView({ block: mark ? "center" : "start" });
}
