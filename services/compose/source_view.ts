/** Versions of a stack's sources as the API shows them. @module */

import type { StackVersion } from "../../db/stack_versions.ts";
import { type Caller, includesRole } from "../access/caller.ts";
import type { StackKind } from "../stacks/groups.ts";
import { newDiffBudget, unifiedDiff } from "./diff.ts";
import { redactEnv, redactValues } from "./redacted_sources.ts";
import type { StoredSources } from "./validate.ts";

/** A version with its sources. */
export interface OpenedVersion {
  stored: StackVersion;
  sources: StoredSources;
}

/** A version without its sources. */
export interface StackSummary {
  name: string;
  kind: StackKind;
  version: number;
  /** Id of the user. */
  updatedBy: string;
  /** ISO 8601, UTC. */
  updatedAt: string;
}

export interface SourcesView {
  compose: string;
  env: string | Record<string, string>;
  files: Record<string, string>;
  profiles: string[];
  /** `disk`: the files of `directory` are the truth. */
  managed: "stored" | "disk";
  /** Of a stack on disk: absolute path on the host. */
  directory: string | null;
  /** Of a stack on disk: absolute paths of the Compose files; the first has the text `compose`. */
  configFiles: string[];
}

export type StackSourceView = StackSummary & SourcesView;

/** A version with its sources, as far as the caller may see them. */
export const viewVersion = (
  caller: Pick<Caller, "role">,
  { stored, sources }: OpenedVersion,
): StackSourceView => ({ ...summarizeVersion(stored), ...viewSources(caller, sources) });

/** Values of variables and files may be secrets, which only admins see. */
export function viewSources(
  caller: Pick<Caller, "role">,
  { compose, env = "", files = {}, profiles = [], place }: StoredSources,
): SourcesView {
  const isAdmin = includesRole(caller.role, "admin");
  return {
    compose,
    env: isAdmin ? env : redactEnv(env),
    files: isAdmin ? files : redactValues(files),
    profiles,
    managed: place ? "disk" : "stored",
    directory: place?.directory ?? null,
    configFiles: place?.configFiles ?? [],
  };
}

export const summarizeVersion = (
  { stack, kind, version, createdBy, createdAt }: StackVersion,
): StackSummary => ({ name: stack, kind, version, updatedBy: createdBy, updatedAt: createdAt });

/** A unified diff of the Compose text, the variables and the files; empty if they are equal. */
export function diffViews(before: StackSourceView, after: StackSourceView): string {
  const [from, to] = [namedTexts(before), namedTexts(after)];
  const names = [...new Set([...Object.keys(from), ...Object.keys(to)])];
  const budget = newDiffBudget();
  return names.map((file) =>
    unifiedDiff(from[file] ?? "", to[file] ?? "", {
      from: `${file} (version ${before.version})`,
      to: `${file} (version ${after.version})`,
    }, budget)
  ).join("");
}

/** All texts by the names that a diff shows. */
function namedTexts({ compose, env, files, profiles }: SourcesView): Record<string, string> {
  const lines = typeof env === "string"
    ? env
    : Object.entries(env).map(([name, value]) => `${name}=${value}\n`).join("");
  return {
    "compose.yaml": compose,
    ".env": lines,
    profiles: profiles.map((profile) => `${profile}\n`).join(""),
    ...files,
  };
}
