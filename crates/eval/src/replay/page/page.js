// One profile and one session at a time. Without this script all of them are shown, one after another.

const chosen = { profile: 0, session: 0 };

function show() {
  for (const part of ["profile", "session"]) {
    for (const element of document.querySelectorAll(`[data-${part}]`)) element.hidden = Number(element.dataset[part]) !== chosen[part];
  }
  const profile = document.getElementById("profile");
  if (profile) profile.value = String(chosen.profile);
  for (const choice of document.querySelectorAll(".session-choice")) choice.value = String(chosen.session);
}

// The address names what is shown, so that it can be passed on: numbers, never names.
function choose(part, value) {
  chosen[part] = Number(value);
  show();
  history.replaceState(null, "", `#profile=${chosen.profile + 1}&session=${chosen.session + 1}`);
}

function route() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  for (const part of ["profile", "session"]) {
    const place = Number(wanted.get(part)) - 1;
    if (document.querySelector(`[data-${part}="${Math.trunc(place)}"]`)) chosen[part] = Math.trunc(place);
  }
  show();
}

for (const element of document.querySelectorAll(".only-script")) element.hidden = false;
document.getElementById("profile")?.addEventListener("change", (event) => choose("profile", event.target.value));
for (const choice of document.querySelectorAll(".session-choice")) choice.addEventListener("change", (event) => choose("session", event.target.value));
addEventListener("hashchange", route);
route();
document.documentElement.dataset.ready = "yes";
