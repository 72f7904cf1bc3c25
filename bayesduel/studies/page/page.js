"use strict";
// What is shown is always what the server said last; every request may be sent again.

const KEYS = {
  ArrowLeft: "left", h: "left", ArrowRight: "right", l: "right",
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
// The best card of a set, while the worst is still to be named.
let best = null;

const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

// A remark is read aloud when there is time, a problem at once.
function say(text, wrong = false) {
  find("note").textContent = wrong ? "" : text;
  find("problem").textContent = wrong ? text : "";
  const alone = find("pair").hidden && find("end").hidden;
  for (const id of ["note", "problem"]) find(id).classList.toggle("alone", alone);
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
    say(`${why.replace(/\.?$/, ".")} Nothing is lost; trying again …`, true);
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
  say(found.note ?? "", true);
  if (found.question === null) resting = setTimeout(() => act("question"), REST_MS);
  busy = false;
  rest();
}

// A second click in a row must not answer what comes next.
function rest() {
  readyAt = performance.now() + STILL_MS;
  setTimeout(enable, STILL_MS + 20);
}

function enable() {
  const wait = busy || performance.now() < readyAt;
  for (const button of document.querySelectorAll("footer button")) {
    // Not `disabled`: the focus would be lost with it.
    button.setAttribute("aria-disabled", wait || (button.id === "undo"
      ? state.last === null && best === null : state.question === null));
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

// A card is named by the answer that chooses it: left and right, or 1, 2, 3 ...
const cards = () => [...find("sides").children];

function deal(answers) {
  const made = answers.map((answer) => {
    const card = element("div", "card", "");
    card.id = answers.length > 2 ? `card-${answer}` : answer;
    card.dataset.side = answer;
    card.setAttribute("role", "button");
    card.tabIndex = 0;
    card.addEventListener("click", (event) => {
      if (event.detail < 2 && getSelection().isCollapsed) press(answer);
    });
    card.addEventListener("keydown", (event) => {
      if (event.target !== card || event.repeat) return;
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      press(answer);
    });
    return card;
  });
  find("sides").replaceChildren(...made);
  document.body.classList.toggle("set", answers.length > 2);
  for (const button of document.querySelectorAll("footer [data-answer]")) {
    const { answer } = button.dataset;
    button.dataset.set = answer !== "skip" && answers.length > 2;
  }
}

async function fill(card, arm) {
  const side = arm.answer;
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
  card.replaceChildren(...parts);
  card.setAttribute("aria-label", `${side}: ${what(arm)}`);
  card.classList.remove("chosen");
  card.removeAttribute("aria-pressed");
  await loaded;
}

const spoken = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

// What is asked now: the better one, the best one, or after that the worst.
function ask(text) {
  find("asked").textContent = text;
  return text;
}

const many = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

// The budget counts the votes of all judges.
function showProgress({ question, answered, votes, budget }) {
  const next = question === null ? votes : Math.min(votes + 1, budget);
  const where = budget === null ? "" : `Question ${next} of ${budget} · `;
  find("who").textContent = `${where}${judge}: ${many(answered, "answer")} stored`;
}

// Nothing to ask: for good, or until somebody else has answered.
function showEnd({ votes, budget, resting: why }) {
  const done = budget !== null && votes >= budget;
  find("ended").textContent = done ? `Thank you, ${judge}.`
    : "There is no question for you right now.";
  find("resting").textContent = done
    ? `That was the last question: the study has its ${many(budget, "vote")}. `
      + "Your answers are stored, and you may close this page."
    : `${spoken(why).replace(/\.?$/, ".")} Your answers are stored. `
      + "The next question appears here as soon as there is one.";
  find("said").textContent = `${find("ended").textContent} ${find("resting").textContent}`;
}

async function show(reply) {
  const { question, answered } = reply;
  best = null;
  find("name").hidden = true;
  find("pair").hidden = question === null;
  find("end").hidden = question !== null || answered === undefined;
  find("keys").hidden = state === null;
  document.body.classList.toggle("over", question === null);
  if (answered !== undefined) showProgress(reply);
  if (question === null) {
    if (answered !== undefined) showEnd(reply);
    return;
  }
  const arms = question.cards;
  document.body.classList.toggle("long", arms.some((arm) => arm.text !== null));
  // The same cards stay, and the focus with them.
  if (cards().length !== arms.length) deal(arms.map((arm) => arm.answer));
  scrollTo(0, 0);
  find("context").hidden = question.context === null;
  find("context").textContent = question.context ?? "";
  await Promise.all(cards().map((card, place) => fill(card, arms[place])));
  ask(arms.length > 2 ? "Which one is the best?" : "Which one is better?");
  const about = (question.context ?? "").slice(0, SPOKEN);
  const read = arms.map((arm) => `${spoken(arm.answer)}: ${what(arm)}.`).join(" ");
  find("said").textContent = `Question ${question.number}. ${about} ${read}`;
}

function press(word) {
  if (busy || state === null || performance.now() < readyAt) return;
  if (word === "undo") {
    if (best !== null) pick(best);
    else if (state.last !== null) act("undo", { number: state.last });
  } else if (state.question !== null) {
    const card = cards().find((each) => each.dataset.side === word);
    if (card === undefined && word !== "skip" && cards().length > 2) return;
    if (state.question.worst && card && (best ?? word) === word) return pick(word);
    card?.classList.add("chosen");
    const answer = card && best !== null ? `${best},${word}` : word;
    act("answer", { number: state.question.number, answer });
  }
}

// Of a set whose worst is asked for, too: the same card again is picked no more.
function pick(word) {
  best = best === null ? word : null;
  const card = cards().find((each) => each.dataset.side === word);
  card.classList.toggle("chosen", best !== null);
  card.setAttribute("aria-pressed", best !== null);
  find("said").textContent = best === null ? ask("Which one is the best?")
    : `${word} is the best. ${ask("And which one is the worst?")}`;
  rest();
}

function askName() {
  find("name").hidden = false;
  find("judge").focus();
}

addEventListener("keydown", (event) => {
  const plain = !event.repeat && !event.ctrlKey && !event.metaKey && !event.altKey;
  const word = cards()[Number(event.key) - 1]?.dataset.side
    ?? KEYS[event.key] ?? KEYS[event.key?.toLowerCase()];
  if (!plain || word === undefined || event.target.tagName === "INPUT") return;
  event.preventDefault();
  press(word);
});

for (const button of document.querySelectorAll("footer button")) {
  button.addEventListener("click", (event) => {
    if (event.detail < 2) press(button.dataset.answer ?? "undo");
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
