/** Whether what an agent says of itself can be stored and shown. PostgreSQL takes no NUL: its fault would send the agent round for ever. */
export function isPlainText(text: string): boolean {
  return !/\p{Cc}/u.test(text);
}
