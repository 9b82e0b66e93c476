import { equal } from "node:assert/strict";
import {
  keepsSecrets,
  redactedUrl,
  unredactedUrl,
} from "../../../services/outbound/url_secrets.ts";

for (
  const [url, shown] of [
    ["https://a.example/x", "https://a.example/x"],
    ["https://a.example/x?token=abc", "https://a.example/x?token=********"],
    [
      "https://a.example?t=a&t=b&empty=&c#f",
      "https://a.example?t=********&t=********&empty=&********#f",
    ],
    ["https://a.example/?sUpErSeCrEt", "https://a.example/?********"],
    ["http://user:pass@a.example/", "http://********:********@a.example/"],
    ["http://user:p@ss@a.example/", "http://********:********@a.example/"],
    ["http://key@a.example/?q=1", "http://********@a.example/?q=********"],
    ["HTTPS://a.example/?q=a?b=c", "HTTPS://a.example/?q=********"],
    ["db.internal:5432", "db.internal:5432"],
    ["www.example.com", "www.example.com"],
    ["https://a.example/@x?", "https://a.example/@x?"],
  ] as const
) {
  Deno.test(`${url} is shown as ${shown}`, () => {
    equal(redactedUrl(url), shown);
    equal(redactedUrl(shown), shown);
    equal(unredactedUrl(shown, url), url);
    equal(keepsSecrets(shown), shown.includes("*"));
  });
}

for (
  const [given, stored, result] of [
    ["https://a.example/new?t=********", "https://a.example/?t=abc", "https://a.example/new?t=abc"],
    ["https://a.example/?t=x", "https://a.example/?t=abc", "https://a.example/?t=x"],
    [
      "https://a.example/?u=1&t=********",
      "https://a.example/?t=a&u=2",
      "https://a.example/?u=1&t=a",
    ],
    [
      "https://a.example/?t=x&t=********",
      "https://a.example/?t=a&t=b",
      "https://a.example/?t=x&t=b",
    ],
    ["https://a.example/?u=********", "https://a.example/?t=abc", undefined],
    ["https://a.example/?t=********", undefined, undefined],
    ["https://********@a.example/", "https://u:p@a.example/", undefined],
    ["https://a.example/", "https://a.example/?t=abc", "https://a.example/"],
  ] as const
) {
  Deno.test(`${given} in place of ${stored} is ${result}`, () => {
    equal(unredactedUrl(given, stored), result);
  });
}
