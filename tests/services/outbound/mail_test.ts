import { deepEqual, equal, rejects } from "node:assert/strict";
import { sendMail } from "../../../services/outbound/mail.ts";
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
