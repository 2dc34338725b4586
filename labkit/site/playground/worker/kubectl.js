// @ts-check
"use strict";

/**
 * What kubectl prints of the server's answer; lines of several errors are sorted, as everywhere in the course.
 * k8s.io/kubectl/pkg/cmd/util/helpers.go: checkErr, StandardErrorMessage, MultilineError.
 */
const kubectl = (() => {
  /** @param {any} status @param {string[]} lines @param {string} doing @returns {string[]} */
  function refusal(status, lines, doing) {
    const { kind = "", name = "", causes = [] } = status.details ?? {};
    if (status.reason !== "Invalid") {
      return [`Error from server${status.reason ? ` (${status.reason})` : ""}: error when ${doing}: ${status.message}`];
    }
    const head = kind || name ? `The ${kind} ${JSON.stringify(name)} is invalid` : "The request is invalid";
    if (causes.length === 0) return [kind || name || !status.message ? head : `${head}: ${status.message}`];
    return lines.length === 1 ? [`${head}: ${lines[0]}`] : [`${head}: `, ...lines.map((line) => `* ${line}`)];
  }

  /** @param {any} definition @param {any} traced @returns {string[]} */
  function accepted(definition, traced) {
    const name = traced.stored?.metadata?.name ?? "";
    const done = traced.operation === "update" ? "replaced" : "created";
    return [`${definition.plural}.${definition.group}/${name} ${done}`];
  }

  return { accepted, refusal };
})();
