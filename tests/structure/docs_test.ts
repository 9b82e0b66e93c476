/** The documentation, as far as it can be compared with the code. @module */

import { deepEqual, match } from "node:assert/strict";
import { COMMANDS } from "../../commands/mod.ts";
import { describeConfig, readConfig, unknownVariables } from "../../services/config/config.ts";
import { KIND_TABLES, withTable } from "../../deploy/build/kind_tables.ts";
import { CHANNEL_KINDS } from "../../services/messages/channels/kinds/mod.ts";

const root = new URL("../../", import.meta.url);
const read = (path: string) => Deno.readTextFile(new URL(path, root));

const SURROUNDINGS = {
  hostname: "web-1",
  terminal: false,
  packed: true,
  readTextFile: () => "",
};

Deno.test("docs/configuration.md has every variable and every command", async () => {
  const page = await read("docs/configuration.md");
  const variables = describeConfig({}, SURROUNDINGS);

  deepEqual(
    variables.map(({ name }) => name).filter((name) => !page.includes(`| \`${name}\``)),
    [],
  );
  deepEqual(
    Object.keys(COMMANDS).filter((name) => !page.includes(`\`longshore ${name}`)),
    [],
  );
});

for (const [path, table] of Object.entries(KIND_TABLES)) {
  Deno.test(`${path} has the present table of kinds`, async () => {
    const rows = (page: string) =>
      page.split("\n").filter((line) => line.startsWith("|"))
        .map((line) => line.replaceAll(/ {2,}/g, " ").replaceAll(/-{4,}/g, "---"));
    const page = await read(path);
    deepEqual(
      rows(page),
      rows(withTable(page, table)),
      `A kind was added or changed: run "deno task openapi:accept", which writes ${path}`,
    );
  });
}

Deno.test("docs/notifications.md has a row for each kind of channel", async () => {
  const page = (await read("docs/notifications.md")).replaceAll(/ {2,}/g, " ");
  const rows = CHANNEL_KINDS.map(({ id, fields, urlForm }) => {
    const names = Object.entries(fields).map(([field, { isSecret, isOptional }]) => {
      const name = `\`${field}\`${isSecret ? "\\*" : ""}`;
      return isOptional ? `[${name}]` : name;
    });
    return `| \`${id}\` | ${names.join(", ")} | \`${urlForm}\` |`;
  });
  deepEqual(rows.filter((row) => !page.includes(row)), []);
});

for (const name of ["authelia", "authentik", "entra-id", "google", "keycloak", "pocket-id"]) {
  Deno.test(`docs/${name}.md names fields and variables that exist, and valid settings`, async () => {
    const page = await read(`docs/${name}.md`);
    const form = await read("ui/pages/sso/oidc_form.tsx");
    const rows = new Map(
      [...page.matchAll(/^\| ([A-Z][\w ]+?) +\| (.+?) +\|$/gm)].map((
        [, field, value],
      ) => [field!, value!]),
    );
    deepEqual([...rows.keys()].filter((field) => !form.includes(`"${field}"`)), []);
    const env = Object.fromEntries(
      [...page.matchAll(/^(OIDC_\w+)=(.*)$/gm)].map(([, variable, value]) => [variable!, value!]),
    );
    deepEqual(unknownVariables(env), []);
    const { oidcProviders: [provider] } = readConfig(env, SURROUNDINGS);
    deepEqual(rows.get("Issuer")!.includes(`\`${provider!.issuer}\``), true);
    deepEqual(rows.get("Scopes"), `\`${provider!.scopes}\``);
    match(page, /https:\/\/longshore\.example\.com\/auth\/oidc\/callback["`]/);
  });
}

Deno.test("links and paths in the documentation lead to existing files and headings", async () => {
  const broken: string[] = [];
  for (const path of await markdownFiles()) {
    const text = await read(path);
    const links = [...text.matchAll(/\]\((?!https?:)([^)]+)\)/g)]
      .map(([, to]) => new URL(to!, new URL(path, root)));
    const paths = [...text.matchAll(
      /`((?:commands|db|deploy|docs|engine|examples|routes|services|tests)\/[\w./-]+)`/g,
    )].map(([, to]) => new URL(to!, root));
    for (const url of [...links, ...paths]) {
      if (!await exists(url)) broken.push(`${path}: ${url.pathname}${url.hash}`);
    }
  }
  deepEqual(broken, []);
});

Deno.test("the README begins with the two commands that set up a fresh machine", async () => {
  match(
    await read("README.md"),
    /^npx --yes deno@2\.9\.6 task start .*\nnpx --yes deno@2\.9\.6 task test /m,
  );
});

async function markdownFiles(): Promise<string[]> {
  const { stdout } = await new Deno.Command("git", {
    args: ["ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
    cwd: root,
  }).output();
  return new TextDecoder().decode(stdout).trim().split("\n")
    .filter((path) => path !== "CHANGELOG.md");
}

/** Whether the file is there, and has the heading that the fragment names. */
async function exists(url: URL): Promise<boolean> {
  try {
    const { isFile } = await Deno.stat(url);
    if (!url.hash || !isFile) return true;
    return anchorsOf(await Deno.readTextFile(url)).includes(url.hash.slice(1));
  } catch {
    return false;
  }
}

/** Fragments of a page's headings, as GitHub makes them. */
function anchorsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-")
  );
}
