/** Fetches from a real Git server. @module */

import { deepEqual, equal, rejects } from "node:assert/strict";
import {
  fetchCommit,
  type FollowedRef,
  openBare,
  readRemoteCommit,
} from "../../../services/git/fetch/bare.ts";
import type { Remote } from "../../../services/git/fetch/http.ts";
import { openRepository, readNewest } from "../../../services/git/fetch/repository.ts";
import { openTree } from "../../../services/git/fetch/tree.ts";
import { startRepositoryWorker } from "../../../services/git/fetch/worker_script.ts";
import { createGitRounds } from "../../../services/git/rounds.ts";
import { createAuthority } from "../../helpers/certificates.ts";
import { temporaryDirectory } from "../../helpers/command.ts";
import { gitServer, type WorkingCopy } from "../../helpers/git_server.ts";
import { startProxy } from "../../helpers/proxy.ts";
import { testConfig } from "../../helpers/test_app.ts";

const main: FollowedRef = { kind: "branch", name: "main" };
const tag: FollowedRef = { kind: "tag", name: "v1" };
const COMPOSE = "services:\n  web:\n    image: nginx\n";

const remoteOf = ({ url }: Pick<WorkingCopy, "url">, more: Partial<Remote> = {}): Remote => ({
  url,
  authorization: null,
  caCertificate: null,
  ...more,
});

const ADVERTISEMENT = { "content-type": "application/x-git-upload-pack-advertisement" };

/** A list of refs (protocol 1). */
function listOf(head: string, refs: readonly string[], capabilities = "side-band-64k"): string {
  const line = (text: string) => (text.length + 4).toString(16).padStart(4, "0") + text;
  return [
    line("# service=git-upload-pack\n"),
    "0000",
    line(`${head} HEAD\0${capabilities}\n`),
    ...refs.map((ref) => line(`${head} ${ref}\n`)),
    "0000",
  ].join("");
}

/** A list of more than 64 KiB. */
const longListOf = (head: string): string =>
  listOf(head, [
    "refs/heads/main",
    ...Array.from({ length: 2_000 }, (_, at) => `refs/heads/b${at}`),
  ]);

Deno.test("commits are fetched from a Git server", async (t) => {
  await using server = await gitServer();
  using data = temporaryDirectory();
  const deps = { config: testConfig({ dataDir: data.path, outboundAllow: ["127.0.0.1"] }) };
  const fetch = (copy: WorkingCopy, ref = main, more: Partial<Remote> = {}) =>
    fetchCommit(deps, copy.bare.split("/").at(-1)!, remoteOf(copy, more), ref);
  const bareOf = ({ bare }: WorkingCopy) => openBare(deps, bare.split("/").at(-1)!);
  const fails = async (work: Promise<unknown>, message: string | RegExp) =>
    await rejects(work, { message });

  await t.step("a push is fetched with the commits since the last fetch", async () => {
    const shop = await server.create("shop", { pushes: true });
    const first = await shop.push({ "compose.yaml": COMPOSE }, "Add shop\n\nWith details");
    equal(await readRemoteCommit(deps, remoteOf(shop), main), first);
    equal(await fetch(shop), first);
    await shop.push({ "a.txt": "1" });
    const second = await shop.push({ "compose.yaml": null, "app/compose.yaml": COMPOSE }, "Rename");
    equal(await fetch(shop), second);
    const bare = await bareOf(shop);
    const { commits, isForward, isPartial } = await bare.range(first, second);
    deepEqual({ count: commits.length, isForward, isPartial }, {
      count: 2,
      isForward: true,
      isPartial: false,
    });
    const { author, message } = await bare.commit(first);
    deepEqual({ author, message }, { author: "Ada <ada@example.org>", message: "Add shop" });
    equal(await openTree(bare, second).read("app/compose.yaml"), COMPOSE);
    equal(await openTree(bare, second).read("compose.yaml"), undefined);
  });

  await t.step("an amended and a forced commit are not forward", async () => {
    const shop = await server.create("forced", { pushes: true });
    await shop.push({ "a.txt": "1" });
    const second = await shop.push({ "a.txt": "2" });
    equal(await fetch(shop), second);
    await shop.git("commit", "-q", "--amend", "-m", "Amended");
    const amended = await shop.push({}, "On top");
    equal(await fetch(shop), amended);
    const { isForward } = await (await bareOf(shop)).range(second, amended);
    equal(isForward, false);
  });

  await t.step("a merge has the commits of both sides", async () => {
    const shop = await server.create("merge", { pushes: true });
    const first = await shop.push({ "a.txt": "1" });
    equal(await fetch(shop), first);
    await shop.git("checkout", "-q", "-b", "side");
    await shop.write({ "side.txt": "1" });
    await shop.git("commit", "-q", "-m", "Side");
    await shop.git("checkout", "-q", "main");
    await shop.push({ "a.txt": "2" });
    await shop.git("merge", "-q", "--no-ff", "-m", "Merge", "side");
    const merged = await shop.push({}, "After");
    equal(await fetch(shop), merged);
    const range = await (await bareOf(shop)).range(first, merged);
    deepEqual([range.commits.length, range.isPartial], [4, false]);
  });

  await t.step("a tag, a commit and the default branch can be followed", async () => {
    const shop = await server.create("tagged", { pushes: true });
    const tagged = await shop.push({ "a.txt": "1" });
    await shop.git("tag", "-a", "-m", "One", "v1");
    await shop.git("push", "-q", "origin", "v1");
    const newest = await shop.push({ "a.txt": "2" });
    equal(await readRemoteCommit(deps, remoteOf(shop), tag), tagged);
    equal(await fetch(shop, tag), tagged);
    equal(await fetch(shop, { kind: "head", name: "" }), newest);
    equal(await readRemoteCommit(deps, remoteOf(shop), { kind: "head", name: "" }), newest);
    equal(await fetch(shop, { kind: "commit", name: newest }), newest);
  });

  await t.step("a deleted branch and an empty repository are said", async () => {
    const shop = await server.create("deleted", { pushes: true });
    const empty = /^The repository (has no commits|does not have the branch main)$/;
    await fails(fetch(shop), empty);
    await shop.push({ "a.txt": "1" });
    await fetch(shop);
    await Deno.writeTextFile(`${shop.bare}/HEAD`, "ref: refs/heads/other\n");
    await shop.git("push", "-q", "origin", "HEAD:other", ":main");
    equal(await readRemoteCommit(deps, remoteOf(shop), main), undefined);
    await fails(fetch(shop), "The repository does not have the branch main");
  });

  await t.step("names, line ends and links are those of the commit", async () => {
    const shop = await server.create("names", { pushes: true });
    await shop.push({ 'odd " näme\n.txt': "odd", "crlf.txt": "a\r\nb\r\n", "lib/x.txt": "x" });
    await Deno.symlink("lib/x.txt", `${shop.directory}/link.txt`);
    await Deno.symlink("../../etc/passwd", `${shop.directory}/lib/out`);
    await Deno.symlink("/etc/passwd", `${shop.directory}/root`);
    await Deno.symlink("loop", `${shop.directory}/loop`);
    await shop.write({
      lfs: "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
      bytes: new Uint8Array([0xff, 0xfe]),
      large: "x".repeat(1024 * 1024 + 1),
    });
    const own = await shop.push({});
    await shop.git("update-index", "--add", "--cacheinfo", `160000,${own},sub`);
    await shop.git("commit", "-q", "-m", "Submodule");
    await shop.git("push", "-q", "origin", "HEAD");
    const tree = openTree(await bareOf(shop), await fetch(shop));
    equal(await tree.read('odd " näme\n.txt'), "odd");
    equal(await tree.read("crlf.txt"), "a\r\nb\r\n");
    equal(await tree.read("link.txt"), "x");
    for (
      const [path, problem] of [
        ["lib/out", "lib/out is a symbolic link that leads out of the repository"],
        ["root", "root is a symbolic link that leads out of the repository"],
        ["loop", "loop is a symbolic link that leads out of the repository"],
        ["../x", "../x leads out of the repository"],
        ["lib/../../x", "lib/../../x leads out of the repository"],
        ["sub/x", "sub is a submodule, which is not fetched"],
        ["lfs", "lfs is stored with Git LFS, whose files are not fetched"],
        ["bytes", "bytes is not text in UTF-8"],
        ["large", "large is larger than 1 MiB"],
        ["lib", "lib is a directory"],
      ] as const
    ) await fails(tree.read(path), problem);
  });

  await t.step("a server of protocol 1 and one without shallow fetches suffice", async () => {
    const old = await server.create("old");
    await old.push({ "a.txt": "1" });
    const head = await old.push({ "a.txt": "2" });
    await Deno.writeTextFile(`${old.bare}/config`, "[protocol]\nversion = 0\n", { append: true });
    server.intercept = (request) =>
      request.method === "GET" ? withoutShallow(request.url, server.root) : undefined;
    try {
      equal(await readRemoteCommit(deps, remoteOf(old), main), head);
      equal(await fetch(old), head);
    } finally {
      server.intercept = () => undefined;
    }
  });

  await t.step("a repository beyond the limit is refused", async () => {
    const large = await server.create("large");
    await large.push({ "a.txt": "1" });
    const zeros = new Uint8Array(1024 * 1024);
    server.intercept = (request) =>
      request.method === "POST"
        ? new Response(ReadableStream.from(Array.from({ length: 65 }, () => zeros)))
        : undefined;
    await fails(fetch(large), "The repository is larger than 64 MiB, which is the limit");
    server.intercept = () => undefined;
  });

  await t.step("an answer that is cut or refused is said", async () => {
    const shop = await server.create("refused");
    await shop.push({ "a.txt": "1".repeat(100) });
    const refusals: [Response, string | RegExp][] = [
      [new Response(null, { status: 401 }), /credentials.*\(401\)$/],
      [new Response(null, { status: 403 }), /does not allow reading the repository \(403\)$/],
      [new Response(null, { status: 404 }), /does not have this repository.*\(404\)$/],
      [new Response(null, { status: 500 }), /answered with status 500$/],
      [new Response("<html>"), /^The server d.* not answer as a Git server does/],
    ];
    for (const [response, message] of refusals) {
      server.intercept = () => response;
      await fails(fetch(shop), message);
    }
    server.intercept = (request) =>
      request.method === "POST" ? new Response("0008NAK\n0030\x01PACK") : undefined;
    await fails(fetch(shop), /damaged pack|did not answer as a Git server does|without an answer/);
    server.intercept = () => undefined;
    equal(typeof await fetch(shop), "string");
  });

  await t.step("names and ids of a hostile server lead nowhere else", async () => {
    const shop = await server.create("hostile");
    const head = await shop.push({ "a.txt": "1" });
    const up = "refs/heads/../../../../../escaped";
    const lists = [
      listOf(head, [up], `side-band-64k symref=HEAD:${up}`),
      listOf(head, [up, "refs/heads/main"], `side-band-64k symref=HEAD:${up}`),
      listOf(`../../${head}`, ["refs/heads/main"]),
      listOf(`${head}/../x`, ["refs/heads/main"]),
    ];
    const notGit =
      /^The server did not answer as a Git server does|^The repository has no commits$/;
    for (const list of lists) {
      server.intercept = (request) =>
        request.method === "GET" ? new Response(list, { headers: ADVERTISEMENT }) : undefined;
      await fails(fetch(shop, { kind: "head", name: "" }), notGit);
    }
    const list = listOf(`${head}/../x`, ["refs/heads/main"]);
    server.intercept = () => new Response(list, { headers: ADVERTISEMENT });
    await fails(readRemoteCommit(deps, remoteOf(shop), main), /^The server did not answer/);
    server.intercept = () => undefined;
    deepEqual(Array.from(Deno.readDirSync(data.path), ({ name }) => name), ["git"]);
    equal(await fetch(shop, { kind: "head", name: "" }), head);
  });

  await t.step("redirects without an end, and progress without an end, are refused", async () => {
    const shop = await server.create("endless");
    const head = await shop.push({ "a.txt": "1" });
    let count = 0;
    server.intercept = ({ url }) => {
      const next = new URL(url);
      next.searchParams.set("n", `${count++}`);
      return Response.redirect(next, 302);
    };
    await fails(fetch(shop), "More than 5 redirects");
    server.intercept = (request) =>
      request.method === "POST" ? new Response("0005\x02".repeat(300_000)) : undefined;
    await fails(fetch(shop), /^The server (did not (answer|send the commit)|closed)/);
    server.intercept = () => undefined;
    equal(await fetch(shop), head);
  });

  await t.step("a repository that is damaged here is fetched again", async () => {
    const shop = await server.create("damaged");
    await shop.push({ "a.txt": "1" });
    await fetch(shop);
    const packs = `${data.path}/git/damaged.git/objects/pack`;
    for (const { name } of Deno.readDirSync(packs)) {
      // As after a crash of a file system.
      if (name.endsWith(".idx")) Deno.writeFileSync(`${packs}/${name}`, new Uint8Array(8));
    }
    const head = await shop.push({ "a.txt": "2" });
    equal(await fetch(shop), head);
    equal(await openTree(await bareOf(shop), head).read("a.txt"), "2");
  });

  await t.step("a worker fetches and reads, and ends with its repository", async () => {
    const shop = await server.create("worker");
    const head = await shop.push({ "a.txt": "1" });
    const git = createGitRounds(startRepositoryWorker);
    const stop = new AbortController();
    using bare = openRepository({ ...deps, git }, "worker.git", stop.signal);
    await fails(bare.fetch(remoteOf(shop), tag, false), "The repository does not have the tag v1");
    equal(await bare.fetch(remoteOf(shop), main, false), head);
    const [text, { message }] = await Promise.all([
      openTree(bare, head).read("a.txt"),
      bare.commit(head),
    ]);
    deepEqual([text, message], ["1", "Change"]);
    const late = Promise.withResolvers<Response>();
    server.intercept = () => {
      stop.abort(new Error("stopped"));
      return late.promise;
    };
    await fails(bare.fetch(remoteOf(shop), main, true), "stopped");
    late.resolve(new Response());
    server.intercept = () => undefined;
  });

  await t.step("only a long list of refs is read in a worker", async () => {
    const shop = await server.create("refs");
    const head = await shop.push({ "a.txt": "1" });
    let started = 0;
    const git = createGitRounds(() => (started++, startRepositoryWorker()));
    const newest = (ref: FollowedRef) =>
      readNewest({ ...deps, git }, "refs.git", remoteOf(shop), ref);
    equal(await newest(main), head);
    equal(started, 0);
    server.intercept = () => new Response(longListOf(head), { headers: ADVERTISEMENT });
    equal(await newest(main), head);
    equal(await newest(tag), undefined);
    equal(started, 2);
    server.intercept = () => new Response(new Uint8Array(9 * 1024 * 1024));
    await fails(newest(main), "The list of refs is larger than 8 MiB, which is the limit");
    server.intercept = () => undefined;
  });

  await t.step("credentials stay with their origin", async () => {
    await using other = await gitServer();
    const [here, there] = [await server.create("moved"), await other.create("moved")];
    const head = await there.push({ "a.txt": "1" });
    server.intercept = (request) => {
      const { pathname, search } = new URL(request.url);
      return Response.redirect(other.url + pathname + search, 302);
    };
    server.requests.length = 0;
    const authorization = "Basic c2VjcmV0";
    equal(await fetch(here, main, { authorization }), head);
    server.intercept = () => undefined;
    deepEqual(new Set(server.requests.map((each) => each.authorization)), new Set([authorization]));
    deepEqual(new Set(other.requests.map((each) => each.authorization)), new Set([null]));
  });

  await t.step("a certificate must be trusted, also through a proxy", async () => {
    const authority = await createAuthority("Git authority");
    const altNames = "IP:127.0.0.1,DNS:git.example.com";
    const identity = await authority.issue({ name: "git", altNames });
    await using secure = await gitServer(identity);
    const shop = await secure.create("secure");
    const head = await shop.push({ "a.txt": "1" });
    await fails(fetch(shop), /the certificate is not trusted|TLS could not be established/);
    equal(await fetch(shop, main, { caCertificate: authority.cert }), head);
    using proxy = await startProxy();
    const url = shop.url.replace("127.0.0.1", "git.example.com");
    const proxied = {
      config: testConfig({ dataDir: data.path, httpsProxy: proxy.url }),
      resolve: () => Promise.resolve(["192.0.78.1"]),
    };
    const remote = remoteOf({ url }, { caCertificate: authority.cert });
    equal(await fetchCommit(proxied, "proxied", remote, main), head);
    deepEqual(new Set(proxy.requests), new Set([`CONNECT ${new URL(url).host}`]));
  });
});

/** The refs as of a server that can neither protocol 2 nor shallow fetches. */
async function withoutShallow(url: string, root: string): Promise<Response> {
  const { pathname } = new URL(url);
  const { stdout } = await new Deno.Command("git", {
    args: [
      "upload-pack",
      "--stateless-rpc",
      "--advertise-refs",
      `${root}/${pathname.split("/")[1]}`,
    ],
  }).output();
  const text = new TextDecoder("latin1").decode(stdout).replace(" shallow ", " shallo- ");
  return new Response(`001e# service=git-upload-pack\n0000${text}`, {
    headers: ADVERTISEMENT,
  });
}
