import { type Ask, refusalText, Unreachable } from './server-client.ts';

interface Page {
  items: { id: string; username: string }[];
  page: { cursor: string | null };
}

/** What the server tells names apart by at sign-in: letter case means nothing. */
const plain = (username: string): string => username.normalize('NFC').trim().toLowerCase();

/** Plain username to id of every account. Throws Unreachable when one page is refused: those on it would lose what they were granted. */
export async function accountsOf(ask: Ask): Promise<Map<string, string>> {
  const accounts = new Map<string, string>();
  let cursor: string | undefined;
  do {
    const query = `limit=200${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`;
    const answer = await ask('GET', `/users?${query}`);
    if (answer.status !== 200) throw new Unreachable(`it does not name its accounts: ${refusalText(answer)}`);
    const { items, page } = answer.body as Page;
    for (const { id, username } of items) accounts.set(plain(username), id);
    cursor = page.cursor ?? undefined;
  } while (cursor);
  return accounts;
}

export interface Named {
  /** Of those that there are, each once. */
  ids: string[];
  /** As they were written: nobody has these names. */
  unknown: string[];
}

/** Those that do not exist yet are taken up by a later pass. */
export function accountsNamed(usernames: readonly string[], accounts: ReadonlyMap<string, string>): Named {
  const ids = usernames.map((name) => accounts.get(plain(name))).filter((id) => id !== undefined);
  return { ids: [...new Set(ids)], unknown: usernames.filter((name) => !accounts.has(plain(name))) };
}
