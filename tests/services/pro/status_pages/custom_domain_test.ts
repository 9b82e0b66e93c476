import { equal } from "node:assert/strict";
import { normalizeDomain } from "../../../../services/pro/status_pages/custom_domain.ts";

for (
  const [text, domain] of [
    ["status.example.com", "status.example.com"],
    ["Status.Example.COM.", "status.example.com"],
    ["status", "status"],
    ["xn--mnchen-3ya.example", "xn--mnchen-3ya.example"],
    ["münchen.example", "xn--mnchen-3ya.example"],
    ["", undefined],
    [".", undefined],
    ["a..b", undefined],
    ["https://status.example.com", undefined],
    ["status.example.com/", undefined],
    ["status.example.com:8080", undefined],
    ["user@status.example.com", undefined],
    ["a b", undefined],
    ["a\r\nb", undefined],
    ["-a.example", undefined],
    ["*.example.com", undefined],
    ["127.0.0.1", undefined],
    ["0x7f.1", undefined],
    ["2130706433", undefined],
    ["[::1]", undefined],
    ["%6cocalhost", undefined],
    [`${"a".repeat(64)}.example`, undefined],
    [Array(64).fill("aaa").join("."), undefined],
  ] as const
) {
  Deno.test(`${JSON.stringify(text).slice(0, 50)} as a domain is ${domain ?? "refused"}`, () =>
    equal(normalizeDomain(text), domain));
}
