import type { MappedHosts } from '../../../platform/http/mapped-hosts.ts';
import type { ServedDomain } from './domains.queries.ts';

/** Verified domains in memory: which page each host leads to. */
export class ServedDomains implements MappedHosts {
  #domains: ReadonlyMap<string, ServedDomain> = new Map();

  /** Where the page of a host is; undefined: no page is served there. A page that is not published has its place, where nothing is found. */
  prefixOf(host: string): string | undefined {
    const found = this.#domains.get(host);
    return found === undefined ? undefined : `/status/${found.slug}`;
  }

  /** Whether a published page is served at a host. */
  isPublished(host: string): boolean {
    return this.#domains.get(host)?.is_published === true;
  }

  /** All that there are, in the order of their names. */
  all(): readonly ServedDomain[] {
    return [...this.#domains.values()].toSorted((a, b) => (a.domain < b.domain ? -1 : 1));
  }

  /**
   * Takes what was read.
   * @param ofWorkspaces whose domains these are all of; absent: of everybody
   */
  take(read: readonly ServedDomain[], ofWorkspaces?: ReadonlySet<number>): void {
    const kept =
      ofWorkspaces === undefined
        ? []
        : [...this.#domains.values()].filter(({ workspace_id: id }) => !ofWorkspaces.has(id));
    this.#domains = new Map([...kept, ...read].map((one) => [one.domain, one]));
  }
}
