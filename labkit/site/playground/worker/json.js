// @ts-check
"use strict";

/**
 * JSON as the control plane writes it and as labkit prints it.
 *
 * An object may hold 2.0 or 12345678901234567890, and JavaScript would show 2 and another number. So a number that
 * JavaScript would write otherwise keeps its own text. Keys are sorted, as the server has them.
 */
const json = (() => {
  /** A number by its text. */
  class Exact {
    /** @param {string} source */
    constructor(source) {
      this.source = source;
    }
  }

  /** What stands for a field that is not there, which null is not. */
  const ABSENT = Symbol("absent");

  /** @param {string} text @returns {any} */
  function read(text) {
    /** @type {any} */
    const exact = (/** @type {string} */ _key, /** @type {any} */ value, /** @type {{source?: string}} */ context) =>
      typeof value === "number" && context?.source !== undefined && context.source !== String(value)
        ? new Exact(context.source)
        : value;
    return JSON.parse(text, exact);
  }

  /** @param {any} value */
  const isObject = (value) =>
    typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Exact);

  /** @param {any} value @param {string} key */
  const at = (value, key) => (Object.hasOwn(value, key) ? value[key] : ABSENT);

  /** The keys of one or both, sorted. @param {any[]} values @returns {string[]} */
  const keys = (...values) => [...new Set(values.flatMap(Object.keys))].sort();

  /** On one line, as `jq -c` prints it; an en dash for what is absent. @param {any} value @returns {string} */
  function compact(value) {
    if (value === ABSENT) return "–";
    if (Array.isArray(value)) return `[${value.map(compact).join(",")}]`;
    if (isObject(value)) return `{${keys(value).map((key) => `${JSON.stringify(key)}:${compact(value[key])}`).join(",")}}`;
    return value instanceof Exact ? value.source : JSON.stringify(value);
  }

  /** Its lines, indented by two. @param {any} value @param {string} indent @returns {string[]} */
  function lines(value, indent = "") {
    const isList = Array.isArray(value);
    const inner = isList ? value.map((one) => ["", one]) : isObject(value) ? keys(value).map((key) => [`${JSON.stringify(key)}: `, value[key]]) : [];
    if (inner.length === 0) return [compact(value)];
    const [open, close] = isList ? "[]" : "{}";
    const deeper = `${indent}  `;
    const body = inner.flatMap(([head, one], index) => {
      const written = lines(one, deeper);
      written[0] = `${deeper}${head}${written[0]}`;
      if (index < inner.length - 1) written[written.length - 1] += ",";
      return written;
    });
    return [/** @type {string} */ (open), ...body, `${indent}${close}`];
  }

  /** Whether two values are the same; 1 and 1.0 are. @param {any} one @param {any} other @returns {boolean} */
  function same(one, other) {
    if (Array.isArray(one) && Array.isArray(other)) {
      return one.length === other.length && one.every((value, index) => same(value, other[index]));
    }
    if (isObject(one) && isObject(other)) {
      const all = keys(one, other);
      return all.every((key) => Object.hasOwn(one, key) && Object.hasOwn(other, key) && same(one[key], other[key]));
    }
    if (one instanceof Exact || other instanceof Exact) return sameNumber(one, other);
    return one === other;
  }

  /** @param {any} one @param {any} other */
  function sameNumber(one, other) {
    const [first, second] = [one, other].map((value) => (value instanceof Exact ? value.source : value));
    if (first === second) return true;
    const whole = /^-?\d+$/;
    if (whole.test(first) && whole.test(second)) return BigInt(first) === BigInt(second);
    return Number(first) === Number(second) && [one, other].every((value) => value instanceof Exact || typeof value === "number");
  }

  /**
   * Where two values differ, each at its highest path, as the server writes paths.
   *
   * @param {any} before @param {any} after @param {string} path
   * @returns {Generator<{path: string, before: any, after: any}>}
   */
  function* differences(before, after, path = "") {
    if (isObject(before) && isObject(after)) {
      for (const key of keys(before, after)) {
        const [old, now, deeper] = [at(before, key), at(after, key), path ? `${path}.${key}` : key];
        if (old === ABSENT || now === ABSENT) yield { path: deeper, before: old, after: now };
        else yield* differences(old, now, deeper);
      }
    } else if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
      for (const [index, old] of before.entries()) yield* differences(old, after[index], `${path}[${index}]`);
    } else if (!same(before, after)) {
      yield { path, before, after };
    }
  }

  return { ABSENT, at, compact, differences, isObject, keys, lines, read, same };
})();
