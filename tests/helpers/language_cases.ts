/**
 * Small programs that print what they do, for comparing the sources with their bundle. Each is about
 * something that a bundler or minifier could change: order, lifetime, side effects, exact values.
 *
 * @module
 */

/** Files that the cases import. */
export const FILES: Record<string, string> = {
  "resource.ts": `
/** Prints what happens to it. */
export function make(name: string) {
  console.log("open", name);
  return {
    name,
    add(text: string) { console.log("add", name, text); return this; },
    [Symbol.dispose]() { console.log("close", name); },
  };
}
export function makeAsync(name: string, failure?: string) {
  console.log("open", name);
  return {
    name,
    add(text: string) { console.log("add", name, text); return this; },
    async [Symbol.asyncDispose]() {
      console.log("closing", name);
      await Promise.resolve();
      console.log("closed", name);
      if (failure) throw new Error(failure);
    },
  };
}
export function failing(name: string) {
  return { name, [Symbol.dispose]() { throw new Error("close " + name); } };
}
`,
  "state.ts": `
console.log("state is loaded once");
export let count = 0;
export const add = () => ++count;
`,
  "circle_a.ts": `
import { b } from "./circle_b.ts";
export const a = () => "a";
export const both = () => a() + b();
`,
  "circle_b.ts": `
import { a } from "./circle_a.ts";
export function b() { return "b" + a(); }
`,
  "library.cjs": `
const path = require("node:path");
exports.base = (text) => path.posix.basename(text);
exports.self = module.exports === exports;
`,
  "waits.ts": `
export const value = await Promise.resolve(7);
`,
};

/** The text of each program by what it is about. */
export const CASES: Record<string, string> = {
  "using with one use in the next statement": `
import { make } from "./resource.ts";
function f() { using r = make("a"); r.add("x"); }
f();
console.log("after");
`,
  "using with one use in a return": `
import { make } from "./resource.ts";
function f() { using r = make("a"); return r.add("x").name; }
console.log(f());
`,
  "using without a use": `
import { make } from "./resource.ts";
function f() { using _ = make("a"); console.log("body"); }
f();
`,
  "using in a block of a function": `
import { make } from "./resource.ts";
function f(wanted: boolean) {
  if (wanted) { using r = make("a"); r.add("x"); }
  console.log("end");
}
f(true); f(false);
`,
  "several using, in the opposite order": `
import { make } from "./resource.ts";
function f() { using a = make("a"), b = make("b"); using c = make("c"); c.add(a.name + b.name); }
f();
`,
  "using of null and undefined": `
function f() { using a = null; using b = undefined; return [a, b]; }
console.log(f());
`,
  "using with a condition": `
import { make } from "./resource.ts";
function f(wanted: boolean) { using r = wanted ? make("a") : null; r?.add("x"); console.log("body"); }
f(true); f(false);
`,
  "using when the body throws": `
import { make } from "./resource.ts";
function f() { using r = make("a"); r.add("x"); throw new Error("body"); }
try { f(); } catch (error) { console.log((error as Error).message); }
`,
  "using in try, catch and finally": `
import { make } from "./resource.ts";
function f() {
  try { using a = make("a"); a.add("x"); throw 1; }
  catch { using b = make("b"); b.add("x"); return "caught"; }
  finally { using c = make("c"); c.add("x"); }
}
console.log(f());
`,
  "using in a loop with break and continue": `
import { make } from "./resource.ts";
outer: for (const name of ["a", "b", "c", "d"]) {
  using r = make(name);
  for (const inner of [1, 2]) {
    using s = make(name + inner);
    if (name === "a") continue outer;
    if (name === "c") break outer;
    s.add(r.name);
  }
}
`,
  "using as the variable of a loop": `
import { make } from "./resource.ts";
for (using r of [make("a"), make("b")]) r.add("x");
`,
  "using in a switch": `
import { make } from "./resource.ts";
function f(kind: number) {
  switch (kind) {
    case 1: { using r = make("a"); r.add("x"); }
    // falls through
    case 2: { using r = make("b"); r.add("x"); return "two"; }
    default: return "none";
  }
}
console.log(f(1), f(2), f(3));
`,
  "using in a generator that is left early": `
import { make } from "./resource.ts";
function* f() { using r = make("a"); r.add("x"); yield 1; yield 2; }
for (const value of f()) { console.log(value); break; }
console.log([...f()]);
`,
  "using in methods, getters and static blocks": `
import { make } from "./resource.ts";
class A {
  static { using r = make("static"); r.add("x"); }
  get value() { using r = make("get"); return r.add("x").name; }
  constructor() { using r = make("new"); r.add("x"); }
  run = () => { using r = make("arrow"); r.add("x"); };
}
const a = new A(); a.run(); console.log(a.value);
`,
  "using that a closure outlives": `
import { make } from "./resource.ts";
function f() { using r = make("a"); return () => r.name; }
console.log(f()());
`,
  "using at the top of a module": `
import { make } from "./resource.ts";
using r = make("module");
r.add("x");
export {};
`,
  "SuppressedError of two failures and a body": `
import { failing } from "./resource.ts";
function f() { using _a = failing("a"); using _b = failing("b"); throw new Error("body"); }
try { f(); } catch (error) {
  const e = error as SuppressedError;
  console.log(e.constructor.name, e.error.message, e.suppressed.error.message, e.suppressed.suppressed.message);
}
`,
  "await using with one use in the next statement": `
import { makeAsync } from "./resource.ts";
async function f() { await using r = makeAsync("a"); r.add("x"); }
await f();
console.log("after");
`,
  "await using in the opposite order, beside other work": `
import { make, makeAsync } from "./resource.ts";
async function f(name: string) {
  await using a = makeAsync(name + "1");
  using b = make(name + "2");
  await using c = makeAsync(name + "3");
  c.add(a.name + b.name);
  return "done " + name;
}
console.log(await Promise.all([f("a"), f("b")]));
`,
  "await using of null, which still waits": `
const order: string[] = [];
async function f() { { await using _ = null; order.push("body"); } order.push("after"); }
const running = f();
order.push("caller");
await running;
console.log(order);
`,
  "await using whose value is awaited": `
import { makeAsync } from "./resource.ts";
async function f() { await using r = await Promise.resolve(makeAsync("a")); return r.add("x").name; }
console.log(await f());
`,
  "await using with failures of both kinds": `
import { failing, makeAsync } from "./resource.ts";
async function f() { await using _a = makeAsync("a", "late"); using _b = failing("b"); }
await f().catch((e) => console.log(e.constructor.name, e.error.message, e.suppressed.message));
`,
  "await using in an async loop and generator": `
import { makeAsync } from "./resource.ts";
async function* f() { for (const name of ["a", "b"]) { await using r = makeAsync(name); yield r.name; } }
for await (const name of f()) { console.log(name); if (name === "b") break; }
for (await using r of [makeAsync("c")]) r.add("x");
`,
  "DisposableStack and AsyncDisposableStack": `
import { make, makeAsync } from "./resource.ts";
function f() {
  using stack = new DisposableStack();
  stack.use(make("a")); stack.defer(() => console.log("deferred")); stack.adopt(1, (n) => console.log("adopted", n));
  return stack.move();
}
f().dispose();
{ await using stack = new AsyncDisposableStack(); stack.use(makeAsync("b")); stack.use(make("c")); }
`,
  "destructuring with side effects": `
const log = (text: string) => (console.log(text), text);
const source = { get a() { log("get a"); return undefined; }, get b() { log("get b"); return 2; }, c: 3, d: 4 };
const { a = log("default a"), [log("b") as "b"]: b = log("default b"), ...rest } = source;
console.log(a, b, rest);
const [first, , third = log("third"), ...others] = (function* () { try { yield 1; yield 2; yield undefined; yield 4; } finally { log("closed"); } })();
console.log(first, third, others);
const {} = { get unused() { log("never"); return 1; } };
let [x, y] = [1, 2]; [x, y] = [y, x]; console.log(x, y);
`,
  "getters and other accesses whose value is not used": `
const o = { get a() { console.log("get"); return { get b() { console.log("get b"); return 1; } }; }, set a(_) { console.log("set"); } };
o.a; o.a.b; o.a = o.a; void o.a; if (o.a) {} o.a && o.a.b; o["a"];
const p = new Proxy({}, { get: (_, key) => console.log("read", String(key)), has: () => (console.log("has"), true) });
(p as any).x; "y" in p; delete (p as any).z;
\`\${{ toString() { console.log("string"); return ""; } }}\`; +{ valueOf() { console.log("value"); return 1; } };
`,
  "try, catch and finally that return": `
const f = (at: string) => { try { if (at === "throw") throw 1; return "try"; } catch { return "catch"; } finally { console.log("finally", at); } };
const g = () => { try { throw 1; } finally { return "wins"; } };
const h = () => { for (const n of [1, 2]) { try { continue; } finally { console.log(n); } } return "end"; };
const i = () => { let n = 1; try { return n; } finally { n = 2; } };
console.log(f("throw"), f("return"), g(), h(), i());
`,
  "class fields, private names and accessors": `
const order: string[] = []; const note = (text: string) => (order.push(text), text);
class A { [note("key")] = note("field"); static s = note("static"); #p = note("private"); has(o: object) { return #p in o; } get p() { return this.#p; } set p(v) { this.#p = v; } constructor() { note("constructor"); } name = "own"; static { note("block"); } }
class B extends A { name2 = this.name + "!"; override name = "b"; #q() { return super.p; } q() { return this.#q(); } }
const b = new B(); b.p = "set";
console.log(order, b.q(), b.has(b), b.has({}), Object.keys(b), b.name2, B.name);
`,
  "optional chaining and defaults": `
const log = (v: unknown) => (console.log("eval", v), v as any);
const o: any = { f() { return this === o; }, n: null, z: 0, e: "" };
console.log(o?.f(), o.f?.(), o.g?.(log(1)), o.n?.[log("key")].x.y, o?.["f"](), (o?.f)(), delete o?.missing, delete o.n?.x);
console.log(o.z ?? "d", o.z || "d", o.e ?? "d", o.n ?? "d", o.n?.x ?? log("right"));
o.z ??= log("no"); o.n ??= log("yes"); o.z ||= log("or"); o.e &&= log("no"); console.log(o.z, o.n, o.e);
const all: any = undefined; console.log(all?.a.b.c(log("never")), typeof all?.x, document_());
function document_() { return typeof document === "undefined" ? "none" : "some"; }
`,
  "generators with return, throw and delegation": `
function* inner() { try { const got = yield "i1"; console.log("got", got); yield "i2"; return "inner result"; } catch (e) { console.log("inner", e); yield "recovered"; } finally { console.log("inner end"); } }
function* outer() { const result = yield* inner(); console.log("result", result); return "outer"; }
const a = outer(); console.log(a.next(), a.next("v"), a.next(), a.next());
const b = outer(); b.next(); console.log(b.throw("t"), b.return("r" as never), b.next());
async function* c() { try { yield 1; yield Promise.resolve(2); } finally { await null; console.log("async end"); } }
for await (const value of c()) { console.log(value); if (value === 2) break; }
`,
  "labels, loops and closures in loops": `
const made: (() => number)[] = [];
for (let i = 0; i < 3; i++) made.push(() => i++ * 10);
console.log(made.map((f) => f()), made.map((f) => f()));
a: { b: for (let i = 0; ; i++) { switch (i) { case 0: continue b; case 3: break a; case 1: break; default: console.log("default", i); } console.log("turn", i); } }
let n = 0; do { if (++n === 2) continue; console.log(n); } while (n < 3);
for (const key in { z: 1, a: 2, 10: 3, 2: 4 }) console.log(key);
for (var v = 0, w = 5; v < w; v += 2, w--); console.log(v, w);
`,
  "switch with order, default and scope": `
const log = (n: number) => (console.log("case", n), n);
function f(x: unknown) { switch (x) { case log(1): return "one"; default: console.log("default"); case log(2): { let x = "two"; return x; } case NaN: return "never"; case "1": return "text"; } }
console.log(f(1), f(2), f(3), f("1"), f(NaN));
switch (3 as number) {} switch (log(9)) { default: }
`,
  "strings at their edges": `
console.log(JSON.stringify(["\\u2028\\u2029", "\\0" + 1, "\\x7f\\u00a0\\ufeff", "\\ud800", "😀", "</script>", "\\\\\\"'\`\${}", "a\\
b", '\\v\\b\\f']));
console.log("\\ud83d" + "\\ude00" === "😀", [..."😀é"].length, "😀".length, "é".normalize("NFD").length);
const tag = (s: TemplateStringsArray, ...v: unknown[]) => JSON.stringify([s, s.raw, v]);
console.log(tag\`a\${1}\\n\${"x"}\\u{41}\\xzz\`, \`\${1}\${2}a\${"b"}\`, String.raw\`\\n\${0}\`);
const same = () => ((s: TemplateStringsArray) => s)\`x\`; console.log(same() === same());
console.log(/[\\]/\\u2028]\\/(?<name>é)/u.source, "aéb".match(/(?<x>é)/)!.groups!.x, /a/giu.flags, /\\p{L}/v.test("ß"));
`,
  "numbers at their edges": `
console.log([0.1 + 0.2, 1e21, 1e-7, -0, 0 * -1, 5e-324, 1.7976931348623157e308, 2 ** 53 + 1, 0xffffffff | 0, 1 / 3, 1_000_000, 0b11, 0o17, .5, 5., 123456789012345680000]);
console.log(Object.is(-0, 0), Object.is(-(0), -0), 1 / -0, NaN === NaN, 2 ** -1, (-2) ** 2, 7 % -3, -7 % 3, 1 << 31, -1 >>> 0, ~~-1.5);
console.log(9007199254740993n * 2n, -7n / 2n, typeof 1n, 10n ** 20n, BigInt.asIntN(8, 255n), 1n < 2, 2n == 2 as never);
console.log(1..toString(), (255).toString(16), -1 + +"2", - -1, + +"3", 1 - -1, "3" * "4" as never, [] + {}, typeof null);
let i = 1; console.log(i++ + ++i, i-- - --i, i);
`,
  "the order of evaluation": `
const log = <T>(v: T) => (console.log("eval", v), v);
const o: any = { a: 1 };
o[log("a")] = log(2); o[log("a")] += log(3); console.log(o);
console.log(log(1) + log(2) * log(3), (log(0), log(4)), log(false) && log(1), log(1) || log(2));
const f = (a = log("da"), b = log("db")) => [a, b]; console.log(f(undefined, log(5)));
console.log([...[log(1)], ...(log([2]))], { [log("k")]: log("v"), ...log({ x: 1 }) });
var x = 1; { var x = 2; } console.log(x); try { (0, (undefined as any).y); } catch (e) { console.log((e as Error).constructor.name); }
`,
  "this, arguments, hoisting and strict mode": `
console.log(typeof hoisted, hoisted()); function hoisted() { return "h"; }
console.log((function (this: unknown) { return this; })(), (() => typeof this)());
function f(a: number) { a = 9; return [arguments[0], arguments.length]; } console.log(f(1), f.length, ((a: unknown, b = 1) => [a, b]).length);
try { (undeclared as any) = 1; } catch (e) { console.log((e as Error).constructor.name); }
try { console.log(late); let late = 1; } catch (e) { console.log((e as Error).constructor.name); }
try { Object.freeze([1]).push(2 as never); } catch (e) { console.log((e as Error).constructor.name); }
const { method } = { method() { return this; } }; console.log((method as any)(), (0, { m() { return this === undefined; } }.m)());
declare let undeclared: number;
export const isModule = true;
`,
  "enumerations and namespaces": `
enum Level { Low, Mid = 5, High, Text = "t" } const enum Fixed { A = 1 << 3, B = A | 1 }
console.log(Level, Level.High, Level[5], Fixed.B);
namespace N { export const a = 1; export namespace M { export const b = a + 1; } } console.log(N.M.b);
class P { constructor(public a: number, readonly b = a + 1) {} } console.log(new P(1));
const kept = { x: 1 } satisfies object as { x: number }; console.log(kept!.x);
`,
  "promises and microtasks": `
const order: string[] = []; const note = (text: string) => order.push(text);
async function f() { note("f"); await null; note("f2"); return (async () => "x")(); }
const waiting = f().then(() => note("f done")); queueMicrotask(() => note("micro")); Promise.resolve().then(() => note("then")); note("sync");
await waiting; await Promise.allSettled([Promise.reject(1), (async () => { throw 2; })().catch(() => note("caught"))]);
console.log(order);
`,
  "symbols, iterators and conversions": `
const it = { *[Symbol.iterator]() { yield* "ab"; }, get [Symbol.toStringTag]() { return "It"; }, [Symbol.toPrimitive](hint: string) { return hint; } };
console.log([...it], Object.prototype.toString.call(it), \`\${it as any}\`, +(it as any), (it as any) + "", Math.max(...[1, 2]));
console.log(Symbol.for("x").description, Object.entries(Object.fromEntries(new Map([["k", 1]]))), structuredClone(new Date(0)).toISOString());
console.log([1, , 3], 1 in [1, , 3], [, ].length, new Array(2).fill(0), Array.from({ length: 2 }, (_, i) => i));
`,
  "shared state of a module that two import": `
import { add, count } from "./state.ts";
add(); console.log(count);
`,
  "shared state in the second one": `
import * as state from "./state.ts";
state.add(); console.log(state.count, Object.keys(state));
const again = await import("./state.ts"); console.log(again.count, again.add === state.add);
`,
  "modules that import each other": `
import { both } from "./circle_a.ts";
console.log(both());
`,
  "a package in the CommonJS format": `
import library from "./library.cjs";
console.log(library.base("/a/b.txt"), library.self, Object.keys(library));
`,
  "a module that waits": `
import { value } from "./waits.ts";
console.log(value, typeof import.meta.url, import.meta.main);
`,
};
