// @ts-check
"use strict";

/**
 * Predictions: a form that compares what a reader expects with what the notebook recorded of the server.
 *
 * Nothing is scored here. Each answer that can be given was scored when the page was built, and all words of that come
 * along in the form's data; the script looks one up and shows it as text. What was answered stays in this browser, where
 * it lets a page keep something.
 *
 * @typedef {{text: string, mark: string, code: boolean}} Cell
 * @typedef {{mark: "right" | "partly" | "wrong", cells: Cell[]}} Row
 * @typedef {{columns: string[], rows: Cell[][]}} Table
 * @typedef {object} Worth
 * @property {Record<string, string>} titles by the result of the whole
 * @property {string} choose what to say where no outcome was chosen
 * @property {string[]} columns
 * @property {Row[]} rows each once; the answers have their numbers
 * @property {Record<string, number>} outcome by outcome
 * @property {Record<string, Record<string, number>>} field by outcome and field
 * @property {Record<string, Record<string, number>>} rule by field ("" where none was said) and rule
 * @property {Table[]} tables each once; reasons have their numbers
 * @property {Record<string, number>} why by outcome
 * @typedef {{outcome: string, field: string, rule: string}} Answer
 */
(() => {
  const KEY = "labkit.prediction.";

  /** What this browser keeps, if it keeps anything: private windows and policies may forbid it. */
  const kept = {
    /** @param {string} id @returns {Partial<Answer>} */
    read(id) {
      try {
        const found = JSON.parse(localStorage.getItem(KEY + id) ?? "{}");
        return typeof found === "object" && found !== null ? found : {};
      } catch {
        return {};
      }
    },
    /** @param {string} id @param {Answer | null} answer */
    write(id, answer) {
      try {
        if (answer) localStorage.setItem(KEY + id, JSON.stringify(answer));
        else localStorage.removeItem(KEY + id);
      } catch {
        // the answer holds as long as the page is open
      }
    },
  };

  /** @param {string} name @param {string} kind @param {(Node | string)[]} inside */
  function element(name, kind, ...inside) {
    const made = document.createElement(name);
    if (kind) made.className = `labkit-${kind}`;
    made.append(...inside);
    return made;
  }

  /** @param {Cell} cell */
  const cell = ({ text, mark, code }) => element("td", mark, code ? element("code", "", text) : text);

  /** @param {string} text */
  function heading(text) {
    const made = element("th", "", text);
    made.setAttribute("scope", "col");
    return made;
  }

  /** @param {string[]} columns @param {Cell[][]} rows */
  function table(columns, rows) {
    const body = rows.map((cells) => element("tr", "", ...cells.map(cell)));
    return element("table", "", element("thead", "", element("tr", "", ...columns.map(heading))), element("tbody", "", ...body));
  }

  /** What the parts of an answer are worth together. @param {Row[]} judged */
  function result(judged) {
    if (judged.every(({ mark }) => mark === "right")) return "right";
    return judged.some(({ mark }) => mark !== "wrong") ? "partly" : "wrong";
  }

  /** The score of an answer. @param {Worth} worth @param {Answer} answer @returns {Node[]} */
  function score(worth, { outcome, field, rule }) {
    const numbers = [worth.outcome[outcome]];
    if (field) numbers.push(worth.field[outcome][field]);
    if (rule) numbers.push(worth.rule[field][rule]);
    const judged = numbers.map((number) => worth.rows[number]);
    const title = element("p", "title", worth.titles[result(judged)]);
    if (!worth.columns.length) return [title];
    const { columns, rows } = worth.tables[worth.why[outcome]];
    return [title, table(worth.columns, judged.map(({ cells }) => cells)), table(columns, rows)];
  }

  /** @param {HTMLElement} box */
  function begin(box) {
    const form = box.querySelector("form");
    const told = /** @type {HTMLElement | null} */ (box.querySelector("[role=status]"));
    if (!form || !told) return;
    const id = box.dataset.prediction ?? "";
    /** @type {Worth} */
    const worth = JSON.parse(box.dataset.worth ?? "");

    /** @returns {Answer} */
    function answer() {
      const said = new FormData(form ?? undefined);
      const of = (/** @type {string} */ name) => String(said.get(name) ?? "");
      return { outcome: of("outcome"), field: of("field"), rule: of("rule") };
    }

    /** The controls as they were left; values that are no choice any more are left out. */
    function restore() {
      for (const [name, value] of Object.entries(kept.read(id))) {
        const control = form?.elements.namedItem(name);
        if (control instanceof RadioNodeList || control instanceof HTMLSelectElement) control.value = String(value);
        if (control instanceof HTMLSelectElement && control.selectedIndex < 0) control.selectedIndex = 0;
      }
    }

    /** What is told; the keyboard reaches it where it scrolls sideways. @param {Node[]} parts */
    function tell(...parts) {
      told?.replaceChildren(...parts);
      if (told && told.scrollWidth > told.clientWidth) told.tabIndex = 0;
      else told?.removeAttribute("tabindex");
    }

    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const said = answer();
      if (!said.outcome) {
        tell(element("p", "title", worth.choose));
        return;
      }
      kept.write(id, said);
      tell(...score(worth, said));
    });
    form.addEventListener("reset", () => {
      kept.write(id, null);
      tell();
    });
    restore();
    if (answer().outcome) tell(...score(worth, answer()));
    for (const plain of /** @type {NodeListOf<HTMLElement>} */ (box.querySelectorAll(".labkit-without-script"))) plain.hidden = true;
    form.hidden = false;
  }

  function all() {
    for (const box of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-prediction]"))) begin(box);
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", all);
  else all();
})();
