// @ts-check
"use strict";

/** Line numbers beside each text field: the server's YAML reader names lines. Tab leaves a field, as everywhere. */
const editors = (() => {
  /** @param {HTMLTextAreaElement} field */
  function number(field) {
    const numbers = document.createElement("div");
    numbers.className = "numbers";
    numbers.setAttribute("aria-hidden", "true");
    field.before(numbers);
    let shown = 0;
    const count = () => {
      const lines = field.value.split("\n").length;
      if (lines !== shown) numbers.textContent = Array.from({ length: lines }, (_one, index) => index + 1).join("\n");
      shown = lines;
    };
    const follow = () => (numbers.scrollTop = field.scrollTop);
    field.addEventListener("input", count);
    field.addEventListener("scroll", follow);
    count();
  }

  /** Set a field's text as if it had been typed. @param {HTMLTextAreaElement} field @param {string} text */
  function fill(field, text) {
    field.value = text;
    field.dispatchEvent(new Event("input"));
  }

  return { fill, number };
})();
