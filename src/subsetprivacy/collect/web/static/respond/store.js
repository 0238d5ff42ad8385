// What this device remembers about a study, in localStorage: the seeds of the draws, so that another visit or another
// wave asks the same, and content that has not arrived yet. Never an answer that has arrived, never a mark.
//
// A study's entry: { last: who, people: { who: { seed, code, ticket, secret, share, visits: { survey: visit } } } },
// where who is "open" or the ticket of a code (a device may be shared), and a visit is "locked", "sent", or
// { unsent: content }.

import { hex, random, unhex } from "./hash.js";

const NAME = "subsetprivacy ";

/** The memory of one study; `lasting` says whether the browser keeps it. */
export class Store {
  constructor(study, keep = true) {
    this.name = NAME + study;
    this.data = { people: {} };
    this.lasting = keep && works();
    this.read();
  }

  read() {
    if (!this.lasting) return;
    const stored = parse(localStorage.getItem(this.name));
    if (this.who) stored.people[this.who] ??= this.person;
    this.data = stored;
  }

  /** Change what is remembered about the person. It is read again first, because another tab may have changed it. */
  change(edit) {
    this.read();
    edit(this.person);
    if (!this.lasting) return;
    try {
      localStorage.setItem(this.name, JSON.stringify(this.data));
    } catch {
      this.lasting = false;
    }
  }

  get person() {
    return this.data.people[this.who];
  }

  /** The code that was used here last. */
  get lastCode() {
    return this.data.people[this.data.last]?.code ?? "";
  }

  /** Select a person of this device, new or known: "open", or a ticket with its code. */
  take(who, code) {
    this.data.people[who] ??= { seed: hex(random(32)), visits: {} };
    this.who = who;
    this.change((person) => {
      if (code) Object.assign(person, { code, ticket: who });
      this.data.last = who;
    });
  }

  visit(survey) {
    return this.person.visits[survey];
  }

  /** Store the state of a visit. */
  note(survey, visit) {
    this.change((person) => (person.visits[survey] = visit));
  }

  /** Forget everything about the study. */
  forget() {
    if (this.lasting) localStorage.removeItem(this.name);
    this.lasting = false;
  }
}

// Entries that are not ours or are damaged are ignored, and overwritten at the next change.
function parse(text) {
  let stored = null;
  try {
    stored = JSON.parse(text);
  } catch {
    // not JSON: nothing is used
  }
  const people = Object.entries(stored?.people ?? {});
  const whole = people.filter(([, person]) => unhex(person?.seed, 32) && person.visits);
  return { last: stored?.last, people: Object.fromEntries(whole) };
}

function works() {
  try {
    localStorage.setItem(NAME, "");
    localStorage.removeItem(NAME);
    return true;
  } catch {
    return false; // blocked, or full
  }
}
