// SHA-256 and HMAC, written out: where a page comes over plain http, browsers offer no crypto.subtle.

const ROUND = new Int32Array([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
]);
const START = [
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
];
const BLOCK = 64;
const LETTERS = "abcdefghijklmnopqrstuvwxyz234567";

const turn = (word, by) => (word >>> by) | (word << (32 - by));

const words = new Int32Array(BLOCK); // of the rounds, computed for each block

function compress(state, view, at) {
  for (let t = 0; t < 16; t++) words[t] = view.getUint32(at + 4 * t);
  for (let t = 16; t < 64; t++) {
    const x = words[t - 15];
    const y = words[t - 2];
    const s0 = turn(x, 7) ^ turn(x, 18) ^ (x >>> 3);
    const s1 = turn(y, 17) ^ turn(y, 19) ^ (y >>> 10);
    words[t] = (words[t - 16] + s0 + words[t - 7] + s1) | 0;
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let t = 0; t < 64; t++) {
    const s1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + ROUND[t] + words[t]) | 0;
    const s0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => (state[i] += word));
}

/** Return the SHA-256 of bytes, as bytes. */
export function sha256(bytes) {
  const padded = new Uint8Array(BLOCK * Math.ceil((bytes.length + 9) / BLOCK));
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, bytes.length * 8);
  const state = new Int32Array(START);
  for (let at = 0; at < padded.length; at += BLOCK) compress(state, view, at);
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((word, k) => digest.setInt32(4 * k, word));
  return new Uint8Array(digest.buffer);
}

/** Return the HMAC-SHA256 of bytes under a key of at most 64 bytes. */
export const hmac = (key, bytes) => sha256(keyed(key, 0x5c, sha256(keyed(key, 0x36, bytes))));

function keyed(key, by, bytes) {
  const all = new Uint8Array(BLOCK + bytes.length).fill(by, 0, BLOCK);
  for (let k = 0; k < key.length; k++) all[k] ^= key[k];
  all.set(bytes, BLOCK);
  return all;
}

const encoder = new TextEncoder();

/** Return the bytes of a text. */
export const utf8 = (text) => encoder.encode(text);

/** Return several arrays of bytes as one. */
export function join(...parts) {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Return bytes in hexadecimal. */
export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Return the bytes of hexadecimal text of a given length, or null where it is something else. */
export function unhex(text, length) {
  if (typeof text !== "string" || text.length !== 2 * length || /[^0-9a-f]/.test(text)) return null;
  return Uint8Array.from({ length }, (_, k) => parseInt(text.slice(2 * k, 2 * k + 2), 16));
}

/** Return whole groups of five bytes in base 32, lower case. */
export function base32(bytes) {
  let text = "";
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = ((buffer << 8) | byte) & 0xfff;
    for (bits += 8; bits >= 5; bits -= 5) text += LETTERS[(buffer >> (bits - 5)) & 31];
  }
  return text;
}

/** Return the bytes of text in base 32. */
export function unbase32(text) {
  const bytes = [];
  let buffer = 0;
  let bits = 0;
  for (const letter of text) {
    buffer = ((buffer << 5) | LETTERS.indexOf(letter)) & 0xfff;
    bits += 5;
    if (bits >= 8) bytes.push((buffer >> (bits -= 8)) & 255);
  }
  return Uint8Array.from(bytes);
}

/** Return random bytes from the browser's own cryptographic source. */
export const random = (length) => crypto.getRandomValues(new Uint8Array(length));
