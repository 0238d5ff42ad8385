// All requests to the server. Nothing else leaves this device.

const PLAIN = { credentials: "omit", cache: "no-store", redirect: "error", referrerPolicy: "no-referrer" };
const PATIENCE = 15_000;
const LONGEST_WAIT = 60_000;

export const base = location.pathname.replace(/\/+$/, "");

async function request(path, options = {}) {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), PATIENCE);
  try {
    const reply = await fetch(base + path, { ...PLAIN, ...options, signal: stop.signal });
    return { status: reply.status, state: reply.headers.get("Survey-State"), bytes: await reply.arrayBuffer() };
  } finally {
    clearTimeout(timer);
  }
}

const post = (path, body) => request(path, { method: "POST", body, headers: { "Content-Type": "application/json" } });

function documentOf(reply) {
  try {
    return JSON.parse(new TextDecoder().decode(reply.bytes)) ?? {};
  } catch {
    return {}; // for example, a proxy's page
  }
}

/** Return the frozen survey as bytes and document; throw the name of a problem. */
export async function getManifest() {
  const reply = await reach(() => request("/manifest"));
  if (reply.status === 404) throw new Error("unknown_survey");
  const manifest = documentOf(reply);
  if (reply.status !== 200 || !manifest.variables) throw new Error("unreachable");
  return { manifest, bytes: new Uint8Array(reply.bytes), state: reply.state };
}

/** Return the key that the server has published, or null. */
export async function getKey() {
  const reply = await request("/key");
  return reply.status === 200 ? documentOf(reply).key : null;
}

/** Lock a code; return the server's answer or throw the name of a problem. */
export async function lock(body) {
  const reply = await reach(() => post("/lock", JSON.stringify(body)));
  const answer = documentOf(reply);
  if (reply.status === 200) return answer;
  throw new Error(verdict(reply.status, answer) ?? "unreachable");
}

async function reach(attempt) {
  try {
    return await attempt();
  } catch {
    throw new Error("unreachable");
  }
}

// What a reply means: "counted", "already counted", the name of a problem, or null to try again.
function verdict(status, answer) {
  if (status === 201 && answer.status === "counted") return "counted";
  if (status === 422 || status === 413) return "refused";
  if ([404, 409, 410].includes(status) && typeof answer.status === "string") {
    const known = ["already counted", "stale", "closed", "unknown code", "unknown survey"];
    if (known.includes(answer.status)) return answer.status.replace(" ", "_");
  }
  return null;
}

/**
 * Send content until the server has answered: the same bytes each time, so that they count once.
 *
 * `waiting` is called before each pause with a function that ends the pause.
 */
export async function send(body, waiting) {
  for (let wait = 1000; ; wait = Math.min(2 * wait, LONGEST_WAIT)) {
    try {
      const reply = await post("/submit", body);
      const outcome = verdict(reply.status, documentOf(reply));
      if (outcome) return outcome;
    } catch {
      // no connection: try again
    }
    await pause(wait, waiting);
  }
}

function pause(wait, waiting) {
  return new Promise((go) => {
    const end = () => {
      clearTimeout(timer);
      removeEventListener("online", end);
      go();
    };
    const timer = setTimeout(end, wait);
    addEventListener("online", end);
    waiting(end);
  });
}
