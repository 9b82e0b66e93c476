/** Requests that can be left for a host: deploys and updates, and the sources that a deploy needs. @module */

import type { Caller, UserRole } from "../../access/caller.ts";
import { mayDo } from "../../access/caller.ts";
import { AppError } from "../../errors.ts";

/** Ids of containers by name: what a person saw, and what must still be there. */
export type Base = Record<string, string>;

/** A request that can be left. */
export interface Work {
  type: "stack" | "container";
  /** Name of the stack; name or id of the container. */
  name: string;
  role: UserRole;
  permission: `${string}:${string}`;
  /** Whether the body says for which sources it is, so that the host itself refuses others. */
  hasVersion: boolean;
}

/** The parts of a container by which it is found. */
interface Row {
  id: string;
  name: string;
  stack: string | null;
}

/** Nothing that deletes, ends or prunes, and no terminal: these need a person who sees the host. */
const ROUTES: [RegExp, Pick<Work, "type" | "role" | "permission">][] = [
  [/^POST \/api\/stacks()$/, { type: "stack", role: "admin", permission: "stacks:write" }],
  [
    /^PUT \/api\/stacks\/([\w.-]+)\/source$/,
    { type: "stack", role: "admin", permission: "stacks:write" },
  ],
  [
    /^POST \/api\/stacks\/([\w.-]+)\/deploy$/,
    { type: "stack", role: "admin", permission: "stacks:write" },
  ],
  [
    /^POST \/api\/stacks\/([\w.-]+)\/update$/,
    { type: "stack", role: "operator", permission: "stacks:update" },
  ],
  [
    /^POST \/api\/containers\/([\w.-]+)\/update$/,
    { type: "container", role: "operator", permission: "containers:update" },
  ],
];

/** Shortest beginning of an id that finds a container. */
const ID_MIN = 12;

/**
 * @param path Path and query at the host.
 * @throws {AppError} `invalid` for a request that cannot be left.
 */
export function findWork(method: string, path: string, body: string): Work {
  for (const [route, work] of ROUTES) {
    const [, name] = route.exec(`${method} ${path}`) ?? [];
    if (name === undefined) continue;
    const given = parseBody(body);
    const isNew = name === "";
    const hasVersion = isNew || typeof given.expectedVersion === "number";
    return { ...work, name: isNew ? String(given.name) : name, hasVersion };
  }
  throw new AppError(
    "invalid",
    "Only deploys and updates, and the sources of a stack, can be left for a host that is away",
  );
}

/** @throws {AppError} `forbidden`: with its role alone, because custom roles may change meanwhile. */
export function assertMayLeave({ rights: _, ...caller }: Caller, work: Work): void {
  if (mayDo(caller, work.role, work.permission)) return;
  throw new AppError("forbidden", `The role ${work.role} is required to leave this for a host`);
}

/**
 * The containers that a request is about. A stack may have none.
 *
 * @returns `undefined` for a container that the rows do not have.
 */
export function baseOf({ type, name }: Work, rows: Iterable<Row>): Base | undefined {
  const base: Base = {};
  for (const row of rows) {
    const isMeant = type === "stack" ? row.stack === name : isContainer(row, name);
    if (isMeant) base[row.name] = row.id;
  }
  return type === "container" && Object.keys(base).length !== 1 ? undefined : base;
}

/** Names of the containers that are not as they were. */
export function changesOf(before: Base, after: Base): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => before[name] !== after[name]);
}

const isContainer = ({ id, name }: Row, ref: string) =>
  name === ref || ref.length >= ID_MIN && id.startsWith(ref);

function parseBody(body: string): Record<string, unknown> {
  try {
    const given = JSON.parse(body);
    if (typeof given === "object" && given !== null) return given;
  } catch {
    // As below.
  }
  throw new AppError("invalid", "body: must be a JSON object");
}
