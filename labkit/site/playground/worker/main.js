// @ts-check
"use strict";

/**
 * The worker: starts the module, asks it, and makes of its answers what the page shows.
 *
 * It gets {start: {module, words}}, then any number of {id, ask: request} (answered as it is) and {id, judge: texts}
 * (answered in parts: verdict, costs, done). What fails is told as {id, failed}; then nothing of this worker can be
 * relied on any more, and the page ends it.
 */
const worker = (() => {
  /** More than this is never shown: a page of 3 MB of errors helps nobody. */
  const MOST = { rows: 300, characters: 20_000 };

  /** The definition whose costs were told last. */
  let costed = "";

  /** @param {{module: WebAssembly.Module, words: Record<string, string>}} given */
  async function start({ module, words }) {
    speech.learn(words);
    const scope = /** @type {any} */ (globalThis);
    scope.crdtraceReady = () => postMessage({ ready: true });
    const go = new scope.Go();
    go.run(await WebAssembly.instantiate(module, go.importObject));
  }

  /** The answer of the module, as a text. @param {object} request @returns {string} */
  const answer = (request) => /** @type {any} */ (globalThis).crdtrace(JSON.stringify(request));

  /** @param {object} request */
  const ask = (request) => json.read(answer(request));

  /** @param {number} id @param {{definition: string, object: string, old: string, fieldValidation: string}} texts */
  function judge(id, { definition, object, old, fieldValidation }) {
    const begun = performance.now();
    const verdict = judged({ definition, object, old, fieldValidation });
    postMessage({ id, verdict: bounded(verdict), ms: performance.now() - begun });
    if (definition !== costed) {
      const { result } = ask({ do: "cel-cost", definition });
      const told = result && costs.document(result, speech.say("costs.source"));
      postMessage({ id, costs: told ? bounded(told) : null });
      costed = definition;
    }
    postMessage({ id, done: true });
  }

  /** @param {{definition: string, object: string, old: string, fieldValidation: string}} texts */
  function judged({ definition, object, old, fieldValidation }) {
    const defined = ask({ do: "define", definition });
    if (defined.error) return failure(defined.error);
    const { verdict, lines, status, warnings } = defined.result;
    if (verdict === "refused") {
      return refused(status, lines);
    }
    if (!object.trim()) {
      const said = [...warnings.map(warning), `customresourcedefinition.apiextensions.k8s.io/${defined.result.name} created`];
      return told("good", speech.say("definition.accepted"), said, []);
    }
    const request = { do: "trace", definition, object, fieldValidation, ...(old.trim() ? { old } : {}) };
    const traced = ask(request);
    if (traced.error) return failure(traced.error);
    return path(defined.result, traced.result);
  }

  /** What a refusal of the definition says. @param {any} status @param {string[]} lines */
  const refused = (status, lines) =>
    told("bad", speech.say("definition.refused"), kubectl.refusal(status, lines, 'creating "definition.yaml"'), []);

  /** @param {any} definition @param {any} traced */
  function path(definition, traced) {
    const doing = traced.operation === "update" ? 'replacing "object.yaml"' : 'creating "object.yaml"';
    const shown = trace.document(traced);
    const said = traced.warnings.map(warning);
    if (traced.verdict === "accepted") said.push(...kubectl.accepted(definition, traced));
    if (traced.verdict === "refused") said.push(...kubectl.refusal(traced.status, traced.lines, doing));
    const marks = /** @type {Record<string, string>} */ ({ accepted: "good", refused: "bad" });
    return told(marks[traced.verdict] ?? "changed", shown.title, said, shown.parts);
  }

  /** @param {string} text */
  const warning = (text) => `Warning: ${text}`;

  /** No verdict, but why there is none; of a definition it may be the server's own refusal. @param {any} error */
  function failure({ kind, message, lines, status }) {
    if (kind === "definition" && status) return refused(status, lines);
    return told("bad", speech.say(`error.${kind}`), [], [make.lines([{ text: message, mark: "" }], "", false)]);
  }

  /** @param {string} mark @param {string} summary @param {string[]} said @param {Part[]} parts */
  const told = (mark, summary, said, parts) => ({ mark, summary, said, parts });

  /** The same with what is too long cut, and how much that is. @template T @param {T} value @returns {T} */
  function bounded(value) {
    /** @type {any} */
    const any = value;
    if (typeof any === "string") {
      const left = any.length - MOST.characters;
      return left > 0 ? /** @type {any} */ (`${any.slice(0, MOST.characters)}${speech.say("cut.text", { n: speech.numeral(left) })}`) : value;
    }
    if (Array.isArray(any)) {
      const kept = any.slice(0, MOST.rows).map(bounded);
      const left = any.length - kept.length;
      if (left > 0) kept.push(more(kept[0], speech.say("cut.rows", { n: speech.numeral(left) })));
      return /** @type {any} */ (kept);
    }
    if (typeof any !== "object" || any === null) return value;
    return /** @type {any} */ (Object.fromEntries(Object.entries(any).map(([key, one]) => [key, bounded(one)])));
  }

  /** One more item like *one*, that says *text*. @param {any} one @param {string} text @returns {any} */
  function more(one, text) {
    if (Array.isArray(one)) return one.map((_cell, index) => make.cell(index === 0 ? text : "", "quiet"));
    return typeof one === "object" ? { ...one, text, mark: "quiet" } : text;
  }

  /** @param {any} message */
  async function take({ start: given, id, ask: request, judge: texts }) {
    try {
      if (given) await start(given);
      else if (request) postMessage({ id, answer: answer(request), done: true });
      else judge(id, texts);
    } catch (error) {
      postMessage({ id, failed: String(error) });
    }
  }

  return { take };
})();

globalThis.onmessage = (/** @type {MessageEvent} */ event) => worker.take(event.data);
