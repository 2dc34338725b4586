"use strict";

/* The way to the other language keeps the place: what the reader sees at the top is at the top there, too. Without this
   script the link is a plain one, to the same page. */

/** @param {Element} article @returns {string} the id of the last heading or command above the upper third of the window */
function placeIn(article) {
  const limit = window.innerHeight / 3;
  let found = "";
  for (const one of article.querySelectorAll("section[id], .cell[id], span[id]")) {
    if (one.getBoundingClientRect().top > limit) break;
    found = one.id;
  }
  return window.scrollY > 0 ? found : "";
}

document.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest("a.labkit-language") : null;
  const article = document.querySelector("article.bd-article");
  if (!(link instanceof HTMLAnchorElement) || article === null) return;
  const address = new URL(link.href);
  address.hash = placeIn(article);
  address.search = window.location.search;
  link.href = address.href;
});

/* An output that scrolls sideways must be reached by keyboard, and say what it is; one that fits is no stop on the way. */
function reach() {
  for (const one of document.querySelectorAll(".cell_output .labkit")) {
    if (one.scrollWidth > one.clientWidth) {
      one.setAttribute("tabindex", "0");
      one.setAttribute("role", "group");
      one.setAttribute("aria-label", one.querySelector(".labkit-title, caption, th, summary")?.textContent || document.title);
    } else {
      for (const name of ["tabindex", "role", "aria-label"]) one.removeAttribute(name);
    }
  }
}

document.addEventListener("DOMContentLoaded", reach);
document.addEventListener("toggle", reach, true);
window.addEventListener("load", reach);
window.addEventListener("resize", reach);
