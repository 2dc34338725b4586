// @ts-check
"use strict";

/**
 * The module, from scripts beside this page to a worker that answers.
 *
 * A page opened from a disk may neither fetch a file nor start a worker from one. So the compressed module comes as
 * scripts that hand over a part each, is unpacked and compiled here, and runs in a worker made of a text. One question
 * at a time; what takes too long, or is cancelled, is ended with its worker, and the next question starts another.
 */
const engine = (() => {
  /** Of the way, when the last part is there; the rest is unpacking and compiling. */
  const LOADED = 0.7;

  /** An end that is not an answer: "limit", "cancelled", "died" or "missing". */
  class Ended extends Error {
    /** @param {string} how @param {string} evidence */
    constructor(how, evidence = "") {
      super(evidence);
      this.how = how;
    }
  }

  /** @type {Map<number, Uint8Array<ArrayBuffer>>} */
  const parts = new Map();
  /** @type {WebAssembly.Module | null} */
  let module = null;
  /** @type {Promise<Worker> | null} */
  let started = null;
  let asked = 0;

  /** Called by the scripts of the module. @param {number} number @param {string} text */
  function part(number, text) {
    parts.set(number, bytesOf(text));
  }

  /** @param {string} text @returns {Uint8Array<ArrayBuffer>} */
  function bytesOf(text) {
    const native = /** @type {any} */ (Uint8Array).fromBase64;
    return native ? native.call(Uint8Array, text) : Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  }

  /** Load and compile the module, once. @param {(done: number) => void} progress from 0 to 1 @param {AbortSignal} signal */
  async function load(progress, signal) {
    if (module) return;
    for (const [index, source] of settings.module.entries()) {
      if (!parts.has(index)) await script(source);
      if (signal.aborted) throw new Ended("cancelled");
      progress((LOADED * (index + 1)) / settings.module.length);
    }
    const packed = new Blob([...settings.module.keys()].map((index) => /** @type {BlobPart} */ (parts.get(index))));
    let unpacked = 0;
    const counted = new TransformStream({
      transform(chunk, out) {
        unpacked += chunk.length;
        progress(LOADED + (1 - LOADED) * Math.min(1, unpacked / settings.moduleBytes));
        out.enqueue(chunk);
      },
    });
    try {
      const plain = packed.stream().pipeThrough(new DecompressionStream("gzip")).pipeThrough(counted, { signal });
      const headers = { "Content-Type": "application/wasm" };
      module = await WebAssembly.compileStreaming(new Response(plain, { headers }));
    } catch (error) {
      throw signal.aborted ? new Ended("cancelled") : new Ended("missing", String(error));
    }
    parts.clear();
  }

  /** @param {string} source @returns {Promise<void>} */
  function script(source) {
    return new Promise((resolve, reject) => {
      const element = document.createElement("script");
      element.src = source;
      element.onload = () => resolve(element.remove());
      element.onerror = () => {
        element.remove();
        reject(new Ended("missing", source));
      };
      document.head.append(element);
    });
  }

  /** A worker with the module running in it. @returns {Promise<Worker>} */
  function start() {
    const url = URL.createObjectURL(new Blob([workerSource], { type: "text/javascript" }));
    const made = new Worker(url);
    return new Promise((resolve, reject) => {
      made.onmessage = (event) => (event.data.ready ? resolve(made) : reject(new Ended("died", event.data.failed)));
      made.onerror = (event) => reject(new Ended("died", event.message));
      made.postMessage({ start: { module, words } });
    }).finally(() => URL.revokeObjectURL(url));
  }

  /** End the worker that runs, if one does. */
  function stop() {
    started?.then((one) => one.terminate(), () => {});
    started = null;
  }

  /**
   * Put *question* ({ask: request} or {judge: texts}) to a worker. Each message but the last goes to *hear*.
   *
   * @param {object} question @param {(message: any) => void} hear @param {AbortSignal} [signal]
   */
  async function put(question, hear, signal) {
    const id = ++asked;
    started ??= start();
    /** @type {(how: Ended) => void} */
    let end = () => {};
    const ended = new Promise((_resolve, reject) => (end = reject));
    const cancel = () => end(new Ended("cancelled"));
    const timer = setTimeout(() => end(new Ended("limit")), settings.limitMs);
    signal?.addEventListener("abort", cancel);
    try {
      const one = await Promise.race([started, ended]);
      const answered = new Promise((resolve, reject) => {
        one.onerror = (/** @type {ErrorEvent} */ event) => reject(new Ended("died", event.message));
        one.onmessage = (/** @type {MessageEvent} */ event) => {
          if (event.data.id !== id) return;
          if ("failed" in event.data) reject(new Ended("died", event.data.failed));
          else if (event.data.done) resolve(event.data);
          else hear(event.data);
        };
      });
      one.postMessage({ id, ...question });
      return await Promise.race([answered, ended]);
    } catch (error) {
      stop();
      throw error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
    }
  }

  /** The control plane's own answer to a request of `controlplane trace`. @param {object} request */
  const ask = async (request) => JSON.parse((await put({ ask: request }, () => {})).answer);

  return { Ended, ask, isLoaded: () => module !== null, load, part, put, start: () => (started ??= start()) };
})();
