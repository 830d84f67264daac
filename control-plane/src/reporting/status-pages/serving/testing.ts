import type { PageView } from '../view/page-view.ts';
import { PageCache } from './page-cache.ts';
import type { FoundPage, KeptView } from './page-cache.ts';

/** A page without components. */
export function emptyView(slug: string, name = 'Shop'): PageView {
  return {
    id: 'k3v9x0q2m7ra',
    name,
    description: '',
    slug,
    url: `https://status.example/status/${slug}`,
    noindex: false,
    locale: 'en',
    locales: ['en', 'ru'],
    timezone: 'UTC',
    dayCount: 90,
    lastDate: '2026-11-27',
    theme: { scheme: 'system', light: {}, dark: {}, font: 'system', radius: 8 },
    links: [],
    announcement: null,
    embedOrigins: [],
    subscribe: ['email'],
    createdMs: 1,
    madeMs: 1,
    updatedMs: 1,
    indicator: 'unknown',
    sections: [],
    incidents: [],
    maintenance: [],
  };
}

/** Pages as a database would have them, with a clock that stands still; a test changes them and takes the database away. */
export function stageOfPages({ mostBytes = 1_000_000 } = {}) {
  const clock = { ms: 1_000_000 };
  const pages = new Map<string, FoundPage>();
  const state = { isAway: false, hangs: false, reads: 0, name: 'Shop', hold: undefined as Promise<void> | undefined };
  const kept = new Map<string, KeptView>();
  const failures: string[] = [];
  const missing: string[] = [];
  const cache = new PageCache({
    find: async (slug) => {
      if (state.isAway) throw new Error('the database is away');
      return pages.get(slug) ?? null;
    },
    read: async ({ slug }) => {
      state.reads += 1;
      const view = emptyView(slug, state.name);
      await state.hold;
      if (state.isAway) throw new Error('the database is away');
      return view;
    },
    readKept: async (slug) => kept.get(slug),
    onRead: (one) => void kept.set(one.found.slug, one),
    onMissing: (slug) => void missing.push(slug),
    onFailure: (slug) => void failures.push(slug),
    now: () => clock.ms,
    // Whoever waits for a reading waits until it is there, unless a test says that it hangs.
    sleep: async (ms) => {
      if (ms >= 2_000 && !state.hangs) return new Promise<void>(() => undefined);
      clock.ms += ms;
    },
    mostBytes,
  });
  const publish = (slug: string, found: Partial<FoundPage> = {}): void => {
    pages.set(slug, { pageId: pages.size + 1, workspaceId: 1, slug, accessVersion: 1, access: null, ...found });
  };
  return { clock, pages, state, kept, failures, missing, cache, publish };
}
