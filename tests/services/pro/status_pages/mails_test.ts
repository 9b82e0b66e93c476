import { equal, match, ok } from "node:assert/strict";
import { noticeMail, verificationMail } from "../../../../services/pro/status_pages/mails.ts";
import { isMailAddress } from "../../../../services/outbound/mail_address.ts";

const created_at = "2026-01-01T12:34:56.000Z";
const urls = { page: "https://s.test/status/a?x=1&y", unsubscribe: "https://s.test/u/t" };

Deno.test("a notice contains the change, the page and an unsubscribe link", () => {
  const content = {
    component: null,
    incident: "API down",
    old_status: "investigating",
    new_status: "resolved",
    message: "All is well.\nSorry.",
  };
  const { subject, text } = noticeMail({ name: "Acme" }, { content, created_at }, urls);
  equal(subject, "[Acme] Resolved: API down");
  equal(
    text,
    [
      "Acme",
      "Incident: API down",
      "Status: Resolved (before: Investigating)",
      "2026-01-01 12:34 UTC",
      "",
      "All is well.",
      "Sorry.",
      "",
      "Status page: https://s.test/status/a?x=1&y",
      "Unsubscribe: https://s.test/u/t",
      "",
    ].join("\n"),
  );
});

Deno.test("texts of users are escaped in mails", () => {
  const evil = `"><script>alert('1')</script>&lt;\u202e<img src=x onerror=1>`;
  const content = {
    component: evil,
    incident: null,
    old_status: "operational",
    new_status: "major_outage",
    message: evil,
  };
  for (
    const { html } of [
      noticeMail({ name: evil }, { content, created_at }, urls),
      verificationMail({ name: evil }, "https://s.test/v/t"),
    ]
  ) {
    ok(!/<(script|img)/i.test(html), html);
    match(html, /&quot;&gt;&lt;script&gt;alert\(&#39;1&#39;\)&lt;\/script&gt;&amp;lt;/);
  }
});

Deno.test("mails have the look of their brand, if its values are safe", () => {
  const html = (brand: object) =>
    verificationMail({ name: "Acme" }, "https://s.test/v/t", { name: "Acme", ...brand }).html;
  match(html({}), /background:#1f64d8;.*<bdi>Acme<\/bdi>/);
  match(html({ color: "#c02331" }), /background:#c02331;/);
  match(html({ color: "red;x" }), /background:#1f64d8;/);
  match(
    html({ logoUrl: "https://s.test/logo.png?a&b" }),
    /<img src="https:\/\/s\.test\/logo\.png\?a&amp;b" alt=""/,
  );
  ok(!/<img/.test(html({ logoUrl: "http://s.test/logo.png" })));
});

for (
  const [address, valid] of [
    ["ada@example.com", true],
    ["Ada.Love-lace+status@mail.example.co.uk", true],
    ["ada@localhost", true],
    ["ädä@münchen.example", true],
    ["o'hara@example.com", true],
    [`${"a".repeat(64)}@example.com`, true],
    ["", false],
    ["ada", false],
    ["@example.com", false],
    ["ada@", false],
    ["a@b@c", false],
    ["a,b@example.com", false],
    ["a@example.com,b@example.com", false],
    ["Ada <ada@example.com>", false],
    [`"a b"@example.com`, false],
    ["a@example.com\r\nBcc: b@example.com", false],
    ["a\0@example.com", false],
    ["a b@example.com", false],
    [".a@example.com", false],
    ["a..b@example.com", false],
    ["a@example..com", false],
    ["a@-example.com", false],
    ["a@[127.0.0.1]", false],
    ["group:a@example.com;", false],
    [`${"a".repeat(65)}@example.com`, false],
    [`a@${"b".repeat(253)}`, false],
  ] as const
) {
  Deno.test(`${JSON.stringify(address).slice(0, 50)} is ${valid ? "" : "not "}a mail address`, () =>
    equal(isMailAddress(address), valid));
}
