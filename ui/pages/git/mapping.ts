/** Mappings of a repository as lines of text. @module */

import type { GitRepository } from "../../api/types.ts";

type Mapping = GitRepository["mapping"][number];

const WORD = /(?:[^\s"]|"(?:\\.|[^"\\])*")+/g;
const DEPLOYS = ["manual", "plan", "auto"] as const;

export const LINE_PROBLEM =
  "Each line has a path, a name, and optionally manual, plan or auto, a " +
  "directory, hosts:label=value and env:NAME=value";

/** E.g. `shop/compose.yaml shop auto /srv/shop hosts:site=kiel env:DOMAIN=kiel.example.com`. */
export const lineOf = ({ path, name, deploy, directory, hosts, env }: Mapping): string =>
  [
    path,
    name,
    deploy,
    ...directory === null ? [] : [directory],
    ...Object.entries(hosts).map(([label, value]) => `hosts:${label}=${quoted(value)}`),
    ...Object.entries(env).map(([variable, value]) => `env:${variable}=${quoted(value)}`),
  ].map((word, at) => at < 2 ? quoted(word) : word).join(" ");

const quoted = (text: string) => /[\s"]/.test(text) ? JSON.stringify(text) : text;

/** @returns `undefined` for a line that is not a mapping. It does not have profiles. */
export function parseLine(line: string): Omit<Mapping, "profiles"> | undefined {
  const [path, name, ...rest] = line.match(WORD) ?? [];
  if (path === undefined || name === undefined) return undefined;
  const mapping: Omit<Mapping, "profiles"> = {
    path: unquoted(path),
    name: unquoted(name),
    deploy: "manual",
    directory: null,
    hosts: {},
    env: {},
  };
  for (const word of rest) {
    const deploy = DEPLOYS.find((each) => each === word);
    const [, kind, key, value] = /^(hosts|env):([^=]+)=(.*)$/s.exec(word) ?? [];
    if (deploy !== undefined) mapping.deploy = deploy;
    else if (word.startsWith("/")) mapping.directory = word;
    else if (kind === undefined) return undefined;
    else mapping[kind as "hosts" | "env"][key!] = unquoted(value!);
  }
  return mapping;
}

function unquoted(word: string): string {
  if (!word.startsWith('"')) return word;
  try {
    return JSON.parse(word);
  } catch {
    return word;
  }
}
