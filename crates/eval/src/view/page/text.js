// Text of unknown origin into the page: always as text nodes, with everything visible that would hide or move something.

const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\r(?!\n)|[\u{e0000}-\u{e0fff}]|\p{Cs}/gu;

// So much of a long text is shown before it is asked for: about what fits a column without scrolling.
const FOLD_CHARACTERS = 700;
const FOLD_LINES = 12;

function spelled(character) {
  const code = character.codePointAt(0);
  const hex = code.toString(16);
  if (code < 0x100) return "\\x" + hex.padStart(2, "0");
  return code < 0x10000 ? "\\u" + hex.padStart(4, "0") : "\\u{" + hex + "}";
}

function visible(text) {
  return String(text).replace(CONTROL, spelled);
}

function write(parent, text) {
  let from = 0;
  for (const match of text.matchAll(CONTROL)) {
    if (match.index > from) parent.append(text.slice(from, match.index));
    const code = document.createElement("span");
    code.className = "control";
    code.textContent = spelled(match[0]);
    parent.append(code);
    from = match.index + match[0].length;
  }
  if (from < text.length) parent.append(text.slice(from));
}

// An element. Attribute names are ours; strings among the children become visible text, never markup.
function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : visible(value));
  }
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    if (child instanceof Node) element.append(child);
    else write(element, String(child));
  }
  return element;
}

// A name from the run: kept apart from the text around it, whichever direction it runs in.
function name(text) {
  return h("bdi", null, text);
}

// Facts in all their forms, as they may stand in a text: case and white space do not matter.
function pattern(facts) {
  const escaped = (form) => form.trim().split(/\s+/).map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("\\s+");
  const forms = facts.flatMap((fact) => fact.forms).filter((form) => form.trim() && form.length < 2000);
  if (!forms.length) return null;
  return new RegExp(forms.sort((one, other) => other.length - one.length).map(escaped).join("|"), "giu");
}

function writeMarked(parent, text, marks) {
  if (!marks) return write(parent, text);
  let from = 0;
  for (const match of text.matchAll(marks)) {
    if (!match[0].length) continue;
    write(parent, text.slice(from, match.index));
    const mark = document.createElement("mark");
    write(mark, match[0]);
    parent.append(mark);
    from = match.index + match[0].length;
  }
  write(parent, text.slice(from));
}

function foldAt(text) {
  let end = Math.min(text.length, FOLD_CHARACTERS);
  let lines = 0;
  for (let at = text.indexOf("\n"); at !== -1 && at < end; at = text.indexOf("\n", at + 1)) {
    lines += 1;
    if (lines === FOLD_LINES) end = at;
  }
  // A little more than fits is shown whole: a button would take its place.
  if (text.length - end < FOLD_CHARACTERS / 4) return text.length;
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last < 0xdc00 ? end - 1 : end;
}

// A text that folds when it is long. `unfold` on the element shows it whole.
function folded(text, marks) {
  const body = h("div", { class: "text", dir: "auto" });
  const box = h("div", { class: "folding" }, body);
  const end = foldAt(text);
  if (end === text.length) {
    writeMarked(body, text, marks);
    box.unfold = () => {};
    return box;
  }
  const button = h("button", { type: "button", class: "fold", onclick: () => turn(!open) });
  let open = true;
  function turn(whole) {
    if (whole === open) return;
    open = whole;
    body.textContent = "";
    writeMarked(body, whole ? text : text.slice(0, end) + " …", marks);
    button.textContent = whole ? "Show less" : `Show all ${number(text.length)} characters`;
    button.setAttribute("aria-expanded", String(whole));
  }
  turn(false);
  box.append(button);
  box.unfold = () => turn(true);
  return box;
}

function number(value) {
  return Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, ",");
}

function counted(count, noun) {
  return `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
}

function figure(value, digits = 2) {
  return value === null || value === undefined ? "–" : value.toFixed(digits);
}

function signed(value, digits = 2) {
  return value === null || value === undefined ? "–" : (value > 0 ? "+" : value < 0 ? "−" : "±") + Math.abs(value).toFixed(digits);
}

function percent(share) {
  if (share === null || share === undefined) return "–";
  const value = share * 100;
  return (value > 0 && value < 10 ? value.toFixed(1) : Math.round(value)) + " %";
}

function mean(values) {
  return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
}

function moment(milliseconds) {
  // The range of dates there are.
  return Math.abs(milliseconds) < 8.64e15 ? new Date(milliseconds).toISOString().slice(0, 16).replace("T", " ") + " UTC" : "–";
}
