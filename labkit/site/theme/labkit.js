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
