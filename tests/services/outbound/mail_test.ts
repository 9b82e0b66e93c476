import { deepEqual, equal, rejects } from "node:assert/strict";
import { type MailError, sendMail } from "../../../services/outbound/mail.ts";
import { smtpServer } from "../../helpers/smtp_server.ts";

const MAIL = {
  to: "ada@example.com",
  subject: "Down",
  text: "It is down",
  html: "<p>It is down</p>",
  id: "1",
};
const SENDER = { smtpFrom: null, serverName: "host-1.example.com" };

Deno.test("a mail goes to the address that was checked, whatever the name resolves to", async () => {
  await using server = await smtpServer({ users: { ada: "s3cret" } });
  const url = new URL(server.url);
  const smtpUrl = `smtp://ada:s3cret@mail.invalid:${url.port}`;
  const signal = new AbortController().signal;

  await sendMail({ ...SENDER, smtpUrl, address: "127.0.0.1" }, MAIL, signal);

  deepEqual(server.mails.map(({ to }) => to), [["ada@example.com"]]);
});

Deno.test("a mail does not go to what the name resolves to instead of the checked address", async () => {
  await using server = await smtpServer();
  const smtpUrl = `smtp://localhost:${new URL(server.url).port}`;
  const signal = new AbortController().signal;

  await rejects(
    sendMail({ ...SENDER, smtpUrl, address: "127.0.0.2" }, MAIL, signal),
    /^MailError: The mail server cannot be reached$/,
  );

  equal(server.mails.length, 0);
});

/** The error of a mail, if any, and who got it. */
async function send(
  { smtpUtf8, from, to }: { smtpUtf8: boolean; from?: string; to: string[] },
) {
  await using server = await smtpServer({
    smtpUtf8,
    refuse: (address) => address.startsWith("gone") ? 550 : undefined,
  });
  const sender = { ...SENDER, smtpFrom: from ?? null, smtpUrl: server.url };
  const error = await sendMail(sender, { ...MAIL, to }, new AbortController().signal)
    .then(() => undefined, (error: MailError) => error);
  return {
    error: error?.message,
    refused: error?.refused,
    isTemporary: error?.isTemporary,
    received: server.mails.flatMap(({ to }) => to),
  };
}

Deno.test("an address beyond ASCII is sent to a mail server with SMTPUTF8", async () => {
  const to = ["jörg@example.com", "ada@example.com"];
  deepEqual(await send({ smtpUtf8: true, from: "Jörg <jörg@example.com>", to }), {
    error: undefined,
    refused: undefined,
    isTemporary: undefined,
    received: to,
  });
});

Deno.test("without SMTPUTF8, a receiver beyond ASCII is refused for good, and others get the mail", async () => {
  const needs = "needs SMTPUTF8, which it does not support";
  deepEqual(await send({ smtpUtf8: false, to: ["jörg@example.com", "ada@example.com"] }), {
    error: `Refused by the mail server: jörg@example.com (${needs})`,
    refused: ["jörg@example.com"],
    isTemporary: false,
    received: ["ada@example.com"],
  });
  deepEqual(await send({ smtpUtf8: false, to: ["jörg@example.com"] }), {
    error: `Refused by the mail server: jörg@example.com (${needs})`,
    refused: ["jörg@example.com"],
    isTemporary: false,
    received: [],
  });
  deepEqual(await send({ smtpUtf8: false, to: ["jörg@example.com", "gone@example.com"] }), {
    error: `Refused by the mail server: jörg@example.com (${needs}), gone@example.com (550)`,
    refused: ["jörg@example.com", "gone@example.com"],
    isTemporary: false,
    received: [],
  });
});

Deno.test("without SMTPUTF8, no mail is sent for a sender beyond ASCII", async () => {
  const from = "Status <störung@example.com>";
  const { error, isTemporary, received } = await send({ smtpUtf8: false, from, to: ["a@b.test"] });
  equal(
    error,
    "The mail server does not support SMTPUTF8, which the sender störung@example.com needs",
  );
  deepEqual([isTemporary, received], [false, []]);
});

Deno.test("a domain beyond ASCII and a sender's name need no SMTPUTF8", async () => {
  const { error, received } = await send({
    smtpUtf8: false,
    from: "Störung <status@bücher.example>",
    to: ["ada@bücher.example"],
  });
  deepEqual([error, received], [undefined, ["ada@bücher.example"]]);
});
