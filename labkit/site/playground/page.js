// @ts-check
"use strict";

/** The page: its fields and buttons, and what they do. */
(() => {
  /** @template {HTMLElement} T @param {string} id @returns {T} */
  const byId = (id) => /** @type {T} */ (document.getElementById(id));
  const fields = {
    definition: /** @type {HTMLTextAreaElement} */ (byId("definition")),
    object: /** @type {HTMLTextAreaElement} */ (byId("object")),
    old: /** @type {HTMLTextAreaElement} */ (byId("old")),
  };
  const judgeButton = /** @type {HTMLButtonElement} */ (byId("judge"));
  const cancelButton = /** @type {HTMLButtonElement} */ (byId("cancel"));
  const progress = /** @type {HTMLProgressElement} */ (byId("progress"));
  const link = /** @type {HTMLInputElement} */ (byId("link"));
  const results = byId("results");
  const costs = byId("costs");
  const status = byId("status");
  /** @type {AbortController | null} */
  let working = null;

  /** @param {string} id @param {Record<string, unknown>} [named] */
  const say = (id, named = {}) => (words[id] ?? id).replace(/\{(\w+)\}/g, (_all, name) => String(named[name]));

  /** Told to eyes and to screen readers. @param {string} text @param {string} mark */
  function tell(text, mark = "") {
    status.textContent = view.plain(text);
    status.className = mark && `labkit-${mark}`;
  }

  const texts = () => ({ definition: fields.definition.value, object: fields.object.value, old: fields.old.value });

  async function judge() {
    if (working) return;
    working = new AbortController();
    const { signal } = working;
    busy(true);
    try {
      await ready(signal);
      tell(say("judging"));
      const validate = /** @type {HTMLSelectElement} */ (byId("validate")).value;
      await engine.put({ judge: { ...texts(), fieldValidation: validate } }, show, signal);
    } catch (error) {
      fail(error);
    } finally {
      working = null;
      busy(false);
    }
  }

  /** The module loaded and its worker begun. @param {AbortSignal} signal */
  async function ready(signal) {
    if (engine.isLoaded()) return;
    tell(say("loading"));
    progress.hidden = false;
    await engine.load((done) => (progress.value = done), signal);
    progress.hidden = true;
    judgeButton.textContent = say("judge");
    byId("size").hidden = true;
  }

  /** One part of an answer. @param {any} message */
  function show(message) {
    if (message.verdict) {
      const { mark, summary, said, parts } = message.verdict;
      tell(summary, mark);
      const lines = said.map((/** @type {string} */ text) => ({ text, mark: "" }));
      const printed = { kind: "code", lines, caption: say("kubectl"), signs: false };
      results.replaceChildren(...view.nodes(said.length ? [printed, ...parts] : parts));
      view.reach(results);
    } else if ("costs" in message) {
      const heading = message.costs && view.element("h2", "", message.costs.title);
      costs.replaceChildren(...(message.costs ? [heading, ...view.nodes(message.costs.parts)] : []));
      view.reach(costs);
    }
  }

  /** @param {any} error */
  function fail(error) {
    progress.hidden = true;
    results.replaceChildren();
    costs.replaceChildren();
    const how = error instanceof engine.Ended ? error.how : "died";
    tell(say(`ended.${how}`, { why: error.message, seconds: settings.limitMs / 1000 }), how === "cancelled" ? "" : "bad");
  }

  /** @param {boolean} is */
  function busy(is) {
    const had = document.activeElement;
    judgeButton.disabled = is;
    cancelButton.hidden = !is;
    results.setAttribute("aria-busy", String(is));
    if (is && had === judgeButton) cancelButton.focus();
    if (!is && (had === cancelButton || had === document.body)) judgeButton.focus();
  }

  /** The address that brings the texts to the page at *href*; "" where they are too long, which is told. @param {string} href */
  async function addressAt(href) {
    try {
      return new URL(await fragment.write(texts()), href).href;
    } catch {
      tell(say("link.long"), "bad");
      return "";
    }
  }

  async function copyLink() {
    const address = await addressAt(location.href);
    if (!address) return;
    location.replace(address);
    link.value = address;
    link.hidden = false;
    try {
      await navigator.clipboard.writeText(address);
      tell(say("link.copied"));
    } catch {
      link.select();
      tell(say("link.select"));
    }
  }

  /** What a link brings into the fields. */
  async function open() {
    if (location.href === link.value) return;
    try {
      const found = await fragment.read(location.hash);
      if (!found) return;
      for (const [name, field] of Object.entries(fields)) editors.fill(field, found[/** @type {"old"} */ (name)] ?? "");
      /** @type {HTMLDetailsElement} */ (byId("replaced")).open = Boolean(found.old);
      tell(say("link.opened"));
    } catch {
      tell(say("link.damaged"), "bad");
    }
  }

  /** To the other language with the same texts. @param {Event} event */
  async function goOn(event) {
    const { href } = /** @type {HTMLAnchorElement} */ (event.currentTarget);
    event.preventDefault();
    const address = await addressAt(href);
    if (address) location.assign(address);
  }

  for (const field of Object.values(fields)) editors.number(field);
  editors.fill(fields.definition, settings.example.definition ?? "");
  editors.fill(fields.object, settings.example.object ?? "");
  byId("form").addEventListener("submit", (event) => {
    event.preventDefault();
    judge();
  });
  byId("form").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) judge();
    if (event.key === "Escape") working?.abort();
  });
  cancelButton.addEventListener("click", () => working?.abort());
  byId("copy").addEventListener("click", copyLink);
  for (const one of document.querySelectorAll("a[hreflang]")) one.addEventListener("click", goOn);
  document.addEventListener("toggle", () => view.reach(document), true);
  addEventListener("hashchange", open);
  open();
})();
