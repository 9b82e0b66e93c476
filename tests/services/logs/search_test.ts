import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { searchLines } from "../../../services/logs/search.ts";
import { createLimiters } from "../../../services/access/limiters.ts";
import { AppError } from "../../../services/errors.ts";
import { isInTime } from "../../helpers/in_time.ts";

const stamp = (second: number) => `2026-01-01T00:00:0${second}.000000000Z`;
const lines = ["Starting", "ERROR disk full", "retry", "error again", "done"]
  .map((text, second) => `${stamp(second)} ${text}`);

const numbers = async (query: string, regex: boolean, among = lines) =>
  (await searchLines(among, { query, regex, context: 0 })).matches.map(({ lineNumber }) =>
    lineNumber
  );

Deno.test("a plain search ignores case and gives lines counted from 1", async () => {
  deepEqual(await searchLines(lines, { query: "Error", regex: false, context: 0 }), {
    query: "Error",
    regex: false,
    totalLines: 5,
    truncated: false,
    matches: [
      { lineNumber: 2, line: lines[1], context: [lines[1]] },
      { lineNumber: 4, line: lines[3], context: [lines[3]] },
    ],
  });
});

Deno.test("the context holds the line and those around it, cut at the ends of the log", async () => {
  const { matches } = await searchLines(lines, { query: "r", regex: false, context: 2 });
  deepEqual(matches.map(({ context }) => context), [
    lines.slice(0, 3),
    lines.slice(0, 4),
    lines.slice(0, 5),
    lines.slice(1, 5),
  ]);
});

Deno.test("a plain search takes every character for itself and knows cases beyond ASCII", async () => {
  const among = ["1 a.c (x)* [y", "2 GRÖSSE", "3 ΣΑΣ", "4 abc"];
  deepEqual(await numbers("a.c", false, among), [1]);
  deepEqual(await numbers("(x)*", false, among), [1]);
  deepEqual(await numbers("[Y", false, among), [1]);
  deepEqual(await numbers("größe", false, among), [2]);
  deepEqual(await numbers("σασ", false, among), [3]);
});

Deno.test("a pattern regards case and may be anchored to the line or to its text", async () => {
  deepEqual(await numbers("ERR|done", true), [2, 5]);
  deepEqual(await numbers("^ERROR", true), [2]);
  deepEqual(await numbers("^\\d{4}-01-01T.*Z error", true), [4]);
  deepEqual(await numbers("again$", true), [4]);
  deepEqual(await numbers("[^a-z]etry", true), []);
  deepEqual(await numbers("(?i)^error", true), [2, 4]);
});

Deno.test("a search ends at the limit of matches and is truncated", async () => {
  const many = Array.from({ length: 600 }, (_, index) => `t line ${index}`);
  const { matches, truncated } = await searchLines(many, {
    query: "line",
    regex: false,
    context: 0,
  });
  equal(matches.length, 500);
  equal(truncated, true);

  const exact = await searchLines(many.slice(0, 500), { query: "line", regex: false, context: 0 });
  equal(exact.matches.length, 500);
  equal(exact.truncated, false);
});

Deno.test("a result stays below its limit however long the lines are", async () => {
  const long = Array.from({ length: 500 }, () => "t " + "x".repeat(16_384));
  const found = await searchLines(long, { query: "x", regex: false, context: 5 });
  equal(found.truncated, true);
  ok(JSON.stringify(found).length < 9 * 1024 * 1024);
});

Deno.test("a search that takes too long is truncated", async () => {
  const long = Array.from({ length: 2_000 }, () => "t " + "a".repeat(16_384));
  const found = await searchLines(long, {
    query: "[ab]*a[ab]{20}[xy]",
    regex: true,
    context: 0,
    budgetMs: 30,
  });
  deepEqual(found, { ...found, truncated: true, totalLines: 2_000, matches: [] });
});

Deno.test("an aborted search ends with the reason", async () => {
  const controller = new AbortController();
  const long = Array.from({ length: 100_000 }, () => "t " + "a".repeat(100));
  const search = searchLines(long, {
    query: "b",
    regex: false,
    context: 0,
    signal: controller.signal,
  });
  controller.abort(new Error("gone"));
  await rejects(search, /gone/);
});

Deno.test("a refused pattern fails before anything is searched", async () => {
  await rejects(
    searchLines([], { query: "(a+)+$", regex: true, context: 0 }),
    (error) => error instanceof AppError && error.code === "invalid",
  );
});

Deno.test("an empty log has no matches", async () => {
  deepEqual(await searchLines([], { query: "x", regex: false, context: 2 }), {
    query: "x",
    regex: false,
    totalLines: 0,
    truncated: false,
    matches: [],
  });
});

Deno.test("requests are answered while several searches run over long lines", async () => {
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    () => new Response("ok"),
  );
  const long = Array.from({ length: 10_000 }, () => "t " + "a".repeat(16_384));
  const slices = createLimiters().searchSlices;
  const controller = new AbortController();
  const searches = ["[ab]*a[ab]{100}[xy]", ".{0,100}[xyz]", "^.{0,60}[xyz]|a.{0,40}[xyz]", "q"]
    .map((query, index) =>
      searchLines(long, {
        query,
        regex: index < 3,
        context: 0,
        budgetMs: 60_000,
        slices,
        signal: controller.signal,
      })
    );
  const ended = Promise.allSettled(searches);

  const waits: number[] = [];
  try {
    for (const until = performance.now() + 2_000; performance.now() < until;) {
      const started = performance.now();
      await (await fetch(`http://127.0.0.1:${server.addr.port}/`)).text();
      waits.push(performance.now() - started);
    }
  } finally {
    controller.abort();
    await ended;
    await server.shutdown();
  }
  waits.sort((a, b) => a - b);
  // Server and client share this event loop: a request takes several rounds of it, each as long as
  // one slice. The rest is for a busy machine.
  const median = waits[Math.floor(waits.length / 2)]!;
  ok(isInTime(median, 250), `median ${median} ms of ${waits.length}`);
});
