/** An event in the form of a stream (WHATWG HTML, 9.2.6). JSON has no line ends outside of its strings and none in them, so one line holds it. */
export function eventText(event: { readonly name: string; readonly data: unknown; readonly id?: string }): string {
  const id = event.id === undefined ? '' : `id: ${event.id}\n`;
  return `${id}event: ${event.name}\ndata: ${JSON.stringify(event.data)}\n\n`;
}

/** Says that the connection lives. */
export const keepAliveText = ': alive\n\n';

/** How long a client waits before it comes again, in milliseconds. */
export const retryText = 'retry: 2000\n\n';
