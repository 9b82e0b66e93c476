import { deepEqual, equal } from "node:assert/strict";
import { COMMON_PASSWORDS } from "../../../services/input/common_passwords.ts";
import { passwordProblem } from "../../../services/input/password_rule.ts";

for (
  const { what, password, fits } of [
    { what: "eleven characters", password: "a".repeat(11), fits: false },
    { what: "twelve characters", password: "a".repeat(12), fits: true },
    { what: "twelve units that are six characters", password: "🐳".repeat(6), fits: false },
    { what: "twelve characters beyond the basic plane", password: "🐳".repeat(12), fits: true },
    { what: "128 characters", password: "a".repeat(128), fits: true },
    { what: "129 characters", password: "a".repeat(129), fits: false },
    { what: "128 characters of four bytes each", password: "🐳".repeat(128), fits: true },
    { what: "twelve characters that are six composed", password: "u\u0308".repeat(6), fits: false },
  ]
) {
  Deno.test(`passwordProblem() ${fits ? "accepts" : "refuses"} ${what}`, () => {
    equal(passwordProblem(password), fits ? undefined : "must have 12 to 128 characters");
  });
}

for (const password of ["password1234", "Password1234", "QWERTYUIOP[]", "ЙЦУКЕНГШЩЗХЪ"]) {
  Deno.test(`passwordProblem() refuses the common password ${password}`, () => {
    equal(passwordProblem(password), "must not be one of the most common passwords");
  });
}

Deno.test("every common password is in lower case and long enough to matter", () => {
  const useless = [...COMMON_PASSWORDS].filter((password) =>
    password !== password.toLowerCase() || [...password].length < 12
  );
  deepEqual(useless, []);
});
