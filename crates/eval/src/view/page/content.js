// The content of the page, and the ways to look things up in it.

const content = JSON.parse(document.getElementById("content").textContent);
const runs = content.runs;
const isComparison = runs.length === 2;
const LETTERS = ["A", "B"];
const DIMENSIONS = ["Accuracy", "Context", "Artifact", "Complete", "Continuity", "Instruction"];

const keyOf = (...parts) => parts.join("\u0000");

runs.forEach((run, place) => {
  run.place = place;
  run.isJudged = run.samples.some((sample) => sample.scores);
  run.isAnswered = run.samples.some((sample) => sample.answer !== undefined);
  run.probeAt = new Map();
  run.stateAt = new Map();
  run.armAt = new Map(run.arms.map((arm, index) => [arm.name, index]));
  run.probes.forEach((probe) => {
    probe.fixtureName = run.fixtures[probe.fixture].name;
    probe.samples = [];
    run.probeAt.set(keyOf(probe.fixtureName, probe.id), probe);
  });
  run.states.forEach((state) => run.stateAt.set(keyOf(run.fixtures[state.fixture].name, run.arms[state.arm].name, state.repeat), state));
  run.samples.forEach((sample) => {
    sample.run = run;
    sample.of = run.probes[sample.probe];
    sample.armName = run.arms[sample.arm].name;
    sample.of.samples.push(sample);
  });
});

const textOf = (place) => (place === undefined || place === null ? null : content.texts[place]);

// The grade that counts: the answer's, or the state's where nothing was answered.
const gradeOf = (sample) => sample.graded || sample.state;

const foundIn = (grade) => grade.found.split("1").length - 1;

const recallOf = (grade) => (grade.found.length ? foundIn(grade) / grade.found.length : 1);

const isClean = (grade) => !/[^1]/.test(grade.found) && !grade.stale && !grade.leaks;

const isMiss = (sample) => Boolean(sample.excluded) || !isClean(gradeOf(sample));

const overall = (sample) => (sample.scores ? mean(sample.scores.filter((score) => score !== null)) : null);

// What people may search for in a sample; made when it is first asked for.
function wordsOf(sample) {
  if (sample.words === undefined) {
    const probe = sample.of;
    const facts = probe.facts.concat(probe.stale).map((fact) => fact.fact);
    const said = [textOf(sample.answer), textOf(sample.reason), sample.searched, sample.excluded];
    sample.words = [probe.fixtureName, probe.id, probe.kind, sample.armName, probe.question, ...facts, ...said].filter(Boolean).join("\n").toLowerCase();
  }
  return sample.words;
}

// Where the page stands, as a hash: everything in it is encoded.
function link(fields) {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  return "#" + new URLSearchParams(kept.map(([key, value]) => [key, String(value)])).toString();
}

const probeLink = (probe, arm, repeat) => link({ probe: probe.id, fixture: probe.fixtureName, arm, repeat });
