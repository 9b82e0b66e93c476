/**
 * The login form for an identity provider in a real browser.
 *
 * @module
 */

import { deepEqual, equal, match } from "node:assert/strict";
import { browserTest, startBrowser } from "../helpers/browser.ts";
import { selfSigned } from "../helpers/certificates.ts";
import { createSigningKey } from "../helpers/saml_idp.ts";
import { serveApp } from "../helpers/served_app.ts";
import { addProvider, SSO } from "../helpers/sso.ts";
import { testApp } from "../helpers/test_app.ts";
import { until } from "../helpers/until.ts";

const local = { hostname: "127.0.0.1", port: 0, onListen() {} };
const view = { width: 390, height: 844, scheme: "dark" } as const;

browserTest(
  "the page of a login takes a browser to the provider, and to wherever that sends it on",
  async () => {
    using app = testApp({ edition: "enterprise" });
    await using site = serveApp(app);
    // Another host answers the form's login page, as is common.
    await using loginPage = Deno.serve(
      { ...local, ...await selfSigned({ name: "login.test", altNames: "IP:127.0.0.1" }) },
      () =>
        new Response("<title>Who are you?</title>", { headers: { "content-type": "text/html" } }),
    );
    const forms: FormData[] = [];
    await using idp = Deno.serve(local, async (request) => {
      forms.push(await request.formData());
      const location = `https://127.0.0.1:${loginPage.addr.port}/`;
      return new Response(null, { status: 302, headers: { location } });
    });
    const sso_url = `http://127.0.0.1:${idp.addr.port}/sso?a=1&b=2`;
    const { certificate } = await createSigningKey("P-256");
    const { id } = await addProvider(app, { entityId: "idp", certificate }, { sso_url });
    const url = `${site.url}${SSO}/login/${id}?RelayState=a%22b`;
    await using browser = await startBrowser(["--ignore-certificate-errors"]);

    await browser.visit(url, view, async ({ complaints, requests, evaluate }) => {
      await until(
        "the provider's login page is there",
        async () => await evaluate("document.title") === "Who are you?",
      );
      deepEqual(complaints, []);
      deepEqual(requests.slice(0, 2), [url, sso_url]);
    });

    equal(forms.length, 1);
    equal(forms[0]!.get("RelayState"), 'a"b');
    match(atob(String(forms[0]!.get("SAMLRequest"))), /<samlp:AuthnRequest /);
  },
);
