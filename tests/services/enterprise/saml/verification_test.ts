import { deepEqual, equal, rejects } from "node:assert/strict";
import { readMessage } from "../../../../services/enterprise/saml/message.ts";
import { SamlError } from "../../../../services/enterprise/saml/error.ts";
import { verifySignatures } from "../../../../services/enterprise/saml/verification.ts";
import { readXml } from "../../../../services/enterprise/saml/xml.ts";
import {
  createSigningKey,
  isWithoutSigner,
  MORE,
  signedResponse,
} from "../../../helpers/saml_idp.ts";

/** Stands where no signature covers it, so that only the comparison of the trees can see it. */
const EXTENSION = `<samlp:Extensions><a xmlns="urn:a" b="c"><d>e</d><f/></a></samlp:Extensions>`;

/** A message, and whether what another parser would see of it is taken for the same. */
async function compare(other: (text: string) => string): Promise<void> {
  const key = await createSigningKey("P-256");
  const algorithm = `${MORE}ecdsa-sha256`;
  const text = (await signedResponse({ key, algorithm })).replace(/^<\?xml.*?\?>\s*/, "")
    .replace("<samlp:Status>", `${EXTENSION}<samlp:Status>`);
  const message = readMessage(readXml(text));
  const { response, assertion } = await verifySignatures(
    { ...message, text: other(text) },
    key.certificate,
  );
  deepEqual([response, assertion?.name], [undefined, "Assertion"]);
}

Deno.test({
  name: "one reading of a message is taken",
  ignore: isWithoutSigner,
  fn: () => compare((text) => text),
});

for (
  const [what, from, to] of [
    ["another element", "<f/>", "<g/>"],
    ["another prefix", "<f/>", `<h:f xmlns:h="urn:a"/>`],
    ["another namespace", `xmlns="urn:a"`, `xmlns="urn:b"`],
    ["an attribute less", ` b="c"`, ""],
    ["an attribute more", ` b="c"`, ` b="c" d="e"`],
    ["another attribute", ` b="c"`, ` d="c"`],
    ["another value", ` b="c"`, ` b="d"`],
    ["another text", "<d>e</d>", "<d>f</d>"],
    ["a text less", "<d>e</d>", "<d/>"],
    ["a comment more", "<d>e</d>", "<d>e<!--f--></d>"],
    ["an element more", "<f/>", "<f/><f/>"],
    ["an element less", "<f/>", ""],
    ["elements in another order", "<d>e</d><f/>", "<f/><d>e</d>"],
    ["a CDATA section", "<d>e</d>", "<d><![CDATA[e]]></d>"],
    ["a processing instruction", "<f/>", "<f/><?g?>"],
    ["what the parser complains about", ` b="c"`, " b=c"],
    ["an entity that it does not know", "<d>e</d>", "<d>&e;</d>"],
    ["no element at all", /.*/s, ""],
  ] as const
) {
  Deno.test({
    name: `two readings of a message are refused: ${what}`,
    ignore: isWithoutSigner,
    fn: () =>
      rejects(
        compare((text) => {
          const changed = text.replace(from, to);
          equal(changed === text, false);
          return changed;
        }),
        (error) => error instanceof SamlError && error.reason === "parsers_disagree",
      ),
  });
}
