/** Whether `Accept` asks for JSON, and not for text at least as much. Who takes anything is given text. */
export function prefersJson(accept: string | undefined): boolean {
  const weights = new Map<string, number>();
  for (const part of (accept ?? '').split(',')) {
    const [type = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    const weight = Number(parameters.find((each) => each.startsWith('q='))?.slice(2) ?? 1);
    if (weight > 0 && !weights.has(type)) weights.set(type, weight);
  }
  const json = weights.get('application/json');
  if (json === undefined) return false;
  const text = weights.get('text/plain') ?? weights.get('text/*') ?? 0;
  // Between two that are wanted alike the first one wins, as a Map keeps them.
  return (
    json > text ||
    (json === text &&
      [...weights.keys()].find((type) => /^(application\/json|text\/)/.test(type)) === 'application/json')
  );
}
