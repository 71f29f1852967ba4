// Drafts in this browser: they outlive the drawer, the page and the sign-in. The oldest give way.
import type { Draft } from './draft.ts';

const PLACE = 'foyer.drafts';
const MOST = 30;

type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
type Drafts = Record<string, Draft>;

function all(store: Store): Drafts {
  try {
    return (JSON.parse(store.getItem(PLACE) ?? '{}') ?? {}) as Drafts;
  } catch {
    return {}; // a value of another version
  }
}

const keyOf = (accountId: string, itemId: string): string => `${accountId} ${itemId}`;

export const draftOf = (store: Store, accountId: string, itemId: string): Draft | undefined =>
  all(store)[keyOf(accountId, itemId)];

/** Keeps the draft of an item for an account; undefined forgets it. */
export function keepDraft(
  store: Store,
  { accountId, itemId, draft }: { accountId: string; itemId: string; draft: Draft | undefined },
): void {
  const { [keyOf(accountId, itemId)]: _old, ...others } = all(store);
  const entries = [...Object.entries(others), ...(draft ? [[keyOf(accountId, itemId), draft] as const] : [])];
  if (entries.length === 0) store.removeItem(PLACE);
  else store.setItem(PLACE, JSON.stringify(Object.fromEntries(entries.slice(-MOST))));
}
