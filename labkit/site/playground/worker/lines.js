// @ts-check
"use strict";

/**
 * Two JSON values as the lines of one, with what went marked, and what came: labkit.show.json_lines, in the page.
 *
 * @typedef {{text: string, mark: string}} Line
 */
const objectLines = (() => {
  const { ABSENT, at, isObject, keys, lines, same } = json;
  const WHOLE = 160;
  const CONTEXT = 3;

  /** The lines of *after*, with those of *before* that are gone. @param {any} before @param {any} after @param {number} wholeUpTo @returns {Line[]} */
  function marked(before, after, wholeUpTo = WHOLE) {
    const all = [...walk(before === ABSENT ? after : before, after, "", "", "")];
    return all.length <= wholeUpTo ? all : aroundChanges(all, wholeUpTo);
  }

  /** @param {any} old @param {any} now @param {string} indent @param {string} head @param {string} tail @returns {Generator<Line>} */
  function* walk(old, now, indent, head, tail) {
    const deeper = `${indent}  `;
    if (isObject(old) && isObject(now) && keys(old, now).length > 0) {
      yield line(`${indent}${head}{`);
      const last = keys(now).at(-1) ?? "";
      for (const key of keys(old, now)) {
        yield* walk(at(old, key), at(now, key), deeper, `${JSON.stringify(key)}: `, key < last ? "," : "");
      }
      yield line(`${indent}}${tail}`);
    } else if (Array.isArray(old) && Array.isArray(now) && old.length === now.length && now.length > 0) {
      yield line(`${indent}${head}[`);
      for (const [index, one] of old.entries()) {
        yield* walk(one, now[index], deeper, "", index < now.length - 1 ? "," : "");
      }
      yield line(`${indent}]${tail}`);
    } else if (same(old, now)) {
      yield* written(now, indent, head, tail, "");
    } else {
      if (old !== ABSENT) yield* written(old, indent, head, tail, "removed");
      if (now !== ABSENT) yield* written(now, indent, head, tail, "added");
    }
  }

  /** @param {any} value @param {string} indent @param {string} head @param {string} tail @param {string} mark @returns {Line[]} */
  function written(value, indent, head, tail, mark) {
    const all = lines(value, indent);
    all[0] = `${indent}${head}${all[0]}`;
    all[all.length - 1] += tail;
    return all.map((text) => line(text, mark));
  }

  /** @param {string} text @param {string} mark */
  const line = (text, mark = "") => ({ text, mark });

  /** The changes, with some lines around; the first lines where nothing is marked. @param {Line[]} all @param {number} limit */
  function aroundChanges(all, limit) {
    const near = new Set();
    for (const [place, one] of all.entries()) {
      if (one.mark) for (let step = -CONTEXT; step <= CONTEXT; step++) near.add(place + step);
    }
    if (near.size === 0) for (let place = 0; place < Math.max(limit, WHOLE); place++) near.add(place);
    /** @type {Line[]} */
    const kept = [];
    let leftOut = 0;
    const tell = () => leftOut && kept.push(line(speech.say("lines.left out", { n: leftOut })));
    for (const [place, one] of all.entries()) {
      if (near.has(place)) {
        tell();
        leftOut = 0;
        kept.push(one);
      } else leftOut++;
    }
    tell();
    return kept;
  }

  return { WHOLE, marked };
})();
