// What opens over the page: one probe with all its answers, or one fixture before and after.

const sheet = document.getElementById("sheet");

function sheetHead(title, sub, steps) {
  const close = h("button", { type: "button", class: "close", onclick: closeSheet }, "Close ", h("kbd", { "aria-hidden": "true" }, "Esc"));
  return h("header", { class: "sheet-head" }, h("div", null, h("h2", { id: "sheet-title", tabindex: "-1" }, title), h("p", { class: "sub" }, sub)), h("div", { class: "tools" }, steps, close));
}

function showSheet(...children) {
  sheet.replaceChildren(...children.flat());
  if (!sheet.open) sheet.showModal();
  sheet.scrollTop = 0;
  sheet.querySelector("h2").focus({ preventScroll: true });
}

function closeSheet() {
  if (location.hash.length > 1) history.pushState(null, "", location.pathname + location.search);
  route();
}

// The columns of a probe's answers: the arms of a run, or each arm in both runs.
function columnsFor(arm) {
  const names = runs[0].arms.map((each) => each.name).concat(isComparison ? runs[1].arms.map((each) => each.name) : []);
  const wanted = [...new Set(names)].filter((each) => !arm || each === arm);
  return wanted.flatMap((each) => runs.filter((run) => run.armAt.has(each)).map((run) => ({ run, arm: each, index: run.armAt.get(each) })));
}

function columnTitle(column) {
  const label = armKey(column.run.arms[column.index], isComparison ? runs[0].armAt.get(column.arm) ?? column.index : column.index);
  return [label, isComparison && h("span", { class: "side" }, LETTERS[column.run.place])];
}

function openProbe(wanted) {
  const found = runs.map((run) => run.probeAt.get(keyOf(wanted.get("fixture") || "", wanted.get("probe"))));
  const probe = found.find(Boolean);
  if (!probe) return showSheet(sheetHead("No such probe", "The link names a probe that is not in this page.", null));
  // A pair is looked at by itself; a single run's arms all stand beside each other.
  const arm = wanted.get("only") ?? (isComparison ? wanted.get("arm") : null);
  const columns = columnsFor(arm).filter((column) => found[column.run.place]);
  const at = table.shown.findIndex((row) => row.of.id === probe.id && row.fixtureName === probe.fixtureName && row.armName === wanted.get("arm") && (isComparison || String(row.repeat) === wanted.get("repeat")));
  const marked = pattern(probe.facts.concat(probe.stale));
  showSheet(
    sheetHead(name(probe.id), [name(probe.fixtureName), ` · ${probe.kind}`], steps(at)),
    h("section", { "aria-label": "Question", class: "question" }, h("h3", null, "Question"), probe.question === undefined ? h("p", { class: "note" }, "The question is not in the run.") : folded(probe.question)),
    h("section", { "aria-label": "Facts" }, h("h3", null, "Facts"), factTable(probe, found, columns)),
    h("section", { "aria-label": "Answers" }, h("div", { class: "line" }, h("h3", null, runs.some((run) => run.isAnswered) ? "Answers" : "States"), armChoice(probe, wanted, arm)), answers(found, columns, marked, wanted)),
  );
  const chosen = sheet.querySelector(".answer.chosen");
  if (chosen && !isComparison) chosen.closest(".wide").scrollLeft = Math.max(0, chosen.offsetLeft - 40);
}

function steps(at) {
  if (at === -1) return null;
  const to = (place, title, mark) => h("button", { type: "button", disabled: !table.shown[place], "aria-label": title, onclick: () => { location.hash = table.shown[place].href; } }, mark);
  return [to(at - 1, "Previous row", "‹"), h("span", { class: "sub" }, `${number(at + 1)} of ${number(table.shown.length)}`), to(at + 1, "Next row", "›")];
}

function armChoice(probe, wanted, arm) {
  const names = [...new Set(runs.flatMap((run) => run.arms.map((each) => each.name)))];
  const choice = h("select", { id: "sheet-arm", onchange: (event) => {
    const place = Number(event.target.value);
    location.hash = link({ probe: probe.id, fixture: probe.fixtureName, arm: wanted.get("arm"), repeat: wanted.get("repeat"), only: place < 0 ? "" : names[place] });
  } }, h("option", { value: -1 }, "all arms"), names.map((each, place) => h("option", { value: place, selected: each === arm }, clip(each, 40))));
  return h("label", null, "Show ", choice);
}

function factTable(probe, found, columns) {
  const all = probe.facts.map((fact, place) => ({ fact, place, isStale: false })).concat(probe.stale.map((fact, place) => ({ fact, place, isStale: true })));
  if (!all.length) return h("p", { class: "note" }, "The probe expects no facts.");
  const head = h("tr", null, h("th", { scope: "col" }, "Fact"), h("th", { scope: "col" }, "Stands in"), columns.map((column) => h("th", { scope: "col" }, columnTitle(column))));
  const rows = all.map(({ fact, place, isStale }) => h("tr", { class: isStale ? "stale" : null },
    h("th", { scope: "row" }, isStale && h("span", { class: "badge bad" }, "stale"), " ", name(fact.fact), fact.forms.length > 1 && h("span", { class: "sub" }, "or ", fact.forms.slice(1).map((form, index) => [index ? ", " : "", name(form)]).flat())),
    h("td", null, spanLink(probe, fact)),
    columns.map((column) => {
      const samples = found[column.run.place].samples.filter((sample) => sample.armName === column.arm);
      return h("td", null, isStale ? staleCell(samples, fact) : factCell(samples, place));
    })));
  return h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Facts by arm" }, h("table", { class: "plain facts" }, h("thead", null, head), h("tbody", null, rows)));
}

function spanLink(probe, fact) {
  if (!fact.span) return "–";
  const [first, last] = fact.span;
  const shown = first === last ? `message ${first}` : `messages ${first} to ${last}`;
  const arm = runs[0].arms.find((each) => runs[0].stateAt.has(keyOf(probe.fixtureName, each.name, 1)));
  return arm ? h("a", { href: link({ state: arm.name, fixture: probe.fixtureName, repeat: 1, probe: probe.id, message: first }) }, shown) : shown;
}

function factCell(samples, place) {
  const line = (title, grades) => grades.length ? h("div", { class: "mark-line" }, h("span", { class: "sub" }, title + " "), share(grades.filter((grade) => grade.found[place] === "1").length, grades.length)) : null;
  return [line("state", samples.map((sample) => sample.state)), line("answer", samples.map((sample) => sample.graded).filter(Boolean))];
}

function staleCell(samples, fact) {
  const line = (title, grades) => {
    if (!grades.length) return null;
    const given = grades.filter((grade) => (grade.stale || []).includes(fact.fact)).length;
    return h("div", { class: given ? "mark-line bad" : "mark-line" }, h("span", { class: "sub" }, title + " "), given ? `✕ given ${given}/${grades.length}` : `✓ not given`);
  };
  return [line("state", samples.map((sample) => sample.state)), line("answer", samples.map((sample) => sample.graded).filter(Boolean))];
}

function answers(found, columns, marked, wanted) {
  const repeats = Math.max(1, ...runs.map((run) => run.repeats));
  const head = h("tr", null, h("th", { scope: "col", class: "narrow-cell" }, "Repeat"), columns.map((column) => h("th", { scope: "col" }, columnTitle(column))));
  const rows = [];
  for (let repeat = 1; repeat <= repeats; repeat += 1) {
    const samples = columns.map((column) => found[column.run.place].samples.find((sample) => sample.repeat === repeat && sample.armName === column.arm));
    // A run that says it has a billion repeats has rows for those that are there.
    if (samples.some(Boolean)) rows.push(h("tr", null, h("th", { scope: "row", class: "narrow-cell" }, String(repeat)), samples.map((sample, place) => h("td", null, sample ? answerCell(sample, marked, wanted) : h("p", { class: "note" }, `${columns[place].arm}: no sample`)))));
    else if (repeat > 1000) break;
  }
  return h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Answers by arm and repeat" }, h("table", { class: `answers columns-${Math.min(columns.length, 3)}` }, h("thead", null, head), h("tbody", null, rows)));
}

function answerCell(sample, marked, wanted) {
  const { run } = sample;
  const isChosen = sample.armName === wanted.get("arm") && String(sample.repeat) === wanted.get("repeat");
  const column = { run, arm: sample.armName, index: sample.arm };
  const answer = textOf(sample.answer);
  const grade = gradeOf(sample);
  const missing = sample.of.facts.filter((fact, place) => grade.found[place] !== "1").map((fact) => fact.fact);
  const listed = (facts) => facts.map((fact, index) => [index ? ", " : "", name(fact)]).flat();
  const hasState = run.stateAt.has(keyOf(sample.of.fixtureName, sample.armName, sample.repeat));
  return h("article", { class: isChosen ? "answer chosen" : "answer" },
    h("p", { class: "answer-head" }, h("span", { class: "only-narrow" }, columnTitle(column), ` repeat ${sample.repeat} `), gradeCell(grade), " ", marks(sample),
      hasState && h("a", { href: link({ state: sample.armName, fixture: sample.of.fixtureName, repeat: sample.repeat, probe: sample.of.id, run: isComparison ? LETTERS[run.place] : undefined }) }, "before and after")),
    sample.searched !== undefined && h("p", { class: "sub" }, "searched for ", name(sample.searched)),
    answer === null ? null : folded(answer, marked),
    sample.answerLeftOut && h("p", { class: "note" }, "The answer is left out of this page for its size."),
    missing.length > 0 && h("p", { class: "verdict-line" }, h("strong", null, "missing: "), listed(missing)),
    grade.stale && h("p", { class: "verdict-line bad" }, h("strong", null, "stale, given as current: "), listed(grade.stale)),
    grade.leaks && h("p", { class: "verdict-line bad" }, h("strong", null, "shown secrets: "), listed(grade.leaks)),
    sample.excluded && h("p", { class: "verdict-line bad" }, h("strong", null, "excluded: "), name(sample.excluded)),
    sample.scores && judgeBlock(sample));
}

function judgeBlock(sample) {
  const entries = sample.scores.map((score, place) => [h("dt", null, DIMENSIONS[place]), h("dd", null, figure(score, Number.isInteger(score) ? 0 : 1))]);
  const reason = textOf(sample.reason);
  return h("div", { class: "judge" }, h("p", { class: "sub" }, `Judge: ${figure(overall(sample))} of 5`), h("dl", null, entries.map((entry) => h("div", null, entry))), reason && folded(reason));
}
