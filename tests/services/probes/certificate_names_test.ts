import { deepEqual, equal, ok } from "node:assert/strict";
import { coversHost, parseAltNames } from "../../../services/probes/certificate_names.ts";
import { leastProcessorMsOf } from "../../helpers/in_time.ts";

for (
  const [names, host, expected] of [
    [["example.com"], "example.com", true],
    [["example.com"], "EXAMPLE.com", true],
    [["Example.COM."], "example.com", true],
    [["example.com"], "example.com.", true],
    [["example.com"], "www.example.com", false],
    [["www.example.com"], "example.com", false],
    [["*.example.com"], "www.example.com", true],
    [["*.example.com"], "WWW.example.com", true],
    [["*.example.com"], "example.com", false],
    [["*.example.com"], "a.b.example.com", false],
    [["*.example.com"], ".example.com", false],
    [["*.com"], "example.com", false],
    [["*"], "localhost", false],
    [["*"], "example.com", false],
    [["*.*.com"], "a.example.com", false],
    [["www.*.com"], "www.example.com", false],
    [["w*.example.com"], "www.example.com", false],
    [["*w.example.com"], "www.example.com", false],
    [["a.example.com", "b.example.com"], "b.example.com", true],
    [["xn--bcher-kva.example"], "xn--bcher-kva.example", true],
    [["_dmarc.example.com"], "_dmarc.example.com", true],
    [["localhost"], "localhost", true],
    [[], "example.com", false],
    [[""], "", false],
    [["127.0.0.1"], "127.0.0.1", false],
    [["*.0.0.1"], "127.0.0.1", false],
  ] as [string[], string, boolean][]
) {
  Deno.test(`a certificate for ${names} is ${expected ? "" : "not "}for ${host}`, () => {
    equal(coversHost({ dns: names, ip: [] }, host), expected);
  });
}

for (
  const [addresses, host, expected] of [
    [["192.0.2.1"], "192.0.2.1", true],
    [["192.0.2.1"], "192.0.2.2", false],
    [["192.0.2.1"], "192.0.2.01", false],
    [["2001:db8::1"], "[2001:db8::1]", true],
    [["2001:DB8:0:0:0:0:0:1"], "2001:db8::1", true],
    [["2001:db8::1"], "[2001:db8::2]", false],
    [["::ffff:192.0.2.1"], "192.0.2.1", false],
    [["example.com"], "example.com", false],
  ] as [string[], string, boolean][]
) {
  Deno.test(`a certificate for ${addresses} is ${expected ? "" : "not "}for ${host}`, () => {
    equal(coversHost({ dns: [], ip: addresses }, host), expected);
  });
}

for (
  const [text, dns, ip] of [
    [undefined, [], []],
    ["", [], []],
    ["DNS:a.test", ["a.test"], []],
    ["DNS:a.test, IP Address:192.0.2.1, DNS:*.b.test", ["a.test", "*.b.test"], ["192.0.2.1"]],
    ["URI:https://a.test/, email:a@b.test, DNS:c.test", ["c.test"], []],
    ["IP Address:2001:DB8:0:0:0:0:0:1", [], ["2001:DB8:0:0:0:0:0:1"]],
    // One name, which is quoted because it contains a comma.
    ['DNS:"a.test, DNS:evil.test"', ['"a.test, DNS:evil.test"'], []],
    ['DNS:"a\\", DNS:evil.test", DNS:b.test', ['"a\\", DNS:evil.test"', "b.test"], []],
    ["DNS:", [], []],
    ["nonsense", [], []],
  ] as [string | undefined, string[], string[]][]
) {
  Deno.test(`parses the names of ${text}`, () => {
    deepEqual(parseAltNames(text), { dns, ip });
  });
}

Deno.test("a malicious name is parsed in linear time", async () => {
  for (const part of ['"', '"\\', " ", ",", "DNS:"]) {
    const text = part.repeat(100_000);
    ok(await leastProcessorMsOf(() => parseAltNames(text), 3) < 1_000, part);
  }
});
