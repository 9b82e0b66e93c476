import { equal } from "node:assert/strict";
import { browserName } from "../../ui/pages/sessions/browser.ts";

const WEBKIT = "AppleWebKit/605.1.15 (KHTML, like Gecko)";

Deno.test("browserName() names browser and system", () => {
  for (
    const [userAgent, name] of [
      [
        "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0",
        "Firefox 143 on Linux",
      ],
      [
        `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/140.0.0.0 Safari/537.36 ` +
        "Edg/140.0.0.0",
        "Edge 140 on Windows",
      ],
      [
        `Mozilla/5.0 (Linux; Android 10; K) ${WEBKIT} Chrome/140.0.0.0 Mobile Safari/537.36`,
        "Chrome 140 on Android",
      ],
      [
        `Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) ${WEBKIT} Version/18.6 ` +
        "Mobile/15E148 Safari/604.1",
        "Safari 18 on iOS",
      ],
      ["curl/8.14.1", "curl/8.14.1"],
      ["a\u202eb", "a\\u202eb"],
      ["x".repeat(100), "x".repeat(60)],
      [null, "Unknown browser"],
    ] as const
  ) equal(browserName(userAgent), name);
});
