/** Converts a `docker run` command into a Compose file. @module */

import { stringify } from "yaml";
import type { Holder } from "../../access/shares.ts";
import { AppError } from "../../errors.ts";
import type { Deps } from "../../deps.ts";
import { nearest } from "../../input/nearest.ts";
import type { Part } from "../generate/part.ts";
import { validateStack } from "../validate.ts";
import { commandWords } from "./command.ts";
import { ALIASES, boolean, type Conversion, type Option, OPTIONS } from "./options.ts";

/** Words before the options. */
const PROGRAM = /^(sudo )?(docker|podman|nerdctl) (container )?(run|create)$/;

/** Most words of {@linkcode PROGRAM}. */
const PROGRAM_WORDS = 4;

export interface ConvertedCommand {
  compose: string;
  /** Options that the file cannot say, and what to know about it. */
  warnings: string[];
}

/**
 * Converts a command. The file has passed the loader, so that it can be planned and deployed.
 *
 * @throws {AppError} `invalid` for another command, an unknown option, and a value that the loader
 * refuses.
 */
export async function convertCommand(
  deps: Pick<Deps, "composeLoader" | "config">,
  caller: Holder,
  command: string,
): Promise<ConvertedCommand> {
  const { file, warnings } = composeFileOf(commandWords(command));
  const compose = stringify(file, { lineWidth: 0 });
  const { bindAllow } = deps.config;
  const checked = await validateStack(
    deps,
    caller,
    { compose },
    { bindAllow },
    () => Promise.resolve([]),
  );
  const [wrong] = checked.errors;
  if (wrong) throw new AppError("invalid", `body.command: ${wrong.path} ${wrong.message}`);
  return { compose, warnings };
}

function composeFileOf(words: readonly string[]): { file: Part; warnings: string[] } {
  const conversion: Conversion = {
    service: {},
    networks: new Map(),
    attachment: {},
    volumes: new Set(),
    name: undefined,
    warnings: [],
  };
  const { networks, service, volumes, warnings } = conversion;
  const [image, ...command] = readOptions(conversion, withoutProgram(words));
  if (image === undefined) throw new AppError("invalid", "body.command: names no image");
  attachNetworks(conversion);
  const key = keyOf(conversion.name ?? image);
  return {
    file: {
      services: {
        [key]: {
          image,
          ...service,
          ...(command.length > 0 && { command }),
        },
      },
      ...(networks.size > 0 && {
        networks: Object.fromEntries(
          [...networks.keys()].map((name) => [name, { external: true }]),
        ),
      }),
      // The volume of the command, without a project's name before it.
      ...(volumes.size > 0 && {
        volumes: Object.fromEntries([...volumes].map((name) => [name, { name }])),
      }),
    },
    warnings,
  };
}

function withoutProgram(words: readonly string[]): readonly string[] {
  for (let count = 2; count <= PROGRAM_WORDS; count++) {
    if (PROGRAM.test(words.slice(0, count).join(" "))) return words.slice(count);
  }
  throw new AppError("invalid", "body.command: must begin with docker run or podman run");
}

/** Adds the options. @returns The words behind them: the image and its command. */
function readOptions(conversion: Conversion, words: readonly string[]): readonly string[] {
  let at = 0;
  while (at < words.length) {
    const word = words[at]!;
    if (word === "--") return words.slice(at + 1);
    if (!/^-./.test(word)) break;
    at += word.startsWith("--")
      ? addLong(conversion, word, words[at + 1])
      : addShort(conversion, word, words[at + 1]);
  }
  return words.slice(at);
}

/** `--name value`, `--name=value` or `--flag`. @returns How many words it has. */
function addLong(conversion: Conversion, word: string, next: string | undefined): number {
  const at = word.indexOf("=");
  const name = at < 0 ? word.slice(2) : word.slice(2, at);
  const option = optionOf(name, word);
  if (at >= 0) add(conversion, name, option, word.slice(at + 1));
  else if (option.isFlag) add(conversion, name, option, "true");
  else {
    add(conversion, name, option, valueFor(word, next));
    return 2;
  }
  return 1;
}

/** `-it`, `-t=false`, `-p 80:80`, `-p80:80` or `-itp 80:80`. @returns How many words it has. */
function addShort(conversion: Conversion, word: string, next: string | undefined): number {
  for (let at = 1; at < word.length; at++) {
    const name = word[at]!;
    const option = optionOf(name, `-${name}`);
    if (option.isFlag && word[at + 1] !== "=") {
      add(conversion, name, option, "true");
      continue;
    }
    if (option.isFlag) {
      add(conversion, name, option, word.slice(at + 2));
      return 1;
    }
    const value = word.slice(at + 1).replace(/^=/, "");
    add(conversion, name, option, value === "" ? valueFor(`-${name}`, next) : value);
    return value === "" ? 2 : 1;
  }
  return 1;
}

function optionOf(name: string, written: string): Option {
  const known = ALIASES[name] ?? name;
  if (Object.hasOwn(OPTIONS, known)) return OPTIONS[known]!;
  const meant = nearest(name, Object.keys(OPTIONS));
  const hint = meant === undefined ? "" : `; did you mean --${meant}?`;
  throw new AppError("invalid", `body.command: ${written.slice(0, 50)} is not an option${hint}`);
}

function add(conversion: Conversion, name: string, option: Option, value: string): void {
  const written = name.length === 1 ? `-${name}` : `--${name}`;
  try {
    const given = option.isFlag ? String(boolean(value)) : value;
    if (option.add) option.add(conversion, given);
    else conversion.warnings.push(`${written} has no key in a Compose file and was left out`);
  } catch (error) {
    throw new AppError("invalid", `body.command: ${written} ${(error as Error).message}`);
  }
}

function valueFor(option: string, next: string | undefined): string {
  if (next !== undefined) return next;
  throw new AppError("invalid", `body.command: ${option} needs a value`);
}

/** Puts `--ip` and `--network-alias` into the network of the command. */
function attachNetworks({ attachment, networks, service, warnings }: Conversion): void {
  const [first] = networks.keys();
  if (first !== undefined) Object.assign(networks.get(first)!, attachment);
  else if (Object.keys(attachment).length > 0) {
    warnings.push("Addresses and aliases need --network with the name of a network");
  }
  if (networks.size === 0) return;
  service.networks = [...networks.values()].every((each) => Object.keys(each).length === 0)
    ? [...networks.keys()]
    : Object.fromEntries(networks);
}

/** The service's key: the container's name, or the last part of the image's. */
const keyOf = (name: string): string =>
  name.split("/").at(-1)!.split(/[:@]/)[0]!.toLowerCase().replace(/[^a-z0-9._-]/g, "-") || "app";
