/** The part of the WebAuthn library that is used, for one import on first use. @module */

// Before the library, which needs it.
import "reflect-metadata";

export { verifyAuthenticationResponse, verifyRegistrationResponse } from "@simplewebauthn/server";
export { decodeAttestationObject, isoBase64URL } from "@simplewebauthn/server/helpers";
