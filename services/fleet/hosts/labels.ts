/** Labels of hosts. @module */

/** Whether a host has a label. @param label `key` or `key=value`. */
export function hasLabel(labels: Record<string, string>, label: string): boolean {
  const [key = "", ...value] = label.split("=");
  if (!Object.hasOwn(labels, key)) return false;
  return value.length === 0 || labels[key] === value.join("=");
}
