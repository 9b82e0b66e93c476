/** Fields that several kinds of channels have. @module */

export const webhookUrl = { type: "address", label: "Webhook URL", isSecret: true } as const;

/** The address of a server that replaces that of the vendor. */
export const apiUrl = {
  type: "address",
  label: "API URL",
  hint: "Only for a server that replaces the platform's own",
  isOptional: true,
} as const;

export const account = {
  username: { type: "text", label: "User name", isOptional: true },
  password: { type: "text", label: "Password", isSecret: true, isOptional: true },
} as const;
