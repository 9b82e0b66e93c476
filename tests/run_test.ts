import { deepEqual, equal } from "node:assert/strict";
import { describeLimit, parseFailedFiles, parseSummary } from "./run.ts";

for (
  const { text, counts } of [
    {
      text: "ok | 12 passed (3 steps) | 0 failed | 1 ignored (2s)\n",
      counts: { passed: 12, failed: 0, skipped: 1 },
    },
    {
      text: "FAILED | 2 passed (2 steps) | 1 failed (1 step) (1ms)",
      counts: { passed: 2, failed: 1, skipped: 0 },
    },
    {
      text: "ok | 1 passed | 0 failed (1s)\nok | 0 passed | 0 failed | 1 filtered out (6ms)\n\n",
      counts: { passed: 0, failed: 0, skipped: 0 },
    },
    { text: "error: Type checking failed.\n", counts: undefined },
    { text: "", counts: undefined },
  ]
) {
  Deno.test(`parseSummary() reads ${JSON.stringify(text)}`, () => {
    deepEqual(parseSummary(text), counts);
  });
}

const FAILED = `running 2 tests from ./tests/other_test.ts

 ERRORS 

the page => ./tests/helpers/browser.ts:10:2
error: Error: Still waiting
    at until (file:///home/tests/helpers/until.ts:35:9)
    at async file:///home/tests/browser/page_test.ts:75:5

a list ... its order => ./tests/list_test.ts:44:11
error: AssertionError: 1 => 2

./tests/module_test.ts (uncaught error)
error: (in promise) Error: no
`;

Deno.test("parseFailedFiles() finds the file of each failure", () => {
  deepEqual(parseFailedFiles(`${FAILED}\n FAILURES \n\nthe page\n`), [
    "tests/browser/page_test.ts",
    "tests/list_test.ts",
    "tests/module_test.ts",
  ]);
});

Deno.test("parseFailedFiles() takes an error outside of every test for all files of its group", () => {
  const text = FAILED.replace("./tests/module_test.ts (", "./dist/group_test.ts (");
  const groups = new Map([["dist/group_test.ts", ["tests/a_test.ts", "tests/b_test.ts"]]]);
  deepEqual(parseFailedFiles(`${text}\n FAILURES \n`, groups), [
    "tests/browser/page_test.ts",
    "tests/list_test.ts",
    "tests/a_test.ts",
    "tests/b_test.ts",
  ]);
});

Deno.test("parseFailedFiles() finds nothing where a failure names no test file", () => {
  const text = `${FAILED}\nhelper => ./tests/helpers/a.ts:1:1\nerror: no\n\n FAILURES \n`;
  deepEqual(parseFailedFiles(text), undefined);
  deepEqual(parseFailedFiles("ok | 1 passed | 0 failed (1s)\n"), undefined);
});

Deno.test("describeLimit() names the files that had not finished and those that had not started", () => {
  const text = `./tests/a_test.ts => one ... ok (1ms)
./tests/b_test.ts => one ... ok (1ms)

SIGINT The following tests were pending:

hangs => ./tests/b_test.ts:2:6
`;
  equal(
    describeLimit(text, ["tests/a_test.ts", "tests/b_test.ts", "tests/c_test.ts"]),
    "Limit of 100 minutes reached. Not finished: tests/b_test.ts. Not started (1): tests/c_test.ts.",
  );
  equal(
    describeLimit("running 1 test from ./tests/a_test.ts\n", ["tests/a_test.ts"]),
    "Limit of 100 minutes reached. Not finished: unknown. Not started (0): none.",
  );
});
