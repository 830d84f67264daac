/** A JSON value as people write it: "error: disk full, rows: 3". Objects within are put into parentheses. */
export function payloadText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(inner).join(', ');
  if (typeof value !== 'object') return JSON.stringify(value);
  return Object.entries(value)
    .map(([name, each]) => `${name}: ${inner(each)}`)
    .join(', ');
}

function inner(value: unknown): string {
  const text = payloadText(value);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? `(${text})` : text;
}
