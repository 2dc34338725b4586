// @ts-check
"use strict";

/** What the rules of a definition cost, and what would help: labkit.show.celcost, in the page. */
const costs = (() => {
  const { numeral, say } = speech;
  const NEAR = 0.1;
  const AS_FACTOR = 10;
  const SMALLEST_SHARE = 0.001;
  /** The server counts no further. */
  const SATURATED = String(2n ** 64n - 1n);
  /** Of more bounds together the first few are told, and how many others there are. */
  const MOST_BOUNDS = 8;
  const FEW_BOUNDS = 4;

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
    const totals = new Map(value.schemas.map((/** @type {any} */ schema) => [schema.version, schema.total]));
    const advice = each((one) => one.advice.map((/** @type {any} */ each) => advised(each, totals.get(one.version))));
    found.push(numbered(say("costs.advice"), advice, ordered));
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
    const limits = [first.expressionLimit, first.schemaLimit].map((limit) => say("costs.of", { n: numeral(plain(limit)) }));
    const version = several ? [say("costs.version")] : [];
    const last = ["places", "kind", "expression"].map((name) => say(`costs.${name}`));
    const rows = ordered.map((one, index) => {
      const known = one.estimatedCost !== null;
      const cost = known ? numeral(plain(one.estimatedCost)) : say(one.error ? "costs.uncompiled" : "costs.unestimated");
      const shares = [one.share.expression, one.share.schema].map((share) => (known ? part(share) : ""));
      const places = one.cardinality === null ? say("costs.unbounded") : numeral(plain(one.cardinality));
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
    if (value >= AS_FACTOR) return say("costs.times", { n: numeral(BigInt(Math.round(value))) });
    const percent = (/** @type {number} */ one) => say("costs.percent", { n: numeral(one * 100, 1) });
    return value >= SMALLEST_SHARE || value === 0 ? percent(value) : `< ${percent(SMALLEST_SHARE)}`;
  }

  /** @param {any} schema */
  function total(schema) {
    const share = Number(plain(schema.total)) / Number(plain(schema.limit));
    const fields = { total: numeral(plain(schema.total)), limit: numeral(plain(schema.limit)), share: part(share) };
    return make.cell(say("costs.total", fields), share > 1 ? "bad" : share >= NEAR ? "changed" : "");
  }

  /** One advice on an expression of a schema that costs *whole*, as a sentence. @param {any} advice @param {any} whole */
  function advised({ kind, bounds, oneMore, estimatedCost, total, tried, ...rest }, whole) {
    if (bounds.length === 0) return kind === "noBounds" ? hopeless({ estimatedCost, ...rest }) : say(`advice.${kind}`, { n: tried });
    const number = bounds.length === 1 ? "one" : "many";
    const fields = { bounds: bounded(bounds), cost: spent(estimatedCost), before: spent(whole), after: spent(total) };
    const brings = say(`advice.${kind === "total" ? "total" : "bounds"}.${number}`, fields);
    const told = kind === "room" ? say("advice.room", { told: brings }) : brings;
    return oneMore ? say(`advice.more.${number === "one" ? "one" : oneMore}`, { told }) : told;
  }

  /** That no bounds help, and why; for some something else does. @param {any} advice */
  function hopeless({ least, unsized, expression, estimatedCost }) {
    let told = least === undefined ? say("advice.noBounds") : say("advice.least", { cost: spent(least) });
    if (unsized) told = say("advice.unsized", { told, parts: unsized.join(say("advice.or")) });
    return expression ? say("advice.format", { told, expression, cost: spent(estimatedCost) }) : told;
  }

  /** @param {any[]} bounds */
  function bounded(bounds) {
    const said = (bounds.length <= MOST_BOUNDS ? bounds : bounds.slice(0, FEW_BOUNDS)).map(bound);
    if (said.length < bounds.length) said.push(say("advice.others", { n: numeral(bounds.length - said.length) }));
    return said.join(say("advice.and"));
  }

  /** A bound as an author writes it: its numbers are those of the manifest. @param {any} one */
  const bound = ({ keyword, value, present, field }) =>
    say(present === null ? "advice.bound" : "advice.bound.instead", {
      bound: `${keyword}: ${plain(value)}`,
      present: present === null ? "" : plain(present),
      field,
    });

  /** @param {any} cost */
  function spent(cost) {
    const told = plain(cost ?? 0);
    return told === SATURATED ? say("advice.saturated", { n: numeral(told) }) : numeral(told);
  }

  return { document };
})();
