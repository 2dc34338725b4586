// @ts-check
"use strict";

/**
 * Texts in the part of an address after "#", which no browser sends to any server: JSON, deflated, in base64 as
 * addresses write it, after "try=". A link may come from anybody, so what it holds is only ever shown as text, and what
 * would unpack to more than an API server takes is not unpacked.
 *
 * @typedef {{definition?: string, object?: string, old?: string}} Texts
 */
const fragment = (() => {
  const HEAD = "#try=";
  const NAMES = /** @type {const} */ (["definition", "object", "old"]);
  const MOST_BYTES = 12 * 2 ** 20;
  /** Of an address that every browser takes; from a longer one Chromium goes to an empty page. */
  const MOST_CHARACTERS = 1_000_000;

  /** The fragment that brings *texts*. Throws where it is longer than an address may be. @param {Texts} texts */
  async function write(texts) {
    const kept = Object.fromEntries(NAMES.flatMap((name) => (texts[name]?.trim() ? [[name, texts[name]]] : [])));
    const bytes = await through(new TextEncoder().encode(JSON.stringify(kept)), new CompressionStream("deflate-raw"));
    if (bytes.length > MOST_CHARACTERS * 0.7) throw new RangeError("too large");
    let binary = "";
    for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
    return HEAD + btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  }

  /** The texts of *hash*; null where it is none of ours. Throws where it is damaged. @param {string} hash @returns {Promise<Texts | null>} */
  async function read(hash) {
    if (!hash.startsWith(HEAD)) return null;
    const binary = atob(hash.slice(HEAD.length).replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (one) => one.charCodeAt(0));
    const inflated = await through(bytes, new DecompressionStream("deflate-raw"));
    const found = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(inflated));
    const isObject = typeof found === "object" && found !== null && !Array.isArray(found);
    const isText = (/** @type {string} */ name) => !Object.hasOwn(found, name) || typeof found[name] === "string";
    if (!isObject || !NAMES.every(isText)) throw new TypeError("no texts");
    return Object.fromEntries(NAMES.flatMap((name) => (Object.hasOwn(found, name) ? [[name, found[name]]] : [])));
  }

  /** @param {Uint8Array<ArrayBuffer>} bytes @param {CompressionStream | DecompressionStream} stream */
  async function through(bytes, stream) {
    const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
    const parts = [];
    let size = 0;
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      size += next.value.length;
      if (size > MOST_BYTES) {
        await reader.cancel();
        throw new RangeError("too large");
      }
      parts.push(next.value);
    }
    const all = new Uint8Array(size);
    let at = 0;
    for (const part of parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }

  return { read, write };
})();
