/** Texts of containers and their users arrive in every channel as plain text. @module */

import { deepEqual, equal, ok } from "node:assert/strict";
import { emit } from "../../../services/events/emit.ts";
import type { EventMap } from "../../../services/events/kinds/mod.ts";
import { PLATFORMS, servePlatform } from "../../helpers/notification_platforms.ts";
import { deliverDue } from "../../helpers/outbox_delivery.ts";
import { smtpServer } from "../../helpers/smtp_server.ts";
import { testApp } from "../../helpers/test_app.ts";

const CHANNELS = "/api/notifications/channels";

/** Texts that some platform would not show as they are. */
const HOSTILE: Record<string, string> = {
  "HTML": '<b>bold</b><img src=x onerror="alert(1)"><script>alert(1)</script>',
  "references": "&lt;b&gt; &amp; &#64;everyone &quot;",
  "mentions": "@everyone @here @channel @all @room <!channel> <!here> <@1234> <users/all> <#C1>",
  "masked links": "[click](https://evil.example/a) <https://evil.example/b|click> ![i](x)",
  "formats": "*bold* **bold** _it_ __u__ ~no~ ~~no~~ ||spoiler|| `code` ```block``` $x$ :smile:",
  "lines": "# heading\n> quote\n>>> quote\n- list\n+ list\n1. list\n===\n---\n    code",
  "templates": "{{ title }} ${x} %s \\n \\ %0d%0aBcc: a@b.example \"}'",
};

const hostileApp = (smtpUrl: string | null = null) =>
  testApp({
    config: {
      serverName: "host-1",
      serviceBaseUrl: "https://longshore.example.com",
      outboundAllow: ["127.0.0.1"],
      smtpUrl,
    },
  });
type App = ReturnType<typeof hostileApp>;

async function send(app: App, kind: string, config: object, texts: Texts): Promise<void> {
  const { status, body } = await app.call("POST", CHANNELS, { name: kind, kind, config });
  equal(status, 201, JSON.stringify(body));
  emit(app.deps, "schedule.failed", failure(texts));
  await deliverDue(app.deps, { signal: new AbortController().signal });
  const { deliveries } = (await app.call("GET", `${CHANNELS}/${body.id}/deliveries`)).body;
  deepEqual([deliveries[0].status, deliveries[0].error], ["sent", null]);
}

interface Texts {
  name: string;
  text: string;
}

const failure = ({ name, text }: Texts): EventMap["schedule.failed"] => ({
  schedule: name,
  scheduleId: "s1",
  container: name,
  action: "restart",
  error: text,
});

/** A name is on one line; zero-width spaces are the platforms' only escape in places. */
const inLine = (text: string) => text.replaceAll("\u200b", "").replace(/\s+/g, " ").trim();

/** Control characters, and characters that change the direction of what follows. */
const CONTROLS = /[^\P{Cc}\n]|[\u2028\u2029\u202a-\u202e\u2066\u2067]/u;

for (const [kind, platform] of Object.entries(PLATFORMS)) {
  for (const [what, text] of Object.entries(HOSTILE)) {
    Deno.test(`${kind} shows ${what} as they are`, async () => {
      using app = hostileApp();
      const { receiver, problems, url } = servePlatform(platform);
      await using _ = receiver;
      await send(app, kind, platform.config(url), { name: text, text });
      deepEqual(problems, []);
      const [request] = receiver.received;
      const isForm = request!.headers["content-type"] === "application/x-www-form-urlencoded";
      const body = isForm ? undefined : JSON.parse(request!.body);
      const shown = inLine(platform.shown(body, request!));
      // Opsgenie shortens titles to 130 characters.
      ok(shown.includes(inLine(text).slice(0, 80)), shown);
      equal(platform.markup?.(body) ?? false, false, request!.body);
    });
  }

  Deno.test(`${kind} gets no control characters and no changes of direction`, async () => {
    using app = hostileApp();
    const { receiver, problems, url } = servePlatform(platform);
    await using _ = receiver;
    const text = "web\u202Egpj.exe\u0000\u001b[31mred\u0007\r\n\u2066a\u2028b\u009bc\ud800";
    await send(app, kind, platform.config(url), { name: text, text });
    deepEqual(problems, []);
    const [request] = receiver.received;
    const isForm = request!.headers["content-type"] === "application/x-www-form-urlencoded";
    const shown = platform.shown(isForm ? undefined : JSON.parse(request!.body), request!);
    equal(CONTROLS.exec(shown), null);
    ok(shown.isWellFormed());
    ok(inLine(shown).includes("webgpj.exe"), shown);
  });

  for (
    const [what, text] of [
      ["1 MB in one line", `${HOSTILE.mentions} `.repeat(15_000)],
      ["1 MB of short lines", "é\n".repeat(400_000)],
      ["1 MB of what each platform escapes", `"<&*_\\@a\u0001`.repeat(120_000)],
      ["1 MB of emoji", "👩‍👩‍👧‍👦".repeat(50_000)],
    ] as const
  ) {
    Deno.test(`${kind} accepts ${what}`, async () => {
      using app = hostileApp();
      const { receiver, problems, url } = servePlatform(platform);
      await using _ = receiver;
      await send(app, kind, platform.config(url), { name: text, text });
      deepEqual(problems, []);
      const [{ body }] = receiver.received as [typeof receiver.received[0] & object];
      ok(body.length < 128 * 1024, `${body.length}`);
    });
  }
}

for (const [what, text] of Object.entries(HOSTILE)) {
  Deno.test(`email shows ${what} as they are, in both parts`, async () => {
    await using smtp = await smtpServer();
    using app = hostileApp(smtp.url);
    await send(app, "email", { to: ["ada@example.com"] }, { name: text, text });
    const [mail] = smtp.mails;
    deepEqual(mail!.to, ["ada@example.com"]);
    equal(mail!.headers.bcc, undefined);
    ok(inLine(mail!.headers.subject!).includes(inLine(text).slice(0, 80)), mail!.headers.subject);
    ok(inLine(mail!.parts["text/plain"]!).includes(inLine(text)));
    const html = mail!.parts["text/html"]!;
    equal(/<(script|img|b)\b/.test(html), false);
    const shown = html.replace(/<[^>]*>/g, " ").replace(
      /&(amp|lt|gt|quot|#39);/g,
      (_, name) => ({ amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" })[name as "amp"],
    );
    ok(inLine(shown).includes(inLine(text)), shown);
  });
}

Deno.test("email has a limit, and no control characters", async () => {
  await using smtp = await smtpServer();
  using app = hostileApp(smtp.url);
  const text = "web\u202Egpj.exe\u0000\u001b[31m\u2028\nBcc: a@b.example\n".repeat(30_000);
  await send(app, "email", { to: ["ada@example.com"] }, { name: text, text });
  const [mail] = smtp.mails;
  equal(mail!.headers.bcc, undefined);
  ok(mail!.raw.length < 64 * 1024, `${mail!.raw.length}`);
  for (const part of [mail!.headers.subject!, ...Object.values(mail!.parts)]) {
    equal(CONTROLS.exec(part), null);
  }
});

for (
  const [contentType, template, expected] of [
    ["text/plain", "{{ event.data.container }}|{{ event.data.error }}", "a b|c <i>\nd"],
    ["text/html", "<p>{{ event.data.error }}</p>", "<p>c &lt;i&gt;\nd</p>"],
    ["application/x-www-form-urlencoded", "t={{ event.data.error }}", "t=c%20%3Ci%3E%0Ad"],
    ["application/json", '{"t": "{{ event.data.error }}"}', '{"t": "c <i>\\nd"}'],
  ] as const
) {
  Deno.test(`a template for ${contentType} gets plain data`, async () => {
    using app = hostileApp();
    const { receiver, url } = servePlatform({ ...PLATFORMS.webhook!, problem: () => undefined });
    await using _ = receiver;
    await send(app, "webhook", { url: `${url}/hook`, template, contentType }, {
      name: "a\u0000\u202eb",
      text: "\u2066c\u001b<i>\r\nd\u0007",
    });
    equal(receiver.received[0]!.body, expected);
  });
}
