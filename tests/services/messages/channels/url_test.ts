import { deepEqual, throws } from "node:assert/strict";
import { parseChannelUrl } from "../../../../services/messages/channels/url.ts";

const WORKFLOW = "triggers/manual/paths/invoke";
const RUN = "sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=s-1";
const KEY = "0123456789abcdef0123456789abcdef";

for (
  const [url, config] of [
    // Matrix: a room in the query, a token without a user.
    ["matrix://:syt_1@m.example.com/?rooms=!r:example.com", {
      url: "https://m.example.com",
      accessToken: "syt_1",
      roomId: "!r:example.com",
    }],
    ["matrix://:syt_1@10.0.0.1:8008?disableTLS=yes&room=!r:example.com", {
      url: "http://10.0.0.1:8008",
      accessToken: "syt_1",
      roomId: "!r:example.com",
    }],
    ["matrixs://syt_1@m.example.com/!r:example.com", {
      url: "https://m.example.com",
      accessToken: "syt_1",
      roomId: "!r:example.com",
    }],
    [`pagerduty:///${KEY}`, { routingKey: KEY }],
    [`pagerduty://events.pagerduty.com/${KEY}?severity=critical`, { routingKey: KEY }],
    [`pagerduty://events.eu.pagerduty.com/${KEY}`, {
      routingKey: KEY,
      apiUrl: "https://events.eu.pagerduty.com",
    }],
    [`pagerduty://${KEY}@api-key/source/component`, { routingKey: KEY }],
    ["opsgenie://api.eu.opsgenie.com/key-1", { apiKey: "key-1", region: "eu" }],
    ["opsgenie://key-1/@ada/%23team", { apiKey: "key-1", region: "us" }],
    ["generic+https://h.example.com/a/b?x=1&_method=2", {
      url: "https://h.example.com/a/b?x=1&method=2",
    }],
    ["generic+http://10.0.0.1:8080/a", { url: "http://10.0.0.1:8080/a" }],
    ["generic://h.example.com/a?@X-Key=k&method=put&contenttype=text/plain&disabletls=yes", {
      url: "http://h.example.com/a",
      method: "PUT",
      contentType: "text/plain",
      headers: { "X-Key": "k" },
    }],
    ["generic://h.example.com?template=json&titlekey=subject&$source=docker", {
      url: "https://h.example.com/",
      template: '{"subject":"{{ title }}","message":"{{ text }}","source":"docker"}',
    }],
    ["workflows://w.example.com:443/id-1/s-1", {
      url: `https://w.example.com/workflows/id-1/${WORKFLOW}?api-version=2016-06-01&${RUN}`,
    }],
    ["workflow://w.example.com/id-1/s-1/?pa=yes", {
      url: "https://w.example.com/powerautomate/automations/direct/workflows/id-1/" +
        `${WORKFLOW}?api-version=2022-03-01-preview&${RUN}`,
    }],
    ["teams://w.example.com/workflows/1?sig=s", { url: "https://w.example.com/workflows/1?sig=s" }],
    ["teams://?host=https%3A%2F%2Fw.example.com%2Fworkflows%2F1%3Fsig%3Ds", {
      url: "https://w.example.com/workflows/1?sig=s",
    }],
    ["hangouts://chat.googleapis.com/v1/spaces/S/messages?key=k&token=t", {
      url: "https://chat.googleapis.com/v1/spaces/S/messages?key=k&token=t",
    }],
    ["slack://bot@T0/B0/X0/%23ops", {
      url: "https://hooks.slack.com/services/T0/B0/X0",
      channel: "#ops",
    }],
    ["mattermost://bot@c.example.com/abc/ops", {
      url: "https://c.example.com/hooks/abc",
      channel: "ops",
    }],
    ["mmosts://c.example.com/sub/abc", { url: "https://c.example.com/sub/hooks/abc" }],
    ["rocketchat://c.example.com/a/b/@ada", {
      url: "https://c.example.com/hooks/a/b",
      channel: "@ada",
    }],
    ["discord://tok-en@123?thread_id=9", {
      url: "https://discord.com/api/webhooks/123/tok-en?thread_id=9",
    }],
    ["telegram://1:AAHdqTcvCH1@telegram?chats=-1001:42", {
      botToken: "1:AAHdqTcvCH1",
      chatId: "-1001",
      threadId: 42,
    }],
    ["signal://h:8080/+15550100/+15550101,+15550102?disabletls=yes", {
      url: "http://h:8080",
      number: "+15550100",
      recipients: ["+15550101", "+15550102"],
    }],
    [
      "smtp://u:p@m.example.com:465/?fromaddress=a@x.example&toaddresses=o+1@x.example,b@x.example",
      {
        to: ["o+1@x.example", "b@x.example"],
        from: "a@x.example",
        smtpUrl: "smtps://u:p@m.example.com:465",
      },
    ],
    ["mailtos://ada:p@example.com", {
      to: ["ada@example.com"],
      from: "ada@example.com",
      smtpUrl: "smtps://ada:p@example.com",
    }],
  ] as [string, object][]
) {
  Deno.test(`the config of ${url}`, () => deepEqual(parseChannelUrl(url).config, config));
}

for (
  const [url, problem] of [
    ["matrix://:t@h/?rooms=!a:h,!b:h", /with one room/],
    ["telegram://1:A@telegram?chats=1,2", /with one chat/],
    ["generic://h?template=other", /another template than json/],
    ["hassio://h/eyJhbGciOiJIUzI1NiJ9.e30.x", /without an access token/],
    ["homeassistant://token@h.example.com", /without an access token/],
    ["signal://h/+15550100/+15550101?token=t", /without a token/],
    ["teams://group@tenant/a/b/c?host=o.webhook.office.com", /workflow's address/],
    ["slack://T0/B0", /slack:\/\/T000/],
  ] as [string, RegExp][]
) {
  Deno.test(`${url} is refused`, () => throws(() => parseChannelUrl(url), problem));
}
