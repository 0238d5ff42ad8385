// The coin that this device and the server flip together, so that neither chooses the question: survey/coin.py.

import { hex, hmac, join, sha256, unbase32, unhex, utf8 } from "./hash.js";

const labeled = (name, ...parts) => join(utf8(`subsetprivacy ${name} v1\0`), ...parts);

/** Return the commitment to this device's number. */
export const commit = (secret) => sha256(labeled("commit", secret));

/** Return the seed of the draws, which both shares determine. */
export const seedOf = (share, secret) => sha256(labeled("seed", share, secret));

/** Encrypt or decrypt the number with the second half of a code. Each commitment has its own pad. */
export function wrap(secret, half, commitment) {
  const pad = hmac(half, labeled("wrap", commitment));
  return secret.map((byte, k) => byte ^ pad[k]);
}

/** Return the ticket of a browser in open mode: the same for a second try, so that it counts once. */
export const openTicket = (seed, fingerprint) => hmac(seed, labeled("ticket", fingerprint));

/** Return the ticket and the half of a code, or null if the text is not a code. */
export function readCode(text) {
  const letters = text.toLowerCase().replace(/[^a-z2-7]/g, "");
  if (letters.length !== 32) return null;
  const bytes = unbase32(letters);
  return { letters, ticket: hex(bytes.subarray(0, 10)), half: bytes.subarray(10) };
}

/**
 * Read the server's answer to a lock: which secret the code is locked to, and the server's share.
 *
 * Throws the name of a problem if no honest server would give this answer.
 */
export function readLock(answer, mine, half) {
  const share = unhex(answer.share, 32);
  const commitment = unhex(answer.commitment, 32);
  const wrapped = unhex(answer.wrapped, 32);
  if (!share || !commitment || !wrapped) throw new Error("bad_lock");
  if (answer.commitment === hex(commit(mine))) return { share, secret: mine, strange: false };
  const secret = wrap(wrapped, half, commitment);
  if (answer.commitment !== hex(commit(secret))) throw new Error("bad_lock");
  return { share, secret, strange: true };
}

/** Tell whether a published key matches its commitment and the share that this device received. */
export function isFair(key, keyCommitment, kept) {
  const ticket = unhex(kept.ticket, 10);
  const expected = hmac(key, labeled("share", ticket, commit(unhex(kept.secret, 32))));
  return hex(sha256(labeled("key", key))) === keyCommitment && hex(expected) === kept.share;
}
