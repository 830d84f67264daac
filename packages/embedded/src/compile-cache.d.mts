/**
 * The folder in which Node keeps compiled code of a checkout: below its `node_modules`, made when it is missing. Undefined unless this user
 * owns all of it and nobody else may write there: whoever writes into the folder decides what this process runs. So the folder of another
 * user's checkout is none, also for root, who would leave files there that its owner cannot remove.
 */
export function compileCacheFolder(checkout: string): string | undefined;

/**
 * Lets this process keep the code that it compiles, with the types stripped, for the next start. To be called before anything else is
 * imported. Does nothing when the variable `NODE_COMPILE_CACHE` names a folder, when there is no folder, and in a single executable.
 * @param main the file that this process was started with: `main.ts` of a program in the checkout
 */
export function keepCompiledCode(main?: string): void;
