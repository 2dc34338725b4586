// @ts-check
"use strict";

/** The words of the page, by id; set once, when the worker starts. */
const speech = (() => {
  /** @type {Record<string, string>} */
  let table = {};

  /** @param {Record<string, string>} words */
  function learn(words) {
    table = words;
  }

  /** @param {string} id */
  const knows = (id) => Object.hasOwn(table, id);

  /** The words of an id, with its fields filled in. @param {string} id @param {Record<string, unknown>} [fields] */
  function say(id, fields = {}) {
    return (table[id] ?? id).replace(/\{(\w+)\}/g, (_all, name) => String(fields[name]));
  }

  /** What the program says in English, in the language of the page. @param {string} about @param {string} text */
  const sayOf = (about, text) => (knows(`${about}.${text}`) ? say(`${about}.${text}`) : text);

  /** A count with its digits in groups. @param {unknown} count */
  const grouped = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, () => say("number.group"));

  return { grouped, knows, learn, say, sayOf };
})();
