/** Files that SOPS has encrypted for age: what is opened, and what is refused. @module */

import { deepEqual, equal, rejects } from "node:assert/strict";
import { parse } from "yaml";
import { openSops } from "../../../services/git/sops/open.ts";
import {
  sopsBinary,
  sopsDotenv,
  sopsIdentity,
  sopsJson,
  type SopsOptions,
  type SopsTree,
  sopsYaml,
} from "../../helpers/sops.ts";

const { identity, recipient } = await sopsIdentity();

const TREE: SopsTree = {
  user: { name: "ada", password: "pä\nss: #1", empty: "", none: null },
  list: [{ port: 8080, ratio: 0.25 }, { isOn: true, isOff: false }],
  tiny: 1e-7,
  plain_unencrypted: "seen",
};

const clear: SopsOptions["clear"] = (key) => key.endsWith("_unencrypted");

const open = (path: string, text: string, given: string | null = identity) =>
  openSops(path, text, given);

Deno.test("files are opened in each format", async (t) => {
  await t.step("YAML, with and without values in clear in the code", async () => {
    for (const macOnlyEncrypted of [false, true]) {
      const text = await sopsYaml(recipient, TREE, { clear, macOnlyEncrypted });
      equal(text.includes("ada"), false);
      const opened = await open(
        "a.yaml",
        `#ENC[AES256_GCM,data:x,iv:x,tag:x,type:comment]\n${text}`,
      );
      deepEqual(parse(opened), TREE);
      equal(opened.includes("ENC["), false);
    }
  });

  await t.step("JSON", async () => {
    deepEqual(JSON.parse(await open("a.json", await sopsJson(recipient, TREE, { clear }))), TREE);
    const data = await sopsBinary(recipient, "x");
    deepEqual(JSON.parse(await open("data.json", data)), { data: "x" });
  });

  await t.step("variables", async () => {
    const text = await sopsDotenv(recipient, { A: "1=2", B: "a\nb", C: "", D: '"q" #x' });
    equal(
      await open(".env", `# Comment\n#ENC[AES256_GCM,x]\n${text}`),
      '# Comment\nA=1=2\nB=a\\nb\nC=\nD="q" #x\n',
    );
  });

  await t.step("any other file", async () => {
    const key = "-----BEGIN KEY-----\nä\r\n\n";
    equal(await open("tls.key", await sopsBinary(recipient, key)), key);
  });

  await t.step("a file that is not encrypted stays as it is", async () => {
    for (const text of ["A=1\n", "sop: 1\n", '{"sops": 1}', "{ x", '{"sops": {}}', ""]) {
      equal(await open("x", text, null), text);
    }
  });
});

Deno.test("a file that was changed, or that another identity opens, is refused", async (t) => {
  const yaml = await sopsYaml(recipient, { a: "one", b: "two", c_unencrypted: "three" }, { clear });
  const [a = "", b = ""] = yaml.split("\n");
  const changed = "was changed after SOPS has encrypted it";
  const other = await sopsIdentity();
  const cases: [name: string, path: string, text: string, problem: string, id?: string | null][] = [
    ["value in clear", "x.yaml", yaml.replace("three", "four"), `${changed} (MAC mismatch)`],
    ["value removed", "x.yaml", yaml.replace(`${b}\n`, ""), `${changed} (MAC mismatch)`],
    ["value added", "x.yaml", `d: x\n${yaml}`, `${changed} (MAC mismatch)`],
    ["encrypted value replaced", "x.yaml", yaml.replace(a, "a: evil"), `${changed} (MAC mismatch)`],
    [
      "values moved",
      "x.yaml",
      yaml.replace(a, b.replace("b:", "a:")),
      `has a value that ${changed}`,
    ],
    [
      "another code",
      "x.yaml",
      await sopsYaml(recipient, { a: "one" }, { mac: () => "0".repeat(128) }),
      `${changed} (MAC mismatch)`,
    ],
    ["without a code", "x.yaml", yaml.replace(/^ +mac: .*\n/m, ""), `${changed} (MAC mismatch)`],
    [
      "variable",
      ".env",
      `${await sopsDotenv(recipient, { A: "1" })}B=2\n`,
      `${changed} (MAC mismatch)`,
    ],
    ["aliases", "x.yaml", `x: &x 1\ny: *x\n${yaml}`, "has aliases, which SOPS does not write"],
    ["syntax", "x.yaml", `${yaml}\n}`, "is encrypted with SOPS, but has errors of syntax"],
    [
      "depth",
      "x.yaml",
      `x: ${"[".repeat(20_000)}${"]".repeat(20_000)}\n${yaml}`,
      "is encrypted with SOPS, and nested too deeply",
    ],
    [
      "tokens",
      "x.yaml",
      `${"a:\n".repeat(25_000)}${yaml}`,
      "has more than 60000 words and signs, the limit with SOPS",
    ],
    [
      "a key that occurs twice, of which only one is in the code",
      "x.yaml",
      `a: evil\n${await sopsYaml(recipient, { a: "one" }, { macOnlyEncrypted: true })}`,
      "is encrypted with SOPS, but has errors of syntax",
    ],
    [
      "aliases in the metadata",
      "x.yaml",
      `x: &x 1\n${yaml.replace(/^ +mac: .*$/m, "    mac: *y")}`,
      "has aliases, which SOPS does not write",
    ],
    [
      "size",
      "x.yaml",
      `${"#\n".repeat(200_000)}${yaml}`,
      "is larger than 256 KiB, the limit with SOPS",
    ],
    ["INI", "x.ini", "[sops]\nmac = x\n", "is encrypted with SOPS as INI; use dotenv"],
    [
      "no identity",
      "x.yaml",
      yaml,
      "is encrypted with SOPS; enter the age identity of the repository",
      null,
    ],
    [
      "another identity",
      "x.yaml",
      yaml,
      `is not encrypted for the age identity of the repository; add the recipient ${other.recipient}`,
      other.identity,
    ],
    [
      "a key for another identity",
      "x.yaml",
      (await sopsYaml(other.recipient, { a: "b" })).replace(other.recipient, recipient),
      "has a data key that the age identity does not open",
    ],
  ];
  for (const [name, path, text, problem, id = identity] of cases) {
    await t.step(name, async () => {
      await rejects(open(path, text, id), { code: "conflict", message: `${path} ${problem}` });
    });
  }
});
