import { deepEqual, equal, throws } from "node:assert/strict";
import {
  DEPTH_MAX,
  FIELDS_MAX,
  parseForm,
  parseJson,
  VALUES_MAX,
} from "../../../routes/pipeline/body_content.ts";
import { PAGES, proApp } from "../../helpers/status_pages.ts";
import { testApp } from "../../helpers/test_app.ts";

const FORM_TYPE = { "content-type": "application/x-www-form-urlencoded" };
const ACS = "/api/ext/service-enterprise/sso/acs";

const fields = (count: number) => Array.from({ length: count }, (_, at) => `a${at}=`).join("&");
const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

for (
  const { what, text } of [
    {
      what: "an array with the limit of values",
      text: JSON.stringify(Array(VALUES_MAX - 2).fill(0)),
    },
    { what: "arrays within each other up to the limit", text: nested(DEPTH_MAX) },
    { what: "arrays next to each other", text: `[${Array(DEPTH_MAX + 1).fill("[]").join()}]` },
    {
      what: "brackets and commas in strings",
      text: JSON.stringify(["[{,".repeat(VALUES_MAX), '\\"[[']),
    },
    { what: "an escaped quote before brackets", text: `"\\"${"[".repeat(DEPTH_MAX + 1)}"` },
  ]
) {
  Deno.test(`parseJson() accepts ${what}`, () => {
    deepEqual(parseJson(text), JSON.parse(text));
  });
}

for (
  const { what, text, message } of [
    {
      what: "an array with too many values",
      text: JSON.stringify(Array(VALUES_MAX).fill(0)),
      message: "The body has more than 5000 values",
    },
    {
      what: "an object with too many values",
      text: JSON.stringify(
        Object.fromEntries(Array.from({ length: VALUES_MAX }, (_, at) => [at, 0])),
      ),
      message: "The body has more than 5000 values",
    },
    {
      what: "a value nested too deeply",
      text: nested(DEPTH_MAX + 1),
      message: "body: must not nest more than 64 levels",
    },
    {
      what: "nested brackets after a string that ends with a backslash",
      text: `["\\\\",${nested(DEPTH_MAX)}]`,
      message: "body: must not nest more than 64 levels",
    },
  ]
) {
  Deno.test(`parseJson() refuses ${what}`, () => {
    const code = message.startsWith("The body") ? "too_large" : "invalid";
    throws(() => parseJson(text), { code, message });
  });
}

for (const text of ["", "{", '{"a', '"a\\', "[1,]"]) {
  Deno.test(`parseJson() refuses ${text || "an empty text"} as malformed`, () => {
    throws(() => parseJson(text), { code: "invalid", message: "body: is not valid JSON" });
  });
}

Deno.test("parseForm() accepts the limit of fields, and refuses one more", () => {
  equal(parseForm(fields(FIELDS_MAX)).size, FIELDS_MAX);
  throws(() => parseForm(fields(FIELDS_MAX + 1)), {
    code: "too_large",
    message: "The body has more than 100 fields",
  });
});

Deno.test("forms with many fields, and queries with many parameters, are refused", async () => {
  using app = testApp({ edition: "enterprise" });
  const form = `SAMLResponse=YQ%3D%3D&${fields(FIELDS_MAX)}`;
  const refused = await app.call("POST", ACS, form, { role: "public", headers: FORM_TYPE });
  deepEqual([refused.status, refused.body.error], [413, "The body has more than 100 fields"]);
  const { status, body } = await app.call("GET", `/api/containers?${fields(FIELDS_MAX + 1)}`);
  deepEqual([status, body.error], [400, "query: must have at most 100 parameters"]);
});

Deno.test("the subscribe form is refused above 64 KiB", async () => {
  using app = proApp({ config: { smtpUrl: "smtp://127.0.0.1:1", smtpFrom: "s@longshore.test" } });
  await app.call("POST", PAGES, { name: "Acme", slug: "acme" });
  const { status, body } = await app.call(
    "POST",
    "/status/acme/subscribe",
    `email=${"a".repeat(64 * 1024)}`,
    { role: "public", headers: FORM_TYPE },
  );
  deepEqual([status, body.error], [413, "The body is larger than 65536 bytes"]);
});

for (
  const { path, perMinute } of [{ path: ACS, perMinute: 10 }, {
    path: "/status/x/subscribe",
    perMinute: 3,
  }]
) {
  Deno.test(`POST ${path} is refused above its limit before its body is read`, async () => {
    using app = testApp({ edition: "enterprise" });
    const post = async (address: string) => {
      let isRead = false;
      const body = new ReadableStream({
        pull(controller) {
          isRead = true;
          controller.close();
        },
      }, { highWaterMark: 0 });
      const request = new Request(`http://longshore.test${path}`, {
        method: "POST",
        headers: FORM_TYPE,
        body,
      });
      const response = await app.app(request, address);
      await response.body?.cancel();
      return { status: response.status, isRead };
    };
    for (let at = 0; at < perMinute; at++) equal((await post("192.0.2.1")).isRead, true);
    deepEqual(await post("192.0.2.1"), { status: 429, isRead: false });
    equal((await post("192.0.2.2")).isRead, true);
  });
}
