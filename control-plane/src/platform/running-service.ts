/** Something that was started and must be stopped. Stopping waits for what is under way; repeating it changes nothing. */
export type RunningService = { readonly stop: () => Promise<void> };
