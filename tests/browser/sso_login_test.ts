/** The login form for an identity provider in a real browser. @module */

import { deepEqual, equal, match } from "node:assert/strict";
import { browserTest, startBrowser } from "../helpers/browser.ts";
import { selfSigned } from "../helpers/certificates.ts";
import { long } from "../helpers/long.ts";
import { createSigningKey, isWithoutSigner } from "../helpers/saml_idp.ts";
import { serveApp } from "../helpers/served_app.ts";
import { dashboardTest, startDashboardBrowser } from "../helpers/dashboard.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { addProvider, createIdp, requestIdOf, SSO } from "../helpers/sso.ts";
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
    await using browser = await startBrowser({ flags: ["--ignore-certificate-errors"] });

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

if (!isWithoutSigner) {
  long(dashboardTest)("a user of an identity provider signs in to the dashboard", async () => {
    await using service = await startLongshore();
    await service.call("POST", "/api/edition/trial");
    const idp = await createIdp("https://idp.example/metadata");
    const sso = `${service.baseUrl}${SSO}`;
    let email = "ada@example.com";
    await using site = Deno.serve(local, async (request) => {
      if (request.method !== "POST") return new Response(null, { status: 404 });
      const message = await idp.answer({
        ...{ email, issuedAt: new Date(), acsUrl: `${sso}/acs`, audience: `${sso}/metadata` },
        inResponseTo: requestIdOf(String((await request.formData()).get("SAMLRequest"))),
      });
      const page =
        `<!doctype html><title>Acme</title><link rel=icon href=data:,><form method=post action="${sso}/acs">` +
        `<input name=SAMLResponse value="${message}"><button>Continue</button></form>`;
      return new Response(page, { headers: { "content-type": "text/html" } });
    });
    const provider = {
      ...{ name: "Acme", entity_id: idp.entityId, certificate: idp.certificate },
      ...{ sso_url: `http://127.0.0.1:${site.addr.port}/sso`, auto_provision: true },
      attribute_mapping: { email: "mail", name: "displayName" },
    };
    const created = await service.call("POST", `${SSO}/providers`, provider);
    equal(created.status, 201, created.body.error);
    const providerPath = `${SSO}/providers/${created.body.id}`;

    await using browser = await startDashboardBrowser();
    const tab = await browser.tab(service);
    await tab.open("/containers?state=running");
    await tab.find("heading", "Sign in");
    await tab.find("button", "Sign in with Acme");
    await tab.refused(401); // A browser without a session.
    await tab.checkAccessibility();
    await tab.click("button", "Sign in with Acme");
    await tab.click("button", "Continue");
    await tab.find("heading", "Containers");
    match(tab.page.url(), /\/containers\?state=running$/);
    await tab.refused(401);
    await tab.page.reload();
    await tab.find("heading", "Containers");
    deepEqual(tab.complaints, []);

    // A link to a login begins it on the sign-in page.
    await using linked = await browser.separate();
    const visitor = await linked.tab(service);
    await visitor.page.goto(`${sso}/login/${created.body.id}?return_to=/networks`);
    await visitor.click("button", "Continue");
    await visitor.find("heading", "Networks");

    // Without the right to create users, the page says why.
    await service.call("PUT", providerPath, { auto_provision: false });
    await using other = await browser.separate();
    email = "eve@example.com";
    const refused = await other.tab(service);
    await refused.open("/sign-in");
    await refused.click("button", "Sign in with Acme");
    await refused.click("button", "Continue");
    await refused.find("heading", "Sign-in refused");
    match(
      await refused.page.$eval("body", (body) => body.textContent),
      /eve@example\.com does not/,
    );
    await refused.click("link", "Back to the sign-in");
    await refused.find("button", "Sign in with Acme");

    // A link from another user does not sign a browser in.
    await refused.page.goto("about:blank");
    await refused.open("/sign-in#code=of-another-browser");
    await refused.alert(/was begun elsewhere/);
  });
}
