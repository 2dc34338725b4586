// @ts-check
"use strict";

/**
 * A document as elements of the page. Every text of it is somebody's: it is only ever set as text, and what would steer
 * who reads it (control characters, marks of direction) is spelled out.
 */
const view = (() => {
  const STEERS = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
  /** @type {Record<string, string>} */
  const SIGNS = { added: "+", removed: "-" };

  /** @param {string} text */
  const plain = (text) =>
    text.replace(STEERS, (one) => {
      const code = one.charCodeAt(0).toString(16);
      return one < " " ? `\\x${code.padStart(2, "0")}` : `\\u${code.padStart(4, "0")}`;
    });

  /** An element of a name and a class, with what is in it. @param {string} name @param {string} kind @param {(Node | string)[]} inside */
  function element(name, kind, ...inside) {
    const made = document.createElement(name);
    if (kind) made.className = `labkit-${kind}`;
    made.append(...inside.map((one) => (typeof one === "string" ? plain(one) : one)));
    return made;
  }

  /** @param {string} name @param {{text: string, mark: string, code: boolean}} cell */
  const cell = (name, { text, mark, code }) => element(name, mark, code ? element("code", "", text) : text);

  /** @param {string} scope @param {string} text */
  function heading(scope, text) {
    const made = element("th", "", text);
    made.setAttribute("scope", scope);
    return made;
  }

  /** @type {Record<string, (part: any) => Node>} */
  const PARTS = {
    note: ({ text }) => element("p", "note", text),
    table: ({ columns, rows }) => {
      const head = element("tr", "", ...columns.map((/** @type {string} */ text) => heading("col", text)));
      const body = rows.map((/** @type {any[]} */ cells) => element("tr", "", ...cells.map((one) => cell("td", one))));
      return wide(element("table", "", element("thead", "", head), element("tbody", "", ...body)));
    },
    facts: ({ pairs }) => {
      const rows = pairs.map((/** @type {[string, any]} */ [name, one]) => element("tr", "", heading("row", name), cell("td", one)));
      return wide(element("table", "facts", element("tbody", "", ...rows)));
    },
    code: ({ lines, caption, signs }) => {
      const inside = lines.flatMap((/** @type {any} */ { text, mark }, /** @type {number} */ index) => {
        const line = `${signs ? `${SIGNS[mark] ?? " "} ` : ""}${text}`;
        return [index ? "\n" : "", mark ? element("span", mark, line) : line];
      });
      const pre = element("pre", "code", ...inside);
      return caption ? element("div", "", element("p", "note", caption), pre) : pre;
    },
    fold: ({ summary, parts, mark, opened }) => {
      const made = element("details", "", element("summary", mark, summary), ...nodes(parts));
      /** @type {HTMLDetailsElement} */ (made).open = opened;
      return made;
    },
  };

  /** A table in a box that scrolls by itself. @param {HTMLElement} table */
  const wide = (table) => element("div", "wide", table);

  /** Let the keyboard reach what scrolls sideways. @param {ParentNode} root */
  function reach(root) {
    for (const box of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll(".labkit-wide, .labkit-code"))) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  }

  /** @param {any[]} parts @returns {Node[]} */
  const nodes = (parts) => parts.map((part) => /** @type {(part: any) => Node} */ (PARTS[part.kind])(part));

  return { element, nodes, plain, reach };
})();
