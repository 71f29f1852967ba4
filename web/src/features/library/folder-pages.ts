// A folder of a library by pages: its folders first, then its items.
import { createInfiniteQuery } from '@tanstack/svelte-query';
import { api } from '#core/api/client.ts';
import { type Key, keyOf } from '#core/api/keys.ts';
import { freshFor } from '#core/cache/query.ts';
import type { Listed } from './listing.svelte.ts';

const PAGE = 200;

interface Paged {
  page: { cursor: string | null };
}

interface Requested {
  cursor?: string;
  limit: number;
  signal: AbortSignal;
}

const pagesOf = <P extends Paged>(queryKey: readonly [...Key, string], load: (request: Requested) => Promise<P>) => ({
  queryKey,
  queryFn: ({ pageParam, signal }: { pageParam: string | undefined; signal: AbortSignal }) =>
    load({ limit: PAGE, signal, ...(pageParam && { cursor: pageParam }) }),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: ({ page }: P) => page.cursor ?? undefined,
  staleTime: freshFor('listLibraryItems'),
});

/** Folders and items of a folder; of the top without one. */
export function folderPages(of: () => { libraryId: string; folder?: string | undefined }) {
  const params = () => ({ id: of().libraryId });
  const folders = createInfiniteQuery(() => {
    const { folder } = of();
    const fixed = { sort: 'name', ...(folder && { folder }) } as const;
    const key = [...keyOf('browseLibraryFolders', { params: params(), query: fixed }), 'pages'] as const;
    return pagesOf(key, ({ signal, ...page }) =>
      api.browseLibraryFolders({ params: params(), query: { ...fixed, ...page }, signal }),
    );
  });
  const items = createInfiniteQuery(() => {
    const { folder = '' } = of();
    const fixed = { view: 'all', sort: 'title', folder } as const;
    const key = [...keyOf('listLibraryItems', { params: params(), query: fixed }), 'pages'] as const;
    const pages = pagesOf(key, ({ signal, ...page }) =>
      api.listLibraryItems({ params: params(), query: { ...fixed, ...page }, signal }),
    );
    return { ...pages, enabled: folder !== '' && folders.isSuccess && !folders.hasNextPage };
  });
  return {
    folders,
    items,
    get nodes() {
      return folders.data?.pages.flatMap((page) => page.items) ?? [];
    },
    get listed(): Listed[] {
      return of().folder ? (items.data?.pages.flatMap((page) => page.items as Listed[]) ?? []) : [];
    },
    get parents() {
      return folders.data?.pages[0]?.parents ?? [];
    },
    get more() {
      return folders.hasNextPage || items.hasNextPage;
    },
    get busy() {
      return folders.isFetching || items.isFetching;
    },
    get error() {
      return folders.error ?? items.error;
    },
    next: () => void (folders.hasNextPage ? folders.fetchNextPage() : items.fetchNextPage()),
    retry: () => void (folders.error ? folders.refetch() : items.refetch()),
  };
}
