/** Another process works in the data folder. */
export class FolderInUseError extends Error {
  override readonly name = 'FolderInUseError';
  readonly folder: string;
  readonly pid: number | undefined;
  constructor(folder: string, pid: number | undefined) {
    super(`data folder in use: ${folder} is held by ${pid === undefined ? 'another process' : `process ${pid}`}`);
    this.folder = folder;
    this.pid = pid;
  }
}
