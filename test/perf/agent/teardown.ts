/** Takes a step that undoes what was started; the steps run in reverse order. */
export type Teardown = (step: () => unknown) => void;
