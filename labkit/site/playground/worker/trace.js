// @ts-check
"use strict";

/**
 * The path of an object, stage by stage: labkit.show.trace and trace_stages, in the page. A test holds both to the same.
 *
 * @typedef {{field: string, what: string, detail: string, mark: string}} Row
 * @typedef {{number: number, stage: any, summary: string, rows: Row[], before: any, after: any, mark: string}} Station
 */
const trace = (() => {
  const { ABSENT, compact, differences, isObject, same } = json;
  const { numeral, knows, say, sayOf } = speech;
  const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
  /** @type {Record<string, string>} */
  const RULE_MARKS = { passed: "good", failed: "bad", error: "bad" };

  /** What each stage did, in a few words and row by row, by its name. @type {Record<string, (stage: any) => [string, Row[]]>} */
  const TOLD = {
    decoding(stage) {
      const found = [
        ...stage.duplicated.map((/** @type {string} */ path) => [path, say("decoding.twice")]),
        ...stage.unknown.map((/** @type {string} */ path) => [path, say("decoding.unknown")]),
      ];
      const about = linesAbout(stage.errors);
      const rows = found.map(([path, what]) => row(path, what, about(path), "changed"));
      const told = new Set(rows.map((one) => one.detail));
      const rest = stage.errors.map(onOneLine).filter((/** @type {string} */ line) => !told.has(line));
      rows.push(...rest.map((/** @type {string} */ line) => row("", say("decoding.unreadable"), line, "bad")));
      return [count(rows, "decoding", "complaints"), rows];
    },
    pruning(stage) {
      const rows = [
        ...stage.paths.map((/** @type {string} */ path) => row(path, say("pruning.pruned"), "", "removed")),
        ...stage.nulls.map((/** @type {string} */ path) => row(path, say("pruning.null"), "null", "removed")),
      ];
      return [count(rows, "pruning"), rows];
    },
    defaulting(stage) {
      const rows = stage.added.map((/** @type {any} */ one) =>
        row(one.path, say("defaulting.defaulted"), compact(one.value), "added"),
      );
      return [count(rows, "defaulting"), rows];
    },
    admission: (stage) => [sayOf("admission", stage.text), []],
    preparing(stage) {
      const rows = [
        ...stage.dropped.map((/** @type {string} */ path) => row(path, say("preparing.dropped"), "", "removed")),
        ...stage.kept.map((/** @type {string} */ path) => row(path, say("preparing.kept"), "", "quiet")),
      ];
      return [say("preparing.generation", { n: stage.generation }), rows];
    },
    validation(stage) {
      const rows = stage.errors.map((/** @type {any} */ error) => {
        const rest = without(error.line, `${error.field}: `);
        return error.forgiven
          ? row(error.field, say("forgiven"), rest, "quiet")
          : row(error.field, say("validation.refused"), rest, "bad");
      });
      return [count(rows, "validation", "complaints"), rows];
    },
    cel(stage) {
      if (stage.rules.length === 0) return [say("cel.none"), []];
      const counts = ["passed", "failed", "error", "skipped"]
        .map((name) => ({ name, n: stage.rules.filter((/** @type {any} */ one) => one.result === name).length }))
        .filter(({ n }) => n > 0)
        .map(({ name, n }) => say(`cel.${name}`, { n }))
        .join(", ");
      const fields = { counts, cost: numeral(stage.cost), budget: numeral(stage.budget) };
      return [say("cel.all", fields), stage.rules.map(rule)];
    },
    ratcheting(stage) {
      const rows = [
        ...stage.forgiven.map((/** @type {string} */ line) => row("", say("forgiven"), line, "quiet")),
        ...stage.warnings.map((/** @type {string} */ line) => row("", say("ratcheting.warning"), line, "changed")),
      ];
      return [count(rows, "ratcheting"), rows];
    },
    conversion(stage) {
      const rows = (stage.pruned ?? []).map((/** @type {string} */ path) => row(path, say("pruning.pruned"), "", "removed"));
      const told =
        stage.from === stage.to
          ? say("conversion.none", { version: stage.from })
          : say("conversion.done", { before: stage.from, after: stage.to });
      return [told, rows];
    },
    storing: (stage) => [stage.key, []],
  };
  for (const name of ["pruning", "defaulting", "conversion"]) {
    TOLD[`read-${name}`] = /** @type {(stage: any) => [string, Row[]]} */ (TOLD[name]);
  }

  /** @param {any} one @returns {Row} */
  function rule(one) {
    if (one.result === "skipped") {
      return row(one.path, say("rule.skipped", { why: sayOf("skipped", one.skipped) }), one.rule, "quiet");
    }
    const what = say(`rule.${one.result}${one.forgiven ? ".forgiven" : ""}`, { cost: numeral(one.cost) });
    const mark = one.forgiven ? "quiet" : (RULE_MARKS[one.result] ?? "");
    const said = without(one.line, `${one.path}: `) || one.message;
    return row(one.path, what, one.result !== "passed" && said ? `${one.rule}  →  ${said}` : one.rule, mark);
  }

  /** @param {string} field @param {string} what @param {string} detail @param {string} mark @returns {Row} */
  const row = (field, what, detail, mark) => ({ field, what, detail, mark });

  /** @param {string} text @param {string} head */
  const without = (text, head) => (text.startsWith(head) ? text.slice(head.length) : text);

  /** @param {string} text */
  const onOneLine = (text) => text.trim().split(/\s+/).join(" ");

  /** Gives the decoder's own words about a field; of many they are found by what is quoted. @param {string[]} lines */
  function linesAbout(lines) {
    /** @type {Map<string, string>} */
    const quoted = new Map();
    for (const line of lines) {
      for (const [, text = ""] of line.matchAll(/"(.*?)"/gs)) if (!quoted.has(text)) quoted.set(text, line);
    }
    return (/** @type {string} */ path) =>
      onOneLine(quoted.get(path) ?? lines.find((line) => line.includes(`"${path}"`)) ?? "");
  }

  /** @param {Row[]} rows @param {string} none @param {string} some */
  function count(rows, none, some = none) {
    if (rows.length === 0) return say(`${none}.none`);
    return say(`${some}.${rows.length === 1 ? "one" : "many"}`, { n: rows.length });
  }

  /** The stages in the order reached. @param {any} traced @returns {Station[]} */
  function stations(traced) {
    /** @type {Station[]} */
    const found = [];
    /** @type {any} */
    let before = null;
    for (const [index, stage] of traced.stages.entries()) {
      const after = "object" in stage ? stage.object : before;
      const [summary, told] = TOLD[stage.name]?.(stage) ?? [titleOf(stage), []];
      const rows = withValues(told, before, after);
      const mark = rows.some((one) => one.mark === "bad") ? "bad" : "";
      found.push({ number: index + 1, stage, summary, rows, before: before ?? ABSENT, after, mark });
      before = after;
    }
    const last = found.at(-1);
    if (traced.verdict === "refused" && last && !found.some((one) => one.mark)) last.mark = "bad";
    return found;
  }

  /** The rows; those of something taken away with the value it had. @param {Row[]} rows @param {any} before @param {any} after */
  function withValues(rows, before, after) {
    const wants = (/** @type {Row} */ one) => one.mark === "removed" && !one.detail;
    if (!rows.some(wants)) return rows;
    const had = new Map();
    for (const one of differences(before, after)) if (!had.has(one.path)) had.set(one.path, one.before);
    const value = (/** @type {string} */ field) => (had.has(field) ? had.get(field) : ABSENT);
    return rows.map((one) => (wants(one) ? { ...one, detail: compact(value(one.field)) } : one));
  }

  /** @param {any} stage */
  const titleOf = (stage) => (knows(`stage.${stage.name}`) ? say(`stage.${stage.name}`) : stage.title);

  /** Each stage as a fold with the object after it, then the server's answer, and what is stored and read. @param {any} traced */
  function document(traced) {
    const folds = stations(traced).map((one) => {
      const told = say("pages.told", { name: sayOf("name", one.stage.name), summary: one.summary });
      return make.fold(`${one.number} ${told}`, parts(one), one.mark, one.rows.length > 0);
    });
    return make.document(title(traced), [make.note(say("folds")), ...folds, ...outcome(traced)]);
  }

  /** What was traced, and the verdict. @param {any} traced */
  function title(traced) {
    const first = traced.stages.map((/** @type {any} */ stage) => stage.object).find(isObject) ?? {};
    const metadata = isObject(first.metadata) ? first.metadata : {};
    const words = [first.kind, metadata.name].filter(Boolean);
    let named = words.length > 0 ? words.join(" ") : say("title.nameless");
    if (metadata.namespace) named = say("title.in", { name: named, namespace: metadata.namespace });
    const version = String(first.apiVersion ?? "").split("/").at(-1);
    const told = [named, version, say(`done.${traced.operation}`)].filter(Boolean).join(", ");
    if (traced.operation === "read" && traced.verdict === "accepted") return told;
    const judged = say("title.judged", { what: told, verdict: say(`verdict.${traced.verdict}`) });
    if (!traced.reason) return judged;
    const joint = traced.verdict === "accepted" ? "title.but" : "title.because";
    return say(joint, { what: judged, reason: traced.reason });
  }

  /** What a stage did, then the object after it. @param {Station} one */
  function parts(one) {
    const found = [make.note(titleOf(one.stage))];
    if (one.rows.length > 0) {
      const columns = ["field", "what", "detail"].map((name) => say(`column.${name}`));
      const rows = one.rows.map((told) => [make.code(told.field), make.cell(told.what, told.mark), make.code(told.detail)]);
      found.push(make.table(columns, rows));
    }
    if (one.before === ABSENT || !same(one.before, one.after)) {
      const [old, limit] = one.before === ABSENT ? [ABSENT, objectLines.WHOLE] : [shown(one.before), 0];
      found.push(make.lines(objectLines.marked(old, shown(one.after), limit), say("object.after")));
    } else {
      found.push(make.note(say("object.unchanged")));
    }
    found.push(make.facts([[say("object.by"), make.code(one.stage.source, "quiet")]]));
    return found;
  }

  /** @param {any} traced */
  function outcome(traced) {
    const found = traced.warnings.map((/** @type {string} */ text) => make.note(say("outcome.warning", { text })));
    if (traced.verdict === "refused") {
      const status = `${traced.status?.code ?? ""} ${traced.status?.reason ?? ""}`.trim();
      const lines = traced.lines.map((/** @type {string} */ text) => ({ text, mark: "" }));
      found.push(make.lines(lines, say("outcome.answer", { status })));
    }
    const { stored, read } = traced;
    if (stored !== null && read !== null && same(stored, read)) return [...found, held([["outcome.both", stored]])];
    const pairs = [["outcome.stored", stored], ["outcome.read", read]].filter(([, value]) => value !== null);
    return pairs.length > 0 ? [...found, held(pairs)] : found;
  }

  /** @param {any[][]} pairs */
  const held = (pairs) => make.facts(pairs.map(([id, value]) => [say(id), make.code(compact(shown(value)))]));

  /** Without what is long and no part of what is traced. @param {any} value */
  function shown(value) {
    if (!isObject(value) || !isObject(value.metadata)) return value;
    const { managedFields: _, ...metadata } = value.metadata;
    if (isObject(metadata.annotations) && Object.hasOwn(metadata.annotations, LAST_APPLIED)) {
      metadata.annotations = { ...metadata.annotations, [LAST_APPLIED]: "…" };
    }
    return { ...value, metadata };
  }

  return { document, title };
})();
