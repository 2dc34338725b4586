// @ts-check
"use strict";

/**
 * What a view says before it is on a page: the values of labkit.show.document, as plain objects that a worker can send.
 *
 * @typedef {{text: string, mark: string, code: boolean}} Cell
 * @typedef {{kind: "note", text: string}
 *   | {kind: "table", columns: string[], rows: Cell[][]}
 *   | {kind: "facts", pairs: [string, Cell][]}
 *   | {kind: "code", lines: {text: string, mark: string}[], caption: string, signs: boolean}
 *   | {kind: "fold", summary: string, parts: Part[], mark: string, opened: boolean}} Part
 * @typedef {{title: string, parts: Part[]}} Shown
 */
const make = {
  /** @param {string} title @param {Part[]} parts @returns {Shown} */
  document: (title, parts) => ({ title, parts }),

  /** @param {string} text @returns {Part} */
  note: (text) => ({ kind: "note", text }),

  /** @param {string[]} columns @param {Cell[][]} rows @returns {Part} */
  table: (columns, rows) => ({ kind: "table", columns, rows }),

  /** @param {[string, Cell][] | any[]} pairs @returns {Part} */
  facts: (pairs) => ({ kind: "facts", pairs }),

  /** @param {{text: string, mark: string}[]} lines @param {string} caption @returns {Part} */
  lines: (lines, caption, signs = true) => ({ kind: "code", lines, caption, signs }),

  /** @param {string} summary @param {Part[]} parts @param {string} mark @param {boolean} opened @returns {Part} */
  fold: (summary, parts, mark, opened) => ({ kind: "fold", summary, parts, mark, opened }),

  /** @param {string} text @param {string} mark @returns {Cell} */
  cell: (text, mark = "") => ({ text, mark, code: false }),

  /** @param {string} text @param {string} mark @returns {Cell} */
  code: (text, mark = "") => ({ text, mark, code: true }),
};
