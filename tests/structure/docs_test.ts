/** The documentation, as far as it can be compared with the code. @module */

import { deepEqual, match } from "node:assert/strict";
import { COMMANDS } from "../../commands/mod.ts";
import { describeConfig } from "../../services/config/config.ts";

const root = new URL("../../", import.meta.url);
const read = (path: string) => Deno.readTextFile(new URL(path, root));

Deno.test("docs/configuration.md has every variable and every command", async () => {
  const page = await read("docs/configuration.md");
  const variables = describeConfig({}, {
    hostname: "web-1",
    terminal: false,
    packed: true,
    readTextFile: () => "",
  });

  deepEqual(
    variables.map(({ name }) => name).filter((name) => !page.includes(`| \`${name}\``)),
    [],
  );
  deepEqual(
    Object.keys(COMMANDS).filter((name) => !page.includes(`\`longshore ${name}`)),
    [],
  );
});

Deno.test("links and paths in the documentation lead to existing files", async () => {
  const broken: string[] = [];
  for (const path of await markdownFiles()) {
    const text = await read(path);
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)]
      .map(([, to]) => new URL(to!, new URL(path, root)));
    const paths = [...text.matchAll(
      /`((?:commands|db|deploy|docs|engine|examples|routes|services|tests)\/[\w./-]+)`/g,
    )].map(([, to]) => new URL(to!, root));
    for (const url of [...links, ...paths]) {
      if (!await exists(url)) broken.push(`${path}: ${url.pathname}`);
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

async function exists(url: URL): Promise<boolean> {
  try {
    await Deno.stat(url);
    return true;
  } catch {
    return false;
  }
}
