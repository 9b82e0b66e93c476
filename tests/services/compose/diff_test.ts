import { equal } from "node:assert/strict";
import { newDiffBudget, unifiedDiff } from "../../../services/compose/diff.ts";

const NAMES = { from: "before", to: "after" };

/** Applies a diff with the real `patch`, and compares its text with that of the real `diff`. */
async function assertLikeDiff(before: string[], after: string[]): Promise<void> {
  const directory = await Deno.makeTempDir();
  try {
    const texts = [before, after].map((lines) => lines.map((line) => `${line}\n`).join(""));
    await Promise.all(texts.map((text, n) => Deno.writeTextFile(`${directory}/${n}`, text)));
    const { stdout } = await new Deno.Command("diff", {
      args: ["-d", "-U3", "--label=before", "--label=after", "0", "1"],
      cwd: directory,
    }).output();
    const ours = unifiedDiff(texts[0]!, texts[1]!, NAMES);
    const count = (text: string) =>
      text.split("\n").filter((line) => /^[-+](?![-+]{2} )/.test(line)).length;
    equal(count(ours), count(new TextDecoder().decode(stdout)));
    if (ours === "") return equal(texts[0], texts[1]);
    await Deno.writeTextFile(`${directory}/patch`, ours);
    const { success } = await new Deno.Command("patch", {
      args: ["-s", "0", "patch"],
      cwd: directory,
    })
      .output();
    equal(success, true);
    equal(await Deno.readTextFile(`${directory}/0`), texts[1]);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test("unifiedDiff() prints hunks with their context", () => {
  const before = "a\nb\nc\nd\ne\nf\ng\n";

  equal(
    unifiedDiff(before, before.replace("d", "D").replace("g", "g\nh"), NAMES),
    "--- before\n+++ after\n@@ -1,7 +1,8 @@\n a\n b\n c\n-d\n+D\n e\n f\n g\n+h\n",
  );
  equal(unifiedDiff("", "a\n", NAMES), "--- before\n+++ after\n@@ -0,0 +1 @@\n+a\n");
  equal(unifiedDiff("a", "a", NAMES), "");
});

Deno.test("unifiedDiff() is as short as that of diff, and patch applies it", async () => {
  let seed = 1;
  const random = (max: number) => (seed = (seed * 48_271) % 2_147_483_647) % max;
  for (let round = 0; round < 10; round++) {
    const before = Array.from({ length: random(60) }, () => `line ${random(12)}`);
    const after = before.flatMap((line) => {
      const change = random(8);
      return change === 0 ? [] : change === 1 ? [line, `new ${random(9)}`] : [line];
    });
    await assertLikeDiff(before, after);
  }
});

Deno.test("unifiedDiff() shows very different texts as replaced", () => {
  const text = (name: string) => Array.from({ length: 3_000 }, (_, n) => `${name} ${n}\n`).join("");

  equal(unifiedDiff(text("a"), text("b"), NAMES).split("\n").length, 3 + 6_000 + 1);
});

Deno.test("the texts of one answer share the changes that their comparison may find", () => {
  const text = (name: string) => Array.from({ length: 1_200 }, (_, n) => `${name}${n}\n`).join("");
  const budget = newDiffBudget();
  for (let file = 0; file < 199; file++) unifiedDiff(text("a"), text("b"), NAMES, budget);
  equal(budget.left, 0);
});
