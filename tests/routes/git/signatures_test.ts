/** Signed commits, made by the real `git` and `ssh-keygen`. @module */

import { deepEqual, equal, match } from "node:assert/strict";
import { updateGitStack } from "../../../db/git_stacks.ts";
import { temporaryDirectory } from "../../helpers/command.ts";
import { gitWorld, round } from "../../helpers/git_world.ts";
import type { WorkingCopy } from "../../helpers/git_server.ts";
import { createKey, type SshKey } from "../../helpers/ssh_keys.ts";
import { collectEvents } from "../../helpers/test_app.ts";

const composeOf = (tag: number) => `services:\n  web:\n    image: nginx:${tag}\n`;

/** A line of `allowed_signers`. */
const signer = ({ publicKey }: SshKey, name: string, options = "") =>
  `${name} ${options}${publicKey.trim()}`;

/** Lets `git` sign all further commits with the key, or none. */
async function signWith({ git }: WorkingCopy, key: SshKey | undefined): Promise<void> {
  await git("config", "gpg.format", "ssh");
  await git("config", "commit.gpgsign", key ? "true" : "false");
  if (key) await git("config", "user.signingkey", key.path);
}

/** Stores a changed commit as the head, as an attacker on the server could. */
async function replaceHead(
  { git, bare }: WorkingCopy,
  change: (commit: string) => string,
): Promise<string> {
  const changed = change(await git("cat-file", "commit", "HEAD") + "\n");
  const file = await Deno.makeTempFile();
  await Deno.writeTextFile(file, changed);
  const id = await git("hash-object", "-t", "commit", "-w", "--literally", file);
  await Deno.remove(file);
  await git("push", "-q", "--force", bare, `${id}:refs/heads/main`);
  return id;
}

Deno.test("only commits that an allowed signer has signed are accepted", async (t) => {
  await using world = await gitWorld();
  using keys = temporaryDirectory();
  const { app, server, add } = world;
  const [ada, eve] = [await createKey(keys.path), await createKey(keys.path)];
  const copy = await server.create("stacks", { pushes: true });
  const events = collectEvents(app, (kind) => kind === "git.commit_refused");
  let tag = 1;
  const push = () => copy.push({ "stacks/shop/compose.yaml": composeOf(tag++) });
  await signWith(copy, ada);
  const first = await push();
  const { id } = await add(copy.url, {
    signatures: "required",
    allowedSigners: signer(ada, "ada@example.org", 'namespaces="git" '),
  });
  const path = `/api/git/repositories/${id}`;
  const state = async () => {
    await round(app);
    const { head, refused } = (await app.call("GET", path)).body;
    return { head: head?.id, signer: head?.signer, reason: refused?.reason };
  };
  const isRefused = async (reason: RegExp) => {
    const before = await app.call("GET", path);
    const found = await state();
    equal(found.head, before.body.head.id);
    match(found.reason, reason);
  };
  /** Lets history go on from the last accepted commit. */
  const startAgain = async (from: string) => {
    await copy.git("reset", "-q", "--hard", from);
    await signWith(copy, ada);
    const commit = await push();
    deepEqual(await state(), { head: commit, signer: "ada@example.org", reason: undefined });
    return commit;
  };

  await t.step("a valid signature", async () => {
    deepEqual(await state(), { head: first, signer: "ada@example.org", reason: undefined });
    const { body } = await app.call("GET", "/api/stacks/shop/versions");
    equal(body.versions[0].commit.signer, "ada@example.org");
  });

  let good = first;
  await t.step("the key of another signer", async () => {
    await signWith(copy, eve);
    const commit = await push();
    await isRefused(/^Commit \w{10} is refused: it was signed with a key that is not trusted$/);
    await round(app);
    deepEqual(events.map(({ data }) => (data as { commit: string }).commit), [commit]);
    good = await startAgain(good);
  });

  await t.step("no signature, also in the middle of the range", async () => {
    await signWith(copy, undefined);
    await push();
    await isRefused(/it is not signed$/);
    await signWith(copy, ada);
    await push();
    await isRefused(/it is not signed$/);
    equal((await app.call("PUT", path, { signatureScope: "head" })).status, 200);
    equal((await state()).reason, undefined);
    equal((await app.call("PUT", path, { signatureScope: "range" })).status, 200);
    good = await startAgain("HEAD");
  });

  await t.step(
    "a changed message, a changed tree, and the signature of another commit",
    async () => {
      const other = await push();
      const signature = /^gpgsig [^]*?-----END SSH SIGNATURE-----\n/m
        .exec(await copy.git("cat-file", "commit", other))![0];
      await push();
      await replaceHead(copy, (commit) => commit.replace("Change", "Changed"));
      await isRefused(/the signature does not fit the content$/);
      await replaceHead(
        copy,
        (commit) =>
          commit.replace(/^tree .*/, `tree ${"4b825dc642cb6eb9a060e54bf8d69288fbee4904"}`),
      );
      await isRefused(/the signature does not fit the content$/);
      await replaceHead(
        copy,
        (commit) => commit.replace(/^gpgsig [^]*?-----END SSH SIGNATURE-----\n/m, signature),
      );
      await isRefused(/the signature does not fit the content$/);
      await replaceHead(
        copy,
        (commit) =>
          commit.replace(/^gpgsig -----BEGIN SSH SIGNATURE/m, "gpgsig -----BEGIN PGP SIGNATURE"),
      );
      await isRefused(/it has an OpenPGP signature; only SSH signatures are verified$/);
      good = await startAgain(good);
    },
  );

  await t.step("a key that has expired, or is not valid yet", async () => {
    for (const options of ['valid-before="20200101" ', 'valid-after="20990101Z" ']) {
      const allowedSigners = signer(ada, "ada@example.org", options);
      equal((await app.call("PUT", path, { allowedSigners })).status, 200);
      await push();
      await isRefused(/the key of ada@example\.org is not valid at this time$/);
    }
  });
});

Deno.test("an unsigned version waits once signatures are required", async () => {
  await using world = await gitWorld();
  using keys = temporaryDirectory();
  const { app, server, add } = world;
  const planned = collectEvents(app, (kind) => kind === "git.planned");
  const ada = await createKey(keys.path);
  const copy = await server.create("stacks");
  await copy.push({ "stacks/shop/compose.yaml": composeOf(1) });
  const { id, mapping } = await add(copy.url);
  await round(app);
  const { status } = await app.call("PUT", `/api/git/repositories/${id}`, {
    signatures: "required",
    allowedSigners: signer(ada, "ada@example.org"),
    mapping: [{ ...mapping[0], deploy: "plan" }],
  });
  equal(status, 200);
  updateGitStack(app.deps.db, "shop", { deploy: "plan" });
  await round(app);
  const attached = await app.call("PUT", "/api/stacks/blog/git", {
    repositoryId: id,
    path: "stacks/shop/compose.yaml",
  });
  match(attached.body.error, /has no accepted commit: .*it is not signed$/);
  deepEqual(planned, []);
  await signWith(copy, ada);
  await copy.push({ "stacks/shop/compose.yaml": composeOf(2) });
  equal(
    (await app.call("PUT", `/api/git/repositories/${id}`, { signatureScope: "head" })).status,
    200,
  );
  await round(app);
  equal(planned.length, 1);
});
