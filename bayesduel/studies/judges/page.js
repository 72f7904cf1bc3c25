"use strict";
// What is shown is always what the server said last; every request may be sent again.

const KEYS = {
  ArrowLeft: "left", h: "left", 1: "left",
  ArrowRight: "right", l: "right", 2: "right",
  t: "tie", "=": "tie", s: "skip", u: "undo", Backspace: "undo",
};
// The second half of a double click must not answer the question that comes next.
const STILL_MS = 350;
const RETRY_MS = 1000;
const REST_MS = 5000;
const SPOKEN = 200;

const find = (id) => document.getElementById(id);
let judge = document.body.dataset.judge
  || new URLSearchParams(location.search).get("judge") || "";
let state = null;
let busy = true;
let readyAt = Infinity;
let resting = 0;

const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

function say(text, wrong = false) {
  find("note").textContent = text;
  find("note").className = (wrong ? "wrong " : "") + (find("pair").hidden ? "alone" : "");
}

// Sends until there is an answer: what is stored already is not stored again.
async function send(what, body) {
  for (;;) {
    let reply = null;
    try {
      reply = await fetch(what, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ judge, ...body }),
      });
      if (reply.status !== 503 && reply.status !== 429) {
        return reply.ok || reply.status === 409 ? await reply.json()
          : { gone: reply.status === 404, error: (await reply.text()) || "refused" };
      }
    } catch { /* The server is away, or its reply was cut. */ }
    const why = reply === null ? "The server does not answer." : await reply.text();
    say(`${why} Nothing is lost; trying again …`, true);
    await pause(RETRY_MS);
  }
}

async function act(what, body = {}) {
  clearTimeout(resting);
  busy = true;
  enable();
  // The first question of a policy may have to wait for a compiler.
  if (state === null) say("Finding a question …");
  const found = await send(what, body);
  if (found.gone || found.error) {
    state = null;
    show({ question: null });
    say(found.gone ? "This address is no longer valid; ask for the new one."
      : found.error, true);
    if (!found.gone && !document.body.dataset.judge) askName();
    return;
  }
  state = found;
  await show(found);
  say(found.note || found.resting, Boolean(found.note));
  if (found.question === null) resting = setTimeout(() => act("question"), REST_MS);
  busy = false;
  readyAt = performance.now() + STILL_MS;
  setTimeout(enable, STILL_MS + 20);
}

function enable() {
  const wait = busy || performance.now() < readyAt;
  for (const button of document.querySelectorAll("footer button")) {
    // Not `disabled`: the focus would be lost with it.
    button.setAttribute("aria-disabled", wait || (button.id === "undo"
      ? state.last === null : state.question === null));
  }
}

function element(kind, kind_of, text) {
  const made = document.createElement(kind);
  made.className = kind_of;
  made.textContent = text;
  return made;
}

// What is read aloud: a long text would not end.
function what(arm) {
  return arm.name ?? arm.text?.slice(0, SPOKEN) ?? "an image";
}

async function fill(side, arm) {
  const parts = [];
  let loaded = null;
  if (arm.image) {
    const image = element("img", "", "");
    image.alt = side;
    image.src = arm.image;
    loaded = image.decode().catch(() => {
      image.replaceWith(element("p", "label", "This image cannot be shown."));
    });
    parts.push(image);
  }
  if (arm.text !== null) parts.push(element("p", "text", arm.text));
  if (arm.name !== null) parts.push(element("p", "label", arm.name));
  find(side).replaceChildren(...parts);
  find(side).dataset.side = side;
  find(side).setAttribute("aria-label", `${side}: ${what(arm)}`);
  find(side).classList.remove("chosen");
  await loaded;
}

async function show({ question, answered }) {
  find("name").hidden = true;
  find("pair").hidden = question === null;
  find("keys").hidden = state === null;
  if (answered !== undefined) find("who").textContent = `${judge}, ${answered} answered`;
  if (question === null) return;
  document.body.classList.toggle("long", question.left.text !== null
    || question.right.text !== null);
  scrollTo(0, 0);
  find("context").hidden = question.context === null;
  find("context").textContent = question.context ?? "";
  await Promise.all([fill("left", question.left), fill("right", question.right)]);
  const about = (question.context ?? "").slice(0, SPOKEN);
  find("said").textContent = `Question ${question.number}. ${about} Left: ${
    what(question.left)}. Right: ${what(question.right)}.`;
}

function press(word) {
  if (busy || state === null || performance.now() < readyAt) return;
  if (word === "undo") {
    if (state.last !== null) act("undo", { number: state.last });
  } else if (state.question !== null) {
    if (word === "left" || word === "right") find(word).classList.add("chosen");
    act("answer", { number: state.question.number, answer: word });
  }
}

function askName() {
  find("name").hidden = false;
  find("judge").focus();
}

addEventListener("keydown", (event) => {
  const plain = !event.repeat && !event.ctrlKey && !event.metaKey && !event.altKey;
  const word = KEYS[event.key] ?? KEYS[event.key?.toLowerCase()];
  if (!plain || word === undefined || event.target.tagName === "INPUT") return;
  event.preventDefault();
  press(word);
});

for (const button of document.querySelectorAll("footer button")) {
  button.addEventListener("click", (event) => {
    if (event.detail < 2) press(button.dataset.answer ?? "undo");
  });
}
for (const side of ["left", "right"]) {
  find(side).addEventListener("click", (event) => {
    if (event.detail < 2 && getSelection().isCollapsed) press(side);
  });
  find(side).addEventListener("keydown", (event) => {
    if (event.target !== find(side) || event.repeat) return;
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    press(side);
  });
}

find("name").addEventListener("submit", (event) => {
  event.preventDefault();
  judge = find("judge").value.trim();
  if (!judge) return;
  // A reload brings the same judge back.
  const address = new URL(location.href);
  address.searchParams.set("judge", judge);
  history.replaceState(null, "", address);
  act("question");
});

if (judge) act("question");
else askName();
