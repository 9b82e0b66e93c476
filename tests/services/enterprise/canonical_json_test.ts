import { equal, throws } from "node:assert/strict";
import { canonicalJson } from "../../../services/enterprise/canonical_json.ts";

// RFC 8785, section 3.2.2, and its result of section 3.2.3.
Deno.test("the example of RFC 8785 is written as the RFC writes it", () => {
  const value = JSON.parse(String.raw`{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  }`);
  equal(
    canonicalJson(value),
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
      String.raw`"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  );
});

// RFC 8785, section 3.2.3: sorted by UTF-16 code units, not by code points.
Deno.test("members are sorted as RFC 8785 sorts them", () => {
  const value = JSON.parse(String.raw`{
    "\u20ac": "Euro Sign",
    "\r": "Carriage Return",
    "\ufb33": "Hebrew Letter Dalet With Dagesh",
    "1": "One",
    "\ud83d\ude00": "Emoji: Grinning Face",
    "\u0080": "Control",
    "\u00f6": "Latin Small Letter O With Diaeresis"
  }`);
  equal(
    canonicalJson(value),
    '{"\\r":"Carriage Return","1":"One","\u0080":"Control",' +
      '"\u00f6":"Latin Small Letter O With Diaeresis","\u20ac":"Euro Sign",' +
      '"\ud83d\ude00":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
  );
});

// RFC 8785, appendix B: a number by its IEEE 754 bits, and how it is written.
for (
  const [bits, written] of [
    ["0000000000000000", "0"],
    ["8000000000000000", "0"],
    ["0000000000000001", "5e-324"],
    ["8000000000000001", "-5e-324"],
    ["7fefffffffffffff", "1.7976931348623157e+308"],
    ["ffefffffffffffff", "-1.7976931348623157e+308"],
    ["4340000000000000", "9007199254740992"],
    ["c340000000000000", "-9007199254740992"],
    ["4430000000000000", "295147905179352830000"],
    ["44b52d02c7e14af5", "9.999999999999997e+22"],
    ["44b52d02c7e14af6", "1e+23"],
    ["44b52d02c7e14af7", "1.0000000000000001e+23"],
    ["444b1ae4d6e2ef4e", "999999999999999700000"],
    ["444b1ae4d6e2ef4f", "999999999999999900000"],
    ["444b1ae4d6e2ef50", "1e+21"],
    ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
    ["3eb0c6f7a0b5ed8d", "0.000001"],
    ["41b3de4355555553", "333333333.3333332"],
    ["41b3de4355555554", "333333333.33333325"],
    ["41b3de4355555555", "333333333.3333333"],
    ["41b3de4355555556", "333333333.3333334"],
    ["41b3de4355555557", "333333333.33333343"],
    ["becbf647612f3696", "-0.0000033333333333333333"],
    ["43143ff3c1cb0959", "1424953923781206.2"],
  ] as const
) {
  Deno.test(`the number ${bits} of RFC 8785 is written ${written}`, () => {
    equal(
      canonicalJson(new Float64Array(BigUint64Array.of(BigInt(`0x${bits}`)).buffer)[0]),
      written,
    );
  });
}

Deno.test("what JSON does not have is refused", () => {
  let deep: unknown = 1;
  for (let i = 0; i < 1_000_000; i++) deep = [deep];
  for (
    const value of [
      NaN,
      Infinity,
      -Infinity,
      undefined,
      () => 1,
      Symbol("a"),
      1n,
      "\ud800",
      { "\udfff": 1 },
      { a: undefined },
      // deno-lint-ignore no-sparse-arrays
      [, 1],
      deep,
    ]
  ) throws(() => canonicalJson(value), TypeError);
});

Deno.test("empty things, nested things and unusual names are written", () => {
  equal(canonicalJson({}), "{}");
  equal(canonicalJson([]), "[]");
  equal(canonicalJson({ b: [{ d: 1, c: {} }], a: "" }), '{"a":"","b":[{"c":{},"d":1}]}');
  equal(canonicalJson({ "": 1, 10: 2, 9: 3 }), '{"":1,"10":2,"9":3}');
  equal(canonicalJson(JSON.parse('{"__proto__": 1}')), '{"__proto__":1}');
  equal(canonicalJson("\u2028\u2029\u007f\u0000"), '"\u2028\u2029\u007f\\u0000"');
});
