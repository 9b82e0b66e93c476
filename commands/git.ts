/** `longshore git`: repositories whose commits become versions of stacks. @module */

import type { RepositoryView, RepositoryWithSecret } from "../services/git/repositories.ts";
import { trimEnd } from "../services/text/trim_end.ts";
import { parseArguments, subcommand } from "./arguments.ts";
import { readSecret } from "./password_input.ts";
import { EXIT, type Program } from "./program.ts";
import { connectService } from "./service_client.ts";
import { readText } from "./stack_sources.ts";
import { printTable } from "./table.ts";

const REPOSITORIES = "/api/git/repositories";

export function git(program: Program): Promise<number> {
  const { name, program: rest } = subcommand("git", program, ["add", "status"]);
  return { add, status }[name](rest);
}

async function add(program: Program): Promise<number> {
  const { values: [url], options } = parseArguments("git add", program, ["URL"], {
    name: "value",
    branch: "value",
    path: "value",
    stack: "value",
    deploy: "value",
    username: "value",
    secret: "flag",
    signers: "value",
    json: "flag",
  });
  const { print, note, signal } = program;
  const { path, username, branch = null, stack: name = "*", deploy = "manual", signers } = options;
  const service = connectService(program);
  const added: RepositoryWithSecret = JSON.parse(
    await service.post(REPOSITORIES, {
      name: options.name ?? nameOf(url),
      url,
      branch,
      mapping: path === undefined ? [] : [{ path, name, deploy }],
      ...(options.secret && {
        auth: username === undefined ? "token" : "basic",
        secret: await readSecret(username === undefined ? "Token" : "Password", program),
        ...(username !== undefined && { username }),
      }),
      ...(signers !== undefined && {
        signatures: "required",
        allowedSigners: readText(signers),
      }),
    }, signal),
  );
  const printHook = () => {
    print(`Webhook: ${added.webhookPath}`);
    print(`Secret: ${added.webhookSecret}`);
    note("Save the secret now. It is not shown again.");
  };
  const own = `${REPOSITORIES}/${added.id}`;
  const fetched = await service.post(`${own}/fetch`, {}, signal).catch(async (error) => {
    // The same command can be run again with another address or token.
    const isRemoved = FETCH_FAILURES.includes(service.statusOf(error)!) &&
      await service.delete(own, AbortSignal.timeout(REMOVE_MS)).then(() => true, () => false);
    if (!isRemoved) {
      printHook();
      note("The repository stays, because the service has not said that it cannot be fetched.");
    }
    throw error;
  });
  const repository: RepositoryView = JSON.parse(fetched);
  if (options.json) print(JSON.stringify({ ...repository, webhookSecret: added.webhookSecret }));
  else {
    printHook();
    printRepositories(program, [repository]);
  }
  return repository.refused === null ? EXIT.ok : EXIT.failure;
}

/** Answers that say that a repository cannot be fetched; after others, the fetch may go on. */
const FETCH_FAILURES = [404, 502];

/** Wait for the removal of a repository, in milliseconds. */
const REMOVE_MS = 10_000;

/** `https://git.example.com/ada/stacks.git` is `stacks`. */
const nameOf = (url: string) => trimEnd(url, "/").replace(/\.git$/, "").split("/").at(-1)!;

async function status(program: Program): Promise<number> {
  const { options } = parseArguments("git status", program, [], { json: "flag" });
  const text = await connectService(program).text(REPOSITORIES, program.signal);
  if (options.json) program.print(text);
  else printRepositories(program, JSON.parse(text).repositories);
  return EXIT.ok;
}

function printRepositories(program: Program, repositories: readonly RepositoryView[]): void {
  const { print, note } = program;
  if (repositories.length === 0) return print("No Git repositories.");
  printTable(program, [
    ["REPOSITORY", "COMMIT", "AUTHOR", "STACK", "STATE"],
    ...repositories.flatMap(({ name, head, stacks }) => {
      const commit = [name, head?.id.slice(0, 10) ?? "none", head?.author ?? ""];
      if (stacks.length === 0) return [[...commit, "", ""]];
      return stacks.map((stack) => [...commit, stack.name, stack.state]);
    }),
  ]);
  for (const { name, error, refused, problems } of repositories) {
    for (const text of [error, refused?.reason, ...problems]) {
      if (text !== null && text !== undefined) note(`${name}: ${text}`);
    }
  }
}
