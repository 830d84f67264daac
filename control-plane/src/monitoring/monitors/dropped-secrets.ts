type Fields = Readonly<Record<string, unknown>>;

/**
 * JSON pointers to the secrets that were stored and are no more, though nobody asked for that: what the body sets to null was asked for. Secrets
 * that have names of their own, as those of API checks, are told one by one.
 * @param body of the change; a secret setting stands in its `settings`, or at its top
 */
export function droppedSecrets(before: Fields, after: Fields, body: Fields): readonly string[] {
  const settings = recordOf(body['settings']);
  const paths = Object.keys(before).flatMap((name) => {
    // Those of the headers that are secret are kept apart, and sent among the others.
    const field = name === 'secret_headers' ? 'headers' : name;
    if (settings[field] === null || body[field] === null) return [];
    if (name === 'secrets' && isRecord(before[name])) {
      const [kept, sent] = [recordOf(after[name]), recordOf(settings[name])];
      const gone = Object.keys(before[name]).filter((each) => !Object.hasOwn(kept, each) && sent[each] !== null);
      return gone.map((each) => `/settings/secrets/${each}`);
    }
    return Object.hasOwn(after, name) ? [] : [`/settings/${field}`];
  });
  return paths.sort();
}

const recordOf = (value: unknown): Fields => (isRecord(value) ? value : {});

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
