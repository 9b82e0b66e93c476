/**
 * Mail addresses beyond ASCII, which only servers with the extension SMTPUTF8 take (RFC 6531).
 *
 * @module
 */

import type { SMTPConnectionOptions } from "nodemailer";

/** Whether a mail server needs SMTPUTF8 for an address: domains have a form in ASCII. */
export const needsSmtpUtf8 = (address: string): boolean => !/^[\x21-\x7e]*@/.test(address);

/**
 * Connects to a mail server and reads whether it announces SMTPUTF8. The library sends every address
 * to any server.
 *
 * @throws The library's error if the server cannot be reached.
 */
export async function supportsSmtpUtf8(options: SMTPConnectionOptions): Promise<boolean> {
  const { default: SMTPConnection } = await import("nodemailer/lib/smtp-connection");
  const connection = new SMTPConnection(options);
  try {
    await new Promise<void>((resolve, reject) => {
      connection.on("error", reject);
      connection.connect((error) => error ? reject(error) : resolve());
    });
    const answer = connection.lastServerResponse || "";
    // If the server has refused STARTTLS, the last response is not that to EHLO.
    return !answer.startsWith("250") || /^250[ -]SMTPUTF8\b/im.test(answer);
  } finally {
    connection.close();
  }
}
