/** Loading of projects as plain data, which passes to a worker and back. @module */

import { loadProject, type ProjectSources } from "./load.ts";
import type { Project } from "./resolve.ts";
import type { LoadIssue, UnbuiltImage, UnsetVariables } from "./scope.ts";

/** Sources whose files are given by path: relative to the project's directory, or absolute. */
export interface GivenSources extends Omit<ProjectSources, "readFile"> {
  files: Readonly<Record<string, string>>;
}

/** A `LoadedProject` as plain data. */
export interface LoadedTexts {
  project: Project | null;
  errors: LoadIssue[];
  warnings: LoadIssue[];
  builds: UnbuiltImage[];
  unset: UnsetVariables[];
  contents: [path: string, text: string][];
  values: string[];
  /** Paths of all files that the project names, also of missing ones. */
  asked: string[];
}

/** Limit of the result as JSON, in UTF-16 units. */
const RESULT_MAX = 16 * 1024 * 1024;

const REFUSED: LoadedTexts = {
  project: null,
  errors: [{
    path: "",
    file: null,
    line: 1,
    column: 1,
    message: "makes the project too large once everything is expanded",
  }],
  warnings: [],
  builds: [],
  unset: [],
  contents: [],
  values: [],
  asked: [],
};

/**
 * Loads a project.
 *
 * @param job JSON of {@linkcode GivenSources}.
 * @returns JSON of {@linkcode LoadedTexts}.
 */
export async function loadTexts(job: string): Promise<string> {
  try {
    const result = JSON.stringify(await load(JSON.parse(job)));
    if (result.length <= RESULT_MAX) return result;
  } catch (error) {
    // The stack or a string was too small for it.
    if (!(error instanceof RangeError)) throw error;
  }
  return JSON.stringify(REFUSED);
}

async function load({ files, ...sources }: GivenSources): Promise<LoadedTexts> {
  const asked = new Set<string>();
  const { project = null, contents, ...loaded } = await loadProject({
    ...sources,
    readFile(path) {
      asked.add(path);
      return Object.hasOwn(files, path) ? files[path] : undefined;
    },
  });
  return { ...loaded, project, contents: [...contents], asked: [...asked] };
}
