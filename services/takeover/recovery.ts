/**
 * Variables that no file has, from the containers: where a Compose file says `${PASSWORD}`, a container
 * of the service has the value. Pure; the plan with the values shows whether they are right.
 *
 * @module
 */

import type { UnsetVariables } from "../compose/load/scope.ts";
import type { Container } from "../containers/inventory.ts";

type Parts = UnsetVariables["parts"];

/** Names of variables that this service sets itself, or that decide about files. */
const NEVER = /^(?:COMPOSE_|PATH$)/;

/**
 * Returns the values of variables by name. One that is what stands for the variable without a value is
 * left out.
 *
 * @param containers Those of the stack.
 */
export function recoverVariables(
  unset: readonly UnsetVariables[],
  containers: readonly Container[],
): Record<string, string> {
  const recovered = new Map<string, string>();
  for (const { path, parts } of unset) {
    const place = placeOf(path, containers);
    if (!place) continue;
    const { of, key, inner } = place;
    for (const text of of.flatMap((container) => textsOf(container, key, inner))) {
      const values = match(parts, text);
      if (!values) continue;
      for (const [name, value] of values) {
        if (!NEVER.test(name) && !recovered.has(name)) recovered.set(name, value);
      }
      break;
    }
  }
  return Object.fromEntries(recovered);
}

/** The containers, the key of the service, and the name in a map such as `environment`. */
function placeOf(path: string, containers: readonly Container[]) {
  const services = Map.groupBy(containers, ({ composeService }) => composeService ?? "");
  const own = [...services].filter(([name]) => path.startsWith(`services.${name}.`))
    .toSorted(([a], [b]) => b.length - a.length)[0];
  if (!own && path.startsWith("services.")) return undefined;
  const rest = own ? path.slice(`services.${own[0]}.`.length) : path.replace(/^[^.]*\./, "");
  const found = /^([a-z_]+)(?:\.([^[]+)|\[\d+\])?$/.exec(rest);
  if (found) return { of: own?.[1] ?? containers, key: found[1]!, inner: found[2] };
  // An anchor in another section names neither the service nor the key; mostly it is `environment`.
  return own
    ? undefined
    : { of: containers, key: "environment", inner: rest.slice(rest.lastIndexOf(".") + 1) };
}

/** Texts of a container that the file may have had for a key. */
function textsOf(container: Container, key: string, inner: string | undefined): string[] {
  const { image, name, ports, labels, details } = container;
  switch (key) {
    case "environment":
      return inner === undefined
        ? details.env.map(({ name, value }) => `${name}=${value}`)
        : details.env.filter(({ name }) => name === inner).map(({ value }) => value);
    case "labels":
      return inner === undefined
        ? Object.entries(labels).map(([label, value]) => `${label}=${value}`)
        : Object.hasOwn(labels, inner)
        ? [labels[inner]!]
        : [];
    case "image":
      return [image];
    case "container_name":
      return [name];
    case "user":
      return [details.user];
    case "working_dir":
      return [details.workingDir];
    case "command":
      return [...details.command, details.command.join(" ")];
    case "entrypoint":
      return [...details.entrypoint, details.entrypoint.join(" ")];
    case "ports":
      return ports.flatMap(portTexts);
    case "volumes":
      return details.mounts.flatMap(mountTexts);
    default:
      return [];
  }
}

function portTexts({ ip, publicPort, privatePort, type }: Container["ports"][number]): string[] {
  if (publicPort === null) return [];
  const base = [`${publicPort}:${privatePort}`, `${ip}:${publicPort}:${privatePort}`];
  return [...base, ...base.map((text) => `${text}/${type}`), `${publicPort}`, `${privatePort}`];
}

function mountTexts(
  { source, name, destination }: Container["details"]["mounts"][number],
): string[] {
  return [source, name ?? source].flatMap((from) => [
    `${from}:${destination}`,
    `${from}:${destination}:ro`,
    `${from}:${destination}:rw`,
    from,
  ]);
}

/**
 * The values of the variables of a template in a text; `undefined` if the text is not one of the
 * template. Each variable ends where the next part begins.
 */
function match(parts: Parts, text: string): Map<string, string> | undefined {
  const values = new Map<string, string>();
  let at = 0;
  let open: { name: string; fallback: string } | undefined;
  const end = (to: number) => {
    if (!open) return to === at;
    const value = text.slice(at, to);
    const isOther = values.has(open.name) && values.get(open.name) !== value;
    values.set(open.name, value);
    return !isOther;
  };
  for (const [index, part] of parts.entries()) {
    if (typeof part !== "string") {
      if (open) return undefined;
      open = part;
      continue;
    }
    if (part === "") continue;
    const isLast = index === parts.length - 1;
    const start = isLast ? text.length - part.length : open ? text.indexOf(part, at) : at;
    if (start < at || !text.startsWith(part, start) || !end(start)) return undefined;
    open = undefined;
    at = start + part.length;
  }
  if (!end(text.length)) return undefined;
  for (const part of parts) {
    if (typeof part !== "string" && values.get(part.name) === part.fallback) {
      values.delete(part.name);
    }
  }
  return values;
}
