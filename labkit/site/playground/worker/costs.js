// @ts-check
"use strict";

/** What the rules of a definition cost, and what would help: labkit.show.celcost, in the page. */
const costs = (() => {
  const { grouped, say } = speech;
  const NEAR = 0.1;
  const AS_FACTOR = 10;
  const SMALLEST_SHARE = 0.001;

  /** @typedef {[any, string]} Said  An expression, or null, and a text about it. */

  /** @param {any} value @param {string} source */
  function document(value, source) {
    const cost = (/** @type {any} */ one) => Number(plain(one.estimatedCost ?? 0));
    const ordered = value.expressions.toSorted((/** @type {any} */ one, /** @type {any} */ other) => cost(other) - cost(one));
    const verdict = say(value.lines.length > 0 ? "costs.refused" : "costs.accepted");
    const each = (/** @type {(one: any) => string[]} */ texts) =>
      ordered.flatMap((/** @type {any} */ one) => texts(one).map((text) => [one, text]));
    const found = [];
    if (ordered.length > 0) {
      found.push(table(ordered, value.schemas.length > 1));
      found.push(make.facts(value.schemas.map((/** @type {any} */ one) => [say("costs.all", one), total(one)])));
      found.push(numbered(say("costs.path"), each((one) => [one.path]), ordered));
    } else {
      found.push(make.note(say("costs.none")));
    }
    found.push(numbered(say("costs.advice"), each((one) => one.advice.map((/** @type {any} */ advice) => advice.text)), ordered));
    const others = value.lines
      .filter((/** @type {string} */ line) => !ordered.some((/** @type {any} */ one) => line.startsWith(`${one.path}: `)))
      .map((/** @type {string} */ line) => [null, line]);
    const said = [...each((one) => (one.error ? one.error.split("\n") : [])), ...others];
    found.push(numbered(say("costs.said"), said, ordered, "bad"));
    const kept = found.filter((part) => part.kind !== "table" || part.rows.length > 0);
    return make.document(say("costs.title", { source, verdict }), kept);
  }

  /** Texts under the numbers of their expressions. @param {string} head @param {Said[]} said @param {any[]} ordered @param {string} mark */
  function numbered(head, said, ordered, mark = "") {
    const number = (/** @type {any} */ one) => (one === null ? "" : String(ordered.indexOf(one) + 1));
    return make.table(["#", head], said.map(([one, text]) => [make.cell(number(one)), make.cell(text, mark)]));
  }

  /** @param {any[]} ordered @param {boolean} several */
  function table(ordered, several) {
    const [first] = ordered;
    const limits = [first.expressionLimit, first.schemaLimit].map((limit) => say("costs.of", { n: grouped(plain(limit)) }));
    const version = several ? [say("costs.version")] : [];
    const last = ["places", "kind", "expression"].map((name) => say(`costs.${name}`));
    const rows = ordered.map((one, index) => {
      const known = one.estimatedCost !== null;
      const cost = known ? grouped(plain(one.estimatedCost)) : say(one.error ? "costs.uncompiled" : "costs.unestimated");
      const shares = [one.share.expression, one.share.schema].map((share) => (known ? part(share) : ""));
      const places = one.cardinality === null ? say("costs.unbounded") : grouped(plain(one.cardinality));
      return [
        make.cell(String(index + 1)),
        ...(several ? [make.cell(one.version)] : []),
        ...[cost, ...shares].map((text) => make.cell(text, mark(one))),
        make.cell(places),
        make.cell(one.kind),
        make.code(one.expression),
      ];
    });
    return make.table(["#", ...version, say("costs.cost"), ...limits, ...last], rows);
  }

  /** A count as digits, which may be a text or a number with a text of its own. @param {any} count */
  const plain = (count) => (typeof count === "object" ? count.source : String(count));

  /** @param {any} one */
  function mark(one) {
    const over = one.estimatedCost !== null && BigInt(plain(one.estimatedCost)) > BigInt(plain(one.expressionLimit));
    if (one.error || over) return "bad";
    return one.share.expression >= NEAR || one.share.schema >= NEAR ? "changed" : "";
  }

  /** @param {any} share */
  function part(share) {
    const value = Number(plain(share));
    if (value >= AS_FACTOR) return say("costs.times", { n: grouped(BigInt(Math.round(value))) });
    const percent = (/** @type {number} */ one) => `${(one * 100).toFixed(1)}%`;
    return value >= SMALLEST_SHARE || value === 0 ? percent(value) : `< ${percent(SMALLEST_SHARE)}`;
  }

  /** @param {any} schema */
  function total(schema) {
    const share = Number(plain(schema.total)) / Number(plain(schema.limit));
    const fields = { total: grouped(plain(schema.total)), limit: grouped(plain(schema.limit)), share: part(share) };
    return make.cell(say("costs.total", fields), share > 1 ? "bad" : share >= NEAR ? "changed" : "");
  }

  return { document };
})();
