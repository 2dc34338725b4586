// @ts-check
"use strict";

/** The words of the page, by id; set once, when the worker starts. */
const speech = (() => {
  /** @type {Record<string, string>} */
  let table = {};
  /** By how many digits stand after the point. @type {Record<number, Intl.NumberFormat>} */
  let formats = {};

  /** @param {Record<string, string>} words */
  function learn(words) {
    table = words;
    formats = {};
  }

  /** @param {string} id */
  const knows = (id) => Object.hasOwn(table, id);

  /** The words of an id, with its fields filled in. @param {string} id @param {Record<string, unknown>} [fields] */
  function say(id, fields = {}) {
    return (table[id] ?? id).replace(/\{(\w+)\}/g, (_all, name) => String(fields[name]));
  }

  /** What the program says in English, in the language of the page. @param {string} about @param {string} text */
  const sayOf = (about, text) => (knows(`${about}.${text}`) ? say(`${about}.${text}`) : text);

  /** A count as the language of the page writes it, or a number with so many digits after the point. @param {unknown} count */
  function numeral(count, digits = 0) {
    formats[digits] ??= new Intl.NumberFormat(say("number.language"), {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
      roundingMode: "halfEven",
    });
    return formats[digits].format(digits ? Number(count) : BigInt(String(count)));
  }

  return { knows, learn, numeral, say, sayOf };
})();
