/**
 * A real Git server, `git http-backend` as CGI, and a working copy that pushes to it with the real
 * `git`.
 *
 * @module
 */

import { dirname } from "node:path";
import type { Identity } from "./certificates.ts";

/** Nothing that the tests do not see: each process of it costs some milliseconds. */
const SETTINGS = Object.entries({
  "core.fsync": "none",
  "gc.auto": "0",
  "maintenance.auto": "false",
  "receive.autogc": "false",
});

/** A commit has the same id in every run. */
const ENVIRONMENT = {
  GIT_CONFIG_COUNT: `${SETTINGS.length}`,
  ...Object.fromEntries(SETTINGS.flatMap(([name, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, name],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ])),
  GIT_AUTHOR_NAME: "Ada",
  GIT_AUTHOR_EMAIL: "ada@example.org",
  GIT_COMMITTER_NAME: "Ada",
  GIT_COMMITTER_EMAIL: "ada@example.org",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_SYSTEM: "/dev/null",
  HOME: "/nonexistent",
};

export interface GitServer extends AsyncDisposable {
  /** Of the repository `NAME`: `${url}/NAME.git`. */
  url: string;
  /** Directory of the repositories. */
  root: string;
  /** Requests for repositories, e.g. `GET /shop.git/info/refs`, and their `authorization`. */
  requests: { line: string; authorization: string | null; protocol: string | null }[];
  /** Answers instead of the server; `undefined` lets it answer. */
  intercept: (request: Request) => Response | Promise<Response> | undefined;
  /**
   * Creates a repository, with a working copy.
   *
   * @param options.pushes Whether commits come by `git push`, which takes four times as long as a commit
   * in the bare repository itself.
   */
  create(name: string, options?: CreateOptions): Promise<WorkingCopy>;
}

interface CreateOptions {
  pushes?: boolean;
}

export interface WorkingCopy {
  url: string;
  /** Of the bare repository. */
  bare: string;
  directory: string;
  git(...args: string[]): Promise<string>;
  /** Writes files and commits them, also to the server. `null` removes one. @returns The id of the commit. */
  push(files: Record<string, string | Uint8Array | null>, message?: string): Promise<string>;
  write(files: Record<string, string | Uint8Array | null>): Promise<void>;
}

export async function gitServer(identity?: Identity): Promise<GitServer> {
  const root = await Deno.makeTempDir({ prefix: "longshore-git-" });
  const tls = identity;
  const requests: GitServer["requests"] = [];
  const parts: Pick<GitServer, "intercept"> = { intercept: () => undefined };
  const server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen: () => {},
    ...tls,
  }, async (request) => {
    const { pathname } = new URL(request.url);
    requests.push({
      line: `${request.method} ${pathname}`,
      authorization: request.headers.get("authorization"),
      protocol: request.headers.get("git-protocol"),
    });
    return await parts.intercept(request) ?? await backend(root, request);
  });
  const url = `${tls ? "https" : "http"}://127.0.0.1:${server.addr.port}`;
  const own: Omit<GitServer, "intercept"> = {
    url,
    root,
    requests,
    create: (name, options) => createRepository(root, url, name, options),
    async [Symbol.asyncDispose]() {
      await server.shutdown();
      await Deno.remove(root, { recursive: true });
    },
  };
  return Object.assign(parts, own);
}

async function createRepository(
  root: string,
  url: string,
  name: string,
  { pushes = false }: CreateOptions = {},
): Promise<WorkingCopy> {
  const [bare, directory] = [`${root}/${name}.git`, `${root}/copies/${name}`];
  const own = pushes ? `${directory}/.git` : bare;
  await initRepository(bare, `[core]\n\tbare = true\n[http]\n\treceivepack = true\n`);
  await Deno.mkdir(directory, { recursive: true });
  if (pushes) await initRepository(own, `[remote "origin"]\n\turl = ${bare}\n`);
  const git: WorkingCopy["git"] = (...args) =>
    runGit(directory, args, { GIT_DIR: own, GIT_WORK_TREE: directory });
  const write: WorkingCopy["write"] = async (files) => {
    for (const [path, content] of Object.entries(files)) {
      const full = `${directory}/${path}`;
      if (content === null) {
        await Deno.remove(full);
        continue;
      }
      await Deno.mkdir(dirname(full), { recursive: true });
      if (typeof content === "string") await Deno.writeTextFile(full, content);
      else await Deno.writeFile(full, content);
    }
    await git("add", "-A");
  };
  return {
    url: `${url}/${name}.git`,
    bare,
    directory,
    write,
    git,
    async push(files, message = "Change") {
      if (Object.keys(files).length > 0) await write(files);
      await git("commit", "-q", "--allow-empty", "-m", message);
      if (pushes) await git("push", "-q", "--force", "origin", "HEAD");
      const head = await Deno.readTextFile(`${own}/HEAD`);
      const [, ref] = /^ref: (.*)\n$/.exec(head) ?? [];
      return (ref ? await Deno.readTextFile(`${own}/${ref}`) : head).trim();
    },
  };
}

/** Empty repository as of `git init`, without a process. */
async function initRepository(directory: string, config: string): Promise<void> {
  for (const name of ["objects", "refs"]) {
    await Deno.mkdir(`${directory}/${name}`, { recursive: true });
  }
  await Deno.writeTextFile(`${directory}/HEAD`, "ref: refs/heads/main\n");
  await Deno.writeTextFile(`${directory}/config`, config);
}

/** @throws {Error} With what it printed. */
async function runGit(cwd: string, args: string[], env: Record<string, string>): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("git", {
    args,
    cwd,
    env: { ...ENVIRONMENT, ...env },
  }).output();
  if (!success) throw new Error(`git ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout).trim();
}

/** Runs `git http-backend` for one request (RFC 3875). */
async function backend(root: string, request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const child = new Deno.Command("git", {
    args: ["http-backend"],
    env: {
      ...ENVIRONMENT,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      GIT_PROTOCOL: request.headers.get("git-protocol") ?? "",
      REQUEST_METHOD: request.method,
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      CONTENT_TYPE: request.headers.get("content-type") ?? "",
      CONTENT_LENGTH: request.headers.get("content-length") ?? "",
    },
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const input = child.stdin.getWriter();
  const sent = request.arrayBuffer()
    .then((body) => input.write(new Uint8Array(body)))
    .then(() => input.close())
    .catch(() => {});
  const { stdout } = await child.output();
  await sent;
  const split = new TextDecoder("latin1").decode(stdout.subarray(0, 4_096)).indexOf("\r\n\r\n");
  const head = new TextDecoder().decode(stdout.subarray(0, split)).split("\r\n");
  const headers = new Headers(head.map((line) => {
    const at = line.indexOf(":");
    return [line.slice(0, at), line.slice(at + 1).trim()] as [string, string];
  }));
  const status = Number(headers.get("status")?.slice(0, 3) ?? 200);
  headers.delete("status");
  return new Response(stdout.slice(split + 4), { status, headers });
}
