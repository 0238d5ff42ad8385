// The steps of a visit, from the link to the end.

import { Answers } from "./answers.js";
import { commit, isFair, openTicket, readCode, readLock, seedOf, wrap } from "./coin.js";
import { claim } from "./element.js";
import { base32, hex, random, sha256, unhex } from "./hash.js";
import { listen, somebody } from "./keys.js";
import { practice } from "./practice.js";
import { showDrawn, showQuestion } from "./question.js";
import { base, getKey, getManifest, lock, send } from "./server.js";
import { Store } from "./store.js";
import {
  fairnessWords,
  showDone,
  showElsewhere,
  showForgotten,
  showIntro,
  showProblem,
  showReview,
  showSending,
  showStarting,
  showUnsent,
} from "./view.js";
import { speak } from "./words.js";

const survey = base.split("/").pop();
let manifest; // the frozen survey
let fingerprint; // of its bytes
let preview; // shown by the studio: nothing is stored, locked or sent
let state; // "open" or "closed", where the server says it
let store; // what this device remembers
let answers; // the questions of this visit, and the answers so far
let drawing = null; // the promise of them, once the draw has begun
let elsewhere = false; // whether another browser had opened the link, until the person is told
let backward = null; // what "back" does on the screen in view

async function open() {
  const loaded = await getManifest();
  const digest = sha256(loaded.bytes);
  ({ manifest, state } = loaded);
  fingerprint = hex(digest);
  preview = manifest.preview === true && !/(^|\/)s\/[^/]*$/.test(base);
  await speak(manifest.language);
  if (!preview && base32(digest).slice(0, 26) !== survey) throw new Error("mismatch");
  if (preview) document.querySelector("header").append(claim("promise.preview"));
  document.title = manifest.title;
  document.querySelector("#title").textContent = manifest.title;
  store = new Store(manifest.study, !preview);
  takePerson();
}

// In code mode the code is in the address after "#". It is read, remembered here, and removed from the address.
function takePerson() {
  if (preview || manifest.mode === "open") return store.take("open");
  const fragment = location.hash.slice(1);
  const code = readCode(fragment || store.lastCode);
  if (!code) throw new Error(fragment ? "broken_code" : "no_code");
  store.take(code.ticket, code.letters);
  if (store.lasting) history.replaceState(null, "", location.pathname);
}

async function begin() {
  backward = null;
  const visit = store.visit(survey);
  if (visit?.unsent) return deliver(visit.unsent, true);
  if (visit === "sent") return finish("already_counted");
  if (state === "closed") return fail("closed");
  showIntro(manifest, { lasting: store.lasting || preview, start: () => attempt(start) });
  if (isFlipped() && !drawing) await meet();
}

const isFlipped = () => manifest.mode === "code" && !preview;

// Check whether a code still works before a person reads on, but only once there is a person: programs that check
// links in emails would lock it.
async function meet() {
  await somebody();
  const reading = () => document.body.dataset.screen === "intro"; // otherwise "Start" was pressed, which reports it
  try {
    await draw();
    if (reading() && elsewhere) warn(begin);
  } catch (error) {
    // With no connection there is time until "Start".
    if (reading() && error.message !== "unreachable") throw error;
  }
}

async function start() {
  if (!answers) {
    if (isFlipped()) showStarting();
    await draw();
  }
  if (!preview && history.state !== HERE) stay();
  return warn(prepare);
}

// Draw the questions, once.
function draw() {
  drawing ??= drawn().catch((error) => {
    drawing = null;
    throw error;
  });
  return drawing;
}

async function drawn() {
  const device = unhex(store.person.seed, 32);
  const question = isFlipped() ? await flip() : device;
  answers = new Answers(manifest.study, manifest.variables, { question, device });
}

// Continue, after a warning if there is one.
function warn(next) {
  if (!elsewhere) return next();
  elsewhere = false;
  return showElsewhere(next);
}

// Lock the code to this device's number and get the server's share. Together they determine the questions.
async function flip() {
  // Remembered before it is sent: should the reply be lost, the same number is sent again. Another tab may have drawn it.
  store.change((person) => (person.secret = hex(unhex(person.secret, 32) ?? random(32))));
  const { ticket, code, secret: known, share: before } = store.person;
  const { half } = readCode(code);
  const mine = unhex(known, 32);
  const commitment = commit(mine);
  const wrapped = wrap(mine, half, commitment);
  const answer = await lock({ fingerprint, ticket, commitment: hex(commitment), wrapped: hex(wrapped) });
  const { share, secret, strange } = readLock(answer, mine, half);
  const replaced = strange ? store.visit(survey) : before && before !== hex(share);
  if (replaced) throw new Error("bad_lock");
  elsewhere = strange;
  store.change((person) => {
    Object.assign(person, { secret: hex(secret), share: hex(share) });
    person.visits[survey] ??= "locked";
  });
  return seedOf(share, secret);
}

function prepare() {
  if (!manifest.practice) return ask(0);
  const kinds = manifest.variables.map(({ kind }) => kind);
  return practice(kinds, { go: () => ask(0), back: begin, moved: (back) => (backward = back) });
}

function ask(k, changing = false) {
  if (k === answers.length) return review();
  const next = () => (changing ? review() : ask(k + 1));
  backward = () => (changing ? review() : k ? ask(k - 1) : begin());
  const progress = [k + 1, answers.length];
  const give = (choice) => {
    answers.give(k, choice);
    if (choice === null || answers.questions[k].variable.kind !== "local") return next();
    const again = () => ask(k, changing);
    backward = again;
    return showDrawn(answers.questions[k], answers.left(k), { go: next, back: again, progress });
  };
  return showQuestion(answers.questions[k], {
    give,
    skip: () => give(null),
    back: backward,
    given: answers.given[k],
    progress,
  });
}

function review() {
  const body = answers.body({ fingerprint, ...envelope() });
  backward = () => ask(answers.length - 1);
  showReview(manifest, answers, body, {
    send: () => attempt(() => (preview ? finish("preview") : deliver(body))),
    back: backward,
    change: (k) => ask(k, true),
  });
}

// What is sent around the answers: in code mode the ticket of the code and this device's part of the draw.
function envelope() {
  const { seed, ticket, secret } = store.person;
  if (manifest.mode === "open") return { ticket: hex(openTicket(unhex(seed, 32), unhex(fingerprint, 32))) };
  return preview ? { ticket: hex(random(10)), opening: hex(random(32)) } : { ticket, opening: secret };
}

// The content is stored until the server has it; the same bytes are sent each time.
async function deliver(body, again = false) {
  backward = null;
  store.read();
  if (store.visit(survey) === "sent") return finish("already_counted"); // by another tab
  store.note(survey, { unsent: body });
  showSending();
  let retry = null;
  const outcome = await send(body, (end) => {
    if (!retry) showUnsent(store.lasting, () => retry());
    retry = end;
  });
  answers = null;
  // What was counted before this device sent anything is someone else's.
  const ours = outcome === "already_counted" && (again || retry !== null);
  const counted = outcome === "counted" || ours;
  store.note(survey, counted ? "sent" : undefined);
  return counted ? finish(outcome) : fail(outcome);
}

async function finish(outcome) {
  backward = null;
  const fairness = fairnessWords(preview ? null : await judge());
  showDone(manifest, { outcome, fairness, lasting: store.lasting, forget });
}

// When the study ends, the server publishes its key. This checks that the draw was made with it.
async function judge() {
  const { person } = store;
  if (!person?.share || !store.lasting) return null;
  if (state === "open") return "later";
  const key = unhex(await getKey().catch(() => null), 32);
  if (!key) return "later";
  return isFair(key, manifest.key_commitment, person) ? "fair" : "unfair";
}

function forget() {
  store.forget();
  showForgotten();
}

async function fail(name) {
  backward = null;
  if (name === "closed") state = "closed";
  if (name !== "closed" && name !== "already_counted") return showProblem(name);
  return showProblem(name, { more: fairnessWords(await judge()), forget: store.lasting && forget });
}

async function attempt(step) {
  try {
    await step();
  } catch (error) {
    if (!manifest) await speak();
    await fail(error.message);
  }
}

// The browser's own "back" does what the button does.
const HERE = "here";
const stay = () => history.pushState(HERE, "", location.href);
addEventListener("popstate", () => {
  if (!backward) return;
  stay();
  backward();
});
addEventListener("hashchange", () => location.hash && location.reload());
listen();
attempt(async () => {
  await open();
  await begin();
}).catch(() => document.querySelector("#unreachable").classList.add("now"));
