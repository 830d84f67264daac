/** A package that is part of the executable, with the texts of its licences. */
export type BundledPackage = {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  readonly texts: readonly string[];
  readonly source: unknown;
};

/** The folder of the innermost package that holds a file; undefined for a file outside of node_modules. */
export function packageFolder(file: string): string | undefined;

/** The installed packages that files belong to, each once, by name and version. */
export function packagesOf(files: readonly string[]): BundledPackage[];

/** Throws when a package neither has a licence's text nor names a licence. */
export function readPackage(folder: string): BundledPackage;

/** One text: the project's licence, Node's, and that of each package. */
export function licenceText(
  packages: readonly BundledPackage[],
  node: { readonly version: string; readonly licence: string },
): string;
